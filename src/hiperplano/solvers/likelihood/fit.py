"""Logistic and softmax regression in as few passes over the rows as possible.

Tall data: the solution of a sample is a start whose error is that of the sample, and its Hessian a preconditioner with
which the whole problem is nearly round; L-BFGS then needs a handful of passes. Where a Hessian costs no more than a few
passes: Newton. Otherwise L-BFGS on centred standardised columns, which buys a better preconditioner when as much has
been spent on passes as it costs (`solvers/cost.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from math import prod

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import InvalidData
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.messages import Message
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.lbfgs import State, drive, lbfgs
from hiperplano.solvers.likelihood.bounded import is_bounded
from hiperplano.solvers.likelihood.dependent_columns import shortest_parameters
from hiperplano.solvers.likelihood.gradient_descent import gradient_descent
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.orthogonal_rows import fit_independent, hides_directions
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision
from hiperplano.solvers.likelihood.preconditioned_lbfgs import SETTLED, PreconditionedLBFGS, continued, told
from hiperplano.solvers.likelihood.preconditioners import Purchase
from hiperplano.solvers.likelihood.sampling.corrected import newton_by_sample
from hiperplano.solvers.likelihood.sampling.problem import on_sample, solution_of_sample
from hiperplano.solvers.likelihood.sampling.sample import MOST_PARAMETERS, first_sample
from hiperplano.solvers.likelihood.solution import LogisticSolution, logistic_solution, widened
from hiperplano.solvers.newton import Minimum
from hiperplano.solvers.row_span import is_wide
from hiperplano.solvers.separation.unbounded_columns import largest_margin, smallest_margin, unbounded_columns
from hiperplano.solvers.statistics import NonFiniteRows

FEW_CELLS = 2**22  # of which a copy in float64 is no burden: 32 MB
_SMALL = 2e6  # cost of a Hessian up to which standard errors have all digits,
_SETTLED_SMALL = 1e-12  # and `SETTLED` there
SOLVERS = ("auto", "newton", "lbfgs", "gradient")
_NEWTON = 2.0  # passes that a Hessian may cost for Newton's method to be the fastest
_NEWTON_TO_KEEP = 3.0  # the same where one is to be kept, so that L-BFGS needs two at least and Newton none besides
_WORTH_ONE = 1.8  # passes that a Hessian may cost to save one, or with several classes
_WORTH_ONE_OF_SCORES = 4.0  # to save several
_CLOSER = 0.3  # share of `tol` to go to in the span of the rows, where gradients are measured in other units
_AT_ONCE_IN_SPAN = 12.0  # passes that products of rows may cost to be bought before the first step, or with several
_AT_ONCE_OF_SCORES = 20.0  # classes, which take more passes
_MOST_CURVATURE = 0.25  # of a logistic loss
_CLOSE = 0.01  # of `tol`, that a last step without a pass may leave of parameters: with its default, 9 digits are the
# same for other blocks of rows
_GAP = 1e-6  # share of the objective that may be left
_LEAST_SHARE = 0.01  # of a mean loss, that its curvature in standardised columns is at least
_MOST_CLOSER, _LEAST_TOL = 5, 1e-15
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
        design = design.in_doubles(FEW_CELLS)
    unseen = np.errstate(invalid="ignore", over="ignore", divide="ignore") if check_finite else nullcontext()
    with one_blas_thread(), unseen:
        sample = first_sample(design, n_scores)
        scale = ColumnScale.estimate(design, fit_intercept, sample)
        if check_finite:
            all_met = ColumnScale.is_exact(design, sample)
            _check_range(design, scale, all_met)
            check_finite = not all_met
        problem = Likelihood(design, scale, n_scores, strength, check_finite=check_finite)
        if watch is not None:
            problem.watch = _Watch(problem, watch)
        theta = None if start is None else problem.balanced(scale.parameters(*start))
        wanted = keep_hessian and strength == 0 and n_scores * scale.size <= MOST_KEPT
        samples: list[Design] = [sample] if sample is not None and start is None else []
        del sample  # whoever takes it out of the list can let it go before making another
        method, end = _minimise(problem, theta, samples, solver, tol, max_iter, wanted)
        if strength > 0:
            method, end = _closer(problem, method, end, solver, tol, max_iter)
        if wanted and end.hessian is None and solver != "gradient" and not end.state.stalled:
            # One more pass, for standard errors; it also tells whether the parameters have settled.
            end = continued(problem, end.state, tol, max_iter, _settled(problem))
        rank = None
        if strength == 0:
            method, end, rank = _beyond_the_hessian(problem, method, end, tol, max_iter)
        if wanted and end.hessian is None:  # the plain way has none on its own
            end = end._replace(hessian=problem.evaluate_with_hessian(end.state.theta)[2])
    return logistic_solution(problem, end, method, tol, rank)


def _check_range(design: Design, scale: ColumnScale, all_met: bool) -> None:
    """Raise `NonFiniteRows` where validation would have refused the rows, as far as the scale of columns tells."""
    if not scale.in_range:
        raise NonFiniteRows
    if all_met and bool((scale.constant & (scale.shift == 0)).any()):
        try:
            refuse_out_of_range(design)  # squares of the smallest numbers vanish: their column seems to hold nothing
        except InvalidData as problem:
            raise NonFiniteRows from problem


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
    problem: Likelihood,
    start: Array | None,
    samples: list[Design],
    solver: str,
    tol: float,
    max_iter: int,
    hessian_follows: bool = False,
) -> tuple[Message, Minimum]:
    """The way that the shape of the data calls for, or the one asked for.

    Where Newton's method follows, for a Hessian at the end, it takes the last step, too.
    """
    other = other_way(problem, start, samples, solver, tol, max_iter, hessian_follows)
    if other is not None:
        return other
    close = _settled(problem) if hessian_follows else _CLOSE * tol
    method, end = PreconditionedLBFGS(problem, samples, tol, max_iter, close, hessian_follows).minimise(start)
    end.state.take_next_step()
    return method, end


def _closer(
    problem: Likelihood, method: Message, end: Minimum, solver: str, tol: float, max_iter: int
) -> tuple[Message, Minimum]:
    """Go on where the objective is so small that a gradient of `tol` leaves more than a share of it.

    Classes that are nearly separated, with a weak penalty: losses vanish with their slopes and curvatures.
    """
    for _ in range(_MOST_CLOSER):
        state = end.state
        # Where losses are small, curvatures are about as small.
        curvature = problem.penalty.strength + _LEAST_SHARE * state.value
        gap = 0.5 * float(np.sum(state.gradient**2 / curvature))
        if state.largest > tol or state.steps >= max_iter or gap <= _GAP * state.value:
            break
        closer = max(_LEAST_TOL, 0.5 * float(np.sqrt(_GAP * state.value / gap)) * state.largest)
        if closer >= state.largest:
            break
        later, found = _minimise(problem, state.theta, [], solver, closer, max_iter - state.steps)
        if found.state.value > state.value or found.state.largest > tol:
            break
        method = later if found.state.steps > state.steps else method
        found.state.steps += state.steps
        end = found
    return method, end


def other_way(
    problem: Likelihood,
    start: Array | None,
    samples: list[Design],
    solver: str,
    tol: float,
    max_iter: int,
    hessian_follows: bool = False,
) -> tuple[Message, Minimum] | None:
    """What is faster than L-BFGS on all rows and columns, or was asked for; None if nothing is."""
    costs = Costs.of(problem.design, problem.n_scores)
    few_passes = not samples and costs.hessian <= (_NEWTON_TO_KEEP if hessian_follows else _NEWTON) * costs.gradient
    if prod(problem.shape) <= MOST_PARAMETERS and (solver == "newton" or (solver == "auto" and few_passes)):
        return Message("Newton"), problem.newton(start, tol, max_iter, _settled(problem))
    if solver == "gradient":
        theta = problem.prior() if start is None else start
        return Message("gradient with a dynamic rate"), Minimum(
            gradient_descent(problem, theta, tol, max_iter, problem.watch)
        )
    worth = _WORTH_ONE if problem.n_scores == 1 else _WORTH_ONE_OF_SCORES
    if samples and solver == "auto" and costs.hessian <= worth * costs.gradient:
        return _from_sample(problem, samples.pop(), tol, max_iter, hessian_follows)
    if is_wide(problem.design):
        return _in_row_span(problem, start, tol, max_iter)
    return None


def _from_sample(
    problem: Likelihood, sample: Design, tol: float, max_iter: int, hessian_follows: bool
) -> tuple[Message, Minimum]:
    """From the solution of a sample with one Hessian of all rows; Newton's method where the sample is not like them."""
    part = on_sample(problem, sample)
    start = solution_of_sample(part).state.theta
    end = newton_by_sample(problem, part, start, tol, max_iter, SETTLED if hessian_follows else None)
    problem.passes += part.passes * sample.n_rows / problem.design.n_rows
    if end is None:
        return Message("Newton"), problem.newton(None, tol, max_iter, SETTLED)
    if end.state.stalled:
        end = continued(problem, end.state, tol, max_iter, SETTLED)
    return Message("Newton with a Hessian corrected by a sample of {n} rows", n=sample.n_rows), end


def _in_row_span(problem: Likelihood, start: Array | None, tol: float, max_iter: int) -> tuple[Message, Minimum]:
    """L-BFGS on all columns for as long as the products of rows would take, and then in the span of the rows."""
    costs = Costs.of(problem.design, problem.n_scores)
    plain = problem.diagonal_preconditioner()
    price = 0.0 if problem.has_row_span else costs.row_products / costs.gradient
    # A penalty as strong as the curvature of the loss leaves few passes; a weaker one leaves more than products cost.
    weak = float(np.median(problem.penalty.strength)) < _MOST_CURVATURE
    at_once = weak and price <= (_AT_ONCE_IN_SPAN if problem.n_scores == 1 else _AT_ONCE_OF_SCORES)
    theta, steps = problem.prior() if start is None else start, 0
    if start is not None or not at_once:  # another penalty's end may be that of this one
        passes = SinglePrecision(problem, tol)
        state = told(problem, Purchase(theta, plain), passes.evaluate)
        budget = Budget(0.0 if at_once else price, tol)
        state = drive(lbfgs(state, plain, tol, max_iter, budget, problem.watch), passes.evaluate)
        if state.largest <= tol or state.steps >= max_iter:
            return Message("L-BFGS"), Minimum(state)
        theta, steps = state.theta, state.steps
    span, watch = problem.in_row_span, problem.watch
    span.problem.watch = None if watch is None else lambda inner: watch(replace(inner, theta=span.expand(inner.theta)))
    share = problem.design.n_rows / problem.design.n_columns
    method, end = _minimise(span.problem, span.reduce(theta), [], "auto", _CLOSER * tol, max_iter - steps)
    problem.passes += span.problem.passes * share
    theta, steps = span.expand(end.state.theta), steps + end.state.steps
    state = State(theta, *problem.evaluate(theta), steps)
    # What rounding of the products has left, if anything.
    state = drive(lbfgs(state, plain, tol, max_iter, watch=problem.watch), problem.evaluate)
    return Message("{method} in the span of the rows", method=method), Minimum(state, None, end.unbounded)


def _settled(problem: Likelihood) -> float:
    """Next step of Newton's method at which parameters stand still: what standard errors are about as accurate as."""
    small = problem.strength == 0 and Costs.of(problem.design, problem.n_scores).hessian <= _SMALL
    return _SETTLED_SMALL if small else SETTLED


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
        return Message("Newton on orthogonalised columns"), fit_independent(problem, end, tol, max_iter, SETTLED), None
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
    few = state.theta.size <= MOST_PARAMETERS
    if (state.largest > tol and not few) or largest_margin(problem, state.theta) <= _FAR_OUT:
        return False
    if is_bounded(problem, state):
        return False
    if few:
        return unbounded_columns(problem, state.theta) is not None
    # Rows that a plane separates move by log(100) on the way to a gradient a hundred times smaller.
    start = State(state.theta, state.value, state.gradient)
    search = lbfgs(start, problem.diagonal_preconditioner(), 1e-2 * state.largest, _FURTHER)
    further = drive(search, problem.evaluate)
    return problem.largest_change(state.theta, further.theta) > 1.0
