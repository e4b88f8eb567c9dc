"""The state of online learning from one example to the next, for one or more planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hiperplano.data.block import Array
from hiperplano.solvers.online import rules as at

NO_WEIGHTS = np.empty(0)


@dataclass
class Pocket:
    """The best planes seen.

    Attributes
    ----------
    coef : ndarray of shape (planes, d)
    intercept : ndarray of shape (planes,)
    accuracy : ndarray of shape (planes,)
        Share of the rows they classify correctly; −1 if it was not computed.
    """

    coef: Array
    intercept: Array
    accuracy: Array


@dataclass
class Learner:
    """Planes being learnt: one for two classes or a regression, otherwise one for each class.

    Attributes
    ----------
    weights, sums : ndarray of shape (planes, d)
    states : ndarray of shape (planes, STATE_SIZE)
        See `online.rules`.
    chunks : int
        Calls of `partial_fit` since the last `fit`.
    length : int
        Visits of the last pass or chunk.
    counted : int
        Number of planes with counts of their own. Planes learnt together share the counts of the first one.
    """

    weights: Array
    sums: Array
    states: Array
    pocket: Pocket | None = None
    chunks: int = 0
    length: int = 0
    counted: int = 1

    @classmethod
    def start(cls, coef: Array, intercept: Array, pocket: bool) -> Self:
        """Start from given planes.

        Parameters
        ----------
        coef : ndarray of shape (planes, d)
        intercept : ndarray of shape (planes,)
        pocket : bool
            Whether to keep the best planes.
        """
        states = np.zeros((len(coef), at.STATE_SIZE))
        states[:, at.SCALE] = states[:, at.STEP] = 1.0
        states[:, at.INTERCEPT] = intercept
        kept = Pocket(coef.copy(), np.array(intercept), np.full(len(coef), -1.0)) if pocket else None
        learner = cls(np.array(coef, dtype=np.float64, order="C"), np.zeros(coef.shape), states, kept)
        learner.measure()
        return learner

    def measure(self) -> None:
        """Write ‖weights‖² into the states; the loops maintain it only if they project."""
        with np.errstate(over="ignore"):
            self.states[:, at.SQUARED_NORM] = np.einsum("ij,ij->i", self.weights, self.weights)

    def squared_norm(self, planes: Any) -> float:
        """Sum of the planes' squared weights after the last step."""
        weights = (self.states[planes][..., at.SCALE, None] * self.weights[planes]).ravel()
        return float(np.dot(weights, weights))

    def copy(self) -> Self:
        pocket = self.pocket and Pocket(*(part.copy() for part in vars(self.pocket).values()))
        arrays = self.weights.copy(), self.sums.copy(), self.states.copy()
        return type(self)(*arrays, pocket, self.chunks, self.length, self.counted)

    def resumed(self, averaged: bool, pocketed: bool) -> Self:
        """Return a copy with which training continues under other parameters.

        Parameters
        ----------
        averaged : bool
            Keep the averages.
        pocketed : bool
            Keep the pocket, or start one.
        """
        found = self.copy()
        if not averaged:
            found.sums[...] = found.states[:, [at.MASS, at.INTERCEPT_SUM, at.AVERAGED]] = 0.0
        if pocketed != (found.pocket is not None):
            found.pocket, found.states[:, at.BEST_RUN] = None, 0.0
            found.pocket = Pocket(*found.coefficients(), np.full(len(found.weights), -1.0)) if pocketed else None
        return found

    def average_on(self, planes: Any, steps: int, rule: Array) -> None:
        """Add `steps` steps without an update to the averages, in closed form.

        Parameters
        ----------
        planes : int or slice
            The planes that are trained together.
        """
        if not rule[at.AVERAGE_FROM]:
            return
        states = np.atleast_2d(self.states[planes])
        # First step to add, and the one after the last.
        first, last = states[:, at.STEP].copy(), states[:, at.STEP] + steps
        states[:, at.STEP] = last
        first = np.maximum(first, rule[at.AVERAGE_FROM])
        weight = np.maximum(last - first, 0.0)
        if rule[at.WEIGHT_BY_STEP]:
            weight = weight * (first + last - 1.0) / 2.0
        states[:, at.MASS] += weight * states[:, at.SCALE]
        states[:, at.INTERCEPT_SUM] += weight * states[:, at.INTERCEPT]
        states[:, at.AVERAGED] += weight
        self.states[planes] = states if np.ndim(self.states[planes]) == 2 else states[0]

    def coefficients(self, planes: Any = slice(None)) -> tuple[Array, Array]:
        """Coefficients and intercepts to predict with: from the pocket, averaged, or the last ones.

        Parameters
        ----------
        planes : int or slice
            Planes to return; all of them by default.

        Returns
        -------
        coef : ndarray of shape (d,) or (planes, d)
        intercept : float or ndarray of shape (planes,)
        """
        if self.pocket is not None:
            return self.pocket.coef[planes], self.pocket.intercept[planes]
        coef, intercept = self._last(planes)
        state = self.states[planes]
        steps = state[..., at.AVERAGED]
        if not steps.any():
            return coef, intercept
        divisor = np.maximum(steps, 1.0)
        mean = (state[..., at.MASS, None] * self.weights[planes] - self.sums[planes]) / divisor[..., None]
        # A plane may have stopped changing before averaging began.
        coef = np.where(steps[..., None] > 0, mean, coef)
        return coef, np.where(steps > 0, state[..., at.INTERCEPT_SUM] / divisor, intercept)

    def last_coefficients(self, planes: Any = slice(None)) -> tuple[Array, Array]:
        """Coefficients and intercepts after the last step. Parameters and result are those of `coefficients`."""
        return self._last(planes)

    def _last(self, planes: Any) -> tuple[Array, Array]:
        """All weights, and the intercepts, after the last step."""
        state = self.states[planes]
        return state[..., at.SCALE, None] * self.weights[planes], state[..., at.INTERCEPT].copy()

    def count(self, place: int) -> int:
        """Sum of one of the counts of `online.rules` over all planes.

        Parameters
        ----------
        place : int
            Index of the count in a state.
        """
        return int(self.states[:, place].sum())
