"""Constants of the compiled online loops: the meaning of the entries of their vectors.

A rule says how to learn from one example, a state what has been learnt. Both are plain float64 vectors, because
every argument of a compiled loop costs time at each call, and `partial_fit` may come one row at a time.
"""

from __future__ import annotations

from typing import Final

# How long a step is: a rate that depends on the number t of the step only, or on the example.
CONSTANT: Final = 0  # ETA
POWER: Final = 1  # ETA / t**EXPONENT
HYPERBOLA: Final = 2  # 1 / (ALPHA·(OFFSET + t))
PASSIVE_AGGRESSIVE_1: Final = 3  # min(AGGRESSIVENESS·weight, loss / ‖x‖²)
PASSIVE_AGGRESSIVE_2: Final = 4  # loss / (‖x‖² + 1 / (2·AGGRESSIVENESS·weight))

# Which weights the pocket judges by all rows: those whose run of right answers is the longest so far, or all.
RATCHET: Final = 1
EVERY: Final = 2

# Places in a rule.
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
TRACK_LOSS: Final = 13  # 1: sum the losses up
POCKET: Final = 14  # RATCHET or EVERY: stop where weights that are to be judged are about to change
PROJECT: Final = 15  # keep ALPHA·‖weights‖² ≤ PROJECT; 0: do not
BATCH: Final = 16  # examples in a step
WEIGHT_BY_STEP: Final = 17  # 1: in the average step t weighs t
MAX_SCORE: Final = 18  # examples with a larger score are not learnt from; 0: those whose score is not finite
CLASSES: Final = 19  # 1: targets are −1 and +1, and a score on the wrong side is a mistake
RULE_SIZE: Final = 20

# Places in a state. The true weights are SCALE·weights, and their sum over the steps is MASS·weights − sums, so
# that neither the shrinkage by a penalty nor the average touches more than the columns of an example.
SCALE: Final = 0
INTERCEPT: Final = 1
STEP: Final = 2  # number of the next step, from 1
MASS: Final = 3
INTERCEPT_SUM: Final = 4
AVERAGED: Final = 5  # steps in the sums, by weight
MISTAKES: Final = 6
UPDATES: Final = 7
LOSS_SUM: Final = 8
EXAMPLES: Final = 9  # learnt from
RUN: Final = 10  # right answers since the last change
BEST_RUN: Final = 11  # of the weights in the pocket; −1 to judge all weights, whatever their run
SQUARED_NORM: Final = 12  # ‖weights‖², kept if PROJECT
NOT_FINITE: Final = 13  # 1: a score was NaN, infinite or beyond MAX_SCORE; nothing was learnt from that example
SCORE: Final = 14  # of the last example
STATE_SIZE: Final = 15

# Places in a watch: when passes that nobody looks at in between end, and how they did.
TOL: Final = 0  # least improvement of the objective that counts; NaN: go on without it
PATIENCE: Final = 1  # passes without one before the end
ADAPTIVE: Final = 2  # 1: divide the rate instead, until it is tiny
TOTAL: Final = 3  # sum of the weights of the visits
BEST: Final = 4  # objective so far
WAITED: Final = 5  # passes since
OBJECTIVE: Final = 6  # of the last pass: its mean loss, with the penalty at its end
ENDED: Final = 7  # 0: passes go on, or one of
NO_UPDATES: Final = 1
NO_IMPROVEMENT: Final = 2
OVERFLOW: Final = 3
WATCH_SIZE: Final = 8

RATE_DIVISOR: Final = 5.0  # an adaptive rate is divided by this,
SMALLEST_RATE: Final = 1e-6  # but not below this
