"""The linear systems of kernel ridge regression, with weights and an unpenalised intercept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.ridge.gram import WeightedGram
from hiperplano.solvers.kernel.solution import KernelSolution


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

    @property
    def targets(self) -> Array:
        """S·y."""
        return np.asarray(self.gram.root[:, None] * self.y)

    @cached_property
    def right(self) -> Array:
        """Right-hand sides, of shape (n, targets) or (n, targets + distinct penalties)."""
        if not self.fit_intercept:
            return self.targets
        return np.column_stack([self.targets, *[self.gram.root] * len(np.unique(self.alpha))])

    @cached_property
    def shift(self) -> Array:
        """The penalty of every right-hand side."""
        return np.concatenate([self.alpha, np.unique(self.alpha)]) if self.fit_intercept else self.alpha

    def by_penalty(self) -> Iterator[tuple[Array, RidgeProblem]]:
        """A mask of the targets of every distinct penalty, and the problem of these targets."""
        for alpha in np.unique(self.alpha).tolist():
            mine = self.alpha == alpha
            yield mine, self if mine.all() else replace(self, y=self.y[:, mine], alpha=self.alpha[mine])

    def with_intercepts(self, solved: Array) -> tuple[Array, Array]:
        """u and intercepts, from (S·K·S + shift)⁻¹·right."""
        u, ones = np.split(solved, [self.y.shape[1]], axis=1)
        if not self.fit_intercept:
            return u, np.zeros(u.shape[1])
        ones = ones[:, np.searchsorted(np.unique(self.alpha), self.alpha)]
        intercept = (self.gram.root @ u) / (self.gram.root @ ones)
        return u - ones * intercept, intercept

    def solution(self, u: Array, intercept: Array, **facts: Any) -> KernelSolution:
        """The result of a fit.

        Parameters
        ----------
        u : ndarray of shape (n, targets)
        intercept : ndarray of shape (targets,)
        **facts
            Further attributes of the result; the objective only if u does not solve the equations of all rows.
        """
        objective = float(np.sum(self.alpha * np.einsum("ij,ij->j", u, self.targets)))
        found: dict[str, Any] = {"n_iter": 1, "objective": objective, "kernel": str(self.gram.kernel)} | facts
        return KernelSolution(coef=(self.gram.root[:, None] * u).T, intercept=intercept, **found)
