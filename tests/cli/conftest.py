from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from typer.main import get_command

from hiperplano import load_credit_default, load_credit_line
from hiperplano.cli import app
from hiperplano.cli.main import main
from hiperplano.messages.catalogue import current_language


@dataclass
class Outcome:
    code: int
    out: str
    err: str


build = app.build


@cache
def command(language):
    """The command in the current language, built once: typer needs longer for it than most tests for all the rest."""
    return get_command(build())


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """The command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(app, "build", lambda: command(current_language()))

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return call


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """A folder with credit.csv (two classes), line.csv (numbers) and grades.csv (three classes)."""
    folder = tmp_path_factory.mktemp("tables")
    frame = load_credit_default(n_rows=800).frame
    frame.to_csv(folder / "credit.csv", index=False)
    X, y = load_credit_line(as_frame=True, return_X_y=True)
    X.assign(line=y).to_csv(folder / "line.csv", index=False)
    grades = y.rank(pct=True).apply(lambda share: "ABC"[min(2, int(3 * share))])
    X.assign(grade=grades).to_csv(folder / "grades.csv", index=False)
    return folder
