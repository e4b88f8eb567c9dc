"""The compiled loop for steps that follow several examples at once, and for steps that are projected."""

from __future__ import annotations

import math

from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.loops.example_loops import (
    SMALLEST_SCALE,
    loss_slope,
    loss_value,
    rate_of_step,
    settle_scale,
)
from hiperplano.solvers.rows_loops import (
    PREFETCH_ROWS,
    fetch_row,
    loop,
    row_add,
    row_dot,
    row_held,
    row_square,
    squared_length,
)

_REMEASURE = 4096.0  # steps between recomputations of the weights' norm, because its updates accumulate rounding errors


@loop
def walk_batches(x, indices, indptr, y, order, visit_weight, start, stop, rule, weights, sums, state, steps):  # type: ignore[no-untyped-def]
    """Learn from the examples order[start:stop], BATCH at a time; return where the walk stopped.

    For each batch: w ← (1 − ηα)·w − η·mean(slope·x) with all slopes at the weights before the step; if PROJECT, weights
    longer than √(PROJECT/α) are then brought back to that length. The walk stops early at a score that is not finite,
    and before a batch with a row that is not in memory.

    Parameters
    ----------
    x, indices, indptr, y, order, visit_weight, start, stop, rule, weights, sums, state
        As in `example_loops.walk`.
    steps : float64 of shape (BATCH,), workspace for the steps of a batch
    """
    loss, epsilon, alpha = int(rule[at.LOSS]), rule[at.EPSILON], rule[at.ALPHA]
    by_class, projected = rule[at.CLASSES] == 1.0, rule[at.PROJECT] > 0.0
    bias_shrinks = rule[at.PENALISE_INTERCEPT] == 1.0
    average_from = rule[at.AVERAGE_FROM] if rule[at.AVERAGE_FROM] > 0.0 else math.inf
    weighted = len(visit_weight) > 0
    scale, bias, t = state[at.SCALE], state[at.INTERCEPT], state[at.STEP]
    mass, square = state[at.MASS], state[at.SQUARED_NORM]
    while start < stop:
        end = min(start + int(rule[at.BATCH]), stop)
        for k in range(start, end):
            if not row_held(x, indices, order[k]):
                return start
        rate = rate_of_step(rule, t)
        for k in range(start, end):
            if k + PREFETCH_ROWS < stop:
                fetch_row(x, indices, indptr, order[k + PREFETCH_ROWS])
            i = order[k]
            target = y[i]
            score = scale * row_dot(x, indices, indptr, i, weights) + bias
            if not math.isfinite(score):
                state[at.NOT_FINITE] = 1.0
                return k
            state[at.SCORE] = score
            weight = visit_weight[k] if weighted else 1.0
            if by_class:
                weight *= rule[at.POSITIVE_WEIGHT] if target > 0.0 else rule[at.NEGATIVE_WEIGHT]
                mistake = target * score <= 0.0
                state[at.MISTAKES] += mistake
                state[at.RUN] = 0.0 if mistake else state[at.RUN] + 1.0
            if rule[at.TRACK_LOSS] == 1.0:
                state[at.LOSS_SUM] += weight * loss_value(loss, target, score, epsilon)
            steps[k - start] = -rate * weight * loss_slope(loss, target, score, epsilon) / (end - start)
        if alpha > 0.0:
            factor = max(0.0, 1.0 - rate * alpha)
            scale *= factor
            bias *= factor if bias_shrinks else 1.0
        for k in range(start, end):
            step = steps[k - start]
            if step == 0.0:
                continue
            if scale < SMALLEST_SCALE:
                settle_scale(weights, sums, scale, mass)
                square, scale, mass = square * scale * scale, 1.0, 0.0
            i, change = order[k], step / scale
            if projected:
                along = row_dot(x, indices, indptr, i, weights)
                square += change * (2.0 * along + change * row_square(x, indices, indptr, i))
            row_add(x, indices, indptr, i, change, weights)
            if mass != 0.0:
                row_add(x, indices, indptr, i, change * mass, sums)
            if rule[at.FIT_INTERCEPT] == 1.0:
                bias += step
            state[at.UPDATES] += 1.0
        if projected:
            if t % _REMEASURE == 0.0:
                square = squared_length(x, weights)
            length = square * scale * scale + (bias * bias if bias_shrinks else 0.0)
            if length * alpha > rule[at.PROJECT]:
                factor = math.sqrt(rule[at.PROJECT] / (length * alpha))
                scale *= factor
                bias *= factor if bias_shrinks else 1.0
        if scale < SMALLEST_SCALE:
            settle_scale(weights, sums, scale, mass)
            square, scale, mass = square * scale * scale, 1.0, 0.0
        if t >= average_from:
            part_of_mean = t if rule[at.WEIGHT_BY_STEP] == 1.0 else 1.0
            mass += part_of_mean * scale
            state[at.INTERCEPT_SUM] += part_of_mean * bias
            state[at.AVERAGED] += part_of_mean
        t += 1.0
        state[at.EXAMPLES] += end - start
        start = end
        # Written at every step, so that nothing is lost if the walk stops at a number that is not finite.
        state[at.SCALE], state[at.INTERCEPT], state[at.STEP] = scale, bias, t
        state[at.MASS], state[at.SQUARED_NORM] = mass, square
    return start
