"""Newton steps of ½‖coef‖² + losses: how the curvature of the losses is stored and solved with.

With few columns it is a matrix. With many it stays as the rows it comes from: few of them are solved with
exactly in their own space, many by conjugate gradients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.statistics import SPARSE_PRODUCTS

_SINGULAR = 1e-16  # reciprocal condition, at unit diagonal, of a matrix that rounding has made singular
_EPS_SINGLE = float(np.finfo(np.float32).eps)
_HIDDEN = 1e-3  # share of the penalty that rounding in float32 may be
_MANY_COLUMNS = 128  # whose products cost more than a look at their lengths
_FEW_ROWS = 800
_GATHERED_SHARE = 0.5  # of the rows: up to it, and up to so many entries, free rows are brought together
_GATHERED_ENTRIES = 2**27
_MOST_STEPS = 500  # of conjugate gradients
_PRODUCT = 0.1  # of a pass of the ascent: what a product with the rows counts, less than half of the time that it takes
_COLUMN = 0.005  # the same for a column of a matrix of products, a tenth of its time: few steps need such a matrix
_ROUGH = 0.1  # share of the slope that conjugate gradients may leave


class Curvature(ABC):
    """Σ over free rows of weight·[x − shift, 1]ᵀ[x − shift, 1], for a plane's coefficients and level."""

    @property
    @abstractmethod
    def mass(self) -> float:
        """That of the level: the sum of the free rows' weights."""

    @property
    @abstractmethod
    def offset(self) -> Array:
        """Mean of the free rows, from the shift."""

    def balancing_cost(self, excess: Array) -> float:
        """What balancing dual variables whose sum is `excess` will cost, about: those of free rows are shifted."""
        if not excess.any():
            return 0.0
        if self.mass <= 0:
            return np.inf
        return 0.5 * float(excess @ excess) * (1.0 / self.mass + float(self.offset @ self.offset))

    @abstractmethod
    def step(self, slope: Array, fit_intercept: bool, enough: float) -> tuple[Array, float]:
        """Where the quadratic with this slope, this curvature and the penalty's has its minimum, of shape (d+1,).

        And what that took beside the pass for the curvature, in passes.

        Parameters
        ----------
        slope : ndarray of shape (d+1,)
            Of coefficients and level.
        enough : float
            Length of the remaining slope that need not be made smaller.
        """


@dataclass(frozen=True)
class MatrixCurvature(Curvature):
    """Held as a matrix of shape (d+1, d+1)."""

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
        matrix.flat[: last * (last + 2) : last + 2] += 1.0  # of the penalty, which leaves out the level
        if not fit_intercept or matrix[last, last] <= 0:
            matrix[last, :], matrix[:, last], matrix[last, last], right[last] = 0.0, 0.0, 1.0, 0.0
        return solve(matrix, right), _COLUMN * last


def rows_with_one(block: Block, shift: Array) -> Array:
    """[x − shift, 1] of every row, as a fresh array."""
    rows = np.empty((len(block), len(shift) + 1))
    np.subtract(block.dense(), shift, out=rows[:, :-1])
    rows[:, -1] = 1.0
    return rows


def rounds_well(rows: Array, softness: float) -> bool:
    """Whether products of weighted rows may be made in float32, in half of the time: a step needs few digits of them.

    It divides them by `softness` and adds a penalty of 1, which must hide what is rounded away.
    """
    if rows.shape[1] < _MANY_COLUMNS:
        return False
    longest = float(np.einsum("ij,ij->j", rows, rows).max(initial=0.0))
    return _EPS_SINGLE * longest <= _HIDDEN * softness


@dataclass(frozen=True)
class RowCurvature(Curvature):
    """Held as the rows themselves, with a vector "stiffness": their weights, 0 for those that are not free.

    Columns are not shifted. `squares` are the mean squares of the columns over all rows, by weight: they tell the size
    of each coefficient's curvature. `total` is the sum of "stiffness", and `n_free` the number of free rows.
    """

    design: Design
    squares: Array
    total: float
    n_free: int

    @property
    def mass(self) -> float:
        return self.total

    @cached_property
    def _rows(self) -> Design:
        """The free rows, or all where bringing them together would cost more than it saves."""
        entries = self.n_free * self.design.n_columns * self.design.density
        if self.n_free > _GATHERED_SHARE * self.design.n_rows or entries > _GATHERED_ENTRIES:
            return self.design
        return self._free_rows

    @cached_property
    def _free_rows(self) -> InMemory:
        return self.design.gather(self.design.map(_is_free))

    @cached_property
    def offset(self) -> Array:
        return self._rows.fold(_pull)[0] / self.mass

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> tuple[Array, float]:
        level = fit_intercept and self.n_free > 0
        if self.n_free <= min(_FEW_ROWS, len(slope)):
            return self._by_rows(slope, level), 0.0
        return self._by_conjugate_gradients(slope, level, enough)

    def _by_rows(self, slope: Array, level: bool) -> Array:
        """Exactly: with A the free rows and S their weights, (AAᵀ + 1/S)·m = level − A·slope, step = −slope − Aᵀm."""
        if not self.n_free:
            return np.append(-slope[:-1], 0.0)
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

    def _by_conjugate_gradients(self, slope: Array, level: bool, enough: float) -> tuple[Array, float]:
        """The level is eliminated: rows are taken from their mean."""
        mass, rows = self.mass, self._rows
        mean = self.offset if level else np.zeros(len(slope) - 1)

        def product(p: Array) -> Array:
            return np.asarray(p + rows.fold(_Product(p))[0] - mass * float(mean @ p) * mean)

        right = -slope[:-1] + (slope[-1] * mean if level else 0.0)
        inverse = partial(np.multiply, 1.0 / (1.0 + self.squares * mass))
        found = conjugate_gradient(
            product, right, atol=enough, rtol=_ROUGH, max_iter=_MOST_STEPS, preconditioner=inverse
        )
        coef = found.x
        rise = -slope[-1] / mass - float(mean @ coef) if level else 0.0
        return np.append(coef, rise), _PRODUCT * len(found.steps)


def _is_free(block: Block) -> Array:
    return np.asarray(block.vectors["stiffness"] > 0)


def _pull(block: Block) -> Sums:
    """Σ stiffness·x."""
    return (block.transpose_dot(block.vectors["stiffness"]),)


@dataclass(frozen=True)
class _Product:
    """Σ stiffness·x·(x·p)."""

    p: Array

    def __call__(self, block: Block) -> Sums:
        return (block.normal_dot(block.vectors["stiffness"], self.p)[0],)


def solve(matrix: Array, right: Array) -> Array:
    """The inverse of a positive definite matrix times `right`; its pseudo-inverse only where rounding leaves none."""
    return SymmetricSolver(matrix, _SINGULAR).solve(right)
