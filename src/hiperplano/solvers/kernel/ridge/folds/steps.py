"""The systems of all folds and penalties side by side, by Lanczos steps.

The equations of a fold are those of all rows with some left out, so one product of the Gram matrix serves a direction
of each fold; and a Krylov space serves all penalties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.krylov.lanczos import ShiftedSystems
from hiperplano.solvers.kernel.ridge.folds.judge import ScoreJudge

if TYPE_CHECKING:
    from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem

TOL = 1e-8  # relative residual: scores then have as many digits
ENOUGH = 1e-6  # where a judge of scores has been asked
_ROUNDING = 2e-7  # the residual in which rounding must not show, then
_STEPS_OF_CHOLESKY = 16  # the factorisations of a fold cost as much as n over this steps, for each right side
_MOST_STEPS = 500  # each keeps a direction for every right side


@dataclass(frozen=True)
class FoldSteps:
    """Lanczos steps of some folds, and how far they have come.

    Attributes
    ----------
    sides : int
        Right sides of a fold.
    """

    systems: ShiftedSystems
    sides: int

    @classmethod
    def of(cls, folds: FoldProblem, alphas: Array, limited: bool, by_scores: bool) -> FoldSteps:
        """Before the first step.

        Parameters
        ----------
        limited : bool
            Whether a factorisation can take over where it is faster.
        by_scores : bool
            Whether a judge of scores is going to be asked.
        """
        n, sides = folds.right.shape
        masks = np.repeat(folds.masks.T, sides, axis=0)  # of each column, as a row

        def product(directions: Array, which: Array) -> Array:
            return folds.masked_product(directions, masks[which])

        def rounded(directions: Array, which: Array) -> Array:
            return folds.masked_product(directions, masks[which], single=True)

        systems = ShiftedSystems(
            product,
            np.tile(folds.right, folds.n_folds) * masks.T,
            alphas,
            rtol=0.5 * TOL,
            budget=min(_MOST_STEPS, max(40, n // (_STEPS_OF_CHOLESKY * sides))) if limited else _MOST_STEPS,
            rounded=rounded if folds.tiles is not None else None,
            least=_ROUNDING if by_scores else None,
        )
        return cls(systems, sides)

    def solve(self, needed: Array, judge: ScoreJudge | None = None) -> Array:
        """Make steps until the systems of some folds and penalties, of shape (folds, alphas), are solved.

        Returns solutions of all, of shape (n, folds, alphas, sides), NaN where they take too many steps.
        """
        self.systems.solve(np.repeat(needed, self.sides, axis=0), judge)
        found = self.systems.solutions()
        return np.moveaxis(found.reshape(len(found), -1, self.sides, needed.shape[1]), 2, 3)

    @property
    def settled(self) -> Array:
        """What the judge found good enough, of shape (folds, alphas)."""
        found = self.systems.settled
        return np.asarray(found.reshape(-1, self.sides, found.shape[1]).any(axis=1))
