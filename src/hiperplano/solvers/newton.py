"""Newton's method with the whole Hessian, every pass giving value, gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.lbfgs import State, drive, line_search

_RUNNING = 3  # steps that no longer shrink, at a gradient that is small: the minimum is at infinity
_TRIES = 8  # lengths of a step to try before damping it
_GAIN = 1e-13  # a promise of less than this share of the value is rounding, and
_NOTHING = 1e-24  # of less than this no concern of standard errors either
_DAMPINGS = (1e-6, 1e-4, 1e-2, 1.0, 100.0)
_MOST_DAMPED = 100  # damped steps in a row, each of which costs a dozen passes: no end is in sight
VISIBLE = 1e-3  # a smaller step is rounding, not growth


class Problem(Protocol):
    """What Newton's method minimises."""

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and Hessian, or a positive semidefinite matrix near it."""


class Minimum(NamedTuple):
    """The end of a minimisation, the Hessian there, and whether parameters grow without bound."""

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

    That step is then taken too, without a pass: it makes the error of the parameters the square of what it was. The
    Hessian of a point from which all parameters stand still is that of the end.

    Parameters
    ----------
    theta : ndarray
        Where to start.
    tol : float
        Largest entry of the gradient.
    settled : float
        Relative to the largest parameter, or to 1 if that is less.
    bounded : bool
        False if the minimum may lie at infinity, and steps are to be watched for that.
    longest : float
        Most that a parameter moves in one step.
    first_step : callable, (gradient, direction) -> direction, optional
        Makes a better first step of Newton's.
    watch : callable, optional
        Is told every state, the first and the last included.
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
    damped = 0
    while True:
        if watch is not None:
            watch(state)
        here = hessian
        direction = -SymmetricSolver(here).precondition(state.gradient)
        sizes.append(float(np.abs(direction).max(initial=0.0)))
        gain = -float(np.vdot(state.gradient, direction)) / max(1.0, abs(state.value))
        small = state.largest <= tol
        still = sizes[-1] <= settled * max(1.0, float(np.abs(state.theta).max(initial=0.0)))
        if small and (still or gain <= _NOTHING):
            state.theta = state.theta + direction
            if watch is not None:
                watch(state)
            return Minimum(state, here)
        even = small and len(sizes) > _RUNNING and sizes[-1] > 0.5 * sizes[-1 - _RUNNING]
        if even and gain <= _GAIN:  # rounding, in a direction that hardly curves
            return Minimum(state, here)
        running = even and sizes[-1] > VISIBLE and not bounded
        if running or state.steps >= max_steps:
            return Minimum(state, here, unbounded=running)
        if state.steps == 0 and first_step is not None:
            direction = first_step(state.gradient, direction)
        direction = direction * min(1.0, longest / max(sizes[-1], 1e-300))
        found = drive(line_search(state, direction, _TRIES), look)
        damped = damped + 1 if found is None else 0
        if found is None and gain > _GAIN and damped <= _MOST_DAMPED:
            found = _damped_step(state, here, look)
            if found is not None and small and state.value - found.value <= _GAIN * max(1.0, abs(state.value)):
                return Minimum(found, here)  # what Newton's step promised was rounding, too
        if found is None:
            state.stalled = True
            return Minimum(state, here)
        state = found


def _damped_step(state: State, hessian: Array, look: Callable[[Array], tuple[float, Array]]) -> State | None:
    """A step that trusts curvature only so far.

    Where a row is far on the wrong side its curvature vanishes while its slope does not, and Newton's step goes
    beyond all measure. A multiple of the unit matrix, larger from try to try, turns it towards the gradient.
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
