"""Cholesky factors against NumPy's, and beside other threads."""

import threading

import numpy as np
import pytest

from hiperplano.linalg.lapack.cholesky import factor_in_place, solve_factored

RNG = np.random.default_rng(0)


def definite(n):
    rows = RNG.normal(size=(n, n + 2))
    return rows @ rows.T + np.eye(n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 60, 1100])
def test_factor_and_solutions(dtype, n):
    matrix, right = definite(n).astype(dtype), RNG.normal(size=(n, 3)).astype(dtype)
    factor = np.tril(matrix) + np.triu(np.full((n, n), np.nan, dtype), 1)  # above the diagonal nothing is read
    assert factor_in_place(factor)
    digits = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), rtol=0, atol=digits * 10)
    solved = solve_factored(factor, right)
    assert solved.dtype == dtype
    np.testing.assert_allclose(matrix @ solved, right, rtol=0, atol=1e3 * digits)


def test_a_matrix_that_is_not_definite_or_not_by_rows():
    assert not factor_in_place(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="row by row"):
        factor_in_place(np.asfortranarray(definite(4)))


def test_other_threads_go_on():
    matrix, turns, seen = definite(1200), [0], []

    def factor():
        before = turns[0]
        assert factor_in_place(matrix)
        seen.append(turns[0] - before)

    thread = threading.Thread(target=factor)
    thread.start()
    while thread.is_alive():
        turns[0] += 1
    assert seen[0] > 100  # 0 while Python's lock is held
