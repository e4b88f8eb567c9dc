"""Compiled SMO: pairs are chosen by second-order gains and moved along conjugate directions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import intrinsic

from hiperplano.data.design import Array
from hiperplano.data.loops.compiled import loop, part, subroutine
from hiperplano.solvers.kernel.svm.dual_problem import CLOSED
from hiperplano.solvers.kernel.svm.smo.moves import LONGEST, move_along

_FAR = 1e20  # the same as `CLOSED` in float32, small enough to be multiplied
BLOCK = 128  # variables in a block; the index of the best variable is searched for only within its block
FLAT = 5e-13  # least curvature along a pair, as a share of its diagonal entries, since equal rows have no curvature
LEAST = 1e-100  # the same as a share of the largest diagonal entry, for rows of zeros
ASKED = 2  # marks rows of a Gram matrix that are needed, but not computed yet
# Share of the largest gain that a computed row must offer to be used instead of the best row, if that is not computed.
ENOUGH = 0.25
EPS, EPS_32 = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)
LEAST_RANKED = np.float32(1e-30)  # least curvature in float32, so that gains stay finite


def _selection(comparison: str) -> Any:
    """The larger or smaller of two floats, compiled with the no-NaN flag.

    LLVM vectorises a maximum over an array only if the select instruction itself has that flag, and Numba sets it on
    the comparison alone. Vectorised steps take a seventh of the time.
    """

    @intrinsic
    def choose(_: Any, one: Any, other: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            chosen = builder.fcmp_ordered(comparison, *args, flags=("fast",))
            return builder.select(chosen, *args, flags=("fast",))

        return one(one, one), generate

    return choose


larger, smaller = _selection(">"), _selection("<")


@part
def open_directions(beta: float, low: float, high: float, width: float) -> tuple[float, float]:
    """Offsets that turn −gradient into the slope of −objective when β grows, and when it falls; closed at a bound.

    The objective has a kink of width·|β| at 0.
    """
    up = -CLOSED if beta >= high else (-width if beta >= 0.0 else width)
    down = CLOSED if beta <= low else (-width if beta > 0.0 else width)
    return up, down


@subroutine
def _descend(
    gradient: Array,
    step: float,
    row: Array,
    other: Array,
    up: Array,
    down: Array,
    falls: Array,
    level: float,
    far: float,
    start: Any,
    stop: Any,
) -> tuple[float, float]:
    """gradient += step·(row − other). Return the largest of up − gradient and the least of down − gradient.

    The values down − gradient, minus a level near the best of them, are stored in `falls`, where few digits are enough
    to compare them.

    `start` and `stop` are unsigned, because LLVM does not vectorise with an index that may be negative.
    """
    largest, least = -2 * CLOSED, 2 * CLOSED
    for k in range(start, stop):
        now = gradient[k] + step * (np.float64(row[k]) - np.float64(other[k]))
        gradient[k] = now
        fall = down[k] - now
        largest = larger(largest, up[k] - now)
        least = smaller(least, fall)
        falls[k] = smaller(fall - level, far)
    return largest, least


@subroutine
def _descend_along(
    gradient: Array,
    step: float,
    image: Array,
    share: float,
    row: Array,
    other: Array,
    up: Array,
    down: Array,
    falls: Array,
    level: float,
    far: float,
    start: Any,
    stop: Any,
) -> tuple[float, float]:
    """The same along a conjugate direction, whose image becomes share·(the last image) + row − other and is stored."""
    largest, least = -2 * CLOSED, 2 * CLOSED
    for k in range(start, stop):
        along = share * image[k] + (np.float64(row[k]) - np.float64(other[k]))
        image[k] = along
        now = gradient[k] + step * along
        gradient[k] = now
        fall = down[k] - now
        largest = larger(largest, up[k] - now)
        least = smaller(least, fall)
        falls[k] = smaller(fall - level, far)
    return largest, least


@subroutine
def _rank_partners(
    gains: Array,
    falls: Array,
    row: Array,
    diagonal: Array,
    top: Any,
    own: Any,
    per_slope: Any,
    per_bend: Any,
    flat: Any,
    start: Any,
    stop: Any,
) -> np.float32:
    """gains = slope² / curvature of the pair with each variable that may fall, in units of `per_…`; return the largest.

    Computed in the precision of the Gram matrix, which is enough for a choice. The step itself is computed in float64.
    """
    largest = np.float32(-1.0)
    for k in range(start, stop):
        slope = larger(np.float32((top - falls[k]) * per_slope), np.float32(0.0))
        both = own + diagonal[k]
        bend = larger(both - (row[k] + row[k]), flat * both)
        gains[k] = slope * slope / larger(np.float32(bend * per_bend), LEAST_RANKED)
        largest = larger(largest, gains[k])
    return largest


class Slices(NamedTuple):
    """Two slices of the rows of a larger Gram matrix; rows are copied on first use.

    Attributes
    ----------
    gram : ndarray of shape (N, N)
        The larger matrix. If it is the machine's own, nothing can be copied, and loops end if they need a missing row.
    first, middle, second : int
        Where the first slice begins, its number of rows, and where the second slice begins.
    copied : ndarray of uint8 of shape (n,)
        1 if a row is copied, 0 if not, `ASKED` if a loop needed it.
    """

    gram: Array
    first: int
    middle: int
    second: int
    copied: Array


@subroutine
def copy_row(part: Array, slices: Slices, i: int) -> bool:
    """Copy row i unless that is done; return whether the row is available."""
    if slices.copied[i] == 1:
        return True
    if len(slices.gram) == len(part):
        slices.copied[i] = ASKED
        return False
    first, middle, second, rest = slices.first, slices.middle, slices.second, len(part) - slices.middle
    row = slices.gram[first + i if i < middle else second + i - middle]
    own = part[i]
    for k in range(middle):
        own[k] = row[first + k]
    for k in range(rest):
        own[middle + k] = row[second + k]
    slices.copied[i] = 1
    return True


@subroutine
def best_there(gains: Array, there: Array, least: float) -> int:
    """The computed row with the largest gain, if that is at least a given value; −1 otherwise."""
    found, largest = -1, least
    for k in range(len(gains)):
        if there[k] == 1 and gains[k] >= largest:
            found, largest = k, gains[k]
    return found


@loop
def smo(
    gram: Array,
    diagonal: Array,
    gradient: Array,
    beta: Array,
    low: Array,
    high: Array,
    width: float,
    tol: float,
    max_steps: int,
) -> tuple[int, float, float]:
    """`smo_of_slices` with a complete Gram matrix."""
    slices = Slices(gram, 0, len(gram), 0, np.ones(len(gram), dtype=np.uint8))
    return smo_of_slices(gram, slices, diagonal, gradient, beta, low, high, width, tol, max_steps)


@subroutine
def smo_of_slices(
    gram: Array,
    slices: Slices,
    diagonal: Array,
    gradient: Array,
    beta: Array,
    low: Array,
    high: Array,
    width: float,
    tol: float,
    max_steps: int,
) -> tuple[int, float, float]:
    """Minimise ½βᵀKβ − tᵀβ + width·Σ|β| with low ≤ β ≤ high and Σβ fixed. Works in place.

    Each step chooses two variables to move by the same amount in opposite directions: the one whose growth lowers the
    objective fastest, and the partner with which a step along the parabola gains most (Fan, Chen and Lin 2005). It also
    moves the variables of previous steps, so that directions are conjugate (Torres-Barrán, Alaíz and Dorronsoro 2021):
    with large bounds this takes a fraction of the steps.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Rows that are not copied yet are filled on first use.
    slices : Slices
        The source of these rows.
    diagonal : ndarray of shape (n,)
        Of the Gram matrix, in float64.
    gradient : ndarray of shape (n,)
        Kβ − t at the start; updated.
    tol : float
        Ends when no pair violates the optimality conditions by more.
    max_steps : int

    Returns
    -------
    steps : int
    largest, least : float
        At the optimum an intercept b exists with largest ≤ b ≤ least; otherwise the violation is largest − least.
    """
    n = len(beta)
    up, down, image, gains = np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.float32)
    falls, diagonals, most = np.empty(n, dtype=gram.dtype), np.empty(n, dtype=gram.dtype), 1e-200
    for k in range(n):
        up[k], down[k] = open_directions(beta[k], low[k], high[k], width)
        diagonals[k], image[k], most = diagonal[k], 0.0, max(most, diagonal[k])
    nil: Any = np.int64(0)  # for a literal 0, Numba would compile the functions called with it once more
    first, second, step, steps, level = nil, nil, 0.0, 0, 0.0
    per_bend = 1.0 / most
    kind, far = gram.dtype.type, CLOSED if gram.itemsize == 8 else _FAR
    share, curvature, members = 0.0, 1.0, nil
    certain = np.sqrt(EPS if gram.itemsize == 8 else EPS_32)
    which, parts = np.empty(LONGEST + 2, dtype=np.int64), np.empty(LONGEST + 2)
    copy_row(gram, slices, first)
    while True:
        largest, least = -2 * CLOSED, 2 * CLOSED
        row, other = gram[first], gram[second]
        first = 0
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            if share != 0.0 or members > 0:
                high_here, low_here = _descend_along(
                    gradient, step, image, share, row, other, up, down, falls, level, far,
                    np.uintp(start), np.uintp(stop),
                )  # fmt: skip
            else:
                high_here, low_here = _descend(
                    gradient, step, row, other, up, down, falls, level, far, np.uintp(start), np.uintp(stop)
                )  # fmt: skip
            least = min(least, low_here)
            if high_here > largest:
                largest, first = high_here, start
        while up[first] - gradient[first] < largest:
            first += 1
        if largest - least <= tol or steps >= max_steps:
            return steps, largest, least
        per_slope = 1.0 / (largest - least)
        if not copy_row(gram, slices, first):
            return steps, largest, least
        row, own = gram[first], diagonal[first]
        best, second = np.float32(-1.0), 0
        for start in range(0, n, BLOCK):
            gain = _rank_partners(
                gains, falls, row, diagonals, kind(largest - level), kind(own), kind(per_slope),
                kind(min(per_bend, far)), kind(FLAT), np.uintp(start), np.uintp(min(n, start + BLOCK)),
            )  # fmt: skip
            if gain > best:
                best, second = gain, start
        while gains[second] < best:
            second += 1
        if not best > 0.0:  # the gain underflows in float32
            for k in range(n):
                if down[k] - gradient[k] < down[second] - gradient[second]:
                    second = k
        level = largest
        if not copy_row(gram, slices, second):
            second = best_there(gains, slices.copied, ENOUGH * float(best))
            if second < 0:
                return steps, largest, least
        both = own + diagonal[second]
        bend = max(max(both - 2.0 * row[second], FLAT * both), LEAST / per_bend)
        slope = largest - down[second] + gradient[second]
        step, share, curvature, members, moved = move_along(
            beta, low, high, up, down, gradient, first, second, row, gram[second], diagonal,
            slope, bend, certain, image,
            which, parts, members, curvature,
        )  # fmt: skip
        for place in range(moved):
            k = which[place]
            up[k], down[k] = open_directions(beta[k], low[k], high[k], width)
        steps += 1
