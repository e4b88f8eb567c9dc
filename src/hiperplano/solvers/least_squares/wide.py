"""Least squares with fewer rows than columns: the solution lies in the span of the rows."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, lapack, svd
from scipy.optimize import nnls
from scipy.sparse.csgraph import structural_rank

from hiperplano.data.design import Array, Design
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.linalg.centred_rows import CentredRows, centred_rows
from hiperplano.linalg.dependent.rows import MOST_LOST_BY_PIVOTS, by_independent_rows
from hiperplano.linalg.krylov.minimum_norm_steps import solve_by_column_steps
from hiperplano.linalg.krylov.row_steps import solve_by_row_steps
from hiperplano.linalg.minimum_norm import minimum_norm
from hiperplano.linalg.refined_products import (
    REFINED,
    SingleRows,
    refined_coefficients,
    solve_refined,
    summed_rows,
    too_few_digits,
)
from hiperplano.linalg.triangular import EPS, Columns, reciprocal
from hiperplano.messages import Message
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.least_squares.solution import (
    MOST_FACTORED_PENALISED,
    LeastSquaresSolution,
    for_standard_errors,
    penalised_sum,
)
from hiperplano.solvers.least_squares.sparse_factor import (
    by_sparse_factor,
    least_factor_cost,
    seldom_meet,
    sparse_factor_cost,
)
from hiperplano.solvers.solution import digits_of

_MOST_KEPT = 2_000  # columns up to which a solution keeps what standard errors need (32 MB)
_MOST_LOST = 1e-11  # largest relative error of a solution by X·Xᵀ; an intercept may lose two digits more
_ORTHOGONAL = 20  # an orthogonal factorisation of the rows costs at least this many times X·Xᵀ
_LEAST_OF_ROWS = 1e-6  # least reciprocal condition number of the triangular factor of the rows
_MANY = Message(" (many coefficients fit equally well: the minimum-norm ones were taken)")


def wide_least_squares(
    design: Design,
    *,
    alpha: Array,
    fit_intercept: bool = True,
    positive: bool = False,
    rows: CentredRows | None = None,
    tol: float = 1e-10,
    max_iter: int = 0,
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² in the span of the rows.

    X·Xᵀ is used if it is accurate enough, otherwise an orthogonal factorisation or the singular values of the rows.
    Without a penalty the solution is not unique, and that of minimum norm is taken.

    Parameters
    ----------
    design : Design
        Design with fewer rows than columns, which are collected in memory.
    alpha : ndarray of shape (targets,)
    positive : bool
        Constrain the coefficients to be non-negative.
    rows : CentredRows, optional
        Centred rows of the design, if they are known.
    tol : float, default=1e-10
        Relative norm of the residual for conjugate gradients.
    max_iter : int, default=0
        Most steps of conjugate gradients, for all targets together, before X·Xᵀ is used.
    """
    with one_blas_thread():
        known, rows = rows, centred_rows(design, fit_intercept) if rows is None else rows
        end = None
        if not positive:
            single = _single_rows(design, rows, alpha) if known is None else None
            end = _by_conjugate_gradients(rows, alpha, fit_intercept, tol, max_iter, single) if max_iter else None
            end = end or _by_row_products(rows, alpha, fit_intercept, single)
            end = end or _by_independent_rows(rows, alpha, fit_intercept)
        if end is None and rows.is_sparse:
            rows = centred_rows(design, fit_intercept)
        if not positive:
            end = end or _by_orthogonal_rows(rows, alpha, fit_intercept)
        if end is not None:
            return _solution(design, rows, alpha, fit_intercept, end)
        left, values, basis = svd(rows.unit, full_matrices=False, check_finite=False)
        kept = values > max(rows.x.shape) * EPS * values.max(initial=0.0)
        values = values[kept]
        if positive:
            coef = _nonnegative(rows, alpha)
        else:
            coef = minimum_norm(values, basis[kept].T, left[:, kept].T @ rows.right, rows.length, alpha)
            coef = _polished(coef, rows, alpha)
    condition = float(values.max(initial=1.0) / values.min(initial=values.max(initial=1.0)))
    digits = digits_of(EPS * condition)
    unique = bool((alpha > 0).all())
    method, choice = Message("singular value decomposition of the rows"), _MANY
    if positive:
        method = Message("active set, coefficients ≥ 0")
        choice = Message(" (many coefficients fit equally well: some of them were taken)")
    status = Message("Solved by {method}", method=method) + ("" if unique else choice)
    keep = unique and design.n_columns <= _MOST_KEPT
    end = _End(coef, method, status, len(values), condition, digits, values[:, None] * basis[kept] if keep else None)
    return _solution(design, rows, alpha, fit_intercept, end)


def few_sparse_rows(
    design: Design,
    rows: CentredRows,
    *,
    alpha: Array,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    products: bool,
    last: bool,
) -> LeastSquaresSolution | None:
    """The same for sparse rows, which stay sparse: by conjugate gradients in their span, or by X·Xᵀ.

    Return None if neither is accurate enough.

    Parameters
    ----------
    tol : float
        Relative norm of the residual for conjugate gradients.
    max_iter : int
        Most steps, for all targets together.
    products : bool
        Whether X·Xᵀ fits in memory.
    last : bool
        Whether there are too many rows to make them dense. X·Xᵀ must then do, however accurate it is; if rows are
        linearly dependent, its eigenvectors are used, unless there are too many rows for these as well.
    """
    with one_blas_thread():
        if rows.cancels:
            return None
        n, d = rows.x.shape
        density, costs = rows.x.nnz / max(1, n * d), Costs.of(design, 1)
        first = costs.affordable_steps(least_factor_cost(n, d, density)) if seldom_meet(n, d, density) else np.inf
        to_factor = cache(lambda: costs.affordable_steps(sparse_factor_cost(rows, alpha)) if first < np.inf else np.inf)
        end = _by_conjugate_gradients(rows, alpha, fit_intercept, tol, int(min(max_iter, first)))
        if end is None and first < max_iter:
            end = (
                _by_sparse_factor(rows, alpha, fit_intercept)
                if to_factor() < max_iter
                else _by_conjugate_gradients(rows, alpha, fit_intercept, tol, max_iter)
            )
        few = n <= _MOST_KEPT
        if end is None and products and not _depend(rows, alpha, fit_intercept):
            end = _by_products(rows, alpha, fit_intercept, rows.products, 1.0, 1.0 if last and not few else _MOST_LOST)
        most = min(_ORTHOGONAL * max_iter, 10 * n if last else np.inf)  # by dense rows, or steps for columns
        if end is None and products and max_iter <= to_factor() < most:
            end = _by_sparse_factor(rows, alpha, fit_intercept)
        if end is None and products:
            end = _by_independent_rows(rows, alpha, fit_intercept, 1.0 if last else MOST_LOST_BY_PIVOTS)
        if end is None and products and last and few:
            end = _by_eigenvectors(rows, alpha)
    return None if end is None else _solution(design, rows, alpha, fit_intercept, end)


def factored_sparse_rows(
    design: Design, rows: CentredRows, *, alpha: Array, fit_intercept: bool
) -> LeastSquaresSolution | None:
    """The same by a sparse factorisation, for any number of rows; None if that is not accurate enough."""
    with one_blas_thread():
        end = None if rows.cancels else _by_sparse_factor(rows, alpha, fit_intercept)
    return None if end is None else _solution(design, rows, alpha, fit_intercept, end)


class _End(NamedTuple):
    """A solution, and its status without the clause on digits.

    `factor`, if known, has the same products of columns as the rows, with columns scaled to unit length.
    """

    coef: Array
    method: Message
    status: Message
    rank: int
    condition: float
    digits: float
    factor: Array | None = None
    n_iter: int = 1
    gap: float = EPS


def _ended(
    coef: Array, method: Message, alpha: Array, rank: int, condition: float, error: float, many: bool = True
) -> _End:
    """The end of a method with a relative error; `many` is whether there are many solutions without a penalty."""
    status = Message("Solved by {method}", method=method)
    if many and not bool((alpha > 0).all()):
        status += _MANY
    return _End(coef, method, status, rank, condition, digits_of(error))


def _solution(design: Design, rows: CentredRows, alpha: Array, fit_intercept: bool, end: _End) -> LeastSquaresSolution:
    with one_blas_thread():
        rss = rows.residual_squares(end.coef, fit_intercept)
    scale = reciprocal(rows.length)
    many = not bool((alpha > 0).all()) and end.rank < np.count_nonzero(rows.length)
    columns, products = None if end.factor is None else Columns(end.factor, scale), None
    if columns is None and design.n_columns <= MOST_FACTORED_PENALISED and bool((alpha > 0).all()):
        columns, products = for_standard_errors(rows.unit, scale, float(alpha.min()))
    return LeastSquaresSolution(
        coef=end.coef,
        intercept=rows.target_mean - end.coef @ rows.mean,
        method=end.method,
        n_iter=end.n_iter,
        objective=penalised_sum(rss, alpha, end.coef),
        gap=end.gap,
        converged=True,
        verdict=end.status,
        rank=end.rank,
        condition=end.condition,
        digits=end.digits,
        rss=rss,
        tss=np.sum(rows.right**2, axis=0),
        mean=rows.mean,
        scale=scale,
        total=float(np.square(rows.root).sum()),
        alpha=alpha,
        dependent=np.arange(design.n_columns) if many else np.flatnonzero(rows.length == 0),
        columns=columns,
        products=products,
    )


def _single_rows(design: Design, rows: CentredRows, alpha: Array) -> SingleRows | None:
    """The rows in float32, if they are dense, their system is well conditioned and this saves enough time."""
    if rows.is_sparse or not bool((alpha > 0).all()) or not Costs.of(design, len(alpha)).rounds_row_products:
        return None
    return None if too_few_digits(rows, alpha) else SingleRows(rows.x, rows.sum_of_squares)


def _by_conjugate_gradients(
    rows: CentredRows, alpha: Array, fit_intercept: bool, tol: float, max_iter: int, single: SingleRows | None = None
) -> _End | None:
    """Conjugate gradients in the span of the rows; None if `max_iter` steps are not enough, or will not be.

    Without a penalty, linearly dependent rows may not fit their targets. Steps for X·Xᵀ do not converge then, but steps
    for XᵀX do. They are taken at once if rows are equal, and later if the pattern of stored numbers shows dependence.
    """
    method, rank = Message("conjugate gradients in the span of the rows"), _rank(rows, fit_intercept)
    repeat = rows.is_sparse and not alpha.any() and rows.repeat
    found = None if repeat else solve_by_row_steps(rows, alpha, fit_intercept, tol, max_iter, single)
    if repeat or (found is None and rows.is_sparse and not alpha.any() and _depend(rows, alpha, fit_intercept)):
        found = solve_by_column_steps(rows, tol, max_iter)
        rank = min(rank, int(structural_rank(rows.x)))
    if found is None:
        return None
    end = _ended(found.coef, method, alpha, rank, float(np.sqrt(found.condition)), max(found.error, EPS))
    return end._replace(n_iter=found.n_iter, gap=found.gap)


def _rank(rows: CentredRows, fit_intercept: bool) -> int:
    """Rank of the columns, if the rows are linearly independent except for their mean."""
    return min(len(rows.root) - int(fit_intercept), int(np.count_nonzero(rows.length)))


def _depend(rows: CentredRows, alpha: Array, fit_intercept: bool) -> bool:
    """Whether X·Xᵀ of sparse rows is singular for structural reasons, such as empty rows."""
    return not bool(alpha.all()) and int(structural_rank(rows.x)) + int(fit_intercept) < len(rows.root)


def _by_sparse_factor(rows: CentredRows, alpha: Array, fit_intercept: bool) -> _End | None:
    """Solution by a sparse factorisation of rows that seldom share a column; None if refinement does not converge."""
    found = by_sparse_factor(rows, alpha, fit_intercept)
    if found is None:
        return None
    rank = min(_rank(rows, fit_intercept), int(structural_rank(rows.x)))
    method, many = Message("sparse factorisation of the rows"), rank < int(np.count_nonzero(rows.length))
    end = _ended(found.coef, method, alpha, rank, found.condition, found.error, many)
    return end._replace(n_iter=found.n_iter, gap=found.error)


def _by_eigenvectors(rows: CentredRows, alpha: Array) -> _End:
    """The same for equal rows and a tiny penalty: directions with eigenvalue 0 are left out."""
    squares, turn = eigh(rows.products, check_finite=False, driver="evd")
    kept = squares > len(squares) * EPS * squares[-1]
    squares, turn = squares[kept], turn[:, kept]
    coef = rows.combined(turn @ ((turn.T @ rows.right) / (squares[:, None] + alpha)))
    condition = float(squares[-1] / (squares[0] + alpha.min())) if len(squares) else 1.0
    method = Message("eigenvectors of the products of rows")
    return _ended(coef, method, alpha, len(squares), float(np.sqrt(condition)), EPS * condition)


def _by_independent_rows(
    rows: CentredRows, alpha: Array, fit_intercept: bool, most_lost: float = _MOST_LOST
) -> _End | None:
    """The same for linearly dependent rows, such as equal or empty ones, without a penalty."""
    if alpha.any():
        return None
    free = _free(rows, fit_intercept)
    found = by_independent_rows(rows, free, most_lost)
    if found is None:
        return None
    method = Message("normal equations of linearly independent rows")
    rank = found.rank - int(free.any())
    return _ended(found.coef, method, alpha, rank, float(1.0 / np.sqrt(found.reciprocal)), found.error)


def _free(rows: CentredRows, fit_intercept: bool) -> Array:
    """One more column, along the null direction of centred rows."""
    return np.asarray(np.sqrt(rows.sum_of_squares / len(rows.root)) * rows.free_direction * float(fit_intercept))


def _by_row_products(
    rows: CentredRows, alpha: Array, fit_intercept: bool, single: SingleRows | None = None
) -> _End | None:
    """xᵀ·(x·xᵀ + alpha)⁻¹·y in the units of the data; without a penalty this is the minimum-norm solution.

    Return None if products of rows do not give ten digits.
    """
    end = None if single is None else _by_products(rows, alpha, fit_intercept, single.products, single.unit)
    return end or _by_products(rows, alpha, fit_intercept, rows.products, 1.0)


def _by_products(
    rows: CentredRows, alpha: Array, fit_intercept: bool, products: Array, unit: float, most_lost: float = _MOST_LOST
) -> _End | None:
    """The same from unit²·x·xᵀ, in float32 or float64."""
    coef, smallest = np.empty((len(alpha), len(rows.length))), 1.0  # reciprocal condition
    free = _free(rows, fit_intercept)
    single = products.dtype == np.float32
    tol, error = (_MOST_LOST, _MOST_LOST) if single else (REFINED, 0.0)
    trial = single and rows.alike_columns
    for strength in set(alpha.tolist()):
        which = np.flatnonzero(alpha == strength)
        found = solve_refined(products, unit, rows.square_products, rows.right[:, which], strength, free, tol, trial)
        if found is None:
            return None
        if strength > 0:
            made = refined_coefficients(found, rows, which, strength, most_lost)
        else:
            longest = float(np.sqrt(np.abs(products).sum(axis=0).max())) / unit  # at least the largest singular value
            made = summed_rows(found, rows, longest, most_lost)
        if made is None:
            return None
        coef[which], lost = made
        error, smallest = max(error, lost), min(smallest, found.reciprocal)
    method, condition = Message("normal equations of the rows"), float(1.0 / np.sqrt(smallest))
    return _ended(coef, method, alpha, _rank(rows, fit_intercept), condition, max(error, EPS * condition))


def _by_orthogonal_rows(rows: CentredRows, alpha: Array, fit_intercept: bool) -> _End | None:
    """Minimum-norm solutions of [x, √alpha]·z = y by a triangular factor of the rows, not of their products.

    Return None if they have fewer than ten digits; singular values then show what is a rounding error.
    """
    n, d = rows.x.shape
    coef, smallest = np.empty((len(alpha), d)), 1.0  # reciprocal condition
    free = [_free(rows, fit_intercept)[:, None]] if fit_intercept else []
    for strength in set(alpha.tolist()):
        which = np.flatnonzero(alpha == strength)
        more = [np.sqrt(strength) * np.eye(n)] if strength > 0 else []
        wide = np.asfortranarray(np.hstack([rows.x, *more, *free]))
        right = np.zeros((wide.shape[1], len(which)), order="F")
        right[:n] = rows.right[:, which]
        work = int(lapack.dgels_lwork(*wide.shape, right.shape[1])[0])  # SciPy's default leaves no room for blocks
        factor, found, failed = lapack.dgels(wide, right, lwork=work, overwrite_a=1, overwrite_b=1)
        if not failed:
            smallest = min(smallest, float(lapack.dtrcon(factor[:, :n], norm="1", uplo="L")[0]))
        if failed or smallest < _LEAST_OF_ROWS:
            return None
        coef[which] = found[:d].T
    method = Message("orthogonal factorisation of the rows")
    return _ended(coef, method, alpha, _rank(rows, fit_intercept), 1.0 / smallest, EPS / smallest)


def _polished(coef: Array, rows: CentredRows, alpha: Array) -> Array:
    """Recompute small coefficients, of columns shorter than the penalty, from alpha·coef = xᵀ·r."""
    r = rows.right - rows.x @ coef.T
    penalty = alpha[:, None]
    small = rows.length < np.sqrt(penalty)
    return np.where(small, (r.T @ rows.x) / np.where(small, penalty, 1.0), coef)


def _nonnegative(rows: CentredRows, alpha: Array) -> Array:
    """Non-negative solution, computed with columns scaled to unit length with their penalty."""
    answers = []
    for right, strength in zip(rows.right.T, alpha, strict=True):
        root = np.sqrt(strength)
        scale = np.where(rows.length > 0, reciprocal(np.hypot(rows.length, root)), 0.0)
        x, target = rows.x * scale, right
        if strength > 0:
            x = np.vstack([x, np.diag(root * scale)])
            target = np.concatenate([target, np.zeros(x.shape[1])])
        answers.append(scale * nnls(x, target, maxiter=30 * x.shape[1])[0])
    return np.stack(answers)
