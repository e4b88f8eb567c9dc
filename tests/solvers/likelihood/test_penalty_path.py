"""Fits to the same rows for a sequence of penalties."""

import numpy as np
import pytest
import sklearn.linear_model
from scipy.sparse import csr_array

from hiperplano.data.in_memory import InMemory
from hiperplano.losses.softmax import shares
from hiperplano.solvers.lbfgs import Memory
from hiperplano.solvers.likelihood.folds.penalty_path import PenaltyPath
from hiperplano.solvers.row_span import InRowSpan

CS = [0.1, 1.0, 10.0, 100.0]


def dense_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 400))
    return X, np.sign(X @ rng.normal(size=400) / 10 + rng.logistic(size=500))


def sparse_table():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 700)) * (rng.random((900, 700)) < 0.02)
    return csr_array(X), np.sign(X @ rng.normal(size=700) + rng.logistic(size=900))


@pytest.mark.parametrize("table", [dense_table, sparse_table])
def test_after_a_penalty_that_took_many_steps_the_next_ones_take_few(table):
    X, y = table()
    path = PenaltyPath(InMemory(X, y[:, None], None), 1, fit_intercept=True, solver="auto", tol=1e-8, max_iter=1000)
    found = [path.fit(1.0 / (C * len(y))) for C in CS]
    for C, each in zip(CS, found, strict=True):
        exact = sklearn.linear_model.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12).fit(X, y)
        np.testing.assert_allclose(each.coef, exact.coef_, atol=1e-4 * np.abs(exact.coef_).max())
        assert each.converged
    # L-BFGS alone would take at least 15 steps for each of the last two.
    steps = [each.n_iter for each in found]
    assert steps[0] >= 10
    assert max(steps[2:]) < 10


def test_the_memory_of_lbfgs_saves_steps_for_the_next_penalty(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 30)) * (rng.random((3000, 30)) < 0.1)
    y = (2 * X @ rng.normal(size=(30, 3)) + rng.gumbel(size=(3000, 3))).argmax(axis=1)
    rows = InMemory(csr_array(X), y[:, None].astype(float), None)

    def steps():
        path = PenaltyPath(rows, 3, fit_intercept=True, solver="auto", tol=1e-4, max_iter=1000)
        return [path.fit(1.0 / (C * len(y))).n_iter for C in CS]

    kept = steps()
    monkeypatch.setattr(Memory, "repenalise", lambda memory, change: memory.clear())
    forgotten = steps()
    assert kept[0] == forgotten[0]
    assert sum(kept) < sum(forgotten) - 5


def wide_table(n_classes):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 900)) * (rng.random((60, 900)) < 0.3)
    return X, np.arange(60) % n_classes


@pytest.mark.parametrize("layout", [np.asarray, csr_array])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_fewer_rows_than_columns(n_classes, layout):
    """Coefficients are −C·Xᵀ(p − y), where y holds a 1 for the class of a row: the penalty's slope at the minimum."""
    X, codes = wide_table(n_classes)
    n_scores, y = (1, 2.0 * codes - 1.0) if n_classes == 2 else (n_classes, codes.astype(float))
    rows = InMemory(layout(X), y[:, None], None)
    path = PenaltyPath(rows, n_scores, fit_intercept=True, solver="auto", tol=1e-10, max_iter=1000)
    for C in CS:
        found = path.fit(1.0 / (C * len(y)))
        score = X @ found.coef.T + found.intercept
        errors = shares(np.hstack([-score, score]) / 2)[:, 1:] if n_scores == 1 else shares(score)
        errors -= codes[:, None] == (1 if n_scores == 1 else np.arange(n_classes))
        atol = 1e-8 * max(1.0, C) * np.abs(found.coef).max()
        np.testing.assert_allclose(found.coef, -C * errors.T @ X, rtol=0, atol=atol)
        np.testing.assert_allclose(errors.sum(axis=0), 0.0, atol=1e-8)


@pytest.mark.parametrize(("n_classes", "times"), [(2, 0), (4, 1)])
def test_the_span_of_the_rows_is_computed_at_most_once_for_all_penalties(n_classes, times, monkeypatch):
    spans, compute = [], InRowSpan.__init__

    def counted(span, problem):
        spans.append(problem)
        compute(span, problem)

    monkeypatch.setattr(InRowSpan, "__init__", counted)
    X, codes = wide_table(n_classes)
    n_scores, y = (1, 2.0 * codes - 1.0) if n_classes == 2 else (n_classes, codes.astype(float))
    rows = InMemory(csr_array(X), y[:, None], None)
    path = PenaltyPath(rows, n_scores, fit_intercept=True, solver="auto", tol=1e-8, max_iter=1000)
    for C in CS:
        path.fit(1.0 / (C * len(y)))
    assert len(spans) == times
