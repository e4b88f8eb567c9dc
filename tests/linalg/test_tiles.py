"""Symmetric matrices in tiles against the same as a whole."""

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from hiperplano.linalg.conjugate_gradient import conjugate_gradients
from hiperplano.linalg.normal_loops import add_normal_product
from hiperplano.linalg.products import columns_dot, rows_dot
from hiperplano.linalg.tiles.loops import add_both_products
from hiperplano.linalg.tiles.symmetric import SymmetricTiles

RNG = np.random.default_rng(0)


def definite(n):
    rows = RNG.normal(size=(n, n + 5))
    return rows @ rows.T / n + np.eye(n)


@pytest.mark.parametrize("n", [1, 30, 1111])
def test_products_factors_and_solutions(n):
    matrix, V = definite(n), RNG.normal(size=(n, 6))
    tiles = SymmetricTiles(n, np.float64, lambda rows, columns, out: np.copyto(out, matrix[rows, columns]))
    for k in range(1, 7):
        np.testing.assert_allclose(tiles.dot(V[:, :k]), matrix @ V[:, :k], rtol=1e-9, atol=1e-9)
    tiles.add_to_diagonal(0.5)
    factor = tiles.factor()
    shifted = matrix + 0.5 * np.eye(n)
    np.testing.assert_allclose(factor.solve(V), np.linalg.solve(shifted, V), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(factor.solve(V[:, 0]), np.linalg.solve(shifted, V[:, 0]), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("k", [11, 15], ids=["loop", "blas"])
def test_products_skip_the_rows_that_a_column_leaves_out(k):
    n, borders = 701, np.array([0, 3, 302, 701])
    matrix, V = definite(n), RNG.normal(size=(n, k))
    tiles = SymmetricTiles(
        n, np.float64, lambda rows, columns, out: np.copyto(out, matrix[rows, columns]), borders=borders
    )
    there = RNG.random((3, k)) < 0.6
    mask = np.repeat(there, np.diff(borders), axis=0)
    expected = mask * (matrix @ (mask * V))
    np.testing.assert_allclose(tiles.dot(mask * V, there), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tiles.single.dot(mask * V, there), expected, rtol=1e-3, atol=1e-4)
    asked = RNG.random((3, k)) < 0.5
    expected = np.repeat(asked, np.diff(borders), axis=0) * (matrix @ (mask * V))
    np.testing.assert_allclose(tiles.dot(mask * V, there, asked), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(3, 366), (183, 365), (186, 368)])
def test_products_do_not_depend_on_where_arrays_lie(shape):
    tile, right = RNG.normal(size=shape), RNG.normal(size=(3, 600))
    for below, vectors in ((True, np.arange(1)), (True, np.arange(3)), (False, np.arange(2)), (False, np.arange(3))):
        found = set()
        for _ in range(150):
            out, *_ = np.zeros((3, 600)), [np.empty(RNG.integers(1, 3000)) for _ in range(3)]
            add_both_products(tile.copy(), right.copy(), out, vectors, 400, 0, below)
            found.add(out.tobytes())
        assert len(found) == 1


def test_a_matrix_that_is_not_definite_is_refused():
    tiles = SymmetricTiles(40, np.float64, lambda rows, columns, out: np.copyto(out, -np.eye(40)[rows, columns]))
    with pytest.raises(LinAlgError):
        tiles.factor()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_normal_equations(dtype):
    rows, weight = RNG.normal(size=(539, 7)).astype(dtype), RNG.uniform(size=539).astype(dtype)
    right, constant = RNG.normal(size=(2, 7)).astype(dtype), np.array([0.5, -2.0], dtype=dtype)
    found = np.ones((2, 8))
    add_normal_product(rows, weight, right, constant, found)
    scores = weight[:, None] * (rows @ right.T + constant)
    expected = 1.0 + np.column_stack([scores.T @ rows, scores.sum(axis=0)])
    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == np.float32 else 1e-11)


def test_products_of_tall_matrices():
    left, right = RNG.normal(size=(3000, 7)), RNG.normal(size=(3000, 4))
    np.testing.assert_allclose(columns_dot(left, right), left.T @ right, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(rows_dot(left, right[:7]), left @ right[:7], rtol=1e-12)


def test_many_systems_with_matrices_of_their_own():
    matrix, right, shift = definite(60), RNG.normal(size=(60, 4)), np.array([0.0, 0.1, 1.0, 10.0])
    right[:, 2] = 0.0
    found = conjugate_gradients(
        lambda directions, which: matrix @ directions + shift[which] * directions,
        right,
        precondition=lambda residuals, which: residuals,
        rtol=1e-10,
        max_iter=500,
    )
    for column in range(4):
        expected = np.linalg.solve(matrix + shift[column] * np.eye(60), right[:, column])
        np.testing.assert_allclose(found.x[:, column], expected, atol=1e-8)
    assert (found.residuals <= 1e-10).all()


def test_a_column_that_would_take_too_long_is_given_up():
    matrix, right = np.diag(np.logspace(0, 10, 200)), RNG.normal(size=(200, 1))
    found = conjugate_gradients(
        lambda directions, which: matrix @ directions,
        right,
        precondition=lambda residuals, which: residuals,
        rtol=1e-10,
        max_iter=10_000,
        budget=40,
    )
    assert found.n_iter == 10
    assert found.residuals[0] > 1e-10
