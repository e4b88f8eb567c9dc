"""Losses, dual variables and their balance, row by row, for a support vector machine in its dual form.

With e = target − score, the loss of a row is the maximum over low ≤ β ≤ high of e·β − ε|β| − ½·soft·β². Signs and
weights of the rows are part of target, bounds and softness, which are in `box` (`problem.Box`). Functions of one row
take its numbers instead: they compile in a third of the time, and once for rows of any layout in memory.
"""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import part, subroutine

_ROUNDS = 200  # most iterations of a search for a root, far more than are needed
_BALANCED = 1e-14  # Σβ up to this share of Σ|β| is a rounding error


@part
def follow(e, centre, near, low, high, soft, epsilon):  # type: ignore[no-untyped-def]
    """argmax over low ≤ β ≤ high of e·β − ε|β| − ½·soft·β² − ½·near·(β − centre)²."""
    pull = e + near * centre
    outside = pull - min(max(pull, -epsilon), epsilon)
    return min(max(outside / (soft + near), low), high)


@part
def loss(e, low, high, soft, epsilon, squared):  # type: ignore[no-untyped-def]
    """The loss of a row; `squared` if its `soft` is not 0."""
    above, below = e - epsilon, e + epsilon
    if not squared:
        return max(0.0, high * above, low * below)
    outside = max(0.0, above) if high > 0.0 else 0.0
    outside = outside - min(0.0, below) if low < 0.0 else outside
    return 0.5 * outside * outside / soft


@part
def gain(e, beta, soft, epsilon):  # type: ignore[no-untyped-def]
    """e·β − ε|β| − ½·soft·β², at most the loss."""
    return e * beta - epsilon * abs(beta) - 0.5 * soft * beta * beta


@part
def is_free(beta, low, high, epsilon):  # type: ignore[no-untyped-def]
    """Whether a dual variable is free: neither at a bound nor at a kink."""
    return low < beta < high and (beta != 0.0 or epsilon == 0.0)


@part
def _moved(beta, shift, low, high):  # type: ignore[no-untyped-def]
    """β plus a shift, clipped at 0 and at the bounds."""
    low = 0.0 if beta > 0.0 else low
    high = 0.0 if beta < 0.0 else high
    return min(max(beta + shift, low), high)


@subroutine
def _sum_moved(box, beta, shift, everywhere):  # type: ignore[no-untyped-def]
    """Σβ after a shift, and its derivative with respect to the shift."""
    total, slope = 0.0, 0.0
    for i in range(len(beta)):
        new = beta[i]
        if everywhere or (new != 0.0 and is_free(new, box.low[i], box.high[i], box.epsilon)):
            new = _moved(new, shift * box.weight[i], box.low[i], box.high[i])
            if box.low[i] < new < box.high[i] and new != 0.0:
                slope += box.weight[i]
        total += new
    return total, slope


@subroutine
def balance(box, beta):  # type: ignore[no-untyped-def]
    """Shift the free dual variables, or all of them if that is not enough, so that Σβ = 0."""
    total, size, weight = 0.0, 0.0, 0.0
    for i in range(len(beta)):
        total += beta[i]
        size += abs(beta[i])
        weight += box.weight[i]
    if abs(total) <= _BALANCED * size:
        return
    sign = 1.0 if total > 0.0 else -1.0
    everywhere = weight < 0.0  # a literal False would have a type of its own, and take another compilation
    everywhere = sign * _sum_moved(box, beta, -sign * np.inf, everywhere)[0] > 0.0
    if everywhere and sign * _sum_moved(box, beta, -sign * np.inf, everywhere)[0] > 0.0:
        return
    near, far = 0.0, size / weight
    while sign * _sum_moved(box, beta, -sign * far, everywhere)[0] > 0.0:
        near, far = far, 4.0 * far
    at = near
    for _ in range(_ROUNDS):
        value, slope = _sum_moved(box, beta, -sign * at, everywhere)
        value *= sign
        if value > 0.0:
            near = at
        else:
            far = at
        if abs(value) <= _BALANCED * size or far - near <= 1e-15 * far:
            break
        at = at + value / slope if slope > 0.0 else np.inf
        if not near < at < far:
            at = 0.5 * (near + far)
    for i in range(len(beta)):
        if everywhere or (beta[i] != 0.0 and is_free(beta[i], box.low[i], box.high[i], box.epsilon)):
            beta[i] = _moved(beta[i], -sign * at * box.weight[i], box.low[i], box.high[i])


@subroutine
def _pull_at(box, residual, level):  # type: ignore[no-untyped-def]
    """Σβ after the level is subtracted from all residuals, and minus its derivative with respect to the level."""
    total, slope = 0.0, 0.0
    if box.soft[0] == 0.0:  # a plain loss: without branches, so that it vectorises
        for i in range(len(residual)):
            e, low, high = residual[i] - level, box.low[i], box.high[i]
            above = high if e > box.epsilon else 0.0
            below = low if e < -box.epsilon else 0.0
            total += above + below
        return total, slope
    for i in range(len(residual)):
        beta = follow(residual[i] - level, 0.0, 0.0, box.low[i], box.high[i], box.soft[i], box.epsilon)
        total += beta
        if beta != 0.0:
            slope += 1.0 / box.soft[i]
    return total, slope


@subroutine
def _stair(box, residual, low, high, total, from_below):  # type: ignore[no-untyped-def]
    """The level between two bounds at which Σβ changes its sign; of several, the one next to the start of the search.

    As a function of the level, Σβ falls by `high` of a row at its residual − ε, and by −`low` at its residual + ε. At
    the lower bound it is `total`.
    """
    n, first, last = len(residual), 0, 0
    stairs, falls = np.empty(2 * n), np.empty(2 * n)
    size = 0.0
    for i in range(n):
        size += box.high[i] - box.low[i]
        if low < residual[i] - box.epsilon <= high and box.high[i] > 0.0:
            stairs[last], falls[last] = residual[i] - box.epsilon, box.high[i]
            last += 1
        if low <= residual[i] + box.epsilon <= high and box.low[i] < 0.0:
            stairs[last], falls[last] = residual[i] + box.epsilon, -box.low[i]
            last += 1
    goal = 1e-14 * size if from_below else -1e-14 * size
    while first < last:  # bisection over the remaining jumps
        least, most = np.inf, -np.inf
        for k in range(first, last):
            least, most = min(least, stairs[k]), max(most, stairs[k])
        middle = 0.5 * (least + most)
        middle = middle if middle < most else least
        lower, fall = first, 0.0
        for k in range(first, last):
            if stairs[k] <= middle:
                fall += falls[k]
                stairs[k], stairs[lower] = stairs[lower], stairs[k]
                falls[k], falls[lower] = falls[lower], falls[k]
                lower += 1
        if total - fall > goal:
            total, first = total - fall, lower
        elif least == most:
            return least
        else:
            last = lower
    return high


@subroutine
def best_level(box, residual, guess, unit):  # type: ignore[no-untyped-def]
    """The level that minimises the sum of the losses for residuals target − score; the search starts at a guess.

    Once the root of Σβ is bracketed, it is found by Newton's method safeguarded by bisection. For plain losses Σβ is a
    step function of the level, and the root is searched for among the jumps between both ends.
    """
    total, slope = _pull_at(box, residual, guess)
    sign = 1.0 if total > 0.0 else -1.0
    here, there, reach = guess, guess, 1e-3 * unit
    at_here = total
    while sign * total > 0.0:
        here, at_here = there, total
        there = here + sign * (max(total * sign / slope, 1e-12 * reach) if slope > 0.0 else reach)
        reach *= 4.0
        total, slope = _pull_at(box, residual, there)
        if reach > 1e30 * unit:
            return guess
    if here == there or total == 0.0:
        return there
    low, high = min(here, there), max(here, there)
    if box.soft[0] == 0.0:
        return _stair(box, residual, low, high, at_here if here < there else total, sign > 0.0)
    at = 0.5 * (low + high)
    for _ in range(_ROUNDS):
        total, slope = _pull_at(box, residual, at)
        if total > 0.0:
            low = at
        else:
            high = at
        new = at + total / slope if slope > 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if total == 0.0 or abs(new - at) <= 1e-15 * abs(at) or high - low <= 1e-15 * max(abs(low), abs(high)):
            break
        at = new
    return at
