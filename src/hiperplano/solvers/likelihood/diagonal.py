"""The diagonal preconditioner of a likelihood, which follows the objective."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.lbfgs import LocalPreconditioner, State
from hiperplano.solvers.likelihood.likelihood import Likelihood

_CHANGE = 2.0  # factor by which the curvature of the loss must have changed for a new diagonal
_LEAST_SHARE = 1e-12  # least curvature of the loss, as a share of that at the prior


class DiagonalPreconditioner(LocalPreconditioner):
    """Inverse of an estimate of the Hessian's diagonal.

    The curvature of the loss is known at the prior. It decreases with the loss: of a row that is well classified, both
    are about the probability of the other class. Where classes are nearly separated, little more than the penalty is
    then left, and columns on small scales, which are penalised more, need other steps than at the prior.
    """

    def __init__(self, problem: Likelihood) -> None:
        self._problem, self._share = problem, 1.0
        self._inverse = 1.0 / problem.diagonal(1.0)

    def __call__(self, vector: Array) -> Array:
        # Steps must not add the same to all classes: only the penalty determines this part, and if it is weak, L-BFGS
        # would converge slowly. Gradients sum to zero over the classes, but not if they were rounded to float32.
        balanced = self._problem.balanced
        return balanced(balanced(vector) * self._inverse)

    def move_to(self, state: State) -> None:
        problem = self._problem
        # Σ p·(1 − p) over the classes is about 2·loss. Two classes with one score have half of it. At the minimum, the
        # penalty is not much larger than the loss. After a step that goes too far, little but the penalty is left. The
        # loss alone would then hide the curvature that returns on the way back.
        curvature = state.value if problem.n_scores == 1 else 2.0 * state.value
        share = float(np.clip(curvature / problem.curvature_at_prior.sum(), _LEAST_SHARE, 1.0))
        if not 1.0 / _CHANGE <= share / self._share <= _CHANGE:
            self._share, self._inverse = share, 1.0 / problem.diagonal(share)
