"""Logistic and softmax regression in as few passes over the rows as possible.

- Many rows: a sample is solved first. Its solution is the start, and its Hessian a preconditioner for L-BFGS, which
  then needs only a few passes over all rows.
- A Hessian costs no more than a few passes: Newton's method.
- Otherwise: L-BFGS on standardised columns. It computes a better preconditioner once the passes made so far have cost
  as much (`solvers/cost.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from math import prod

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.errors import InvalidData
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.messages import Message
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.lbfgs import State, drive, lbfgs
from hiperplano.solvers.likelihood.bounded import is_bounded
from hiperplano.solvers.likelihood.dependent_columns import shortest_parameters
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.gradient_descent import gradient_descent
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.orthogonal_rows import fit_independent, hides_directions
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision
from hiperplano.solvers.likelihood.preconditioned_lbfgs import SETTLED, PreconditionedLBFGS, continued, told
from hiperplano.solvers.likelihood.preconditioners import Purchase
from hiperplano.solvers.likelihood.sampling.corrected import newton_by_sample
from hiperplano.solvers.likelihood.sampling.problem import on_sample, solution_of_sample
from hiperplano.solvers.likelihood.sampling.sample import MOST_PARAMETERS, starting_sample
from hiperplano.solvers.likelihood.solution import LogisticSolution, logistic_solution, widened
from hiperplano.solvers.newton import Minimum
from hiperplano.solvers.row_span import is_wide
from hiperplano.solvers.separation.unbounded_columns import largest_margin, smallest_margin, unbounded_columns
from hiperplano.solvers.statistics import NonFiniteRows

SOLVERS = ("auto", "newton", "lbfgs", "gradient")
FEW_CELLS = 2**22  # most numbers of a table in memory that is copied to float64: 32 MB
MOST_KEPT = 512  # most parameters for which the Hessian at the solution is kept, for standard errors
# Without a penalty, if a Hessian costs no more nanoseconds than the first number, Newton's method continues until its
# steps are below the second one (otherwise `SETTLED`): standard errors then have full precision.
_CHEAP_HESSIAN, _SETTLED_CHEAP = 2e6, 1e-12

# Costs in passes over all rows. Where two are given, the second is for several classes, which need more passes.
_NEWTON = 2.0  # most for a Hessian in Newton's method
_NEWTON_KEPT = 3.0  # the same if the Hessian at the solution is kept, which L-BFGS would have to compute as well
_CORRECTED_NEWTON, _CORRECTED_NEWTON_CLASSES = 1.8, 4.0  # most for the Hessian of all rows in `newton_by_sample`
# Most for products of rows that are computed before the first step: with penalties below the first number,
# and with stronger ones. The curvature of the loss is 0.25 at most. Stronger penalties leave few passes, some more if
# columns are correlated.
_SPAN_FIRST, _SPAN_FIRST_STRONG = ((0.25, 20.0), (2.0, 10.0)), 2.0

# Tolerance in the span of the rows, as a share of `tol`: gradients have other units there. On 27 fits, 1.0 saves 2% of
# the time, but coefficients for several classes then change by up to 7e-5; 0.1 costs 3%.
_SPAN_TOL = 0.3
# Largest expected error after the last step, which is taken without a pass, as a share of `tol`. With the default
# `tol`, fits to the same rows in other blocks then agree to 9 digits.
_LAST_ERROR = 0.01

# Largest estimated distance of the objective from its minimum, as a share of the objective: this times `tol`. With the
# default `tol` that is a millionth.
_GAP = 100.0
# Assumed curvature of the mean loss in standardised columns, as a share of the objective. Three times more or less
# hardly matters (2 of 38 fits change). With 1.0, the distance reaches 1e-5; with 0, most fits take 1.7 times as long.
_CURVATURE_SHARE = 0.01
_MOST_REFINEMENTS, _LEAST_TOL = 5, 1e-15  # of `_refined`

_NEARLY_PERFECT = 1e-3  # mean loss without a penalty for which classes may be separated
_FAR_OUT = 10.0  # if classes are separated and the gradient is below 1e-8, some rows have a larger margin than this
_STEPS_OUT = 300  # most steps of L-BFGS that test whether scores still grow


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
        Targets are −1 and +1 for two classes, otherwise class numbers.
    n_scores : int
        1 for two classes, otherwise the number of classes.
    strength : float
        Penalty λ, relative to the mean loss.
    solver : str
        One of `SOLVERS`.
    tol : float
        Largest entry of the gradient at the solution (standardised columns).
    max_iter : int
        Most steps.
    start : tuple of ndarray, optional
        Coefficients and intercepts to start from.
    keep_hessian : bool
        Whether the solution of a fit without a penalty keeps its Hessian for standard errors, at the cost of one more
        pass, if there are at most `MOST_KEPT` parameters. A penalised fit keeps a Hessian only if its solver computed
        one at the end.
    check_finite : bool
        Whether rows may contain NaN, infinity or numbers out of range; these raise `NonFiniteRows`.
    watch : callable, optional
        Called with coefficients and intercepts, at the start and after every step.
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
        sample = starting_sample(design, n_scores)
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
        del sample  # the list holds the only reference, so that the sample can be freed before another is drawn
        method, end = _minimise(problem, theta, samples, solver, tol, max_iter, wanted)
        if strength > 0:
            method, end = _refined(problem, method, end, solver, tol, max_iter)
        if wanted and end.hessian is None and _is_separated(problem, end.state):
            end = end._replace(unbounded=True)
        elif wanted and end.hessian is None and solver != "gradient" and not end.state.stalled:
            # Newton's method computes the Hessian, and continues if the parameters have not settled.
            end = continued(problem, end.state, tol, max_iter, _settled(problem))
        rank = None
        if strength == 0:
            method, end, rank = _beyond_the_hessian(problem, method, end, tol, max_iter)
        if wanted and end.hessian is None:  # after gradient descent, or after a stall
            end = end._replace(hessian=problem.evaluate_with_hessian(end.state.theta)[2])
    return logistic_solution(problem, end, method, tol, rank)


def _check_range(design: Design, scale: ColumnScale, all_met: bool) -> None:
    """Raise `NonFiniteRows` if the scale of the columns shows rows that validation would refuse."""
    if not scale.in_range:
        raise NonFiniteRows
    if all_met and bool((scale.constant & (scale.shift == 0)).any()):
        try:
            refuse_out_of_range(design)  # squares of tiny numbers underflow, so that their column seems to be zero
        except InvalidData as problem:
            raise NonFiniteRows from problem


class _Watch:
    """Reports the states of several solvers, which run one after the other, as those of one minimisation.

    It leaves out the first state of each later solver, which is the last one of the solver before it, and Newton's last
    step, which is not counted as a step.
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
    near: bool = False,
) -> tuple[Message, Minimum]:
    """Minimise by `solver`, or by the method that suits the shape of the data.

    With `hessian_follows`, Newton's method continues from the end, and computes the Hessian there. With `near`, `start`
    is the solution to a larger tolerance.
    """
    other = other_way(problem, start, samples, solver, tol, max_iter, hessian_follows)
    if other is not None:
        return other
    if is_wide(problem.design, problem.n_scores):
        return in_row_span(problem, start, tol, max_iter)
    close = _settled(problem) if hessian_follows else _LAST_ERROR * tol
    method, end = PreconditionedLBFGS(problem, samples, tol, max_iter, close, hessian_follows).minimise(start, near)
    end.state.take_next_step()
    return method, end


def _refined(
    problem: Likelihood, method: Message, end: Minimum, solver: str, tol: float, max_iter: int
) -> tuple[Message, Minimum]:
    """Continue with a smaller tolerance if the objective may still be far above its minimum, relative to its size.

    This happens with a weak penalty and nearly separated classes: the loss, its slope and its curvature are then tiny.
    """
    for _ in range(_MOST_REFINEMENTS):
        state = end.state
        # If losses are small, curvatures are of about the same size.
        curvature = problem.penalty.strength + _CURVATURE_SHARE * state.value
        gap = 0.5 * float(np.sum(state.gradient**2 / curvature))
        enough = _GAP * tol * state.value
        if state.largest > tol or state.steps >= max_iter or gap <= enough:
            break
        closer = max(_LEAST_TOL, 0.5 * float(np.sqrt(enough / gap)) * state.largest)
        if closer >= state.largest:
            break
        later, found = _minimise(problem, state.theta, [], solver, closer, max_iter - state.steps, near=True)
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
    """Minimise by a method other than L-BFGS, if one is faster or was asked for; otherwise return None."""
    costs = Costs.of(problem.design, problem.n_scores)
    few_passes = not samples and costs.hessian <= (_NEWTON_KEPT if hessian_follows else _NEWTON) * costs.gradient
    if prod(problem.shape) <= MOST_PARAMETERS and (solver == "newton" or (solver == "auto" and few_passes)):
        return Message("Newton"), problem.newton(start, tol, max_iter, _settled(problem))
    if solver == "gradient":
        theta = problem.prior() if start is None else start
        return Message("gradient with a dynamic rate"), Minimum(
            gradient_descent(problem, theta, tol, max_iter, problem.watch)
        )
    worth = _CORRECTED_NEWTON if problem.n_scores == 1 else _CORRECTED_NEWTON_CLASSES
    if samples and solver == "auto" and costs.hessian <= worth * costs.gradient:
        return _from_sample(problem, samples.pop(), tol, max_iter, hessian_follows)
    return None


def _from_sample(
    problem: Likelihood, sample: Design, tol: float, max_iter: int, hessian_follows: bool
) -> tuple[Message, Minimum]:
    """Start from the solution of a sample, with one Hessian of all rows; Newton's method if the sample is no help."""
    part = on_sample(problem, sample)
    start = solution_of_sample(part).state.theta
    end = newton_by_sample(problem, part, start, tol, max_iter, SETTLED if hessian_follows else None)
    problem.passes += part.passes * sample.n_rows / problem.design.n_rows
    if end is None:
        return Message("Newton"), problem.newton(None, tol, max_iter, SETTLED)
    if end.state.stalled:
        end = continued(problem, end.state, tol, max_iter, SETTLED)
    return Message("Newton with a Hessian corrected by a sample of {n} rows", n=sample.n_rows), end


def in_row_span(problem: Likelihood, start: Array | None, tol: float, max_iter: int) -> tuple[Message, Minimum]:
    """L-BFGS on all columns until it has cost as much as the products of rows, then in the span of the rows."""
    costs = Costs.of(problem.design, problem.n_scores)
    plain = DiagonalPreconditioner(problem)
    price = 0.0 if problem.has_row_span else costs.row_products / costs.gradient
    strength = float(np.median(problem.penalty.strength))
    at_once = price <= next((most for penalty, most in _SPAN_FIRST if strength < penalty), _SPAN_FIRST_STRONG)
    theta, steps = problem.prior() if start is None else start, 0
    if start is not None or not at_once:  # a start from another penalty may be a solution already
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
    inner, near, before = span.reduce(theta), start is not None, span.problem.passes
    method, end = _minimise(span.problem, inner, [], "auto", _SPAN_TOL * tol, max_iter - steps, near=near)
    problem.passes += (span.problem.passes - before) * share
    theta, steps = span.expand(end.state.theta), steps + end.state.steps
    state = State(theta, *problem.evaluate(theta), steps)
    # Correct rounding errors of the products of rows, if there are any.
    state = drive(lbfgs(state, plain, tol, max_iter, watch=problem.watch), problem.evaluate)
    return Message("{method} in the span of the rows", method=method), Minimum(state, None, end.unbounded)


def _settled(problem: Likelihood) -> float:
    """Largest last step of Newton's method; standard errors are about as accurate."""
    small = problem.strength == 0 and Costs.of(problem.design, problem.n_scores).hessian <= _CHEAP_HESSIAN
    return _SETTLED_CHEAP if small else SETTLED


def _beyond_the_hessian(
    problem: Likelihood, method: Message, end: Minimum, tol: float, max_iter: int
) -> tuple[Message, Minimum, int | None]:
    """Check what a Hessian cannot show in a fit without a penalty.

    The minimum may be at infinity, and the Hessian may be singular only up to rounding. If columns are linearly
    dependent, the parameters of minimum norm are returned, and the rank of the columns (otherwise None).
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


def _is_separated(problem: Likelihood, state: State) -> bool:
    """Whether all rows are on the right side, so that no finite maximum exists.

    The likelihood tells first, without a pass: each row on the wrong side has a loss of log(2) or more.
    """
    return state.value < _NEARLY_PERFECT and smallest_margin(problem, state.theta) > 0


def _is_unbounded(problem: Likelihood, end: Minimum, tol: float) -> bool:
    """Whether the likelihood has no maximum, although the gradient is small at the end of the minimisation.

    Far from the origin, slopes of separated rows vanish, which looks like a maximum.
    """
    state = end.state
    if smallest_margin(problem, state.theta) > 0:
        return True
    if is_wide(problem.design, problem.n_scores):
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
    # Until the gradient is a hundred times smaller, scores of separated rows grow by about log(100).
    start = State(state.theta, state.value, state.gradient)
    search = lbfgs(start, DiagonalPreconditioner(problem), 1e-2 * state.largest, _STEPS_OUT)
    further = drive(search, problem.evaluate)
    return problem.largest_change(state.theta, further.theta) > 1.0
