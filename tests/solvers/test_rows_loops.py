"""Compiled loops: rows of both kinds, and machines without a place for compiled code."""

import numpy as np
import pytest
from numba import njit
from numba.core import caching
from scipy.sparse import csr_array

from hiperplano import LinearSVC, LinearSVR, Perceptron, WoEEncoder
from hiperplano.data.loops.arrays import frozen, row_arrays
from hiperplano.features.binning.lookup_loops import look_up_rows
from hiperplano.features.binning.prebinning.sketch_loops import sketch_rows
from hiperplano.solvers import rows_loops
from hiperplano.solvers.online.loops.example_loops import walk
from hiperplano.solvers.rows_loops import fetch_row, loop, row_add, row_dot, row_square
from hiperplano.solvers.svm.compiled.ascent_loops import dual_ascent
from hiperplano.solvers.svm.compiled.newton_loops import augmented_newton


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


def test_sparse_products_load_weights_one_by_one():
    """LLVM would gather several at once if sums might be reordered: two to four times slower on many processors."""
    X = csr_array(np.eye(20))
    scores_of_rows(*row_arrays(X), np.zeros(20), np.zeros(20))
    assert not any("vgather" in text for text in scores_of_rows.inspect_asm().values())


@njit(nogil=True)
def scores_of_rows(x, indices, indptr, w, out):
    for i in range(len(out)):
        out[i] = row_dot(x, indices, indptr, i, w)


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


@pytest.mark.parametrize(
    ("model", "loops"),
    [
        (LinearSVR(tol=1e-9), [augmented_newton]),
        (LinearSVR(tol=1e-9, fit_intercept=False), [augmented_newton]),
        (LinearSVC(tol=1e-9), [augmented_newton]),
        (LinearSVR(solver="dual"), [dual_ascent]),
        (LinearSVR(solver="dual", fit_intercept=False), [dual_ascent]),
        (LinearSVC(solver="dual"), [dual_ascent]),
        (Perceptron(random_state=0), [walk]),
        (WoEEncoder(), [sketch_rows, look_up_rows]),
    ],
    ids=lambda given: "" if isinstance(given, list) else str(given),
)
def test_rows_that_cannot_be_written_to_are_no_reason_to_compile_again(model, loops):
    """Those of pandas and of memory maps; a loop takes seconds to compile."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 3)), rng.uniform(0.5, 2.0, size=60)
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=60)
    y = y if isinstance(model, LinearSVR) else (y > 0).astype(float)
    apply = model.transform if hasattr(model, "transform") else model.predict
    model.fit(X, y, sample_weight=weight), apply(X)
    known = [list(each.signatures) for each in loops]
    model.fit(frozen(X), frozen(y), sample_weight=frozen(weight)), apply(frozen(X))
    assert [list(each.signatures) for each in loops] == known
    assert all(known)
