"""Randomly pivoted Cholesky: a low-rank approximation F·Fᵀ of a kernel matrix, from a few of its columns.

Pivots are drawn in blocks, with probabilities proportional to the diagonal of the residual (Chen, Epperly, Tropp and
Webber 2025). Pivots of a block that depend linearly on the others are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from hiperplano.data.design import Array
from hiperplano.linalg.products import rows_dot
from hiperplano.solvers.kernel.span import DEPENDENT

_BLOCK = 128  # pivots drawn at a time


class LowRank(NamedTuple):
    """Factor F and its pivots. F·Fᵀ equals the matrix in the columns of the pivots.

    Attributes
    ----------
    factor : ndarray of shape (n, rank)
    pivots : ndarray of int of shape (rank,)
    left : ndarray of shape (n,)
        Diagonal of the residual.
    """

    factor: Array
    pivots: Array
    left: Array


def pivoted_cholesky(
    columns: Callable[[Array], Array],
    diagonal: Array,
    max_rank: int,
    enough: float,
    seed: int = 0,
    trial: bool = False,
) -> LowRank:
    """Approximate a positive semidefinite matrix.

    Parameters
    ----------
    columns : callable
        Function from column numbers to these columns, a writable array of shape (n, k).
    diagonal : ndarray of shape (n,)
    enough : float
        Largest trace of the residual.
    seed : int
        Seed of the draws.
    trial : bool
        Whether to end as soon as the progress of the last pivots shows that `max_rank` is too small for `enough`.
    """
    n, rng = len(diagonal), np.random.default_rng(seed)
    left, smallest = diagonal.astype(np.float64), DEPENDENT * float(diagonal.max(initial=0.0))
    factor, chosen = np.empty((n, min(max_rank, n))), np.empty(0, dtype=np.intp)
    now = float(left.sum())
    while len(chosen) < factor.shape[1] and now > enough:
        candidates = int((left > smallest).sum())
        size = min(_BLOCK, factor.shape[1] - len(chosen), candidates)
        if not size:
            break
        chance = np.where(left > smallest, left, 0.0)
        drawn = rng.choice(n, size, replace=False, p=chance / chance.sum())
        rank = len(chosen)
        values = columns(drawn)
        if rank:
            values -= rows_dot(factor[:, :rank], factor[drawn, :rank].T)
        upper, order, kept, _ = lapack.dpstrf(values[drawn], tol=smallest)
        if not kept:
            break
        order = order[:kept] - 1
        inverse = solve_triangular(upper[:kept, :kept], np.eye(kept), check_finite=False)
        factor[:, rank : rank + kept] = rows_dot(values[:, order], inverse)
        left -= np.square(factor[:, rank : rank + kept]).sum(axis=1)
        chosen = np.concatenate([chosen, drawn[order]])
        left[chosen] = 0.0
        np.maximum(left, 0.0, out=left)
        before, now = now, float(left.sum())
        if trial and rank and now > enough:
            needed = rank + kept * np.log(before / enough) / np.log(before / now)
            if needed > max_rank:
                break
    return LowRank(factor[:, : len(chosen)], chosen, left)
