"""Every refusal is one paragraph with rule, evidence and remedy, and an exit code."""

from __future__ import annotations

import pandas as pd
import pytest

from hiperplano import LinearRegression, save


def refused(outcome, *parts, code=1):
    assert outcome.code == code, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("Error: ")
    assert outcome.err.count("\n") == 1, "one paragraph"
    for part in parts:
        assert part in outcome.err, outcome.err


@pytest.fixture
def fit(run, tmp_path):
    """Fit a table of the given text."""

    def call(text, *arguments, encoding="utf-8"):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        return run("fit", "t.csv", "-t", "y", "--no-report", "--quiet", *arguments)

    return call


ROWS = "".join(f"{i},{i * 7 % 13},{'ab'[i * 5 % 7 > 3]}\n" for i in range(60))
GOOD = "x,z,y\n" + ROWS


def test_a_good_table_passes(fit):
    assert fit(GOOD).code == 0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16"])
def test_encodings_pass(encoding, fit, run):
    text = "año;z;y\n" + "".join(f"{i},5;{i * 7 % 13};{'ñb'[i * 5 % 7 > 3]}\n" for i in range(60))
    assert fit(text, encoding=encoding).code == 0
    out = run("fit", "t.csv", "-t", "y", "--no-report", "--all")
    assert "año" in out.out
    assert "numbers from 0.5 to 59.5" in out.out


def test_files(run, fit, tmp_path):
    refused(run("fit", "no.csv", "-t", "y"), "no.csv: there is no such file", "Check the path")
    refused(fit(""), "t.csv is empty")
    refused(fit("x,x,y\n1,2,a\n"), "2 columns are called 'x' (columns 1, 2)", "Rename them")
    refused(fit("x,,y\n1,2,a\n"), "column 2 has no name")
    refused(fit("x;z;y\n1;2;a\n", "--separator", ","), "one column was found", "--separator ';' may be right")
    (tmp_path / "b.csv").write_bytes(b"\x00\x01\x02\x03")
    refused(run("fit", "b.csv", "-t", "y"), "binary file")
    assert not (tmp_path / "hiperplano-out").exists()


def test_targets(fit, run):
    refused(fit(GOOD.replace("y", "why", 1)), "t.csv has no column 'y'", "'x', 'z', 'why'")
    refused(fit("x,y\n" + "1,a\n2,a\n"), "the target 'y' holds one value ('a' in all 2 rows)", "two or more are needed")
    refused(fit("x,y\n" + "1,\n2,\n"), "the target 'y' is empty in all rows")
    refused(
        fit("x,y\n" + "".join(f"{i},name {i}\n" for i in range(99))), "holds 99 different values", "at most 50 classes"
    )
    refused(fit("x,y\n1,a\n2,a\n3,a\n4,b\n"), "holds 'b' in one row only", "every class needs two")
    refused(fit("x,y\n1,2020-01-02\n2,2020-01-03\n"), "holds '2020-01-02", "Choose another column")
    refused(fit(GOOD, "--task", "regression"), "a regression needs numbers")
    refused(fit(GOOD, "--positive", "c"), "--positive c", "classes a, b")
    refused(fit("y\n" + "1\n" * 9), "one column was found")


def test_columns(fit, run):
    refused(fit("x,y\n" + "1,a\n1,b\n" * 9), "no column is left to learn from: each is constant")
    refused(fit("x,y\n" + ",a\n,b\n" * 9), "no column is left to learn from: each is empty")
    refused(fit("x,y\ninf,a\n" + "1,b\n2,a\n" * 9), "column 'x' holds infinity (row 1)", "--drop x")
    empty = run_columns(run, "x,e,y\n" + "".join(f"{i % 11},,{'ab'[i * 5 % 7 > 3]}\n" for i in range(60)))
    assert "all 60 cells are empty" in empty
    many = run_columns(
        run, "x,c,y\n" + "".join(f"{i % 11},place {i % 10_000},{'ab'[i % 3 > 1]}\n" for i in range(30_000))
    )
    assert "10,000 different texts, more than" in " ".join(many.split())


def run_columns(run, text):
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write(text)
    out = run("fit", "t.csv", "-t", "y", "--no-report", "--all")
    assert out.code == 0, out.err
    return out.out


def test_choices(fit, tmp_path):
    refused(
        fit(GOOD, "--model", "forest"),
        "no model 'forest' for 2 classes; there are auto, least-squares, ridge",
    )
    refused(fit(GOOD, "--kind", "x=fancy"), "'fancy' is not a kind")
    refused(fit(GOOD, "--kind", "w=nominal"), "--kind: no column 'w'; the columns are 'x', 'z'")
    refused(fit(GOOD, "--drop", "w"), "no column 'w'")
    refused(fit(GOOD, "--drop", "y"), "--drop names the target 'y'")
    refused(fit(GOOD, "--missing", "x=much"), "--missing x: the column holds numbers, and 'much' is none")
    refused(fit(GOOD, "--model", "hard-margin"), "plane")
    refused(fit(GOOD, "--cost", "no.csv"), "no.csv: there is no such file")
    (tmp_path / "c.csv").write_text("d,a,c\na,0,1\nc,1,0\n")
    refused(fit(GOOD, "--cost", "c.csv"), "the true classes a, c; the target has the classes a, b", "Write a CSV")
    (tmp_path / "c.json").write_text('{"false_negative": 3}')
    refused(fit(GOOD, "--cost", "c.json"), "names 'false_negative'", "false_positive")
    (tmp_path / "file").write_text("")
    refused(fit(GOOD, "--out", "file"), "file", "Check the path")


def test_wrong_use(fit, run):
    fit(GOOD)
    told = run("fit", "t.csv")
    assert told.code == 2
    assert "--target: name the target column, one of those above. See hiperplano fit --help" in told.err
    assert "whole numbers" in told.out or "numeric" in told.out  # the columns that it can be
    refused(run("fit"), "FILE is missing", code=2)
    refused(run("fti"), "there is no command fti", code=2)
    refused(run("fit", "t.csv", "-t", "y", "--modle", "svm"), "no option --modle", "--model", code=2)
    refused(run("fit", "a.csv", "b.csv", "-t", "y"), "too many arguments (b.csv)", code=2)
    refused(fit(GOOD, "--validation", "1.5"), "--validation: 1.5 must lie between 0 and 1", code=2)
    refused(fit(GOOD, "--task", "clustering"), "--task: 'clustering' is none of classification, regression", code=2)
    refused(fit(GOOD, "--kind", "nominal"), "--kind: 'nominal': a column, a sign = and a value", code=2)
    refused(fit(GOOD, "--lang", "fr"), "--lang: 'fr' is none of en, es", code=2)
    refused(run("compare", "t.csv", "-t", "y", "--folds", "1"), "--folds: 1 folds; two or more are needed", code=2)
    refused(run("predict", "m", "t.csv", "-o", "p.xls"), "--out: '.xls' is none of .csv, .xlsx, .parquet", code=2)


def test_saved_models(fit, run, tmp_path):
    assert fit(GOOD, "-o", tmp_path).code == 0
    model = tmp_path / "model.skops"
    refused(run("predict", "no.skops", "t.csv", "-o", "p.csv"), "there is no such file")
    refused(run("predict", "t.csv", "t.csv", "-o", "p.csv"), "no file that hiperplano.save wrote", "pickle")
    save(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), "bare.skops")
    refused(run("predict", "bare.skops", "t.csv", "-o", "p.csv"), "without the metadata of a table", "hiperplano.load")
    pd.DataFrame({"x": [1.0], "y": ["a"]}).to_csv("less.csv", index=False)
    refused(run("predict", model, "less.csv", "-o", "p.csv"), "1 of 2 columns that the model needs are not there: 'z'")
    pd.DataFrame({"x": ["a"], "z": [1], "y": ["a"]}).to_csv("text.csv", index=False)
    refused(run("predict", model, "text.csv", "-o", "p.csv"), "column 'x' holds 'a' (row 1)")
    pd.DataFrame({"x": [1], "z": [1], "y": ["c"]}).to_csv("label.csv", index=False)
    refused(run("evaluate", model, "label.csv"), "holds 'c' (row 1); the model knows a, b")
    refused(run("evaluate", model, "less.csv", "-t", "w"), "no column 'w'")
    assert not (tmp_path / "p.csv").exists()


def test_debug_shows_the_traceback(run):
    with pytest.raises(Exception, match="there is no such file"):
        run("fit", "no.csv", "-t", "y", "--debug")


def test_an_accident_is_told_as_such(run, tables, monkeypatch):
    def fall(*arguments, **options):
        raise ZeroDivisionError("an accident")

    monkeypatch.setattr("hiperplano.cli.workflow.fitting.run.evaluate_sample", fall)
    outcome = run("fit", tables / "credit.csv", "-t", "default")
    refused(outcome, "internal error (ZeroDivisionError: an accident)", "--debug")


def test_ctrl_c_while_a_class_is_defined_is_no_accident(run, tables, monkeypatch):
    """Python 3.11 wraps the KeyboardInterrupt in a RuntimeError there."""

    def stop(*arguments, **options):
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("hiperplano.cli.workflow.fitting.run.evaluate_sample", stop)
    outcome = run("fit", tables / "credit.csv", "-t", "default")
    assert outcome.code == 130
    assert outcome.err.startswith("Error: Stopped.")
