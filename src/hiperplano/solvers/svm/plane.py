"""One pass over the rows with a plane: its losses, their multipliers, slope and curvature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.svm.curvature import Curvature, Matrix, Rows
from hiperplano.solvers.svm.tube import Tube, root_of_increasing

_ROUNDING = 1e-15  # share of the sum of multipliers under which they are balanced
_PICKED_BELOW = 0.5  # share of free rows up to which they are copied


@dataclass(frozen=True)
class Plane:
    """score = (x − shift)·coef + level. Measured from a typical row, so that coef and level hardly interact."""

    coef: Array
    level: float
    shift: Array

    @property
    def intercept(self) -> float:
        return self.level - float(self.shift @ self.coef)

    def moved(self, step: Array, share: float = 1.0) -> Plane:
        """Along a step of shape (d+1,), the level last."""
        return Plane(self.coef + share * step[:-1], self.level + share * float(step[-1]), self.shift)


@dataclass(frozen=True)
class View:
    """What a pass has shown of ½‖coef‖² + Σ weight·(loss kept near `centre`).

    Attributes
    ----------
    residual, gamma : ndarray of shape (n,)
        Target minus score, and the multipliers.
    slope : ndarray of shape (d+1,)
        [coef − Σβ·(x − shift), −Σβ], β being weight·γ.
    curvature : Curvature or None
        Of the losses, from the rows that are free; None if it was not asked for.
    loss : float
        Σ weight·loss, without the nearness.
    slack : float
        Σ weight·(loss − gain of the multipliers).
    """

    plane: Plane
    residual: Array
    gamma: Array
    slope: Array
    curvature: Curvature | None
    loss: float
    slack: float

    @property
    def objective(self) -> float:
        return 0.5 * float(self.plane.coef @ self.plane.coef) + self.loss

    @property
    def mismatch(self) -> float:
        """½‖coef − Σβ·x‖², which is 0 at the minimum."""
        return 0.5 * float(self.slope[:-1] @ self.slope[:-1])

    @property
    def gap(self) -> float:
        """Objective minus dual objective; a bound on the distance to the optimum if multipliers are balanced."""
        return self.slack + self.mismatch

    def left(self, curvature: Curvature | None = None) -> float:
        """What the smooth problem has left to gain, at most: the mismatch, and what balancing will cost.

        Balancing shifts the multipliers of free rows; `curvature` stands in for the view's own where it has none.
        """
        curvature = self.curvature or curvature
        if self.slope[-1] == 0 or curvature is None:
            return self.mismatch
        if curvature.mass <= 0:
            return np.inf
        per_unit = 1.0 / curvature.mass + float(curvature.offset @ curvature.offset)
        return self.mismatch + 0.5 * float(self.slope[-1]) ** 2 * per_unit


@dataclass(frozen=True)
class Smoothed:
    """Rows, their losses, and how near to `centre` multipliers are kept: a smooth problem for Newton's method.

    Squares of the columns are given where there are too many columns for a matrix of their products. Rows are
    `centred`, at the price of a copy, where means are so large that scores would lose digits to them.
    """

    design: Design
    tube: Tube
    fit_intercept: bool
    centre: Array | None = None
    nearness: float = 0.0
    squares: Array | None = None
    centred: bool = False

    def multiplier(self, residual: Array, rows: slice = slice(None)) -> Array:
        centre = 0.0 if self.centre is None else self.centre[rows]
        return self.tube[rows].multiplier(residual, centre, self.nearness)

    def view(self, plane: Plane, *, curved: bool = True, gamma: Array | None = None) -> View:
        """One pass. Multipliers follow from the scores unless they are given."""
        given = gamma
        residual = np.empty(self.design.n_rows)
        gamma = np.empty(self.design.n_rows) if given is None else given
        intercept = plane.level if self.centred else plane.intercept
        stiffness = 1.0 / (self.tube.give + self.nearness) if curved else 0.0
        blocks: dict[int, tuple[Any, Array]] = {}

        def statistic(block: Block) -> Sums:
            rows = block.rows
            tube = self.tube[rows]
            x = block.dense() - plane.shift if self.centred else block.x
            r = tube.target - x @ plane.coef
            r -= intercept
            g = self.multiplier(r, rows) if given is None else given[rows]
            residual[rows], gamma[rows] = r, g
            loss = tube.loss(r)
            beta = tube.weighted(g)
            sums = np.array([beta.sum(), np.abs(beta).sum(), tube.total(loss), tube.total(loss - tube.gain(r, g))])
            pull = np.asarray(x.T @ beta, dtype=np.float64)
            if not curved:
                return pull, sums
            if self.squares is not None:
                blocks[rows.start] = _free_rows(block, tube, g, stiffness)
                return pull, sums
            return pull, sums, _gram(block, tube, g, plane.shift)

        pull, sums, *rest = self.design.fold(statistic)
        level = 0.0 if not self.fit_intercept or abs(sums[0]) <= _ROUNDING * sums[1] else -sums[0]
        pull -= 0.0 if self.centred else sums[0] * plane.shift
        slope = np.append(plane.coef - pull, level)
        curvature: Curvature | None = None
        if blocks and self.squares is not None:
            held = [blocks[start] for start in sorted(blocks)]
            curvature = Rows(held, self.squares, float(self.tube.total(np.ones(self.design.n_rows))))
        elif rest:
            curvature = Matrix(stiffness * rest[0])
        return View(plane, residual, gamma, slope, curvature, float(sums[2]), float(sums[3]))

    def steepness(self, view: View, step: Array, change: Array, share: float) -> float:
        """Slope along a step at a share of it; `change` is that of the scores."""
        gamma = self.multiplier(view.residual - share * change)
        coef = view.plane.coef + share * step[:-1]
        return float(coef @ step[:-1]) - self.tube.total(gamma * change)

    def level_change(self, view: View) -> float:
        """What the level must change by so that multipliers balance, the coefficients staying as they are."""

        def excess(change: float) -> float:
            return -self.tube.total(self.multiplier(view.residual - change))

        return root_of_increasing(excess, float(np.abs(view.residual).max(initial=0.0)) or 1.0)


def _gram(block: Block, tube: Tube, gamma: Array, shift: Array) -> Array:
    """Σ over free rows of weight·[x − shift, 1]ᵀ[x − shift, 1]."""
    free = np.flatnonzero(tube.free(gamma))
    picked = block.x[free]
    rows = np.empty((len(free), len(shift) + 1))
    np.subtract(picked if isinstance(picked, np.ndarray) else picked.toarray(), shift, out=rows[:, :-1])
    rows[:, -1] = 1.0
    if tube.weight is not None:
        rows *= np.sqrt(tube.weight[free])[:, None]
    return rows.T @ rows


def _free_rows(block: Block, tube: Tube, gamma: Array, stiffness: float) -> tuple[Any, Array]:
    """The rows themselves, or all with weights of 0 where picking them would cost more than it saves."""
    free = tube.free(gamma)
    weight = stiffness * (free if tube.weight is None else free * tube.weight)
    if np.count_nonzero(free) > _PICKED_BELOW * len(block):
        return block.x, weight
    return block.x[np.flatnonzero(free)], weight[free]
