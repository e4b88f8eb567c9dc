"""`partial_fit` with a single row, with as little overhead as possible.

Validation takes far more time than learning from one row. This module keeps everything that does not change between two
calls, and checks only what may differ. A row or target of another type than the previous ones is not learnt from here:
the caller validates it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.loops.arrays import frozen
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.schedules import learning_rate

_ARRAY = np.ndarray
# Largest step, score and target for which the weights stay far from the limits of float64.
_MAX_STEP = _MAX_SCORE = 1e100


class SingleRowLearner:
    """One plane that learns from single rows.

    Parameters
    ----------
    learner : Learner
        Learner with one plane; modified in place.
    dtype : dtype
        dtype of the rows.
    targets : dict
        Number of each label; empty for a regression.
    """

    __slots__ = ("_arrays", "_learn", "_learner", "_row", "_state", "_targets", "_view", "dtype", "shape")

    def __init__(self, learner: Learner, rule: Array, dtype: Any, targets: dict[Any, float]) -> None:
        from hiperplano.solvers.online.loops.example_loops import learn_one

        self._learn, self._learner, self._targets = learn_one, learner, targets
        self.shape, self.dtype = (1, learner.weights.shape[1]), np.dtype(dtype)
        self._row, self._state = np.empty(self.shape, dtype), learner.states[0]
        self._view = frozen(self._row)
        rule = rule.copy()
        rule[at.MAX_SCORE] = _MAX_SCORE
        self._arrays = rule, learner.weights, learner.sums, learner.states

    def by_label(self, x: Any, y: Any) -> bool:
        """Learn from one row and its label. Return False without learning if they have another type or are not finite.

        Parameters
        ----------
        x : object
            As given to `partial_fit`.
        """
        if type(y) is not _ARRAY or y.ndim != 1:
            return False
        try:
            target = self._targets.get(y.item())
        except (TypeError, ValueError):  # an unhashable label, or more than one label
            return False
        return target is not None and self._learnt(x, target)

    def by_number(self, x: Any, y: Any) -> bool:
        """Learn from one row and its number. Return False without learning if they have another type or are not finite.

        Parameters
        ----------
        x : object
            As given to `partial_fit`.
        """
        if type(y) is not _ARRAY or y.ndim != 1 or y.size != 1:
            return False
        target = y.item()
        return type(target) is float and abs(target) <= _MAX_SCORE and self._learnt(x, target)

    def _learnt(self, x: Any, target: float) -> bool:
        if type(x) is not _ARRAY or x.shape != self.shape or x.dtype is not self.dtype:
            return False
        self._row[...] = x
        if self._learn(self._view, target, *self._arrays) == 0:
            self._state[at.NOT_FINITE] = 0.0
            return False
        self._learner.chunks += 1
        self._learner.length = 1
        return True


def supports_single_rows(rule: Array, learner: Learner) -> bool:
    """Whether one compiled call is enough to learn from a single row.

    This requires one plane, one example per step, no pocket, and steps so short that the weights stay within the range
    of float64: only full validation would notice an overflow.
    """
    simple = len(learner.weights) == 1 and learner.pocket is None and rule[at.BATCH] == 1.0 and not rule[at.PROJECT]
    # Passive-aggressive steps are only as long as the example needs.
    if not simple or rule[at.RATE] >= at.PASSIVE_AGGRESSIVE_1:
        return simple
    heaviest = max(rule[at.POSITIVE_WEIGHT], rule[at.NEGATIVE_WEIGHT])
    return bool(learning_rate(rule, 1.0) * heaviest <= _MAX_STEP)
