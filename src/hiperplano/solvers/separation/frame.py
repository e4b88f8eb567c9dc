"""Columns measured from their mean and in units of their spread: where tolerances have one meaning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Frame:
    """z = (x − centre)/spread, followed by a 1 if the plane has an intercept.

    Attributes
    ----------
    centre, spread : ndarray of shape (d,)
        Mean and standard deviation; without intercept zeros and the root mean square.
    varying : ndarray of int
        Columns with a spread above their rounding; only they have coordinates.
    level : bool
        Whether the plane has an intercept.
    """

    centre: Array
    spread: Array
    varying: Array
    level: bool

    @classmethod
    def of(cls, design: Design, fit_intercept: bool) -> Frame:
        n, d = design.n_rows, design.n_columns
        centre = np.zeros(d)
        if fit_intercept:
            (total,) = design.fold(lambda block: (np.asarray(block.x.sum(axis=0, dtype=np.float64)).ravel(),))
            centre = total / n
        # Per row, so that the sum of squares of numbers near 1e150 stays finite.
        (mean_square,) = design.fold(lambda block: (_squares_about(block, centre) / n,))
        spread = np.sqrt(mean_square)
        spread[spread <= 4 * _EPS * np.abs(centre)] = 0.0
        return cls(centre, spread, np.flatnonzero(spread), fit_intercept)

    @property
    def size(self) -> int:
        """Coordinates of a plane."""
        return len(self.varying) + self.level

    def signed_rows(self, design: Design, rows: Array) -> Array:
        """y·z for some rows, dense."""
        taken = design.take(rows)
        taken = taken if isinstance(taken, np.ndarray) else taken.toarray()
        out = np.ones((len(rows), self.size))
        v = self.varying
        out[:, : len(v)] = (taken[:, v].astype(np.float64) - self.centre[v]) / self.spread[v]
        out *= design.y[rows]
        return out

    def plane(self, v: Array) -> tuple[Array, float]:
        """Coefficients and intercept, in units of the data, of a plane in these coordinates."""
        k = len(self.varying)
        coef = np.zeros(len(self.centre))
        coef[self.varying] = v[:k] / self.spread[self.varying]
        if not self.level:
            return coef, 0.0
        shift = coef * self.centre
        intercept = float(v[k] - shift.sum())
        # A plane through the origin of the data should say so: what is left of a cancellation is no number.
        if abs(intercept) <= 8 * _EPS * (abs(float(v[k])) + float(np.abs(shift).sum())):
            intercept = 0.0
        return coef, intercept

    def resolution(self, coef: Array, share: float) -> float:
        """The score that counts as zero: a share of what one spread of every column adds up to."""
        return float(share * np.abs(coef) @ self.spread)


def _squares_about(block: Block, centre: Array) -> Array:
    if isinstance(block.x, np.ndarray):
        away = block.x - centre
        return np.asarray(np.einsum("ij,ij->j", away, away))
    indices, d = block.x.indices, block.x.shape[1]
    away = block.x.data - centre[indices]
    stored = np.bincount(indices, minlength=d)
    return np.asarray(np.bincount(indices, weights=away**2, minlength=d) + (len(block) - stored) * centre**2)


def signed_scores(design: Design, coef: Array, intercept: float) -> tuple[Array, Array]:
    """y·(x·coef + intercept) of every row, and a bound of its rounding error."""
    size = np.abs(coef)

    def both(block: Block) -> Array:
        score = block.y[:, 0] * (block.x @ coef + intercept)
        return np.column_stack([score, np.abs(block.x) @ size + abs(intercept)])

    out = design.map_rows(both, np.empty((design.n_rows, 2)))
    return out[:, 0], (len(coef) + 8) * _EPS * out[:, 1]


def signed_products(design: Design, frame: Frame, directions: Array) -> Array:
    """y·z·direction of every row for the columns of `directions`; without a bound, so cheaper."""
    planes = [frame.plane(direction) for direction in directions.T]
    coef = np.column_stack([coef for coef, _ in planes])
    level = np.array([intercept for _, intercept in planes])

    def products(block: Block) -> Array:
        return np.asarray((block.x @ coef + level) * block.y)

    return design.map_rows(products, np.empty((design.n_rows, len(planes))))
