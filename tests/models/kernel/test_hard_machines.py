"""Machines that have no solution, or none that float64 could find: they end soon, and say why."""

import warnings

import numpy as np
import pytest
from sklearn import svm

from hiperplano import SVC, SVR, NuSVC
from hiperplano.errors import AccuracyWarning, ConvergenceWarning
from hiperplano.solvers.kernel.svm.decomposition import minimise
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.gram_rows import HeldGram

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
MIXED = RNG.integers(0, 2, size=40)


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_without_a_bound_rows_that_no_function_separates_are_named(kernel, n):
    rng = np.random.default_rng(1)
    model = SVC(C=np.inf, kernel=kernel)
    with pytest.warns(ConvergenceWarning, match="C=inf allows no loss"):
        model.fit(rng.normal(size=(n, 2)), rng.integers(0, 2, size=n))
    assert not model.solution_.converged
    assert model.n_iter_.max() < 200_000  # of the 10 million that are allowed


def test_folds_without_a_bound_end_soon_too():
    """Rows that a fold leaves out have bounds of 0, and say nothing about the others."""
    inside = DualProblem.classification(np.where(MIXED == 1, 1.0, -1.0), np.where(np.arange(40) < 5, 0.0, np.inf))
    found = minimise(inside, HeldGram(X @ X.T), tol=1e-3, max_steps=10_000_000, n_bytes=8 * 1024**2)
    assert found.unbounded
    assert found.steps < 200_000


def test_without_a_bound_a_tube_that_no_function_keeps_to_is_named():
    with pytest.warns(ConvergenceWarning, match="C=inf allows no loss"):
        SVR(C=np.inf, kernel="linear").fit(X, X[:, 0] + RNG.normal(size=40))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_without_a_bound_rows_that_a_function_separates_are_fitted(size):
    y = X[:, 0] + 0.01 > X[:, 1]
    rows = size * X[np.abs(X[:, 0] + 0.01 - X[:, 1]) > 0.02]
    y = y[np.abs(X[:, 0] + 0.01 - X[:, 1]) > 0.02]
    model = SVC(C=np.inf, kernel="linear", tol=1e-6).fit(rows, y)
    assert model.solution_.converged
    scores = np.where(y, 1.0, -1.0) * model.decision_function(rows)
    assert scores.min() == pytest.approx(1.0, abs=1e-5)
    narrow = SVC(C=np.inf).fit(X, MIXED)  # any labels, with a kernel of infinitely many features
    assert narrow.solution_.converged
    assert narrow.score(X, MIXED) == 1.0


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("rows", ["outlier", "zeros", "pairs"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::hiperplano.errors.AccuracyWarning")
def test_weights_of_every_size_do_not_make_steps_endless(rows, kernel):
    table = X.copy()
    if rows == "outlier":
        table[3, 0] = 1e15
    elif rows == "zeros":
        table[::3] = 0.0
    else:
        table[::2] = table[1::2]
    model = SVC(kernel=kernel).fit(table, MIXED, sample_weight=10.0 ** RNG.uniform(-40, 40, size=40))
    assert model.n_iter_.max() < 5_000_000  # of the 10 million that are allowed
    assert np.isfinite(model.decision_function(table)).all()


def test_gains_too_small_for_float32_choose_a_partner_that_may_fall():
    rng, table = np.random.default_rng(14), X.copy()
    table[3, 0] = 1e15
    weight = 10.0 ** rng.uniform(-40, 40, size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(kernel="poly").fit(table, MIXED, sample_weight=weight)
    bound = weight[model.support_]
    assert (np.abs(model.dual_coef_[0]) <= bound).all()


def test_an_outlier_does_not_slow_the_other_rows_down():
    """The least curvature of a pair is in units of its own rows: with that of the largest all others stood still."""
    table = X.copy()
    table[3] = 1e8
    y = (X[:, 0] > 0).astype(int)
    y[:2] = 1 - y[:2]
    weight = np.ones(40)
    weight[3] = 1e-30
    ours = SVC(kernel="linear", tol=1e-6).fit(table, y, sample_weight=weight)
    theirs = svm.SVC(kernel="linear", tol=1e-6).fit(np.delete(X, 3, axis=0), np.delete(y, 3))
    assert ours.solution_.converged
    np.testing.assert_allclose(
        np.delete(ours.decision_function(table), 3), theirs.decision_function(np.delete(X, 3, axis=0)), atol=1e-4
    )


@pytest.mark.parametrize("offset", [1e5, 1e6, 1e7])
def test_what_rounding_leaves_of_scores_is_stated(offset):
    """Inner products of 2e12 keep few digits of scores of size 1."""
    plain = SVC(kernel="linear", tol=1e-8).fit(X, MIXED)
    assert plain.solution_.rounding < 1e-12
    model = SVC(kernel="linear", tol=2e-5)
    with pytest.warns((AccuracyWarning, ConvergenceWarning), match="Standardise the columns"):
        model.fit(X + offset, MIXED)
    off = np.abs(model.decision_function(X + offset) - plain.decision_function(X)).max()
    assert 0.1 * model.solution_.rounding < off < 10 * model.solution_.rounding
    with pytest.warns((AccuracyWarning, ConvergenceWarning), match="Standardise the columns"):
        NuSVC(kernel="linear", nu=0.9, tol=1e-6).fit(X + offset, MIXED)


def test_the_violation_of_a_solved_machine_is_not_negative():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(60, 2))
        model = SVC().fit(rows, rows[:, 0] + 0.3 * rng.normal(size=60) > 0)
        assert 0.0 <= model.solution_.violation <= 1e-3
