"""Location and scale of every column: standardised coordinates, independent of units and offsets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hiperplano.data.block import Array, Block, matrix_product, row_scores, scratch
from hiperplano.data.design import Design, Sums
from hiperplano.data.finite import LARGEST, SMALLEST

_EPS = float(np.finfo(float).eps)
_SAMPLE_CELLS = 2**21  # numbers in the sample for the estimates of locations and scales
_SHOWN = 100  # mean stored numbers per column for which a sample of sparse rows determines the scale
_RESOLVED = 1e-6  # columns with a spread below this share of their mean are measured again, on all rows
_FAR = 1e3  # rows are centred if a mean exceeds this number of standard deviations, since products would lose digits
_NEAR = 10.0  # products are centred after summation if no mean exceeds this number of standard deviations
_CANCELLED = 2**-20  # centred squares below this share of the raw ones have fewer than nine digits
_FEW_SCORES = 16  # scores of sparse rows are turned up to so many; with more, NumPy runs along them fast enough
_NOTHING = 1e-12  # centred squares below this share of the raw ones are rounding errors: the column is constant


@dataclass(frozen=True)
class ColumnScale:
    """Standardised columns z = (x − shift)·scale, and the parameters that belong to them.

    A parameter vector of one score is [level, v] with an intercept and v without: score = level + z·v. In the units of
    the data coef = scale·v and intercept = level − coef·shift. Several scores stand in rows of `theta`.

    Attributes
    ----------
    shift : ndarray of shape (d,)
        Near the mean of each column; 0 without an intercept.
    scale : ndarray of shape (d,)
        One over the standard deviation (without an intercept the root mean square); 1 for a constant column.
    constant : ndarray of bool of shape (d,)
        Constant columns (without an intercept, zero columns). Their standardised entries, which are only rounding
        errors, count as 0, and so do their coefficients.
    centre_rows : bool
        Whether dense rows must be centred before products, to keep digits.
    """

    shift: Array
    scale: Array
    constant: Array
    fit_intercept: bool
    centre_rows: bool = False

    @classmethod
    def exact(cls, design: Design, fit_intercept: bool) -> ColumnScale:
        """Compute from all rows, in one pass unless a mean is far from 0."""
        mean, spread = column_moments(design)
        return cls.of(mean, spread, fit_intercept, design.is_sparse)

    @classmethod
    def estimate(cls, design: Design, fit_intercept: bool, sample: Design | None = None) -> ColumnScale:
        """Estimate from a sample of dense rows, and from all rows for columns that the sample does not determine.

        Parameters
        ----------
        sample : Design, optional
            A sample that was already drawn.

        Returns
        -------
        ColumnScale
            Accurate enough for preconditioning.
        """
        if cls.is_exact(design, sample):
            return cls.exact(design, fit_intercept)
        sample = design.some_rows(_sample_rows(design)) if sample is None else sample
        mean, spread = column_moments(sample)
        doubtful = np.flatnonzero(~(spread > _RESOLVED * np.abs(mean)))
        if len(doubtful):
            mean[doubtful], spread[doubtful] = column_moments(design, doubtful)
        return cls.of(mean, spread, fit_intercept, design.is_sparse)

    @staticmethod
    def is_exact(design: Design, sample: Design | None = None) -> bool:
        """Whether `estimate` uses all rows, since few sparse rows say little about a column."""
        if sample is None:
            return design.is_sparse or design.n_rows <= _sample_rows(design)
        return design.is_sparse and sample.n_rows * design.density < _SHOWN

    @classmethod
    def of(cls, mean: Array, spread: Array, fit_intercept: bool, sparse: bool) -> ColumnScale:
        """Build from means and standard deviations.

        Parameters
        ----------
        sparse : bool
            Sparse rows are never centred.
        """
        if not fit_intercept:
            size = np.hypot(mean, spread)
            return cls(np.zeros_like(mean), _reciprocal(size), size == 0, False)
        far = not sparse and bool((np.abs(mean) > _FAR * spread)[spread > 0].any())
        return cls(mean, _reciprocal(spread), spread == 0, True, far)

    @property
    def size(self) -> int:
        """Number of parameters of one score."""
        return len(self.scale) + self.fit_intercept

    @property
    def in_range(self) -> bool:
        """Whether all columns are finite and within the range that validation accepts."""
        sizes = np.abs(self.shift) + np.where(self.constant, 0.0, 1.0 / self.scale)
        return bool((((sizes > SMALLEST) | (sizes == 0.0)) & (sizes < LARGEST)).all())

    def coefficients(self, theta: Array) -> tuple[Array, Array]:
        """(scores, d) coefficients and (scores,) intercepts in the units of the data, from standardised parameters."""
        coef = theta[:, self.fit_intercept :] * self.scale
        return coef, (theta[:, 0] - coef @ self.shift) if self.fit_intercept else np.zeros(len(theta))

    def parameters(self, coef: Array, intercept: Array) -> Array:
        """The inverse of `coefficients`."""
        v = coef / self.scale
        return np.column_stack([intercept + coef @ self.shift, v]) if self.fit_intercept else v

    def matrix(self) -> Array:
        """The matrix from standardised parameters of one score to [intercept, coefficients]."""
        change = np.zeros((self.size, self.size))
        change[self.fit_intercept :, self.fit_intercept :] = np.diag(self.scale)
        if self.fit_intercept:
            change[0, 0] = 1.0
            change[0, 1:] = -self.shift * self.scale
        return change

    def penalty(self, strength: Any) -> Array:
        """The penalty on standardised coefficients, strength·scale².

        It equals a penalty of `strength` on coefficients in the units of the data.
        """
        return np.asarray(strength * np.square(self.scale))

    def rows(self, block: Block, kept: bool = False) -> Array:
        """[1, z] of a block, or z without an intercept; temporary unless `kept`."""
        first, shape = int(self.fit_intercept), (len(block), self.size)
        out = np.empty(shape, order="F") if kept else scratch("standardised", shape, block.x)
        out[:, :first] = 1.0
        np.subtract(block.dense(), self.shift, out=out[:, first:])
        out[:, first:] *= self._visible
        return out

    def scores(self, theta: Array) -> LinearScores:
        """The scores of standardised parameters, as a function of blocks."""
        coef, intercept = self.coefficients(theta)
        if self.centre_rows:
            return LinearScores(np.ascontiguousarray(coef), theta[:, 0], self.shift)
        return LinearScores(np.ascontiguousarray(coef), intercept)

    def gradient(self, sums: Array, totals: Array) -> Array:
        """The gradient in standardised parameters, of shape (scores, size).

        Parameters
        ----------
        sums : ndarray of shape (d, scores)
            Σ slope·x, with rows as in `scores`.
        totals : ndarray of shape (scores,)
            Σ slope.
        """
        out = np.empty((len(totals), self.size))
        inner = out[:, self.fit_intercept :]
        if self.fit_intercept:
            out[:, 0] = totals
        if self.centre_rows:
            np.multiply(sums.T, self._visible, out=inner)
        else:
            np.multiply(totals[:, None], self.shift, out=inner)
            np.subtract(sums.T, inner, out=inner)
            inner *= self._visible
        return out

    @cached_property
    def _visible(self) -> Array:
        """The scale, and 0 for constant columns."""
        return np.where(self.constant, 0.0, self.scale)

    @property
    def origin(self) -> Array:
        """The point about which columns are multiplied.

        It is 0 if products can be centred after summation, at the cost of at most two digits; otherwise `shift`.
        """
        near = (np.abs(self.shift) * self.scale).max(initial=0.0) <= _NEAR
        return np.zeros_like(self.shift) if near else self.shift

    def products(self, total: float, sums: Array, products: Array, origin: Array) -> Array:
        """Σ w·v·vᵀ for v = [1, z], from Σ w, Σ w·u and Σ w·u·uᵀ for u = x − origin."""
        first = int(self.fit_intercept)
        left = self.shift - origin
        centred = sums - total * left
        out = np.empty((self.size, self.size))
        if first:
            out[0, 0] = total
            out[0, 1:] = out[1:, 0] = np.where(self.constant, 0.0, centred * self.scale)
        inner = out[first:, first:]
        np.subtract(products, left[:, None] * sums, out=inner)
        inner -= centred[:, None] * left
        constant = self.constant | (inner.diagonal() <= _NOTHING * products.diagonal())
        inner *= self.scale[:, None]
        inner *= self.scale
        if constant.any():
            inner[constant], inner[:, constant] = 0.0, 0.0
        return out


@dataclass(frozen=True)
class LinearScores:
    """x·coef + intercept of the rows of a block, or (x − shift)·coef + intercept if that keeps digits.

    Attributes
    ----------
    coef : ndarray of shape (scores, d)
    intercept : ndarray of shape (scores,)
    shift : ndarray of shape (d,) or None
    """

    coef: Array
    intercept: Array
    shift: Array | None = None

    def rows(self, block: Block) -> Any:
        """The rows of a block as used in products; read-only."""
        if self.shift is None:
            return block.x if block.is_sparse else block.doubles()
        return block.xp.subtract(block.dense(), self.shift, out=scratch("centred", block.x.shape, block.x))

    def of(self, rows: Any) -> Array:
        """The scores of such rows, of shape (m, scores).

        The scores of one of a few classes are contiguous in memory, because later operations run along the longer axis
        of rows.
        """
        score: Array
        if not isinstance(rows, np.ndarray):
            score = rows @ self.coef.T
            if len(self.coef) <= _FEW_SCORES:
                score = np.asfortranarray(score)
        elif self.coef.any():
            score = row_scores(rows, self.coef)
        else:  # zero parameters, at the start of minimisations
            score = np.zeros((len(self.coef), len(rows))).T
        score += self.intercept
        return score

    def __call__(self, block: Block) -> Array:
        """The scores of a block."""
        return self.of(self.rows(block))


def _sample_rows(design: Design) -> int:
    """Number of rows for an estimate."""
    return max(1, _SAMPLE_CELLS // max(1, design.n_columns))


def column_moments(design: Design, columns: Array | None = None) -> tuple[Array, Array]:
    """Weighted means and standard deviations of columns, with two more passes if digits would cancel in one.

    Parameters
    ----------
    columns : ndarray of int, optional
        Numbers of some columns; all of them by default.

    Returns
    -------
    mean, spread : ndarray of shape (columns,)
        The spread of a column that is constant up to rounding is 0.
    """
    total = design.total_weight
    sums, squares = design.fold(_Moments(columns))
    centred = squares - np.square(sums) / total
    mean, spread = sums / total, np.sqrt(np.maximum(centred, 0.0) / total)
    cancelled = np.flatnonzero(~(centred >= _CANCELLED * squares))
    if len(cancelled):
        again = cancelled if columns is None else columns[cancelled]
        mean[cancelled], spread[cancelled] = _moments_in_two_passes(design, again)
    return mean, spread


def _moments_in_two_passes(design: Design, columns: Array | None) -> tuple[Array, Array]:
    total = design.total_weight
    mean = design.fold(_ColumnSums(columns))[0] / total
    deviations, squares = design.fold(_Deviations(columns, mean))
    drift = deviations / total
    squares = squares - total * np.square(drift)
    rounding = total * np.square(4 * _EPS * mean)
    return mean + drift, np.sqrt(np.where(squares > rounding, squares, 0.0) / total)


@dataclass(frozen=True)
class _Moments:
    """Σ w·x and Σ w·x² of some columns, or of all."""

    stays_sparse = True
    columns: Array | None

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        if block.is_sparse:
            both = block.stored_moments(block.weights)
            return both if self.columns is None else tuple(each[self.columns] for each in both)
        part = _part(block, self.columns)
        x = part.doubles()
        if block.weight is None:
            return matrix_product(xp.ones(len(block)), x), xp.einsum("ij,ij->j", x, x)
        weighted = xp.multiply(x, block.weight[:, None], out=scratch("weighted", x.shape, x))
        return matrix_product(block.weight, x), xp.einsum("ij,ij->j", x, weighted)


@dataclass(frozen=True)
class _ColumnSums:
    """Σ w·x of some columns, or of all."""

    stays_sparse = True
    columns: Array | None

    def __call__(self, block: Block) -> Sums:
        return (_part(block, self.columns).transpose_dot(block.weights),)


@dataclass(frozen=True)
class _Deviations:
    """Σ w·(x − mean) and Σ w·(x − mean)² of some columns, or of all."""

    stays_sparse = True
    columns: Array | None
    mean: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        part, weight = _part(block, self.columns), block.weights
        if not part.is_sparse:
            apart = xp.subtract(part.x, self.mean, out=scratch("apart", part.x.shape, part.x))
            sums = matrix_product(weight, apart)
            return sums, matrix_product(weight, xp.square(apart, out=apart))
        where, d = part.x.indices.astype(np.intp, copy=False), len(self.mean)
        apart = part.x.data - self.mean[where]
        counts = stored = np.bincount(where, minlength=d)
        weighted = apart
        if block.weight is not None:
            of_entry = np.repeat(weight, np.diff(part.x.indptr))
            stored, weighted = np.bincount(where, of_entry, d), of_entry * apart
        # Entries that are not stored are zeros. If all are stored, a difference of sums would leave rounding errors.
        missing = xp.where(counts == len(block), 0.0, weight.sum() - stored)
        return (
            np.bincount(where, weighted, d) - missing * self.mean,
            np.bincount(where, weighted * apart, d) + missing * xp.square(self.mean),
        )


def _part(block: Block, columns: Array | None) -> Block:
    return block if columns is None else block.columns(columns)


def _reciprocal(spread: Array) -> Array:
    return 1.0 / np.where(spread == 0, 1.0, spread)  # NaN is kept, and detected later
