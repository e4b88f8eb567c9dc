"""The plane with the widest margin between two separable classes.

The margin is half the distance between the convex hulls of the classes; for planes through the origin it is the
distance of the hull of y·x from the origin. The nearest points of the hulls are found exactly among a few rows, and one
pass over all rows finds the rows to add.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.messages import Message
from hiperplano.solvers.nearest_point import ActiveSet, Lowest, approach
from hiperplano.solvers.solution import Solution
from hiperplano.solvers.svm.solution import end_reason

_MORE = 2  # rows of each class to add in a round, per coordinate
_STEPS = 20  # most steps on the same rows, per coordinate
_TOUCHING = 1e-9  # hulls closer than this, in units of the rows' norm, may not be separable
_SCALE_ROWS = 4096  # rows from which the mean and the norm of rows are estimated


@dataclass(frozen=True)
class MarginSolution(Solution):
    """The widest margin, with its certificate.

    Attributes
    ----------
    objective : float
        ½‖coef‖², where y·(x·coef + intercept) ≥ 1 for all rows.
    dual_objective : float
        A lower bound of the objective, given by `multipliers`.
    gap : float
        (objective − dual_objective) / objective.
    rows : ndarray of int
        Numbers of the support vectors, in the order of the rows.
    multipliers : ndarray of float
        Positive multipliers, with coef = Σ multiplier·y·x.
    touching : bool
        Whether the classes overlap or touch up to rounding errors, so that there may be no separating plane.
    """

    dual_objective: float
    rows: Array = field(repr=False)
    multipliers: Array = field(repr=False)
    touching: bool


def widest_margin(design: Design, *, fit_intercept: bool, tol: float, max_iter: int) -> MarginSolution:
    """Minimise ½‖coef‖² with y·(x·coef + intercept) ≥ 1.

    Parameters
    ----------
    design : Design
        With a target of −1 and +1, both present.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Most passes over the rows.
    """
    with one_blas_thread():
        return _Search(design, fit_intercept).run(tol, max_iter)


class _Search:
    """A working set of rows as points y·(x − shift)/length, in one group for each class, or in one group for all."""

    def __init__(self, design: Design, fit_intercept: bool) -> None:
        self.design = design.with_vectors(row=design.row_numbers())
        self.signs = (1.0, -1.0) if fit_intercept else (0.0,)  # sign of each group; 0 for all rows
        sample = design.sample(_SCALE_ROWS)
        self.shift = ColumnScale.exact(sample, fit_intercept).shift
        self.length = float(np.sqrt(np.max(np.sum((sample.dense() - self.shift) ** 2, axis=1)))) or 1.0
        self.rows, self.group = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.points = np.empty((0, design.n_columns))
        self.more = _MORE * (design.n_columns + 1)

    def run(self, tol: float, max_iter: int) -> MarginSolution:
        pull, count = self.design.fold(_class_sums)
        direction = pull[0] / count[0] - pull[1] / count[1]  # from the mean of the negative rows to the positive ones
        self._add(self._lowest_rows(direction), np.full(len(self.signs), np.inf))
        first = self._lowest(direction)
        active, passes = ActiveSet.of(first.members, first.corner), 1
        while True:
            approach(active, self._lowest, 0.1 * tol, _STEPS * (self.design.n_columns + 10))
            point = active.point
            square = float(point @ point)
            if square <= _TOUCHING**2:
                return self._solution(active, np.zeros(len(self.signs)), np.inf, tol, passes, max_iter)
            found = self._lowest_rows(point)
            ends = found[0][:, 0]
            passes += 1
            gap = 1.0 - (max(float(ends.sum()), 0.0) / square) ** 2
            known = [(self.points @ point)[self.group == group].min() for group in range(len(self.signs))]
            if gap <= tol or passes > max_iter or not self._add(found, np.array(known)):
                return self._solution(active, ends, gap, tol, passes, max_iter)

    def _lowest_rows(self, direction: Array) -> Sums:
        """Heights y·(x − shift)·direction/length and numbers of the rows of each group that lie lowest."""
        along = direction / self.length
        statistic = _LowestRows(along, float(self.shift @ along), np.array(self.signs), self.more)
        return self.design.fold(statistic, partial(_lower, more=self.more))

    def _lowest(self, direction: Array) -> Lowest:
        """The sum of the lowest point of each group of the working set."""
        height = self.points @ direction
        groups = [np.flatnonzero(self.group == group) for group in range(len(self.signs))]
        members = tuple(int(here[np.argmin(height[here])]) for here in groups)
        return Lowest(members, self.points[list(members)].sum(axis=0), float(height[list(members)].sum()))

    def _add(self, found: Sums, known: Array) -> bool:
        """Add the rows of each group that are lower than those known; return False if there are none."""
        heights, rows = found
        wanted = np.setdiff1d(rows[heights < known[:, None]], self.rows)
        if not len(wanted):
            return False
        added = self.design.gather(self.design.map(RowIsAmong(wanted)))
        sign = added.collect(added.vector("y"))[:, 0]
        self.rows = np.concatenate([self.rows, added.collect(added.vector("row"))])
        self.group = np.concatenate([self.group, ((sign < 0) & (len(self.signs) == 2)).astype(np.int64)])
        self.points = np.concatenate([self.points, sign[:, None] * (added.dense() - self.shift) / self.length])
        return True

    def _solution(
        self, active: ActiveSet, ends: Array, gap: float, tol: float, passes: int, max_iter: int
    ) -> MarginSolution:
        point, n_groups, reach = active.point, len(self.signs), float(ends.sum())
        square = float(point @ point)
        touching = not (square > _TOUCHING**2 and reach > 0)
        coef = n_groups * point / (self.length * reach) if not touching else np.zeros_like(point)
        intercept = (ends[-1] - ends[0]) / reach - float(coef @ self.shift) if not touching and n_groups == 2 else 0.0
        weight = np.zeros(len(self.rows))
        for members, share in zip(active.members, active.weights, strict=True):
            weight[list(members)] += share
        used = np.flatnonzero(weight)
        used = used[np.argsort(self.rows[used])]
        size = n_groups / (self.length**2 * square) if not touching else 0.0
        objective = 0.5 * float(coef @ coef)
        converged = gap <= tol and not touching
        return MarginSolution(
            coef=coef[None],
            intercept=np.array([intercept]),
            method=Message("nearest points of the convex hulls"),
            n_iter=passes,
            objective=objective,
            gap=gap,
            converged=converged,
            status=_status(len(used), gap, tol, passes, max_iter, converged),
            dual_objective=objective * (1.0 - gap) if not touching else 0.0,
            rows=self.rows[used],
            multipliers=size * weight[used],
            touching=touching,
        )


def _class_sums(block: Block) -> Sums:
    """Σ x and the number of rows, of the positive and of the negative rows."""
    positive = (block.y[:, 0] > 0).astype(np.float64)
    member = np.column_stack([positive, 1.0 - positive])
    return block.transpose_dot(member).T.copy(), member.sum(axis=0)


@dataclass(frozen=True)
class _LowestRows:
    """Heights y·(x·along − level) and numbers of the `more` lowest rows of each group; inf if there are fewer."""

    along: Array
    level: float
    signs: Array
    more: int

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        sign = block.y[:, 0]
        height = sign * (block.dot(self.along) - self.level)
        heights = np.full((len(self.signs), self.more), xp.inf)
        rows = np.full((len(self.signs), self.more), -1)
        for group, wanted in enumerate(self.signs):
            here = np.flatnonzero(sign == wanted) if wanted else xp.arange(len(sign))
            if len(here) > self.more:
                here = here[np.argpartition(height[here], self.more - 1)[: self.more]]
            here = here[xp.argsort(height[here])]
            heights[group, : len(here)], rows[group, : len(here)] = height[here], block.vectors["row"][here]
        return heights, rows


def _lower(left: Sums, right: Sums, more: int) -> Sums:
    """Merge two sets of lowest rows."""
    heights, rows = (np.concatenate(pair, axis=1) for pair in zip(left, right, strict=True))
    order = np.argsort(heights, axis=1, kind="stable")[:, :more]
    return np.take_along_axis(heights, order, axis=1), np.take_along_axis(rows, order, axis=1)


@dataclass(frozen=True)
class RowIsAmong:
    """Whether each row's number is in a given set."""

    rows: Array

    def __call__(self, block: Block) -> Array:
        return np.isin(block.vectors["row"], self.rows)


def _status(n_support: int, gap: float, tol: float, passes: int, max_iter: int, converged: bool) -> Message:
    if converged:
        return Message(
            "The widest margin was found in {passes} passes, with {n} support vectors; no plane has a squared margin "
            "wider by more than {gap:.1e} of it.",
            passes=passes,
            n=n_support,
            gap=gap,
        )
    return Message(
        "The search for the widest margin ended after {passes} passes with a relative gap of {gap:.1e}, above "
        "tol={tol:g}: {reason}. Raise max_iter, or tol if that is accurate enough; columns of very different scale "
        "lose digits.",
        passes=passes,
        gap=gap,
        tol=tol,
        reason=end_reason(passes > max_iter, max_iter),
    )
