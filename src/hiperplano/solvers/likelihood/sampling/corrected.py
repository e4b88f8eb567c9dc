"""Newton's method with one Hessian of all rows; how it changes from there, a sample tells.

For rows whose reading costs more than a Hessian. At the solution of the sample one pass gives gradient and Hessian of
all rows. From there on every pass gives the gradient g at a point w', and the next point is the minimum of

    F_s(w) + (g − g_s(w'))·w + ½·(w − w')ᵀ·C·(w − w'),    C = H − H_s at the first point,

the objective F_s of the sample with the slope of all rows and their curvature. What it leaves out is how much the third
derivatives of the sample differ from those of all rows: a step makes an error e₀ of the start about e₀³, where
Newton's step makes it e₀².
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.lbfgs import State, drive, line_search
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.newton import Minimum

_CLOSE = 1e-5  # share of the gradient of all rows up to which the minimum of the corrected sample is found
_MOST = 8  # gradients of the sample for that
_SETTLED = 1e-10  # of standardised parameters, that may be left to go at the end
_SLOW = 0.03  # a step that leaves more of the gradient than this share: the sample is not like all rows


def newton_by_sample(
    problem: Likelihood, part: Likelihood, start: Array, tol: float, max_steps: int, settled: float | None = None
) -> Minimum | None:
    """Minimise from the solution of a sample.

    Parameters
    ----------
    part : Likelihood
        Of the sample, in the same standardised columns.
    tol : float
        Largest entry of the gradient.
    settled : float, optional
        Where Newton's method follows, whose first pass is to be the last: end with a step that leaves no more than this
        of standardised parameters, though no pass has told the gradient where it leads.

    Returns
    -------
    Minimum or None
        None where the solution of the sample is worse than a constant. Stalled where the sample is not like all rows,
        and steps shrink the gradient slowly: another method is to go on from there.
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
    """The objective of a sample with slope and curvature of all rows.

    Parameters
    ----------
    part : Likelihood
        Of the sample.
    point : ndarray of shape (scores, size)
    hessian : ndarray of shape (scores·size, scores·size)
        Of all rows, at the point.
    """

    def __init__(self, part: Likelihood, point: Array, hessian: Array) -> None:
        self._part, self._point = part, point
        _value, self._gradient, own = part.evaluate_with_hessian(point)
        self._correction = hessian - own
        self._solver = SymmetricSolver(hessian)

    def precondition(self, vector: Array) -> Array:
        """The inverse of the Hessian at the last point that a step was made from."""
        return self._solver.precondition(vector)

    def step(self, state: State) -> Array:
        """From a point to the minimum, by steps of Newton's with the Hessian there."""
        if state.theta is not self._point:
            self._point = state.theta
            _value, self._gradient, own = self._part.evaluate_with_hessian(state.theta)
            self._solver = SymmetricSolver(own + self._correction)
        slope = state.gradient - self._gradient
        moved, left = -self.precondition(state.gradient), state.largest
        for _ in range(_MOST):
            curved = (self._correction @ moved.ravel()).reshape(moved.shape)
            gradient = self._part.evaluate(state.theta + moved)[1] + slope + curved
            size = float(np.abs(gradient).max(initial=0.0))
            if not size < left:
                return -self.precondition(state.gradient)
            if size <= _CLOSE * state.largest:
                break
            moved, left = moved - self.precondition(gradient), size
        return self._part.balanced(moved)
