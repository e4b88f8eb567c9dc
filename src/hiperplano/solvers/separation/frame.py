"""Columns measured from their mean and in units of their spread: where tolerances have one meaning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from hiperplano.data.design import Array, Block, Design
from hiperplano.errors import NotAvailable
from hiperplano.solvers.spread import column_spread
from hiperplano.solvers.statistics import largest

_EPS = float(np.finfo(float).eps)
_HUGE = 2.0**960  # sums over rows may leave the range of floats from here on, so that columns are measured in
_SHRINK = 2.0**-64  # units that keep them inside


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
        alike = design.with_target(design.y, None)  # weights do not move a plane
        huge = largest(alike) > _HUGE
        unit = np.where(huge, _SHRINK, 1.0)
        if huge.any():
            shrunk = alike.x * unit if isinstance(alike.x, np.ndarray) else csr_array(alike.x.multiply(unit[None, :]))
            alike = type(alike)(shrunk, alike.y)
        found = column_spread(alike, fit_intercept)
        spread = found.length / np.sqrt(design.n_rows) / unit
        return cls(found.mean / unit, spread, np.flatnonzero(spread), fit_intercept)

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
        unit = np.where(self.spread[v] > _HUGE, 0.25, 1.0)  # a difference may lie beyond what it is divided by
        apart = taken[:, v].astype(np.float64) * unit - self.centre[v] * unit
        out[:, : len(v)] = apart / (self.spread[v] * unit)
        out *= design.y[rows]
        return out

    def plane(self, v: Array) -> tuple[Array, float]:
        """Coefficients and intercept, in units of the data, of a plane in these coordinates."""
        k = len(self.varying)
        coef = np.zeros(len(self.centre))
        with np.errstate(over="ignore"):
            coef[self.varying] = v[:k] / self.spread[self.varying]
        if not np.isfinite(coef).all():
            least = float(self.spread[~np.isfinite(coef)].min())
            raise NotAvailable(
                f"separability: a column spreads by {least:.1e} only, so the coefficients of a plane are beyond the "
                "range of floats. Multiply the column by a power of ten."
            )
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
