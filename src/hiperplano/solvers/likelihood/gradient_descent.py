"""Gradient descent with a dynamic step size: slow, but easy to follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.objective import Objective

_INCREASE, _DECREASE = 1.2, 0.5  # factors of the rate after a step that succeeds, and after one that fails
_LEAST_RATE = 1e-20  # stop if the rate falls below this
_TOL_SHARE = 0.01  # actual tolerance, as a share of `tol`: other solvers end with a Newton step, and are as accurate
_ROUNDING = 1e-14  # relative changes of the loss up to this are rounding errors; the gradients are compared instead


def gradient_descent(
    problem: Objective,
    theta: Array,
    tol: float,
    max_steps: int,
    watch: Callable[[State], None] | None = None,
) -> State:
    """θ ← θ − rate·gradient. The rate grows after a step that lowers the loss, and shrinks otherwise.

    `watch` is called with the first state, and with the state after every successful step.
    """
    state = State(theta, *problem.evaluate(theta))
    rate = 1.0
    if watch is not None:
        watch(state)
    while state.largest > _TOL_SHARE * tol and state.steps < max_steps and not state.stalled:
        trial = state.theta - rate * state.gradient
        value, gradient = problem.evaluate(trial)
        flat = abs(value - state.value) <= _ROUNDING * abs(state.value)
        if np.linalg.norm(gradient) < np.linalg.norm(state.gradient) if flat else value < state.value:
            state = State(trial, value, gradient, state.steps + 1)
            rate *= _INCREASE
            if watch is not None:
                watch(state)
        else:
            state.steps += 1
            rate *= _DECREASE
            state.stalled = rate < _LEAST_RATE
    return state
