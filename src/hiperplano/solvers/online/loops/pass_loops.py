"""Compiled loop over several passes, for fits that need nothing from Python between two passes."""

from __future__ import annotations

import math

import numpy as np

from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.loops.example_loops import walk
from hiperplano.solvers.rows_loops import loop


@loop
def walk_passes(x, indices, indptr, y, orders, visit_weights, rule, watch, mistakes, weights, sums, state):  # type: ignore[no-untyped-def]
    """Run `walk` over all rows until the passes end or `mistakes` is full; return the number of passes made.

    The passes end by the criteria of `training.run_passes`.

    Parameters
    ----------
    orders : int of shape (passes, visits), or (1, visits) if all passes have the same order visit_weights : float64 of
    the same shape, or (1, 0) for weights of 1 rule : float64 of shape (RULE_SIZE,); an adaptive rate is lowered in
    place watch : float64 of shape (WATCH_SIZE,), updated in place mistakes : int of shape (passes,), filled
    """
    shrinks = rule[at.ALPHA] > 0.0 and rule[at.RATE] < at.PASSIVE_AGGRESSIVE_1
    for number in range(len(mistakes)):
        order = orders[number if len(orders) > 1 else 0]
        visit_weight = visit_weights[number if len(visit_weights) > 1 else 0]
        before, updates = state[at.MISTAKES], state[at.UPDATES]
        state[at.LOSS_SUM] = 0.0
        walk(x, indices, indptr, y, order, visit_weight, 0, len(order), rule, weights, sums, state)
        mistakes[number] = int(state[at.MISTAKES] - before)
        square, scale = 0.0, state[at.SCALE]
        for j in range(len(weights)):
            square += (scale * weights[j]) * (scale * weights[j])
        finite = state[at.NOT_FINITE] == 0.0 and math.isfinite(state[at.INTERCEPT])
        if not (finite and (math.isfinite(square) or np.isfinite(weights).all())):
            watch[at.ENDED] = at.OVERFLOW
            return number + 1
        if rule[at.TRACK_LOSS] == 1.0:
            if rule[at.PENALISE_INTERCEPT] == 1.0:
                square += state[at.INTERCEPT] ** 2
            mean = state[at.LOSS_SUM] / watch[at.TOTAL]
            watch[at.OBJECTIVE] = mean + 0.5 * (rule[at.ALPHA] * square) if shrinks else mean
        if state[at.UPDATES] == updates and not shrinks:
            watch[at.ENDED] = at.NO_UPDATES
            return number + 1
        if not math.isnan(watch[at.TOL]):
            objective = watch[at.OBJECTIVE]
            watch[at.WAITED] = watch[at.WAITED] + 1.0 if objective > watch[at.BEST] - watch[at.TOL] else 0.0
            if objective < watch[at.BEST]:
                watch[at.BEST] = objective
            if watch[at.WAITED] >= watch[at.PATIENCE]:
                if not (watch[at.ADAPTIVE] == 1.0 and rule[at.ETA] > at.SMALLEST_RATE):
                    watch[at.ENDED] = at.NO_IMPROVEMENT
                    return number + 1
                rule[at.ETA] /= at.RATE_DIVISOR
                watch[at.WAITED] = 0.0
    return len(mistakes)
