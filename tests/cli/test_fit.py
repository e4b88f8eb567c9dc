"""`hiperplano fit` and what is done with the model it writes."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from hiperplano import load


@pytest.fixture
def fitted(run, tables, tmp_path):
    out = run("fit", tables / "credit.csv", "-t", "default", "--json", "--out", tmp_path / "m")
    assert out.code == 0, out.err
    return json.loads(out.out), tmp_path / "m"


def test_a_model_and_a_page_are_written_and_told(run, tables, tmp_path):
    out = run("fit", tables / "credit.csv", "--target", "default", "--out", tmp_path / "deep" / "folder", "--all")
    assert out.code == 0, out.err
    assert sorted(path.name for path in (tmp_path / "deep" / "folder").iterdir()) == ["model.skops", "report.html"]
    for words in ("identifier", "primary < secondary < university", "999", "training", "validation", "AUC", "KS"):
        assert words in out.out, words
    for words in ("Converged in ", "odds ratio", "purpose = debts", "positive class: yes", "report.html"):
        assert words in out.out, words
    assert "<!doctype html>" in (tmp_path / "deep" / "folder" / "report.html").read_text(encoding="utf-8")


def test_json_says_the_same_to_machines(fitted):
    facts, _ = fitted
    assert facts["target"] == {"name": "default", "task": "classification", "positive": "yes"}
    kinds = {column["name"]: column["kind"] for column in facts["columns"]}
    assert kinds["client_id"] == "identifier"
    assert kinds["education"] == "ordered"
    assert kinds["application_date"] == "date"
    assert set(facts["validation"]) >= {"loss", "accuracy", "auc", "auc_low", "auc_high", "gini", "ks", "base_rate"}
    assert facts["validation"]["auc"] > 0.6
    assert {"name", "coefficient", "low", "high", "p"} == set(facts["coefficients"][0])
    assert len(facts["sha256"]) == 64


def test_the_saved_model_gives_the_figures_that_were_printed(fitted, tables):
    facts, folder = fitted
    model = load(folder / "model.skops")
    frame = pd.read_csv(tables / "credit.csv", parse_dates=["application_date"])
    shares = model.predict_proba(frame)[:, 1]
    coef = dict(zip(model[0].get_feature_names_out(), model[-1].coef_[0], strict=True))
    assert shares.shape == (800,)
    told = {each["name"]: each["coefficient"] for each in facts["coefficients"]}
    assert told["age"] == coef["age"]
    assert model.metadata_["sha256"] == facts["sha256"]
    assert model.metadata_["command"].startswith("hiperplano fit ")


def test_the_same_command_gives_the_same_model(run, tables, tmp_path):
    for name in ("a", "b"):
        assert run("fit", tables / "credit.csv", "-t", "default", "--no-report", "-q", "-o", tmp_path / name).code == 0
    one, other = (load(tmp_path / name / "model.skops") for name in ("a", "b"))
    assert one[-1].coef_.tobytes() == other[-1].coef_.tobytes()
    run("fit", tables / "credit.csv", "-t", "default", "--no-report", "-q", "-o", tmp_path / "b", "--seed", 1)
    assert load(tmp_path / "b" / "model.skops")[-1].coef_.tobytes() != one[-1].coef_.tobytes()


def test_predict_writes_what_the_model_says(fitted, run, tables, tmp_path):
    model = load(fitted[1] / "model.skops")
    frame = pd.read_csv(tables / "credit.csv", parse_dates=["application_date"])
    turned = tmp_path / "turned.csv"
    frame[frame.columns[::-1]].drop(columns="default").to_csv(turned, index=False, sep=";", decimal=",")
    for name in ("p.csv", "p.parquet", "p.arrow"):
        out = run("predict", fitted[1] / "model.skops", turned, "-o", tmp_path / name)
        assert out.code == 0, out.err
        assert "800 rows scored" in out.out
    tables_read = [
        pd.read_csv(tmp_path / "p.csv"),
        pd.read_parquet(tmp_path / "p.parquet"),
        pd.read_feather(tmp_path / "p.arrow"),
    ]
    for table in tables_read:
        np.testing.assert_allclose(table["probability yes"], model.predict_proba(frame)[:, 1], rtol=1e-12)
        assert (table["prediction"].astype(str) == model.predict(frame)).all()


def test_predict_can_keep_the_columns(fitted, run, tables, tmp_path):
    run("predict", fitted[1] / "model.skops", tables / "credit.csv", "-o", tmp_path / "p.csv", "--keep")
    days = [pd.read_csv(path, dtype=str)["application_date"] for path in (tables / "credit.csv", tmp_path / "p.csv")]
    assert list(days[1]) == list(days[0])  # dates as they were written, without a time of day
    table = pd.read_csv(tmp_path / "p.csv")
    assert table["client_id"].tolist() == pd.read_csv(tables / "credit.csv")["client_id"].tolist()
    assert "probability yes" in table


def test_evaluate_judges_on_a_table(fitted, run, tables):
    out = run("evaluate", fitted[1] / "model.skops", tables / "credit.csv", "--json")
    measures = json.loads(out.out)["measures"]
    parts = fitted[0]["training"]["accuracy"] * 560 + fitted[0]["validation"]["accuracy"] * 240
    assert measures["accuracy"] == pytest.approx(parts / 800, rel=1e-12)
    assert "AUC" in run("evaluate", fitted[1] / "model.skops", tables / "credit.csv").out


def test_report_writes_the_page_again(fitted, run, tables, tmp_path):
    out = run("report", fitted[1] / "model.skops", tables / "credit.csv", "-o", tmp_path / "again.html")
    assert out.code == 0, out.err
    page = (tmp_path / "again.html").read_text(encoding="utf-8")
    assert "default" in page
    assert fitted[0]["sha256"] in page


def test_numbers_get_a_regression(run, tables, tmp_path):
    out = run("fit", tables / "line.csv", "-t", "line", "--json", "-o", tmp_path)
    facts = json.loads(out.out)
    assert facts["target"]["task"] == "regression"
    assert facts["model"]["class"] == "LinearRegression"
    assert set(facts["validation"]) == {"rmse", "r2", "mae"}
    assert facts["validation"]["r2"] > 0.8
    assert run("predict", tmp_path / "model.skops", tables / "line.csv", "-o", "p.csv").code == 0
    assert list(pd.read_csv("p.csv")) == ["prediction", "unlike the fit"]
    assert "R²" in run("fit", tables / "line.csv", "-t", "line", "-o", tmp_path, "--no-report").out


def test_columns_that_follow_from_others_are_left_out_and_named(run, tables, tmp_path):
    frame = pd.read_csv(tables / "line.csv")
    frame.assign(twice=2 * frame["age"], both=frame["age"] + frame["income"]).to_csv(tmp_path / "more.csv", index=False)
    plain = json.loads(run("fit", tables / "line.csv", "-t", "line", "--json", "--no-report").out)
    facts = json.loads(run("fit", "more.csv", "-t", "line", "--json", "--no-report").out)
    assert facts["left_out"] == {"twice": ["age"], "both": ["age", "income"]}
    assert "twice follows from age and was left out" in facts["notes"]
    assert facts["coefficients"] == plain["coefficients"]  # with their intervals and p-values


def test_separated_classes_get_firths_regression(run, tmp_path):
    x = np.arange(30.0)
    table = pd.DataFrame({"x": x, "z": np.sin(x), "y": np.where(x > 14, "b", "a")})
    table.to_csv(tmp_path / "t.csv", index=False)
    facts = json.loads(run("fit", "t.csv", "-t", "y", "--json", "--no-report").out)
    assert facts["model"]["name"] == "firth"
    assert any("separated" in note for note in facts["notes"])
    kept = load(tmp_path / facts["files"]["model"])[-1].summary()  # profile intervals, without the rows
    assert np.isfinite([kept.low, kept.high]).all()


def test_three_classes(run, tables, tmp_path):
    out = run("fit", tables / "grades.csv", "-t", "grade", "--json", "-o", tmp_path)
    facts = json.loads(out.out)
    assert set(facts["validation"]) == {"loss", "accuracy"}
    assert {each["class"] for each in facts["coefficients"]} == {"A", "B", "C"}
    assert run("fit", tables / "grades.csv", "-t", "grade", "-o", tmp_path, "--no-report").code == 0


@pytest.mark.parametrize(
    "model", ["least-squares", "lda", "logistic-l2", "svm", "pegasos", "averaged-perceptron", "qda"]
)
def test_models_are_chosen_by_name_scored_and_shown(model, run, tables, tmp_path):
    out = run("fit", tables / "credit.csv", "-t", "default", "-m", model, "-o", tmp_path)
    assert out.code == 0, out.err
    assert f"Model {model}" in out.out
    assert run("predict", tmp_path / "model.skops", tables / "credit.csv", "-o", "p.csv").code == 0
    assert run("evaluate", tmp_path / "model.skops", tables / "credit.csv").code == 0


def test_the_class_that_is_looked_for_turns_the_coefficients(run, tables):
    def coefficients(label):
        out = run("fit", tables / "credit.csv", "-t", "default", "--positive", label, "--json", "--no-report")
        return {each["name"]: each for each in json.loads(out.out)["coefficients"]}

    yes, no = coefficients("yes"), coefficients("no")
    assert yes["age"]["coefficient"] == -no["age"]["coefficient"]
    assert yes["age"]["low"] == -no["age"]["high"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("c.csv", "decision,no,yes\nno,0,20\nyes,1,0\n"), ("c.json", '{"false_negative": 20, "false_positive": 1}')],
)
@pytest.mark.parametrize("model", ["logistic", "svm"])
def test_costs_move_decisions(name, text, model, run, tables, tmp_path):
    (tmp_path / name).write_text(text)
    plain = json.loads(run("fit", tables / "credit.csv", "-t", "default", "-m", model, "--json", "--no-report").out)
    out = run("fit", tables / "credit.csv", "-t", "default", "-m", model, "--cost", name, "--json", "--no-report")
    facts = json.loads(out.out)
    assert facts["validation"]["cost"] < 0.08 * 20  # what it would cost to accept all
    assert facts["validation"]["accuracy"] < plain["validation"]["accuracy"]
    assert facts["coefficients"] == plain["coefficients"]


def test_kinds_can_be_overruled(run, tables):
    facts = json.loads(
        run(
            "fit", tables / "credit.csv", "-t", "default", "--json", "--no-report",
            "--kind", "late_payments=nominal", "--drop", "region", "--missing", "years_in_job=",
            "--order", "housing=family,rents,owns", "--fill", "model",
        ).out
    )  # fmt: skip
    names = [each["name"] for each in facts["coefficients"]]
    assert "late_payments = 2" in names
    assert "housing" in names
    assert "years_in_job missing" not in names
    assert not any(name.startswith("region") for name in names)


def test_quiet_says_nothing(run, tables):
    out = run("fit", tables / "credit.csv", "-t", "default", "-q", "--no-report")
    assert (out.code, out.out, out.err) == (0, "", "")


def test_the_page_shows_the_model_and_no_row_of_the_table(fitted):
    page = (fitted[1] / "report.html").read_text(encoding="utf-8")
    written = html.unescape(page.split("Python representation of the model", 1)[1])
    assert re.search(r"Pipeline\(steps=\[\('coding',\s+Coding\(", written)
    assert "[(" not in written.replace("steps=[(", "")  # pairs of a frame and its numbers
    assert "shape=" not in written
