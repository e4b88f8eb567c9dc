"""The linear systems of kernel ridge regression, with weights and an unpenalised intercept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.ridge.gram import WeightedGram


@dataclass(frozen=True)
class RidgeProblem:
    """Minimise Σᵢ wᵢ·(yᵢ − f(xᵢ) − b)² + α‖f‖².

    The minimum is f = Σᵢ aᵢ·k(·, xᵢ). With S = diag(√w) and a = S·u,

        (S·K·S + α)·u + S·1·b = S·y,   1ᵀ·S·u = 0.

    So there is one right-hand side for each target and, with an intercept, one for each distinct α.

    Attributes
    ----------
    gram : WeightedGram
        S·K·S.
    y : ndarray of shape (n, targets)
    alpha : ndarray of shape (targets,)
    unit : float
        Divisor of the weights and penalties, and so of the objective.
    """

    gram: WeightedGram
    y: Array
    alpha: Array
    fit_intercept: bool
    unit: float = 1.0

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @cached_property
    def right(self) -> Array:
        """Right-hand sides, of shape (n, targets) or (n, targets + distinct penalties)."""
        targets = self.gram.root[:, None] * self.y
        if not self.fit_intercept:
            return np.asarray(targets)
        return np.column_stack([targets, *[self.gram.root] * len(np.unique(self.alpha))])

    @cached_property
    def shift(self) -> Array:
        """The penalty of every right-hand side."""
        return np.concatenate([self.alpha, np.unique(self.alpha)]) if self.fit_intercept else self.alpha

    def assemble(self, u: Array) -> tuple[Array, Array, float]:
        """Dual coefficients of shape (targets, n), intercepts, and the objective, from the solutions."""
        targets = self.y.shape[1]
        solved, intercept = u[:, :targets], np.zeros(targets)
        if self.fit_intercept:
            which = np.searchsorted(np.unique(self.alpha), self.alpha)
            ones = u[:, targets:][:, which]
            intercept = (self.gram.root @ solved) / (self.gram.root @ ones)
            solved = solved - ones * intercept
        objective = float(np.sum(self.alpha * np.einsum("ij,ij->j", solved, self.right[:, :targets])))
        return (self.gram.root[:, None] * solved).T, intercept, objective
