"""Compiled loops: rows of both kinds, and machines without a place for compiled code."""

import numpy as np
import pytest
from numba.core import caching
from scipy.sparse import csr_array

from hiperplano.solvers import rows_loops
from hiperplano.solvers.online.learner import row_arrays
from hiperplano.solvers.rows_loops import fetch_row, loop, row_add, row_dot, row_square


@loop
def dots_and_sum(x, indices, indptr, w, out, total):
    for i in range(len(out)):
        fetch_row(x, indices, indptr, i)
        out[i] = row_dot(x, indices, indptr, i, w) + 10 * row_square(x, indices, indptr, i)
        row_add(x, indices, indptr, i, 2.0, total)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_rows_are_rows(kind, container):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(30, 13)) * (rng.random((30, 13)) < 0.5)).astype(kind)
    w, out, total = rng.normal(size=13), np.zeros(30), np.zeros(13)
    dots_and_sum(*row_arrays(container(X)), w, out, total)
    long = X.astype(np.float64)
    np.testing.assert_allclose(out, long @ w + 10 * (long**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(total, 2 * long.sum(axis=0), rtol=1e-12, atol=1e-12)


def test_wide_indices_are_narrowed():
    X = csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert row_arrays(X).indices.dtype == row_arrays(X).indptr.dtype == np.int32


def test_rows_cannot_be_written_to():
    X = np.ones((2, 2))
    assert not row_arrays(X).x.flags.writeable
    assert X.flags.writeable


def test_loops_compile_where_nothing_can_be_written(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    @rows_loops.loop
    def double(x):
        return 2.0 * x

    assert double(3.0) == 6.0
