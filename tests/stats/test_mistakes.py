"""The mistake bound: by hand, against a quadratic program, and its refusals."""

import clarabel
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix, csr_array, eye

from hiperplano import mistake_bound
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget


def exact_margin(Z):
    """max over ‖w‖ = 1 of min z·w, as 1/‖w‖ of min ‖w‖² with z·w ≥ 1."""
    d = Z.shape[1]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(
        csc_matrix(eye(d)), np.zeros(d), csc_matrix(-Z), -np.ones(len(Z)), [clarabel.NonnegativeConeT(len(Z))], settings
    )
    return 1 / np.linalg.norm(solver.solve().x)


def rows(seed, n, d, bias):
    rng = np.random.default_rng(seed)
    X, plane = rng.normal(size=(n, d)), rng.normal(size=d)
    y = X @ plane + 0.5 * bias > 0
    return X + 0.05 * np.where(y, 1, -1)[:, None] * plane / np.linalg.norm(plane), y


def test_by_hand():
    # Nearest rows (1, 0) and (−1, 0): γ = 1 across the first axis; the longest row is (3, 4).
    found = mistake_bound([[1.0, 0.0], [3.0, 4.0], [-1.0, 0.0], [-2.0, 1.0]], [1, 1, 0, 0], fit_intercept=False)
    np.testing.assert_allclose((found.radius, found.margin, found.bound), (5.0, 1.0, 25.0))
    np.testing.assert_allclose(found.coef, [1.0, 0.0], atol=1e-12)
    assert str(found).startswith("A perceptron makes at most 25 mistakes")


@given(seed=st.integers(0, 10**6), n=st.integers(5, 80), d=st.integers(1, 6), bias=st.booleans())
def test_equals_a_quadratic_program(seed, n, d, bias):
    X, y = rows(seed, n, d, bias)
    assume(len(np.unique(y)) == 2)
    Z = (np.column_stack([X, np.ones(n)]) if bias else X) * np.where(y, 1.0, -1.0)[:, None]
    found = mistake_bound(X, y, fit_intercept=bias)
    np.testing.assert_allclose(found.margin, exact_margin(Z), rtol=1e-6)
    # The plane proves it.
    plane = np.append(found.coef, found.intercept)[: Z.shape[1]]
    np.testing.assert_allclose(np.linalg.norm(plane), 1.0)
    np.testing.assert_allclose((Z @ plane).min(), found.margin, rtol=1e-9)
    np.testing.assert_allclose(found.radius, np.linalg.norm(Z, axis=1).max())
    np.testing.assert_allclose(found.bound, (found.radius / found.margin) ** 2)


def test_sparse_equals_dense():
    X, y = rows(1, 60, 5, True)
    X[np.abs(X) < 0.5] = 0.0
    X[:, 0] = np.where(y, 2.0, -2.0)
    for bias in (True, False):
        dense, sparse = mistake_bound(X, y, bias), mistake_bound(csr_array(X), y, bias)
        np.testing.assert_allclose(sparse.margin, dense.margin, rtol=1e-9)


def test_many_rows_and_a_thin_margin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 10))
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 1e-3, -1e-3)
    found = mistake_bound(X, y)
    assert 1e-3 < found.margin < 1e-2
    scores = X @ found.coef + found.intercept
    np.testing.assert_allclose((np.where(y, 1, -1) * scores).min(), found.margin, rtol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_what_cannot_be_separated_is_refused(bias):
    with pytest.raises(InvalidData, match=r"hiperplano\.separability"):
        mistake_bound([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], fit_intercept=bias)
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidData, match="separates"):
        mistake_bound(rng.normal(size=(200, 4)), rng.integers(0, 2, 200), fit_intercept=bias)


def test_through_the_origin_is_harder():
    X, y = [[1.0], [2.0]], ["low", "high"]
    assert mistake_bound(X, y).bound > 1
    with pytest.raises(InvalidData, match="through the origin"):
        mistake_bound(X, y, fit_intercept=False)


def test_arguments_are_checked():
    with pytest.raises(InvalidTarget, match="3 classes"):
        mistake_bound([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(InvalidParameter, match="fit_intercept"):
        mistake_bound([[0.0], [1.0]], [0, 1], fit_intercept="yes")
