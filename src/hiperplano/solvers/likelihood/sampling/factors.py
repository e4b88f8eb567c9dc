"""A preconditioner for columns with a few common factors, found in some of the rows.

Along a common factor of d columns, the curvature of the loss is about d times that along other directions. With a
diagonal preconditioner, the first steps of L-BFGS are then d times too long along the factor, and once it has learnt
this, d times too short along everything else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import randomized_svd

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.lbfgs import Preconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood

_FACTORS, _ITERATIONS = 8, 2  # most factors, and iterations that find them
_LARGE = 1.5  # least eigenvalue of a factor, as a multiple of the largest one that unrelated columns would have


def factor_preconditioner(problem: Likelihood, some: InMemory) -> Preconditioner:
    """The diagonal preconditioner, corrected along the common factors of the columns.

    Parameters
    ----------
    problem : Likelihood
    some : InMemory
        Some of the rows.
    """
    rows = some.collect(some.map(_WeightedRows(problem.scale, 1.0 / some.total_weight)))
    _, sizes, directions = randomized_svd(
        rows, min(_FACTORS, *rows.shape), n_oversamples=0, n_iter=_ITERATIONS, random_state=0, flip_sign=False
    )
    values = np.square(sizes.astype(np.float64))
    unrelated = (1.0 + np.sqrt(rows.shape[1] / len(rows))) ** 2  # the largest eigenvalue by Marchenko and Pastur
    large = values > _LARGE * unrelated
    factors = directions[large].astype(np.float64)
    # For each class, the inverse of the diagonal plus the factors' excess curvature, by the Woodbury identity.
    diagonal = problem.diagonal(1.0)
    excess = problem.curvature_at_prior[:, None] * (values[large] - 1.0)
    turned = factors / diagonal[:, None, :]
    inner = np.linalg.inv(np.eye(len(factors)) / excess[:, None, :] + turned @ factors.T)

    def precondition(vector: Array) -> Array:
        vector = problem.balanced(vector)
        along = vector[:, None, :] @ turned.transpose(0, 2, 1) @ inner @ turned
        return problem.balanced(vector / diagonal - along[:, 0, :])

    return precondition


@dataclass(frozen=True)
class _WeightedRows:
    """The rows [1, z] of a block in float32, times the square roots of their shares of the weights."""

    scale: ColumnScale
    unit: float

    def __call__(self, block: Block) -> Array:
        root = np.sqrt(block.weights * self.unit)[:, None]
        return np.multiply(self.scale.rows(block), root, dtype=np.float32, casting="same_kind")
