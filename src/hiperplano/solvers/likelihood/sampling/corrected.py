"""Newton's method with a single Hessian of all rows, whose changes are estimated from a sample.

It suits rows whose reading costs more than a Hessian. The first pass computes gradient and Hessian of all rows at the
solution of the sample. Each later pass computes only the gradient g, at a point w'. The next point is the minimum of

    F_s(w) + (g − g_s(w'))·w + ½·(w − w')ᵀ·C·(w − w'),    C = H − H_s at the first point,

where F_s is the objective of the sample. It has the gradient of all rows at w', and about their Hessian. What remains
is the difference between the third derivatives of the sample and of all rows. So a step reduces an error e₀ of the
start to about e₀³, where Newton's step would reduce it to e₀².
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.lbfgs import State, drive, line_search
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.newton import Minimum

# The corrected objective of the sample is minimised to this share of the gradient of all rows,
_SAMPLE_TOL = 1e-5
_MOST_GRADIENTS = 8  # with at most so many gradients of the sample.
_SETTLED = 1e-10  # largest expected error after the last step, in standardised parameters
_SLOW = 0.03  # if a step leaves more than this share of the gradient, the sample does not represent all rows


def newton_by_sample(
    problem: Likelihood, part: Likelihood, start: Array, tol: float, max_steps: int, settled: float | None = None
) -> Minimum | None:
    """Minimise from the solution of a sample.

    Parameters
    ----------
    problem : Likelihood
        The problem for all rows.
    part : Likelihood
        The problem for the sample, with the same standardised columns.
    start : ndarray of shape (scores, size)
        Solution of the sample.
    tol : float
        Largest entry of the gradient at the solution.
    max_steps : int
        Most steps.
    settled : float, optional
        Given if Newton's method follows, which should need a single pass. The minimisation then ends with a step, taken
        without a pass, after which the expected error of standardised parameters is at most this.

    Returns
    -------
    Minimum or None
        None if the solution of the sample has a larger loss than an intercept alone. Its state is stalled if the sample
        does not represent all rows, and steps shrink the gradient slowly: another method must then continue.
    """
    value, gradient, hessian = problem.evaluate_with_hessian(start)
    if value > problem.prior_loss():
        return None
    state, sample = State(start, value, gradient), CorrectedSample(part, start, hessian)
    _tell(problem, state)
    while state.steps < max_steps and not state.stalled:
        last = sample.precondition(state.gradient)
        if settled is None and state.largest <= tol and state.settles_by(last, _SETTLED):
            state.theta = state.theta - last
            break
        step = sample.step(state)
        if settled is not None and state.steps > 0 and state.settles_by(step, settled):
            state.theta = state.theta + step
            break
        found = drive(line_search(state, step), problem.evaluate)
        if found is not None:
            state = found
            _tell(problem, state)
        state.stalled = found is None or state.left > _SLOW
    return Minimum(state)


def _tell(problem: Likelihood, state: State) -> None:
    if problem.watch is not None:
        problem.watch(state)


class CorrectedSample:
    """The objective of a sample, corrected to have the gradient and about the Hessian of all rows.

    Parameters
    ----------
    part : Likelihood
        The problem for the sample.
    point : ndarray of shape (scores, size)
        The first point.
    hessian : ndarray of shape (scores·size, scores·size)
        Hessian of all rows at that point.
    """

    def __init__(self, part: Likelihood, point: Array, hessian: Array) -> None:
        self._part, self._point = part, point
        _value, self._gradient, own = part.evaluate_with_hessian(point)
        self._correction = hessian - own
        self._solver = SymmetricSolver(hessian)

    def precondition(self, vector: Array) -> Array:
        """The inverse of the corrected Hessian, at the last point from which a step was computed, times `vector`."""
        return self._solver.precondition(vector)

    def step(self, state: State) -> Array:
        """Step from a point to the minimum of the corrected objective, found with the Hessian at that point."""
        if state.theta is not self._point:
            self._point = state.theta
            _value, self._gradient, own = self._part.evaluate_with_hessian(state.theta)
            self._solver = SymmetricSolver(own + self._correction)
        slope = state.gradient - self._gradient
        moved, left = -self.precondition(state.gradient), state.largest
        for _ in range(_MOST_GRADIENTS):
            curved = (self._correction @ moved.ravel()).reshape(moved.shape)
            gradient = self._part.evaluate(state.theta + moved)[1] + slope + curved
            size = float(np.abs(gradient).max(initial=0.0))
            if not size < left:
                return -self.precondition(state.gradient)
            if size <= _SAMPLE_TOL * state.largest:
                break
            moved, left = moved - self.precondition(gradient), size
        return self._part.balanced(moved)
