"""Newton's method with the whole Hessian, every pass giving value, gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.metric import inverse
from hiperplano.solvers.likelihood.quasi_newton import State, drive, search

_RUNNING = 3  # steps that no longer shrink, at a gradient that is small: the minimum is at infinity
_TRIES = 8  # lengths of a step to try before damping it
_GAIN = 1e-13  # a promise of less than this share of the value is rounding, and
_NOTHING = 1e-24  # of less than this no concern of standard errors either
_DAMPINGS = (1e-6, 1e-4, 1e-2, 1.0, 100.0)
_EXPLAINED = 0.9  # classes told apart better than that are no two Gaussians
_VISIBLE = 1e-3  # a smaller step is rounding, not growth


class Minimum(NamedTuple):
    """The end of Newton's method, the Hessian there, and whether parameters run off without end."""

    state: State
    hessian: Any = None
    unbounded: bool = False


def newton(problem: Likelihood, theta: Array, tol: float, max_steps: int, settled: float) -> Minimum:
    """Minimise until the gradient is below `tol` and the next step would move no parameter by more than `settled`.

    That step is then taken too, unseen: it makes the error of the parameters the square of what it was. The Hessian
    of a point from which all parameters stand still is that of the end.
    """
    hessian: Array = np.empty(0)
    still = False

    def look(point: Array) -> tuple[float, Array]:
        nonlocal hessian
        if still:
            return problem.evaluate(point)
        value, gradient, hessian = problem.evaluate_with_hessian(point)
        return value, gradient

    state = State(theta, *look(theta))
    sizes: list[float] = []
    while True:
        here = hessian
        direction = -inverse(here)(state.gradient)
        sizes.append(float(np.abs(direction).max(initial=0.0)))
        gain = -float(np.vdot(state.gradient, direction)) / max(1.0, abs(state.value))
        small = state.largest <= tol
        still = sizes[-1] <= settled * max(1.0, float(np.abs(state.theta).max(initial=0.0)))
        if small and (still or gain <= _NOTHING):
            state.theta = state.theta + direction
            return Minimum(state, here)
        even = small and len(sizes) > _RUNNING and sizes[-1] > 0.5 * sizes[-1 - _RUNNING]
        if even and gain <= _GAIN:  # rounding, in a direction that hardly curves
            return Minimum(state, here)
        running = even and sizes[-1] > _VISIBLE and problem.penalty.strength == 0
        if running or state.steps >= max_steps:
            return Minimum(state, here, unbounded=running)
        if state.steps == 0 and problem.at_prior(theta):
            direction = _to_discriminant(problem, state.gradient, direction)
        found = drive(search(state, direction, _TRIES), look)
        if found is None and gain > _GAIN:
            found = _damped_step(state, here, look)
        if found is None:
            state.stalled = True
            return Minimum(state, here)
        state = found


def _to_discriminant(problem: Likelihood, gradient: Array, direction: Array) -> Array:
    """Newton's first step, from the prior, turned into that to the linear discriminant, which is closer to the end.

    At the prior the Hessian is that of least squares with p(1 − p) for a factor, so the step solves least squares,
    gradientᵀ·step is its R², and 1/(1 − R²) takes the covariance of all rows to that within the classes. What Gaussian
    classes have for a level follows.
    """
    share = float(problem.class_shares[0])
    explained = min(-float(np.vdot(gradient, direction)), _EXPLAINED)
    direction = direction / (1.0 - explained)
    direction[0, 0] -= (0.5 - share) * explained / (share * (1.0 - share) * (1.0 - explained))
    return direction


def _damped_step(state: State, hessian: Array, look: Callable[[Array], tuple[float, Array]]) -> State | None:
    """A step that trusts curvature only so far.

    Where a row is far on the wrong side its curvature vanishes while its slope does not, and Newton's step goes
    beyond all measure. A multiple of the unit matrix, larger from try to try, turns it towards the gradient.
    """
    size = float(np.abs(hessian.diagonal()).max(initial=0.0))
    for damping in _DAMPINGS:
        damped = hessian.copy()
        damped[np.diag_indices_from(damped)] += damping * size
        found = drive(search(state, -inverse(damped)(state.gradient), _TRIES), look)
        if found is not None:
            return found
    return None
