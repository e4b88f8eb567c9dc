"""`hiperplano scorecard`, and what is done with the model it writes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hiperplano import Scorecard, load, load_credit_default


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("credit")
    load_credit_default(n_rows=1500).frame.to_csv(folder / "credit.csv", index=False)
    return folder / "credit.csv"


def make(run, credit, *more):
    out = run("scorecard", credit, "-t", "default", "--time", "application_date", "--out", "card", *more)
    assert out.code == 0, out.err
    return out


def test_a_scorecard_is_made_and_shown(run, credit, tmp_path):
    out = make(run, credit, "--gain", "100", "--loss", "1000")
    for words in (
        "Selection of variables",
        "Scorecard: event 'yes'",
        "debt",
        "points",
        "approved",
        "largest profit",
        "rounding",
    ):
        assert words in out.out, words
    assert "application_date" not in out.out.split("Scorecard")[1]  # no variable
    model = load(tmp_path / "card" / "model.skops")
    assert isinstance(model[-1], Scorecard)
    # Codes that look like "no value" have bins of their own.
    labels = {each.name: each.labels for each in model[-1].variable_points()}
    assert "special: -1" in labels["late_payments"]
    page = (tmp_path / "card" / "report.html").read_text(encoding="utf-8")
    for words in ('id="points"', 'id="bins"', 'id="selection"', 'id="strategy"', 'id="trends"', "largest profit"):
        assert words in page, words


def test_the_model_predicts_is_evaluated_explained_and_monitored(run, credit, tmp_path):
    make(run, credit, "--no-report", "-q")
    model, frame = tmp_path / "card" / "model.skops", pd.read_csv(credit)
    card = load(model)[-1]
    out = run("predict", model, credit, "-o", "scores.csv")
    assert out.code == 0, out.err
    scores = pd.read_csv(tmp_path / "scores.csv")
    columns = load(model)[0].transform(frame)
    np.testing.assert_allclose(scores["points"], card.score_points(columns))
    np.testing.assert_allclose(scores["probability yes"], card.event_probability(columns), rtol=1e-12)
    assert json.loads(run("evaluate", model, credit, "--json").out)["measures"]["auc"] > 0.7

    out = json.loads(run("explain", model, credit, "--row", "3", "--json").out)
    assert sum(part["points"] for part in out["parts"]) == card.score_points(columns[2:3])[0]
    assert run("explain", model, credit, "--row", "9999").code == 1

    frame.loc[::2, "default"] = None  # not known yet
    frame["debt"] *= 4
    frame.to_csv(tmp_path / "later.csv", index=False)
    out = run("monitor", model, tmp_path / "later.csv", "-o", "page.html")
    assert out.code == 0, out.err
    assert "debt: changed" in out.out
    assert "calibration" in out.out
    assert "changed" in (tmp_path / "page.html").read_text(encoding="utf-8")
    found = json.loads(run("monitor", model, tmp_path / "later.csv", "--json").out)
    assert sum(row["rows"] for row in found["calibration"]) == 750
    frame.drop(columns="default").to_csv(tmp_path / "unknown.csv", index=False)
    assert "calibration" not in json.loads(run("monitor", model, tmp_path / "unknown.csv", "--json").out)


def test_codes_and_bins_can_be_given(run, credit, tmp_path):
    (tmp_path / "cuts.json").write_text('{"age": [30, 50], "housing": [["owns"], ["rents", "family"]]}')
    codes = ("--special", "debt=0,10", "--special", "debt=20")
    out = make(run, credit, *codes, "--cuts", "cuts.json", "--select", "all", "--json", "--no-report")
    rows = json.loads(out.out)["scorecard"]["points"]
    bins = {name: [row["bin"] for row in rows if row["variable"] == name] for name in ("age", "housing", "debt")}
    assert bins["age"] == ["(-inf, 30)", "[30, 50)", "[50, inf)", "missing"]
    assert bins["housing"][:2] == ["'owns'", "'rents', 'family'"]
    assert bins["debt"][-3:-1] == ["special: 0, 10", "special: 20"]  # a bin for each option


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--special", "size=1"), "size"),
        (("--time", "month"), "month"),
        (("--cuts", "none.json"), "none.json"),
        (("--cuts", "list.json"), "list.json"),
        (("--select", "best"), "best"),
    ],
)
def test_wrong_options_are_explained(run, credit, tmp_path, arguments, words):
    (tmp_path / "list.json").write_text("[1, 2]")
    out = run("scorecard", credit, "-t", "default", *arguments)
    assert out.code in (1, 2)
    assert words in out.err
    assert "Traceback" not in out.err


def test_targets_of_many_classes_and_other_models_are_refused(run, credit, tables, tmp_path):
    out = run("scorecard", tables / "grades.csv", "-t", "grade")
    assert (out.code, "3 classes" in out.err) == (1, True)
    assert run("fit", credit, "-t", "default", "--out", "m", "--no-report", "-q").code == 0
    out = run("monitor", tmp_path / "m" / "model.skops", credit)
    assert (out.code, "scorecard" in out.err) == (1, True)


def test_the_terms_of_a_linear_model_add_up(run, credit, tables, tmp_path):
    assert run("fit", credit, "-t", "default", "--out", "m", "--no-report", "-q").code == 0
    out = json.loads(run("explain", tmp_path / "m" / "model.skops", credit, "--row", "2", "--json").out)
    run("predict", tmp_path / "m" / "model.skops", credit, "-o", "p.csv")
    p = pd.read_csv(tmp_path / "p.csv")["probability yes"][1]
    assert sum(part["term"] for part in out["parts"]) == pytest.approx(np.log(p / (1 - p)), rel=1e-8)
    assert (
        run("fit", tables / "grades.csv", "-t", "grade", "--out", "g", "--model", "svm", "-q", "--no-report").code == 0
    )
    out = json.loads(run("explain", tmp_path / "g" / "model.skops", tables / "grades.csv", "--row", "1", "--json").out)
    assert out["title"].startswith("grade = ")
    assert run("fit", tables / "line.csv", "-t", "line", "--out", "l", "-q", "--no-report").code == 0
    out = json.loads(run("explain", tmp_path / "l" / "model.skops", tables / "line.csv", "--row", "1", "--json").out)
    run("predict", tmp_path / "l" / "model.skops", tables / "line.csv", "-o", "l.csv")
    terms = sum(part["term"] for part in out["parts"])
    assert terms == pytest.approx(pd.read_csv(tmp_path / "l.csv")["prediction"][0], rel=1e-9)


def test_it_speaks_spanish(run, credit):
    out = make(run, credit, "--lang", "es", "--no-report")
    for words in ("Selección de variables", "Tarjeta de puntaje", "tramo", "faltan"):
        assert words in out.out, words
