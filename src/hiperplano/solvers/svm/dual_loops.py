"""Compiled passes of dual ascent over all classes: one row at a time, with shrinking."""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import fetch_row, loop, part, row_square

AHEAD = 4  # a row is prefetched so many visits before its own


@loop
def row_squares(x, indices, indptr, out):  # type: ignore[no-untyped-def]
    """out[i] = ‖x[i]‖²."""
    for i in range(len(out)):
        out[i] = row_square(x, indices, indptr, i)


@part
def shuffle(order, size, seed):  # type: ignore[no-untyped-def]
    """Shuffle order[:size] with a seed (Fisher and Yates, with Marsaglia's xorshift)."""
    number = np.uint64(seed)
    for k in range(size - 1, 0, -1):
        number ^= number << np.uint64(13)
        number ^= number >> np.uint64(7)
        number ^= number << np.uint64(17)
        j = np.int64(number % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]


@part
def row_scores(x, indices, indptr, i, coef, out):  # type: ignore[no-untyped-def]
    """out += x[i]·coef, coef of shape (columns, classes)."""
    if x.ndim == 2:
        for j in range(x.shape[1]):
            for k in range(len(out)):
                out[k] += x[i, j] * coef[j, k]
    else:
        for j in range(indptr[i], indptr[i + 1]):
            for k in range(len(out)):
                out[k] += x[j] * coef[indices[j], k]


@part
def row_update(x, indices, indptr, i, step, coef):  # type: ignore[no-untyped-def]
    """coef += x[i]·stepᵀ."""
    if x.ndim == 2:
        for j in range(x.shape[1]):
            for k in range(len(step)):
                coef[j, k] += x[i, j] * step[k]
    else:
        for j in range(indptr[i], indptr[i + 1]):
            for k in range(len(step)):
                coef[indices[j], k] += x[j] * step[k]


@part
def best_values(slope, label, cap, stiffness, old, ranked, new):  # type: ignore[no-untyped-def]
    """argmin of ½·stiffness·‖a − old‖² + slope·(a − old) over Σa = 0, a ≤ cap for the label's class, a ≤ 0 otherwise.

    The solution is a = min(bound, (level − c)/stiffness) with c = slope − stiffness·old. The level is found by sorting
    c + stiffness·bound.
    """
    classes = len(slope)
    for k in range(classes):
        ranked[k] = slope[k] - stiffness * old[k] + (stiffness * cap if k == label else 0.0)
    ranked.sort()
    total = ranked[classes - 1] - stiffness * cap
    count = 1
    while count < classes and total < count * ranked[classes - 1 - count]:
        total += ranked[classes - 1 - count]
        count += 1
    level = total / count
    for k in range(classes):
        bound = cap if k == label else 0.0
        new[k] = min(bound, (level - slope[k]) / stiffness + old[k])


@loop
def ascend_classes(x, indices, indptr, label, cap, square, alpha, coef, level, total, pull, beyond, order, size, seed):  # type: ignore[no-untyped-def]
    """Visit the rows order[:size] in random order, and maximise over the multipliers of each.

    The function is Σ α[i, label] − ½‖Σ xᵢ·α[i]‖² − level₀·Σα − ½·pull·‖Σα‖². `coef` is Σ xᵢ·α[i], of shape
    (columns, classes), `total` is Σα, and `level` changes with it.

    Returns
    -------
    size : int
        Number of rows that are still visited. The others have multipliers of 0 and a margin above 1 by more than
        `beyond`.
    largest : float
        Largest violation of the optimality conditions.
    """
    shuffle(order, size, seed)
    classes = coef.shape[1]
    slope, ranked, new = np.empty(classes), np.empty(classes), np.empty(classes)
    largest = 0.0
    k = 0
    while k < size:
        i = order[k]
        if k + AHEAD < size:
            fetch_row(x, indices, indptr, order[k + AHEAD])
        right = label[i]
        for c in range(classes):
            slope[c] = level[c] + (0.0 if c == right else 1.0)
        row_scores(x, indices, indptr, i, coef, slope)
        highest, rival, lowest, rests = -np.inf, -np.inf, np.inf, True
        for c in range(classes):
            highest = max(highest, slope[c])
            if c != right:
                rival = max(rival, slope[c])
            if alpha[i, c] < (cap[i] if c == right else 0.0):
                lowest = min(lowest, slope[c])
            if alpha[i, c] != 0.0:
                rests = False
        if rests and slope[right] - rival > beyond:
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        largest = max(largest, highest - lowest)
        stiffness = max(square[i] + pull, 1e-300)
        best_values(slope, right, cap[i], stiffness, alpha[i], ranked, new)
        moved = False
        for c in range(classes):
            slope[c] = new[c] - alpha[i, c]
            moved = moved or slope[c] != 0.0
            alpha[i, c] = new[c]
            total[c] += slope[c]
            level[c] += pull * slope[c]
        if moved:
            row_update(x, indices, indptr, i, slope, coef)
    return size, largest
