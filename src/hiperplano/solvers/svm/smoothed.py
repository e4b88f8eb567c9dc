"""½‖coef‖² + Σ weight·loss with dual variables kept near a centre: a smooth function, evaluated in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, RowVector, Sums
from hiperplano.solvers.svm.curvature import Curvature, RowCurvature
from hiperplano.solvers.svm.dual_losses import DualLoss, root_of_increasing, total

_ROUNDING = 1e-15  # share of the sum of dual variables under which they are balanced


@dataclass(frozen=True)
class Hyperplane:
    """score = (x − shift)·coef + level. Measured from a point near the mean, so that coef and level hardly interact.

    With a score for each of k classes, `coef` has shape (k, d) and `level` (k,).
    """

    coef: Array
    level: Array
    shift: Array

    @classmethod
    def zero(cls, shift: Array, *n_scores: int) -> Hyperplane:
        """All coefficients and levels are 0."""
        return cls(np.zeros((*n_scores, len(shift))), np.zeros(n_scores), shift)

    @property
    def intercept(self) -> Array:
        """The score where x = 0."""
        return np.asarray(self.level - self.coef @ self.shift)

    def parts(self, step: Array) -> tuple[Array, Array]:
        """Of coefficients and levels, of a flat vector in which each score has its coefficients, then its level."""
        change = step.reshape(*self.coef.shape[:-1], -1)
        return change[..., :-1], change[..., -1]

    def moved(self, step: Array, share: float = 1.0) -> Hyperplane:
        """Along a step, a flat vector."""
        coef, level = self.parts(step)
        return Hyperplane(self.coef + share * coef, self.level + share * level, self.shift)


@dataclass(frozen=True)
class Evaluation:
    """What a pass over the rows has shown.

    Attributes
    ----------
    residual, gamma : RowVector
        Residuals and dual variables, k for each row where there are k scores.
    slope : ndarray of shape (d+1,) or ((d+1)·k,)
        [coef − Σβ·(x − shift), −Σβ] of each score.
    curvature : Curvature or None
        Of the losses, from the rows that are free; None if it was not asked for.
    loss : float
        Σ weight·loss, without what keeps dual variables near the centre.
    slack : float
        Σ weight·(loss − gain of the dual variables).
    """

    plane: Hyperplane
    residual: RowVector
    gamma: RowVector
    slope: Array
    curvature: Curvature | None
    loss: float
    slack: float

    @property
    def objective(self) -> float:
        """½‖coef‖² + Σ weight·loss."""
        return 0.5 * float(np.vdot(self.plane.coef, self.plane.coef)) + self.loss

    @property
    def mismatch(self) -> float:
        """½‖coef − Σβ·x‖², which is 0 at the minimum."""
        return 0.5 * float(np.sum(self.plane.parts(self.slope)[0] ** 2))

    @property
    def gap(self) -> float:
        """Objective minus dual objective; a bound on the distance to the optimum if dual variables are balanced."""
        return self.slack + self.mismatch

    def remaining(self, curvature: Curvature | None = None) -> float:
        """What the smooth problem has left to gain, at most: the mismatch, and what balancing will cost.

        `curvature` stands in where the evaluation has none.
        """
        curvature = self.curvature or curvature
        if curvature is None:
            return self.mismatch
        return self.mismatch + curvature.balancing_cost(np.atleast_1d(self.plane.parts(self.slope)[1]))


@dataclass(frozen=True)
class SmoothedProblem:
    """A support vector machine, made smooth by keeping its dual variables near a centre.

    Attributes
    ----------
    design : Design
        With the vectors that the loss asks for, and "centre" where `proximity` is not 0.
    proximity : float
        Dual variables cost ½·proximity·(γ − centre)².
    by_rows : bool
        Whether curvature is held as rows: a matrix of the columns' products would cost more than products with rows.
    centre_rows : bool
        Whether rows are centred, at the cost of a copy: means are so large that scores would lose digits to them.
    """

    design: Design
    loss: Any
    fit_intercept: bool
    proximity: float = 0.0
    by_rows: bool = False
    centre_rows: bool = False

    @cached_property
    def _at_zero(self) -> Array:
        return self.design.fold(_AtZero(self.loss))[0]

    @property
    def zero_loss(self) -> float:
        """Σ weight·loss where all scores are 0."""
        return float(self._at_zero[0])

    @property
    def unit(self) -> float:
        """The mean size of the residuals where all scores are 0: the unit of scores."""
        return float(self._at_zero[1] / self._at_zero[2])

    @property
    def weight(self) -> float:
        """Of all rows."""
        return float(self._at_zero[2])

    def evaluate(self, plane: Hyperplane, *, curved: bool = True, gamma: RowVector | None = None) -> Evaluation:
        """One pass over the rows.

        Parameters
        ----------
        curved : bool
            Whether curvature is wanted.
        gamma : RowVector, optional
            Dual variables; they follow from the scores unless they are given.
        """
        stiffness = 1.0 / (self.loss.ridge + self.proximity) if curved else 0.0
        statistic = _Pass(
            self.loss,
            plane.coef.T,
            plane.level if self.centre_rows else plane.intercept,
            plane.shift,
            self.proximity,
            self.centre_rows,
            given=gamma is not None,
            gram=curved and not self.by_rows,
            stiffness=stiffness if self.by_rows else 0.0,
        )
        design = self.design if gamma is None else self.design.with_vectors(gamma=gamma)
        (pull, beta, size, sums, *gram), kept = design.fold_and_map(statistic)
        level = -np.where(np.abs(beta) > _ROUNDING * size, beta, 0.0) * self.fit_intercept
        pull = pull.T if self.centre_rows else pull.T - np.multiply.outer(beta, plane.shift)
        curvature: Curvature | None = None
        if curved and self.by_rows:
            rows = self.design.with_vectors(stiffness=kept["stiffness"])
            curvature = RowCurvature(rows, float(sums[2]), int(sums[3]))
        elif curved:
            curvature = self.loss.curvature(stiffness * gram[0], stiffness * self.weight / self.design.n_rows)
        return Evaluation(
            plane,
            kept["residual"],
            kept["gamma"] if gamma is None else gamma,
            np.concatenate([plane.coef - pull, level[..., None]], axis=-1).ravel(),
            curvature,
            float(sums[0]),
            float(sums[1]),
        )

    def middle(self, start: Evaluation) -> RowVector:
        """A centre for the dual variables where only residuals are known."""
        return self.design.with_vectors(residual=start.residual).map(self.loss.middle)

    def balanced(self, gamma: RowVector) -> RowVector:
        """Dual variables near these that an intercept without penalty allows."""
        return self.loss.balanced(self.design.with_vectors(gamma=gamma)) if self.fit_intercept else gamma

    def slope_along(self, start: Evaluation, end: Evaluation, step: Array, share: float) -> float:
        """The slope along a step at a share of it, from the residuals at both ends."""
        design = self.design.with_vectors(residual=start.residual, end=end.residual)
        (pull,) = design.fold(_PullAlong(self.loss, self.proximity, share))
        coef, _ = start.plane.parts(step)
        return float(np.vdot(start.plane.coef + share * coef, coef)) - float(pull)

    def level_step(self, residual: RowVector) -> float:
        """What the level must change by so that dual variables balance, the coefficients staying as they are."""
        design = self.design.with_vectors(residual=residual)

        def pull(level: float) -> tuple[float, float]:
            value, slope = design.fold(_PullAtLevel(self.loss, self.proximity, level))[0]
            return float(value), float(slope)

        return root_of_increasing(pull, self.unit or 1.0)


@dataclass(frozen=True)
class _Pass:
    """Residuals and dual variables of the rows, their sums, and the curvature of those that are free."""

    loss: Any
    coef: Array
    intercept: Array
    shift: Array
    proximity: float
    centre_rows: bool
    given: bool
    gram: bool
    stiffness: float

    @property
    def sums_squares(self) -> bool:
        """Whether all pairs of columns are multiplied."""
        return self.gram

    @property
    def stays_sparse(self) -> bool:
        """Whether sparse rows are nowhere made dense."""
        return not self.centre_rows and not (self.gram and self.shift.any())

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        xp, loss = block.xp, self.loss
        rows = Block(block.dense() - self.shift, block.vectors) if self.centre_rows else block
        score = rows.dot(self.coef)
        score += self.intercept
        residual = loss.residual(block, score)
        gamma = block.vectors["gamma"] if self.given else loss.follow(block, residual, self.proximity)
        value, beta = loss.value(residual, block), loss.beta(block, gamma)
        totals = [total(block, value), total(block, value - loss.gain(residual, gamma))]
        kept = {"residual": residual, "gamma": gamma}
        if self.stiffness:
            free = loss.free(gamma)
            kept["stiffness"] = block.weighted(xp.where(free, self.stiffness, 0.0))
            totals += [xp.sum(kept["stiffness"]), xp.asarray(xp.sum(free), dtype=xp.float64)]
        sums = rows.transpose_dot(beta), xp.asarray(xp.sum(beta, axis=0)), xp.asarray(xp.sum(xp.abs(beta), axis=0))
        gram = (loss.free_gram(block, gamma, self.shift, loss.ridge + self.proximity),) if self.gram else ()
        return (*sums, xp.stack(totals), *gram), kept


@dataclass(frozen=True)
class _AtZero:
    """Σ weight·loss, Σ weight·|residual| and Σ weight where all scores are 0."""

    reads_rows = False
    loss: Any

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        residual = self.loss.residual(block, 0.0)
        size = xp.max(xp.abs(residual.reshape(len(block), -1)), axis=1)
        return (
            xp.stack([total(block, each) for each in (self.loss.value(residual, block), size, xp.ones(len(block)))]),
        )


@dataclass(frozen=True)
class _PullAlong:
    """Σ weight·γ·(change of the residual), a share of the way from "residual" to "end"."""

    reads_rows = False
    loss: Any
    proximity: float
    share: float

    def __call__(self, block: Block) -> Sums:
        change = block.vectors["residual"] - block.vectors["end"]
        residual = block.vectors["residual"] - self.share * change
        return (total(block, self.loss.follow(block, residual, self.proximity) * change),)


@dataclass(frozen=True)
class _PullAtLevel:
    """−Σβ where the level of one score is changed by a number, and its slope in that number."""

    reads_rows = False
    loss: DualLoss
    proximity: float
    level: float

    def __call__(self, block: Block) -> Sums:
        xp, loss = block.xp, self.loss
        residual = block.vectors["residual"] - loss.signed(block, self.level)
        gamma = loss.follow(block, residual, self.proximity)
        mass = total(block, loss.free(gamma)) / (loss.ridge + self.proximity)
        return (xp.stack([-xp.sum(loss.beta(block, gamma)), mass]),)
