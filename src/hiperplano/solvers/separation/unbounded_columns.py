"""Columns along which a likelihood grows without bound, seen from a point that is already far out.

At such a point the rows that a plane separates have large margins; all others must lie on the plane. What these
others leave free has few dimensions, and the question whether some direction there has no row on its wrong side is
a small one. With several classes a row counts once for each class that is not its own, by the difference of the
two scores, so that one program sees what no comparison of one class with the rest can see.

A program names the fewest columns, but may take far longer than the fit. Where it would, the point itself is asked: the
part of it that the other rows leave free is the way on which the coefficients have come, and as a rule a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import NotAvailable
from hiperplano.solvers.objective import Objective, weighted_gram
from hiperplano.solvers.row_span import is_wide
from hiperplano.solvers.separation.certificates import QuasiSeparable, Separable
from hiperplano.solvers.separation.search import program_work, separate

_FAR = 6.0  # margin from which a row may be separated: a chance of 0.25% of the other class
_NULL = 1e-10  # eigenvalue, as a share of the largest, of a direction that the other rows leave free
_WRONG = 1e-6  # of the largest margin along a direction: what counts as zero
_VISIBLE = 1e-6  # of the largest standardised coefficient: what counts as zero
_MOST_CELLS = 2**24
_MOST_WORK = 2e11  # rows × parameters²
_PROGRAM = 1e6  # rows × coordinates² of a program that takes milliseconds, whatever the fit took
_SHARE = 0.005  # of the work of a Hessian, that a program may have: its steps are as many times slower
_DOUBT = 0.5  # of the largest margin: what rows may lose along a direction that is still probably one of growth


@dataclass(frozen=True)
class Growth:
    """A direction along which the likelihood grows without bound.

    Attributes
    ----------
    columns : ndarray of int
        Those that have a part in it.
    complete : bool
        Whether every row gains.
    proved : bool
        Whether no row loses; otherwise the direction was too costly to find, and there probably is one.
    """

    columns: Array
    complete: bool
    proved: bool = True


def unbounded_columns(problem: Objective, theta: Array) -> Growth | None:
    """Columns of a direction along which no row loses and some gain; None if no such direction is found.

    Parameters
    ----------
    problem : Objective
        Of two classes −1 and +1, or of numbers of classes.
    theta : ndarray of shape (scores, size)
        Where the minimisation was stopped.
    """
    if is_wide(problem.design):
        return _among_few_rows(problem, theta)
    if problem.design.n_rows * float(theta.size) ** 2 > _MOST_WORK:
        return None
    allowed = max(_PROGRAM, _SHARE * problem.design.n_rows * float(theta.size) ** 2)
    if program_work(problem.design.n_rows * len(theta), theta.size) > allowed:
        low, high = _margin_range(problem, theta)
        if low > _WRONG * high:  # the point itself separates all rows
            return Growth(_visible_columns(problem, theta), complete=True)
    free = _free_directions(problem, theta)
    if not free.shape[1]:
        return None
    (pairs,) = problem.design.fold(_FarPairs(problem.scale, _Margins(problem.scale.scores(theta)), free), _stacked)
    if not len(pairs):
        return None
    if program_work(*pairs.shape) > allowed:
        return _along_free(problem, theta, free)
    # One row stands on the other side with its sign turned, which changes nothing but gives the program two sides.
    sides = np.concatenate([np.ones(len(pairs)), [-1.0]])[:, None]
    try:
        found = separate(InMemory(np.vstack([pairs, -pairs[:1]]), sides), fit_intercept=False)
    except NotAvailable:
        return None
    if not isinstance(found, Separable | QuasiSeparable):
        return None
    direction = (free @ found.coef).reshape(problem.shape)
    low, high = _margin_range(problem, direction)
    if high <= 0 or low < -_WRONG * high:
        return None
    return Growth(_visible_columns(problem, direction), low > _WRONG * high)


def _among_few_rows(problem: Objective, theta: Array) -> Growth | None:
    """The same where columns are many: a direction in the span of few rows has a part of nearly all of them."""
    if smallest_margin(problem, theta) > 0:
        return Growth(_visible_columns(problem, theta), complete=True)
    span = problem.in_row_span
    found = unbounded_columns(span.problem, span.reduce(theta))
    return None if found is None else replace(found, columns=np.flatnonzero(~problem.scale.constant))


def _along_free(problem: Objective, theta: Array, free: Array) -> Growth | None:
    """What the part of the point in the free directions tells."""
    direction = (free @ (free.T @ theta.ravel())).reshape(problem.shape)
    low, high = _margin_range(problem, direction)
    if high < _FAR / 2 or low < -_DOUBT * high:  # as where columns depend on each other, and no row moves
        return None
    return Growth(_visible_columns(problem, direction), low > _WRONG * high, proved=low >= -_WRONG * high)


def _visible_columns(problem: Objective, direction: Array) -> Array:
    direction = problem.balanced(direction)
    size = np.abs(direction[:, int(problem.scale.fit_intercept) :]).max(axis=0)
    return np.flatnonzero(size > _VISIBLE * size.max())


def largest_margin(problem: Objective, theta: Array) -> float:
    """The largest by which a row's own score exceeds another."""
    return _margin_range(problem, theta)[1]


def smallest_margin(problem: Objective, theta: Array) -> float:
    """The smallest by which a row's own score exceeds another: above 0 if all rows are separated."""
    return _margin_range(problem, theta)[0]


def _margin_range(problem: Objective, theta: Array) -> tuple[float, float]:
    """Smallest and largest margin over all rows."""
    low, high = problem.design.fold(_MarginRange(_Margins(problem.scale.scores(theta))), _wider)
    return float(low[0]), float(high[0])


def _free_directions(problem: Objective, theta: Array) -> Array:
    """Directions, in columns, that move no row whose margin is not large; none if rows with large ones are too many."""
    margins = _Margins(problem.scale.scores(theta))
    gram, n_far = problem.design.fold(_NearGram(problem.scale, margins))
    values, vectors = np.linalg.eigh(gram / problem.design.n_rows)
    free = vectors[:, values <= _NULL * max(float(values[-1]), 1e-300)]
    return free if n_far[0] * free.shape[1] <= _MOST_CELLS else free[:, :0]


@dataclass(frozen=True)
class _Margins:
    """By how much a row's own score exceeds the others, of shape (m, scores); infinite where there is no other."""

    scores: LinearScores

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        score = self.scores(block)
        if score.shape[1] == 1:
            return xp.asarray(block.y * score)
        own = block.y[:, :1].astype(np.intp)
        out = xp.take_along_axis(score, own, axis=1) - score
        np.put_along_axis(out, own, xp.inf, axis=1)
        return out


@dataclass(frozen=True)
class _MarginRange:
    """Smallest and largest margin."""

    margins: _Margins

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        margins = self.margins(block)
        margins = margins[xp.isfinite(margins)]
        return margins.min(initial=xp.inf)[None], margins.max(initial=-xp.inf)[None]


def _wider(left: Sums, right: Sums) -> Sums:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


@dataclass(frozen=True)
class _NearGram:
    """Σ of the squares of differences of scores that are not far apart, as a matrix; and the number of those that are.

    For several classes Σ over classes c near the row's own y of (e_y − e_c)(e_y − e_c)ᵀ ⊗ v·vᵀ, with v = [1, z].
    """

    scale: ColumnScale
    margins: _Margins

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        margins = self.margins(block)
        near, k = (margins < _FAR).astype(xp.float64), margins.shape[1]
        n_far = np.count_nonzero(xp.isfinite(margins)) - near.sum()
        weight = near[:, :, None] * xp.eye(k)
        if k > 1:
            i, own = xp.arange(len(block)), block.y[:, 0].astype(np.intp)
            weight[i, own, :] -= near
            weight[i, :, own] -= near
            weight[i, own, own] += near.sum(axis=1)
        return weighted_gram(self.scale.rows(block), weight), n_far[None]


@dataclass(frozen=True)
class _FarPairs:
    """Margins, along free directions, of every row and class that are far apart: one row for each such pair."""

    scale: ColumnScale
    margins: _Margins
    free: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        margins = self.margins(block)
        row, other = np.nonzero((margins >= _FAR) & xp.isfinite(margins))
        rows, k = self.scale.rows(block)[row], margins.shape[1]
        by_score = self.free.reshape(k, self.scale.size, -1)
        if k == 1:
            return (block.y[row] * (rows @ by_score[0]),)
        own = block.y[row, 0].astype(np.intp)
        out = xp.empty((len(row), self.free.shape[1]))
        for a, b in np.unique(np.column_stack([own, other]), axis=0):
            at = (own == a) & (other == b)
            out[at] = rows[at] @ (by_score[a] - by_score[b])
        return (out,)


def _stacked(left: Sums, right: Sums) -> Sums:
    return tuple(np.concatenate(pair) for pair in zip(left, right, strict=True))
