"""Columns that follow from others: copies, sums, and indicators that say the same."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from hiperplano.data.design import Array

_SHARE = 1e-10  # of a column's variance that the others leave: below, it is rounding
_VISIBLE = 1e-6  # of a column's spread: an effect that counts
_ROWS = 20_000  # of which, if their columns are independent, all rows' are


def dependent_columns(rows: Array) -> dict[int, list[int]]:
    """The columns that are a weighted sum of earlier ones and a constant, each with those it follows from.

    A constant column follows from none. Tables with more columns than rows are left as they are: there every column
    follows from others.
    """
    n, d = rows.shape
    if d >= n or not d:
        return {}
    step = max(1, n // _ROWS)
    if step > 1 and not _followers(rows[::step]):
        return {}
    return _followers(rows)


def _followers(rows: Array) -> dict[int, list[int]]:
    """By Cholesky's factorisation of the correlations, in order: what is left of a column's variance is its pivot."""
    centred = rows - rows.mean(axis=0)
    spread = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    size = np.abs(rows).max(axis=0)
    varies = spread > 1e-12 * size * np.sqrt(len(rows))
    unit = centred / np.where(varies, spread, 1.0)
    correlation = unit.T @ unit
    found: dict[int, list[int]] = {}
    kept: list[int] = []
    whole = np.zeros(correlation.shape)
    for j in range(rows.shape[1]):
        if not varies[j]:
            found[j] = []
            continue
        factor = whole[: len(kept), : len(kept)]
        row = solve_triangular(factor, correlation[kept, j], lower=True) if kept else np.zeros(0)
        left = 1.0 - float(row @ row)
        if left > _SHARE:
            whole[len(kept), : len(kept)], whole[len(kept), len(kept)] = row, np.sqrt(left)
            kept.append(j)
        else:
            weight = np.abs(solve_triangular(factor, row, lower=True, trans=1)) if kept else row
            found[j] = [kept[k] for k in np.flatnonzero(weight > _VISIBLE).tolist()]
    return found
