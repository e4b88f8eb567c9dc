"""Newton steps of ½‖coef‖² + losses: how the curvature of the losses is held, and how it is solved with.

With few columns it is a matrix. With many it stays as the rows it comes from: few of them are solved with
exactly in their own space, many by conjugate gradients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_reduce, worker_count
from hiperplano.linalg.triangular import inverse_root

_RIDGES = (0.0, 1e-14, 1e-11, 1e-8)  # tried in turn where rounding makes a matrix indefinite
_FEW_ROWS = 800
_MOST_STEPS = 500  # of conjugate gradients
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

    @abstractmethod
    def step(self, slope: Array, fit_intercept: bool, enough: float) -> Array:
        """Where the quadratic with this slope, this curvature and the penalty's has its minimum.

        Parameters
        ----------
        slope : ndarray of shape (d+1,)
            Of coefficients and level.
        enough : float
            Length of the remaining slope that need not be made smaller.
        """


@dataclass(frozen=True)
class Matrix(Curvature):
    """Held as a matrix of shape (d+1, d+1)."""

    gram: Array

    @property
    def mass(self) -> float:
        return float(self.gram[-1, -1])

    @property
    def offset(self) -> Array:
        return np.asarray(self.gram[:-1, -1] / self.mass)

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> Array:
        matrix, right = self.gram.copy(), -slope
        last = len(matrix) - 1
        matrix.flat[: last * (last + 2) : last + 2] += 1.0  # of the penalty, which leaves out the level
        if not fit_intercept or matrix[last, last] <= 0:
            matrix[last, :], matrix[:, last], matrix[last, last], right[last] = 0.0, 0.0, 1.0, 0.0
        return solve_scaled(matrix, right)


@dataclass(frozen=True)
class Rows(Curvature):
    """Held as blocks of rows with their weights, 0 for rows that are not free; columns are not shifted.

    `squares` are those of the columns over all rows, by weight: they tell the size of each coefficient's curvature.
    """

    blocks: list[tuple[Any, Array]]
    squares: Array
    total: float

    @cached_property
    def mass(self) -> float:
        return float(sum(weight.sum() for _, weight in self.blocks))

    @cached_property
    def offset(self) -> Array:
        return self._sum(lambda x, weight: x.T @ weight) / self.mass

    def _sum(self, function: Callable[[Any, Array], Array]) -> Array:
        """Over blocks, in threads, added in their order."""
        total = ordered_reduce(lambda block: function(*block), self.blocks, np.add, worker_count())
        return np.asarray(total, dtype=np.float64)

    def step(self, slope: Array, fit_intercept: bool, enough: float) -> Array:
        free = sum(int(np.count_nonzero(weight)) for _, weight in self.blocks)
        level = fit_intercept and free > 0
        if free <= min(_FEW_ROWS, len(slope)):
            return self._by_rows(slope, level)
        return self._by_conjugate_gradients(slope, level, enough)

    def _by_rows(self, slope: Array, level: bool) -> Array:
        """Exactly: with A the free rows and S their weights, (AAᵀ + 1/S)·m = level − A·slope, step = −slope − Aᵀm."""
        picked = [(x[weight > 0], weight[weight > 0]) for x, weight in self.blocks]
        a = np.concatenate([x if isinstance(x, np.ndarray) else x.toarray() for x, _ in picked]).astype(np.float64)
        if not len(a):
            return np.append(-slope[:-1], 0.0)
        matrix = a @ a.T
        matrix.flat[:: len(a) + 1] += 1.0 / np.concatenate([weight for _, weight in picked])
        right = np.column_stack([a @ slope[:-1], np.ones(len(a))])
        pull, ones = solve_scaled(matrix, right).T
        rise = (pull.sum() - slope[-1]) / ones.sum() if level else 0.0
        return np.append(-slope[:-1] - (rise * ones - pull) @ a, rise)

    def _by_conjugate_gradients(self, slope: Array, level: bool, enough: float) -> Array:
        """The level is eliminated: rows are taken from their mean."""
        mass = self.mass
        mean = self.offset if level else np.zeros(len(slope) - 1)
        scale = 1.0 / (1.0 + self.squares * (mass / self.total))

        def product(p: Array) -> Array:
            at_mean = float(mean @ p)
            inner = self._sum(lambda x, weight: x.T @ (weight * (x @ p)))
            return np.asarray(p + inner - mass * at_mean * mean)

        right = -slope[:-1] + (slope[-1] * mean if level else 0.0)
        coef = conjugate_gradients(product, right, scale, enough)
        rise = -slope[-1] / mass - float(mean @ coef) if level else 0.0
        return np.append(coef, rise)


def conjugate_gradients(product: Callable[[Array], Array], right: Array, scale: Array, enough: float) -> Array:
    """Solve roughly: until the residual is short, or shorter than `enough`."""
    answer, residual = np.zeros_like(right), right.copy()
    direction = scale * residual
    size = start = float(residual @ direction)
    for _ in range(_MOST_STEPS):
        if size <= _ROUGH**2 * start or float(residual @ residual) <= enough**2:
            break
        image = product(direction)
        share = size / float(direction @ image)
        answer += share * direction
        residual -= share * image
        image = scale * residual
        size, before = float(residual @ image), size
        direction = image + (size / before) * direction
    return answer


def solve_scaled(matrix: Array, right: Array) -> Array:
    """Solve with a positive definite matrix, brought to a diagonal of ones.

    So coordinates of any size are solved for with the same relative accuracy. The matrix is written to.
    """
    scale = inverse_root(matrix.diagonal())
    matrix *= scale[:, None] * scale
    scaled = right * (scale if right.ndim == 1 else scale[:, None])
    for ridge in _RIDGES:
        try:
            factor = cho_factor(matrix + ridge * np.eye(len(matrix)), check_finite=False)
        except LinAlgError:
            continue
        scaled = cho_solve(factor, scaled, check_finite=False)
        break
    return np.asarray(scaled * (scale if right.ndim == 1 else scale[:, None]))
