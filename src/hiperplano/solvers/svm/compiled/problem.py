"""Data of a support vector machine with rows in memory, for compiled loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.loops.arrays import RowArrays, frozen, row_arrays
from hiperplano.linalg.row_span import RowSpan
from hiperplano.solvers.svm.compiled.normal_equations import Products, fewest_products
from hiperplano.solvers.svm.dual_losses import DualLoss
from hiperplano.solvers.svm.duality_gap import GAP_ROUNDING


@dataclass(frozen=True)
class LoopRows:
    """Rows, dense or CSR. With an intercept, dense rows are centred, so that level and coefficients hardly interact.

    Attributes
    ----------
    arrays : RowArrays
    shift : ndarray of shape (d,)
        Subtracted from each row.
    n_stored : float
        Mean number of stored entries in a row.
    """

    arrays: RowArrays
    shift: Array
    n_stored: float

    @classmethod
    def of(cls, design: InMemory, fit_intercept: bool) -> LoopRows:
        """Sparse rows as they are, dense ones centred if there is an intercept."""
        if design.is_sparse:
            shift = np.zeros(design.n_columns)
            return cls(design.loop_arrays(), shift, max(1.0, design.density * design.n_columns))
        return cls.dense(design.dense(), fit_intercept)

    @classmethod
    def dense(cls, x: Array, centred: bool) -> LoopRows:
        """Dense rows, centred if requested; bitwise the same for any memory order."""
        if not centred:
            return cls(row_arrays(x), np.zeros(x.shape[1]), float(x.shape[1]))
        rows = np.array(x, dtype=np.float64, order="C")
        shift = rows.mean(axis=0)
        rows -= shift
        return cls(row_arrays(rows), shift, float(x.shape[1]))

    @property
    def n_rows(self) -> int:
        return len(self.arrays[0]) if self.is_dense else len(self.arrays[2]) - 1

    @property
    def is_dense(self) -> bool:
        return self.arrays[0].ndim == 2

    @cached_property
    def span(self) -> LoopRows:
        """The rows in coordinates of their span, for all problems on them."""
        return LoopRows.dense(RowSpan(self.matrix).coordinates, False)

    @cached_property
    def n_pairs(self) -> float:
        """Number of pairs of stored numbers of sparse rows in the same column, each number with itself included."""
        in_column = np.bincount(self.arrays[1], minlength=len(self.shift))
        return float(in_column @ (in_column + 1.0)) / 2

    @cached_property
    def products(self) -> Products:
        """The products of sparse rows that a step of the interior point method factors."""
        return fewest_products((self.n_rows, len(self.shift)), *self.arrays[1:])

    @property
    def matrix(self) -> Any:
        """The rows as an array, or a CSR matrix, of float64."""
        if self.is_dense:
            return np.asarray(self.arrays[0], dtype=np.float64)
        return csr_array(self.arrays, shape=(self.n_rows, len(self.shift))).astype(np.float64, copy=False)


class Box(NamedTuple):
    """Parameters of the losses, of shape (n,) each, and half the width of the tube; see `box_loops`."""

    target: Array
    low: Array
    high: Array
    soft: Array
    weight: Array
    epsilon: float


class Control(NamedTuple):
    """Options of a fit.

    `floor` is an absolute gap for rounding errors, and `most` the limit of passes. `unit` is the unit of scores, and
    `bound` the largest γ, which is infinite for squared losses. `softness` is the curvature of a loss in its dual
    variable, or `unit` divided by `bound` for plain losses.
    """

    fit_intercept: bool
    tol: float
    floor: float
    most: int
    unit: float
    bound: float
    softness: float


class Found(NamedTuple):
    """A plane, β that prove its gap, and the number of passes.

    Attributes
    ----------
    coef : ndarray of shape (d + 1,)
        Coefficients, and the level after them.
    """

    coef: Array
    beta: Array
    objective: float
    gap: float
    passes: int


def dual_box(design: InMemory, loss: DualLoss) -> Box:
    """Targets, bounds and softness of the rows of a design with a vector "sign" for classification."""
    weight = design.collect(design.vector("weight")) if design.has_weight else np.ones(design.n_rows)
    if loss.classifies:
        target = design.collect(design.vector("sign")).astype(np.float64, copy=False)
        low, high = np.where(target > 0, loss.low, -loss.high), np.where(target > 0, loss.high, -loss.low)
    else:
        target = np.ascontiguousarray(design.collect(design.vector("y"))[:, 0], dtype=np.float64)
        low, high = np.full(len(target), loss.low), np.full(len(target), loss.high)
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    return Box(frozen(target), weight * low, weight * high, loss.ridge / weight, frozen(weight), loss.epsilon)


def control(box: Box, loss: DualLoss, fit_intercept: bool, tol: float, max_iter: int) -> Control:
    """Options of a fit, with the units of the problem."""
    size = np.abs(box.target)
    unit = float(box.weight @ size / box.weight.sum()) or 1.0
    outside = np.maximum(size - box.epsilon, 0.0)
    zero_loss = float(box.weight @ (outside**2 / (2 * loss.ridge) if loss.ridge else loss.high * outside))
    softness = loss.ridge or unit / loss.high
    return Control(fit_intercept, tol, GAP_ROUNDING * zero_loss, max_iter, unit, loss.high, softness)


def middle(box: Box) -> Array:
    """First dual variables: the middle of the bounds, or half the bound on the target's side if there is a tube.

    They are 0 if there is no bound.
    """
    if not np.isfinite(box.high).all() or not np.isfinite(box.low).all():
        return np.zeros(len(box.target))
    if box.epsilon:
        return 0.5 * np.where(box.target > 0, box.high, box.low)
    return 0.5 * (box.low + box.high)
