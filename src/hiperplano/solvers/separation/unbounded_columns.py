"""Columns along which a likelihood grows without bound, found from a point that is already far out.

At such a point, rows that a plane separates have large margins, and all others must lie on the plane. The directions
that do not move the other rows have few dimensions. Whether one of them has no row on its wrong side is a small linear
program. With several classes, a row counts once for each class other than its own, with the difference of the two
scores. So one program finds what no one-vs-rest comparison can find.

A program finds the fewest columns, but may take far longer than the fit. If it would, the point itself is used: its
component in the free directions is the direction in which the coefficients have grown, and usually is a proof. For many
parameters, this component is found by conjugate gradients, since all free directions would take longer, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import NotAvailable
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.objective import Objective, weighted_gram
from hiperplano.solvers.row_span import is_wide
from hiperplano.solvers.separation.certificates import QuasiSeparable, Separable
from hiperplano.solvers.separation.search import program_work, separate

_SEPARATED_MARGIN = 6.0  # least margin of a row that may be separated: a probability of 0.25% of the other class
_FREE_EIGENVALUE = 1e-10  # a direction is free if its eigenvalue is below this share of the largest
_ZERO_MARGIN = 1e-6  # margins below this share of the largest one along a direction count as zero
_ZERO_COEFFICIENT = 1e-6  # coefficients below this share of the largest standardised one count as zero
_MOST_CELLS = 2**24
_MOST_DIRECTIONS = 500  # parameters up to which all free directions are computed
_STEPS, _REMOVED = 300, 1e-10  # most steps for the free component, and the share of the rest that is left in it
_MOST_WORK = 2e11  # limit of rows × parameters²
_PROGRAM = 1e6  # rows × coordinates² of a program that takes milliseconds, and is always solved
_SHARE = 0.005  # most work of a program, as a share of that of a Hessian: its steps are slower by the inverse factor
_TOLERATED_LOSS = 0.5  # largest loss of a row, as a share of the largest margin, along a direction of probable growth


@dataclass(frozen=True)
class Growth:
    """A direction along which the likelihood grows without bound.

    Attributes
    ----------
    columns : ndarray of int
        Columns with a nonzero coefficient.
    complete : bool
        Whether the margins of all rows grow.
    proved : bool
        Whether no margin shrinks. If False, the exact direction was too expensive to find, but probably exists.
    """

    columns: Array
    complete: bool
    proved: bool = True


def unbounded_columns(problem: Objective, theta: Array) -> Growth | None:
    """Columns of a direction along which no margin shrinks and some grow; None if no such direction is found.

    Parameters
    ----------
    problem : Objective
        Problem with targets −1 and +1, or class numbers.
    theta : ndarray of shape (scores, size)
        Parameters at which the minimisation was stopped.
    """
    if is_wide(problem.design, problem.n_scores):
        return _among_few_rows(problem, theta)
    if problem.design.n_rows * float(theta.size) ** 2 > _MOST_WORK:
        return None
    allowed = max(_PROGRAM, _SHARE * problem.design.n_rows * float(theta.size) ** 2)
    if program_work(problem.design.n_rows * len(theta), theta.size) > allowed:
        low, high = _margin_range(problem, theta)
        if low > _ZERO_MARGIN * high:  # the point itself separates all rows
            return Growth(_visible_columns(problem, theta), complete=True)
    if theta.size > _MOST_DIRECTIONS:
        return _along(problem, _free_component(problem, theta))
    free = _free_directions(problem, theta)
    if not free.shape[1]:
        return None
    (pairs,) = problem.design.fold(_FarPairs(problem.scale, _Margins(problem.scale.scores(theta)), free), _stacked)
    if not len(pairs):
        return None
    if program_work(*pairs.shape) > allowed:
        return _along(problem, (free @ (free.T @ theta.ravel())).reshape(problem.shape))
    # One row is put on the other side with its sign reversed: an equivalent program, but with both sides present.
    sides = np.concatenate([np.ones(len(pairs)), [-1.0]])[:, None]
    try:
        found = separate(InMemory(np.vstack([pairs, -pairs[:1]]), sides), fit_intercept=False)
    except NotAvailable:
        return None
    if not isinstance(found, Separable | QuasiSeparable):
        return None
    direction = (free @ found.coef).reshape(problem.shape)
    low, high = _margin_range(problem, direction)
    if high <= 0 or low < -_ZERO_MARGIN * high:
        return None
    return Growth(_visible_columns(problem, direction), low > _ZERO_MARGIN * high)


def _among_few_rows(problem: Objective, theta: Array) -> Growth | None:
    """The same for many columns, where a direction in the span of few rows involves nearly all columns."""
    if smallest_margin(problem, theta) > 0:
        return Growth(_visible_columns(problem, theta), complete=True)
    span = problem.in_row_span
    found = unbounded_columns(span.problem, span.reduce(theta))
    return None if found is None else replace(found, columns=np.flatnonzero(~problem.scale.constant))


def _along(problem: Objective, direction: Array) -> Growth | None:
    """Check the component of the point in the free directions."""
    low, high = _margin_range(problem, direction)
    # For example if columns are linearly dependent and no row moves.
    if high < _SEPARATED_MARGIN / 2 or low < -_TOLERATED_LOSS * high:
        return None
    return Growth(_visible_columns(problem, direction), low > _ZERO_MARGIN * high, proved=low >= -_ZERO_MARGIN * high)


def _visible_columns(problem: Objective, direction: Array) -> Array:
    direction = problem.balanced(direction)
    size = np.abs(direction[:, int(problem.scale.fit_intercept) :]).max(axis=0)
    return np.flatnonzero(size > _ZERO_COEFFICIENT * size.max())


def largest_margin(problem: Objective, theta: Array) -> float:
    """Largest difference of a row's own score and another score."""
    return _margin_range(problem, theta)[1]


def smallest_margin(problem: Objective, theta: Array) -> float:
    """Smallest difference of a row's own score and another score; positive if all rows are separated."""
    return _margin_range(problem, theta)[0]


def _margin_range(problem: Objective, theta: Array) -> tuple[float, float]:
    """Smallest and largest margin over all rows."""
    low, high = problem.design.fold(_MarginRange(_Margins(problem.scale.scores(theta))), _wider)
    return float(low[0]), float(high[0])


def _free_directions(problem: Objective, theta: Array) -> Array:
    """Directions, in columns, that do not move any row with a small margin.

    Empty if too many rows have large margins.
    """
    margins = _Margins(problem.scale.scores(theta))
    gram, n_far = problem.design.fold(_NearGram(problem.scale, margins))
    values, vectors = np.linalg.eigh(gram / problem.design.n_rows)
    free = vectors[:, values <= _FREE_EIGENVALUE * max(float(values[-1]), 1e-300)]
    return free if n_far[0] * free.shape[1] <= _MOST_CELLS else free[:, :0]


def _free_component(problem: Objective, theta: Array) -> Array:
    """The component of the point that does not move any row with a small margin."""
    margins, shape = _Margins(problem.scale.scores(theta)), problem.shape

    def product(direction: Array) -> Array:
        along = _Margins(problem.scale.scores(direction.reshape(shape)))
        return problem.scale.gradient(*problem.design.fold(_NearProduct(margins, along))).ravel()

    moved = product(theta.ravel())
    atol = _REMOVED * float(np.linalg.norm(moved))
    rest = conjugate_gradient(product, moved, atol=atol, max_iter=_STEPS).x
    return theta - rest.reshape(shape)


@dataclass(frozen=True)
class _Margins:
    """Differences of a row's own score and the others, of shape (m, scores); infinite for its own class."""

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

    stays_sparse = True
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
    """Gram matrix of score differences that are not large, and the number of large ones.

    For several classes, the sum over classes c near the row's own y of (e_y − e_c)(e_y − e_c)ᵀ ⊗ v·vᵀ, with v = [1, z].
    """

    scale: ColumnScale
    margins: _Margins

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        margins = self.margins(block)
        near, k = (margins < _SEPARATED_MARGIN).astype(xp.float64), margins.shape[1]
        n_far = np.count_nonzero(xp.isfinite(margins)) - near.sum()
        weight = near[:, :, None] * xp.eye(k)
        if k > 1:
            i, own = xp.arange(len(block)), block.y[:, 0].astype(np.intp)
            weight[i, own, :] -= near
            weight[i, :, own] -= near
            weight[i, own, own] += near.sum(axis=1)
        return weighted_gram(self.scale.rows(block), weight), n_far[None]


@dataclass(frozen=True)
class _NearProduct:
    """The product of `_NearGram` and a direction: sums over rows for `ColumnScale.gradient`."""

    stays_sparse = True
    margins: _Margins
    along: _Margins

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        moved = xp.where(self.margins(block) < _SEPARATED_MARGIN, self.along(block), 0.0)
        if moved.shape[1] == 1:
            slope = block.y * moved
        else:
            slope = -moved
            slope[xp.arange(len(block)), block.y[:, 0].astype(np.intp)] = moved.sum(axis=1)
        return block.transpose_dot(slope), xp.ones(len(block)) @ slope


@dataclass(frozen=True)
class _FarPairs:
    """Margins along free directions, one row for each pair of a row and a class with a large margin."""

    scale: ColumnScale
    margins: _Margins
    free: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        margins = self.margins(block)
        row, other = np.nonzero((margins >= _SEPARATED_MARGIN) & xp.isfinite(margins))
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
