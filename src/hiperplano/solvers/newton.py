"""Newton's method with the full Hessian; every pass computes value, gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.lbfgs import State, drive, line_search

_STEPS_TO_INFINITY = 3  # steps that do not shrink while the gradient is small: the minimum is at infinity
_FADING = 0.5  # share of the gradient that such a step leaves, at most
_TRIES = 8  # step lengths to try before damping
_ROUNDING_GAIN = 1e-13  # a predicted decrease below this share of the value is a rounding error
_NEGLIGIBLE_GAIN = 1e-24  # a predicted decrease below this does not affect standard errors either
_DAMPINGS = (1e-6, 1e-4, 1e-2, 1.0, 100.0)
_MOST_DAMPED = 100  # limit of consecutive damped steps, each of which costs a dozen passes
VISIBLE = 1e-3  # smaller steps are rounding errors, not growth


class Problem(Protocol):
    """Interface of the functions that Newton's method minimises."""

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian, or a positive semidefinite approximation of it."""


class Minimum(NamedTuple):
    """The end of a minimisation, the Hessian there, and whether the parameters diverge."""

    state: State
    hessian: Any = None
    unbounded: bool = False


def newton(
    problem: Problem,
    theta: Array,
    tol: float,
    max_steps: int,
    settled: float,
    *,
    bounded: bool = True,
    longest: float = np.inf,
    first_step: Callable[[Array, Array], Array] | None = None,
    watch: Callable[[State], None] | None = None,
) -> Minimum:
    """Minimise until the gradient is below `tol` and the next step would move no parameter by more than `settled`.

    That step is then taken, too, without a pass, which squares the error of the parameters. If no parameter moves
    visibly, the Hessian of the previous point is that of the end.

    Parameters
    ----------
    theta : ndarray
        Initial parameters.
    tol : float
        Largest entry of the gradient.
    settled : float
        Largest final step, relative to the largest parameter or 1.
    bounded : bool
        False if the minimum may be at infinity, so that steps are checked for divergence.
    longest : float
        Largest change of a parameter in one step.
    first_step : callable, (gradient, direction) -> direction, optional
        Improves the first Newton step.
    watch : callable, optional
        Called with every state, including the first and the last.
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
    slopes: list[float] = []
    damped = 0
    while True:
        if watch is not None:
            watch(state)
        here = hessian
        direction = -SymmetricSolver(here).precondition(state.gradient)
        sizes.append(float(np.abs(direction).max(initial=0.0)))
        slopes.append(state.largest)
        gain = -float(np.vdot(state.gradient, direction)) / max(1.0, abs(state.value))
        small = state.largest <= tol
        still = sizes[-1] <= settled * max(1.0, float(np.abs(state.theta).max(initial=0.0)))
        if small and (still or gain <= _NEGLIGIBLE_GAIN):
            state.theta = state.theta + direction
            if watch is not None:
                watch(state)
            return Minimum(state, here)
        even = small and len(sizes) > _STEPS_TO_INFINITY and sizes[-1] > 0.5 * sizes[-1 - _STEPS_TO_INFINITY]
        running = even and sizes[-1] > VISIBLE and not bounded
        # Slopes of separated rows shrink by about e in each step. If they do not, only rounding errors are left, along
        # a direction of tiny curvature.
        fading = running and all(after < _FADING * slope for slope, after in pairwise(slopes[-_STEPS_TO_INFINITY:]))
        if even and gain <= _ROUNDING_GAIN and not fading:
            return Minimum(state, here)
        if running or state.steps >= max_steps:
            return Minimum(state, here, unbounded=running)
        if state.steps == 0 and first_step is not None:
            direction = first_step(state.gradient, direction)
        direction = direction * min(1.0, longest / max(sizes[-1], 1e-300))
        found = drive(line_search(state, direction, _TRIES), look)
        damped = damped + 1 if found is None else 0
        if found is None and gain > _ROUNDING_GAIN and damped <= _MOST_DAMPED:
            found = _damped_step(state, here, look)
            if found is not None and small and state.value - found.value <= _ROUNDING_GAIN * max(1.0, abs(state.value)):
                return Minimum(found, here)  # the predicted decrease was a rounding error
        if found is None:
            state.stalled = True
            return Minimum(state, here)
        state = found


def _damped_step(state: State, hessian: Array, look: Callable[[Array], tuple[float, Array]]) -> State | None:
    """A Levenberg-Marquardt step: Newton's method with a damped Hessian.

    A row far on the wrong side has almost no curvature, but a large slope, so that Newton's step is far too long. An
    increasing multiple of the identity turns the step towards the gradient.
    """
    size = float(np.abs(hessian.diagonal()).max(initial=0.0))
    for damping in _DAMPINGS:
        damped = hessian.copy()
        damped[np.diag_indices_from(damped)] += damping * size
        direction = -SymmetricSolver(damped).precondition(state.gradient)
        found = drive(line_search(state, direction, _TRIES), look)
        if found is not None:
            return found
    return None
