"""Triangles of blocks, numerical rank, and the columns that take part in a relation."""

import numpy as np
import pytest

from hiperplano.linalg.orthogonal import dependent_columns, directions, graded_qr, merge_triangles, triangle_of


def unit_columns(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def test_merged_triangles_are_that_of_all_rows():
    rows = np.random.default_rng(0).normal(size=(50, 4))
    (merged,) = merge_triangles((triangle_of(rows[:7]),), (triangle_of(rows[7:]),))
    np.testing.assert_allclose(merged.T @ merged, rows.T @ rows, rtol=1e-12, atol=1e-12)
    assert not np.tril(merged, -1).any()


@pytest.mark.parametrize("apart", [0.0, 1e-9])
def test_a_relation_is_seen_and_its_columns_are_named(apart):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X = np.column_stack([X, X[:, 1] - 2 * X[:, 3] + apart * rng.normal(size=60)])
    upper, scale = triangle_of(unit_columns(X)), np.ones(5)
    found = directions(upper, scale, np.full(5, np.finfo(float).eps))
    assert len(found.values) == (4 if apart == 0 else 5)
    assert dependent_columns(scale, found).tolist() == ([1, 3, 4] if apart == 0 else [])
    # Where columns were written down with fewer digits, the same relation is rounding.
    coarse = directions(upper, scale, np.full(5, 1e-7))
    assert dependent_columns(scale, coarse).tolist() == [1, 3, 4]


def test_constant_columns_are_dependent_by_themselves():
    scale = np.array([1.0, 0.0, 2.0])
    assert dependent_columns(scale, None).tolist() == [1]


def test_rows_of_any_size_are_factored_accurately():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(8, 3)) * np.logspace(-60, 60, 8)[:, None]
    turn, upper, pivots = graded_qr(rows)
    np.testing.assert_allclose(turn @ upper, rows[:, pivots], rtol=1e-12)
