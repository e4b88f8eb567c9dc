"""`hiperplano compare` and `hiperplano separable`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hiperplano.cli.workflow.comparison import Row, _mark_best
from hiperplano.cli.workflow.model_registry import MODELS, suitable_models


def test_every_model_is_compared_on_the_same_folds(run, tables):
    facts = json.loads(run("compare", tables / "credit.csv", "-t", "default", "--folds", 3, "--json").out)
    names = [model["name"] for model in facts["models"]]
    assert names == [
        "constant",
        *(each.name for each in suitable_models("classification", 2) if each.name != "hard-margin"),
    ]
    assert any("hard-margin was left out: no plane separates" in note for note in facts["notes"])
    best = next(model for model in facts["models"] if model["name"] == facts["best"])
    assert best["measures"]["auc"]["mean"] == max(model["measures"]["auc"]["mean"] for model in facts["models"])
    chosen = next(model for model in facts["models"] if model["name"] == facts["chosen"])
    assert chosen["measures"]["auc"]["mean"] >= best["measures"]["auc"]["mean"] - best["measures"]["auc"]["se"]


def test_numbers_and_many_classes_are_compared_too(run, tables):
    facts = json.loads(run("compare", tables / "line.csv", "-t", "line", "--json").out)
    assert [model["name"] for model in facts["models"]] == [
        "constant",
        *(each.name for each in suitable_models("regression", 0)),
    ]
    out = run("compare", tables / "grades.csv", "-t", "grade", "--folds", 2, "-m", "lda", "-m", "svm")
    assert "lda" in out.out
    assert "svm" in out.out
    assert "firth" not in out.out


def test_costs_decide_where_they_are_given(run, tables, tmp_path):
    (tmp_path / "c.json").write_text('{"false_negative": 20, "false_positive": 1}')
    out = run(
        "compare", tables / "credit.csv", "-t", "default", "--cost", "c.json", "-m", "lda", "-m", "logistic", "--json"
    )
    facts = json.loads(out.out)
    costs = {model["name"]: model["measures"]["cost"]["mean"] for model in facts["models"]}
    assert facts["best"] == min(costs, key=costs.get)


def test_the_simplest_within_one_standard_error_is_marked():
    def row(name, values):
        return Row(name, {"auc": np.array(values)}, 0.0)

    rows = [row("simple", [0.70, 0.72, 0.74]), row("good", [0.78, 0.80, 0.82]), row("best", [0.785, 0.805, 0.825])]
    marked = _mark_best(rows, "classification", 2)
    assert [each.best for each in marked] == [False, False, True]
    assert [each.chosen for each in marked] == [False, True, False]


def test_the_mean_has_its_interval():
    row = Row("x", {"auc": np.array([0.7, 0.8, 0.9])}, 0.0)
    mean, error, half = row.interval("auc")
    assert (mean, error) == (pytest.approx(0.8), pytest.approx(0.1 / np.sqrt(3)))
    t = 0.95 * np.sqrt(2 / (4 * 0.975 * 0.025))  # the quantile of 2 degrees of freedom has a formula
    assert half == pytest.approx(t * error, rel=1e-12)


def test_too_few_rows_for_the_folds(run, tmp_path):
    pd.DataFrame({"x": range(8), "y": ["a", "b"] * 4}).to_csv("t.csv", index=False)
    out = run("compare", "t.csv", "-t", "y")
    assert out.code == 1
    assert "class 'a' has 4 rows, too few for 5 folds" in out.err


def test_names_are_unique_for_each_task():
    pairs = [(each.task, each.name) for each in MODELS]
    assert len(set(pairs)) == len(pairs)


def test_every_public_estimator_can_be_asked_for():
    """But those that wrap another or have a command of their own, and those that predict nothing."""
    from tests.architecture.test_public_names import PUBLIC_ESTIMATORS

    offered = {type(each.make(0)).__name__ for each in MODELS}
    predicting = {each.__name__ for each in PUBLIC_ESTIMATORS if hasattr(each, "predict")}
    own_ways = {"CostSensitiveClassifier", "Scorecard", "NuSVC", "NuSVR", "OneClassSVM", "SVCCV"}
    assert predicting - offered == own_ways


@pytest.mark.parametrize(
    ("values", "verdict"),
    [([1, 2, 3, 7, 8, 9], "Separable"), ([1, 5, 3, 4, 8, 2], "Overlapping"), ([1, 2, 3, 3, 8, 9], "QuasiSeparable")],
)
def test_separable_says_which_and_proves_it(values, verdict, run, tmp_path):
    pd.DataFrame({"x": values, "y": ["a"] * 3 + ["b"] * 3}).to_csv("t.csv", index=False)
    facts = json.loads(run("separable", "t.csv", "-t", "y", "--json").out)
    assert facts["verdict"] == verdict
    assert facts["separable"] == (verdict == "Separable")
    assert facts["proof_holds"] is True
    assert "The proof was checked against all 6 rows and holds" in run("separable", "t.csv", "-t", "y").out


def test_one_of_many_classes_against_the_others(run, tmp_path):
    """What is advised can be done with the command's own options."""
    pd.DataFrame({"x": range(9), "y": ["a"] * 3 + ["b"] * 3 + ["c"] * 3}).to_csv("t.csv", index=False)
    refused = run("separable", "t.csv", "-t", "y")
    assert refused.code == 1
    assert (
        "'y' has the classes a, b, c; a plane separates two. Compare one with all others, as --positive a"
        in refused.err
    )
    assert json.loads(run("separable", "t.csv", "-t", "y", "--positive", "a", "--json").out)["separable"] is True
    assert json.loads(run("separable", "t.csv", "-t", "y", "--positive", "b", "--json").out)["separable"] is False
    pd.DataFrame({"x": range(90), "y": [f"name {i}" for i in range(90)]}).to_csv("t.csv", index=False)
    assert "--task" not in run("separable", "t.csv", "-t", "y").err


def test_planes_through_the_origin(run, tmp_path):
    pd.DataFrame({"x": [1, 2, 3, 7, 8, 9], "y": ["a"] * 3 + ["b"] * 3}).to_csv("t.csv", index=False)
    assert json.loads(run("separable", "t.csv", "-t", "y", "--origin", "--json").out)["separable"] is False
