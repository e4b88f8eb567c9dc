"""State of an online learner with a kernel, whose weights are a sum over training rows, w = Σ αᵢ·φ(xᵢ)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hiperplano.data.block import Array
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.metrics import loss_of, penalised


@dataclass
class SpanLearner(Learner):
    """A learner with the weights [α, scores of all rows]; its coefficients are α.

    A step along φ(xᵢ) changes αᵢ and adds a multiple of row i of the Gram matrix to the scores. So the score of a row
    is available when the row is visited.
    """

    @property
    def n_rows(self) -> int:
        return self.weights.shape[1] // 2

    def coefficients(self, planes: Any = slice(None)) -> tuple[Array, Array]:
        both, intercept = super().coefficients(planes)
        return both[..., : self.n_rows], intercept

    def last_coefficients(self, planes: Any = slice(None)) -> tuple[Array, Array]:
        both, intercept = self._last(planes)
        return both[..., : self.n_rows], intercept

    def scores(self, planes: Any = slice(None)) -> Array:
        """Scores of all rows by the predicting planes, without their intercepts."""
        return np.asarray(super().coefficients(planes)[0][..., self.n_rows :])

    def squared_norm(self, planes: Any) -> float:
        both, _ = self._last(planes)
        return float(np.sum(both[..., : self.n_rows] * both[..., self.n_rows :]))

    def measure(self) -> None:
        alpha, scores = self.weights[:, : self.n_rows], self.weights[:, self.n_rows :]
        with np.errstate(over="ignore", invalid="ignore"):
            self.states[:, at.SQUARED_NORM] = np.sum(alpha * scores, axis=1)

    def extended(self, gram: Array) -> Self:
        """Return the same planes with additional rows, whose coefficients are 0.

        Parameters
        ----------
        gram : ndarray of shape (new rows, rows)
            Kernel values of the new rows with the existing rows.
        """

        def more(parts: Array) -> Array:
            alpha, scores = parts[:, : self.n_rows], parts[:, self.n_rows :]
            nothing = np.zeros((len(parts), len(gram)))
            return np.concatenate([alpha, nothing, scores, alpha @ gram.T], axis=1)

        found = self.copy()
        found.weights, found.sums = more(self.weights), more(self.sums)
        return found

    def support(self) -> Array:
        """Numbers of the rows with a nonzero coefficient in a plane or in its average."""
        parts = self.weights[:, : self.n_rows].any(axis=0) | self.sums[:, : self.n_rows].any(axis=0)
        return np.flatnonzero(parts)

    def restricted(self, rows: Array) -> Self:
        """Return the same planes restricted to some of the rows; the coefficients of the other rows must be 0."""
        both = np.concatenate([rows, self.n_rows + rows])
        found = self.copy()
        found.weights, found.sums = self.weights[:, both].copy(), self.sums[:, both].copy()
        return found


@dataclass(frozen=True)
class SpanObjective:
    """`online.metrics.Objective` of the predicting plane, from the scores that its learner keeps.

    Attributes
    ----------
    target, weight : ndarray of shape (n,)
        Targets and weights of the learner's rows; a weight of 0 excludes a row.
    total : float
        The divisor of the loss: the number of rows, or the sum of their weights.
    """

    learner: SpanLearner
    plane: int
    target: Array
    weight: Array
    rule: Array
    total: float

    def __call__(self, coef: Array, intercept: Array) -> float:
        scores = self.learner.scores(self.plane)
        square = float(coef @ scores)
        losses = loss_of(self.rule).value(self.target, scores + intercept)
        return penalised(self.rule, float(self.weight @ losses) / self.total, square, float(intercept))
