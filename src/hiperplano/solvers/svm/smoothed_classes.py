"""Crammer and Singer's losses of all classes at once, made smooth: the counterpart of `smoothed`.

With v the scores of a row, 1 added for all classes but its own, its loss is C·(max v − v[own]): the maximum of −v·α
over Σα = 0, α[own] ≤ C and α ≤ 0 for the other classes. Residuals are −v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, RowVector, Sums
from hiperplano.solvers.svm.curvature import Curvature, solve_scaled
from hiperplano.solvers.svm.dual_losses import total


@dataclass(frozen=True)
class ClassLoss:
    """The loss of rows with a vector "code", the number of their class.

    Attributes
    ----------
    n_classes : int
    high : float
        C, the largest dual variable.
    """

    n_classes: int
    high: float

    ridge = 0.0  # as a plain `DualLoss` has it

    def own(self, block: Block) -> Array:
        """1 for the class of each row, 0 for the others."""
        return np.asarray(block.vectors["code"][:, None] == np.arange(self.n_classes), dtype=np.float64)

    def dual_variable(self, residual: Array, own: Array, centre: Array, proximity: float) -> Array:
        """The α that maximises residual·α − ½·proximity·‖α − centre‖².

        C·own − α lies in a simplex of size C: the nearest point of it is found by sorting.
        """
        bound = self.high * own
        far = bound - centre - residual / proximity
        ranked = -np.sort(-far, axis=1)
        level = (np.cumsum(ranked, axis=1) - self.high) / np.arange(1, self.n_classes + 1)
        last = np.sum(ranked > level, axis=1) - 1
        return np.asarray(bound - np.maximum(far - level[np.arange(len(far)), last][:, None], 0.0))

    def value(self, residual: Array, own: Array) -> Array:
        """The loss."""
        return np.asarray(self.high * (np.sum(residual * own, axis=1) - residual.min(axis=1)))

    def middle(self, block: Block) -> Array:
        """Where nothing is known yet: half of the mass on the own class, shared out among all others."""
        own = self.own(block)
        return 0.5 * self.high * (own - (1.0 - own) / (self.n_classes - 1))


@dataclass(frozen=True)
class Hyperplanes:
    """score of class k = (x − shift)·coef[k] + level[k]."""

    coef: Array
    level: Array
    shift: Array

    @property
    def intercept(self) -> Array:
        """The scores where x = 0."""
        return np.asarray(self.level - self.coef @ self.shift)

    def moved(self, step: Array, share: float = 1.0) -> Hyperplanes:
        """Along a step of shape ((d+1)·classes,): for each class its coefficients, then its level."""
        change = share * step.reshape(len(self.coef), -1)
        return Hyperplanes(self.coef + change[:, :-1], self.level + change[:, -1], self.shift)


@dataclass(frozen=True)
class ClassEvaluation:
    """What a pass has shown; see `smoothed.Evaluation`. `residual` and `gamma` have a column for each class."""

    plane: Hyperplanes
    residual: RowVector
    gamma: RowVector
    slope: Array
    curvature: ClassCurvature | None
    loss: float
    slack: float

    @property
    def objective(self) -> float:
        """½‖coef‖² + Σ weight·loss."""
        return 0.5 * float(np.sum(self.plane.coef**2)) + self.loss

    @property
    def _slopes(self) -> Array:
        return self.slope.reshape(len(self.plane.coef), -1)

    @property
    def mismatch(self) -> float:
        """½‖coef − Σα·x‖², which is 0 at the minimum."""
        return 0.5 * float(np.sum(self._slopes[:, :-1] ** 2))

    @property
    def gap(self) -> float:
        """Objective minus dual objective."""
        return self.slack + self.mismatch

    def remaining(self, curvature: ClassCurvature | None = None) -> float:
        """The mismatch, and what balancing will cost: about a unit of the scores for each dual variable moved."""
        return self.mismatch + float(np.abs(self._slopes[:, -1]).sum())


@dataclass(frozen=True)
class ClassCurvature(Curvature):
    """Curvature of all classes' coefficients and levels, of shape ((d+1)·classes, (d+1)·classes)."""

    gram: Array
    n_classes: int
    row: float  # what one free row adds to that of a level

    @property
    def _levels(self) -> Array:
        width = len(self.gram) // self.n_classes
        return np.arange(width - 1, len(self.gram), width)

    @property
    def mass(self) -> float:
        return float(self.gram[self._levels, self._levels].max())

    @property
    def offset(self) -> Array:
        return np.asarray(self.gram[:, self._levels].sum(axis=1) / self.mass)

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> Array:
        matrix, right, levels = self.gram.copy(), -slope, self._levels
        penalised = np.setdiff1d(np.arange(len(matrix)), levels)
        matrix[penalised, penalised] += 1.0
        if fit_intercept:
            # A level that no free row holds moves as if one did, until some row is met.
            matrix[levels, levels] += np.where(matrix[levels, levels] > 0, 0.0, self.row)
            # All levels together change nothing; this keeps them from moving together.
            matrix[np.ix_(levels, levels)] += (self.mass or self.row) / self.n_classes
        else:
            matrix[levels, :], matrix[:, levels] = 0.0, 0.0
            matrix[levels, levels], right[levels] = 1.0, 0.0
        return solve_scaled(matrix, right)


@dataclass(frozen=True)
class SmoothedClasses:
    """Rows with a vector "code", and "centre" where `proximity` is not 0; see `smoothed.SmoothedProblem`."""

    design: Design
    loss: ClassLoss
    fit_intercept: bool
    proximity: float = 0.0

    squares = None  # its curvature is held as a matrix
    unit = 1.0

    @property
    def zero_loss(self) -> float:
        """Σ weight·loss where all scores are 0."""
        return self.loss.high * self.design.total_weight

    def evaluate(self, plane: Hyperplanes, *, curved: bool = True, gamma: RowVector | None = None) -> ClassEvaluation:
        """One pass over the rows, as `SmoothedProblem.evaluate` makes it."""
        classes = self.loss.n_classes
        design = self.design if gamma is None else self.design.with_vectors(gamma=gamma)
        statistic = _Pass(
            self.loss, plane.coef, plane.intercept, plane.shift, self.proximity, gamma is not None, curved
        )
        (pull, beta, size, sums, *rest), kept = design.fold_and_map(statistic)
        level = -np.where(np.abs(beta) > 1e-15 * size, beta, 0.0) if self.fit_intercept else np.zeros(classes)
        slopes = np.column_stack([plane.coef - (pull - np.outer(plane.shift, beta)).T, level])
        curvature = None
        if rest:
            row = self.design.total_weight / self.design.n_rows / self.proximity
            curvature = ClassCurvature(rest[0] / self.proximity, classes, row)
        alpha = kept["gamma"] if gamma is None else gamma
        return ClassEvaluation(
            plane, kept["residual"], alpha, slopes.ravel(), curvature, float(sums[0]), float(sums[1])
        )

    def middle(self, start: ClassEvaluation) -> RowVector:
        """A centre for the dual variables where nothing is known."""
        return self.design.map(self.loss.middle)

    def balanced(self, gamma: RowVector) -> RowVector:
        """Dual variables near these that intercepts without penalty allow."""
        return balanced_classes(self.design.with_vectors(gamma=gamma)) if self.fit_intercept else gamma

    def slope_along(self, start: ClassEvaluation, end: ClassEvaluation, step: Array, share: float) -> float:
        """The slope along a step at a share of it, from the residuals at both ends."""
        design = self.design.with_vectors(residual=start.residual, end=end.residual)
        (pull,) = design.fold(_PullAlong(self.loss, self.proximity, share))
        move = step.reshape(len(start.plane.coef), -1)[:, :-1]
        return float(np.sum((start.plane.coef + share * move) * move)) - float(pull[0])


def balanced_classes(design: Design) -> RowVector:
    """Dual variables near the vector "gamma" whose sum over the rows, by weight, is 0 for each class.

    Where a class has too little, its negative dual variables shrink in proportion, and what they lose is taken from the
    classes that have too much, in the same rows: so sums of rows stay 0 and no bound is passed.
    """
    sums, negative = design.fold(_class_balance)
    excess, lack = np.maximum(sums, 0.0), np.maximum(-sums, 0.0)
    if not (lack.any() and excess.any()):  # all of them sum to 0, but for rounding
        return design.vector("gamma")
    share = np.divide(lack, -negative, out=np.zeros_like(lack), where=negative < 0)
    return design.map(_Rebalanced(share, excess / excess.sum()))


def _class_balance(block: Block) -> Sums:
    """Σ weight·α of each class, and the same of the negative ones."""
    alpha = block.weighted(block.vectors["gamma"])
    return alpha.sum(axis=0), np.minimum(alpha, 0.0).sum(axis=0)


@dataclass(frozen=True)
class _Rebalanced:
    """α with a share of the negative ones taken away, and given to other classes of the same row."""

    share: Array
    receivers: Array

    def __call__(self, block: Block) -> Array:
        alpha = block.vectors["gamma"]
        given = -np.minimum(alpha, 0.0) * self.share
        return np.asarray(alpha + given - np.outer(given.sum(axis=1), self.receivers))


@dataclass(frozen=True)
class _Pass:
    """Residuals and dual variables of the rows, their sums, and the curvature of those that are free."""

    loss: ClassLoss
    coef: Array
    intercept: Array
    shift: Array
    proximity: float
    given: bool
    curved: bool

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        loss, own = self.loss, self.loss.own(block)
        residual = own - 1.0 - self.intercept - block.dot(self.coef.T)
        if self.given:
            alpha = block.vectors["gamma"]
        elif self.proximity:
            alpha = loss.dual_variable(residual, own, block.vectors["centre"], self.proximity)
        else:
            alpha = np.zeros_like(residual)
        beta, value = block.weighted(alpha), loss.value(residual, own)
        slack = value - np.sum(residual * alpha, axis=1)
        sums = np.array([total(block, value), total(block, slack)])
        parts = (block.transpose_dot(beta), beta.sum(axis=0), np.abs(beta).sum(axis=0), sums)
        if self.curved:
            parts = (*parts, _gram(block, alpha < loss.high * own, self.shift))  # type: ignore[assignment]
        return parts, {"residual": residual, "gamma": alpha}


@dataclass(frozen=True)
class _PullAlong:
    """Σ weight·α·(change of the residual), a share of the way from "residual" to "end"."""

    loss: ClassLoss
    proximity: float
    share: float

    def __call__(self, block: Block) -> Sums:
        change = block.vectors["residual"] - block.vectors["end"]
        residual = block.vectors["residual"] - self.share * change
        alpha = self.loss.dual_variable(residual, self.loss.own(block), block.vectors["centre"], self.proximity)
        return (total(block, np.sum(alpha * change, axis=1))[None],)


def _gram(block: Block, free: Array, shift: Array) -> Array:
    """Σ over rows of weight·(diag(a) − a·aᵀ/Σa) ⊗ [x − shift, 1]ᵀ[x − shift, 1], a marking the free classes."""
    some = block.take(np.flatnonzero(free.sum(axis=1) > 1))
    free, weight = free[free.sum(axis=1) > 1], some.weights
    classes, width = free.shape[1], len(shift) + 1
    x = np.empty((len(some), width))
    np.subtract(some.dense(), shift, out=x[:, :-1])
    x[:, -1] = 1.0
    share = weight / free.sum(axis=1)
    out = np.zeros((classes, width, classes, width))
    for k in range(classes):
        for m in range(k, classes):
            both = np.flatnonzero(free[:, k] & free[:, m])
            size = -share[both] if m > k else weight[both] - share[both]
            product = x[both].T @ (x[both] * size[:, None])
            out[k, :, m] = product
            out[m, :, k] = product.T
    return out.reshape(classes * width, classes * width)
