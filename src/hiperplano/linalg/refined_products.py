"""Systems x·xᵀ + alpha: as operators, or factored in low precision with iterative refinement.

Residuals are computed from the rows, so x·xᵀ itself may be rounded, to float32 at half the cost, as long as a step of
refinement removes most of the error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.products import row_products
from hiperplano.linalg.triangular import EPS, reciprocal

MOST_LOST = 0.1  # largest rounding error times condition number for which refinement converges
# The same for trials, whose steps show whether they converge: the 1-norm overestimates by up to √n. Trials halve
# the time if columns have common directions (1,200×2,000 and 1,000×3,000 with alpha = 1).
_MOST_LOST_IN_TRIAL = 5.0
SLOW = 0.2  # largest share of an error that a refinement step may leave; otherwise it is at rounding level, or diverges
MOST_REFINEMENTS = 8
REFINED = 1e-13  # relative change at which refinement in float64 ends
_FLOOR = 4 * EPS  # rounding error of residuals, which the condition number of the rows amplifies


class Refined(NamedTuple):
    """A solution of shape (n, k), the reciprocal condition number, and the inverse in the factor's precision."""

    shares: Array
    reciprocal: float
    inverse: Callable[[Array], Array]


class SingleRows:
    """Dense rows in float32, scaled so that the squares of ordinary rows stay in range.

    Parameters
    ----------
    x : ndarray of shape (n, d)
    squares : float
        The sum of their squares.
    """

    def __init__(self, x: Array, squares: float) -> None:
        self.unit = 1.0 / (float(np.sqrt(squares / len(x))) or 1.0)
        self._x = np.empty_like(x, dtype=np.float32)
        np.multiply(x, self.unit, out=self._x, casting="same_kind")

    @cached_property
    def products(self) -> Array:
        """Inner products of all pairs of rows, in float32."""
        return row_products(self._x)

    def square_product(self, shares: Array) -> Array:
        """x·xᵀ·shares in the units of the data, for shares of shape (n,), to seven digits."""
        size = float(np.linalg.norm(shares)) or 1.0
        found = self._x @ (self._x.T @ (shares / size).astype(np.float32))
        return np.multiply(found, size / self.unit**2, dtype=np.float64)


def too_few_digits(rows: CentredRows, alpha: Array) -> bool:
    """Whether float32 products cannot solve the system, judged from the norms of the columns alone.

    Some direction is orthogonal to all but the shortest columns, so that only these and the penalty contribute to it.
    The condition number in the 1-norm, which decides in `solve_refined`, is about √n times that of the eigenvalues.
    """
    n, squares = len(rows.root), np.sort(np.square(rows.length))
    shortest = float(squares[: max(len(squares) - n + 1, 0)].sum()) / n + float(alpha.min())
    most = _MOST_LOST_IN_TRIAL if rows.alike_columns else MOST_LOST
    return float(np.finfo(np.float32).eps) * np.sqrt(n) * float(squares[-1]) > most * shortest


def solve_refined(
    products: Array,
    unit: float,
    product: Callable[[Array], Array],
    right: Array,
    alpha: float,
    free: Array,
    tol: float,
    trial: bool = False,
) -> Refined | None:
    """(x·xᵀ + alpha + free·freeᵀ)⁻¹·right; None if the products are not accurate enough.

    Parameters
    ----------
    products : ndarray of shape (n, n)
        unit²·x·xᵀ, in float32 or float64.
    product : callable
        Multiplies an array of shape (n, k) by x·xᵀ, from the rows.
    right : ndarray of shape (n, k)
    free : ndarray of shape (n,)
        One more column, in addition to those of x.
    tol : float
        Relative error to reach, of the primal coefficients, if rounding allows it.
    trial : bool, default=False
        Whether to try refinement even if the condition number does not guarantee its convergence.
    """
    kind, square = products.dtype.type, unit**2
    factor, condition, solve = get_lapack_funcs(("potrf", "pocon", "potrs"), (products,))
    matrix, column = products.copy(), (unit * free).astype(kind)
    if column.any():
        matrix += np.multiply.outer(column, column)
    matrix.flat[:: len(matrix) + 1] += kind(alpha * square)
    norm = float(np.abs(matrix).sum(axis=0).max())
    # The transpose has LAPACK's order, which avoids a copy.
    lower, failed = factor(matrix.T, lower=1, clean=0, overwrite_a=1)
    reciprocal = 0.0 if failed else float(condition(lower, norm, uplo="L")[0])
    rounding = float(np.finfo(kind).eps)
    if not rounding <= (_MOST_LOST_IN_TRIAL if trial else MOST_LOST) * reciprocal:
        return None

    def inverse(right: Array) -> Array:
        size = np.linalg.norm(right, axis=0)
        size[size == 0] = 1.0
        return np.asarray(solve(lower, (right / size).astype(kind), lower=1)[0] * (size * square))

    return refine(inverse, reciprocal, rounding, product, right, alpha, free, tol, trial)


def refine(
    inverse: Callable[[Array], Array],
    reciprocal: float,
    rounding: float,
    product: Callable[[Array], Array],
    right: Array,
    alpha: float,
    free: Array,
    tol: float,
    trial: bool = False,
) -> Refined | None:
    """The same from an approximate inverse; None if refinement does not converge.

    Parameters
    ----------
    inverse : callable
        Multiplies an array of shape (n, k) by the inverse.
    reciprocal, rounding : float
        Reciprocal condition number of the matrix, and the precision of the inverse relative to the condition number.
    """
    shares, left = np.zeros_like(right), right
    # Initial estimate, until two steps show the rate.
    change, shrinking = np.zeros(right.shape[1]), min(rounding / reciprocal, SLOW)
    for left_over in reversed(range(MOST_REFINEMENTS)):
        step = inverse(left)
        shares += step
        before, change = change, _lengths(step, left)
        if before.any():
            shrinking = float((change / np.where(before > 0, before, np.inf)).max())
        whole = _lengths(shares, right)
        if (shrinking * change <= tol * whole).all():
            return Refined(shares, reciprocal, inverse)
        too_slow = trial and before.any() and (shrinking**left_over * change > tol * whole).any()
        if shrinking > SLOW or too_slow:  # either residuals are at rounding level, or the products are too inaccurate
            rounded = bool((change <= _FLOOR / np.sqrt(reciprocal) * whole).all())
            return Refined(shares, reciprocal, inverse) if rounded else None
        left = right - product(shares) - alpha * shares - np.multiply.outer(free, free @ shares)
    return None


def summed_rows(found: Refined, rows: CentredRows, longest: float, tol: float) -> tuple[Array, float] | None:
    """Coefficients xᵀ·shares, and their relative error, which grows if the terms cancel; None if it is above `tol`.

    Parameters
    ----------
    longest : float
        Upper bound of the largest singular value of the rows.
    """
    coef = rows.combined(found.shares)
    terms = longest * _sizes(found.shares.T) * reciprocal(_sizes(coef))
    error = EPS * max(float(terms.max()), 1.0 / np.sqrt(found.reciprocal))
    return (coef, error) if error <= tol else None


def refined_coefficients(
    found: Refined, rows: CentredRows, targets: Array, alpha: float, tol: float
) -> tuple[Array, float] | None:
    """The same with a penalty, to `tol` for columns at unit norm; None if refinement does not converge.

    If terms cancel, short columns lose digits to long ones. A refinement step restores them: it is (xᵀx + alpha)⁻¹·g =
    (g − xᵀ·(x·xᵀ + alpha)⁻¹·x·g)/alpha, for the descent direction g at the coefficients.
    """
    coef, longest = rows.combined(found.shares), float(rows.length.max(initial=0.0)) or 1.0
    squares = np.square(rows.length / longest)
    per_size = reciprocal(_sizes(coef * rows.length))
    terms = float(np.linalg.norm(squares)) * longest * (longest * _sizes(found.shares.T))
    error, before = EPS * float((terms * per_size).max()), np.inf
    if error <= tol:
        return coef, error
    for _ in range(MOST_REFINEMENTS):
        left = rows.combined(rows.right[:, targets] - rows.scores(coef)) - alpha * coef
        step = (left - rows.combined(found.inverse(rows.scores(left)))) / alpha
        coef = coef + step
        change = float((np.linalg.norm(step * rows.length, axis=1) * per_size).max())
        if change <= tol:
            return coef, change
        if change > SLOW * before:  # g is at rounding level
            return None
        before = change
    return None


def _sizes(vectors: Array) -> Array:
    """Norms of vectors in rows, whose squares may overflow."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    return np.asarray(largest * np.linalg.norm(vectors * reciprocal(largest)[:, None], axis=1))


def _lengths(shares: Array, image: Array) -> Array:
    """Norms √(sᵀ·M·s) of dual coefficients s, from M·s: ‖coef‖² plus the penalty's part."""
    return np.sqrt(np.abs(np.einsum("ij,ij->j", shares, image)))
