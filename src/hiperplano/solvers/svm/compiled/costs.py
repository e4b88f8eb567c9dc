"""What the methods for support vector machines on rows in memory are expected to cost.

Estimates are in nanoseconds of one core, and hold within a factor of about two. Only their ratios matter. Half of the
rows are taken to be free: to have dual variables between their bounds, which enter the equations of a Newton step.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.memory import memory_limit
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.svm.compiled.normal_equations import Products
from hiperplano.solvers.svm.compiled.problem import LoopRows

# Nanoseconds. Where two are given, the first is for a row, the second for each number in it.
_ASCENT_ROW, _ASCENT_NUMBER = 25.0, 0.3  # a visit of dual coordinate ascent to a dense row
_CACHE_MISS = 100.0  # added to a visit if a row's dual variable, target and bounds must come from memory:
_CACHED_ROWS = 2**16  # with more rows than these, of which they take 4 MB
_NEWTON_ROW, _NEWTON_NUMBER = 30.0, 0.6  # a pass of Newton's method
_FREE_ROW, _FREE_NUMBER = 5.0, 0.6  # a product of the free rows with a vector, and back
_COPY = 1.5  # copying a number of a free row, before a Hessian is computed
_STORED = 1.5  # a stored number of a sparse row, in a product with a vector
_SCATTERED = 4.0  # the same in a visit of the ascent to a wide row, whose coefficients lie outside the first cache
_LISTED = 20.0  # a stored number in the products of all pairs of sparse rows, which list the numbers of each column
_ASCENT_COLUMN = 1.0  # a coefficient, whose square is summed after each pass of the ascent
_SPAN_NUMBER = 1.0  # a coordinate in the span of sparse rows, in a visit of the ascent; hundreds of rows fill a cache
_SPAN_CALL = 1e6  # overhead of the methods in the span, for each problem
_STORED_PAIR = 2.0  # a product of two stored numbers of a row, in a Hessian
_MULTIPLICATION, _FACTOR_MULTIPLICATION = 0.03, 0.1  # in a dense Hessian, and in its Cholesky factorisation
_SUMS_CALL = 5e5  # Python's share of a Newton step by sums over blocks of rows
_INTERIOR_CALL, _INTERIOR_ROW = 3e5, 250.0  # a step of the interior point method: Python's share, and for each row

# Numbers of steps.
_CG_PRODUCTS, _FEW_CG_PRODUCTS = 25, 4  # products in a Newton step by conjugate gradients; where few steps are needed
_FEWEST_CG_PRODUCTS = 3  # a factorisation that costs less than so many products is computed at once
_CG_ROWS_PER_COLUMN = 4  # with fewer, most rows can be separated: steps that are not exact then free them one by one
_INTERIOR_STEPS, _INTERIOR_PRODUCTS = 15, 6  # of the interior point method, and products with all rows in each step
_ACTIVE_SET_ROUNDS = 5  # of the active set method: 1 to 10; with 1, some of 29 tables took 1.3 to 1.5 times as long
FEWEST_PASSES = 4.0  # the ascent ends no earlier; sparse rows are not visited if it can afford fewer passes
FEW_PASSES = 10.0  # fewer passes of the ascent seldom solve anything, but prove a solution that is already there

_USUAL_PASSES, _MOST_PASSES = 1_000, 100_000  # of a fit, if the user sets no limit
_CHEAP_PASSES = 3e8  # nanoseconds that more passes than usual may take

DENSE_CELLS = 2**20  # numbers of a sparse table that is made dense for Newton's method
MOST_DENSE_CELLS = 2**24  # the same for the interior point method, and of any other table that is copied: 128 MB


def usual_passes(design: Design) -> int:
    """Most passes over the rows unless the user sets a limit: more than usual where the ascent makes them quickly."""
    if not isinstance(design, InMemory) or not design.n_rows:
        return _USUAL_PASSES
    stored = design.n_columns * design.density
    each = design.n_rows * (_ASCENT_ROW + (_STORED if design.is_sparse else _ASCENT_NUMBER) * stored)
    return int(min(_MOST_PASSES, max(_USUAL_PASSES, _CHEAP_PASSES / each)))


def ascent_pass_cost(rows: LoopRows) -> float:
    """Nanoseconds for one pass of the ascent, which visits rows in random order."""
    visit = _ASCENT_ROW + (_CACHE_MISS if rows.n_rows > _CACHED_ROWS else 0.0)
    return rows.n_rows * (visit + (_ASCENT_NUMBER if rows.is_dense else _STORED) * rows.n_stored)


def affordable_passes(rows: LoopRows, squared: bool, made_dense: bool = False) -> float:
    """Passes of the ascent in half the time of the cheapest other method; 0 if those are too few to be worth a start.

    Sparse rows may be `made_dense` for the other methods.
    """
    n, d = rows.n_rows, len(rows.shift)
    if rows.is_dense or made_dense:
        cost = newton_cost(n, d, squared)
        cost = min(cost, interior_cost(n, d)) if not squared else cost
    else:
        cost = min(sparse_newton_cost(rows, squared), sparse_interior_cost(rows))
    passes = float(0.5 * cost / ascent_pass_cost(rows))
    return passes if passes > FEW_PASSES else 0.0


def span_cost(rows: LoopRows, n_problems: int) -> float:
    """Nanoseconds of the products of all pairs of rows, and of their factor, for each of `n_problems` that share them.

    Sparse rows have a product for each pair of stored numbers in a column.
    """
    n, d = rows.n_rows, len(rows.shift)
    if rows.is_dense:
        return Costs(n, d, 1.0, 1).row_products / n_problems
    products = n * _LISTED * rows.n_stored + _STORED_PAIR * rows.n_pairs + _COPY * n * n
    return (products + Costs.factor(n)) / n_problems


def passes_before_span(rows: LoopRows, n_problems: int) -> float:
    """Passes of the ascent on wide rows after which coordinates of their span would have saved as much as they cost.

    Infinite if passes over the coordinates of sparse rows take no less time.
    """
    if rows.is_dense:
        passes = span_cost(rows, n_problems) / ascent_pass_cost(rows)
        return float(passes) if passes > FEW_PASSES else 0.0
    n, d = rows.n_rows, len(rows.shift)
    saved = n * (_SCATTERED * rows.n_stored - _SPAN_NUMBER * n) + _ASCENT_COLUMN * (d - n)
    return (_SPAN_CALL + span_cost(rows, n_problems)) / saved if saved > 0 else np.inf


def in_span_cost(rows: LoopRows, n_problems: int) -> float:
    """Nanoseconds of the cheapest method in the span of wide rows, and of its coordinates."""
    n = rows.n_rows
    methods = min(interior_cost(n, n), float(_active_set_costs(n, n, np.array([n // 2]))[0]))
    return _SPAN_CALL + span_cost(rows, n_problems) + methods


def surely_affordable_passes(rows: LoopRows, squared: bool) -> float:
    """A lower bound of `affordable_passes` for sparse rows, which spares counting the products of their columns."""
    n, d = rows.n_rows, len(rows.shift)
    least = Products(True, min(n, d), min(n, d)).cost
    costs = [sparse_newton_cost(rows, squared), sparse_interior_cost(rows, least)]
    if n * d <= MOST_DENSE_CELLS:
        costs += [newton_cost(n, d, squared), interior_cost(n, d)]
    return float(0.5 * min(costs) / ascent_pass_cost(rows))


def takes_few_steps(n: int, d: int, squared: bool) -> bool:
    """Whether Newton's method finds most of the free rows in its first steps, unless classes are separated."""
    return squared and n > 2 * d


def newton_steps(n: int, d: int, squared: bool) -> float:
    """Steps of Newton's method, as measured, within a factor of 2."""
    return 8 if takes_few_steps(n, d, squared) else 10 + 150 * np.sqrt(min(1.0, d / n))


def newton_cost(n: int, d: int, squared: bool) -> float:
    """Nanoseconds of Newton's method on dense rows."""
    return newton_steps(n, d, squared) * newton_step_cost(n, d, squared)


def newton_step_cost(n: int, d: int, squared: bool) -> float:
    """Nanoseconds of one of its steps."""
    solve = _newton_factor_cost(n, d)
    if takes_few_steps(n, d, squared) and products_before_factor(n, d):
        solve = min(solve, _FEW_CG_PRODUCTS * _free_product_cost(n, d))
    return n * (_NEWTON_ROW + _NEWTON_NUMBER * d) + solve


def _newton_factor_cost(n: int, d: int) -> float:
    """Nanoseconds of products of all pairs of columns, or of free rows if those are fewer, and of their factor."""
    least, free = min(n // 2 + 1, d), n // 2
    return free * d * least * _MULTIPLICATION + least**3 / 3 * _FACTOR_MULTIPLICATION


def _free_product_cost(n: int, d: int) -> float:
    """Nanoseconds of a product with the free rows, in a step of conjugate gradients."""
    return (n // 2 + 1) * (_FREE_ROW + _FREE_NUMBER * d)


def products_before_factor(n: int, d: int) -> int:
    """Products by conjugate gradients in the time of a factorisation; 0 where a factorisation at once is better."""
    products = int((n // 2 * d * _COPY + _newton_factor_cost(n, d)) / _free_product_cost(n, d))
    return products if products >= _FEWEST_CG_PRODUCTS and n > _CG_ROWS_PER_COLUMN * d else 0


def needs_no_factor(n: int, d: int, squared: bool) -> bool:
    """Whether Newton's method is expected to need few steps, and no factorisation in them."""
    return takes_few_steps(n, d, squared) and products_before_factor(n, d) > _FEW_CG_PRODUCTS


def interior_cost(n: int, d: int) -> float:
    """Nanoseconds of the interior point method on dense rows.

    It computes products of all pairs of rows once, or of columns in each step, whichever are fewer.
    """
    passes = _INTERIOR_STEPS * (_INTERIOR_CALL + n * (_INTERIOR_ROW + _NEWTON_NUMBER * d))
    if n <= d:
        return passes + n * n * d * _MULTIPLICATION + _INTERIOR_STEPS * Costs.factor(n)
    return passes + _INTERIOR_STEPS * (n * d * d * _MULTIPLICATION + Costs.factor(d))


def passes_of_interior(n: int, d: int) -> float:
    """Passes of Newton's method on dense rows in the time of the interior point method, or less.

    A step takes up to two of them; where it is stuck, few rows are free, and it takes half the time.
    """
    return 4 * interior_cost(n, d) / newton_step_cost(n, d, squared=False)


def passes_before_active_set(rows: LoopRows) -> Array:
    """Passes of the ascent on dense rows in half the time of the active set method, for each number of free rows.

    Numbers from 0 to d − 1 are considered; none if memory does not hold the products of so many rows and their factor.
    """
    n, d = rows.n_rows, len(rows.shift)
    n_free = np.arange(min(n + 1, d) if interior_fits(min(n, d), min(n, d)) else 0)
    return 0.5 * _active_set_costs(n, d, n_free) / ascent_pass_cost(rows)


def _active_set_costs(n: int, d: int, n_free: Array) -> Array:
    """Nanoseconds of the active set method on dense rows for some numbers of free rows."""
    each_round = _INTERIOR_CALL + 2 * n * (_NEWTON_ROW + _NEWTON_NUMBER * d) + Costs.factor(d) * (n_free / d) ** 3
    return np.asarray(n_free**2 * (d * _MULTIPLICATION) + _ACTIVE_SET_ROUNDS * each_round)


def sparse_newton_cost(rows: LoopRows, squared: bool) -> float:
    """Nanoseconds of Newton's method by sums over sparse rows.

    With a plain loss no more rows than columns are free at the end, in general, and some more on the way.
    """
    n, d, stored = rows.n_rows, len(rows.shift), rows.n_stored
    free = n // 2 if squared else min(n, 2 * d)
    matrix = free * stored**2 * _STORED_PAIR + min(free + 1, d) ** 3 / 3 * _FACTOR_MULTIPLICATION
    products = _FEW_CG_PRODUCTS if takes_few_steps(n, d, squared) else _CG_PRODUCTS
    solve = min(matrix, products * free * 2 * _STORED * stored)
    return newton_steps(n, d, squared) * (_SUMS_CALL + n * (_NEWTON_ROW + 2 * _STORED * stored) + solve)


def sparse_interior_cost(rows: LoopRows, factor: float | None = None) -> float:
    """Nanoseconds of the interior point method on sparse rows; `factor` replaces the cost of a factorisation."""
    factor = rows.products.cost if factor is None else factor
    visit = _INTERIOR_ROW + _INTERIOR_PRODUCTS * _STORED * rows.n_stored + _STORED_PAIR * rows.n_stored**2
    return _INTERIOR_STEPS * (_INTERIOR_CALL + rows.n_rows * visit + factor)


def steps_before_factor(rows: LoopRows) -> float:
    """Steps of conjugate gradients in the time of a dense factorisation: the fill-in of a sparse one is not known."""
    n, size = rows.n_rows, min(rows.n_rows, len(rows.shift))
    if not interior_fits(size, size):
        return np.inf
    step = n * (_NEWTON_ROW + 2 * _STORED * rows.n_stored)
    return float((n * _STORED_PAIR * rows.n_stored**2 + Costs.factor(size)) / step)


def interior_fits(n: int, d: int) -> bool:
    """Whether memory holds what the interior point method needs: products of rows and their factor, or copies."""
    return 8.0 * n * min(2 * n, 3 * d) <= memory_limit()
