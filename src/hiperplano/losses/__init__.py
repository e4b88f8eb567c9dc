"""Losses as functions of target and score.

`value`, `slope` and `curvature` take targets and scores of one shape and return arrays of that shape; for `Softmax`
scores have one more axis, the classes. Classification losses take y in {−1, +1}. The logistic and softmax losses also
have `value_and_slope`, which computes both from one exponential.

>>> import numpy as np
>>> from hiperplano.losses import Hinge, Logistic
>>> Hinge().value(np.array([1.0, 1.0]), np.array([0.25, 2.0]))
array([0.75, 0.  ])
>>> Logistic().slope(np.array([1.0]), np.array([0.0]))
array([-0.5])
"""

from hiperplano.losses.hinge import Hinge, ModifiedHuber, SquaredHinge
from hiperplano.losses.logistic import Logistic
from hiperplano.losses.perceptron import Perceptron, ZeroOne
from hiperplano.losses.robust import EpsilonInsensitive, Huber, SquaredEpsilonInsensitive
from hiperplano.losses.softmax import Softmax
from hiperplano.losses.squared import Squared

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "ModifiedHuber",
    "Perceptron",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
]
