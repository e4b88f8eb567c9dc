"""Constants of the compiled online loops: the meaning of the entries of their vectors.

A rule says how to learn from one example, and a state holds what has been learnt. Both are plain float64 vectors: each
argument of a compiled loop adds to the time of a call, and `partial_fit` may be called for every row.
"""

from __future__ import annotations

from typing import Final

# Step lengths: a rate that depends only on the step number t, or a length that depends on the example.
CONSTANT: Final = 0  # ETA
POWER: Final = 1  # ETA / t**EXPONENT
HYPERBOLA: Final = 2  # 1 / (ALPHA·(OFFSET + t))
PASSIVE_AGGRESSIVE_1: Final = 3  # min(AGGRESSIVENESS·weight, loss / ‖x‖²)
PASSIVE_AGGRESSIVE_2: Final = 4  # loss / (‖x‖² + 1 / (2·AGGRESSIVENESS·weight))

# Which weights are compared with the pocket on all rows: those with a new longest run of correct answers, or all.
RATCHET: Final = 1
EVERY: Final = 2

# Indices of the entries of a rule.
LOSS: Final = 0
RATE: Final = 1
ETA: Final = 2
EXPONENT: Final = 3
ALPHA: Final = 4  # strength of the L2 penalty on the mean loss
OFFSET: Final = 5
AGGRESSIVENESS: Final = 6
EPSILON: Final = 7
FIT_INTERCEPT: Final = 8  # 1: learn an intercept
PENALISE_INTERCEPT: Final = 9  # 1: the intercept is penalised as if it were the weight of a constant column
POSITIVE_WEIGHT: Final = 10
NEGATIVE_WEIGHT: Final = 11
AVERAGE_FROM: Final = 12  # the step from which weights are averaged; 0: never
TRACK_LOSS: Final = 13  # 1: accumulate the losses
POCKET: Final = 14  # RATCHET or EVERY: stop before a step that changes weights which the pocket must judge
PROJECT: Final = 15  # keep ALPHA·‖weights‖² ≤ PROJECT; 0: no projection
BATCH: Final = 16  # examples in a step
WEIGHT_BY_STEP: Final = 17  # 1: step t has weight t in the average
# Examples with a larger score are not learnt from; 0: only scores that are not finite are refused.
MAX_SCORE: Final = 18
CLASSES: Final = 19  # 1: targets are −1 and +1, and a score on the wrong side is a mistake
RULE_SIZE: Final = 20

# Indices of the entries of a state. The true weights are SCALE·weights, and their sum over the steps is MASS·weights −
# sums. So a step touches only the columns of its example, in spite of the penalty's shrinkage and the average.
SCALE: Final = 0
INTERCEPT: Final = 1
STEP: Final = 2  # number of the next step, from 1
MASS: Final = 3
INTERCEPT_SUM: Final = 4
AVERAGED: Final = 5  # total weight of the steps in the sums
MISTAKES: Final = 6
UPDATES: Final = 7
LOSS_SUM: Final = 8
EXAMPLES: Final = 9  # examples learnt from
RUN: Final = 10  # correct answers since the last mistake
BEST_RUN: Final = 11  # longest run of the weights in the pocket; −1 to judge all weights, whatever their run
SQUARED_NORM: Final = 12  # ‖weights‖², maintained only if PROJECT
NOT_FINITE: Final = 13  # 1: a score was NaN, infinite or beyond MAX_SCORE; nothing was learnt from that example
SCORE: Final = 14  # score of the last example
STATE_SIZE: Final = 15

# Indices of the entries of a watch: the stopping criteria of passes made in one call, and their outcome.
TOL: Final = 0  # least improvement of the objective that counts; NaN: no such criterion
PATIENCE: Final = 1  # passes without an improvement before the end
ADAPTIVE: Final = 2  # 1: lower the rate instead of ending, until it is tiny
TOTAL: Final = 3  # sum of the weights of the visits
BEST: Final = 4  # best objective so far
WAITED: Final = 5  # passes since the best objective
OBJECTIVE: Final = 6  # objective of the last pass: its mean loss, with the penalty at its end
ENDED: Final = 7  # 0 while passes go on, otherwise one of:
NO_UPDATES: Final = 1
NO_IMPROVEMENT: Final = 2
OVERFLOW: Final = 3
WATCH_SIZE: Final = 8

RATE_DIVISOR: Final = 5.0  # divisor of an adaptive rate
SMALLEST_RATE: Final = 1e-6  # an adaptive rate is not divided once it is below this
