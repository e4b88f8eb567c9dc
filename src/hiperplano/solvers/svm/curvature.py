"""Newton steps for ½‖coef‖² + losses: how the Hessian of the losses is stored, and how its equations are solved.

With few columns it is a matrix. With many, only the rows are stored, and steps are computed by conjugate gradients. If
these would take longer, products of all pairs of free rows or of columns are computed, and the step is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums, reads_vectors_only
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.linalg.memory import memory_limit
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.statistics import SPARSE_PRODUCTS

_SINGULAR = 1e-16  # reciprocal condition number, with unit diagonal, below which a matrix counts as singular
_EPS_SINGLE = float(np.finfo(np.float32).eps)
# The Hessian is computed in float32 if
_MANY_COLUMNS = 128  # there are at least so many columns,
_MOST_SINGLE = 1e30  # no column has a larger sum of squares, which could overflow,
_HIDDEN = 1e-3  # and rounding is at most this share of the penalty
_GATHERED_SHARE = 0.5  # free rows are copied together if they are at most this share of all rows,
_GATHERED_ENTRIES = 2**27  # and have no more numbers than these
_MOST_STEPS = 500  # most steps of conjugate gradients
PRODUCT = 0.1  # passes that are counted for a product with all rows, which takes more than 0.2 passes
_COLUMN = 0.005  # passes that are counted for each column of a Hessian, a tenth of its time
ROUGH = 0.1  # relative residual of conjugate gradients


class Curvature(ABC):
    """Σ over free rows of weight·[x − shift, 1]ᵀ[x − shift, 1], for a plane's coefficients and level."""

    @property
    @abstractmethod
    def mass(self) -> float:
        """Curvature of the level: the sum of the free rows' weights."""

    @property
    @abstractmethod
    def offset(self) -> Array:
        """Mean of the free rows, relative to the shift."""

    def balancing_cost(self, excess: Array) -> float:
        """Approximate cost of balancing dual variables with sum `excess`, by a shift of those of free rows."""
        if not excess.any():
            return 0.0
        if self.mass <= 0:
            return np.inf
        return 0.5 * float(excess @ excess) * (1.0 / self.mass + float(self.offset @ self.offset))

    @abstractmethod
    def step(self, slope: Array, fit_intercept: bool, enough: float) -> tuple[Array, float]:
        """Newton step: the minimum of the quadratic with this gradient, this curvature and that of the penalty.

        Parameters
        ----------
        slope : ndarray of shape (d+1,)
            Gradient in coefficients and level.
        fit_intercept : bool
        enough : float
            Norm of the residual that is small enough.

        Returns
        -------
        step : ndarray of shape (d+1,)
        passes : float
            Its cost, in addition to the pass for the curvature.
        """


@dataclass(frozen=True)
class MatrixCurvature(Curvature):
    """Curvature stored as a matrix of shape (d+1, d+1)."""

    gram: Array

    @property
    def mass(self) -> float:
        return float(self.gram[-1, -1])

    @property
    def offset(self) -> Array:
        return np.asarray(self.gram[:-1, -1] / self.mass)

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> tuple[Array, float]:
        matrix, right = self.gram.copy(), -slope
        last = len(matrix) - 1
        matrix.flat[: last * (last + 2) : last + 2] += 1.0  # from the penalty, which does not include the level
        if not fit_intercept or matrix[last, last] <= 0:
            matrix[last, :], matrix[:, last], matrix[last, last], right[last] = 0.0, 0.0, 1.0, 0.0
        return solve(matrix, right), _COLUMN * last


def rows_with_one(block: Block, shift: Array) -> Array:
    """[x − shift, 1] of every row, as a new array."""
    rows = np.empty((len(block), len(shift) + 1))
    np.subtract(block.dense(), shift, out=rows[:, :-1])
    rows[:, -1] = 1.0
    return rows


def rounds_well(rows: Array, softness: float) -> bool:
    """Whether products of weighted rows may be computed in float32, which takes half the time.

    A step divides them by `softness` and adds a penalty of 1. Rounding errors must be small relative to the penalty.
    """
    if rows.shape[1] < _MANY_COLUMNS:
        return False
    longest = float(np.einsum("ij,ij->j", rows, rows).max(initial=0.0))
    return longest <= _MOST_SINGLE and _EPS_SINGLE * longest <= _HIDDEN * softness


@dataclass(frozen=True)
class RowCurvature(Curvature):
    """Curvature stored as rows with a vector "stiffness": their weights, or 0 if they are not free.

    Columns are not shifted. `total` is the sum of "stiffness", and `n_free` the number of free rows.
    """

    design: Design
    total: float
    n_free: int

    @property
    def mass(self) -> float:
        return self.total

    @cached_property
    def _rows(self) -> Design:
        """The free rows, or all rows if copying the free ones would cost more than it saves."""
        entries = self.n_free * self.design.n_columns * self.design.density
        if self.n_free > _GATHERED_SHARE * self.design.n_rows or entries > _GATHERED_ENTRIES:
            return self.design
        return self._free_rows

    @cached_property
    def _free_rows(self) -> InMemory:
        return self.design.gather(self.design.map(_is_free))

    @cached_property
    def _moments(self) -> Sums:
        return self._rows.fold(_Moments())

    @property
    def offset(self) -> Array:
        return self._moments[0] / self.mass

    @cached_property
    def _costs(self) -> Costs:
        return Costs(self.n_free, self.design.n_columns, self.design.density, 1)

    @property
    def _by_columns(self) -> bool:
        """Whether products of all pairs of columns take less time than those of all pairs of free rows."""
        return self._costs.hessian < self._costs.row_products

    @property
    def _exact(self) -> float:
        """Cost of an exact step, in steps of conjugate gradients; infinite if it does not fit in memory."""
        d, costs = self.design.n_columns, self._costs
        cells = float(d) ** 2 if self._by_columns else float(self.n_free) * max(self.n_free, d)
        if 16.0 * cells > memory_limit():
            return np.inf
        return min(costs.hessian, costs.row_products) / costs.square_product

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> tuple[Array, float]:
        """Newton step by conjugate gradients, or exactly once these have taken as long as an exact step would."""
        level = fit_intercept and self.n_free > 0
        if not self.n_free:
            return np.append(-slope[:-1], 0.0), 0.0
        exact = self._exact
        product = PRODUCT * self._rows.n_rows / self.design.n_rows
        found, taken = self._by_conjugate_gradients(slope, level, enough, exact)
        if found is not None:
            return found, product * taken
        step = self._with_columns(slope, level) if self._by_columns else self._with_rows(slope, level)
        return step, product * (taken + exact)

    def _with_rows(self, slope: Array, level: bool) -> Array:
        """Exact step: with free rows A and weights S, (AAᵀ + 1/S)·m = level − A·slope, step = −slope − Aᵀm."""
        rows = self._free_rows
        stays_sparse = rows.is_sparse and rows.density < SPARSE_PRODUCTS
        a: Any = rows.arrays()[0].astype(np.float64, copy=False) if stays_sparse else rows.dense()
        products = a @ a.T
        matrix = products.toarray() if stays_sparse else products
        matrix.flat[:: len(matrix) + 1] += 1.0 / rows.collect(rows.vector("stiffness"))
        right = np.column_stack([a @ slope[:-1], np.ones(len(matrix))])
        pull, ones = solve(matrix, right).T
        rise = (pull.sum() - slope[-1]) / ones.sum() if level else 0.0
        return np.append(-slope[:-1] - (rise * ones - pull) @ a, rise)

    def _with_columns(self, slope: Array, level: bool) -> Array:
        """Exact step, from Aᵀ·S·A."""
        gram = np.empty((len(slope), len(slope)))
        gram[:-1, :-1] = self._rows.fold(_Gram())[0]
        gram[-1, :-1] = gram[:-1, -1] = self._moments[0]
        gram[-1, -1] = self.mass
        return MatrixCurvature(gram).step(slope, level, 0.0)[0]

    def _by_conjugate_gradients(
        self, slope: Array, level: bool, enough: float, exact: float
    ) -> tuple[Array | None, int]:
        """Approximate step, or None if it takes too many steps of conjugate gradients; and their number.

        The level is eliminated, which centres the rows.
        """
        mass, rows = self.mass, self._rows
        mean = self.offset if level else np.zeros(len(slope) - 1)
        most = int(min(_MOST_STEPS, exact))

        def product(p: Array) -> Array:
            return np.asarray(p + rows.fold(_Product(p))[0] - mass * float(mean @ p) * mean)

        right = -slope[:-1] + (slope[-1] * mean if level else 0.0)
        inverse = partial(np.multiply, 1.0 / (1.0 + self._moments[1]))
        found = conjugate_gradient(
            product, right, atol=enough, rtol=ROUGH, max_iter=most, preconditioner=inverse, trial=most < _MOST_STEPS
        )
        taken = len(found.steps)
        if most < _MOST_STEPS and (found.given_up or taken == most):
            return None, taken
        coef = found.x
        rise = -slope[-1] / mass - float(mean @ coef) if level else 0.0
        return np.append(coef, rise), taken


@reads_vectors_only
def _is_free(block: Block) -> Array:
    return np.asarray(block.vectors["stiffness"] > 0)


@dataclass(frozen=True)
class _Moments:
    """Σ stiffness·x and Σ stiffness·x²."""

    stays_sparse = True

    def __call__(self, block: Block) -> Sums:
        stiffness = block.vectors["stiffness"]
        if block.is_sparse:
            return block.stored_moments(stiffness)
        return block.transpose_dot(stiffness), block.squared().transpose_dot(stiffness)


@dataclass(frozen=True)
class _Product:
    """Σ stiffness·x·(x·p)."""

    stays_sparse = True
    p: Array

    def __call__(self, block: Block) -> Sums:
        return (block.normal_dot(block.vectors["stiffness"], self.p)[0],)


@dataclass(frozen=True)
class _Gram:
    """Σ stiffness·x·xᵀ."""

    stays_sparse = sums_squares = True

    def __call__(self, block: Block) -> Sums:
        return (block.weighted_products(block.vectors["stiffness"]),)


def solve(matrix: Array, right: Array) -> Array:
    """The inverse of a positive definite matrix times `right`; the pseudo-inverse if it is singular up to rounding."""
    return SymmetricSolver(matrix, _SINGULAR).solve(right)
