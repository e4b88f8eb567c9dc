"""L-BFGS with a preconditioner that is already close to the inverse Hessian, counting passes.

The minimiser is a generator: it yields points and is sent value and gradient there. So one pass over the rows can
serve several minimisations at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.linalg.blas import daxpy, ddot, dnrm2

from hiperplano.data.design import Array
from hiperplano.solvers.cost import Budget

End = TypeVar("End")
Minimisation = Generator[Array, tuple[float, Array], "State"]
Preconditioner = Callable[[Array], Array]
"""Applies an approximate inverse of the Hessian."""

_MEMORY = 12
_ARMIJO = 1e-4
_FLAT = 4e-15  # relative change of a value that is rounding only
_PATIENCE = 100  # steps in which a value should fall by more, or a gradient to its half


@dataclass
class State:
    """Where a minimisation stands.

    Attributes
    ----------
    stalled : bool
        Whether the method can do no more from here.
    left : float
        Share of the largest entry of the gradient that the last step left; 0 before the first.
    next_step : ndarray or None
        Where L-BFGS, which has ended, would go on to.
    """

    theta: Array
    value: float
    gradient: Array
    steps: int = 0
    stalled: bool = False
    left: float = 0.0
    next_step: Array | None = None

    @cached_property
    def largest(self) -> float:
        """Largest entry of the gradient."""
        return float(np.abs(self.gradient).max(initial=0.0))

    def settles_by(self, step: Array, near: float) -> bool:
        """Whether a step, made without a pass, leaves less than `near` to go, relative to the largest parameter or 1.

        It leaves the share that the last one did.
        """
        unit = max(1.0, float(np.abs(self.theta).max(initial=0.0)))
        return self.left * float(np.abs(step).max(initial=0.0)) <= near * unit


class _Memory:
    """The last steps and changes of the gradient."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=_MEMORY)

    def add(self, step: Array, change: Array) -> None:
        step, change = step.ravel(), change.ravel()
        along = float(ddot(step, change))
        if along > 1e-14 * dnrm2(step) * dnrm2(change):
            self._pairs.append((step, change, along))

    def direction(self, gradient: Array, precondition: Preconditioner) -> Array:
        """−(approximate inverse Hessian)·gradient, by the two-loop recursion."""
        left = gradient.ravel().copy()
        shares = []
        for step, change, along in reversed(self._pairs):
            share = ddot(step, left) / along
            shares.append(share)
            left = daxpy(change, left, a=-share)  # in place
        left = precondition(left.reshape(gradient.shape)).ravel()
        if self._pairs:  # curvature falls on the way where classes come apart, but a preconditioner is of one place
            _, change, along = self._pairs[-1]
            left = left * (along / ddot(change, precondition(change.reshape(gradient.shape)).ravel()))
        for (step, change, along), share in zip(self._pairs, reversed(shares), strict=True):
            left = daxpy(step, left, a=share - ddot(change, left) / along)
        return -left.reshape(gradient.shape)


def lbfgs(
    state: State,
    precondition: Preconditioner,
    tol: float,
    max_steps: int,
    budget: Budget | None = None,
    watch: Callable[[State], None] | None = None,
) -> Minimisation:
    """Minimise from `state` until no entry of the gradient exceeds `tol`.

    Parameters
    ----------
    budget : Budget, optional
        Give up when it is spent, so that the caller can bring a better preconditioner.
    watch : callable, optional
        Is told every state that a step led to.

    Returns
    -------
    generator
        Yields points, takes (value, gradient) and returns the last `State`.
    """
    memory = _Memory()
    history, values = [state.largest], [state.value]
    while state.largest > tol and state.steps < max_steps:
        found = yield from line_search(state, memory.direction(state.gradient, precondition))
        if found is None:
            state.stalled = True
            return state
        memory.add(found.theta - state.theta, found.gradient - state.gradient)
        state = found
        history.append(state.largest)
        if watch is not None:
            watch(state)
        if budget is not None and budget.is_spent(history):
            return state
        values.append(state.value)
        if len(values) > _PATIENCE and _stands_still(values, history):
            state.stalled = True
            return state
    state.next_step = memory.direction(state.gradient, precondition)
    return state


def _stands_still(values: list[float], history: list[float]) -> bool:
    """Whether in the last steps the value fell by no more than rounding and the gradient by less than half."""
    flat = values[-_PATIENCE - 1] - values[-1] <= _PATIENCE * _FLAT * max(1.0, abs(values[-1]))
    return flat and min(history[-_PATIENCE:]) > 0.5 * min(history[:-_PATIENCE])


def line_search(state: State, direction: Array, tries: int = 30) -> Generator[Array, tuple[float, Array], State | None]:
    """A step along `direction` that lowers the value enough: the whole one if it does, else a shorter one.

    Where values no longer differ beyond rounding, a smaller gradient counts as progress.
    """
    downhill = float(np.vdot(state.gradient, direction))
    length = 1.0
    for _ in range(tries):
        theta = state.theta + length * direction
        value, gradient = yield theta
        found = State(theta, value, gradient, state.steps + 1)
        flat = abs(value - state.value) <= _FLAT * max(1.0, abs(state.value))
        if value <= state.value + _ARMIJO * length * downhill or (flat and found.largest < state.largest):
            found.left = found.largest / state.largest if state.largest else 0.0
            return found
        if flat and length < 1e-3:
            return None
        slope = float(np.vdot(gradient, direction))
        # The minimum of the parabola through both slopes, kept inside (0.1, 0.5) of the step.
        ratio = downhill / (downhill - slope) if np.isfinite(slope) and slope > downhill else 0.1
        length *= min(0.5, max(0.1, ratio))
    return None


def drive(search: Generator[Array, tuple[float, Array], End], evaluate: Callable[[Array], tuple[float, Array]]) -> End:
    """Run one generator to its end."""
    try:
        theta = next(search)
        while True:
            theta = search.send(evaluate(theta))
    except StopIteration as end:
        result: End = end.value
        return result
