"""A metric for many classes: the Hessian without what couples classes, from a sample of the rows.

The whole Hessian of k classes costs as much as thousands of gradients. Its blocks on the diagonal, one for each
class, cost k Gram matrices, and what they leave out is mended by a few steps of L-BFGS.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.metric import inverse
from hiperplano.solvers.likelihood.quasi_newton import Metric

_RENEWED = (3, 9)  # looks after which probabilities have changed so much that blocks are measured again


class Blocks:
    """Looks at points for a minimisation, and measures the metric anew as the probabilities settle.

    Parameters
    ----------
    problem : Likelihood
        Of all rows.
    sample : Likelihood
        Of some of them, in the same coordinates.
    """

    def __init__(self, problem: Likelihood, sample: Likelihood, theta: Array) -> None:
        self._problem, self._sample, self._looks = problem, sample, 0
        self._inverses: list[Metric] = []
        self._measure(theta)

    def metric(self, vector: Array) -> Array:
        """The blocks' inverses, class by class; steps add nothing to all classes alike."""
        left = self._problem.balanced(vector)
        return self._problem.balanced(np.stack([solve(row) for solve, row in zip(self._inverses, left, strict=True)]))

    def __call__(self, theta: Array) -> tuple[float, Array]:
        self._looks += 1
        if self._looks in _RENEWED:
            self._measure(theta)
        return self._problem.evaluate(theta)

    def _measure(self, theta: Array) -> None:
        self._inverses = [inverse(block) for block in self._sample.class_blocks(theta)]
        self._problem.passes += self._sample.design.n_rows / self._problem.design.n_rows
