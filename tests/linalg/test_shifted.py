"""Inverses of a matrix plus many shifts."""

from __future__ import annotations

import numpy as np

from hiperplano.linalg.shifted.tridiagonal import Tridiagonal


def test_inverses_are_those_of_numpy():
    rng = np.random.default_rng(0)
    rows, right, shifts = rng.normal(size=(150, 200)), rng.normal(size=(150, 2)), np.array([0.0, 0.1, 30.0])
    matrix = rows @ rows.T
    found = Tridiagonal.of(matrix.copy(), 1e-9).inverses(right, shifts)
    for number, shift in enumerate(shifts):
        inverse = np.linalg.inv(matrix + shift * np.eye(150))
        np.testing.assert_allclose(found.diagonal[:, number], inverse.diagonal(), rtol=1e-10)
        np.testing.assert_allclose(found.solved[:, :, number], inverse @ right, rtol=1e-8, atol=1e-10)


def test_a_singular_matrix_is_refused():
    rows = np.random.default_rng(0).normal(size=(6, 4))
    assert Tridiagonal.of(rows @ rows.T, 1e-9) is None
