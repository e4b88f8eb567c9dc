"""Coordinates in which classes have unit variance, from a covariance or from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, svd

from hiperplano.data.block import matrix_product
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.labels import class_totals
from hiperplano.linalg.dependent.columns import IndependentColumns
from hiperplano.linalg.orthogonal import all_present, is_present, merge_triangles, triangle_of
from hiperplano.linalg.triangular import (
    MAX_GRAM_CONDITION,
    Factor,
    cholesky,
    from_triangle,
    inverse_root,
    reciprocal,
)
from hiperplano.messages import Message
from hiperplano.solvers.discriminant.class_moments import (
    EPS,
    ClassMoments,
    class_sums,
    deviations,
    weighted_deviations,
)

_LEAST_SQUARE = 1e-12  # least squared singular value, relative to the largest, whose direction is accurate in X·Xᵀ
EXACT_SQUARE = 1e-5  # least squared singular value, relative to the largest, that X·Xᵀ determines to 11 digits


@dataclass(frozen=True)
class Whitening:
    """A with Aᵀ·Σ·A = I for a covariance Σ, on the directions in which Σ exceeds rounding errors.

    Attributes
    ----------
    matrix : ndarray of shape (d, rank)
        A. For columns at unit variance, its columns span the directions that vary. Scores do not use other directions,
        so their coefficients have minimum norm.
    root : ndarray of shape (rank, d)
        B with BᵀB = Σ.
    scale : ndarray of shape (d,)
        One over the standard deviation of each column; 0 if it does not vary.
    condition : float
        Condition number of the columns at unit variance, on the directions used.
    log_det : float
        Logarithm of the determinant of Σ, on the directions used (at unit columns if Σ is singular).
    error : float
        Expected relative error of results computed from it.
    """

    matrix: Array
    root: Array
    scale: Array
    condition: float
    log_det: float
    method: str
    error: float

    @property
    def rank(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def full(self) -> bool:
        return self.rank == len(self.scale)

    def inflate(self, factor: float) -> Whitening:
        """Whitening of `factor`·Σ."""
        size = np.sqrt(factor)
        return Whitening(
            self.matrix / size,
            self.root * size,
            self.scale / size,
            self.condition,
            self.log_det + self.rank * np.log(factor),
            self.method,
            self.error,
        )


def whiten_covariance(covariance: Array, otherwise: Callable[[], Whitening | None] | None = None) -> Whitening:
    """Whitening from the covariance alone; its error grows with the square of the columns' condition number.

    Parameters
    ----------
    otherwise : callable, optional
        Fallback if the covariance leaves too few digits; ignored if it returns None.
    """
    scale = inverse_root(covariance.diagonal())
    gram, method = covariance * scale[:, None] * scale, Message("covariance")
    factor = _factor_of_varying(gram, scale)
    if otherwise is not None and (factor is None or factor.condition > MAX_GRAM_CONDITION):
        found = otherwise()
        if found is not None:
            return found
    if factor is not None and factor.condition**2 < 1.0 / (16 * len(scale) * EPS):
        return _from_factor(factor, scale, method, EPS * factor.condition**2)
    values, basis = eigh(gram)
    kept = values > 16 * len(scale) * EPS * values.max(initial=0.0)
    return _from_directions(np.sqrt(values[kept]), basis[:, kept].T, scale, method, squared=True)


def whiten_rows(design: Design, sums: ClassMoments, *, only: int | None = None) -> Whitening:
    """Whitening of the scatter within classes divided by their weight.

    It is computed from sums, or from the rows if sums are too inaccurate.

    Parameters
    ----------
    design : Design
        With a row vector "code".
    only : int, optional
        Use this class only, whose scatter `sums` must hold separately; by default all classes are pooled.
    """
    scatter = sums.scatter if only is None else sums.scatter[only]
    total = sums.total if only is None else float(sums.weight[only])
    scale = inverse_root(scatter.diagonal() / total)
    gram = scatter / total * scale[:, None] * scale
    factor = _factor_of_varying(gram, scale)
    if factor is not None and factor.condition <= MAX_GRAM_CONDITION:
        return _from_factor(factor, scale, Message("sums over classes"), EPS * factor.condition**2)
    means = sums.means
    combinations = partial(_Combinations, means, scale / np.sqrt(total), only)

    def combine(shares: Array) -> tuple[Array, Array]:
        squares, products = design.fold(combinations(shares))
        return np.sqrt(squares), products

    rounding = relative_rounding(means if only is None else means[[only]], scale)
    columns = IndependentColumns.of(gram)
    columns = None if columns is None else columns.corrected(combine, 1.0 + rounding / EPS)
    found = None if columns is None else _from_independent(columns, scale)
    if found is not None:
        return found
    (rows,) = design.fold(_FewRows(means, scale / np.sqrt(total), only), _merge_few_rows)
    if len(rows) < len(scale):
        return _whiten_wide(rows, scale, rounding, 1 if only is not None else len(means))
    upper = triangle_of(rows) if np.tril(rows, -1).any() else rows
    factor, method = from_triangle(upper, scale), Message("orthogonal factorisation of the rows")
    if scale.all() and all_present(factor.condition, rounding):  # spares the singular values, which take most time
        return _from_factor(factor, scale, method, EPS * factor.condition)
    values, basis = svd(upper, full_matrices=False, check_finite=False)[1:]
    present = is_present(values, basis, rounding)
    if present.all():
        return _from_factor(factor, scale, method, EPS * factor.condition)
    return _from_directions(values[present], basis[present], scale, method, squared=False)


def whiten_with_ridge(design: Design, sums: ClassMoments, only: int, ridge: float) -> Whitening | None:
    """Whitening of (1 − ridge)·Σ + ridge·I for Σ of one class, from the singular values of its rows.

    If columns have very different scales, the identity is lost to rounding when it is added to the covariance, but not
    when it is combined with singular values. Return None if it is a rounding error there, too.
    """
    (triangle,) = design.fold(_Triangle(sums.means, 1.0 / np.sqrt(sums.weight[only]), only), merge_triangles)
    values, basis = svd(triangle, full_matrices=False, check_finite=False)[1:]
    spread, least, d = np.sqrt((1.0 - ridge) * values**2 + ridge), np.sqrt(ridge), design.n_columns
    condition = float(spread.max(initial=least)) / least
    if 16 * d * EPS * condition > 1.0:
        return None
    matrix, root = (
        (basis.T * (own - beyond)) @ basis for own, beyond in ((1.0 / spread, 1.0 / least), (spread, least))
    )
    matrix.flat[:: d + 1] += 1.0 / least
    root.flat[:: d + 1] += least
    scale, log_det = 1.0 / np.linalg.norm(root, axis=0), 2.0 * float(np.log(spread / least).sum() + d * np.log(least))
    method = Message("singular values of the rows")
    return Whitening(matrix, root, scale, condition, log_det, method, EPS * condition)


def whiten_few_rows(design: Design, n_classes: int) -> tuple[Whitening, Array, Array]:
    """`whiten_rows` for fewer degrees of freedom than columns: rows in memory, and no matrix of shape (d, d).

    Parameters
    ----------
    design : Design
        With a row vector "code".

    Returns
    -------
    whitening : Whitening
    means : ndarray of shape (classes, d)
    weight : ndarray of shape (classes,)
    """
    rows = design.sample(design.n_rows)
    weight, means = class_totals(rows, rows.vector("code"), n_classes), np.zeros((n_classes, design.n_columns))
    for _ in range(2):  # the second round restores the digits lost to a large offset
        means += rows.fold(_ClassSums(means))[0] / weight[:, None]
    apart = rows.collect(rows.map(_Deviations(means))) / np.sqrt(weight.sum())
    spread = np.sqrt(np.einsum("ij,ij->j", apart, apart))
    spread[spread <= 4 * EPS * np.abs(means).max(axis=0)] = 0.0
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    apart *= scale
    rounding = relative_rounding(means, scale)
    return _whiten_wide(apart, scale, rounding, n_classes), means, weight


def _whiten_wide(apart: Array, scale: Array, rounding: Array, n_classes: int) -> Whitening:
    """Whitening from fewer rows than columns, which are deviations from `n_classes` means, at unit variance."""
    turned = rotated_rows(apart, n_classes)
    if turned is not None:
        values = np.linalg.norm(turned, axis=1)
        if values.all() and is_present(values, turned / values[:, None], rounding).all():
            return _from_nearly_orthogonal(turned, values, scale)
    values, basis = svd(apart, full_matrices=False, check_finite=False)[1:]
    present = is_present(values, basis, rounding)
    method = Message("singular value decomposition of the rows")
    return _from_directions(values[present], basis[present], scale, method, squared=False)


def rotated_rows(apart: Array, n_classes: int, least: float = _LEAST_SQUARE) -> Array | None:
    """The rows multiplied by the eigenvectors of their Gram matrix, so that they are nearly orthogonal.

    Return None if rounding of the Gram matrix prevents that.

    Deviations from class means sum to zero, so the rank is reduced by the number of classes.

    Parameters
    ----------
    least : float
        Least squared singular value, relative to the largest.
    """
    squares, left = eigh(apart @ apart.T, check_finite=False, driver="evd")
    squares, left = squares[n_classes:], left[:, n_classes:]
    if not len(squares) or squares[0] < least * squares[-1]:
        return None
    return np.asarray(left.T @ apart)


def _from_nearly_orthogonal(rows: Array, values: Array, scale: Array) -> Whitening:
    """Whitening A = Bᵀ·(B·Bᵀ)⁻¹ from nearly orthogonal rows B with BᵀB = Σ, for columns at unit variance.

    A rotation loses no digits, so B is as accurate as the rows. Once its rows have norm 1, B·Bᵀ is the identity up to
    the rounding errors of the Gram matrix.
    """
    spread = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    unit, condition = rows / values[:, None], float(values.max() / values.min())
    log_det, error = 2.0 * float(np.log(values).sum()), EPS * condition**2
    if condition**-2 < EXACT_SQUARE:
        factor = cho_factor(unit @ unit.T, check_finite=False)
        unit, error = cho_solve(factor, unit, check_finite=False), EPS * condition
        log_det += 2.0 * float(np.log(factor[0].diagonal()).sum())
    method = Message("products of the rows")
    return Whitening(
        scale[:, None] * (unit / values[:, None]).T, rows * spread, scale, condition, log_det, method, error
    )


@dataclass(frozen=True)
class _ClassSums:
    """Σ w·(x − point) of each class."""

    points: Array

    def __call__(self, block: Block) -> Sums:
        return (class_sums(block, len(self.points), deviations(block, self.points)),)


@dataclass(frozen=True)
class _Deviations:
    """√w·(x − mean) of every row, by the mean of its class."""

    means: Array

    def __call__(self, block: Block) -> Array:
        return weighted_deviations(block, self.means)


@dataclass(frozen=True)
class _Triangle:
    """R of a QR factorisation of the rows minus their class means, with columns multiplied by `scale`.

    Only of one class if `only` is given.
    """

    means: Array
    scale: Array
    only: int | None

    def __call__(self, block: Block) -> Sums:
        return (triangle_of(self.rows(block)),)

    def rows(self, block: Block) -> Array:
        """The rows minus their class means."""
        if self.only is not None:
            block = block.take(block.xp.nonzero(block.vectors["code"] == self.only)[0])
        return weighted_deviations(block, self.means, self.scale)


@dataclass(frozen=True)
class _Combinations(_Triangle):
    """Σ (x·shares)² and Σ x·(x·shares) of the same rows x."""

    shares: Array

    def __call__(self, block: Block) -> Sums:
        rows = self.rows(block)
        sums = matrix_product(rows, self.shares)
        return np.einsum("ij,ij->j", sums, sums), matrix_product(rows.T, sums)


@dataclass(frozen=True)
class _FewRows(_Triangle):
    """The rows themselves, if they are fewer than columns; otherwise R."""

    def __call__(self, block: Block) -> Sums:
        return _few_rows(self.rows(block))


def _merge_few_rows(left: Sums, right: Sums) -> Sums:
    return _few_rows(np.vstack([left[0], right[0]]))


def _few_rows(rows: Array) -> Sums:
    return (rows if len(rows) <= rows.shape[1] else triangle_of(rows),)


def _factor_of_varying(gram: Array, scale: Array) -> Factor | None:
    """Cholesky factor of the columns that vary, or None if rounding prevents it.

    `gram` has a unit diagonal in these columns.
    """
    vary = scale > 0
    if vary.all():
        return cholesky(gram, scale)
    return cholesky(gram[np.ix_(vary, vary)], scale[vary]) if vary.any() else None


def relative_rounding(means: Array, scale: Array) -> Array:
    """Rounding errors of each column's input values, relative to the column's standard deviation."""
    return np.asarray(EPS * np.maximum(np.abs(means).max(axis=0) * scale, scale > 0))


def _from_factor(factor: Factor, scale: Array, method: str, error: float) -> Whitening:
    """Whitening from the triangular factor of the columns that vary."""
    rank, own = len(factor.scale), factor.scale
    matrix, root = own[:, None] * factor.backward(np.eye(rank)), factor.upper / own
    logs = np.log(np.abs(factor.upper.diagonal())) - (np.log(own) if rank == len(scale) else 0.0)
    if rank < len(scale):
        vary, some, part = scale > 0, matrix, root
        matrix, root = np.zeros((len(scale), rank)), np.zeros((rank, len(scale)))
        matrix[vary], root[:, vary] = some, part
    return Whitening(matrix, root, scale, factor.condition, 2.0 * float(logs.sum()), method, error)


def _from_independent(columns: IndependentColumns, scale: Array) -> Whitening | None:
    """Whitening from linearly independent columns of unit variance, and the relations of all others to them.

    With the relations S, and the triangular factor U of the independent columns, B = U·[I, S] for columns of unit
    variance. A = Bᵀ·(B·Bᵀ)⁻¹ has minimum norm. Return None if the condition number is too large for B·Bᵀ.
    """
    rank, upper = len(columns.kept), np.triu(columns.upper)
    root = np.empty((rank, len(scale)))
    root[:, columns.kept], root[:, columns.others] = upper, upper @ columns.relations
    factor = cholesky(root @ root.T, np.ones(rank))
    if factor is None or factor.condition > MAX_GRAM_CONDITION:
        return None
    matrix, method = scale[:, None] * factor.solve(root).T, Message("sums over classes")
    log_det, error = 2.0 * float(np.log(factor.upper.diagonal()).sum()), EPS * factor.condition**2
    return Whitening(matrix, root * reciprocal(scale), scale, factor.condition, log_det, method, error)


def _from_directions(values: Array, basis: Array, scale: Array, method: str, *, squared: bool) -> Whitening:
    """Whitening from singular values and directions (rows of `basis`), for columns at unit variance."""
    spread = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    condition = float(values.max(initial=1.0) / values.min(initial=1.0)) if len(values) else 1.0
    return Whitening(
        scale[:, None] * basis.T / values,
        values[:, None] * basis * spread,
        scale,
        condition,
        2.0 * float(np.log(values).sum() - (np.log(scale).sum() if len(values) == len(scale) else 0.0)),
        method,
        EPS * condition ** (2 if squared else 1),
    )
