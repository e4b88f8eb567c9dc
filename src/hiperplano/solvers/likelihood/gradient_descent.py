"""Plain gradient steps with a dynamic rate: slow, and easy to follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.objective import Objective

_FASTER, _SLOWER = 1.2, 0.5
_SLOWEST = 1e-20
_CLOSER = 0.01  # share of `tol` to go on to: other solvers end with a Newton step, and are as near as that
_ROUNDING = 1e-14  # of the loss: where a step's gain is less, the gradient tells whether it was one


def gradient_descent(
    problem: Objective,
    theta: Array,
    tol: float,
    max_steps: int,
    watch: Callable[[State], None] | None = None,
) -> State:
    """θ ← θ − rate·gradient; the rate grows after a step that lowers the loss and shrinks after one that does not.

    `watch` is told the first state and every one that a step led to.
    """
    state = State(theta, *problem.evaluate(theta))
    rate = 1.0
    if watch is not None:
        watch(state)
    while state.largest > _CLOSER * tol and state.steps < max_steps and not state.stalled:
        trial = state.theta - rate * state.gradient
        value, gradient = problem.evaluate(trial)
        flat = abs(value - state.value) <= _ROUNDING * abs(state.value)
        if np.linalg.norm(gradient) < np.linalg.norm(state.gradient) if flat else value < state.value:
            state = State(trial, value, gradient, state.steps + 1)
            rate *= _FASTER
            if watch is not None:
                watch(state)
        else:
            state.steps += 1
            rate *= _SLOWER
            state.stalled = rate < _SLOWEST
    return state
