"""Truncated Newton method: conjugate gradients with products with the Hessian, without forming it.

It is for problems with too many parameters for a Hessian, and for nearly separated rows. Their probabilities tend to 0
and 1, so the curvature changes with every step, and the memory of L-BFGS becomes misleading.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple, Protocol

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.lbfgs import FLAT, Preconditioner, State, drive, line_search

_LOOSEST, _MORE = 0.3, 0.3  # largest relative residual of a step, and least one as a share of `tol`
# A step is solved to the last reduction of the gradient raised to this power: between linear and quadratic convergence.
_FORCING_POWER = 1.6
_SLOWEST = 0.9  # if a step leaves more than this share of a gradient within `tol`, the rest is a rounding error
_MOST_PRODUCTS = 500  # most products with the Hessian for one step
_STEEP_END = 0.5  # a shortened step ended too early if the slope at its end exceeds this share of the initial slope
# Most attempts to lengthen it, and the share of the full step at which these end.
_MOST_LENGTHENINGS, _NEARLY_FULL_STEP = 4, 0.9


class Curvature(NamedTuple):
    """The Hessian at a point, for arrays of the parameters' shape.

    Attributes
    ----------
    diagonal : ndarray
    product : callable
        Products with it.
    precondition : callable
        Products with an approximate inverse.
    """

    diagonal: Array
    product: Preconditioner
    precondition: Preconditioner


class Problem(Protocol):
    """Interface of the functions to minimise."""

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""

    def curvature_at(self, theta: Array) -> Curvature:
        """The Hessian at a point, without forming it."""


def truncated_newton(
    problem: Problem,
    state: State,
    tol: float,
    max_steps: int,
    most_products: float = np.inf,
    watch: Callable[[State], None] | None = None,
    close: float = np.inf,
) -> State:
    """Minimise from `state` until no entry of the gradient exceeds `tol`.

    Steps are solved only as accurately as needed: roughly far from the minimum, and to `tol` near it.

    Parameters
    ----------
    problem : Problem
        A strictly convex problem.
    state : State
        The initial state.
    tol : float
    max_steps : int
        Most steps, including those that `state` has taken.
    most_products : float
        Return after this number of products with Hessians, so that the caller can use another method.
    watch : callable, optional
        Called with the state after every step.
    close : float
        Continue until the expected error after the next step is at most this, relative to the largest parameter or 1.
        That step is then known, and costs no pass.

    Returns
    -------
    State
        The last state; it has no `next_step` if another method must continue.
    """
    first, shape, products = state.largest, state.theta.shape, 0
    moved = np.inf  # largest entry of the last step
    state.next_step = None
    while state.steps < max_steps and products < most_products and (state.largest > tol or close < np.inf):
        if state.largest <= tol and _is_rounding(state, moved):
            # Where curvature is small, a step would turn this rounding error into a large one.
            state.next_step = np.zeros(shape)
            return state
        accuracy = min(_LOOSEST, max(np.sqrt(state.largest / first), state.left**_FORCING_POWER))
        accuracy = max(accuracy, _MORE * tol / max(state.largest, tol))
        if state.largest <= tol and 0.0 < state.left * moved < np.inf:
            enough = close * state.unit / (state.left * moved)
            accuracy = min(accuracy, max(enough, state.left**_FORCING_POWER))
        curvature = problem.curvature_at(state.theta)
        found = conjugate_gradient(
            _flat(curvature.product, shape),
            -state.gradient.ravel(),
            atol=0.0,
            rtol=accuracy,
            max_iter=_MOST_PRODUCTS,
            preconditioner=_flat(curvature.precondition, shape),
        )
        products += len(found.steps)
        step = found.x.reshape(shape)
        moved = float(np.abs(step).max(initial=0.0))
        # What is not solved for, and what is due to changing curvature:
        if state.largest <= tol and accuracy * moved + state.left**2 * moved <= close * state.unit:
            state.next_step = step
            return state
        reached = drive(_search(state, step), problem.evaluate)
        if reached is None:
            state.stalled = state.largest > tol
            return state
        state = reached
        if watch is not None:
            watch(state)
    return state


def _is_rounding(state: State, moved: float) -> bool:
    """Whether the gradient is a rounding error: tiny, or hardly changed by the last step, if there was one."""
    return state.largest <= FLAT or (moved < np.inf and state.left > _SLOWEST)


def _search(state: State, direction: Array) -> Generator[Array, tuple[float, Array], State | None]:
    """A step along `direction` that lowers the value, lengthened while the slope at its end is still steep.

    If probabilities are near 0 and 1, only the penalty has curvature, and the full step leads far beyond the minimum.
    The tenth of it that a line search then takes is too short. Trying another length costs one pass, while another step
    costs a dozen.
    """
    found = yield from line_search(state, direction)
    size, downhill = float(np.abs(direction).max(initial=0.0)), float(np.vdot(state.gradient, direction))
    for _ in range(_MOST_LENGTHENINGS):
        if found is None or float(np.vdot(found.gradient, direction)) > _STEEP_END * downhill:
            break
        length = float(np.abs(found.theta - state.theta).max(initial=0.0)) / size
        if length > _NEARLY_FULL_STEP:
            break
        theta = state.theta + np.sqrt(length) * direction
        value, gradient = yield theta
        if not value < found.value:
            break
        found = State(theta, value, gradient, found.steps, left=found.left)
    return found


def _flat(product: Preconditioner, shape: tuple[int, ...]) -> Preconditioner:
    """The same product for flat vectors."""
    return lambda direction: product(direction.reshape(shape)).ravel()
