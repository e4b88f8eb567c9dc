"""Ridge coefficients and leverages for any number of penalties from one factorisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.linalg.lapack import dgejsv, dsyevd, dtrtrs

from hiperplano.data.design import Array, Design
from hiperplano.linalg.centred_rows import CentredRows, centred_rows
from hiperplano.linalg.triangular import EPS
from hiperplano.solvers.least_squares.normal import NormalEquations, normal_equations
from hiperplano.solvers.least_squares.orthogonal import factorise
from hiperplano.solvers.least_squares.path.few_rows import LEAST_EIGENVALUE

_PLAIN = 1e-5  # eigenvalues of XᵀX above this share of the largest keep ten digits
_PRESENT = 1e-10  # squared singular values of X above this share of the largest keep ten digits
_HIDDEN = 1e-13  # with a penalty above this share of the largest σ², rounding in an ordinary SVD leaves nine digits
_SIMILAR = 1e3  # ratio of the longest to the shortest column, up to which an ordinary SVD is accurate
_SOLVABLE = 1e8  # condition number of the columns, up to which their triangular factor is inverted


@dataclass(frozen=True)
class RidgePath:
    """Singular value decomposition of centred rows, in which every penalty is diagonal.

    A row has the coordinates u = (x − mean)·basis, whose columns are orthonormal. With penalty alpha, its fit is
    Σₖ uₖ·shareₖ·rightₖ and its leverage total⁻¹ + Σₖ uₖ²·shareₖ, where shareₖ = σₖ²/(σₖ² + alpha).

    Attributes
    ----------
    mean, target_mean : ndarray of shape (d,) and (targets,)
    scale : ndarray of shape (d,)
        Scales of the columns; the coordinates are (x − mean)·scale·basis.
    make_basis : callable
        Computes `basis`, of shape (d, r), when it is needed; with few rows, coordinates are known without it.
    values : ndarray of shape (r,)
        Singular values σ of the centred rows, in the units of the data.
    right : ndarray of shape (r, targets)
    total : float
        Sum of the weights.
    complete : bool
        Whether the coordinates span the whole space of centred targets, so that only the penalty causes residuals.
    """

    mean: Array
    target_mean: Array
    scale: Array
    make_basis: Callable[[], Array]
    values: Array
    right: Array
    total: float
    fit_intercept: bool
    complete: bool = False

    @cached_property
    def basis(self) -> Array:
        """Right singular vectors, scaled, of shape (d, r)."""
        return self.make_basis()

    def shares(self, alphas: Array) -> Array:
        """σ²/(σ² + alpha), of shape (r, alphas)."""
        squares = self.values[:, None] ** 2
        return np.asarray(np.where(squares > 0, squares / np.where(squares > 0, squares + alphas, 1.0), 0.0))

    def lost(self, alphas: Array) -> Array:
        """alpha/(σ² + alpha) = 1 − share, without the subtraction."""
        squares = self.values[:, None] ** 2
        return np.asarray(np.where(squares > 0, alphas / np.where(squares > 0, squares + alphas, 1.0), 1.0))

    def coefficients(self, alphas: Array) -> Array:
        """Coefficients of shape (alphas, targets, d)."""
        kept = self.shares(alphas).T[:, :, None] * self.right
        return np.swapaxes(self.scale[:, None] * (self.basis @ kept), 1, 2)

    def intercepts(self, coef: Array) -> Array:
        """Intercepts for coefficients of shape (…, targets, d)."""
        return np.asarray(self.target_mean - coef @ self.mean)


def ridge_path(
    design: Design, *, fit_intercept: bool, least: float = 0.0, plain: NormalEquations | None = None
) -> RidgePath:
    """Factor the rows of a design.

    Parameters
    ----------
    least : float, default=0
        Smallest penalty that will be asked for.
    plain : NormalEquations, optional
        Normal equations of the rows without a penalty, if they are known.
    """
    if design.n_rows <= design.n_columns:
        return wide_path(design, fit_intercept, least)[0]
    plain = normal_equations(design, fit_intercept) if plain is None else plain
    equations = plain.penalised(0.0)
    factor, right, _ = factorise(design, equations, 0.0, fit_intercept)
    varying = equations.scale > 0
    full, values, turned = np.zeros((design.n_columns, 0)), np.zeros(0), np.zeros((0, design.n_targets))
    if varying.any():
        upper, scale = factor.upper, equations.scale[varying]
        upper = upper if varying.all() else upper[np.ix_(varying, varying)]
        left, values, other = _decomposed_triangle(upper / scale)
        solvable = factor.condition <= _SOLVABLE
        # If columns are independent, all directions are kept, however short some columns are.
        kept = values > (0.0 if solvable else EPS * len(values) * values.max())
        values, left, other = values[kept], left[:, kept], other[:, kept]
        full = np.zeros((design.n_columns, len(values)))
        full[varying] = dtrtrs(upper, left)[0] if solvable else other / values / scale[:, None]
        turned = left.T @ right[varying]
    basis = partial(np.asarray, full)
    return RidgePath(plain.mean, plain.target_mean, equations.scale, basis, values, turned, plain.total, fit_intercept)


def unlike_columns(length: Array) -> bool:
    """Whether columns of these lengths, of which some may be 0, need Jacobi's method."""
    longest = float(length.max(initial=0.0))
    return longest > _SIMILAR * float(length[length > 0].min(initial=longest))


def _decomposed_triangle(triangle: Array) -> tuple[Array, Array, Array]:
    """Left singular vectors, singular values and right singular vectors of a triangular factor."""
    length = np.sqrt(np.square(triangle).sum(axis=0))
    apart = float(length.max() / length.min())
    if apart**2 * _PLAIN < 1.0:  # otherwise eigenvalues of the products have too few digits
        squares, other, failed = dsyevd(triangle.T @ triangle)
        if not failed and squares[0] > _PLAIN * squares[-1]:
            values = np.sqrt(squares)
            return triangle @ (other / values), values, other
    if not unlike_columns(length):
        left, values, right = svd(triangle, check_finite=False)
        return left, values, right.T
    # One-sided Jacobi: relative accuracy of every singular value, whatever the scales of the columns.
    size, left, other, work, _, _ = dgejsv(triangle, joba=0, jobu=0, jobv=0)
    return left, size * (work[0] / work[1]), other


def wide_path(
    design: Design, fit_intercept: bool, least: float, rows: CentredRows | None = None, completed: bool = False
) -> tuple[RidgePath, Array]:
    """The path for no more rows than columns, by a singular value decomposition of the rows.

    Parameters
    ----------
    design : Design
        Rows without weight are left out.
    least : float
        Smallest penalty that will be asked for.
    rows : CentredRows, optional
        Centred rows with weight, if they are known.
    completed : bool, default=False
        Whether to complete the coordinates, for more rows than columns, by directions with σ = 0. Such a path has no
        coefficients.

    Returns
    -------
    path : RidgePath
    coordinates : ndarray of shape (n, r)
        Coordinates of the rows with weight, which are more accurate than products with the basis.
    """
    rows = centred_rows(design.weighted_rows(), fit_intercept) if rows is None else rows
    most = len(rows.root) - int(fit_intercept)
    left, values, make_basis = _decomposed(rows, min(most, design.n_columns), least)
    if completed:
        mean = [rows.free_direction[:, None]] if fit_intercept else []
        others = qr(np.hstack([*mean, left]), check_finite=False)[0][:, len(mean) + len(values) :]
        left, values = np.hstack([left, others]), np.concatenate([values, np.zeros(others.shape[1])])
    complete = len(values) == most
    path = RidgePath(
        rows.mean,
        rows.target_mean,
        np.ones(design.n_columns),
        make_basis,
        values,
        left.T @ rows.right,
        float(np.square(rows.root).sum()),
        fit_intercept,
        complete,
    )
    return path, left / rows.root


Decomposition = tuple[Array, Array, Callable[[], Array]]
"""Left vectors, singular values, and what makes the right vectors over the singular values."""


def _decomposed(rows: CentredRows, most: int, least: float) -> Decomposition:
    """Decomposition of dense rows, whose rank is at most `most`.

    The rank is determined with columns of unit length, so that it does not depend on units. If the lengths of columns
    differ much, Jacobi's method with pivoting keeps the digits of short columns. This is not needed if products of the
    rows show that no direction is too short for an ordinary decomposition. Nor is it if the smallest penalty is large
    enough: an ordinary decomposition is that of rows changed by about ε·σ₁, where σ₁ is the largest singular value,
    and this changes (X·Xᵀ + alpha)⁻¹ by 2ε·σ₁/√alpha of itself at most.
    """
    length = rows.length
    longest = float(length.max(initial=0.0)) or 1.0
    similar = not unlike_columns(length)
    squares, left = eigh(rows.products, check_finite=False, driver="evd")
    found = _from_row_products(rows, squares, left)
    if found is not None and (similar or len(found[1]) == most):
        return found
    all_seen = np.count_nonzero(squares > _PRESENT * squares.max(initial=0.0)) == most
    x, scaled = rows.unit, rows.unit * (length / longest)
    if similar or all_seen or least > _HIDDEN * squares.max(initial=0.0):
        left, values, right = svd(scaled, full_matrices=False, check_finite=False)
        rank = most if all_seen else int(np.count_nonzero(values > EPS * max(x.shape) * values.max(initial=0.0)))
        values = values[:rank] * longest
        return left[:, :rank], values, partial(np.divide, right[:rank].T, values)
    size = svd(x, compute_uv=False, check_finite=False)
    if len(scaled) > scaled.shape[1]:  # LAPACK's Jacobi method requires at least as many rows as columns
        values, left, right, work, _, _ = dgejsv(scaled, joba=2, jobu=0, jobv=0)
    else:
        values, right, left, work, _, _ = dgejsv(scaled.T, joba=2, jobu=0, jobv=0)
    values = values * (work[0] / work[1])
    rank = int(np.count_nonzero((size > EPS * max(x.shape) * size.max()) & (values > 0)))
    values = values[:rank] * longest
    return left[:, :rank], values, partial(np.divide, right[:, :rank], values)


def _from_row_products(rows: CentredRows, squares: Array, left: Array) -> Decomposition | None:
    """Decomposition of few rows by eigenvalues and eigenvectors of their products, in a fraction of the time.

    Return None if some direction is so short that squares would lose its digits.
    """
    largest = float(squares[-1]) if len(squares) else 0.0
    kept = squares > LEAST_EIGENVALUE * largest
    if np.any(squares[~kept] > len(left) * EPS * largest):
        return None
    values, left = np.sqrt(squares[kept][::-1]), left[:, kept][:, ::-1]
    return left, values, partial(np.matmul, rows.x.T, left / np.square(values))
