"""Logistic and softmax regression in as few passes over the rows as possible.

Tall data: the solution of a sample is a start whose error is that of the sample, and its Hessian a preconditioner with
which the whole problem is nearly round; L-BFGS then needs a handful of passes. Where a Hessian costs no more than a few
passes: Newton. Otherwise L-BFGS on centred standardised columns, which buys a better preconditioner when as much has
been spent on passes as it costs (`solvers/cost.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.messages import Message
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.lbfgs import State, drive, lbfgs
from hiperplano.solvers.likelihood.dependent_columns import shortest_parameters
from hiperplano.solvers.likelihood.gradient_descent import gradient_descent
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.orthogonal_rows import fit_independent, hides_directions
from hiperplano.solvers.likelihood.passes.late_hessian import LateHessian
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision
from hiperplano.solvers.likelihood.preconditioners import WORTH, Purchase, at_discriminant, offers
from hiperplano.solvers.likelihood.sampling.corrected import newton_by_sample
from hiperplano.solvers.likelihood.sampling.problem import on_sample, solution_of_sample
from hiperplano.solvers.likelihood.sampling.sample import MOST_PARAMETERS, first_sample
from hiperplano.solvers.likelihood.solution import LogisticSolution, logistic_solution, widened
from hiperplano.solvers.newton import Minimum
from hiperplano.solvers.row_span import is_wide
from hiperplano.solvers.separation.unbounded_columns import largest_margin, smallest_margin, unbounded_columns
from hiperplano.solvers.statistics import SPARSE_PRODUCTS, NonFiniteRows
from hiperplano.solvers.truncated_newton import truncated_newton

_FEW_CELLS = 2**22  # of which a copy in float64 is no burden: 32 MB
SOLVERS = ("auto", "newton", "lbfgs", "gradient")
_SMALL = 2e6  # cost of a Hessian up to which parameters settle to the last digit
_NEWTON = 2.0  # passes that a Hessian may cost for Newton's method to be the fastest
_WORTH_ONE = 1.8  # passes that a Hessian may cost to save one, or with several classes
_WORTH_ONE_OF_SCORES = 4.0  # to save several
_CLOSER = 0.3  # share of `tol` to go to in the span of the rows, where gradients are measured in other units
_AT_ONCE = 6.0  # passes that a preconditioner may cost to be bought before the first step
_AT_ONCE_IN_SPAN = 12.0  # the same of products of rows, with a weak penalty
_MOST_CURVATURE = 0.25  # of a logistic loss
# Next step of standardised parameters at which they stand still; standard errors are about as accurate as that.
_SETTLED, _SETTLED_SMALL = 1e-7, 1e-12
_CLOSE = 0.01  # of `tol`, that a last step without a pass may leave of parameters: with its default, 9 digits are the
# same for other blocks of rows
_SETTLED_PENALISED, _SETTLED_SMALL_PENALISED = 1e-4, 1e-6  # whose standard errors are a guide at best
_LONG = 30.0  # steps of L-BFGS, where no better preconditioner is left, before Newton's with conjugate gradients
_BEFORE_PRODUCTS = 10.0  # the same where those are worth more
_FAR = 0.03  # a gradient at the start with which the discriminant of several classes is likely to be a better one
_FEW_ROWS = 4  # for each column
_PATIENT = 10.0  # Hessians of several classes that products may cost: one of them is of little use away from its place
_FAR_OUT = 10.0  # margin of rows that a plane separates, when the gradient is already below 1e-8
_FURTHER = 300  # steps to go on for, to see whether scores still grow
MOST_KEPT = 512  # parameters up to which the Hessian at the solution is kept for standard errors


def fit_likelihood(
    design: Design,
    *,
    n_scores: int,
    strength: float,
    fit_intercept: bool,
    solver: str = "auto",
    tol: float = 1e-8,
    max_iter: int = 100,
    start: tuple[Array, Array] | None = None,
    keep_hessian: bool = True,
    check_finite: bool = False,
    watch: Callable[[Array, Array], None] | None = None,
) -> LogisticSolution:
    """Minimise Σ w·loss/Σw + ½·strength·‖coef‖².

    Parameters
    ----------
    design : Design
        Target: −1 and +1 with one score, otherwise the numbers of the classes.
    n_scores : int
        1 for two classes, otherwise their number.
    strength : float
        λ on the mean loss.
    solver : str
        One of `SOLVERS`.
    tol : float
        Largest entry of the gradient, standardised columns, at which to stop.
    max_iter : int
        Most steps.
    keep_hessian : bool
        Whether to keep the Hessian at the solution of a fit without penalty, at the cost of one more pass, if it is not
        too large. (Standard errors of a penalised fit are a guide at best: it keeps the one that it needed, if any.)
    check_finite : bool
        Whether NaN, infinity and numbers out of range may be there, and raise `NonFiniteRows` when they are met.
    watch : callable, optional
        Is told coefficients and intercepts at the start and after every step.
    """
    columns = HeldColumns.of(design) if strength > 0 and n_scores * design.n_columns > MOST_KEPT else None
    if columns is not None:
        found = fit_likelihood(
            columns.narrow(),
            n_scores=n_scores,
            strength=strength,
            fit_intercept=fit_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            start=None if start is None else (start[0][:, columns.numbers], start[1]),
            keep_hessian=False,
            check_finite=check_finite,
            watch=None if watch is None else lambda coef, intercept: watch(columns.widen(coef), intercept),
        )
        return widened(found, columns)
    if isinstance(design, InMemory):
        design = design.in_doubles(_FEW_CELLS)
    with one_blas_thread(), np.errstate(invalid="ignore" if check_finite else None):
        sample = first_sample(design, n_scores)
        scale = ColumnScale.estimate(design, fit_intercept, sample)
        if check_finite and not scale.in_range:
            raise NonFiniteRows
        problem = Likelihood(design, scale, n_scores, strength, check_finite=check_finite)
        if watch is not None:
            problem.watch = _Watch(problem, watch)
        theta = None if start is None else problem.balanced(scale.parameters(*start))
        wanted = keep_hessian and strength == 0 and n_scores * scale.size <= MOST_KEPT
        samples: list[Design] = [sample] if sample is not None and start is None else []
        del sample  # whoever takes it out of the list can let it go before making another
        near = _settled(problem) if wanted else 0.0
        method, end = _minimise(problem, theta, samples, solver, tol, max_iter, near)
        if wanted and end.hessian is None and solver != "gradient" and not end.state.stalled:
            # One more pass, for standard errors; it also tells whether the parameters have settled.
            end = _continued(problem, end.state, tol, max_iter, _settled(problem))
        rank = None
        if strength == 0:
            method, end, rank = _beyond_the_hessian(problem, method, end, tol, max_iter)
        if wanted and end.hessian is None:  # the plain way has none on its own
            end = end._replace(hessian=problem.evaluate_with_hessian(end.state.theta)[2])
    return logistic_solution(problem, end, method, tol, rank)


class _Watch:
    """Tells coefficients of the states of several solvers, one after the other, as those of one walk.

    Where a solver begins, the one before it ended; and Newton's last step, which costs no pass, is not counted.
    """

    def __init__(self, problem: Likelihood, tell: Callable[[Array, Array], None]) -> None:
        self._problem, self._tell, self._steps = problem, tell, -1

    def __call__(self, state: State) -> None:
        first, new = self._steps < 0, state.steps not in (0, self._steps)
        self._steps = state.steps
        if first or new:
            self._tell(*self._problem.scale.coefficients(self._problem.balanced(state.theta)))


def _minimise(
    problem: Likelihood, start: Array | None, samples: list[Design], solver: str, tol: float, max_iter: int, near: float
) -> tuple[Message, Minimum]:
    """The way that the shape of the data calls for, or the one asked for.

    A Hessian that was needed on the way serves for standard errors, too, if it is no further than `near` from the end.
    """
    costs = Costs.of(problem.design, problem.n_scores)
    few_passes = not samples and costs.hessian <= _NEWTON * costs.gradient
    if prod(problem.shape) <= MOST_PARAMETERS and (solver == "newton" or (solver == "auto" and few_passes)):
        settled = _settled(problem) if _is_small(problem) else _SETTLED
        return Message("Newton"), problem.newton(start, tol, max_iter, settled)
    if solver == "gradient":
        theta = problem.prior() if start is None else start
        return Message("gradient with a dynamic rate"), Minimum(
            gradient_descent(problem, theta, tol, max_iter, problem.watch)
        )
    worth = _WORTH_ONE if problem.n_scores == 1 else _WORTH_ONE_OF_SCORES
    if samples and solver == "auto" and costs.hessian <= worth * costs.gradient:
        return _from_sample(problem, samples.pop(), tol, max_iter, near)
    if is_wide(problem.design):
        return _in_row_span(problem, problem.prior() if start is None else start, tol, max_iter)
    return _lbfgs_with_purchases(problem, start, samples, tol, max_iter, near)


def _from_sample(
    problem: Likelihood, sample: Design, tol: float, max_iter: int, near: float
) -> tuple[Message, Minimum]:
    """From the solution of a sample with one Hessian of all rows; Newton's method where the sample is not like them."""
    part = on_sample(problem, sample)
    start = solution_of_sample(part).state.theta
    end = newton_by_sample(problem, part, start, tol, max_iter, near)
    problem.passes += part.passes * sample.n_rows / problem.design.n_rows
    if end is None:
        return Message("Newton"), problem.newton(None, tol, max_iter, _SETTLED)
    if end.state.stalled:
        end = _continued(problem, end.state, tol, max_iter, _SETTLED)
    return Message("Newton with a Hessian corrected by a sample of {n} rows", n=sample.n_rows), end


def _in_row_span(problem: Likelihood, theta: Array, tol: float, max_iter: int) -> tuple[Message, Minimum]:
    """L-BFGS on all columns for as long as the products of rows would take, and then in the span of the rows."""
    costs = Costs.of(problem.design, problem.n_scores)
    plain = problem.diagonal_preconditioner()
    state = _told(problem, Purchase(theta, plain))
    price = costs.row_products / costs.gradient
    # A penalty as strong as the curvature of the loss leaves few passes; a weaker one leaves more than products cost.
    weak = float(np.median(problem.penalty.strength)) < _MOST_CURVATURE
    budget = Budget(0.0 if weak and price <= _AT_ONCE_IN_SPAN else price, tol)
    state = drive(lbfgs(state, plain, tol, max_iter, budget, problem.watch), SinglePrecision(problem, tol).evaluate)
    if state.largest <= tol or state.steps >= max_iter:
        return Message("L-BFGS"), Minimum(state)
    span, watch = problem.in_row_span, problem.watch
    span.problem.watch = None if watch is None else lambda inner: watch(replace(inner, theta=span.expand(inner.theta)))
    share = problem.design.n_rows / problem.design.n_columns
    method, end = _minimise(
        span.problem, span.reduce(state.theta), [], "auto", _CLOSER * tol, max_iter - state.steps, 0.0
    )
    problem.passes += span.problem.passes * share
    theta, steps = span.expand(end.state.theta), state.steps + end.state.steps
    state = State(theta, *problem.evaluate(theta), steps)
    # What rounding of the products has left, if anything.
    state = drive(lbfgs(state, plain, tol, max_iter, watch=problem.watch), problem.evaluate)
    return Message("{method} in the span of the rows", method=method), Minimum(state, None, end.unbounded)


def _lbfgs_with_purchases(
    problem: Likelihood, start: Array | None, samples: list[Design], tol: float, max_iter: int, near: float
) -> tuple[Message, Minimum]:
    """L-BFGS from a cheap preconditioner, with better ones, or products with Hessians, when they are worth it."""
    a_pass = Costs.of(problem.design, problem.n_scores).gradient
    left = offers(problem, samples)
    method, current = Message("L-BFGS"), _first_purchase(problem, start)
    # Curvatures of several classes at the prior are of little use further on.
    placed = problem.n_scores == 1 or start is not None or current.found is not None
    bought = placed and bool(left) and left[0].first_cost <= _AT_ONCE * a_pass
    if bought:
        method, begin = left[0].method, current
        current = left[0].buy(begin.theta, first=True)
        if current.found is None and current.theta is begin.theta:
            current = current._replace(found=begin.found)
        left = left if left[0].again else left[1:]
    state, passes = _told(problem, current), SinglePrecision(problem, tol)
    products = problem.strength > 0  # of the Hessian: whether they are still to be tried
    while True:
        price = left[0].cost / a_pass if left else np.inf
        early = not bought and _suits_products(problem) and WORTH * price >= _BEFORE_PRODUCTS
        turn = products and (early or not left)
        steps = price if not turn else _BEFORE_PRODUCTS if early else _LONG
        budget = Budget(steps, tol) if steps < np.inf else None
        end = _lbfgs_with_late_hessian(problem, passes, state, current, tol, max_iter, near, budget)
        state = end.state
        if state.largest <= tol and end.hessian is None:
            step = current.precondition(state.gradient) if state.next_step is None else -state.next_step
            state.theta = state.theta - step  # it costs no pass
        if state.largest > tol and state.steps < max_iter and turn:
            products, method = False, Message("Newton with conjugate gradients")
            most = np.inf if not left else price if problem.n_scores == 1 else _PATIENT * left[-1].cost / a_pass
            state = truncated_newton(passes, state, tol, max_iter, most, problem.watch)
            end = Minimum(state)
        if state.largest <= tol or state.steps >= max_iter or not left:
            return method, end
        if state.stalled and left[0].method == method:  # Newton can do what is left: it damps its steps
            return method, _continued(problem, state, tol, max_iter, _SETTLED)
        state.stalled, bought = False, True
        method, current = left[0].method, left[0].buy(state.theta, first=False)
        left = left if left[0].again else left[1:]


def _first_purchase(problem: Likelihood, start: Array | None) -> Purchase:
    """Where to begin, and a preconditioner that costs a few passes at most."""
    diagonal = problem.diagonal_preconditioner()
    if not _suits_discriminant(problem):
        return Purchase(problem.prior() if start is None else start, diagonal)
    if start is None:
        return at_discriminant(problem)
    found = problem.evaluate(start)
    if np.abs(found[1]).max() > _FAR:
        other = at_discriminant(problem)
        if other.found is not None and other.found[0] < found[0]:
            return other
    return Purchase(start, diagonal, found)


def _suits_discriminant(problem: Likelihood) -> bool:
    """Whether the linear discriminant of several classes is cheap, and likely to be close to the end."""
    design, size, k = problem.design, problem.scale.size, problem.n_scores
    if k == 1 or not problem.scale.fit_intercept or k * size**2 > MOST_PARAMETERS**2:
        return False
    if _has_few_rows(problem) or design.density < SPARSE_PRODUCTS:
        return False
    return Costs.of(design, 1).hessian <= _AT_ONCE * Costs.of(design, k).gradient


def _suits_products(problem: Likelihood) -> bool:
    """Whether products with the Hessian are worth more than its parts.

    Columns of sparse rows have little to do with each other, so that its diagonal is a good preconditioner; and where
    classes have few rows for each column they are nearly separated, and no Hessian is good for more than a step.
    """
    return problem.design.is_sparse or (problem.n_scores > 1 and _has_few_rows(problem))


def _has_few_rows(problem: Likelihood) -> bool:
    return problem.design.n_rows <= _FEW_ROWS * problem.design.n_columns


def _lbfgs_with_late_hessian(
    problem: Likelihood,
    passes: SinglePrecision,
    state: State,
    current: Purchase,
    tol: float,
    max_iter: int,
    near: float,
    budget: Budget | None,
) -> Minimum:
    if not near:
        search = lbfgs(state, current.precondition, tol, max_iter, budget, problem.watch, _CLOSE * tol)
        return Minimum(drive(search, passes.evaluate))
    late = LateHessian(passes, state.theta, current.precondition, near)
    state = drive(lbfgs(state, late.precondition, tol, max_iter, budget, problem.watch), late.evaluate)
    if state.largest > tol and state.steps < max_iter and budget is not None:
        return Minimum(state)
    hessian = late.hessian_near(state.theta)
    if hessian is not None:  # as Newton's last step: without a pass, it squares the error for nothing
        state.theta = state.theta - late.precondition(state.gradient)
    return Minimum(state, hessian)


def _continued(problem: Likelihood, state: State, tol: float, max_iter: int, settled: float) -> Minimum:
    """Newton's method from where another method ended."""
    end = problem.newton(state.theta, tol, max_iter - state.steps, settled)
    end.state.steps += state.steps
    return end


def _told(problem: Likelihood, start: Purchase) -> State:
    """The state to start from, of which whoever watches is told."""
    state = State(start.theta, *(start.found or problem.evaluate(start.theta)))
    if problem.watch is not None:
        problem.watch(state)
    return state


def _is_small(problem: Likelihood) -> bool:
    return Costs.of(problem.design, problem.n_scores).hessian <= _SMALL


def _settled(problem: Likelihood) -> float:
    """Where parameters stand still enough for standard errors."""
    if problem.strength:
        return _SETTLED_SMALL_PENALISED if _is_small(problem) else _SETTLED_PENALISED
    return _SETTLED_SMALL if _is_small(problem) else _SETTLED


def _beyond_the_hessian(
    problem: Likelihood, method: Message, end: Minimum, tol: float, max_iter: int
) -> tuple[Message, Minimum, int | None]:
    """What a Hessian cannot show without a penalty: a minimum at infinity, and directions that it hides.

    Where columns depend on each other, the parameters become those of minimum norm; the last number is their rank.
    """
    singular = end.hessian is not None and SymmetricSolver(end.hessian).singular
    if not end.unbounded and (end.hessian is None or singular):
        end = end._replace(unbounded=_is_unbounded(problem, end, tol))
    if singular and not end.unbounded and hides_directions(problem, end.hessian):
        return Message("Newton on orthogonalised columns"), fit_independent(problem, end, tol, max_iter, _SETTLED), None
    rank = None
    if singular and not end.unbounded:
        end.state.theta, rank = shortest_parameters(end.state.theta, end.hessian, problem.scale)
    return method, end, rank


def _is_unbounded(problem: Likelihood, end: Minimum, tol: float) -> bool:
    """Whether the likelihood grows without bound from where it seems to have its maximum.

    That can look like a maximum: far out slopes vanish with the curvature.
    """
    state = end.state
    if smallest_margin(problem, state.theta) > 0:
        return True
    if is_wide(problem.design):
        span = problem.in_row_span
        theta = span.reduce(state.theta)
        return _is_unbounded(span.problem, Minimum(State(theta, *span.problem.evaluate(theta))), tol)
    if end.hessian is not None:
        return unbounded_columns(problem, state.theta) is not None
    if state.theta.size <= MOST_PARAMETERS:
        return largest_margin(problem, state.theta) > _FAR_OUT and unbounded_columns(problem, state.theta) is not None
    # Rows that a plane separates move by log(100) on the way to a gradient a hundred times smaller.
    start = State(state.theta, state.value, state.gradient)
    search = lbfgs(start, problem.diagonal_preconditioner(), 1e-2 * state.largest, _FURTHER)
    further = drive(search, problem.evaluate)
    return state.largest <= tol and problem.largest_change(state.theta, further.theta) > 1.0
