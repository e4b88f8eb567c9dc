"""Logistic and softmax fits to the same rows for a sequence of penalties, from strong to weak.

What does not depend on the penalty is kept from one fit to the next: the standardisation, the Hessian, value and
gradient of the loss at the last solution, and the memory of L-BFGS.
"""

from __future__ import annotations

from typing import NamedTuple

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.likelihood.fit import FEW_CELLS, fit_likelihood, in_row_span, other_way
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.preconditioned_lbfgs import PreconditionedLBFGS
from hiperplano.solvers.likelihood.sampling.sample import starting_sample
from hiperplano.solvers.row_span import is_wide


class PathFit(NamedTuple):
    """Coefficients and intercepts for one penalty, the number of steps, and whether the fit converged."""

    coef: Array
    intercept: Array
    n_iter: int
    converged: bool


class PenaltyPath:
    """Fits to the same rows for a sequence of penalties.

    Parameters
    ----------
    design, n_scores, fit_intercept, solver, tol, max_iter
        As in `fit_likelihood`. `tol` also bounds the expected error of the parameters after the last step of L-BFGS.
    """

    def __init__(
        self, design: Design, n_scores: int, *, fit_intercept: bool, solver: str, tol: float, max_iter: int
    ) -> None:
        if isinstance(design, InMemory):
            design = design.in_doubles(FEW_CELLS)
        sample = starting_sample(design, n_scores)
        self._problem = Likelihood(design, ColumnScale.estimate(design, fit_intercept, sample), n_scores, 0.0)
        self._samples: list[Design] = [] if sample is None else [sample]
        self._solver, self._tol, self._max_iter = solver, tol, max_iter
        self._lbfgs: PreconditionedLBFGS | None = None
        self._state: State | None = None  # the last state that was evaluated

    def fit(self, strength: float) -> PathFit:
        """The fit with the next penalty."""
        if strength == 0:
            return self._without_penalty()
        with one_blas_thread():
            self._state = state = self._minimise(strength)
        return PathFit(*self._coefficients(state), state.steps, state.largest <= self._tol)

    def _coefficients(self, state: State) -> tuple[Array, Array]:
        theta = state.theta if state.next_step is None else state.theta + state.next_step
        return self._problem.scale.coefficients(self._problem.balanced(theta))

    def _without_penalty(self) -> PathFit:
        """A separate fit, since the minimum may be at infinity, or may not be unique."""
        problem = self._problem
        found = fit_likelihood(
            problem.design,
            n_scores=problem.n_scores,
            strength=0.0,
            fit_intercept=problem.scale.fit_intercept,
            solver=self._solver,
            tol=self._tol,
            max_iter=self._max_iter,
            start=None if self._state is None else self._coefficients(self._state),
            keep_hessian=False,
        )
        return PathFit(found.coef, found.intercept, found.n_iter, found.converged)

    def _minimise(self, strength: float) -> State:
        problem, tol, max_iter = self._problem, self._tol, self._max_iter
        if self._lbfgs is not None and self._state is not None:
            return self._lbfgs.minimise_with(strength, self._state)[1].state
        problem.penalise(strength)
        start = None if self._state is None else self._state.theta
        other = other_way(problem, start, self._samples, self._solver, tol, max_iter)
        # For one score, the span of the rows would save less than what L-BFGS keeps from one penalty to the next.
        if other is None and problem.n_scores > 1 and is_wide(problem.design, problem.n_scores):
            other = in_row_span(problem, start, tol, max_iter)
        if other is not None:
            return other[1].state
        self._lbfgs = PreconditionedLBFGS(problem, self._samples, tol, max_iter, tol)
        return self._lbfgs.minimise(start)[1].state
