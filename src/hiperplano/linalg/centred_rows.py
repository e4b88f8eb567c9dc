"""Few rows in memory, weighted and centred: dense, or sparse with the means stored separately."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms

from hiperplano.data.block import transposed
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design
from hiperplano.linalg.products import row_products
from hiperplano.linalg.triangular import reciprocal

_ALIKE = 0.1  # least mean squared norm of the columns, as a share of the largest, for columns of similar norm
_EQUAL = 1e-14  # relative difference of inner products of equal rows, whose weights are rounded
_CANCELLED = 1e-3  # share of the squares left after centring, below which products of sparse rows lose too many digits


@dataclass(frozen=True)
class CentredRows:
    """Rows multiplied by the square roots of their weights, minus their weighted means.

    Attributes
    ----------
    x : ndarray or csr_array of shape (n, d)
        The rows. Dense rows are centred; sparse ones are not, to keep them sparse.
    length : ndarray of shape (d,)
        Norms of the centred columns; 0 for constant ones.
    right : ndarray of shape (n, targets)
        Weighted, centred targets.
    mean, target_mean : ndarray of shape (d,) and (targets,)
        Zeros without intercept.
    root : ndarray of shape (n, 1)
        Square roots of the weights.
    """

    x: Any
    length: Array
    right: Array
    mean: Array
    target_mean: Array
    root: Array

    @property
    def is_sparse(self) -> bool:
        """Whether only some entries of `x` are stored."""
        return bool(issparse(self.x))

    @cached_property
    def unit(self) -> Array:
        """Dense rows with columns at unit norm."""
        return np.asarray(self.x * reciprocal(self.length))

    @cached_property
    def squares(self) -> Array:
        """Squared norms of the centred rows, of shape (n,)."""
        if not self.is_sparse:
            return np.asarray(np.einsum("ij,ij->i", self.x, self.x))
        return np.maximum(self._raw_squares - 2 * self._along + self._middle, 0.0)

    @property
    def unit_squares(self) -> Array:
        """Squared norms of the centred rows with columns at unit length, of shape (n,)."""
        unit = np.square(reciprocal(self.length))
        if not self.is_sparse:
            return np.asarray(np.square(self.x) @ unit)
        root, weighted = self.root[:, 0], unit * self.mean
        raw = self.x.multiply(self.x) @ unit
        return np.maximum(raw - 2 * root * (self.x @ weighted) + np.square(root) * float(self.mean @ weighted), 0.0)

    @cached_property
    def sum_of_squares(self) -> float:
        """Sum of the squares of all entries of the centred rows."""
        return float(self.squares.sum() if self.is_sparse else self.length @ self.length)

    @property
    def alike_columns(self) -> bool:
        """Whether the norms of columns are similar, so that short columns do not lose digits to long ones."""
        return self.sum_of_squares >= _ALIKE * len(self.length) * float(self.length.max(initial=0.0)) ** 2

    @property
    def stored_squares(self) -> Array:
        """Squared norms of the rows as stored; sparse rows are not centred."""
        return self._raw_squares if self.is_sparse else self.squares

    @property
    def cancels(self) -> bool:
        """Whether products of sparse rows lose too many digits by being centred afterwards."""
        if not self.is_sparse:
            return False
        return float(self.squares.max()) <= _CANCELLED * float((self._raw_squares + self._middle).max())

    @property
    def repeat(self) -> bool:
        """Whether some sparse rows are equal, judged by their inner products with a random vector."""
        vector = np.random.default_rng(0).uniform(1.0, 2.0, len(self.length))
        products = np.sort((self.x @ vector) / self.root[:, 0])
        return bool((np.diff(products) <= _EQUAL * np.abs(products[1:])).any())

    @property
    def free_direction(self) -> Array:
        """The null direction of the centred rows: their weighted sum is zero, as is that of centred targets."""
        return np.asarray(self.root[:, 0] / np.linalg.norm(self.root))

    @cached_property
    def products(self) -> Array:
        """Inner products of all pairs of centred rows, of shape (n, n)."""
        if not self.is_sparse:
            return row_products(self.x)
        root, square = self.root[:, 0], float(self.mean @ self.mean)
        along = np.multiply.outer(self._stored_along - 0.5 * square * root, root)
        centred = row_products(self.x)
        centred -= along
        centred -= along.T
        return centred

    def column_scale(self, fit_intercept: bool) -> ColumnScale:
        """Means and standard deviations of the columns."""
        constant = self.length == 0
        scale = np.linalg.norm(self.root) / np.where(constant, 1.0, self.length)
        return ColumnScale(self.mean, np.where(constant, 1.0, scale), constant, fit_intercept)

    def square_product(self, shares: Array) -> Array:
        """`products` times a vector of shape (n,), without forming them: two products with the stored rows."""
        if not self.is_sparse:
            return np.asarray(self.x @ (self.x.T @ shares))
        root, along = self.root[:, 0], self._stored_along
        level = float(root @ shares)
        inner = self.x @ (self._turned @ shares)
        return np.asarray(inner - level * along - (along @ shares - level * float(self.mean @ self.mean)) * root)

    @property
    def loop_arrays(self) -> tuple[Array, Array, Array, int]:
        """Data, indices and indptr of sparse rows, and the number of columns, for compiled loops."""
        return self.x.data, self.x.indices, self.x.indptr, len(self.length)

    @property
    def centre(self) -> tuple[Array, Array, float]:
        """What centres products of sparse rows: √weight, inner products with the mean, and the squared mean."""
        return self.root[:, 0], self._stored_along, float(self.mean @ self.mean)

    def square_products(self, shares: Array) -> Array:
        """The same for several vectors, of shape (n, k)."""
        return self.scores(self.combined(shares))

    @cached_property
    def _turned(self) -> Any:
        """Transpose of sparse rows, without a copy."""
        return transposed(self.x)

    @cached_property
    def _stored_along(self) -> Array:
        """Inner products of stored rows with the mean."""
        return np.asarray(self.x @ self.mean)

    @cached_property
    def _raw_squares(self) -> Array:
        """Squared norms of sparse rows as stored."""
        return np.asarray(row_norms(self.x, squared=True))

    @cached_property
    def _along(self) -> Array:
        """Inner products of stored rows with the weighted mean."""
        return np.asarray(self.root[:, 0] * self._stored_along)

    @cached_property
    def _middle(self) -> Array:
        """Squared norms of the weighted mean, one for each row."""
        return np.asarray(float(self.mean @ self.mean) * np.square(self.root[:, 0]))

    def combined(self, shares: Array) -> Array:
        """Linear combinations of centred rows, with coefficients of shape (n, k); of shape (k, d)."""
        sums = np.asarray((self._turned @ shares).T if self.is_sparse else shares.T @ self.x)
        return np.where(self.length > 0, sums - (shares.T @ self.root) * self.mean, 0.0) if self.is_sparse else sums

    def scores(self, coef: Array) -> Array:
        """Products of the centred rows with coefficients of shape (k, d), of shape (n, k)."""
        products = np.asarray(self.x @ coef.T)
        return products - self.root * (coef @ self.mean) if self.is_sparse else products

    def residual_squares(self, coef: Array, fit_intercept: bool) -> Array:
        """Σ w·r² of coefficients of shape (k, d), with the best intercept if there is one, of shape (k,)."""
        r = self.right - self.scores(coef)
        squares = np.einsum("ij,ij->j", r, r)
        return squares - np.square(self.root[:, 0] @ r) / np.square(self.root).sum() if fit_intercept else squares


def centred_rows(design: Design, fit_intercept: bool) -> CentredRows:
    """All rows in memory, as dense centred rows.

    Parameters
    ----------
    design : Design
        Design with few rows.
    fit_intercept : bool
        Whether to centre the rows.
    """
    here = design.sample(design.n_rows)
    x, y = here.collect(here.map(Block.dense)), here.collect(here.vector("y"))
    root = np.sqrt(here.collect(here.vector("weight")) if here.has_weight else np.ones(len(x)))[:, None]
    if fit_intercept:
        (x, mean), (y, target_mean) = _centred(x, root), _centred(y, root)
    else:
        x, y = np.array(x, dtype=np.float64, order="C"), np.array(y, dtype=np.float64)
        mean, target_mean = np.zeros(x.shape[1]), np.zeros(y.shape[1])
    if here.has_weight:
        x *= root
        y *= root
    length = np.sqrt(np.einsum("ij,ij->j", x, x))
    return CentredRows(x, length, y, mean, target_mean, root)


def sparse_rows(design: Design, fit_intercept: bool) -> CentredRows:
    """All rows of a sparse design in memory, still sparse.

    Parameters
    ----------
    design : Design
        Design with few rows.
    fit_intercept : bool
        Whether to centre the rows.
    """
    here = design.sample(design.n_rows)
    columns = ColumnScale.exact(here, fit_intercept)
    length = np.where(columns.constant, 0.0, np.sqrt(here.total_weight) / columns.scale)
    x, y, weight = here.arrays()
    root = np.ones((len(y), 1)) if weight is None else np.sqrt(weight)[:, None]
    y, target_mean = _centred(y, root) if fit_intercept else (np.asarray(y, dtype=np.float64), np.zeros(y.shape[1]))
    if weight is not None or x.dtype != np.float64:
        data = x.data.astype(np.float64) if weight is None else x.data * np.repeat(root[:, 0], np.diff(x.indptr))
        x = csr_array((data, x.indices, x.indptr), shape=x.shape)
    return CentredRows(x, length, y * root, columns.shift, target_mean, root)


def _centred(values: Array, root: Array) -> tuple[Array, Array]:
    """The columns minus their weighted means, as a float64 array in row order, and the means.

    The first row is used as origin, so that differences are exact for columns far from 0, and zero for constant ones.
    """
    weight, first = np.square(root[:, 0]), values[0].astype(np.float64)
    x: Array = np.subtract(values, first)
    step = weight @ x / weight.sum()
    x -= step
    return x, np.asarray(first + step)
