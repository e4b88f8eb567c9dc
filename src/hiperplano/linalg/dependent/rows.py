"""Minimum-norm least squares on linearly dependent rows, by Cholesky factorisation with pivoting.

Pivoting finds a largest set of independent rows B. The others are T·B. With z = B·coef, the sum of squares is
‖y_B − z‖² + ‖y_C − T·z‖², which has one minimum. The shortest coefficients with B·coef = z are Bᵀ·(B·Bᵀ)⁻¹·z.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.dependent.relations import corrected_relations
from hiperplano.linalg.refined_products import MOST_LOST, REFINED, refine, summed_rows
from hiperplano.linalg.triangular import EPS, reciprocal

# Largest relative error, as estimated, of solutions on sparse rows: a dense decomposition would lose as many digits.
MOST_LOST_BY_PIVOTS = 1e-9
_CELLS = 2**22  # numbers of the combined rows that are made dense at once (32 MB)


class RowSolution(NamedTuple):
    """Coefficients of shape (targets, d), their relative error, the rank, and the reciprocal condition of B·Bᵀ."""

    coef: Array
    error: float
    rank: int
    reciprocal: float


def by_independent_rows(rows: CentredRows, free: Array, tol: float) -> RowSolution | None:
    """Minimise ‖y − x·coef‖², and then ‖coef‖.

    Return None if independent rows are nearly dependent, if dependent ones are so only approximately, or if the
    relative error of the coefficients is above `tol`.

    Parameters
    ----------
    free : ndarray of shape (n,)
        One more column, in addition to those of x: the null direction of centred rows, or zeros.
    """
    products = rows.products + np.multiply.outer(free, free)
    longest = float(np.sqrt(np.abs(products).sum(axis=0).max(initial=0.0)))
    scale = reciprocal(np.sqrt(np.maximum(products.diagonal(), 0.0)))  # so that short rows count as much as long ones
    products *= scale[:, None]
    products *= scale
    norm = float(np.abs(products).sum(axis=0).max(initial=0.0))
    lower, order, rank, _ = lapack.dpstrf(products.T, lower=1, overwrite_a=1)
    order = order - 1
    kept, others = order[:rank], order[rank:]
    if not rank:
        return RowSolution(np.zeros((rows.right.shape[1], len(rows.length))), EPS, 0, 1.0)
    upper = np.asfortranarray(lower[:rank, :rank].T)
    smallest = float(lapack.dpocon(upper, norm, uplo="U")[0])
    if MOST_LOST * smallest < EPS:
        return None
    right, size = rows.right, scale[kept][:, None]

    def inverse(vector: Array) -> Array:
        return np.asarray(size * cho_solve((upper, False), size * vector, check_finite=False))

    shares = solve_triangular(upper, lower[rank:, :rank].T, check_finite=False)  # Tᵀ, for rows at unit length
    shares = size * shares * reciprocal(scale[others])
    sizes = np.sqrt(rows.unit_squares + np.square(_unit(free)))
    relations = corrected_relations(kept, others, shares, inverse, partial(_combined, rows, free), sizes)
    if relations is None:
        return None
    shares = relations
    inner = cho_factor(np.eye(len(others)) + shares.T @ shares, check_finite=False)
    fitted = right[kept] + shares @ cho_solve(inner, right[others] - shares.T @ right[kept], check_finite=False)
    some = replace(rows, x=rows.x[kept], right=fitted, root=rows.root[kept])
    found = refine(inverse, smallest, EPS, some.square_products, fitted, 0.0, free[kept], REFINED)
    made = None if found is None else summed_rows(found, some, longest, tol)
    return None if made is None else RowSolution(*made, rank, smallest)


def _combined(rows: CentredRows, free: Array, shares: Array) -> tuple[Array, Array]:
    """Norms of combinations of rows with columns at unit length, of shape (k,), and their products with all rows.

    A short column then counts as much as a long one.
    """
    squares, products = np.square(_unit(free) @ shares), np.multiply.outer(free, free @ shares)
    step = max(1, _CELLS // max(1, len(rows.length)))
    for start in range(0, len(squares), step):
        part = slice(start, start + step)
        sums = rows.combined(shares[:, part])
        squares[part] += np.square(sums * reciprocal(rows.length)).sum(axis=1)
        products[:, part] += rows.scores(sums)
    return np.sqrt(squares), products


def _unit(free: Array) -> Array:
    return free / (float(np.linalg.norm(free)) or 1.0)
