"""Columns that depend linearly on others: copies, sums, and equal indicators."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from hiperplano.data.design import Array

_SHARE = 1e-10  # least share of a column's variance that others do not explain; less is a rounding error
_VISIBLE = 1e-6  # least effect that counts, as a share of a column's standard deviation
_ROWS = 20_000  # if the columns of this number of rows are independent, those of all rows are


def dependent_columns(rows: Array) -> dict[int, list[int]]:
    """The columns that are a linear combination of earlier ones and a constant, each with those it depends on.

    A constant column depends on none. Tables with more columns than rows are not reduced, since there every column
    depends on others.
    """
    n, d = rows.shape
    if d >= n or not d:
        return {}
    step = max(1, n // _ROWS)
    if step > 1 and not _followers(rows[::step]):
        return {}
    return _followers(rows)


def _followers(rows: Array) -> dict[int, list[int]]:
    """Dependent columns, by a Cholesky factorisation of the correlations in order.

    A pivot is a column's unexplained variance.
    """
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
