"""Compiled moves of SMO: of two variables alone, or along a direction conjugate to previous steps."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import part, subroutine

LONGEST = 32  # most variables in a direction; conjugacy to more pairs costs more than it gains


@subroutine
def move_along(
    beta: Array,
    low: Array,
    high: Array,
    up: Array,
    down: Array,
    gradient: Array,
    first: int,
    second: int,
    row: Array,
    other: Array,
    diagonal: Array,
    slope: float,
    bend: float,
    certain: float,
    image: Array,
    which: Array,
    parts: Array,
    members: int,
    curvature: float,
) -> tuple[float, float, float, int, int]:
    """Raise one variable and lower another, together with the last direction if that gains more.

    Parameters
    ----------
    row, other : ndarray of shape (n,)
        Rows of the Gram matrix for the two variables.
    slope, bend : float
        Slope and curvature of the objective along the pair.
    certain : float
        Least curvature, in units of Σ part²·diagonal, that is not a rounding error.
    image : ndarray of shape (n,)
        K times the last direction.
    which, parts : ndarray
        Variables of the direction and their components; updated.
    members : int
        Number of these variables; 0 to move the pair alone.
    curvature : float
        Curvature of the objective along the direction.

    Returns
    -------
    step, share : float
        β moves by step·(the pair + share·(the last direction)).
    curvature : float
    members : int
        Number of variables of the new direction; 0 if the next pair must move alone.
    moved : int
        Number of variables that moved: the first ones of `which`.
    """
    if members > 0:
        share = (image[second] - image[first]) / curvature
        for place in range(members):
            parts[place] *= share
        members = _add_part(which, parts, members, first, 1.0)
        members = _add_part(which, parts, members, second, -1.0)
        falls, bends, least, room, blocked, edge = 0.0, 0.0, 0.0, np.inf, 0, 0.0
        for place in range(members):
            k, part = which[place], parts[place]
            falls += part * ((up[k] if part > 0.0 else down[k]) - gradient[k])
            bends += part * (share * image[k] + np.float64(row[k]) - np.float64(other[k]))
            least += certain * part * part * diagonal[k]
            end = _ceiling(beta[k], high[k]) if part > 0.0 else _floor(beta[k], low[k])
            if abs(end - beta[k]) < room * abs(part):
                room, blocked, edge = abs(end - beta[k]) / abs(part), k, end
        step = min(max(falls, 0.0) / bends, room) if bends > least else 0.0
        free = min(_ceiling(beta[first], high[first]) - beta[first], beta[second] - _floor(beta[second], low[second]))
        alone = min(slope / bend, free)
        if step * (falls - 0.5 * step * bends) > alone * (slope - 0.5 * alone * bend):
            for place in range(members):
                k = which[place]
                beta[k] = min(max(beta[k] + step * parts[place], low[k]), high[k])
            if step == room:
                beta[blocked] = edge
            goes_on = step < room and members <= LONGEST - 2
            return step, share, bends, members if goes_on else 0, members
    step = _move(beta, low, high, first, second, slope / bend)
    which[0], which[1], parts[0], parts[1] = first, second, 1.0, -1.0
    goes_on = step == slope / bend and bend > certain * (diagonal[first] + diagonal[second])
    return step, 0.0, bend, 2 if goes_on else 0, 2


@part
def _add_part(which: Array, parts: Array, members: int, k: int, part: float) -> int:
    """Add a variable's component to a direction; return the number of its variables."""
    for place in range(members):
        if which[place] == k:
            parts[place] += part
            return members
    which[members], parts[members] = k, part
    return members + 1


@part
def _ceiling(beta: float, high: float) -> float:
    """Upper limit of a variable: its bound, or 0, where the objective has a kink."""
    return high if beta >= 0.0 else min(0.0, high)


@part
def _floor(beta: float, low: float) -> float:
    """Lower limit of a variable."""
    return low if beta <= 0.0 else max(0.0, low)


@part
def _move(beta: Array, low: Array, high: Array, first: int, second: int, step: float) -> float:
    """Raise one variable and lower another by the step, or by less if one of them reaches 0 or its bound."""
    ceiling, floor = _ceiling(beta[first], high[first]), _floor(beta[second], low[second])
    room, below = ceiling - beta[first], beta[second] - floor
    step = min(min(step, room), below)
    beta[first] = ceiling if step == room else beta[first] + step
    beta[second] = floor if step == below else beta[second] - step
    return step
