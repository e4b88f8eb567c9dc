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

_MEMORY = 12  # pairs that are kept
_ARMIJO = 1e-4
FLAT = 4e-15  # relative change of a value that is rounding only
_SHORTER = 3  # tries of a step near the end
_PATIENCE = 100  # steps in which a value should fall by more, or a gradient to its half
_UNSEEN = 0.5  # share of the way that a first step is expected to leave
_RECENT, _SLOWEST = 6, 0.9  # steps that tell which share of the way the next one leaves, and the largest


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
        The next one of a minimisation that has ended, if it is known without a pass.
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

    @property
    def unit(self) -> float:
        """The largest parameter, or 1 if that is less."""
        return max(1.0, float(np.abs(self.theta).max(initial=0.0)))

    def repenalised(self, change: Array) -> State:
        """The same point, before the first step, when the strengths of an L2 penalty are changed by so much."""
        value = self.value + 0.5 * float(np.sum(change * self.theta**2))
        return State(self.theta, value, self.gradient + change * self.theta)

    def take_next_step(self) -> None:
        """Go where the next step leads, if it is known. Value and gradient stay those of the last point seen."""
        if self.next_step is not None:
            self.theta, self.next_step = self.theta + self.next_step, None

    def settles_by(self, step: Array, near: float) -> bool:
        """Whether a step, made without a pass, leaves less than `near` to go, relative to the largest parameter or 1.

        It leaves the share that the last one did.
        """
        return self.left * float(np.abs(step).max(initial=0.0)) <= near * self.unit


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
    close: float = np.inf,
    longest: float = np.inf,
) -> Minimisation:
    """Minimise from `state` until no entry of the gradient exceeds `tol`.

    Parameters
    ----------
    budget : Budget, optional
        Give up when it is spent, so that the caller can bring a better preconditioner.
    watch : callable, optional
        Is told every state that a step led to.
    close : float
        Most that the next step would leave of the way, relative to the largest parameter, or to 1 if that is less.
    longest : float
        A next step of more than that, from a gradient within `tol`, is not waited for to become close: it may lead to
        a minimum at infinity.

    Returns
    -------
    generator
        Yields points, takes (value, gradient) and returns the last `State`.
    """
    memory = _Memory()
    history, values = [state.largest], [state.value]
    reached: State | None = None  # the last one with a gradient within `tol`, which a further step may leave
    while True:
        state.next_step = step = memory.direction(state.gradient, precondition)
        small = state.largest <= tol
        reached = state if small else reached
        if (small and _is_close(state, step, history, close, longest)) or state.steps >= max_steps:
            return reached or state
        found = yield from (_whole_step(state, step) if small else line_search(state, step))
        if found is None:
            state.stalled = reached is None
            return reached or state
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


def _is_close(state: State, step: Array, history: list[float], close: float, longest: float) -> bool:
    """Whether a step leaves no more than `close` if it does as the last ones did, or those led nowhere.

    Or the gradient is rounding: a minimum at infinity is never close.
    """
    if state.largest <= FLAT:
        return True
    taken = min(len(history) - 1, _RECENT)
    share = (history[-1] / history[-1 - taken]) ** (1 / taken) if taken else _UNSEEN
    length = float(np.abs(step).max(initial=0.0))
    return share > _SLOWEST or length > longest or share / (1.0 - share) * length <= close * state.unit


def _whole_step(state: State, step: Array) -> Generator[Array, tuple[float, Array], State | None]:
    """A step where values hardly differ beyond rounding: it must not make them larger, or else a shorter one."""
    length = 1.0
    for _ in range(_SHORTER):
        theta = state.theta + length * step
        value, gradient = yield theta
        if value - state.value <= FLAT * max(1.0, abs(state.value)):
            return State(theta, value, gradient, state.steps + 1)
        length *= _shortened(state.gradient, gradient, step)
    return None


def _stands_still(values: list[float], history: list[float]) -> bool:
    """Whether in the last steps the value fell by no more than rounding and the gradient by less than half."""
    flat = values[-_PATIENCE - 1] - values[-1] <= _PATIENCE * FLAT * max(1.0, abs(values[-1]))
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
        flat = abs(value - state.value) <= FLAT * max(1.0, abs(state.value))
        if value <= state.value + _ARMIJO * length * downhill or (flat and found.largest < state.largest):
            found.left = found.largest / state.largest if state.largest else 0.0
            return found
        if flat and length < 1e-3:
            return None
        length *= _shortened(state.gradient, gradient, direction)
    return None


def _shortened(before: Array, after: Array, direction: Array) -> float:
    """The minimum of the parabola through the slopes at both ends of a step, kept inside (0.1, 0.5) of it."""
    downhill, slope = float(np.vdot(before, direction)), float(np.vdot(after, direction))
    ratio = downhill / (downhill - slope) if np.isfinite(slope) and slope > downhill else 0.1
    return min(0.5, max(0.1, ratio))


def drive(search: Generator[Array, tuple[float, Array], End], evaluate: Callable[[Array], tuple[float, Array]]) -> End:
    """Run one generator to its end."""
    try:
        theta = next(search)
        while True:
            theta = search.send(evaluate(theta))
    except StopIteration as end:
        result: End = end.value
        return result
