"""½‖coef‖² + Σ weight·loss with dual variables kept near a centre: a smooth function, evaluated in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, RowVector, Sums
from hiperplano.solvers.svm.curvature import Curvature, MatrixCurvature, RowCurvature, free_gram
from hiperplano.solvers.svm.dual_losses import DualLoss, balanced, root_of_increasing, total

_ROUNDING = 1e-15  # share of the sum of dual variables under which they are balanced


@dataclass(frozen=True)
class Hyperplane:
    """score = (x − shift)·coef + level. Measured from a point near the mean, so that coef and level hardly interact."""

    coef: Array
    level: float
    shift: Array

    @property
    def intercept(self) -> float:
        """The score where x = 0."""
        return self.level - float(self.shift @ self.coef)

    def moved(self, step: Array, share: float = 1.0) -> Hyperplane:
        """Along a step of shape (d+1,), the level last."""
        return Hyperplane(self.coef + share * step[:-1], self.level + share * float(step[-1]), self.shift)


@dataclass(frozen=True)
class Evaluation:
    """What a pass over the rows has shown.

    Attributes
    ----------
    plane : Hyperplane
    residual, gamma : RowVector
        Residuals and dual variables.
    slope : ndarray of shape (d+1,)
        [coef − Σβ·(x − shift), −Σβ].
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
        return 0.5 * float(self.plane.coef @ self.plane.coef) + self.loss

    @property
    def mismatch(self) -> float:
        """½‖coef − Σβ·x‖², which is 0 at the minimum."""
        return 0.5 * float(self.slope[:-1] @ self.slope[:-1])

    @property
    def gap(self) -> float:
        """Objective minus dual objective; a bound on the distance to the optimum if dual variables are balanced."""
        return self.slack + self.mismatch

    def remaining(self, curvature: Curvature | None = None) -> float:
        """What the smooth problem has left to gain, at most: the mismatch, and what balancing will cost.

        Balancing shifts the dual variables of free rows; `curvature` stands in where the evaluation has none.
        """
        curvature = self.curvature or curvature
        if self.slope[-1] == 0 or curvature is None:
            return self.mismatch
        if curvature.mass <= 0:
            return np.inf
        per_unit = 1.0 / curvature.mass + float(curvature.offset @ curvature.offset)
        return self.mismatch + 0.5 * float(self.slope[-1]) ** 2 * per_unit


@dataclass(frozen=True)
class SmoothedProblem:
    """A support vector machine, made smooth by keeping its dual variables near a centre.

    Attributes
    ----------
    design : Design
        With a vector "sign" for classification, and "centre" where `proximity` is not 0.
    loss : DualLoss
    fit_intercept : bool
    proximity : float
        Dual variables cost ½·proximity·(γ − centre)².
    squares : ndarray of shape (d,), optional
        Of the columns, by weight, where there are too many columns for a matrix of their products.
    centre_rows : bool
        Whether rows are centred, at the price of a copy: means are so large that scores would lose digits to them.
    """

    design: Design
    loss: DualLoss
    fit_intercept: bool
    proximity: float = 0.0
    squares: Array | None = None
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
        plane : Hyperplane
        curved : bool
            Whether curvature is wanted.
        gamma : RowVector, optional
            Dual variables; they follow from the scores unless they are given.

        Returns
        -------
        Evaluation
        """
        stiffness = 1.0 / (self.loss.ridge + self.proximity) if curved else 0.0
        wide = self.squares is not None
        statistic = _Pass(
            self.loss,
            plane.coef,
            plane.level if self.centre_rows else plane.intercept,
            plane.shift,
            self.proximity,
            self.centre_rows,
            given=gamma is not None,
            gram=curved and not wide,
            stiffness=stiffness if wide else 0.0,
        )
        design = self.design if gamma is None else self.design.with_vectors(gamma=gamma)
        (pull, sums, *rest), kept = design.fold_and_map(statistic)
        beta = float(sums[0])
        level = 0.0 if not self.fit_intercept or abs(beta) <= _ROUNDING * sums[1] else -beta
        pull -= 0.0 if self.centre_rows else beta * plane.shift
        curvature: Curvature | None = None
        if curved and self.squares is not None:
            rows = self.design.with_vectors(stiffness=kept["stiffness"])
            curvature = RowCurvature(rows, self.squares / self.weight, float(sums[4]), int(sums[5]))
        elif curved:
            curvature = MatrixCurvature(stiffness * rest[0])
        return Evaluation(
            plane,
            kept["residual"],
            kept["gamma"] if gamma is None else gamma,
            np.append(plane.coef - pull, level),
            curvature,
            float(sums[2]),
            float(sums[3]),
        )

    def middle(self, start: Evaluation) -> RowVector:
        """A centre for the dual variables where only residuals are known."""
        return self.design.with_vectors(residual=start.residual).map(self.loss.middle)

    def balanced(self, gamma: RowVector) -> RowVector:
        """Dual variables near these that an intercept without penalty allows."""
        return balanced(self.design, self.loss, gamma) if self.fit_intercept else gamma

    def slope_along(self, start: Evaluation, end: Evaluation, step: Array, share: float) -> float:
        """The slope along a step at a share of it, from the residuals at both ends."""
        design = self.design.with_vectors(residual=start.residual, end=end.residual)
        (pull,) = design.fold(_PullAlong(self.loss, self.proximity, share))
        coef = start.plane.coef + share * step[:-1]
        return float(coef @ step[:-1]) - float(pull[0])

    def level_step(self, residual: RowVector) -> float:
        """What the level must change by so that dual variables balance, the coefficients staying as they are."""
        design = self.design.with_vectors(residual=residual)
        return root_of_increasing(
            lambda level: design.fold(_PullAtLevel(self.loss, self.proximity, level))[0].tolist(), self.unit or 1.0
        )


@dataclass(frozen=True)
class _Pass:
    """Residuals and dual variables of the rows, their sums, and the curvature of those that are free."""

    loss: DualLoss
    coef: Array
    intercept: float
    shift: Array
    proximity: float
    centre_rows: bool
    given: bool
    gram: bool
    stiffness: float

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        xp, loss = block.xp, self.loss
        rows = Block(block.dense() - self.shift, block.vectors) if self.centre_rows else block
        score = rows.dot(self.coef)
        score += self.intercept
        residual = loss.residual(block, score)
        gamma = block.vectors["gamma"] if self.given else _dual_variable(loss, block, residual, self.proximity)
        value, beta = loss.value(residual), loss.beta(block, gamma)
        sums = [
            xp.sum(beta),
            xp.sum(xp.abs(beta)),
            total(block, value),
            total(block, value - loss.gain(residual, gamma)),
        ]
        pull = rows.transpose_dot(beta)
        if self.gram:
            return (pull, xp.stack(sums), free_gram(block, loss.free(gamma), self.shift)), _kept(residual, gamma)
        if not self.stiffness:
            return (pull, xp.stack(sums)), _kept(residual, gamma)
        free = loss.free(gamma)
        stiffness = block.weighted(xp.where(free, self.stiffness, 0.0))
        sums += [xp.sum(stiffness), xp.asarray(xp.count_nonzero(free), dtype=xp.float64)]
        return (pull, xp.stack(sums)), {**_kept(residual, gamma), "stiffness": stiffness}


def _kept(residual: Array, gamma: Array) -> Rows:
    return {"residual": residual, "gamma": gamma}


def _dual_variable(loss: DualLoss, block: Block, residual: Array, proximity: float) -> Array:
    return loss.dual_variable(residual, block.vectors["centre"] if proximity else 0.0, proximity)


@dataclass(frozen=True)
class _AtZero:
    """Σ weight·loss, Σ weight·|residual| and Σ weight where all scores are 0."""

    loss: DualLoss

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        residual = self.loss.residual(block, xp.zeros(len(block)))
        sums = (self.loss.value(residual), xp.abs(residual), xp.ones(len(block)))
        return (xp.stack([total(block, each) for each in sums]),)


@dataclass(frozen=True)
class _PullAlong:
    """Σ weight·γ·(change of the residual), a share of the way from "residual" to "end"."""

    loss: DualLoss
    proximity: float
    share: float

    def __call__(self, block: Block) -> Sums:
        change = block.vectors["residual"] - block.vectors["end"]
        residual = block.vectors["residual"] - self.share * change
        gamma = _dual_variable(self.loss, block, residual, self.proximity)
        return (total(block, gamma * change)[None],)


@dataclass(frozen=True)
class _PullAtLevel:
    """−Σβ where the level is changed by a number, and its slope in that number."""

    loss: DualLoss
    proximity: float
    level: float

    def __call__(self, block: Block) -> Sums:
        xp, loss = block.xp, self.loss
        residual = block.vectors["residual"] - loss.signed(block, xp.full(len(block), self.level))
        gamma = _dual_variable(loss, block, residual, self.proximity)
        mass = total(block, loss.free(gamma)) / (loss.ridge + self.proximity)
        return (xp.stack([-xp.sum(loss.beta(block, gamma)), mass]),)
