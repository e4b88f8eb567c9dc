"""Which columns let a likelihood grow for ever, seen from a point that is already far out.

At such a point the rows that a plane tells apart have large margins; all others must lie on the plane. What these
others leave free has few dimensions, and the question whether some direction there has no row on its wrong side is
a small one. With several classes a row counts once for each class that is not its own, by the difference of the
two scores, so that one program sees what no comparison of one class with the rest can see.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import NotAvailable
from hiperplano.solvers.likelihood.likelihood import Likelihood, outer
from hiperplano.solvers.separation.certificates import QuasiSeparable, Separable
from hiperplano.solvers.separation.search import separate

_FAR = 6.0  # margin from which a row may be told apart: a chance of 0.25% of the other class
_NULL = 1e-10  # eigenvalue, as a share of the largest, of a direction that the other rows leave free
_WRONG = 1e-6  # of the largest margin along a direction: what counts as zero
_VISIBLE = 1e-6  # of the largest scaled coefficient: what counts as zero
_MOST_CELLS = 2**24
_MOST_WORK = 2e11  # rows × parameters²


def growing_columns(problem: Likelihood, theta: Array) -> tuple[Array, bool] | None:
    """Columns of a direction along which no row loses and some gain, and whether all rows gain; None if none is found.

    Parameters
    ----------
    theta : ndarray of shape (scores, size)
        Where the minimisation was stopped.
    """
    if problem.design.n_rows * float(theta.size) ** 2 > _MOST_WORK:
        return None
    free = _left_free(problem, theta)
    if free is None:
        return None
    pairs = _far_pairs(problem, theta, free)
    if pairs is None or not len(pairs):
        return None
    # One row stands on the other side with its sign turned, which changes nothing but gives the program two sides.
    sides = np.concatenate([np.ones(len(pairs)), [-1.0]])[:, None]
    try:
        found = separate(InMemory(np.vstack([pairs, -pairs[:1]]), sides), fit_intercept=False)
    except NotAvailable:
        return None
    if not isinstance(found, Separable | QuasiSeparable):
        return None
    direction = (free @ found.coef).reshape(problem.shape)
    low, high = _margins_along(problem, direction)
    if high <= 0 or low < -_WRONG * high:
        return None
    if problem.n_scores > 1:
        direction = direction - direction.mean(axis=0)
    size = np.abs(direction[:, int(problem.coordinates.level) :]).max(axis=0)
    return np.flatnonzero(size > _VISIBLE * size.max()), low > _WRONG * high


def furthest_margin(problem: Likelihood, theta: Array) -> float:
    """The largest by which a row's own score exceeds another."""
    return _margins_along(problem, theta)[1]


def _margins(problem: Likelihood, block: Block, theta: Array) -> Array:
    """By how much a row's own score exceeds the others, of shape (m, scores); infinite where there is no other."""
    score = problem.coordinates.scorer(theta)(block)[0]
    if problem.n_scores == 1:
        out = np.asarray(block.y * score)
    else:
        own = block.y[:, :1].astype(np.intp)
        out = np.take_along_axis(score, own, axis=1) - score
        np.put_along_axis(out, own, np.inf, axis=1)
    if block.weight is not None:
        out[block.weight == 0] = np.inf
    return out


def _left_free(problem: Likelihood, theta: Array) -> Array | None:
    """Directions, in columns, that move no row whose margin is not large."""
    k = problem.n_scores

    def statistic(block: Block) -> Sums:
        near = (_margins(problem, block, theta) < _FAR).astype(np.float64)
        if k == 1:
            weight = near[:, :, None]
        else:  # Σ over classes c near the row's own y of (e_y − e_c)(e_y − e_c)ᵀ
            weight = near[:, :, None] * np.eye(k)
            i, own = np.arange(len(block)), block.y[:, 0].astype(np.intp)
            weight[i, own, :] -= near
            weight[i, :, own] -= near
            weight[i, own, own] += near.sum(axis=1)
        return (outer(problem.coordinates.rows(block), weight),)

    (gram,) = problem.design.fold(statistic)
    values, vectors = np.linalg.eigh(gram / problem.design.n_rows)
    free = vectors[:, values <= _NULL * max(float(values[-1]), 1e-300)]
    return free if free.shape[1] else None


def _far_pairs(problem: Likelihood, theta: Array, free: Array) -> Array | None:
    """Margins, along the free directions, of every row and class that are far apart; None if they are too many."""
    k, size = problem.shape
    by_score = free.reshape(k, size, -1)
    parts, cells = [], 0
    for where in problem.design.slices():
        block = problem.design.block(where)
        margins = _margins(problem, block, theta)
        row, other = np.nonzero((margins >= _FAR) & np.isfinite(margins))
        rows = problem.coordinates.rows(block)[row]
        if k == 1:
            part = block.y[row] * (rows @ by_score[0])
        else:
            own = block.y[row, 0].astype(np.intp)
            part = np.empty((len(row), free.shape[1]))
            for a, b in np.unique(np.column_stack([own, other]), axis=0):
                at = (own == a) & (other == b)
                part[at] = rows[at] @ (by_score[a] - by_score[b])
        cells += part.size
        if cells > _MOST_CELLS:
            return None
        parts.append(part)
    return np.concatenate(parts)


def _margins_along(problem: Likelihood, direction: Array) -> tuple[float, float]:
    """Smallest and largest margin of a direction over all rows."""

    def statistic(block: Block) -> Sums:
        margins = _margins(problem, block, direction)
        margins = margins[np.isfinite(margins)]
        return np.atleast_1d(margins.min(initial=np.inf)), np.atleast_1d(margins.max(initial=-np.inf))

    low, high = problem.design.fold(statistic, lambda a, b: (np.minimum(a[0], b[0]), np.maximum(a[1], b[1])))
    return float(low[0]), float(high[0])
