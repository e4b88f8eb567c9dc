"""Logistic and softmax regression in as few passes over the rows as can be.

Tall data: the solution of a sample is a start whose error is that of the sample, and its Hessian a metric in which
the whole problem is nearly round; L-BFGS then needs a handful of passes. Where the sample's Hessian serves badly
(rare categories), the Hessian of all rows at the point reached takes its place. Small data: Newton. More columns
than a Hessian can hold: L-BFGS on centred columns at unit spread, which needs a few dozen passes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Design
from hiperplano.solvers.likelihood.blocks import Blocks
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.descent import gradient_descent
from hiperplano.solvers.likelihood.growth import furthest_margin, growing_columns
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.lookout import Lookout
from hiperplano.solvers.likelihood.metric import inverse, is_singular
from hiperplano.solvers.likelihood.newton import Minimum, newton
from hiperplano.solvers.likelihood.quasi_newton import Metric, State, drive, quasi_newton
from hiperplano.solvers.likelihood.sample import (
    FEWEST,
    MOST_PARAMETERS,
    first_sample,
    for_spread,
    sample_of,
    some_rows,
    telling_rows,
)
from hiperplano.solvers.likelihood.untangled import hides_directions, untangle
from hiperplano.solvers.solution import Solution
from hiperplano.solvers.statistics import NonFiniteRows

SOLVERS = ("auto", "newton", "lbfgs", "gradient")
_SMALL = 2e7  # rows × parameters²: below it a Newton step costs less than arranging anything better
_PATIENCE = 0.5  # by which each step should shrink the gradient while a better metric is to be had
_DEAR = 2e10  # rows × parameters²: beyond it the Hessian of several classes is not made
_BLOCK_ROWS = 15  # for each column, that blocks of it are measured on
# Next step of scaled parameters at which they stand still; standard errors are about as accurate as that.
_SETTLED, _SETTLED_SMALL = 1e-7, 1e-12
_SETTLED_PENALISED, _SETTLED_SMALL_PENALISED = 1e-4, 1e-5  # whose standard errors are a guide at best
_FAR_OUT = 10.0  # margin of rows that a plane tells apart, when the gradient is already below 1e-8
_FURTHER = 300  # steps to go on for, to see whether scores still grow
_PERFECT = 1e-7  # mean loss of a fit without mistakes and without doubt
_EVIDENCE = 512  # parameters up to which the Hessian at the solution is kept for standard errors


@dataclass(frozen=True)
class LogisticSolution(Solution):
    """How a logistic or softmax fit ended.

    Attributes
    ----------
    gradient_norm : float
        Largest entry of the gradient of the mean loss with its penalty, columns at unit spread.
    passes : int
        Over all rows; passes over a sample count by their share.
    strength : float
        λ on the mean loss.
    deviance, null_deviance : float
        Minus twice the log-likelihood, of the fit and of the best constant (of even chances, without intercept).
    hessian : ndarray or None
        Of the mean loss with its penalty at the solution, in scaled coordinates.
    unbounded : bool
        Whether coefficients were still growing when the gradient was already small.
    coordinates : Coordinates
        The scaled coordinates.
    total : float
        Sum of the weights.
    """

    gradient_norm: float
    passes: float
    strength: float
    deviance: float = field(repr=False)
    null_deviance: float = field(repr=False)
    coordinates: Coordinates = field(repr=False)
    total: float = field(repr=False)
    hessian: Array | None = field(default=None, repr=False)
    unbounded: bool = False

    @property
    def at_maximum(self) -> bool:
        """Whether the coefficients maximise the likelihood itself."""
        return self.strength == 0 and self.converged

    def penalty_diagonal(self) -> Array:
        """What the penalty adds to the diagonal of one score's Hessian."""
        level = int(self.coordinates.level)
        return np.concatenate([np.zeros(level), self.coordinates.penalty(self.strength)])


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
    evidence: bool = True,
    watchful: bool = False,
) -> LogisticSolution:
    """Minimise Σ w·loss/Σw + ½·strength·‖coef‖².

    Parameters
    ----------
    design : Design
        Target: −1 and +1 with one score, otherwise the numbers of the classes.
    tol : float
        Largest entry of the gradient, columns at unit spread, at which to stop.
    start : (coef, intercept), optional
    evidence : bool
        Whether to keep the Hessian at the solution, at the price of one more pass, if it is not too large.
    watchful : bool
        Whether NaN and infinity may be there, and raise `NonFiniteRows` when they are met.
    """
    with one_blas_thread(), np.errstate(invalid="ignore" if watchful else None, over="ignore" if watchful else None):
        sample = first_sample(design, n_scores)
        coordinates = Coordinates.of(design, for_spread(design) if sample is None else sample, fit_intercept)
        if watchful and not (np.isfinite(coordinates.shift).all() and np.isfinite(coordinates.scale).all()):
            raise NonFiniteRows
        problem = Likelihood(design, coordinates, n_scores, strength, watchful=watchful)
        theta = problem.prior() if start is None else problem.balanced(coordinates.parameters(*start))
        wanted = evidence and n_scores * coordinates.size <= _EVIDENCE
        near = _settled(problem) if wanted else 0.0
        samples = [sample] if sample is not None and start is None else []
        del sample  # whoever takes it out of the list can let it go before making another
        method, end = _minimise(problem, theta, samples, solver, tol, max_iter, near)
        wanted = wanted and end.hessian is None
        if wanted and solver != "gradient" and not end.state.stalled:
            # One more pass, for standard errors; it also tells whether the parameters have settled.
            before = end.state.steps
            end = newton(problem, end.state.theta, tol, max_iter - before, _settled(problem))
            end.state.steps += before
        if strength == 0 and not end.unbounded:
            end = end._replace(unbounded=_runs_off(problem, end, tol))
        if strength == 0 and not end.unbounded and _is_blind(problem, end):
            method, end = "Newton in columns made independent", _untangled(problem, end, tol, max_iter)
        if wanted and end.hessian is None:  # the plain way has none on its own
            end = end._replace(hessian=problem.evaluate_with_hessian(end.state.theta)[2])
    return _solution(problem, end, method, tol)


def _minimise(
    problem: Likelihood, theta: Array, samples: list[Design], solver: str, tol: float, max_iter: int, near: float
) -> tuple[str, Minimum]:
    """The way that the shape of the data calls for, or the one asked for.

    A Hessian that was needed on the way serves for standard errors, too, if it is no further than `near` from the end.
    """
    if solver == "gradient":
        return "gradient with a dynamic rate", Minimum(gradient_descent(problem, theta, tol, max_iter))
    holdable = theta.size <= MOST_PARAMETERS and not _is_dear(problem)
    if holdable and (solver == "newton" or (solver == "auto" and _is_small(problem))):
        return "Newton", newton(problem, theta, tol, max_iter, _settled(problem) if _is_small(problem) else _SETTLED)
    metric, name = problem.diagonal_metric(), "L-BFGS"
    if holdable and samples:
        name = f"L-BFGS in the metric of a sample of {samples[0].n_rows} rows"
        theta, metric = _from_sample(problem, samples)
    state = State(theta, *problem.evaluate(theta))
    if _is_dear(problem) and problem.coordinates.size <= MOST_PARAMETERS:
        blocks = Blocks(problem, _for_blocks(problem), theta)
        end = Minimum(drive(quasi_newton(state, blocks.metric, tol, max_iter), blocks))
        return "L-BFGS in the metric of one Hessian for each class", end
    patience = _PATIENCE if holdable else 0.0
    while True:
        lookout = Lookout(problem, state.theta, metric, near)
        state = drive(quasi_newton(state, lookout.metric, tol, max_iter, patience), lookout)
        if state.largest <= tol or state.steps >= max_iter or not patience:
            hessian = lookout.evidence(state.theta)
            if hessian is not None:  # as Newton's last step: unseen, it squares the error for nothing
                state.theta = state.theta - lookout.metric(state.gradient)
            return name, Minimum(state, hessian)
        if state.stalled and name.endswith("all rows"):  # Newton can do what is left: it damps its steps
            end = newton(problem, state.theta, tol, max_iter - state.steps, _SETTLED)
            end.state.steps += state.steps
            return name, end
        _, _, hessian = problem.evaluate_with_hessian(state.theta)
        metric, name = inverse(hessian), "L-BFGS in the metric of all rows"
        state.stalled = False


def _is_small(problem: Likelihood) -> bool:
    return _cost_of_hessian(problem) <= _SMALL


def _is_dear(problem: Likelihood) -> bool:
    """Whether the whole Hessian of several classes costs more than the gradients that it could save."""
    return problem.n_scores > 1 and _cost_of_hessian(problem) > _DEAR


def _cost_of_hessian(problem: Likelihood) -> float:
    """Rows × parameters²."""
    return problem.design.n_rows * float(problem.n_scores * problem.coordinates.size) ** 2


def _for_blocks(problem: Likelihood) -> Likelihood:
    """The problem on so many rows as show the correlations of the columns."""
    sample = some_rows(problem.design, max(FEWEST, _BLOCK_ROWS * problem.coordinates.size))
    strength, size = problem.penalty.strength, sample.n_rows
    return Likelihood(sample, problem.coordinates, problem.n_scores, strength, extra=1.0 / size)


def _settled(problem: Likelihood) -> float:
    """Where parameters stand still enough for standard errors."""
    if problem.penalty.strength:
        return _SETTLED_SMALL_PENALISED if _is_small(problem) else _SETTLED_PENALISED
    return _SETTLED_SMALL if _is_small(problem) else _SETTLED


def _runs_off(problem: Likelihood, end: Minimum, tol: float) -> bool:
    """Whether the likelihood grows for ever from where it seems to have its maximum.

    That can look like a maximum: far out slopes vanish with the curvature.
    """
    state = end.state
    if end.hessian is not None:
        return is_singular(end.hessian) and growing_columns(problem, state.theta) is not None
    if state.theta.size <= MOST_PARAMETERS:
        return furthest_margin(problem, state.theta) > _FAR_OUT and growing_columns(problem, state.theta) is not None
    # Rows that a plane tells apart move by log(100) on the way to a gradient a hundred times smaller.
    start = State(state.theta, state.value, state.gradient)
    further = drive(quasi_newton(start, problem.diagonal_metric(), 1e-2 * state.largest, _FURTHER), problem.evaluate)
    return state.largest <= tol and problem.movement(state.theta, further.theta) > 1.0


def _is_blind(problem: Likelihood, end: Minimum) -> bool:
    """Whether the end is one only as far as its Hessian can see."""
    return end.hessian is not None and is_singular(end.hessian) and hides_directions(problem, end.hessian)


def _untangled(problem: Likelihood, end: Minimum, tol: float, max_iter: int) -> Minimum:
    """The minimum once more, where columns nearly depend on each other: in coordinates in which they do not."""
    design, turn = untangle(problem)
    level = problem.coordinates.level
    plain = Coordinates(np.zeros(turn.shape[1]), np.ones(turn.shape[1]), level, False, np.empty(0, dtype=np.intp))
    part = Likelihood(design, plain, problem.n_scores, 0.0)
    found = newton(part, part.prior(), tol, max_iter, _SETTLED)
    problem.passes += part.passes + 3  # blind directions, triangle, turn
    slopes = found.state.theta[:, level:] @ turn.T
    theta = np.column_stack([found.state.theta[:, :level], slopes])
    state = State(theta, *problem.evaluate(theta), steps=end.state.steps + found.state.steps)
    return Minimum(state, end.hessian, found.unbounded)


def ways_out(n_scores: int) -> str:
    """What to do about separated classes."""
    return "Set firth=True, or a finite C." if n_scores == 1 else "Set a finite C."


def _from_sample(problem: Likelihood, samples: list[Design]) -> tuple[Array, Metric]:
    """The solution of a sample, which is taken from the list, and its inverse Hessian."""
    sample = samples.pop()
    drawn = telling_rows(problem, sample)
    if drawn is not None:
        del sample
        sample = sample_of(problem.design, *drawn)
    # The ridge keeps coefficients finite of columns that the sample hardly shows.
    extra = 1.0 / sample.n_rows
    part = Likelihood(sample, problem.coordinates, problem.n_scores, problem.penalty.strength, extra)
    found = newton(part, part.prior(), tol=1e-3, max_steps=20, settled=5e-2)
    problem.passes += part.passes * sample.n_rows / problem.design.n_rows
    return found.state.theta, inverse(found.hessian)


def _solution(problem: Likelihood, end: Minimum, method: str, tol: float) -> LogisticSolution:
    state = end.state
    coef, intercept = problem.coordinates.coefficients(problem.balanced(state.theta))
    mean_loss = state.value - problem.penalty_value(state.theta)
    # Without a penalty a perfect fit, too, is one whose coefficients would grow for ever.
    unbounded = end.unbounded or (problem.penalty.strength == 0 and mean_loss < _PERFECT)
    converged = state.largest <= tol and not unbounded
    left = f"the largest gradient entry is {state.largest:.1e} (columns at unit spread)"
    if converged:
        status = f"Converged by {method} in {state.steps} steps, {problem.passes:.3g} passes over the rows; {left}."
    elif unbounded:
        status = (
            f"Stopped after {state.steps} steps by {method}: coefficients grow without end while {left}. The classes "
            f"are probably separated, so that no finite maximum of the likelihood exists. {ways_out(problem.n_scores)}"
        )
    elif state.stalled:
        status = (
            f"Stopped after {state.steps} steps by {method} because no step lowers the loss any more: {left}, above "
            f"tol={tol:g}. Rounding hides what is left: raise tol, or centre columns with very large offsets."
        )
    else:
        status = (
            f"Stopped after max_iter={state.steps} steps by {method}: {left}, above tol={tol:g}. Raise max_iter, or "
            "tol if that is accurate enough, or strengthen the penalty (smaller C)."
        )
    return LogisticSolution(
        coef=coef,
        intercept=intercept,
        method=method,
        n_iter=state.steps,
        objective=state.value,
        gap=state.largest,
        converged=converged,
        status=status,
        gradient_norm=state.largest,
        passes=problem.passes,
        strength=problem.penalty.strength,
        deviance=2.0 * problem.total * mean_loss,
        null_deviance=2.0 * problem.total * problem.prior_loss(),
        coordinates=problem.coordinates,
        total=problem.total,
        hessian=end.hessian,
        unbounded=unbounded,
    )
