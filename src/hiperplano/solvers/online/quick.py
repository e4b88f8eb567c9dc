"""One example at a time with as little as possible around the compiled loop.

`partial_fit` with a single row spends far more time on checks and wrapping than on learning. Here everything that
does not change between two calls is kept; the caller has made sure that the row is of the right kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import NO_INDEX, NO_SHARE, Learner, frozen


class Quick:
    """A door to the compiled loop for single rows of one plane."""

    __slots__ = ("_arguments", "_learner", "_row", "_state", "_target", "_walk", "dtype", "shape")

    def __init__(self, learner: Learner, rule: Array, dtype: Any) -> None:
        from hiperplano.solvers.online.loops import walk

        self._walk, self._learner = walk, learner
        self.shape, self.dtype = (1, learner.weights.shape[1]), np.dtype(dtype)
        self._row, self._target, self._state = np.empty(self.shape, dtype), np.empty(1), learner.states[0]
        self._arguments = (
            *(frozen(self._row), NO_INDEX, NO_INDEX, self._target, np.zeros(1, dtype=np.intp), NO_SHARE, 0, 1),
            *(rule, learner.weights[0], learner.sums[0], self._state),
        )

    def learn(self, x: Array, target: float) -> bool:
        """Learn from one row; False, and nothing learnt, if a number was not finite."""
        self._row[...] = x
        self._target[0] = target
        if self._walk(*self._arguments) == 0:
            self._state[at.NOT_FINITE] = 0.0
            return False
        self._learner.chunks += 1
        return True
