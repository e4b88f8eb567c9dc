"""How a logistic or softmax fit ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.newton import Minimum
from hiperplano.solvers.solution import Solution

_PERFECT = 1e-7  # with a smaller mean loss, all rows are predicted with a probability of almost 1


@dataclass(frozen=True)
class LogisticSolution(Solution):
    """How a logistic or softmax fit ended.

    Attributes
    ----------
    gradient_norm : float
        Largest entry of the gradient of the penalised mean loss (standardised columns).
    passes : float
        Number of passes over all rows; a pass over a sample counts as its share of the rows.
    strength : float
        Penalty λ, relative to the mean loss.
    deviance, null_deviance : float
        Minus twice the log-likelihood of the fit, and of an intercept alone (without an intercept, of equal
        probabilities).
    scale : ColumnScale
        Standardisation of the parameters.
    total : float
        Sum of the weights.
    hessian : ndarray or None
        Hessian of the penalised mean loss at the solution, in standardised parameters.
    rank : int or None
        Rank of the columns that are not constant, if it was computed: in fits without a penalty whose Hessian is
        singular.
    unbounded : bool
        Whether the coefficients grow without bound.
    """

    gradient_norm: float
    passes: float
    strength: float
    deviance: float = field(repr=False)
    null_deviance: float = field(repr=False)
    scale: ColumnScale = field(repr=False)
    total: float = field(repr=False)
    hessian: Array | None = field(default=None, repr=False)
    rank: int | None = field(default=None, repr=False)
    unbounded: bool = False

    @property
    def at_maximum(self) -> bool:
        """Whether the coefficients maximise the likelihood without a penalty."""
        return self.strength == 0 and self.converged

    @property
    def parameters(self) -> Array:
        """The standardised parameters, of shape (scores, size)."""
        return self.scale.parameters(self.coef, self.intercept)

    def penalty_diagonal(self) -> Array:
        """Second derivatives of the penalty: what it adds to the diagonal of the Hessian of one score."""
        return np.concatenate([np.zeros(int(self.scale.fit_intercept)), self.scale.penalty(self.strength)])


def logistic_solution(
    problem: Likelihood, end: Minimum, method: Message, tol: float, rank: int | None = None
) -> LogisticSolution:
    """Make a solution from the end of a minimisation.

    Parameters
    ----------
    tol : float
        Largest entry of the gradient of a fit that has converged.
    rank : int, optional
        Rank of the columns that are not constant, if it was computed.
    """
    state = end.state
    coef, intercept = problem.scale.coefficients(problem.balanced(state.theta))
    mean_loss = state.value - problem.penalty.value(state.theta)
    # A perfect fit without a penalty means separated classes, so that the coefficients grow without bound.
    unbounded = end.unbounded or (problem.strength == 0 and mean_loss < _PERFECT)
    converged = state.largest <= tol and not unbounded
    return LogisticSolution(
        coef=coef,
        intercept=intercept,
        method=method,
        n_iter=state.steps,
        objective=state.value,
        gap=state.largest,
        converged=converged,
        status=_status(problem, end._replace(unbounded=unbounded), method, tol) + _dependence(problem, rank),
        gradient_norm=state.largest,
        passes=problem.passes,
        strength=problem.strength,
        deviance=2.0 * problem.total * mean_loss,
        null_deviance=2.0 * problem.total * problem.prior_loss(),
        scale=problem.scale,
        total=problem.total,
        hessian=end.hessian,
        rank=rank,
        unbounded=unbounded,
    )


def widened(solution: LogisticSolution, columns: HeldColumns) -> LogisticSolution:
    """The solution for all columns, from a fit to the nonempty ones; empty columns are constant."""
    scale = solution.scale
    return replace(
        solution,
        coef=columns.widen(solution.coef),
        scale=replace(
            scale,
            shift=columns.widen(scale.shift),
            scale=columns.widen(scale.scale, 1.0),
            constant=columns.widen(scale.constant, True),
        ),
        hessian=None,
    )


def _status(problem: Likelihood, end: Minimum, method: Message, tol: float) -> Message:
    steps, gradient = end.state.steps, end.state.largest
    if end.unbounded:
        return Message(
            "Did not converge: the classes are probably separated, at least in part, so that no finite maximum of the "
            "likelihood exists. Coefficients grew without bound and were stopped after {steps} steps by {method}, "
            "where the largest gradient entry is {gradient:.1e} (standardised columns). {remedy}",
            steps=steps,
            method=method,
            gradient=gradient,
            remedy=separation_remedy(problem.n_scores),
        )
    if gradient <= tol:
        return Message(
            "Converged by {method} in {steps} steps, {passes:.3g} passes over the rows; the largest gradient entry is "
            "{gradient:.1e} (standardised columns).",
            steps=steps,
            method=method,
            passes=problem.passes,
            gradient=gradient,
        )
    if end.state.stalled:
        return Message(
            "Stopped after {steps} steps by {method} because no step lowers the loss any more: the largest gradient "
            "entry is {gradient:.1e} (standardised columns), above tol={tol:g}. Rounding hides what is left: raise "
            "tol, or centre columns with very large offsets.",
            steps=steps,
            method=method,
            gradient=gradient,
            tol=tol,
        )
    return Message(
        "Stopped after max_iter={steps} steps by {method}: the largest gradient entry is {gradient:.1e} "
        "(standardised columns), above tol={tol:g}. Raise max_iter, or tol if that is accurate enough, or "
        "strengthen the penalty "
        "(smaller C).",
        steps=steps,
        method=method,
        gradient=gradient,
        tol=tol,
    )


def _dependence(problem: Likelihood, rank: int | None) -> str:
    """A sentence on linearly dependent columns, or nothing."""
    varying = int(np.count_nonzero(~problem.scale.constant))
    if rank is None or rank == varying:
        return ""
    return Message(
        " The columns are linearly dependent (rank {rank} of {n}): the minimum-norm coefficients were taken; "
        "predictions are unique, coefficients are not.",
        rank=rank,
        n=varying,
    )


def separation_remedy(n_scores: int) -> Message:
    """Advice for separated classes."""
    return Message("Set firth=True, or a finite C.") if n_scores == 1 else Message("Set a finite C.")
