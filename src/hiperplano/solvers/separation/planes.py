"""Planes in standardised columns, where tolerances are comparable, and their scores on rows.

A plane is a vector [v, level]: a slope for each column that varies, then the level if it has an intercept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design
from hiperplano.data.in_memory import InMemory

EPS = float(np.finfo(float).eps)


def n_coordinates(scale: ColumnScale) -> int:
    """Number of coordinates of a plane."""
    return int((~scale.constant).sum()) + int(scale.fit_intercept)


def to_data_units(scale: ColumnScale, plane: Array) -> tuple[Array, float]:
    """Coefficients and intercept of a plane, in the units of the data."""
    varying = ~scale.constant
    slopes = plane[: len(plane) - scale.fit_intercept]
    coef = np.zeros(len(scale.scale))
    coef[varying] = slopes * scale.scale[varying]
    if not scale.fit_intercept:
        return coef, 0.0
    shift = coef * scale.shift
    intercept = float(plane[-1] - shift.sum())
    # An intercept that is only a rounding error of the shift is set to 0, so that the plane passes through the origin.
    if abs(intercept) <= 8 * EPS * (abs(float(plane[-1])) + float(np.abs(shift).sum())):
        intercept = 0.0
    return coef, intercept


def spread(scale: ColumnScale) -> Array:
    """Standard deviation of every column, 0 for constant ones."""
    return np.where(scale.constant, 0.0, 1.0 / scale.scale)


def resolution(scale: ColumnScale, coef: Array, share: float) -> float:
    """Scores up to this count as zero: a share of the sum of the plane's coefficients times the columns' spread."""
    return float(share * np.abs(coef) @ spread(scale))


def rows_at(design: Design, positions: Array) -> InMemory:
    """Rows at some positions, in their order, in memory."""
    mask = np.zeros(design.n_rows, dtype=bool)
    mask[positions] = True
    return design.gather(design.with_vectors(chosen=mask).vector("chosen"))


def targets(design: Design) -> Array:
    """Targets, −1 and +1, of all rows."""
    return design.collect(design.vector("y"))[:, 0]


def signed_rows(rows: InMemory, scale: ColumnScale) -> Array:
    """y·(z, 1) of few rows, dense; without the 1 if planes have no intercept."""
    return rows.collect(rows.map(_SignedRows(scale)))


def signed_scores(design: Design, coef: Array, intercept: float) -> tuple[Array, Array]:
    """y·(x·coef + intercept) of every row, and a bound of its rounding error."""
    both = design.collect(design.map(_SignedScores(coef, intercept)))
    return both[:, 0], (len(coef) + 8) * EPS * both[:, 1]


def signed_products(design: Design, scale: ColumnScale, planes: Array) -> Array:
    """y·score of every row for the planes in the columns of a matrix, without error bounds."""
    converted = [to_data_units(scale, plane) for plane in planes.T]
    coef = np.column_stack([coef for coef, _ in converted])
    level = np.array([intercept for _, intercept in converted])
    return design.collect(design.map(_SignedProducts(coef, level)))


@dataclass(frozen=True)
class _SignedRows:
    scale: ColumnScale

    def __call__(self, block: Block) -> Array:
        rows = self.scale.rows(block)
        first = int(self.scale.fit_intercept)
        out = np.hstack([rows[:, first:][:, ~self.scale.constant], rows[:, :first]])
        out *= block.y
        return out


@dataclass(frozen=True)
class _SignedScores:
    coef: Array
    intercept: float

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        score = block.y[:, 0] * (block.dot(self.coef) + self.intercept)
        return np.column_stack([score, block.absolute().dot(xp.abs(self.coef)) + abs(self.intercept)])


@dataclass(frozen=True)
class _SignedProducts:
    coef: Array
    level: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray((block.dot(self.coef) + self.level) * block.y)
