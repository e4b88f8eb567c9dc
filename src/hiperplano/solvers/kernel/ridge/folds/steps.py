"""The systems of all folds and penalties side by side, by Lanczos steps.

The equations of a fold are those of all rows with some left out, so one product of the Gram matrix serves a direction
of each fold; and a Krylov space serves all penalties.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.krylov.lanczos import KrylovSpace, shifted_solutions

if TYPE_CHECKING:
    from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem

TOL = 1e-6  # relative residual: an R² is then exact to 2e-7 or better, since the errors of many rows cancel
NEAR = 1e-8  # the same to aim at, where a step brings a digit or so
_STEPS_OF_CHOLESKY = 16  # the factorisations of a fold cost as much as n over this steps, for each right side
_MOST_STEPS = 500  # each keeps a direction for every right side


class FoldSteps(NamedTuple):
    """Solutions by Lanczos steps; NaN where those were too many.

    Attributes
    ----------
    x : ndarray of shape (n, folds, alphas, sides)
    steps : ndarray of int of shape (alphas,)
        The most of any fold.
    all_rows : list of KrylovSpace
        Of each right side with no row left out, after as many steps; empty if not asked for.
    """

    x: Array
    steps: Array
    all_rows: list[KrylovSpace]


def solve_folds(folds: FoldProblem, alphas: Array, limited: bool, with_all_rows: bool) -> FoldSteps:
    """Solve all systems that do not take too many steps.

    Parameters
    ----------
    limited : bool
        Whether a factorisation can take over where it is faster.
    with_all_rows : bool
        Whether the systems of all rows go along with those of the folds.
    """
    n, sides = folds.right.shape
    masks = np.vstack([folds.masks.T, np.ones((int(with_all_rows), n))])
    right = np.tile(folds.right, len(masks))
    masks = np.repeat(masks, sides, axis=0)  # of each column, as a row

    @cache
    def masked_product(*which: int) -> Callable[[Array, bool], Array]:
        return folds.masked_product(masks[list(which)])

    def product(directions: Array, which: Array) -> Array:
        return masked_product(*which.tolist())(directions, False)

    def rounded(directions: Array, which: Array) -> Array:
        return masked_product(*which.tolist())(directions, True)

    found = shifted_solutions(
        product,
        right * masks.T,
        alphas,
        rtol=0.5 * TOL,
        budget=min(_MOST_STEPS, max(40, n // (_STEPS_OF_CHOLESKY * sides))) if limited else _MOST_STEPS,
        rounded=rounded if folds.problem.gram.held is not None else None,
        beside=sides if with_all_rows else 0,
    )
    x = np.moveaxis(found.x.reshape(n, -1, sides, len(alphas)), 2, 3)
    return FoldSteps(x, found.steps.max(axis=0), found.beside)
