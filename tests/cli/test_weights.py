"""`--weight`: the measures are those of scikit-learn with the same weights, wherever they are shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from hiperplano import load
from hiperplano.metrics import auc_interval
from tests.report.reading import read

N = 900


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, N))
    exposure = np.where(rng.random(N) < 0.1, 0.0, rng.gamma(0.7, 300.0, N).round(2))
    late = x + 0.5 * z + rng.logistic(size=N) > 1
    level = np.digitize(x + rng.normal(size=N), [-0.7, 0.7])
    amount = 1000 + 300 * x - 100 * z + rng.normal(0, 200, N)
    table = {"x": x, "z": z, "exposure": exposure, "late": np.where(late, "yes", "no")}
    return pd.DataFrame(table | {"level": np.take(["low", "middle", "top"], level), "amount": amount})


def weighted_fit(run, frame, target):
    training, later = frame[: N // 2], frame[N // 2 :]
    for name, part in (("a.csv", training), ("b.csv", later)):
        part[["x", "z", "exposure", target]].to_csv(name, index=False)
    found = run("fit", "a.csv", "--target", target, "--weight", "exposure", "--validation", "b.csv", "--json")
    assert found.code == 0, found.err
    later = later[later["exposure"] > 0]
    model = load("hiperplano-out/model.skops")
    return json.loads(found.out), model, later, {"sample_weight": later["exposure"]}


def test_two_classes(run, frame):
    found, model, later, weight = weighted_fit(run, frame, "late")
    y, p = later["late"] == "yes", model.predict_proba(later)[:, 1]
    expected = {
        "base_rate": np.average(y, weights=later["exposure"]),
        "auc": metrics.roc_auc_score(y, p, **weight),
        "loss": metrics.log_loss(y, p, **weight),
        "accuracy": metrics.accuracy_score(y, p > 0.5, **weight),
    }
    fpr, tpr, _ = metrics.roc_curve(y, p, **weight)
    expected |= {"gini": 2 * expected["auc"] - 1, "ks": (tpr - fpr).max()}
    shown = found["validation"]
    assert {name: shown[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    assert found["weight"] == "exposure"
    assert f"AUC {expected['auc']:.3f} " in found["verdict"]["discrimination"]["text"]

    again = json.loads(run("evaluate", "hiperplano-out/model.skops", "b.csv", "--json").out)
    assert {name: again["measures"][name] for name in expected} == pytest.approx(expected, rel=1e-12)
    assert "weighted by exposure" in run("evaluate", "hiperplano-out/model.skops", "b.csv").out

    page = read(Path("hiperplano-out/report.html"))
    assert "Measures are weighted by exposure" in page.text
    matrix = metrics.confusion_matrix(y, p > 0.5, **weight)
    cells = [[cell.number for cell in row[:2]] for row in page.table("confusion").values()]
    np.testing.assert_allclose(cells, matrix, rtol=1e-12)
    bands = np.array([[cell.number for cell in row[1:6]] for row in page.table("bands").values()])
    np.testing.assert_allclose(bands[:, 0].sum(), later["exposure"].sum())
    np.testing.assert_allclose(bands[:, 1] / bands[:, 0], bands[:, 2])
    np.testing.assert_allclose(np.cumsum(bands[:, 1]) / bands[:, 1].sum(), bands[:, 3])
    assert np.ptp(bands[:, 0]) < 0.05 * later["exposure"].sum()  # bands of equal weight
    brier = metrics.brier_score_loss(y, p, **weight)
    assert f"Brier score {brier:.4f}, log loss {expected['loss']:.4f}" in page.text

    frame.drop(columns="exposure").to_csv("bare.csv", index=False)
    bare = run("evaluate", "hiperplano-out/model.skops", "bare.csv", "--json")
    assert "weighted by exposure, which is not there" in bare.out


def test_many_classes(run, frame):
    found, model, later, weight = weighted_fit(run, frame, "level")
    y, decided = later["level"], model.predict(later)
    assert found["validation"]["accuracy"] == pytest.approx(metrics.accuracy_score(y, decided, **weight))
    assert found["validation"]["loss"] == pytest.approx(metrics.log_loss(y, model.predict_proba(later), **weight))
    page = read(Path("hiperplano-out/report.html"))
    cells = [[cell.number for cell in row] for row in page.table("confusion").values()]
    np.testing.assert_allclose(cells, metrics.confusion_matrix(y, decided, **weight), rtol=1e-12)
    f1 = metrics.f1_score(y, decided, average="macro", **weight)
    assert f"{f1:.3f}" in page.text


def test_numbers(run, frame):
    found, model, later, weight = weighted_fit(run, frame, "amount")
    y, predicted = later["amount"], model.predict(later)
    expected = {
        "rmse": metrics.root_mean_squared_error(y, predicted, **weight),
        "r2": metrics.r2_score(y, predicted, **weight),
        "mae": metrics.mean_absolute_error(y, predicted, **weight),
    }
    assert found["validation"] == pytest.approx(expected, rel=1e-12)
    said = run("fit", "a.csv", "--target", "amount", "--weight", "exposure", "--lang", "es").out
    assert "ponderadas con exposure" in " ".join(said.split())


def test_the_interval_of_a_weighted_auc():
    rng = np.random.default_rng(1)
    y, weight = rng.integers(0, 2, 300), rng.integers(1, 4, 300)
    score = (y + rng.normal(size=300)).round(1)
    assert auc_interval(y, score, sample_weight=np.full(300, 7.0)) == pytest.approx(auc_interval(y, score), rel=1e-12)
    found = auc_interval(y, score, sample_weight=weight)
    assert found.auc == pytest.approx(metrics.roc_auc_score(y, score, sample_weight=weight), rel=1e-12)
    drawn = [rng.integers(0, 300, 300) for _ in range(150)]
    areas = [metrics.roc_auc_score(y[rows], score[rows], sample_weight=weight[rows]) for rows in drawn]
    assert found.se == pytest.approx(np.std(areas), rel=0.25)
    ordered = auc_interval([0, 0, 1, 1], [1, 2, 3, 4], sample_weight=[1, 2, 0.3, 0.7])
    assert ordered == pytest.approx(auc_interval([0, 0, 1, 1], [1, 2, 3, 4]))
