"""Choice of the least-squares solver by the shape of the data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import InvalidParameter
from hiperplano.linalg.centred_rows import CentredRows, sparse_rows
from hiperplano.linalg.krylov.long_columns import long_columns, nearly_singular
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.least_squares.conjugate import conjugate_least_squares, expected_steps
from hiperplano.solvers.least_squares.direct import least_squares
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.solution import (
    MOST_FACTORED_PENALISED,
    LeastSquaresSolution,
    with_all_columns,
)
from hiperplano.solvers.least_squares.sparse_factor import (
    ColumnPreconditioner,
    least_factor_cost,
    preconditioner_cost,
    seldom_meet,
    sparse_factor_cost,
)
from hiperplano.solvers.least_squares.wide import factored_sparse_rows, few_sparse_rows, wide_least_squares

SOLVERS = ("auto", "gram", "qr", "cg")
_MOST_COLUMNS = 12_000  # of dense rows: their Gram matrix takes 1.1 GiB
_MOST_SPARSE_COLUMNS = 2_000  # of sparse rows, up to which a dense Gram matrix is computed
_MOST_KEPT = 512  # columns up to which unpenalised fits always factor the Gram matrix, for standard errors
_MOST_WIDE_CELLS = 2**27  # numbers of a dense table with fewer rows than columns, or of X·Xᵀ: 1 GiB


def solve_least_squares(
    design: Design,
    *,
    alpha: Array,
    fit_intercept: bool,
    positive: bool = False,
    solver: str = "auto",
    tol: float = 1e-10,
    max_iter: int | None = None,
    sums: NormalEquations | CentredRows | None = None,
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² by `solver`, or by one that suits the data.

    Parameters
    ----------
    alpha : ndarray of shape (targets,)
    positive : bool
        Constrain the coefficients to be non-negative.
    solver : {"auto", "gram", "qr", "cg"}
    tol : float
        For "cg": relative norm of the gradient at the solution.
    max_iter : int, optional
        For "cg": most steps; by default ten for each column, or for each row if these are fewer.
    sums : NormalEquations or CentredRows, optional
        If known: normal equations of these rows without a penalty, or, for no more rows than columns, centred rows.
    """
    columns = None
    if sums is None and solver == "auto" and design.is_sparse and design.n_columns > _MOST_SPARSE_COLUMNS:
        columns = HeldColumns.of(design)
    rows = design if columns is None else columns.narrow()
    found = _solve(rows, alpha, fit_intercept, positive, solver, tol, max_iter, sums)
    return with_all_columns(found, columns)


def _solve(
    design: Design,
    alpha: Array,
    fit_intercept: bool,
    positive: bool,
    solver: str,
    tol: float,
    max_iter: int | None,
    sums: NormalEquations | CentredRows | None,
) -> LeastSquaresSolution:
    if solver == "auto" and not positive and max_iter is None and sums is None:
        found = _by_few_passes(design, alpha, fit_intercept, tol)
        if found is not None:
            return found
    free, solver = solver == "auto", suited_solver(design, solver, alpha, fit_intercept, positive)
    if solver == "rows":
        rows = sums if isinstance(sums, CentredRows) else None
        return wide_least_squares(design, alpha=alpha, fit_intercept=fit_intercept, positive=positive, rows=rows)
    if solver == "cg":
        if positive:
            raise InvalidParameter(
                "positive=True with conjugate gradients, which cannot keep signs; coefficients of 0 or more need a "
                "direct solver. Set solver='gram' if {n_columns} columns fit memory, or positive=False.",
                n_columns=design.n_columns,
            )
        steps = max_iter if max_iter is not None else 10 * min(design.n_rows, design.n_columns)
        preconditioner = _preconditioner(design, alpha, fit_intercept, steps) if free and max_iter is None else None
        return conjugate_least_squares(
            design, alpha=alpha, fit_intercept=fit_intercept, tol=tol, max_iter=steps, preconditioner=preconditioner
        )
    known = sums if isinstance(sums, NormalEquations) else None
    return least_squares(
        design,
        alpha=alpha,
        fit_intercept=fit_intercept,
        positive=positive,
        orthogonal=solver == "qr",
        inaccurate_factor=free,
        sums=known,
    )


def _preconditioner(design: Design, alpha: Array, fit_intercept: bool, max_iter: int) -> ColumnPreconditioner | None:
    """A preconditioner for conjugate gradients without a penalty, if it costs less than `max_iter` of their steps."""
    density = design.density if design.is_sparse else 1.0
    if alpha.any() or not (isinstance(design, InMemory) and seldom_meet(design.n_rows, design.n_columns, density)):
        return None
    rows, step = sparse_rows(design, fit_intercept), Costs.of(design, 1).square_product
    return None if rows.cancels or preconditioner_cost(rows.x) > max_iter * step else ColumnPreconditioner(rows)


def _by_few_passes(design: Design, alpha: Array, fit_intercept: bool, tol: float) -> LeastSquaresSolution | None:
    """Conjugate gradients for about as long as a factorisation would take; None if they do not converge or pay.

    They are tried on sparse rows and on penalised fits with many columns, for which no factorisation is kept for
    standard errors. With fewer rows than columns, X·Xᵀ is used if they do not converge and it fits in memory.
    """
    penalised = isinstance(design, InMemory) and bool((alpha > 0).all())
    if design.n_columns <= (MOST_FACTORED_PENALISED if penalised else _MOST_KEPT):
        return None
    if not (design.is_sparse or penalised):
        return None
    costs = Costs.of(design, 1)
    tall = not design.is_sparse and design.n_rows >= design.n_columns and fits_in_memory(design)
    if (design.n_columns <= _MOST_KEPT or tall) and not _steps_pay(design, alpha, fit_intercept, tol, costs):
        return None
    if design.n_rows >= design.n_columns:
        return _by_steps_of_columns(design, alpha, fit_intercept, tol, costs)
    steps = int(costs.affordable_steps(costs.row_products))
    if not design.is_sparse:
        if not fits_in_memory(design):
            return None
        return wide_least_squares(design, alpha=alpha, fit_intercept=fit_intercept, tol=tol, max_iter=steps)
    products = design.n_rows**2 <= _MOST_WIDE_CELLS
    steps, rows = steps if products else 10 * design.n_rows, sparse_rows(design, fit_intercept)
    found = _by_steps_of_unlike_columns(design, rows, alpha, fit_intercept, tol, steps) if penalised else None
    return found or few_sparse_rows(
        design,
        rows,
        alpha=alpha,
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=steps,
        products=products,
        last=not _can_be_dense(design),
    )


def _steps_pay(design: Design, alpha: Array, fit_intercept: bool, tol: float, costs: Costs) -> bool:
    """Whether conjugate gradients are expected to take less time than a factorisation.

    They need few steps if the penalty is large, or if columns are nearly uncorrelated.
    """
    if not isinstance(design, InMemory):
        return False
    factor, step = _factor_and_step(design, costs)
    if design.n_rows < design.n_columns:
        return design.is_sparse and replace(costs, density=1.0).row_products > costs.fewest_steps(step)
    most = costs.profitable_steps(factor, step)
    return most > 0 and expected_steps(design, float(alpha.min()), fit_intercept, tol, most) <= most


def _factor_and_step(design: Design, costs: Costs) -> tuple[float, float]:
    """Costs of a factorisation of XᵀX, and of a step of conjugate gradients for every target."""
    if not design.is_sparse and design.dtype == np.float32:
        return costs.rounded_hessian, costs.square_product_of_singles * design.n_targets
    return costs.hessian, costs.square_product * design.n_targets


def _by_steps_of_columns(
    design: Design, alpha: Array, fit_intercept: bool, tol: float, costs: Costs
) -> LeastSquaresSolution | None:
    """`_by_few_passes` for at least as many rows as columns.

    If rows seldom share a column, a sparse factorisation is tried once conjugate gradients have cost as much.
    """
    factor, step = _factor_and_step(design, costs)
    fits, affordable = fits_in_memory(design), partial(costs.affordable_steps, step=step)
    steps = int(affordable(factor)) if fits else 10 * design.n_columns

    def trial(most: int) -> LeastSquaresSolution | None:
        found = conjugate_least_squares(
            design,
            alpha=alpha,
            fit_intercept=fit_intercept,
            tol=tol,
            max_iter=most,
            trial=True,
            all_digits=design.n_columns <= _MOST_KEPT,
        )
        return found if found.converged else None

    if isinstance(design, InMemory) and seldom_meet(design.n_rows, design.n_columns, design.density):
        first = int(affordable(least_factor_cost(design.n_rows, design.n_columns, design.density)))
        found = trial(min(first, steps))
        if found is not None or steps <= first:
            return found
        rows = sparse_rows(design, fit_intercept)
        if affordable(sparse_factor_cost(rows, alpha)) < steps:
            return factored_sparse_rows(design, rows, alpha=alpha, fit_intercept=fit_intercept)
    return trial(steps) if fits else None


def _by_steps_of_unlike_columns(
    design: Design, rows: CentredRows, alpha: Array, fit_intercept: bool, tol: float, max_iter: int
) -> LeastSquaresSolution | None:
    """Conjugate gradients for columns of unlike length, such as those of words; None if they do not converge or pay.

    With few long columns, X·Xᵀ is nearly singular. Columns scaled to unit length then need far fewer steps.
    """
    if not nearly_singular(rows) or len(long_columns(rows, float(alpha.min()))):
        return None
    if seldom_meet(design.n_rows, design.n_columns, design.density):
        factor = least_factor_cost(design.n_rows, design.n_columns, design.density)
        max_iter = min(max_iter, int(Costs.of(design, 1).affordable_steps(factor)))
    found = conjugate_least_squares(
        design,
        alpha=alpha,
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=max_iter,
        trial=True,
        columns=rows.column_scale(fit_intercept),
    )
    return found if found.converged else None


def sums_first(design: Design, solver: str) -> bool:
    """Whether the solver begins with sums over all rows, which reveal NaN and infinity."""
    if solver != "auto":
        return solver != "cg"
    return design.n_rows > design.n_columns and fits_in_memory(design) and not design.is_sparse


def suited_solver(design: Design, solver: str, alpha: Array, fit_intercept: bool, positive: bool) -> str:
    """`solver`, or, for "auto", the solver that suits the shape of the data."""
    if solver != "auto":
        return solver
    if not (fits_in_memory(design) and (positive or _can_be_dense(design))):
        return "cg"
    # With an intercept, as many centred rows as columns have a lower rank, so that columns are linearly dependent.
    short = fit_intercept and not positive and design.n_rows == design.n_columns and not alpha.any()
    return "rows" if design.n_rows < design.n_columns or short else "gram"


def _can_be_dense(design: Design) -> bool:
    """Whether rows may be made dense: not if they are sparse, fewer than columns, and too many."""
    many = design.is_sparse and design.n_columns > design.n_rows > _MOST_SPARSE_COLUMNS
    return fits_in_memory(design) and not many


def fits_in_memory(design: Design) -> bool:
    """Whether the matrices of a direct solver fit in memory: the Gram matrix, or all rows if they are fewer."""
    if design.n_rows < design.n_columns:
        return design.n_rows * design.n_columns <= _MOST_WIDE_CELLS
    return design.n_columns <= (_MOST_SPARSE_COLUMNS if design.is_sparse else _MOST_COLUMNS)
