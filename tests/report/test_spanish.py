"""A Spanish page has no English in it."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from hiperplano import LinearRegression, LogisticRegression, Ridge, diagnose, write_report
from hiperplano.messages import translate
from hiperplano.messages.catalogue import use_language
from tests.report.pages import COSTS, credit_model
from tests.report.reading import read

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
ALONE = np.vstack([X, [0.0, 0.0, 50.0]])
ALONE[:-1, 2] = 0.0
TARGETS = {
    "plain": (X, X.sum(axis=1) + RNG.normal(size=60)),
    "outlier": (X, X.sum(axis=1) + RNG.normal(size=60) + 60 * (np.arange(60) == 7)),
    "in time": (X, np.cumsum(RNG.normal(size=60))),
    "alternating": (X, X.sum(axis=1) + 3 * (-1.0) ** np.arange(60) + 0.1 * RNG.normal(size=60)),
    "uneven": (X, X.sum(axis=1) + RNG.normal(size=60) * np.exp(2 * X[:, 0])),
    "exact": (X, X @ [1.0, 2.0, 3.0]),
    "alike": (np.column_stack([X, X[:, 0] + 1e-3 * RNG.normal(size=60)]), X[:, 0] + RNG.normal(size=60)),
    "one row decides": (ALONE, ALONE.sum(axis=1) + RNG.normal(size=61)),
}


@pytest.mark.parametrize("name", TARGETS)
def test_every_finding_has_its_spanish(name):
    rows, y = TARGETS[name]
    found = diagnose(LinearRegression().fit(rows, y), rows, y)
    with use_language("es"):
        for finding in found.findings:
            told = translate(finding.sentence)
            assert told != finding.sentence
            assert re.findall(r"\d+", told) == re.findall(r"\d+", finding.sentence)
    assert [translate(finding.sentence) for finding in found.findings] == [each.sentence for each in found.findings]


def summaries():
    rng = np.random.default_rng(1)
    two = X[:, 0] + rng.normal(size=60) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            Ridge().fit(X, X.sum(axis=1) + rng.normal(size=60)),
            LinearRegression(positive=True).fit(X, X.sum(axis=1) + rng.normal(size=60)),
            LinearRegression().fit(X, X @ [1.0, 2.0, 3.0]),
            LinearRegression().fit(X, np.ones(60)),
            LogisticRegression().fit(X, two),
            LogisticRegression(firth=True).fit(X, two),
            LogisticRegression(C=np.inf).fit(X, X[:, 0] > 0),
        ]
    return [model.summary() for model in models]


def test_every_note_has_its_spanish():
    notes = [note for summary in summaries() for note in summary.notes]
    assert len(notes) == 7
    with use_language("es"):
        assert not [note for note in notes if translate(note) == note]


def test_a_spanish_page(tmp_path):
    model, training, (rows, y) = credit_model()
    told = write_report(
        tmp_path / "page.html", model, rows, y, training=training, positive="default", costs=COSTS, language="es"
    )
    page = read(told)
    assert page.one("html").attributes["lang"] == "es"
    titles = [node.text for node in page.all("h2")]
    assert titles == [
        "Veredicto",
        "Validación",
        "Coeficientes",
        "Modelo",
        "Certificado",
        "Estabilidad",
        "Datos",
        "Reproducibilidad",
    ]
    english = {"Solved", "Converged", "the", "coefficients", "rows"}
    for node in page.all("section"):
        assert not english & set(re.findall(r"\w+", node.text)), node.attributes["id"]
