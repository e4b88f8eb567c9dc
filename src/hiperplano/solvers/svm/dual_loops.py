"""Compiled passes of dual coordinate ascent: one multiplier at a time, rows that do not move left out."""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import fetch_row, loop, part, row_add, row_dot, row_square

_AHEAD = 4  # rows between asking for one and using it

# Places in the vector `state`.
LEVEL, SUM, PULL, LARGEST = 0, 1, 2, 3
STATE_SIZE = 4


@loop
def row_squares(x, indices, indptr, out):  # type: ignore[no-untyped-def]
    """out[i] = ‖x[i]‖²."""
    for i in range(len(out)):
        out[i] = row_square(x, indices, indptr, i)


@part
def shuffle(order, size, seed):  # type: ignore[no-untyped-def]
    """Put order[:size] in an order that `seed` decides (Fisher and Yates, with Marsaglia's xorshift)."""
    number = np.uint64(seed)
    for k in range(size - 1, 0, -1):
        number ^= number << np.uint64(13)
        number ^= number >> np.uint64(7)
        number ^= number << np.uint64(17)
        j = np.int64(number % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]


@part
def cannot_move(beta, low, high, slope, epsilon, beyond):  # type: ignore[no-untyped-def]
    """Whether a multiplier sits at an end or kink that its slope presses it to by more than `beyond`."""
    up = slope - epsilon if beta >= 0.0 else slope + epsilon
    down = epsilon - slope if beta > 0.0 else -slope - epsilon
    return (beta >= high or up < -beyond) and (beta <= low or down < -beyond)


@part
def best_value(beta, low, high, slope, epsilon, stiffness):  # type: ignore[no-untyped-def]
    """argmax over low ≤ b ≤ high of slope·(b − beta) − ½·stiffness·(b − beta)² − ε·|b|."""
    middle = beta + slope / stiffness
    width = epsilon / stiffness
    if middle > width:
        middle -= width
    elif middle < -width:
        middle += width
    else:
        middle = 0.0
    return min(max(middle, low), high)


@loop
def ascend(x, indices, indptr, target, low, high, soft, epsilon, square, beta, coef, state, order, size, seed):  # type: ignore[no-untyped-def]
    """Visit the rows order[:size] in random order, and maximise over the multiplier of each.

    The function is Σ(target·β − ε|β| − ½·soft·β²) − ½‖Σβ·x‖² − level₀·Σβ − ½·pull·(Σβ)²; `coef` is Σβ·x, and the
    level, level₀ + pull·Σβ, moves with every multiplier.

    Parameters
    ----------
    x, indices, indptr : the rows, see `rows_loops`
    target, low, high, soft, square, beta : float64 of shape (rows,)
    state : float64, see the names above; LARGEST comes in as the largest slope of the pass before, and goes out
        as that of this one
    order : int64, rows to visit; those left out come after the rest

    Returns
    -------
    size : int
        Rows that are still worth a visit.
    """
    shuffle(order, size, seed)
    pull, beyond, largest = state[PULL], state[LARGEST], 0.0
    k = 0
    while k < size:
        i = order[k]
        if k + _AHEAD < size:
            fetch_row(x, indices, indptr, order[k + _AHEAD])
        old = beta[i]
        stiffness = square[i] + pull + soft[i]
        slope = target[i] - row_dot(x, indices, indptr, i, coef) - state[LEVEL] - soft[i] * old
        if cannot_move(old, low[i], high[i], slope, epsilon, beyond):
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        if stiffness <= 0.0:  # an empty row: any multiplier on its residual's side will do
            stiffness = 1e-300
        new = best_value(old, low[i], high[i], slope, epsilon, stiffness)
        step = new - old
        if step != 0.0:
            beta[i] = new
            row_add(x, indices, indptr, i, step, coef)
            state[SUM] += step
            state[LEVEL] += pull * step
            largest = max(largest, min(abs(slope) + epsilon, abs(step) * stiffness))
    state[LARGEST] = largest
    return size
