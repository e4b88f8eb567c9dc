"""The plane with the widest margin between two separable classes.

The margin is half the distance between the convex hulls of the classes; for planes through the origin it is the
distance of the hull of y·x from it. The nearest points of the hulls are found among a few rows, exactly, and one
pass over all rows tells which others to add.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.nearest_point import ActiveSet, Lowest, approach
from hiperplano.solvers.solution import Solution

_MORE = 2  # rows of each class to add in a round, for each coordinate
_STEPS = 20  # among the same rows, for each coordinate
_TOUCHING = 1e-9  # hulls nearer than this, in lengths of rows, may have no plane between them


@dataclass(frozen=True)
class MarginSolution(Solution):
    """The widest margin, with its proof.

    Attributes
    ----------
    objective : float
        ½‖coef‖², where y·(x·coef + intercept) ≥ 1 for all rows.
    dual_objective : float
        A lower bound of it, which `multipliers` prove.
    gap : float
        (objective − dual_objective) / objective.
    rows : ndarray of int
        The support vectors: rows with a multiplier, in their order.
    multipliers : ndarray of float
        Positive ones, with coef = Σ multiplier·y·x.
    touching : bool
        The classes come as near as rounding, or overlap: there may be no plane between them.
    """

    dual_objective: float
    rows: Array = field(repr=False)
    multipliers: Array = field(repr=False)
    touching: bool


def widest_margin(design: Design, *, fit_intercept: bool, tol: float, max_iter: int) -> MarginSolution:
    """For a design with a target of −1 and +1, both present where there is an intercept."""
    with one_blas_thread():
        return _Search(design, fit_intercept).run(tol, max_iter)


class _Search:
    """Some rows as points y·(x − shift)/length, one group for each class, and the active set among them."""

    def __init__(self, design: Design, fit_intercept: bool) -> None:
        self.design, self.sign = design, design.y[:, 0]
        everywhere = np.arange(design.n_rows)
        self.groups = [everywhere[self.sign > 0], everywhere[self.sign < 0]] if fit_intercept else [everywhere]
        some = self._take(everywhere[:: max(1, design.n_rows // 4096)])
        self.shift = some.mean(axis=0) if fit_intercept else np.zeros(design.n_columns)
        self.length = float(np.sqrt(np.max(np.sum((some - self.shift) ** 2, axis=1)))) or 1.0
        self.rows = np.empty(0, dtype=np.int64)
        self.points = np.empty((0, design.n_columns))
        self.more = _MORE * (design.n_columns + 1)

    def _take(self, rows: Array) -> Array:
        x = self.design.take(rows)
        return np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)

    def run(self, tol: float, max_iter: int) -> MarginSolution:
        score = self._scores(self._first_direction())
        self._add(score, [np.inf] * len(self.groups))
        first = self._lowest(self._here(), self._first_direction())
        active = ActiveSet.of(first.members, first.corner)
        passes, gap = 1, np.inf
        while True:
            here = self._here()
            approach(active, partial(self._lowest, here), 0.1 * tol, _STEPS * (self.design.n_columns + 10))
            point = active.point
            square, height = float(point @ point), self.points @ point
            if square <= _TOUCHING**2:
                return self._solution(active, score, np.inf, tol, passes, max_iter)
            score = self._scores(point)
            passes += 1
            reach = sum(float(score[group].min()) for group in self.groups)
            gap = 1.0 - (max(reach, 0.0) / square) ** 2
            known = [float(height[group].min()) for group in here]
            if gap <= tol or passes > max_iter or not self._add(score, known):
                return self._solution(active, score, gap, tol, passes, max_iter)

    def _first_direction(self) -> Array:
        """From the mean of the negative rows to that of the positive ones."""
        sign = self.sign / np.where(self.sign > 0, np.sum(self.sign > 0), np.sum(self.sign < 0))

        def statistic(block: Block) -> Sums:
            return (np.asarray(block.x.T @ sign[block.rows], dtype=np.float64),)

        (pull,) = self.design.fold(statistic)
        return pull - float(sign.sum()) * self.shift

    def _scores(self, direction: Array) -> Array:
        """y·(x − shift)·direction/length of all rows."""
        along = direction / self.length
        level = float(self.shift @ along)
        return self.design.map_rows(
            lambda block: self.sign[block.rows] * (block.x @ along - level), np.empty(self.design.n_rows)
        )

    def _here(self) -> list[Array]:
        return [np.flatnonzero(np.isin(self.rows, group, assume_unique=True)) for group in self.groups]

    def _lowest(self, here: list[Array], direction: Array) -> Lowest:
        """The sum of the lowest point of each class."""
        height = self.points @ direction
        members = tuple(int(group[np.argmin(height[group])]) for group in here)
        return Lowest(members, self.points[list(members)].sum(axis=0), float(height[list(members)].sum()))

    def _add(self, score: Array, known: list[float]) -> bool:
        """Take in the rows of each class that lie lowest, if lower than what is known; False if none does."""
        new = []
        for group, low in zip(self.groups, known, strict=True):
            below = group[score[group] < low]
            lowest_ones = np.argpartition(score[below], min(self.more, len(below) - 1)) if len(below) else below
            new.append(np.setdiff1d(below[lowest_ones[: self.more]], self.rows))
        added = np.concatenate(new)
        self.rows = np.concatenate([self.rows, added])
        signed = self.sign[added, None] * (self._take(added) - self.shift) / self.length
        self.points = np.concatenate([self.points, signed])
        return len(added) > 0

    def _solution(
        self, active: ActiveSet, score: Array, gap: float, tol: float, passes: int, max_iter: int
    ) -> MarginSolution:
        point, n_groups = active.point, len(self.groups)
        square = float(point @ point)
        ends = [float(score[group].min()) for group in self.groups]
        reach = sum(ends)
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
        good = gap <= tol and not touching
        return MarginSolution(
            coef=coef[None],
            intercept=np.array([intercept]),
            method="nearest points of the convex hulls",
            n_iter=passes,
            objective=objective,
            gap=gap,
            converged=good,
            status=_sentence(len(used), gap, tol, passes, max_iter, good),
            dual_objective=objective * (1.0 - gap) if not touching else 0.0,
            rows=self.rows[used],
            multipliers=size * weight[used],
            touching=touching,
        )


def _sentence(n_support: int, gap: float, tol: float, passes: int, max_iter: int, good: bool) -> str:
    if good:
        return (
            f"The widest margin was found in {passes} passes, with {n_support} support vectors; no plane has a "
            f"squared margin wider by more than {gap:.1e} of it."
        )
    why = f"max_iter={max_iter} passes were made" if passes > max_iter else "rounding stopped all progress"
    return (
        f"The search for the widest margin ended after {passes} passes with a relative gap of {gap:.1e}, above "
        f"tol={tol:g}: {why}. Raise max_iter, or tol if that is accurate enough; columns of very different scale lose "
        "digits."
    )
