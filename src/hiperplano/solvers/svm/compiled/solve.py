"""The order in which methods are tried on a support vector machine with rows in memory.

Dual coordinate ascent is fast if C is small, if rows are sparse, or if there are no more rows than columns. Otherwise
it may converge very slowly. So it gets about half the time that the cheapest other method is expected to take
(`costs.py`). Where it leaves fewer free rows than columns, the active set method mostly finds the exact solution from
there. If there are far fewer rows than columns, the other methods work in the span of the rows. They start at once if
this takes no longer than a few passes, which it does for few rows or many classes.
"""

from __future__ import annotations

from hiperplano.solvers.svm.compiled.costs import (
    DENSE_CELLS,
    FEW_PASSES,
    FEWEST_PASSES,
    MOST_DENSE_CELLS,
    affordable_passes,
    in_span_cost,
    interior_cost,
    interior_fits,
    needs_no_factor,
    newton_cost,
    passes_before_span,
    sparse_interior_cost,
    sparse_newton_cost,
    steps_before_factor,
    surely_affordable_passes,
)
from hiperplano.solvers.svm.compiled.search import Search

_TALL_ROWS_PER_COLUMN = 8  # with more rows and a squared loss, Newton's method was faster than the ascent for most C
_MOST_SPAN_ROWS = 4000  # most rows whose span is computed


def is_wide(n_rows: int, n_columns: float) -> bool:
    """Whether there are so few rows that the problem is solved in their span."""
    return 2 * n_rows <= n_columns and n_rows <= _MOST_SPAN_ROWS


def solve_dense(search: Search, few: bool, n_problems: int) -> None:
    """Try methods for dense rows, the cheapest first.

    Unless `few`, the gap may remain too large: the caller then continues by sums over all rows.

    Parameters
    ----------
    n_problems : int
        Number of problems on these rows, which share the products of rows that give their span.
    """
    rows, n, d = search.rows, search.rows.n_rows, len(search.rows.shift)
    wide = is_wide(n, d)
    squared = bool(search.box.soft[0])
    passes = passes_before_span(rows, n_problems) if wide else affordable_passes(rows, squared)
    if passes and not (squared and n > _TALL_ROWS_PER_COLUMN * d):
        search.ascend_then_active_set(passes)
    if not search.ended:
        if wide:
            solve_in_span(search)
            if not search.ended:
                search.interior()  # coordinates of the span have lost digits of short columns beside long ones
        elif few or needs_no_factor(n, d, squared):
            search.second_order()
        elif not squared and interior_fits(n, d) and interior_cost(n, d) < newton_cost(n, d, squared):
            search.interior()
    if not search.ended and (wide or few):
        search.ascend()


def solve_sparse(search: Search, n_problems: int) -> None:
    """Dual ascent, then other methods if the rows have a small span or table, or if the interior point method is cheap.

    The gap may remain too large: the caller then continues by sums over all rows.
    """
    rows, n, d = search.rows, search.rows.n_rows, len(search.rows.shift)
    if is_wide(n, d):
        _solve_wide_sparse(search, n_problems)
        return
    squared = bool(search.box.soft[0])
    surely = surely_affordable_passes(rows, squared)
    if surely > FEWEST_PASSES:
        search.ascend(surely)
    if search.ended:
        return
    left_early = 0 < search.found.passes < surely
    newton, interior = sparse_newton_cost(rows, squared), sparse_interior_cost(rows)
    dense = not squared and interior_cost(n, d) < min(newton, interior)
    small = n * d <= (MOST_DENSE_CELLS if dense else DENSE_CELLS)
    passes = affordable_passes(rows, squared, small) - search.found.passes
    if passes > FEW_PASSES and not left_early:
        search.ascend(passes)
    if not search.ended and not small and interior < newton:
        _sparse_interior(search)
    if not search.ended and small:
        search.newton_on_dense(rows.matrix.toarray())
        if not search.ended:
            search.ascend()


def _solve_wide_sparse(search: Search, n_problems: int) -> None:
    """Dual ascent for as long as coordinates of the span take to pay, then the other methods in the span.

    The gap may remain too large, if Newton's method by sums over the rows is expected to take less time than these.

    Where dual variables are likely to end between their bounds, the ascent seldom takes fewer than ten passes. If the
    span pays for itself sooner, it starts there.
    """
    if not search.likely_free:
        search.ascend(FEW_PASSES)
    if search.ended:
        return
    span = passes_before_span(search.rows, n_problems)
    if span > FEW_PASSES:
        _solve_before_span(search, span)
    newton = sparse_newton_cost(search.rows, bool(search.box.soft[0]))
    if not search.ended and newton > in_span_cost(search.rows, n_problems):
        solve_in_span(search)


def solve_in_span(search: Search) -> None:
    """The methods in the span of the rows, and passes over the rows if its coordinates have lost digits."""
    search.newton_in_span()
    if search.left > 0 and search.misses_tol:
        search.ascend(FEW_PASSES)


def _solve_before_span(search: Search, span: float) -> None:
    """Dual ascent on wide sparse rows for up to `span` passes, or the interior point method if that costs less."""
    rows, squared = search.rows, bool(search.box.soft[0])
    surely = max(surely_affordable_passes(rows, squared), FEW_PASSES)
    search.ascend(min(span, surely))
    if search.ended or span <= surely or search.found.passes < surely:
        return
    newton, interior = sparse_newton_cost(rows, squared), sparse_interior_cost(rows)
    passes = min(span, affordable_passes(rows, squared)) - search.found.passes
    if passes > FEW_PASSES:
        search.ascend(passes)
    if not search.ended and interior < newton:
        _sparse_interior(search)


def _sparse_interior(search: Search) -> None:
    """The interior point method on sparse rows, at first by conjugate gradients if a factorisation would be dense."""
    rows, squared = search.rows, bool(search.box.soft[0])
    search.interior(0.0 if squared or rows.products.stays_sparse else steps_before_factor(rows))
