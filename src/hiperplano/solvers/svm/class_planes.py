"""One pass over the rows with a plane for each class: Crammer and Singer's losses, their slope and curvature.

The counterparts of `tube`, `plane` and `curvature` for scores of all classes at once. With v the scores of a row, 1
added for all classes but its own, its loss is C·(max v − v[own]): the maximum of −v·α over Σα = 0, α[own] ≤ C and
α ≤ 0 for the other classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.svm.curvature import Curvature, solve_scaled


@dataclass(frozen=True)
class ClassLosses:
    """The losses of some rows, with the class of each, the largest multiplier, and weights."""

    codes: Array
    n_classes: int
    end: float
    weight: Array

    give = 0.0  # as a tube of a plain loss has it

    def __getitem__(self, rows: slice) -> ClassLosses:
        return ClassLosses(self.codes[rows], self.n_classes, self.end, self.weight[rows])

    @property
    def own(self) -> Array:
        """1 for the class of each row, 0 for the others."""
        return np.asarray(self.codes[:, None] == np.arange(self.n_classes), dtype=np.float64)

    def multiplier(self, residual: Array, centre: Array, nearness: float) -> Array:
        """The α that maximises residual·α − ½·nearness·‖α − centre‖²; residual is −v.

        C·own − α lies in a simplex of size C: the nearest point of it is found by sorting.
        """
        bound = self.end * self.own
        far = bound - centre - residual / nearness
        ranked = -np.sort(-far, axis=1)
        level = (np.cumsum(ranked, axis=1) - self.end) / np.arange(1, self.n_classes + 1)
        last = np.sum(ranked > level, axis=1) - 1
        return np.asarray(bound - np.maximum(far - level[np.arange(len(far)), last][:, None], 0.0))

    def free(self, alpha: Array) -> Array:
        """Which multipliers are at no end: they follow the scores."""
        return np.asarray(alpha < self.end * self.own)

    def loss(self, residual: Array) -> Array:
        return np.asarray(self.end * (residual[np.arange(len(residual)), self.codes] - residual.min(axis=1)))

    def gain(self, residual: Array, alpha: Array) -> Array:
        return np.asarray(np.sum(residual * alpha, axis=1))

    def total(self, values: Array) -> float:
        return float(values @ self.weight)

    def middle(self, residual: Array) -> Array:
        """Where nothing is known yet: half of the mass on the own class, shared out among all others."""
        own = self.own
        return np.asarray(0.5 * self.end * (own - (1.0 - own) / (self.n_classes - 1)))

    def balanced(self, alpha: Array) -> Array:
        return balanced_classes(alpha * self.weight[:, None]) / self.weight[:, None]


def balanced_classes(alpha: Array) -> Array:
    """Multipliers near `alpha` whose sum over the rows is 0 for each class.

    Where a class has too little, its negative multipliers shrink in proportion, and what they lose is taken from the
    classes that have too much, in the same rows: so sums of rows stay 0 and no bound is passed.
    """
    total = alpha.sum(axis=0)
    excess, lack = np.maximum(total, 0.0), np.maximum(-total, 0.0)
    if not (lack.any() and excess.any()):  # all of them sum to 0, but for rounding
        return alpha.copy()
    below = np.minimum(alpha, 0.0)
    mass = -below.sum(axis=0)
    share = np.divide(lack, mass, out=np.zeros_like(lack), where=mass > 0)
    given = -below * share
    return np.asarray(alpha + given - np.outer(given.sum(axis=1), excess / excess.sum()))


@dataclass(frozen=True)
class Planes:
    """score of class k = (x − shift)·coef[k] + level[k]."""

    coef: Array
    level: Array
    shift: Array

    @property
    def intercept(self) -> Array:
        return np.asarray(self.level - self.coef @ self.shift)

    def moved(self, step: Array, share: float = 1.0) -> Planes:
        """Along a step of shape ((d+1)·classes,): for each class its coefficients, then its level."""
        change = share * step.reshape(len(self.coef), -1)
        return Planes(self.coef + change[:, :-1], self.level + change[:, -1], self.shift)


@dataclass(frozen=True)
class ClassView:
    """What a pass has shown; see `plane.View`. `residual` and `gamma` have a column for each class."""

    plane: Planes
    residual: Array
    gamma: Array
    slope: Array
    curvature: ClassMatrix | None
    loss: float
    slack: float

    @property
    def objective(self) -> float:
        return 0.5 * float(np.sum(self.plane.coef**2)) + self.loss

    @property
    def _slopes(self) -> Array:
        return self.slope.reshape(len(self.plane.coef), -1)

    @property
    def mismatch(self) -> float:
        return 0.5 * float(np.sum(self._slopes[:, :-1] ** 2))

    @property
    def gap(self) -> float:
        return self.slack + self.mismatch

    def left(self, curvature: ClassMatrix | None = None) -> float:
        """The mismatch, and what balancing will cost: about a unit of the scores for each multiplier moved."""
        return self.mismatch + float(np.abs(self._slopes[:, -1]).sum())


@dataclass(frozen=True)
class ClassMatrix(Curvature):
    """Curvature of all classes' coefficients and levels, of shape ((d+1)·classes, (d+1)·classes)."""

    gram: Array
    n_classes: int
    row: float  # what one free row adds to that of a level

    @property
    def masses(self) -> Array:
        """Those of the levels."""
        width = len(self.gram) // self.n_classes
        return np.asarray(self.gram.diagonal()[width - 1 :: width])

    @property
    def mass(self) -> float:
        return float(self.masses.max())

    @property
    def offset(self) -> Array:
        width = len(self.gram) // self.n_classes
        return np.asarray(self.gram[:, width - 1 :: width].sum(axis=1) / self.mass)

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> Array:
        matrix, right = self.gram.copy(), -slope
        width = len(matrix) // self.n_classes
        levels = np.arange(width - 1, len(matrix), width)
        penalised = np.setdiff1d(np.arange(len(matrix)), levels)
        matrix[penalised, penalised] += 1.0
        if fit_intercept:
            # All levels together change nothing; this keeps them from moving together.
            matrix[np.ix_(levels, levels)] += (self.mass or self.row) / self.n_classes
            # A level that no free row holds moves as if one did, until some row is met.
            matrix[levels, levels] += np.where(self.masses > 0, 0.0, self.row)
        else:
            matrix[levels, :], matrix[:, levels] = 0.0, 0.0
            matrix[levels, levels], right[levels] = 1.0, 0.0
        return solve_scaled(matrix, right)


@dataclass(frozen=True)
class SmoothedClasses:
    """Rows, their losses, and how near to `centre` multipliers are kept; see `plane.Smoothed`."""

    design: Design
    tube: ClassLosses
    fit_intercept: bool
    centre: Array | None = None
    nearness: float = 0.0

    squares = None  # its curvature is held as a matrix

    @property
    def _row(self) -> float:
        return float(self.tube.weight.mean()) / self.nearness

    def view(self, plane: Planes, *, curved: bool = True, gamma: Array | None = None) -> ClassView:
        n, classes = self.design.n_rows, self.tube.n_classes
        given, residual = gamma, np.empty((n, classes))
        alpha = np.zeros((n, classes)) if given is None else given
        known = given is None and self.centre is not None

        def statistic(block: Block) -> Sums:
            rows, losses = block.rows, self.tube[block.rows]
            r = losses.own - 1.0 - plane.intercept - block.x @ plane.coef.T
            residual[rows] = r
            if known:
                alpha[rows] = losses.multiplier(r, self.centre[rows], self.nearness)  # type: ignore[index]
            a = alpha[rows]
            beta = a * losses.weight[:, None]
            loss = losses.loss(r)
            sums = np.array([losses.total(loss), losses.total(loss - losses.gain(r, a))])
            pull = np.asarray(block.x.T @ beta, dtype=np.float64)
            parts = (pull, beta.sum(axis=0), np.abs(beta).sum(axis=0), sums)
            return (*parts, _gram(block, losses, a, plane.shift)) if curved else parts

        pull, total, size, sums, *rest = self.design.fold(statistic)
        level = -np.where(np.abs(total) > 1e-15 * size, total, 0.0) if self.fit_intercept else np.zeros(classes)
        slopes = np.column_stack([plane.coef - (pull - np.outer(plane.shift, total)).T, level])
        curvature = ClassMatrix(rest[0] / self.nearness, classes, self._row) if rest else None
        return ClassView(plane, residual, alpha, slopes.ravel(), curvature, float(sums[0]), float(sums[1]))

    def steepness(self, view: ClassView, step: Array, change: Array, share: float) -> float:
        """Slope along a step at a share of it; `change` is that of the scores."""
        alpha = self.tube.multiplier(view.residual - share * change, self.centre, self.nearness)  # type: ignore[arg-type]
        move = step.reshape(len(view.plane.coef), -1)[:, :-1]
        return float(np.sum((view.plane.coef + share * move) * move)) - self.tube.total(np.sum(alpha * change, axis=1))


def _gram(block: Block, losses: ClassLosses, alpha: Array, shift: Array) -> Array:
    """Σ over rows of weight·(diag(a) − a·aᵀ/Σa) ⊗ [x − shift, 1]ᵀ[x − shift, 1], a marking the free classes."""
    free = losses.free(alpha)
    rows = np.flatnonzero(free.sum(axis=1) > 1)
    free, weight = free[rows], losses.weight[rows]
    picked = block.x[rows]
    x = np.empty((len(rows), len(shift) + 1))
    np.subtract(picked if isinstance(picked, np.ndarray) else picked.toarray(), shift, out=x[:, :-1])
    x[:, -1] = 1.0
    share, width, classes = weight / free.sum(axis=1), len(shift) + 1, losses.n_classes
    out = np.zeros((classes, width, classes, width))
    for k in range(classes):
        for m in range(k, classes):
            both = np.flatnonzero(free[:, k] & free[:, m])
            size = -share[both] if m > k else weight[both] - share[both]
            product = x[both].T @ (x[both] * size[:, None])
            out[k, :, m] = product
            out[m, :, k] = product.T
    return out.reshape(classes * width, classes * width)
