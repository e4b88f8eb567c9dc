"""Coordinates in which classes have unit variance, from a covariance or from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, svd

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.labels import class_totals
from hiperplano.linalg.orthogonal import is_present, merge_triangles, triangle_of
from hiperplano.linalg.triangular import MAX_GRAM_CONDITION, Factor, cholesky, from_triangle, inverse_root
from hiperplano.messages import Message
from hiperplano.solvers.discriminant.class_moments import (
    EPS,
    ClassMoments,
    class_sums,
    deviations,
    weighted_deviations,
)

_LEAST_SQUARE = 1e-12  # of singular values, beside the largest one, of which products of rows tell the directions;
_EXACT_SQUARE = 1e-5  # and of which they leave 11 digits


@dataclass(frozen=True)
class Whitening:
    """A with Aᵀ·Σ·A = I for a covariance Σ, on the directions in which Σ is more than rounding.

    Attributes
    ----------
    matrix : ndarray of shape (d, rank)
        A. In the units of the columns' own spread its columns span the directions that vary: what lies outside
        has no part in any score, which is then the shortest of all with the same values.
    root : ndarray of shape (rank, d)
        B with BᵀB = Σ.
    scale : ndarray of shape (d,)
        One over the standard deviation of each column; 0 if it does not vary.
    condition : float
        Of the columns at unit variance, on the directions used.
    log_det : float
        Logarithm of the determinant of Σ, on the directions used (at unit columns if Σ is singular).
    error : float
        Relative error to expect in what is computed from it.
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
        """Of `factor`·Σ."""
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
    """From the covariance alone: exact to the square of the columns' condition.

    Parameters
    ----------
    otherwise : callable, optional
        What is taken, if it gives something, where that leaves too few digits.
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
    """Of the scatter inside classes over their weight: from its sums, or from the rows where sums are not enough.

    Parameters
    ----------
    design : Design
        With a row vector "code".
    only : int, optional
        Of this class alone, whose scatter the sums then hold by itself; of all classes together otherwise.
    """
    scatter = sums.scatter if only is None else sums.scatter[only]
    total = sums.total if only is None else float(sums.weight[only])
    scale = inverse_root(scatter.diagonal() / total)
    factor = _factor_of_varying(scatter / total * scale[:, None] * scale, scale)
    if factor is not None and factor.condition <= MAX_GRAM_CONDITION:
        return _from_factor(factor, scale, Message("sums over classes"), EPS * factor.condition**2)
    means = sums.means
    (triangle,) = design.fold(_Triangle(means, scale / np.sqrt(total), only), merge_triangles)
    upper = np.zeros((len(scale), len(scale)))
    upper[: len(triangle)] = triangle
    values, basis = svd(upper, full_matrices=False, check_finite=False)[1:]
    present = is_present(values, basis, relative_rounding(means if only is None else means[[only]], scale))
    method = Message("orthogonal factorisation of the rows")
    if present.all():
        factor = from_triangle(upper, scale)
        return _from_factor(factor, scale, method, EPS * factor.condition)
    return _from_directions(values[present], basis[present], scale, method, squared=False)


def whiten_with_ridge(design: Design, sums: ClassMoments, only: int, ridge: float) -> Whitening | None:
    """Of (1 − ridge)·Σ + ridge·I, with Σ of one class, from the singular values of its rows as they are.

    Beside columns of very unlike sizes the identity is lost in a sum with the covariance, but not beside the rows. None
    where it is rounding beside these, too.
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
    """The same for fewer rows than columns, brought together, without a matrix of columns by columns.

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
    for _ in range(2):  # the second time for the digits that a large offset took
        means += rows.fold(_ClassSums(means))[0] / weight[:, None]
    apart = rows.collect(rows.map(_Deviations(means))) / np.sqrt(weight.sum())
    spread = np.sqrt(np.einsum("ij,ij->j", apart, apart))
    spread[spread <= 4 * EPS * np.abs(means).max(axis=0)] = 0.0
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    apart *= scale
    rounding = relative_rounding(means, scale)
    turned = _turned_rows(apart, n_classes)
    if turned is not None:
        values = np.linalg.norm(turned, axis=1)
        if values.all() and is_present(values, turned / values[:, None], rounding).all():
            return _from_nearly_orthogonal(turned, values, scale), means, weight
    values, basis = svd(apart, full_matrices=False, check_finite=False, overwrite_a=True)[1:]
    present = is_present(values, basis, rounding)
    method = Message("singular value decomposition of the rows")
    return _from_directions(values[present], basis[present], scale, method, squared=False), means, weight


def _turned_rows(apart: Array, n_classes: int) -> Array | None:
    """The rows turned until they are nearly at right angles, by the eigenvectors of their products; None where rounding
    of the products leaves no such thing.

    Deviations from the mean of a class add up to nothing: rows have so many directions fewer as there are classes.
    """
    squares, left = eigh(apart @ apart.T, check_finite=False)
    squares, left = squares[n_classes:], left[:, n_classes:]
    if not len(squares) or squares[0] < _LEAST_SQUARE * squares[-1]:
        return None
    return np.asarray(left.T @ apart)


def _from_nearly_orthogonal(rows: Array, values: Array, scale: Array) -> Whitening:
    """From rows B, nearly at right angles, with BᵀB = Σ at unit columns: A = Bᵀ·(B·Bᵀ)⁻¹.

    A rotation costs no digits, so B has those of the rows themselves; and B·Bᵀ is nearly the identity once rows have
    length 1: as nearly as the products' own rounding allows.
    """
    spread = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    unit, condition = rows / values[:, None], float(values.max() / values.min())
    log_det, error = 2.0 * float(np.log(values).sum()), EPS * condition**2
    if condition**-2 < _EXACT_SQUARE:
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
    """R of the rows about the means of their classes, columns times `scale`; of one class if `only` is given."""

    means: Array
    scale: Array
    only: int | None

    def __call__(self, block: Block) -> Sums:
        if self.only is not None:
            block = block.take(block.xp.nonzero(block.vectors["code"] == self.only)[0])
        return (triangle_of(weighted_deviations(block, self.means, self.scale)),)


def _factor_of_varying(gram: Array, scale: Array) -> Factor | None:
    """The triangle of the columns that vary, if rounding leaves one; `gram` has unit diagonal where they do."""
    vary = scale > 0
    if vary.all():
        return cholesky(gram, scale)
    return cholesky(gram[np.ix_(vary, vary)], scale[vary]) if vary.any() else None


def relative_rounding(means: Array, scale: Array) -> Array:
    """Rounding of each column as it was written down, relative to its spread."""
    return np.asarray(EPS * np.maximum(np.abs(means).max(axis=0) * scale, scale > 0))


def _from_factor(factor: Factor, scale: Array, method: str, error: float) -> Whitening:
    """From the triangle of the columns that vary."""
    rank, own = len(factor.scale), factor.scale
    matrix, root = own[:, None] * factor.backward(np.eye(rank)), factor.upper / own
    logs = np.log(np.abs(factor.upper.diagonal())) - (np.log(own) if rank == len(scale) else 0.0)
    if rank < len(scale):
        vary, some, part = scale > 0, matrix, root
        matrix, root = np.zeros((len(scale), rank)), np.zeros((rank, len(scale)))
        matrix[vary], root[:, vary] = some, part
    return Whitening(matrix, root, scale, factor.condition, 2.0 * float(logs.sum()), method, error)


def _from_directions(values: Array, basis: Array, scale: Array, method: str, *, squared: bool) -> Whitening:
    """From singular values and directions (rows of `basis`) at unit columns."""
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
