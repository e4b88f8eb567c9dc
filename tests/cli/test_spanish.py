"""A whole run in Spanish: no word and no number of it is English, at the terminal or on the page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.report.reading import read

ENGLISH = frozenset(
    re.findall(
        r"\w+",
        """the of and are was were with from for rows row missing days other again unseen outside intercept coefficient
        training validation column columns kind numeric below above low high mean rate share scores""",
    )
)
NAMES = {"AUC", "KS", "Gini", "PSI", "MAE", "RMSE", "logistic-l2", "score"}
DECIMAL_POINT = re.compile(r"(?<![\w.,])[−-]?(?:0\.\d+|\d+\.\d{1,2}|\d+\.\d{4,})(?![\w.])")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(8)
    n = 400
    ingreso = rng.lognormal(14.5, 0.5, n).round(0)
    tabla = {
        "ingreso mensual": np.where(rng.random(n) < 0.1, np.nan, ingreso),
        "edad": rng.integers(19, 75, n),
        "apertura": pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
        "ciudad": rng.choice(["Bogotá", "Cali", "Medellín"], n),
        "RelaciónDeudaIngresoDelÚltimoSemestreCompleto": rng.random(n),
    }
    punto = -0.03 * (tabla["edad"] - 40) - np.log(ingreso) + 14
    tabla["mora"] = np.where(punto + rng.logistic(size=n) > 0, "sí", "no")
    tabla["zona"] = rng.choice(["norte", "sur", "centro"], n)
    return pd.DataFrame(tabla)


def spaced(node):
    """The text of a node, that of neighbouring cells apart, without data for the script."""
    if node.name == "script":
        return ""
    return " ".join(child if isinstance(child, str) else spaced(child) for child in node.children)


def english(text):
    words = set(re.findall(r"(?<![\w\-./=])[a-z]{3,}(?![\w\-./=(])", text)) - NAMES
    return sorted(words & ENGLISH)


@pytest.mark.parametrize(
    ("target", "model"), [("mora", "logistic-l2"), ("mora", "logistic"), ("ingreso mensual", "ridge"), ("zona", "lda")]
)
def test_a_fit(run, frame, target, model):
    frame.to_csv("tabla.csv", index=False)
    done = run("fit", "tabla.csv", "-t", target, "--model", model, "--lang", "es", "--all")
    assert done.code == 0, done.err
    page = read(Path("hiperplano-out/report.html"))
    body = " ".join(map(spaced, page.all("section")[:-1]))  # the last holds the command and versions
    for text in (done.out, body):
        text = re.sub(r"\S*\.(csv|html|skops)\S*", "", text)
        code = re.compile(r"\w+\([^)]*=[^)]*\)")  # the model's parameters, as Python has them
        assert english(code.sub("", text)) == []
        assert DECIMAL_POINT.findall(code.sub("", text)) == []
    if target == "mora":
        assert "ingreso mensual faltante" in done.out
        assert "apertura (días)" in page.text


def test_other_commands(run, frame):
    frame.to_csv("tabla.csv", index=False)
    run("fit", "tabla.csv", "-t", "mora", "-q")
    for arguments in (
        ("look", "tabla.csv", "-t", "mora"),
        ("predict", "hiperplano-out/model.skops", "tabla.csv", "-o", "puntos.csv"),
        ("evaluate", "hiperplano-out/model.skops", "tabla.csv"),
        ("explain", "hiperplano-out/model.skops", "tabla.csv", "--row", 3),
    ):
        done = run(*arguments, "--lang", "es")
        assert done.code == 0, done.err
        text = re.sub(r"\S*\.(csv|html|skops)\S*", "", done.out)
        assert english(text) == []
        assert DECIMAL_POINT.findall(text) == []


def test_no_number_is_cut_at_eighty_columns(run, frame, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame.to_csv("tabla.csv", index=False)
    shown = run("fit", "tabla.csv", "-t", "mora", "--all").out.partition("Coefficients")[2]
    lines = [line for line in shown.splitlines() if re.search(r"\d$", line.rstrip())]
    assert len(lines) >= 7
    assert all(re.search(r"(<0\.0001|[01]\.\d{4})( +[\d.]+)?$", line.rstrip()) for line in lines)
    assert "RelaciónDeudaIngresoDelÚltimoSemestreCompleto" in re.sub(r"\s+[−\d].*\n\s*", "", shown)
