"""A block-diagonal preconditioner for many classes, from a sample of the rows.

The whole Hessian of k classes costs as much as thousands of gradients. Its blocks on the diagonal, one for each
class, cost k Gram matrices, and what they leave out is corrected by a few steps of L-BFGS.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.likelihood.likelihood import Likelihood

_RENEWED = (3, 9)  # evaluations after which probabilities have changed so much that blocks are measured again


class BlockPreconditioner:
    """Value and gradient for a minimisation, with blocks that are measured anew as the probabilities settle.

    Parameters
    ----------
    problem : Likelihood
        Of all rows.
    sample : Likelihood
        Of some of them, with the same scale.
    theta : ndarray of shape (classes, size)
        Where to measure first.
    """

    def __init__(self, problem: Likelihood, sample: Likelihood, theta: Array) -> None:
        self._problem, self._sample, self._evaluations = problem, sample, 0
        self._solvers: list[SymmetricSolver] = []
        self._measure(theta)

    def precondition(self, vector: Array) -> Array:
        """The blocks' inverses, class by class; steps add nothing to all classes alike."""
        left = self._problem.balanced(vector)
        parts = [solver.solve(row) for solver, row in zip(self._solvers, left, strict=True)]
        return self._problem.balanced(np.stack(parts))

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        self._evaluations += 1
        if self._evaluations in _RENEWED:
            self._measure(theta)
        return self._problem.evaluate(theta)

    def _measure(self, theta: Array) -> None:
        self._solvers = [SymmetricSolver(block) for block in self._sample.class_hessians(theta)]
        self._problem.passes += self._sample.design.n_rows / self._problem.design.n_rows
