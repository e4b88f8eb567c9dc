"""The terminal, its JSON and the report show the same coefficients, and they are those of the pipeline."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from hiperplano import LinearRegression, LogisticRegression, load
from hiperplano.cli.workflow.model_registry import MODELS
from hiperplano.report.coefficients import read_coefficients
from hiperplano.report.subject import prepare_subject
from tests.report.reading import read

N = 240


@pytest.fixture(scope="module")
def houses(tmp_path_factory):
    """Columns of very different units; a price, a class that planes separate, and three classes."""
    rng = np.random.default_rng(3)
    area, rooms, age = rng.lognormal(4.5, 0.4, N).round(1), rng.integers(1, 7, N), rng.integers(0, 90, N)
    income = rng.lognormal(10.5, 0.5, N).round(0)
    worth = 2_000 * area + 15_000 * rooms - 900 * age + 2 * income
    frame = pd.DataFrame({"area": area, "rooms": rooms, "age": age, "income": income})
    folder = tmp_path_factory.mktemp("houses")
    noise = rng.normal(0, 30_000, N)
    frame.assign(price=(worth + noise).round(0)).to_csv(folder / "price.csv", index=False)
    rank = pd.Series(worth + noise).rank(pct=True)
    frame.assign(dear=np.where(rank > 0.4, "dear", "cheap")).to_csv(folder / "dear.csv", index=False)
    frame.assign(level=np.array(["c", "a", "b"])[(3 * rank - 1e-9).astype(int)]).to_csv(
        folder / "level.csv", index=False
    )
    apart = frame[np.abs(worth - np.median(worth)) > 60_000]
    side = np.where(worth[apart.index] > np.median(worth), "dear", "cheap")
    apart.assign(dear=side).to_csv(folder / "apart.csv", index=False)
    return folder


def slopes(score, frame):
    """Differences of a pipeline's score for one unit of each column."""
    base = np.asarray(score(frame))
    return np.array([score(frame.assign(**{name: frame[name] + 1.0})) - base for name in frame]).mean(axis=1)


def page_numbers(page):
    rows = page.table("coefficients")
    return {name: [cell.number for cell in cells if cell.all("data")] for name, cells in rows.items()}


def kinds_of_target(choice):
    """Files and targets that suit a model."""
    if choice.task == "regression":
        return [("price.csv", "price")]
    if choice.separable_only:
        return [("apart.csv", "dear")]
    return [("dear.csv", "dear")] + ([("level.csv", "level")] if choice.many_classes else [])


@pytest.mark.parametrize("choice", MODELS, ids=lambda each: f"{each.task}-{each.name}")
def test_report_and_terminal_agree_for_every_model(choice, houses, run, tmp_path):
    for file, target in kinds_of_target(choice):
        more = ["--positive", "cheap"] if target == "dear" else []
        out = run("fit", houses / file, "-t", target, "-m", choice.name, "--json", "-o", tmp_path, *more)
        assert out.code == 0, out.err
        facts = json.loads(out.out)["coefficients"]
        if not facts:
            assert choice.name in ("qda", "svm-rbf") or choice.name.startswith("kernel")
            continue
        model = load(tmp_path / "model.skops")
        shown = page_numbers(read(tmp_path / "report.html"))
        frame = pd.read_csv(houses / file).drop(columns=target).astype(float)
        labels = list(dict.fromkeys(fact.get("class") for fact in facts))
        for fact in facts:
            assert shown[fact["name"]][labels.index(fact.get("class"))] == fact["coefficient"]
        told = np.array([[fact["coefficient"] for fact in facts if fact.get("class") == label] for label in labels])
        sign = -1.0 if target == "dear" else 1.0
        score = model.predict if choice.task == "regression" else model.decision_function
        np.testing.assert_allclose(np.squeeze(sign * told[:, 1:].T), slopes(score, frame), rtol=1e-6, atol=1e-12)
        whole = frame.to_numpy() @ told[:, 1:].T + told[:, 0]
        np.testing.assert_allclose(np.squeeze(sign * whole), score(frame), rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()], ids=str)
@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression(C=np.inf)], ids=["least-squares", "logistic"])
def test_a_scaler_changes_no_number_of_a_plain_fit(scaler, model, houses):
    """Neither standard errors nor tests nor intervals, of slopes and of the intercept."""
    frame = pd.read_csv(houses / "dear.csv")
    X, y = frame.drop(columns="dear"), frame["dear"]
    y = X.pop("income") if isinstance(model, LinearRegression) else y
    plain, scaled = model.fit(X, y).summary(), make_pipeline(scaler, model).fit(X, y)
    found = read_coefficients(prepare_subject(scaled, X, y, None, None, None, None))
    for heading, values in found.columns().items():
        np.testing.assert_allclose(values, plain.columns()[heading], rtol=1e-5, err_msg=heading)
    assert found.names == list(X)
