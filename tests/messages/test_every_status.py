"""What solvers, certificates and warnings say has its Spanish, whole."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_regressor

from hiperplano import LinearRegression, LogisticRegression, Perceptron, Ridge, separability
from hiperplano.messages import message_of, translate
from hiperplano.messages.catalogue import use_language
from tests.messages.english import english_parts
from tests.registry import ESTIMATORS, ONLINE, SEPARABLE_ONLY, WITHOUT_COEFFICIENTS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NOISY = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
MANY = np.digitize(X[:, 1] + 0.3 * RNG.normal(size=60), [-0.5, 0.5])
DATA = {
    "overlapping": (X, NOISY),
    "separable": (X, (X[:, 0] > 0).astype(int)),
    "many classes": (X, MANY),
    "dependent columns": (np.column_stack([X, X[:, 0] + X[:, 1]]), NOISY),
    "a column at rest": (np.column_stack([X, np.ones(60)]), NOISY),
    "columns at rest": (np.column_stack([X, np.ones((60, 2))]), NOISY),
    "wide": (RNG.normal(size=(12, 30)), np.arange(12) % 2),
    "nearly dependent": (np.column_stack([X, X[:, 0] + 1e-7 * X[:, 1]]), NOISY),
    "far away": (X + 1e9, NOISY),
    "constant in a class": (np.column_stack([X, NOISY]), NOISY),
}
EVERY = [entry.estimator for entry in ESTIMATORS + ONLINE + WITHOUT_COEFFICIENTS + SEPARABLE_ONLY]
EVERY += [
    LogisticRegression(C=np.inf),
    LogisticRegression(firth=True),
    LogisticRegression(firth=True, max_iter=1),
    LogisticRegression(solver="gradient", max_iter=5),
    LogisticRegression(tol=1e-300, max_iter=60),
    LinearRegression(solver="cg", max_iter=1, tol=1e-15),
    Ridge(solver="cg", tol=1e-300),
    Perceptron(max_iter=2, tol=None),
]


def said_by(estimator, X, y):
    """The status and the warnings of a fit; nothing if it refuses."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model = clone(estimator).fit(X, y.astype(float) if is_regressor(estimator) else y)
        except ValueError:
            return []
    texts = [
        message_of(warning.message)
        for warning in heard
        if warning.category.__module__.startswith(("hiperplano", "sklearn"))
    ]
    linear = getattr(model, "estimator_", model)
    return [linear.solution_.status, *texts]


def is_translated(text):
    with use_language("es"):
        assert not english_parts(text), text
        assert translate(text) != text


@pytest.mark.parametrize("estimator", EVERY, ids=str)
def test_every_ending_of_every_model_is_translated(estimator):
    model = clone(estimator)
    if (model.get_params().get("max_iter") or 0) > 1000:
        model.set_params(max_iter=1000)
    all_is_translated(model)


@pytest.mark.parametrize("estimator", [one for one in EVERY if one.get_params().get("max_iter")], ids=str)
def test_every_ending_after_one_step_is_translated(estimator):
    all_is_translated(clone(estimator).set_params(max_iter=1))


def all_is_translated(model):
    for rows, y in DATA.values():
        for text in said_by(model, rows, y):
            is_translated(text)


def test_certificates_are_translated():
    for rows, y in (DATA["overlapping"], DATA["separable"], (np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1])):
        for fit_intercept in (True, False):
            is_translated(str(separability(rows, y, fit_intercept)))


def test_chunks_are_translated():
    model = Perceptron(random_state=0)
    for _ in range(3):
        model.partial_fit(X, NOISY, classes=[0, 1])
        is_translated(model.solution_.status)
