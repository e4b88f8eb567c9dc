"""Coordinates in which the columns' units and offsets no longer matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.spread import column_spread

_RESOLVED = 1e-6  # a spread of less than this share of the mean is looked at again
_NEAR = 10.0  # standard deviations of a mean
_NOTHING = 1e-12  # share of the squares of a column
_FAR = 1e3  # a mean of so many standard deviations costs digits when rows are not centred


@dataclass(frozen=True)
class Coordinates:
    """Scaled coefficients v and level b of a score: coef = scale·v, intercept = b − coef·shift.

    A vector of parameters is [b, v] with an intercept and v without; several scores stand in rows.

    Attributes
    ----------
    shift, scale : ndarray of shape (d,)
        Near the mean and one over the standard deviation of each column; shift is 0 without an intercept.
    level : bool
        Whether there is an intercept.
    centring : bool
        Whether rows must be centred before they are multiplied, for the sake of digits.
    constant : ndarray of int
        Columns that do not vary (without an intercept, that are 0): what rounding leaves of them is no column, and a
        coefficient that follows it would be beyond all measure.
    """

    shift: Array
    scale: Array
    level: bool
    centring: bool
    constant: Array

    @classmethod
    def of(cls, design: Design, sample: Design, level: bool) -> Coordinates:
        """From some rows of a design, and from all of them for columns that these do not show well."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = _moments(sample)
        # Nothing seen in a sample, squares beyond the range of floats, or a difference of nearly equal squares.
        doubtful = np.flatnonzero(~((spread > _RESOLVED * np.abs(mean)) & np.isfinite(spread)))
        if len(doubtful):
            exact = column_spread(type(design)(design.x[:, doubtful], design.y, design.weight), centred=True)
            mean[doubtful], spread[doubtful] = exact.mean, exact.length / np.sqrt(exact.total)
        if not level:
            size = np.hypot(mean, spread)
            return cls(np.zeros_like(mean), _inverse(size), level, centring=False, constant=np.flatnonzero(size == 0))
        far = bool((np.abs(mean) > _FAR * spread)[spread > 0].any()) and isinstance(design.x, np.ndarray)
        return cls(mean, _inverse(spread), level, centring=far, constant=np.flatnonzero(spread == 0))

    @property
    def size(self) -> int:
        """Parameters of one score."""
        return len(self.scale) + self.level

    def coefficients(self, theta: Array) -> tuple[Array, Array]:
        """(scores, d) coefficients and (scores,) intercepts in the units of the data."""
        coef = theta[:, self.level :] * self.scale
        return coef, (theta[:, 0] - coef @ self.shift) if self.level else np.zeros(len(theta))

    def matrix(self) -> Array:
        """The matrix from scaled parameters of one score to [intercept, coefficients] in the units of the data."""
        change = np.zeros((self.size, self.size))
        change[self.level :, self.level :] = np.diag(self.scale)
        if self.level:
            change[0, 0] = 1.0
            change[0, 1:] = -self.shift * self.scale
        return change

    def parameters(self, coef: Array, intercept: Array) -> Array:
        """The inverse of `coefficients`."""
        v = coef / self.scale
        return np.column_stack([intercept + coef @ self.shift, v]) if self.level else v

    def penalty(self, strength: Any) -> Array:
        """strength·scale², what a penalty on coefficients in the units of the data is on the scaled ones.

        `strength` may be one number or a column of them; a penalty beyond 1e150 fixes a coefficient at 0 as well.
        """
        return np.asarray(np.square(np.minimum(np.sqrt(strength) * self.scale, 1e75)))

    def rows(self, block: Block) -> Array:
        """[1, (x − shift)·scale] of a block, as a fresh array."""
        out = np.empty((len(block), self.size))
        out[:, : self.level] = 1.0
        np.subtract(block.dense(), self.shift, out=out[:, self.level :])
        out[:, self.level :] *= self.scale
        out[:, self.level + self.constant] = 0.0
        return out

    @property
    def tame(self) -> bool:
        """Whether squares of columns in the units of the data are far from the ends of floats."""
        return bool((self.scale > 1e-60).all() and (self.scale < 1e60).all())

    @property
    def near_origin(self) -> bool:
        """Whether products of rows may be centred after they were summed, at the price of two digits at most."""
        return bool((np.abs(self.shift) * self.scale).max(initial=0.0) <= _NEAR)

    def products(self, total: float, sums: Array, products: Array, origin: Array) -> Array:
        """Σ w·v·vᵀ for v = [1, (x − shift)·scale], from Σ w, Σ w·u and Σ w·u·uᵀ for u = x − shift + origin."""
        first = int(self.level)
        centred_sums = sums - total * origin
        out = np.empty((self.size, self.size))
        if self.level:
            out[0, 0] = total
            out[0, 1:] = out[1:, 0] = centred_sums * self.scale
            out[0, 1 + self.constant] = out[1 + self.constant, 0] = 0.0
        inner = out[first:, first:]
        np.subtract(products, origin[:, None] * sums, out=inner)
        inner -= centred_sums[:, None] * origin
        constant = inner.diagonal() <= _NOTHING * products.diagonal()  # what is left of such a column is rounding
        constant[self.constant] = True
        inner *= self.scale[:, None]
        inner *= self.scale
        if constant.any():
            inner[constant], inner[:, constant] = 0.0, 0.0
        return out

    def scorer(self, theta: Array) -> Callable[[Block], tuple[Array, Array]]:
        """A function that gives the scores of a block's rows, of shape (m, scores), and the rows `gradient` wants."""
        coef, intercept = self.coefficients(theta)
        weights, level = np.ascontiguousarray(coef), theta[:, 0] if self.centring else intercept

        def scores(block: Block) -> tuple[Array, Array]:
            rows = np.subtract(block.dense(), self.shift, dtype=np.float64) if self.centring else block.x
            # The scores of one class stand together in memory: what follows goes along rows, of which there are more.
            score = (weights @ rows.T).T
            score += level
            return score, rows

        return scores

    def gradient(self, sums: Array, totals: Array) -> Array:
        """From Σ slope·x, of shape (d, scores), and Σ slope, to the gradient in scaled coordinates."""
        inner = sums.T if self.centring else sums.T - np.outer(totals, self.shift)
        inner = inner * self.scale
        inner[:, self.constant] = 0.0
        return np.column_stack([totals, inner]) if self.level else inner


def _moments(sample: Design) -> tuple[Array, Array]:
    """Means and standard deviations of columns."""
    weight = sample.weight if sample.weight is not None and sample.weight.any() else np.ones(sample.n_rows)
    share = weight / weight.sum()
    (mean,) = sample.fold(lambda block: (share[block.rows] @ block.x,))
    mean = np.asarray(mean, dtype=np.float64)

    def squares(block: Block) -> Sums:
        if isinstance(block.x, np.ndarray):
            return (share[block.rows] @ np.square(block.x - mean),)
        return (share[block.rows] @ block.x.multiply(block.x) - share[block.rows].sum() * mean**2,)

    (square,) = sample.fold(squares)
    return mean, np.sqrt(np.maximum(square, 0.0))


def _inverse(spread: Array) -> Array:
    """One over the spread, one where the sample shows none."""
    return 1.0 / np.where(spread > 0, spread, 1.0)
