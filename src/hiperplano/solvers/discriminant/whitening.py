"""Coordinates in which classes have unit variance, from a covariance or from the rows themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.orthogonal import is_present, merge_triangles, triangle_of
from hiperplano.linalg.triangular import MAX_GRAM_CONDITION, Factor, cholesky, from_triangle, inverse_root
from hiperplano.solvers.discriminant.class_moments import EPS, ClassMoments, class_weights, deviations


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
    method : str
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


def whiten_covariance(covariance: Array) -> Whitening:
    """From the covariance alone: exact to the square of the columns' condition."""
    scale = inverse_root(covariance.diagonal())
    gram = covariance * scale[:, None] * scale
    factor = _factor_of_varying(gram, scale)
    if factor is not None and factor.condition**2 < 1.0 / (16 * len(scale) * EPS):
        return _from_factor(factor, scale, "covariance", EPS * factor.condition**2)
    values, basis = eigh(gram)
    kept = values > 16 * len(scale) * EPS * values.max(initial=0.0)
    return _from_directions(np.sqrt(values[kept]), basis[:, kept].T, scale, "covariance", squared=True)


def whiten_rows(design: Design, codes: Array, sums: ClassMoments, *, only: int | None = None) -> Whitening:
    """Of the scatter inside classes over their weight: from its sums, or from the rows where sums are not enough.

    Parameters
    ----------
    sums : ClassMoments
    only : int, optional
        Of this class alone, whose scatter the sums then hold by itself; of all classes together otherwise.
    """
    scatter = sums.scatter() if only is None else sums.scatter()[only]
    total = sums.total if only is None else float(sums.weight[only])
    scale = inverse_root(scatter.diagonal() / total)
    factor = _factor_of_varying(scatter / total * scale[:, None] * scale, scale)
    scale = scale / sums.unit
    if factor is not None and factor.condition <= MAX_GRAM_CONDITION:
        return _from_factor(factor, scale, "sums over classes", EPS * factor.condition**2)
    means = sums.means
    upper = _triangle(design, codes, means, scale / np.sqrt(total), only)
    values, basis = svd(upper, full_matrices=False, check_finite=False)[1:]
    present = is_present(values, basis, blur_of(means if only is None else means[[only]], scale))
    method = "orthogonal factorisation of the rows"
    if present.all():
        factor = from_triangle(upper, scale)
        return _from_factor(factor, scale, method, EPS * factor.condition)
    return _from_directions(values[present], basis[present], scale, method, squared=False)


def whiten_few_rows(design: Design, codes: Array, n_classes: int) -> tuple[Whitening, Array, Array]:
    """The same for fewer rows than columns, without a matrix of columns by columns; with means and weights."""
    weight = class_weights(codes, design.weight, n_classes)
    block = design.block(slice(0, design.n_rows)).counted()
    share = (np.ones(design.n_rows) if design.weight is None else design.weight) / weight[codes]
    member = np.zeros((n_classes, design.n_rows))
    member[codes, np.arange(design.n_rows)] = share
    means = member @ np.asarray(block.dense(), dtype=np.float64)
    means += member @ deviations(block, codes, means)  # once more, for the digits that a large offset took
    rows = deviations(block, codes, means)
    if design.weight is not None:
        rows *= np.sqrt(design.weight)[:, None]
    spread = np.sqrt(np.einsum("ij,ij->j", rows, rows) / weight.sum())
    spread[spread <= 4 * EPS * np.abs(means).max(axis=0)] = 0.0
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    rows *= scale / np.sqrt(weight.sum())
    values, basis = svd(rows, full_matrices=False, check_finite=False, overwrite_a=True)[1:]
    present = is_present(values, basis, blur_of(means, scale))
    method = "singular value decomposition of the rows"
    return _from_directions(values[present], basis[present], scale, method, squared=False), means, weight


def _factor_of_varying(gram: Array, scale: Array) -> Factor | None:
    """The triangle of the columns that vary, if rounding leaves one; `gram` has unit diagonal where they do."""
    vary = scale > 0
    return cholesky(gram[np.ix_(vary, vary)], scale[vary]) if vary.any() else None


def blur_of(means: Array, scale: Array) -> Array:
    """Rounding of each column as it was written down, relative to its spread."""
    with np.errstate(over="ignore"):
        return np.asarray(EPS * np.maximum(np.abs(means).max(axis=0) * scale, scale > 0))


def _triangle(design: Design, codes: Array, means: Array, scale: Array, only: int | None) -> Array:
    """R of the rows about the means of their classes, columns times `scale`."""

    def statistic(block: Block) -> Sums:
        rows = deviations(block, codes[block.rows], means)
        rows *= scale
        if block.weight is not None:
            rows *= np.sqrt(block.weight)[:, None]
        return (triangle_of(rows if only is None else rows[codes[block.rows] == only]),)

    (upper,) = design.fold(statistic, merge_triangles)
    full = np.zeros((len(scale), len(scale)))
    full[: len(upper)] = upper
    return full


def _from_factor(factor: Factor, scale: Array, method: str, error: float) -> Whitening:
    """From the triangle of the columns that vary."""
    vary = scale > 0
    rank, own = int(vary.sum()), scale[vary]
    matrix, root = np.zeros((len(scale), rank)), np.zeros((rank, len(scale)))
    matrix[vary] = own[:, None] * factor.backward(np.eye(rank))
    root[:, vary] = factor.upper / own
    logs = np.log(np.abs(factor.upper.diagonal())) - (np.log(own) if rank == len(scale) else 0.0)
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
