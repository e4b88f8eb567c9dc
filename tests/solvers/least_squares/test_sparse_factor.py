"""A sparse factorisation of rows that seldom meet, against singular values of the same rows made dense."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hiperplano import LinearRegression, Ridge
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.centred_rows import centred_rows, sparse_rows
from hiperplano.solvers.least_squares.conjugate import conjugate_least_squares
from hiperplano.solvers.least_squares.sparse_factor import ColumnPreconditioner, by_sparse_factor, preconditioner_cost


def _table(n: int, d: int, density: float, spread: float, seed: int) -> tuple[sparse.csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = sparse.random_array((n, d), density=density, format="csr", rng=rng)
    x.data = rng.standard_normal(x.nnz)
    return sparse.csr_array(x * spread ** rng.uniform(0, 1, d)), rng.standard_normal(n) + 3.0


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1e3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_minimum_is_that_of_singular_values(alpha: float, fit_intercept: bool, weighted: bool) -> None:
    """Also where rows depend on each other, as those do that hold one number of the same column."""
    x, y = _table(60, 150, 0.012, 1e4, seed=4)
    weight = np.random.default_rng(5).uniform(0.5, 2.0, len(y)) if weighted else None
    design = InMemory(x, y[:, None], weight=weight)
    found = by_sparse_factor(sparse_rows(design, fit_intercept), np.array([alpha]), fit_intercept)
    assert found is not None
    assert found.error < 1e-7
    rows = centred_rows(design, fit_intercept)
    left, values, right = np.linalg.svd(rows.x, full_matrices=False)
    kept = values > 1e-12 * values[0]
    assert np.count_nonzero(kept) < len(y) - 1
    inner = (left.T @ rows.right[:, 0])[kept] * values[kept] / (values[kept] ** 2 + alpha)
    np.testing.assert_allclose(found.coef[0], right[kept].T @ inner, rtol=1e-7, atol=1e-9 * np.abs(inner).max())


def test_cost_counts_the_cycles() -> None:
    """A chain of rows fills nothing, however long it is; rows that all meet fill everything."""
    chain = sparse.csr_array(sparse.diags_array([np.ones(5000), np.ones(5000)], offsets=[0, 1], shape=(5000, 5001)))
    assert preconditioner_cost(chain) < preconditioner_cost(sparse.csr_array(np.ones((3, 3)))) * 5000
    assert np.isinf(preconditioner_cost(sparse.csr_array(np.ones((300, 300)))))


def test_a_factor_of_columns_at_unit_length_is_a_preconditioner() -> None:
    """The minimum in a few steps, of columns of any scales."""
    x, y = _table(300, 200, 0.012, 1e5, seed=7)
    x = sparse.csr_array(x[:, np.flatnonzero(np.diff(x.tocsc().indptr))])
    design, alpha = InMemory(x, y[:, None]), np.zeros(1)
    inverse = ColumnPreconditioner(sparse_rows(design, True))
    found = conjugate_least_squares(design, alpha=alpha, max_iter=60, preconditioner=inverse)
    assert found.converged
    rows = centred_rows(design, True)
    best = np.linalg.lstsq(rows.unit, rows.right[:, 0])[0]
    wanted = np.linalg.norm(rows.right[:, 0] - rows.unit @ best)
    assert np.sqrt(found.rss[0]) == pytest.approx(wanted, rel=1e-9)
    assert found.digits > 6
    assert not conjugate_least_squares(design, alpha=alpha, max_iter=60).converged


@pytest.mark.parametrize(("n", "alpha"), [(2000, 0.0), (2000, 0.1), (3000, 0.1)])
def test_very_sparse_rows_of_unlike_columns_are_factored(n: int, alpha: float) -> None:
    """More than columns that hold something, or fewer: conjugate gradients would take thousands of steps."""
    x, y = _table(n, 20_000, 5e-5, 1e5, seed=6)
    model = (Ridge(alpha) if alpha else LinearRegression()).fit(x, y)
    assert str(model.solution_.method) == "sparse factorisation of the rows"
    r = y - x @ model.coef_ - model.intercept_
    size = np.sqrt(x.power(2).sum(axis=0)) * np.linalg.norm(r) + alpha * np.abs(model.coef_)
    assert np.all(np.abs(x.T @ r - alpha * model.coef_) <= 1e-9 * size)
    assert abs(r.sum()) < 1e-9 * len(y)
