"""What online learning carries from one example to the next, for one or more planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.design import Array
from hiperplano.solvers.online import rules as at


class Rows(NamedTuple):
    """Rows as compiled loops take them; see `rows_loops`."""

    x: Array
    indices: Array
    indptr: Array


def frozen(array: Array) -> Array:
    """A view that cannot be written to: loops are compiled for such arrays only, so that memory maps fit too."""
    view = array.view()
    view.setflags(write=False)
    return view


NO_INDEX = frozen(np.empty(0, dtype=np.int32))
NO_SHARE = np.empty(0)


def rows_of(x: Any) -> Rows:
    """The rows of a checked array or CSR matrix."""
    if not issparse(x):
        return Rows(frozen(np.ascontiguousarray(x)), NO_INDEX, NO_INDEX)
    # 64-bit indices are rare, and would have every loop compiled once more.
    small = x.nnz < 2**31 and x.shape[1] < 2**31
    kind = np.int32 if small else np.int64
    index, pointer = x.indices.astype(kind, copy=False), x.indptr.astype(kind, copy=False)
    return Rows(frozen(np.ascontiguousarray(x.data)), frozen(index), frozen(pointer))


@dataclass
class Pocket:
    """The best weights seen: their planes, and the share of answers they had right."""

    coef: Array
    intercept: Array
    right: Array


@dataclass
class Learner:
    """Planes in the making: one for two classes or a number, otherwise one for each class.

    Attributes
    ----------
    weights, sums : ndarray of shape (planes, d)
    states : ndarray of shape (planes, STATE_SIZE)
        See `online_rules`.
    pocket : Pocket or None
    chunks : int
        Calls of `partial_fit` since the last `fit`.
    length : int
        Visits of the last pass or chunk.
    counted : int
        Planes that count by themselves: those learnt together have the counts of the first.
    """

    weights: Array
    sums: Array
    states: Array
    pocket: Pocket | None = None
    chunks: int = 0
    length: int = 0
    counted: int = 1

    @classmethod
    def start(cls, coef: Array, intercept: Array, pocket: bool) -> Learner:
        """Start from given planes."""
        states = np.zeros((len(coef), at.STATE_SIZE))
        states[:, at.SCALE] = states[:, at.STEP] = 1.0
        states[:, at.INTERCEPT] = intercept
        kept = Pocket(coef.copy(), np.array(intercept), np.full(len(coef), -1.0)) if pocket else None
        learner = cls(np.array(coef, dtype=np.float64, order="C"), np.zeros(coef.shape), states, kept)
        learner.measure()
        return learner

    def measure(self) -> None:
        """Write the length of the weights into the states; loops only keep it up to date if they project."""
        with np.errstate(over="ignore"):
            self.states[:, at.SQUARE] = np.sum(self.weights**2, axis=1)

    def copy(self) -> Learner:
        pocket = self.pocket and Pocket(*(part.copy() for part in vars(self.pocket).values()))
        arrays = self.weights.copy(), self.sums.copy(), self.states.copy()
        return Learner(*arrays, pocket, self.chunks, self.length, self.counted)

    def turned(self, averaged: bool, pocketed: bool) -> Learner:
        """A copy that keeps averages and a pocket only if they are still asked for, and has a pocket if it is."""
        found = self.copy()
        if not averaged:
            found.sums[...] = found.states[:, [at.MASS, at.INTERCEPT_SUM, at.AVERAGED]] = 0.0
        if pocketed != (found.pocket is not None):
            found.pocket, found.states[:, at.BEST_RUN] = None, 0.0
            found.pocket = Pocket(*found.answer(), np.full(len(found.weights), -1.0)) if pocketed else None
        return found

    def answer(self) -> tuple[Array, Array]:
        """Coefficients and intercepts to predict with: from the pocket, averaged, or the last ones."""
        if self.pocket is not None:
            return self.pocket.coef, self.pocket.intercept
        coef, intercept = self.states[:, at.SCALE, None] * self.weights, self.states[:, at.INTERCEPT].copy()
        steps = self.states[:, at.AVERAGED]
        mean = steps > 0  # a plane may have come to rest before the step from which weights are averaged
        if mean.any():
            sums = self.states[mean, at.MASS, None] * self.weights[mean] - self.sums[mean]
            coef[mean] = sums / steps[mean, None]
            intercept[mean] = self.states[mean, at.INTERCEPT_SUM] / steps[mean]
        return coef, intercept

    def count(self, place: int) -> int:
        """A count of `online_rules`, over all planes."""
        return int(self.states[:, place].sum())
