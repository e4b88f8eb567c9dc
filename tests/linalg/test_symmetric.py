"""One solve for symmetric matrices, whatever the units of their rows."""

import numpy as np
import pytest

from hiperplano.linalg.symmetric import SymmetricSolver


def gram(columns, units):
    rows = np.random.default_rng(0).normal(size=(50, 4)) @ columns
    return (rows * units).T @ (rows * units)


@pytest.mark.parametrize("units", [np.ones(4), np.array([1e-60, 1.0, 1e8, 1e60])])
def test_the_inverse_of_a_regular_matrix(units):
    matrix = gram(np.eye(4) + 0.3, units)
    solver = SymmetricSolver(matrix)
    assert not solver.singular
    assert solver.null.shape == (4, 0)
    inverse = solver.solve(np.eye(4)) * units[:, None] * units
    np.testing.assert_allclose(inverse, np.linalg.inv(gram(np.eye(4) + 0.3, np.ones(4))), rtol=1e-9)
    right = np.arange(4.0) * units
    np.testing.assert_allclose(solver.solve(right), solver.solve(right[:, None])[:, 0], rtol=1e-12)
    np.testing.assert_array_equal(solver.precondition(right.reshape(2, 2)), solver.solve(right).reshape(2, 2))
    half = solver.half_inverse() * units[:, None]
    np.testing.assert_allclose(half @ half.T, inverse, rtol=1e-9)


def test_dependent_and_empty_columns_are_left_out():
    columns = np.eye(4)
    columns[:, 3] = columns[:, 0] - 2.0 * columns[:, 1]
    matrix = np.zeros((5, 5))
    matrix[:4, :4] = gram(columns, np.ones(4))
    solver = SymmetricSolver(matrix)
    assert solver.singular
    null = solver.null / np.abs(solver.null).max()
    np.testing.assert_allclose(np.abs(null[:, 0]), [0.5, 1.0, 0.0, 0.5, 0.0], atol=1e-7)
    answer = solver.solve(matrix @ np.arange(5.0))
    np.testing.assert_allclose(matrix @ answer, matrix @ np.arange(5.0), rtol=1e-9, atol=1e-9)
    assert answer[4] == 0.0
    half = solver.half_inverse()
    np.testing.assert_allclose(half @ (half.T @ matrix @ np.arange(5.0)), answer, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("threshold", [1e-13, 1e-4])
def test_a_matrix_is_singular_where_its_condition_says_so(size, threshold):
    """Whether or not the determinant spared a look at the condition."""
    rng = np.random.default_rng(size)
    for spread in np.linspace(0.0, 16.0, 33):
        turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
        matrix = (turn * np.logspace(0, -spread, size)) @ turn.T
        solver = SymmetricSolver((matrix + matrix.T) / 2, threshold)
        assert solver.singular == (solver.reciprocal < threshold)
        if not solver.singular:
            root = np.sqrt(np.diag(matrix))
            least = np.linalg.eigvalsh(matrix / root / root[:, None])[0]
            assert 0.5 * least / size <= solver.least <= 1.01 * least + 1e-14  # the norm of the inverse is estimated
        assert solver.unit_null.shape[1] == 0 or solver.singular
