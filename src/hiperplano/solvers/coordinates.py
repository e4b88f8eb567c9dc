"""Coordinates in which the columns' units and offsets no longer matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums

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
        """From some rows of a design."""
        sample = design.take(rows)
        weight = np.ones(sample.shape[0]) if design.weight is None else design.weight[rows]
        share = weight / weight.sum() if weight.any() else np.full(len(weight), 1.0 / len(weight))
        mean = np.asarray(sample.T @ share, dtype=np.float64)
        if isinstance(sample, np.ndarray):
            spread = np.sqrt(np.square(sample - mean).T @ share)
        else:
            spread = np.sqrt(np.maximum(sample.multiply(sample).T @ share - mean**2, 0.0))
        unseen = spread <= 1e-12 * np.abs(mean)
        if unseen.any() and not isinstance(rows, slice):
            mean[unseen], spread[unseen] = _over_all_rows(design, np.flatnonzero(unseen))
        spread = np.where(spread > 1e-12 * np.abs(mean), spread, 0.0)
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

    def rows(self, block: Block) -> Array:
        """[1, (x − shift)·scale] of a block, as a fresh array."""
        out = np.empty((len(block), self.size))
        out[:, : self.level] = 1.0
        np.subtract(block.dense(), self.shift, out=out[:, self.level :])
        out[:, self.level :] *= self.scale
        return out

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


def _over_all_rows(design: Design, columns: Array) -> tuple[Array, Array]:
    """Mean and spread of columns that a sample shows constant."""
    weight = np.ones(design.n_rows) if design.weight is None else design.weight
    first = np.ravel(design.block(slice(0, 1)).dense())[columns].astype(np.float64)

    def statistic(block: Block) -> Sums:
        apart = block.dense()[:, columns] - first
        return weight[block.rows] @ apart, weight[block.rows] @ np.square(apart)

    sums, squares = design.fold(statistic)
    total = float(weight.sum())
    return first + sums / total, np.sqrt(np.maximum(squares / total - (sums / total) ** 2, 0.0))


def _inverse(spread: Array) -> Array:
    """One over the spread, one where the sample shows none."""
    return 1.0 / np.where(spread > 0, spread, 1.0)
