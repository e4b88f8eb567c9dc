"""The compiled loop of the perceptron with one plane for each of K classes."""

from __future__ import annotations

import math

import numpy as np

from hiperplano.solvers.online import rules as at
from hiperplano.solvers.rows_loops import PREFETCH_ROWS, fetch_row, loop, row_add, row_dot


@loop
def walk_classes(x, indices, indptr, y, order, visit_weight, start, stop, rule, class_weight, weights, sums, states):  # type: ignore[no-untyped-def]
    """Learn from the examples order[start:stop], one at a time; return where the walk stopped.

    For each example of class c: unless score_c is larger than all others, w_c ← w_c + η·x and, for the largest
    other score, w_r ← w_r − η·x; intercepts likewise. Counts are kept in states[0].

    Parameters
    ----------
    x, indices, indptr, order, visit_weight, start, stop, rule
        As in `example_loops.walk`.
    class_weight : float64 of shape (classes,)
    weights, sums : float64 of shape (classes, columns)
    states : float64 of shape (classes, STATE_SIZE)
    """
    n_classes = len(class_weight)
    averaged, weighted = rule[at.AVERAGE_FROM] > 0.0, len(visit_weight) > 0
    counts = states[0]
    scores = np.empty(n_classes)
    for k in range(start, stop):
        if k + PREFETCH_ROWS < stop:
            fetch_row(x, indices, indptr, order[k + PREFETCH_ROWS])
        i = order[k]
        own = int(y[i])
        rival = -1
        total = 0.0
        for c in range(n_classes):
            scores[c] = row_dot(x, indices, indptr, i, weights[c]) + states[c, at.INTERCEPT]
            states[c, at.SCORE] = scores[c]
            total += scores[c]
            if c != own and (rival < 0 or scores[c] > scores[rival]):
                rival = c
        if not math.isfinite(total):
            counts[at.NOT_FINITE] = 1.0
            return k
        short = scores[rival] - scores[own]
        t = counts[at.STEP]
        if short >= 0.0:
            if rule[at.POCKET] > 0.0 and counts[at.RUN] > counts[at.BEST_RUN]:
                return k
            counts[at.RUN] = 0.0
            counts[at.MISTAKES] += 1.0
            weight = class_weight[own] * (visit_weight[k] if weighted else 1.0)
            step = rule[at.ETA] * weight
            if step != 0.0:
                counts[at.UPDATES] += 1.0
                row_add(x, indices, indptr, i, step, weights[own])
                row_add(x, indices, indptr, i, -step, weights[rival])
                mass = counts[at.MASS]
                if mass != 0.0:
                    row_add(x, indices, indptr, i, step * mass, sums[own])
                    row_add(x, indices, indptr, i, -step * mass, sums[rival])
                if rule[at.FIT_INTERCEPT] == 1.0:
                    states[own, at.INTERCEPT] += step
                    states[rival, at.INTERCEPT] -= step
            if rule[at.TRACK_LOSS] == 1.0:
                counts[at.LOSS_SUM] += weight * short
        else:
            counts[at.RUN] += 1.0
        for c in range(n_classes):
            if averaged and t >= rule[at.AVERAGE_FROM]:
                states[c, at.MASS] += 1.0
                states[c, at.INTERCEPT_SUM] += states[c, at.INTERCEPT]
                states[c, at.AVERAGED] += 1.0
            states[c, at.STEP] += 1.0
        counts[at.EXAMPLES] += 1.0
    return stop
