"""One compiled loop for all updates that take one example at a time."""

from __future__ import annotations

import math

import numpy as np

from hiperplano.data.loops.arrays import NO_INDEX, frozen
from hiperplano.losses import scalar
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.schedules import learning_rate
from hiperplano.solvers.rows_loops import PREFETCH_ROWS, fetch_row, loop, part, row_add, row_dot, row_held, row_square

_LARGEST = float(np.finfo(np.float64).max)
_LEAST_SQUARED_NORM = 1e-100  # squared norms of rows in [1e-100, 1e100] need no check that the weights stay finite
SMALLEST_SCALE = 1e-3  # below it the scale is multiplied into the weights, since differences of large sums lose digits

# Arguments of `walk` for one dense row, as compile-time constants: every array passed from Python adds to the time of a
# call.
_NO_INDEX, _FIRST_ROW = NO_INDEX, frozen(np.zeros(1, dtype=np.intp))

rate_of_step = part(learning_rate)
loss_value, loss_slope = part(scalar.value), part(scalar.slope)


@part
def aggressive_step(rule, weight, loss, square):  # type: ignore[no-untyped-def]
    """Length of the passive-aggressive step for an example with this loss, weight and ‖x‖². The weight multiplies C."""
    cap = weight * rule[at.AGGRESSIVENESS]
    if rule[at.RATE] == at.PASSIVE_AGGRESSIVE_2:
        square += 0.5 / cap
    elif loss >= cap * square and square > 0.0:
        return cap
    return loss / square if square > 0.0 else 0.0


@part
def settle_scale(weights, sums, scale, mass):  # type: ignore[no-untyped-def]
    """Multiply the scale into the weights and the mass into the sums, and so reset them to 1 and 0."""
    for j in range(len(weights)):
        sums[j] -= mass * weights[j]
        weights[j] *= scale


@loop
def walk(x, indices, indptr, y, order, visit_weight, start, stop, rule, weights, sums, state):  # type: ignore[no-untyped-def]
    """Learn from the examples order[start:stop], one at a time; return where the walk stopped.

    For each example: score = w·x + b; w ← (1 − ηα)·w; w ← w + step·x; b ← b + step, with step = −η·weight·slope(loss)
    for a gradient, or the passive-aggressive step. The walk stops early at a score that is not finite, before a step
    along a row that is not in memory, and, with a pocket, before weights with a new longest run of correct answers
    change.

    Parameters
    ----------
    y : float64 of shape (rows,), ±1 for classes
    visit_weight : float64, weight of each visit; empty for all 1
    weights, sums : float64 of shape (columns,), see `online.rules`
    """
    loss, epsilon = int(rule[at.LOSS]), rule[at.EPSILON]
    by_class = rule[at.CLASSES] == 1.0
    aggressive = rule[at.RATE] >= at.PASSIVE_AGGRESSIVE_1
    alpha = 0.0 if aggressive else rule[at.ALPHA]
    with_bias, bias_shrinks = rule[at.FIT_INTERCEPT] == 1.0, rule[at.PENALISE_INTERCEPT] == 1.0
    average_from = rule[at.AVERAGE_FROM] if rule[at.AVERAGE_FROM] > 0.0 else math.inf
    watch, pocket, late = rule[at.TRACK_LOSS] == 1.0, rule[at.POCKET] > 0.0, rule[at.WEIGHT_BY_STEP] == 1.0
    weighted = len(visit_weight) > 0
    farthest = rule[at.MAX_SCORE] if rule[at.MAX_SCORE] > 0.0 else _LARGEST
    # An example with a larger margin has no loss, so it causes no step.
    right = 0.0 if loss == scalar.PERCEPTRON else 1.0
    enough = right if loss < scalar.LOGISTIC and alpha == 0.0 else math.inf
    scale, bias, t = state[at.SCALE], state[at.INTERCEPT], state[at.STEP]
    mass, bias_sum, averaged = state[at.MASS], state[at.INTERCEPT_SUM], state[at.AVERAGED]
    run, best_run, loss_sum = state[at.RUN], state[at.BEST_RUN], state[at.LOSS_SUM]
    mistakes, updates, score = 0, 0, 0.0
    first = t
    k = start
    while k < stop:
        i = order[k]
        if k + PREFETCH_ROWS < stop:
            fetch_row(x, indices, indptr, order[k + PREFETCH_ROWS])
        target = y[i]
        score = scale * row_dot(x, indices, indptr, i, weights) + bias
        if not abs(score) <= farthest:
            state[at.NOT_FINITE], score = 1.0, state[at.SCORE]
            break
        if not (row_held(x, indices, i) or target * score > right):
            break
        if by_class and target * score <= 0.0:
            if pocket and run > best_run:
                break
            mistakes += 1
            run = 0.0
        else:
            run += 1.0
        if not target * score > enough:
            weight = visit_weight[k] if weighted else 1.0
            if by_class:
                weight *= rule[at.POSITIVE_WEIGHT] if target > 0.0 else rule[at.NEGATIVE_WEIGHT]
            if watch:
                loss_sum += weight * loss_value(loss, target, score, epsilon)
            if aggressive:
                step = loss_value(loss, target, score, epsilon)
                if step > 0.0 and weight > 0.0:
                    step = aggressive_step(rule, weight, step, row_square(x, indices, indptr, i))
                    if (target if by_class else target - score) < 0.0:
                        step = -step
                else:
                    step = 0.0
            else:
                rate = rate_of_step(rule, t)
                step = -rate * weight * loss_slope(loss, target, score, epsilon)
                if alpha > 0.0:
                    factor = 1.0 - rate * alpha
                    factor = factor if factor > 0.0 else 0.0
                    scale *= factor
                    if bias_shrinks:
                        bias *= factor
                    if scale < SMALLEST_SCALE:
                        settle_scale(weights, sums, scale, mass)
                        scale, mass = 1.0, 0.0
            if step != 0.0:
                change = step / scale
                row_add(x, indices, indptr, i, change, weights)
                if mass != 0.0:
                    row_add(x, indices, indptr, i, change * mass, sums)
                if with_bias:
                    bias += step
                updates += 1
        if t >= average_from:
            part_of_mean = t if late else 1.0
            mass += part_of_mean * scale
            bias_sum += part_of_mean * bias
            averaged += part_of_mean
        t += 1.0
        k += 1
    state[at.SCALE], state[at.INTERCEPT], state[at.STEP] = scale, bias, t
    state[at.MASS], state[at.INTERCEPT_SUM] = mass, bias_sum
    state[at.RUN], state[at.LOSS_SUM], state[at.SCORE] = run, loss_sum, score
    state[at.MISTAKES] += mistakes
    state[at.UPDATES] += updates
    state[at.EXAMPLES] += t - first
    state[at.AVERAGED] = averaged
    return k


@loop
def learn_one(x, target, rule, weights, sums, states):  # type: ignore[no-untyped-def]
    """Learn from the one row of x.

    Return 1, or 0 without learning if the row holds a number that is not finite, or if its norm is so large or small
    that the weights may become infinite.

    Parameters
    ----------
    x : float of shape (1, columns)
    weights, sums : float64 of shape (1, columns)
    states : float64 of shape (1, STATE_SIZE)
    """
    square = row_square(x, _NO_INDEX, _NO_INDEX, 0)
    if not (_LEAST_SQUARED_NORM <= square <= 1.0 / _LEAST_SQUARED_NORM or square == 0.0):
        return 0
    y = np.array([target])
    visits = (x, _NO_INDEX, _NO_INDEX, y, _FIRST_ROW, y[:0], 0, 1)
    return walk(*visits, rule, weights[0], sums[0], states[0])
