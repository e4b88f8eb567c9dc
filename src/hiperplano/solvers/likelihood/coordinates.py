"""Coordinates in which the columns' units and offsets no longer matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design
from hiperplano.solvers.spread import column_spread

_RESOLVED = 1e-6  # a spread of less than this share of the mean is looked at again
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
    """

    shift: Array
    scale: Array
    level: bool
    centring: bool

    @classmethod
    def of(cls, design: Design, rows: Array | slice, level: bool) -> Coordinates:
        """From some rows of a design, and from all of them for columns that these do not show well."""
        sample = design.take(rows)
        weight = np.ones(sample.shape[0]) if design.weight is None else design.weight[rows]
        share = weight / weight.sum() if weight.any() else np.full(len(weight), 1.0 / len(weight))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.asarray(sample.T @ share, dtype=np.float64)
            if isinstance(sample, np.ndarray):
                spread = np.sqrt(np.square(sample - mean).T @ share)
            else:
                spread = np.sqrt(np.maximum(sample.multiply(sample).T @ share - mean**2, 0.0))
        # Nothing seen in a sample, squares beyond the range of floats, or a difference of nearly equal squares.
        doubtful = np.flatnonzero(~((spread > _RESOLVED * np.abs(mean)) & np.isfinite(spread)))
        if len(doubtful):
            exact = column_spread(type(design)(design.x[:, doubtful], design.y, design.weight), centred=True)
            mean[doubtful], spread[doubtful] = exact.mean, exact.length / np.sqrt(exact.total)
        if not level:
            return cls(np.zeros_like(mean), _inverse(np.hypot(mean, spread)), level, centring=False)
        far = bool((np.abs(mean) > _FAR * spread)[spread > 0].any()) and isinstance(sample, np.ndarray)
        return cls(mean, _inverse(spread), level, centring=far)

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
        out = self.unscaled_rows(block)
        out[:, self.level :] *= self.scale
        return out

    @property
    def tame(self) -> bool:
        """Whether squares of columns in the units of the data are far from the ends of floats."""
        return bool((self.scale > 1e-60).all() and (self.scale < 1e60).all())

    def unscaled_rows(self, block: Block) -> Array:
        """[1, x − shift] of a block, as a fresh array; `scaled` brings a matrix of their products to `rows`."""
        out = np.empty((len(block), self.size))
        out[:, : self.level] = 1.0
        np.subtract(block.dense(), self.shift, out=out[:, self.level :])
        return out

    def scaled(self, products: Array) -> Array:
        """Σ w·v·vᵀ for v = [1, (x − shift)·scale], from that of v = [1, x − shift]."""
        unit = np.concatenate([np.ones(int(self.level)), self.scale])
        return np.asarray(products * unit[:, None] * unit)

    def scores(self, block: Block, theta: Array) -> tuple[Array, Array]:
        """The scores of a block's rows, of shape (m, scores), and the rows that `gradient` wants."""
        coef, intercept = self.coefficients(theta)
        if self.centring:
            rows = np.subtract(block.dense(), self.shift, dtype=np.float64)
            return rows @ coef.T + theta[:, 0], rows
        return block.x @ coef.T + intercept, block.x

    def gradient(self, sums: Array, totals: Array) -> Array:
        """From Σ slope·x, of shape (d, scores), and Σ slope, to the gradient in scaled coordinates."""
        inner = sums.T if self.centring else sums.T - np.outer(totals, self.shift)
        inner = inner * self.scale
        return np.column_stack([totals, inner]) if self.level else inner


def _inverse(spread: Array) -> Array:
    """One over the spread, one where the sample shows none."""
    return 1.0 / np.where(spread > 0, spread, 1.0)
