"""Losses of one example, selected by number, for compiled loops.

The functions are plain Python, which loops compile. They have the formulas of the classes in `LOSSES`; tests compare
the two. Only at a kink, where any subgradient is valid, they use the one with which the example is still learnt from.
"""

from __future__ import annotations

import math
from typing import Any, Final

from hiperplano.losses.hinge import Hinge, ModifiedHuber, SquaredHinge
from hiperplano.losses.logistic import Logistic
from hiperplano.losses.perceptron import Perceptron
from hiperplano.losses.robust import EpsilonInsensitive, Huber, SquaredEpsilonInsensitive
from hiperplano.losses.squared import Squared

PERCEPTRON: Final = 0
HINGE: Final = 1
SQUARED_HINGE: Final = 2
LOGISTIC: Final = 3
MODIFIED_HUBER: Final = 4
SQUARED: Final = 5  # from here on, losses depend on the error instead of the margin
HUBER: Final = 6
EPSILON_INSENSITIVE: Final = 7
SQUARED_EPSILON_INSENSITIVE: Final = 8

LOSSES: dict[int, Any] = {
    PERCEPTRON: Perceptron,
    HINGE: Hinge,
    SQUARED_HINGE: SquaredHinge,
    LOGISTIC: Logistic,
    MODIFIED_HUBER: ModifiedHuber,
    SQUARED: Squared,
    HUBER: Huber,
    EPSILON_INSENSITIVE: EpsilonInsensitive,
    SQUARED_EPSILON_INSENSITIVE: SquaredEpsilonInsensitive,
}
_STEEPEST = 1e12  # slopes are clipped at this value, as in scikit-learn


def loss_of(loss: int, epsilon: float) -> Any:
    """The loss with a number; `epsilon` applies to the losses that have one."""
    kind = LOSSES[loss]
    return kind(epsilon) if kind._fields else kind()


def value(loss: int, target: float, score: float, epsilon: float) -> float:
    """The loss of one example."""
    if loss < SQUARED:
        margin = target * score
        if loss == LOGISTIC:
            return math.log1p(math.exp(-abs(margin))) + (0.0 if margin > 0.0 else -margin)
        short = (0.0 if loss == PERCEPTRON else 1.0) - margin
        if short <= 0.0:
            return 0.0
        if loss == MODIFIED_HUBER and short > 2.0:
            return 4.0 * (short - 1.0)
        return short * short if loss in (SQUARED_HINGE, MODIFIED_HUBER) else short
    miss = abs(score - target)
    if loss >= EPSILON_INSENSITIVE:
        excess = miss - epsilon if miss > epsilon else 0.0
        return excess if loss == EPSILON_INSENSITIVE else excess * excess
    if loss == SQUARED or miss <= epsilon:
        return 0.5 * miss * miss
    return epsilon * (miss - 0.5 * epsilon)


def slope(loss: int, target: float, score: float, epsilon: float) -> float:
    """Derivative of the loss with respect to the score.

    At a kink, the subgradient with which the example is still learnt from.
    """
    if loss < SQUARED:
        margin = target * score
        if loss == LOGISTIC:
            small = math.exp(-abs(margin))
            return -target * (small if margin > 0.0 else 1.0) / (1.0 + small)
        if margin > (0.0 if loss == PERCEPTRON else 1.0):
            return 0.0
        if loss == MODIFIED_HUBER:
            found = -2.0 * target * (1.0 - margin if margin > -1.0 else 2.0)
        else:
            found = -2.0 * target * (1.0 - margin) if loss == SQUARED_HINGE else -target
    else:
        found = score - target
        if loss >= EPSILON_INSENSITIVE and abs(found) <= epsilon:
            return 0.0
        if loss == SQUARED_EPSILON_INSENSITIVE:
            found = 2.0 * (found - math.copysign(epsilon, found))
        elif loss != SQUARED and abs(found) > epsilon:
            return math.copysign(1.0 if loss == EPSILON_INSENSITIVE else epsilon, found)
    return found if abs(found) <= _STEEPEST else math.copysign(_STEEPEST, found)
