"""The systems of all folds and penalties side by side, by Lanczos steps.

The equations of a fold are those of all rows with some left out, so one product of the Gram matrix serves a direction
of each fold; and a Krylov space serves all penalties.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.krylov.lanczos import KrylovInverse, shifted_solutions
from hiperplano.messages import Message

if TYPE_CHECKING:
    from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem

TOL = 1e-6  # relative residual: an R² is then exact to about 1e-8, since the errors of many rows cancel
NEAR = 1e-8  # the same to aim at, where a step brings a digit or so
_STEPS_OF_CHOLESKY = 16  # the factorisations of a fold cost as much as n over this steps, for each right side
_MOST_STEPS = 500  # each keeps a direction for every right side


class FoldSolutions(NamedTuple):
    """Of all folds and penalties.

    Attributes
    ----------
    x : ndarray of shape (n, folds, alphas, sides)
        NaN where a system takes too many steps.
    method, how : Message
        The method's name; and a part of a sentence, how they were found.
    inverse : callable, float -> callable
        From a penalty to an approximate inverse of the last fold's system: a function of residuals and the numbers of
        their right sides.
    """

    x: Array
    n_iter: int
    method: Message
    how: Message
    inverse: Callable[[float], Callable[[Array, Array], Array]]


def solve_folds(folds: FoldProblem, alphas: Array, limited: bool) -> FoldSolutions:
    """Solve all systems that do not take too many steps.

    Parameters
    ----------
    limited : bool
        Whether a factorisation can take over where it is faster.
    """
    n, sides = folds.right.shape
    masks = np.repeat(folds.masks.T, sides, axis=0)  # of each column, as a row

    def product(directions: Array, which: Array) -> Array:
        return folds.masked_product(directions, masks[which])

    def rounded(directions: Array, which: Array) -> Array:
        return folds.masked_product(directions, masks[which], single=True)

    found = shifted_solutions(
        product,
        np.tile(folds.right, folds.n_folds) * masks.T,
        alphas,
        rtol=0.5 * TOL,
        budget=min(_MOST_STEPS, max(40, n // (_STEPS_OF_CHOLESKY * sides))) if limited else _MOST_STEPS,
        rounded=rounded if folds.tiles is not None else None,
        inverses=range(len(masks) - sides, len(masks)),
    )
    return FoldSolutions(
        np.moveaxis(found.x.reshape(n, -1, sides, len(alphas)), 2, 3),
        found.n_iter,
        Message("Lanczos"),
        Message("by {steps} Lanczos steps", steps=found.n_iter),
        lambda alpha: partial(_of_sides, found.inverses, alpha),
    )


def _of_sides(inverses: list[KrylovInverse], alpha: float, residuals: Array, which: Array) -> Array:
    found = np.empty_like(residuals)
    for place, side in enumerate(which.tolist()):
        found[:, place] = inverses[side](residuals[:, place], alpha)
    return found
