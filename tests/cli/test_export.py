"""`hiperplano export`: every form, its check, and what it refuses."""

import json

import pytest

from hiperplano import from_json, load
from hiperplano.cli.main import main


@pytest.fixture(scope="module")
def folder(tables, tmp_path_factory):
    """A model and a scorecard of the same table."""
    made = tmp_path_factory.mktemp("export")
    assert (
        main(["fit", str(tables / "credit.csv"), "-t", "default", "--out", str(made / "fit"), "-q", "--no-report"]) == 0
    )
    options = ["-t", "default", "--out", str(made / "card"), "-q", "--no-report"]
    assert main(["scorecard", str(tables / "credit.csv"), *options]) == 0
    return made


@pytest.mark.parametrize("kind", ["fit", "card"])
def test_sql_is_written_and_verified(run, folder, tables, kind):
    model = folder / kind / "model.skops"
    table = tables / "credit.csv"
    said = run(
        "export", model, "--to", "sql", "--dialect", "duckdb", "--keep", "client_id", "--verify", table, "--json"
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["verified"]["agrees"]
    assert found["verified"]["rows"] == 800
    text = (folder / kind / "model.sql").read_text(encoding="utf-8")
    assert "FROM applicants" in text
    assert 'AS "client_id"' in text


def test_graphs_and_documents(run, folder, tmp_path):
    for kind in ("fit", "card"):
        for form in ("onnx", "pmml"):
            said = run(
                "export", folder / kind / "model.skops", "--to", form, "--out", tmp_path / "new" / f"{kind}.{form}"
            )
            assert said.code == 0, said.err
            assert (tmp_path / "new" / f"{kind}.{form}").stat().st_size > 1000


def test_documents_of_scorecards_only(run, folder, tmp_path):
    said = run("export", folder / "card" / "model.skops", "--to", "json", "--out", tmp_path / "card.json")
    assert said.code == 0, said.err
    assert from_json(tmp_path / "card.json").variables_ == load(folder / "card" / "model.skops")[-1].variables_
    assert run("export", folder / "card" / "model.skops", "--to", "xlsx", "--out", tmp_path / "card.xlsx").code == 0
    for form in ("json", "xlsx"):
        said = run("export", folder / "fit" / "model.skops", "--to", form, "--lang", "es")
        assert said.code == 1
        assert "Scorecard" in said.err
    assert run("export", folder / "fit" / "model.skops", "--to", "docx").code == 2
