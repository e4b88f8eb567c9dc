"""Preconditioned L-BFGS that counts passes over the rows.

The minimiser is a generator: it yields points, and receives the value and gradient there. So one pass over the rows can
serve several minimisations at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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

_MEMORY = 12  # number of (step, gradient change) pairs
_ARMIJO = 1e-4
FLAT = 4e-15  # relative changes of a value up to this are rounding errors
_ROUNDED = 1e-7  # the same if one of the values comes from a pass in float32
_SHORT_STEP_TRIES = 3  # tries of a step near the end
_PATIENCE = 100  # steps within which the value must fall by more than rounding, or the gradient must halve
_INITIAL_RATE = 0.5  # assumed convergence rate before the first step
# Number of last steps that determine the convergence rate, and the largest rate that counts as progress.
_RECENT, _SLOWEST = 6, 0.9


@dataclass
class State:
    """State of a minimisation.

    Attributes
    ----------
    stalled : bool
        Whether the method cannot make further progress.
    left : float
        Factor by which the last step changed the largest entry of the gradient; 0 before the first step.
    next_step : ndarray or None
        The next step of a minimisation that has ended, if it is known without another pass.
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
        """The largest absolute parameter, but at least 1."""
        return max(1.0, float(np.abs(self.theta).max(initial=0.0)))

    def repenalised(self, change: Array) -> State:
        """The same point, before the first step, after the strengths of an L2 penalty changed by `change`."""
        value = self.value + 0.5 * float(np.sum(change * self.theta**2))
        return State(self.theta, value, self.gradient + change * self.theta)

    def take_next_step(self) -> None:
        """Take the next step if it is known. Value and gradient remain those of the last point evaluated."""
        if self.next_step is not None:
            self.theta, self.next_step = self.theta + self.next_step, None

    def settles_by(self, step: Array, near: float) -> bool:
        """Whether the error after `step`, taken without a pass, is at most `near`.

        It is relative to the largest parameter or 1.

        The step is assumed to shrink the error by the same factor as the last one.
        """
        return self.left * float(np.abs(step).max(initial=0.0)) <= near * self.unit


class LocalPreconditioner(ABC):
    """A preconditioner that depends on the point."""

    @abstractmethod
    def __call__(self, vector: Array) -> Array:
        """Apply an approximate inverse of the Hessian at the point."""

    @abstractmethod
    def move_to(self, state: State) -> None:
        """Set the point."""


class Memory:
    """The last steps and the corresponding changes of the gradient."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=_MEMORY)

    def add(self, step: Array, change: Array) -> None:
        step, change = step.ravel(), change.ravel()
        along = float(ddot(step, change))
        if along > 1e-14 * dnrm2(step) * dnrm2(change):
            self._pairs.append((step, change, along))

    def clear(self) -> None:
        self._pairs.clear()

    def repenalise(self, change: Array) -> None:
        """Update the pairs after the strengths of an L2 penalty, of shape (parameters,), changed by `change`."""
        pairs = list(self._pairs)
        self.clear()
        for step, of_gradient, _ in pairs:
            self.add(step, of_gradient + change * step)

    def direction(self, gradient: Array, precondition: Preconditioner) -> Array:
        """−(approximate inverse Hessian)·gradient, by the two-loop recursion."""
        left = gradient.ravel().copy()
        shares = []
        for step, change, along in reversed(self._pairs):
            share = ddot(step, left) / along
            shares.append(share)
            left = daxpy(change, left, a=-share)  # in place
        left = precondition(left.reshape(gradient.shape)).ravel()
        # Rescaled to the latest curvature, which changes along the way, since the preconditioner is of one point.
        if self._pairs:
            _, change, along = self._pairs[-1]
            left *= along / ddot(change, precondition(change.reshape(gradient.shape)).ravel())
        for (step, change, along), share in zip(self._pairs, reversed(shares), strict=True):
            left = daxpy(step, left, a=share - ddot(change, left) / along)
        return np.negative(left, out=left).reshape(gradient.shape)


def lbfgs(
    state: State,
    precondition: Preconditioner,
    tol: float,
    max_steps: int,
    budget: Budget | None = None,
    watch: Callable[[State], None] | None = None,
    close: float = np.inf,
    longest: float = np.inf,
    memory: Memory | None = None,
) -> Minimisation:
    """Minimise from `state` until no entry of the gradient exceeds `tol`.

    Parameters
    ----------
    budget : Budget, optional
        Return when it is spent, so that the caller can build a better preconditioner.
    watch : callable, optional
        Called with the state after every step.
    close : float
        Largest expected error after the next step, relative to the largest parameter or 1.
    longest : float
        If the gradient is within `tol` but the next step is longer than this, return without waiting for `close`, since
        the minimum may be at infinity.
    memory : Memory, optional
        Pairs from an earlier minimisation, to which this one adds its own; none by default.

    Returns
    -------
    generator
        Yields points, takes (value, gradient) and returns the last `State`.
    """
    memory = Memory() if memory is None else memory
    history, values = [state.largest], [state.value]
    reached: State | None = None  # the last state with a gradient within `tol`; further steps may be worse
    while True:
        if isinstance(precondition, LocalPreconditioner):
            precondition.move_to(state)
        state.next_step = step = memory.direction(state.gradient, precondition)
        small = state.largest <= tol
        reached = state if small else reached
        stuck = small and _is_stuck(state, history)
        if stuck:  # a step that is taken without a pass could lead anywhere where curvature is small
            state.next_step = np.zeros_like(step)
        if stuck or (small and _is_close(state, step, history, close, longest)) or state.steps >= max_steps:
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
        if len(values) > _PATIENCE and _is_stalled(values, history):
            state.stalled = True
            return state


def _is_stuck(state: State, history: list[float]) -> bool:
    """Whether the gradient is a rounding error, or the last steps made no progress.

    The second happens if the minimum is at infinity: it is never close.
    """
    return state.largest <= FLAT or _share_left(history) > _SLOWEST


def _is_close(state: State, step: Array, history: list[float], close: float, longest: float) -> bool:
    """Whether the expected error after `step` is at most `close`, at the convergence rate of the last steps.

    Also True if the step is longer than `longest`.
    """
    share, length = _share_left(history), float(np.abs(step).max(initial=0.0))
    return length > longest or share / (1.0 - share) * length <= close * state.unit


def _share_left(history: list[float]) -> float:
    """Share of the gradient that one of the last steps left, on average."""
    taken = min(len(history) - 1, _RECENT)
    return float((history[-1] / history[-1 - taken]) ** (1 / taken)) if taken else _INITIAL_RATE


def _whole_step(state: State, step: Array) -> Generator[Array, tuple[float, Array], State | None]:
    """A step, shortened if needed, that must not increase the value beyond rounding errors."""
    length = 1.0
    for _ in range(_SHORT_STEP_TRIES):
        theta = state.theta + length * step
        value, gradient = yield theta
        level = value - state.value <= FLAT * max(1.0, abs(state.value))
        if level or _falls_by_slopes(state, value, gradient, length * step):
            return State(theta, value, gradient, state.steps + 1)
        length *= _shortened(state.gradient, gradient, step)
    return None


def _is_stalled(values: list[float], history: list[float]) -> bool:
    """Whether, in the last steps, the value fell only by rounding errors and the gradient did not halve."""
    flat = values[-_PATIENCE - 1] - values[-1] <= _PATIENCE * FLAT * max(1.0, abs(values[-1]))
    return flat and min(history[-_PATIENCE:]) > 0.5 * min(history[:-_PATIENCE])


def line_search(state: State, direction: Array, tries: int = 30) -> Generator[Array, tuple[float, Array], State | None]:
    """A step along `direction` with sufficient decrease (Armijo), beginning with the full step.

    If values differ only by rounding errors, a smaller gradient or slope counts as progress.
    """
    downhill = float(np.vdot(state.gradient, direction))
    length = 1.0
    for _ in range(tries):
        theta = state.theta + length * direction
        value, gradient = yield theta
        found = State(theta, value, gradient, state.steps + 1)
        flat = abs(value - state.value) <= FLAT * max(1.0, abs(state.value))
        lower = value <= state.value + _ARMIJO * length * downhill or (flat and found.largest < state.largest)
        if lower or _falls_by_slopes(state, value, gradient, length * direction):
            found.left = found.largest / state.largest if state.largest else 0.0
            return found
        if flat and length < 1e-3:
            return None
        length *= _shortened(state.gradient, gradient, direction)
    return None


def _falls_by_slopes(state: State, value: float, gradient: Array, step: Array) -> bool:
    """Whether slopes show that a step lowers the value, where the values differ too little to tell.

    This is the approximate Wolfe condition of Hager and Zhang (2005): a parabola falls along a step if it rises less
    steeply at the end than it falls at the start.
    """
    unclear = value - state.value <= _ROUNDED * max(1.0, abs(state.value))
    before, after = float(np.vdot(state.gradient, step)), float(np.vdot(gradient, step))
    return unclear and after <= (2.0 * _ARMIJO - 1.0) * before


def _shortened(before: Array, after: Array, direction: Array) -> float:
    """Minimum of the parabola through the slopes at both ends of a step, as a share of the step within [0.1, 0.5]."""
    downhill, slope = float(np.vdot(before, direction)), float(np.vdot(after, direction))
    ratio = downhill / (downhill - slope) if np.isfinite(slope) and slope > downhill else 0.1
    return min(0.5, max(0.1, ratio))


def drive(search: Generator[Array, tuple[float, Array], End], evaluate: Callable[[Array], tuple[float, Array]]) -> End:
    """Run a generator to its end."""
    try:
        theta = next(search)
        while True:
            theta = search.send(evaluate(theta))
    except StopIteration as end:
        result: End = end.value
        return result
