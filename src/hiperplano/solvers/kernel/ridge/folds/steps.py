"""Systems of all folds and penalties together, by Lanczos steps.

The system of a fold is that of all rows with some rows left out. So one product with the Gram matrix serves one
direction of every fold, and one Krylov space serves all penalties of a fold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.krylov.lanczos import KrylovSpace, shifted_solutions
from hiperplano.solvers.kernel.ridge.folds.factors import groups
from hiperplano.solvers.kernel.ridge.folds.problem import TOL, FoldProblem

# The cost of factorisations, in Lanczos steps:
_STEPS_OF_FACTOR = 16  # a factorisation of all rows costs n / 16 steps of one right-hand side
_STEPS_OF_GROUP = 35  # solving with it costs 35 steps of all folds, divided by the number of right-hand sides
_STEPS_OF_SHIFT = 7  # plus 7 for each penalty
_MOST_STEPS = 500  # every step stores a direction for each right-hand side


class FoldSteps(NamedTuple):
    """Solutions by Lanczos steps.

    Attributes
    ----------
    x : ndarray of shape (n, folds, alphas, sides)
    solved : ndarray of bool of shape (folds, alphas)
        Systems that are solved; the others would have taken too many steps.
    steps : ndarray of int of shape (alphas,)
        Largest number of steps of any fold; the limit, if some fold did not converge.
    all_rows : list of KrylovSpace
        Krylov space of each right-hand side on all rows, after the same number of steps; empty if not requested.
    """

    x: Array
    solved: Array
    steps: Array
    all_rows: list[KrylovSpace]


def solve_folds(folds: FoldProblem, alphas: Array, limited: bool, with_all_rows: bool) -> FoldSteps:
    """Solve all systems that do not take too many steps.

    Parameters
    ----------
    limited : bool
        Whether to stop where a factorisation is faster.
    with_all_rows : bool
        Whether to build the Krylov spaces of all rows together with those of the folds.
    """
    n, sides = folds.right.shape
    masks = np.vstack([folds.masks.T, np.ones((int(with_all_rows), n))])
    right = np.tile(folds.right, len(masks))
    masks = np.repeat(masks, sides, axis=0)  # one row for each column

    @cache
    def masked_product(*which: int) -> Callable[[Array, bool], Array]:
        return folds.masked_product(masks[list(which)])

    def product(directions: Array, which: Array) -> Array:
        return masked_product(*which.tolist())(directions, False)

    def rounded(directions: Array, which: Array) -> Array:
        return masked_product(*which.tolist())(directions, True)

    # Shares of the rows; a step costs n² times `step`.
    share, step = folds.masks.mean(axis=0), np.square(masks.mean(axis=1)).sum()
    factors, least = np.power(share, 3).sum(), np.sort(alphas)

    def otherwise(count: int) -> float:
        if not count:
            return 0.0
        shared = len(groups(least[:count]))
        work = shared * factors + with_all_rows  # the fit of all rows may need a factor, too
        return n / _STEPS_OF_FACTOR * work / step + shared * _STEPS_OF_GROUP / sides + count * _STEPS_OF_SHIFT

    found = shifted_solutions(
        product,
        right * masks.T,
        alphas,
        rtol=0.5 * TOL,
        most=_MOST_STEPS,
        otherwise=otherwise if limited else None,
        rounded=rounded if folds.problem.gram.held is not None else None,
        beside=sides if with_all_rows else 0,
    )
    x = np.moveaxis(found.x.reshape(n, -1, sides, len(alphas)), 2, 3)
    solved = np.asarray(found.solved.reshape(-1, sides, len(alphas)).all(axis=1))
    steps = np.where(solved.all(axis=0), found.steps.max(axis=0), _MOST_STEPS)
    return FoldSteps(x, solved, steps, found.beside)
