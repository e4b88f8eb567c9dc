"""`fit` and `predict` of folders and patterns: read some rows at a time, with the coefficients of the whole table."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hiperplano import load_credit_default


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table in one file, and the same in three."""
    made = tmp_path_factory.mktemp("stream")
    frame = load_credit_default(n_rows=900).frame
    frame.to_parquet(made / "whole.parquet")
    (made / "parts").mkdir()
    for k in range(3):
        frame.iloc[300 * k : 300 * k + 300].to_parquet(made / "parts" / f"{k}.parquet")
    return made, frame.columns[-1]


def test_a_folder_gives_the_coefficients_of_the_table(run, folder, tmp_path):
    made, target = folder
    options = ("-t", target, "--validation", "0", "--json", "--model", "logistic-l2", "--no-report")
    there = run("fit", made / "parts", *options, "-o", tmp_path / "there")
    here = run("fit", made / "whole.parquet", *options, "-o", tmp_path / "here")
    assert there.code == here.code == 0
    streamed, whole = json.loads(there.out), json.loads(here.out)
    assert any("some rows at a time" in note for note in streamed["notes"])
    assert not any("some rows at a time" in note for note in whole["notes"])
    assert streamed["rows"] == 900
    assert streamed["training"]["auc"] == pytest.approx(whole["training"]["auc"], abs=1e-9)
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    assert run("predict", tmp_path / "there" / "model.skops", made / "parts" / "*.parquet", "-o", first).code == 0
    assert run("predict", tmp_path / "here" / "model.skops", made / "whole.parquet", "-o", second).code == 0
    one, two = pd.read_parquet(first), pd.read_parquet(second)
    assert list(one.columns) == list(two.columns)
    names = [name for name in one.columns if name.startswith("probability")]
    np.testing.assert_allclose(one[names], two[names], atol=1e-9)


def test_rows_are_held_out_and_what_cannot_be_done_is_said(run, folder, tmp_path):
    made, target = folder
    found = run("fit", made / "whole.parquet", "-t", target, "--stream", "-o", tmp_path)
    assert found.code == 0
    assert "as asked for with --stream" in " ".join(found.out.split())
    assert "AUC" in found.out
    assert "no report.html is written" in " ".join(found.out.split())
    assert not (tmp_path / "report.html").exists()
    refused = run("fit", made / "parts", "-t", target, "--select", "aic", "-o", tmp_path)
    assert refused.code != 0
    assert "--select needs the whole table in memory (every step fits the rows anew" in " ".join(refused.err.split())
    parts = tmp_path / "parts"
    parts.mkdir()
    frame = pd.read_parquet(made / "whole.parquet")
    frame.to_parquet(parts / "0.parquet")
    for wrong, said in ((frame.drop(columns=frame.columns[0]), "has no column"), (frame.astype(str), "of one kind")):
        wrong.to_parquet(parts / "1.parquet")
        refused = run("fit", parts, "-t", target, "-o", tmp_path)
        assert "1.parquet" in refused.err.replace("\n", "")
        assert said in " ".join(refused.err.split())
    number = frame.select_dtypes("float").columns[0]
    frame.assign(**{number: np.where(frame.index == 123, np.inf, frame[number])}).to_parquet(parts / "1.parquet")
    refused = run("fit", parts, "-t", target, "-o", tmp_path)
    assert "infinity (row 124 of" in " ".join(refused.err.split())
    model = tmp_path / "model.skops"
    refused = run("predict", model, parts, "-o", tmp_path / "found.parquet")
    assert "infinity (row 124 of" in " ".join(refused.err.split())
    frame.assign(**{number: "many"}).to_parquet(parts / "1.parquet")
    refused = run("predict", model, parts, "-o", tmp_path / "found.parquet")
    assert f"1.parquet: column '{number}' holds 'many' (row 1)" in " ".join(refused.err.split())
    frame.drop(columns=number).to_parquet(parts / "1.parquet")
    found = run("predict", model, parts, "-o", tmp_path / "found.parquet", "--json")
    assert any(
        "1.parquet: columns that the model needs are not there" in note for note in json.loads(found.out)["notes"]
    )
    refused = run("predict", model, made / "parts", "-o", tmp_path / "found.csv")
    assert ".parquet" in refused.err


def test_a_regression_of_numbers_is_streamed(run, tmp_path):
    x = np.random.default_rng(0).normal(size=(4_000, 2))
    y = x @ [1.0, -2.0] + 0.1 * np.random.default_rng(1).normal(size=4_000)
    pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "y": y}), tmp_path / "a.parquet")
    found = run("fit", tmp_path / "a.parquet", "-t", "y", "--stream", "--json", "-o", tmp_path / "out")
    results = json.loads(found.out)
    assert results["coefficients"][0] == pytest.approx({"a": 1.0, "b": -2.0}, abs=0.02)
    assert results["validation"]["r2"] > 0.99


def test_a_class_that_only_later_rows_have_is_found(run, tmp_path):
    """Kinds of columns are told by the first rows of a file; of the classes all rows tell."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60_000)
    label = np.sort(np.where(x + rng.logistic(size=len(x)) > 2.5, "yes", "no"))
    assert label[50_000 - 1] == "no"
    pq.write_table(pa.table({"x": np.sort(x), "y": label}), tmp_path / "rows.parquet")
    found = run("fit", tmp_path / "rows.parquet", "-t", "y", "--stream", "--json", "-o", tmp_path)
    assert found.code == 0
    assert json.loads(found.out)["target"]["positive"] == "yes"
    pq.write_table(pa.table({"x": x, "y": np.full(len(x), "no")}), tmp_path / "rows.parquet")
    refused = run("fit", tmp_path / "rows.parquet", "-t", "y", "--stream", "-o", tmp_path)
    assert "'no' in all 60,000 rows" in " ".join(refused.err.split())
