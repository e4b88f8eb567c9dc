"""Every public model gives a page, alone and at the end of a pipeline."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import write_report
from tests.registry import ESTIMATORS, ONLINE, SEPARABLE_ONLY, WITHOUT_COEFFICIENTS
from tests.report.reading import read

EVERY = ESTIMATORS + ONLINE + WITHOUT_COEFFICIENTS + SEPARABLE_ONLY
SECTIONS = [
    "verdict", "validation", "coefficients", "model", "certificate", "stability", "data", "reproducibility"
]  # fmt: skip


def table(n_classes: int, regression: bool):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    if regression:
        return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=90)
    y = np.arange(90) % n_classes
    X[:, 0] += 12.0 * y  # also for models that refuse rows no plane separates
    return X, np.array(["low", "middle", "top"])[y]


@pytest.mark.parametrize("piped", [False, True], ids=["alone", "pipeline"])
@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_a_page_of_every_model(entry, piped, tmp_path):
    model = clone(entry.estimator)
    kinds = [(0, True)] if not is_classifier(model) else [(2, False), (3, False)]
    if entry in SEPARABLE_ONLY:
        kinds = kinds[:1]
    for n_classes, regression in kinds:
        X, y = table(n_classes, regression)
        whole = make_pipeline(StandardScaler(), clone(model)) if piped else clone(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the fits: few passes, separated classes
            whole.fit(X[:60], y[:60])
        page = read(write_report(tmp_path / "page.html", whole, X[60:], y[60:], training=(X[:60], y[:60])))
        assert [section.attributes["id"] for section in page.all("section")] == SECTIONS
        assert len(page.all("svg", role="img")) >= 3
        drawn = [mark.attributes for picture in page.all("svg") for mark in picture.walk()]
        assert not [marks for marks in drawn if re.search(r"\b(nan|inf)\b", marks.get("d", marks.get("points", "")))]
