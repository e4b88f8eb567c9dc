"""½‖coef‖² + Σ weight·loss, smoothed by a proximal term on the dual variables, and evaluated in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, RowVector, Sums
from hiperplano.solvers.svm.curvature import Curvature, RowCurvature
from hiperplano.solvers.svm.dual_losses import DualLoss, root_of_increasing, total

ROUNDING = 1e-15  # Σβ up to this share of Σ|β| counts as 0


@dataclass(frozen=True)
class Hyperplane:
    """score = (x − shift)·coef + level. The shift is near the mean of the rows, so that coef and level hardly interact.

    With a score for each of k classes, `coef` has shape (k, d) and `level` (k,).
    """

    coef: Array
    level: Array
    shift: Array

    @classmethod
    def zero(cls, shift: Array, *n_scores: int) -> Hyperplane:
        """A plane whose coefficients and levels are 0."""
        return cls(np.zeros((*n_scores, len(shift))), np.zeros(n_scores), shift)

    @property
    def intercept(self) -> Array:
        """The score at x = 0."""
        return np.asarray(self.level - self.coef @ self.shift)

    def parts(self, step: Array) -> tuple[Array, Array]:
        """Split a flat vector, with the coefficients and then the level of each score, into coefficients and levels."""
        change = step.reshape(*self.coef.shape[:-1], -1)
        return change[..., :-1], change[..., -1]

    def moved(self, step: Array, share: float = 1.0) -> Hyperplane:
        """The plane after a share of a step, which is a flat vector."""
        coef, level = self.parts(step)
        return Hyperplane(self.coef + share * coef, self.level + share * level, self.shift)


@dataclass(frozen=True)
class Evaluation:
    """Results of a pass over the rows.

    Attributes
    ----------
    plane : Hyperplane
    residual, gamma : RowVector
        Residuals and dual variables; k for each row if there are k scores.
    slope : ndarray of shape (d+1,) or ((d+1)·k,)
        Gradient: [coef − Σβ·(x − shift), −Σβ] of each score.
    curvature : Curvature or None
        Hessian of the losses, from the free rows; None if it was not requested.
    loss : float
        Σ weight·loss, without the proximal term.
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
        """Upper bound of the remaining decrease of the smoothed objective: the mismatch, and the cost of balancing.

        `curvature` is used if the evaluation has none.
        """
        curvature = self.curvature or curvature
        if curvature is None:
            return self.mismatch
        return self.mismatch + curvature.balancing_cost(np.atleast_1d(self.plane.parts(self.slope)[1]))


@dataclass(frozen=True)
class SmoothedProblem:
    """A support vector machine, smoothed by a proximal term on its dual variables.

    Attributes
    ----------
    design : Design
        Design with the vectors that the loss needs, and "centre" if `proximity` is not 0.
    loss : DualLoss or ClassLoss
    fit_intercept : bool
    proximity : float
        Weight of the proximal term ½·proximity·(γ − centre)².
    by_rows : bool
        Whether the curvature is stored as rows, because a Hessian matrix would cost more than products with rows.
    centre_rows : bool
        Whether rows are centred, which takes a copy, because large means would cost scores too many digits.
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
        """Σ weight·loss if all scores are 0."""
        return float(self._at_zero[0])

    @property
    def unit(self) -> float:
        """Mean absolute residual if all scores are 0, used as the unit of scores."""
        return float(self._at_zero[1] / self._at_zero[2])

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self._at_zero[2])

    def evaluate(self, plane: Hyperplane, *, curved: bool = True, gamma: RowVector | None = None) -> Evaluation:
        """One pass over the rows.

        Parameters
        ----------
        plane : Hyperplane
        curved : bool
            Whether to compute the curvature.
        gamma : RowVector, optional
            Dual variables; by default they are computed from the scores.
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
        level = -np.where(np.abs(beta) > ROUNDING * size, beta, 0.0) * self.fit_intercept
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
        """A first centre for the dual variables, from residuals alone."""
        return self.design.with_vectors(residual=start.residual).map(self.loss.middle)

    def balanced(self, gamma: RowVector) -> RowVector:
        """Dual variables near the given ones with Σβ = 0 if there is an intercept."""
        return self.loss.balanced(self.design.with_vectors(gamma=gamma)) if self.fit_intercept else gamma

    def slope_along(self, start: Evaluation, end: Evaluation, step: Array, share: float) -> float:
        """Directional derivative along a step, after a share of it, from the residuals at both ends."""
        design = self.design.with_vectors(residual=start.residual, end=end.residual)
        (pull,) = design.fold(_PullAlong(self.loss, self.proximity, share))
        coef, _ = start.plane.parts(step)
        return float(np.vdot(start.plane.coef + share * coef, coef)) - float(pull)

    def level_step(self, residual: RowVector) -> float:
        """Change of the level for which Σβ = 0, with unchanged coefficients."""
        design = self.design.with_vectors(residual=residual)

        def pull(level: float) -> tuple[float, float]:
            value, slope = design.fold(_PullAtLevel(self.loss, self.proximity, level))[0]
            return float(value), float(slope)

        return root_of_increasing(pull, self.unit or 1.0)


@dataclass(frozen=True)
class _Pass:
    """Residuals and dual variables of the rows, their sums, and the curvature of free rows."""

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
        """Whether products of all pairs of columns are computed."""
        return self.gram

    @property
    def stays_sparse(self) -> bool:
        """Whether sparse rows are never made dense."""
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
    """Σ weight·loss, Σ weight·|residual| and Σ weight if all scores are 0."""

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
    """Σ weight·γ·(change of the residual) after a share of the step from "residual" to "end"."""

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
    """−Σβ after a change of the level of one score, and its derivative with respect to that change."""

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
