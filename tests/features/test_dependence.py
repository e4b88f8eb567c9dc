"""Columns that follow from others are found, all of them and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiperplano.features.dependence import dependent_columns


@given(st.data())
def test_what_is_left_has_the_rank_of_all(data):
    """With the intercept: leaving out followers loses no rank, and leaving out any other column does."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    d, rank = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 5))
    rows = rng.integers(-2, 3, size=(60, rank)) @ rng.integers(-2, 3, size=(rank, d)) * 10.0 ** rng.integers(-3, 6, d)
    found = dependent_columns(rows)
    kept = [j for j in range(d) if j not in found]
    whole, less = (np.column_stack([np.ones(60), part / np.maximum(np.abs(part).max(axis=0, initial=0), 1e-300)])
                   for part in (rows, rows[:, kept]))  # fmt: skip
    assert np.linalg.matrix_rank(less, tol=1e-7) == np.linalg.matrix_rank(whole, tol=1e-7) == len(kept) + 1


def test_each_is_told_with_those_it_follows_from():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 50_000))
    rows = np.column_stack([a, np.full(50_000, 7.0), b, 2 * a + 1, c, a - b, 1e6 + 1e-3 * c])
    assert dependent_columns(rows) == {1: [], 3: [0], 5: [0, 2], 6: [4]}


def test_nearly_alike_is_not_alike():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    assert dependent_columns(np.column_stack([a, a + 1e-3 * b])) == {}
    assert list(dependent_columns(np.column_stack([a, a + 1e-9 * b]))) == [1]


@pytest.mark.parametrize("shape", [(5, 9), (4, 4), (0, 0)])
def test_wide_tables_are_left_as_they_are(shape):
    assert dependent_columns(np.ones(shape)) == {}
