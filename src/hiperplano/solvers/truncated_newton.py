"""Newton's method by conjugate gradients: products with the Hessian take the place of the matrix.

For more parameters than a Hessian can have, and for rows that are nearly separated: probabilities then go to 0 and 1,
the curvature is another one after every step, and what L-BFGS remembers of it misleads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.lbfgs import FLAT, State, drive, line_search

_LOOSEST, _MORE = 0.3, 0.3  # what a step leaves of the gradient at most, and of `tol` at least
_FORCED = 1.6  # power of what the last step left, that the next one is solved to: between linear and quadratic
_SLOWEST = 0.9  # share of a gradient within `tol` that rounding leaves
_QUADRATIC, _STEPS_LEFT = 0.2, 2.0  # share of a gradient left by a step from which on a matrix would need as many more
_MOST_PRODUCTS = 500  # for one step
_STEEP = 0.5  # share of the first slope with which a step that was shortened has ended too early
_MOST_LONGER, _WHOLE = 4, 0.9  # tries to make it longer, up to about the whole step


class Curvature(NamedTuple):
    """The Hessian at a point: its diagonal, and products with it, for vectors of the shape of the parameters."""

    diagonal: Array
    product: Callable[[Array], Array]


class Problem(Protocol):
    """What is minimised."""

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""

    def curvature_at(self, theta: Array) -> Curvature:
        """The Hessian, without forming it."""


def truncated_newton(
    problem: Problem,
    state: State,
    tol: float,
    max_steps: int,
    most_products: float = np.inf,
    watch: Callable[[State], None] | None = None,
    close: float = np.inf,
    matrix: float = np.inf,
) -> State:
    """Minimise from `state` until no entry of the gradient exceeds `tol`.

    A step is solved for as accurately as it is worth: roughly far from the minimum, and to `tol` near it.

    Parameters
    ----------
    problem : Problem
        Strictly convex.
    state : State
        Where to start.
    tol : float
    max_steps : int
        With those that `state` has taken.
    most_products : float
        Give up after so many products with Hessians, so that the caller can take another way.
    watch : callable, optional
        Is told every state that a step led to.
    close : float
        Go on until the next step, which is then known and costs no pass, would leave no more than this of the
        parameters, relative to the largest, or to 1 if that is less.
    matrix : float
        Products that the Hessian itself costs: where steps converge, and seem to need more, it is left to the caller.

    Returns
    -------
    State
        Without a `next_step` where another method is to go on.
    """
    first, shape, products = state.largest, state.theta.shape, 0
    moved = np.inf  # largest entry of the last step
    state.next_step = None
    while state.steps < max_steps and products < most_products and (state.largest > tol or close < np.inf):
        accuracy = min(_LOOSEST, max(np.sqrt(state.largest / first), state.left**_FORCED))
        accuracy = max(accuracy, _MORE * tol / max(state.largest, tol))
        if state.largest <= tol and 0.0 < state.left * moved < np.inf:
            enough = close * state.unit / (state.left * moved)
            accuracy = min(accuracy, max(enough, state.left**_FORCED))
        curvature = problem.curvature_at(state.theta)
        found = conjugate_gradient(
            _flat(curvature.product, shape),
            -state.gradient.ravel(),
            atol=0.0,
            rtol=accuracy,
            max_iter=_MOST_PRODUCTS,
            preconditioner=partial(np.multiply, 1.0 / curvature.diagonal.ravel()),
        )
        products += len(found.steps)
        step = found.x.reshape(shape)
        moved = float(np.abs(step).max(initial=0.0))
        if state.largest <= tol and _is_close(state, accuracy * moved, state.left**2 * moved, close):
            state.next_step = step
            return state
        reached = drive(_search(state, step), problem.evaluate)
        if reached is None:
            state.stalled = state.largest > tol
            return state
        state = reached
        if watch is not None:
            watch(state)
        if state.left <= _QUADRATIC and _STEPS_LEFT * len(found.steps) > matrix:
            break
    return state


def _is_close(state: State, unsolved: float, bent: float, close: float) -> bool:
    """Whether a step leaves no more than `close`, of what was not solved for and of what curvature changes on the way.

    Or steps lead nowhere: the gradient is rounding.
    """
    return unsolved + bent <= close * state.unit or state.largest <= FLAT or state.left > _SLOWEST


def _search(state: State, direction: Array) -> Generator[Array, tuple[float, Array], State | None]:
    """A step along `direction` that lowers the value, and ends where the slope is no longer what it was.

    Where probabilities are 0 and 1, only the penalty curves, and its whole step leads far beyond the minimum; the tenth
    of it that a line search then takes is too short. Other lengths cost a pass each, another step a dozen.
    """
    found = yield from line_search(state, direction)
    size, downhill = float(np.abs(direction).max(initial=0.0)), float(np.vdot(state.gradient, direction))
    for _ in range(_MOST_LONGER):
        if found is None or float(np.vdot(found.gradient, direction)) > _STEEP * downhill:
            break
        length = float(np.abs(found.theta - state.theta).max(initial=0.0)) / size
        if length > _WHOLE:
            break
        theta = state.theta + np.sqrt(length) * direction
        value, gradient = yield theta
        if not value < found.value:
            break
        found = State(theta, value, gradient, found.steps, left=found.left)
    return found


def _flat(product: Callable[[Array], Array], shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """The same product for vectors."""
    return lambda direction: product(direction.reshape(shape)).ravel()
