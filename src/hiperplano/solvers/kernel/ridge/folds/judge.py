"""When a fold's score is known well enough, though its equations could be solved to more digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiperplano.data.design import Array

if TYPE_CHECKING:
    from hiperplano.solvers.kernel.ridge.folds.problem import FoldProblem

SCORE_TOL = 1e-8  # of R²
_APART = 2.0  # spreads of a random direction: chance may make the errors of test rows cancel once, not so often


class ScoreJudge:
    """Tells of which folds and penalties R² is within `SCORE_TOL`, from what it was a few steps before.

    Errors of a Krylov solution shrink with its residual. So if residuals have fallen by a factor q since the last look,
    what predictions p of the test rows still lack is about q/(1 − q) times what they have changed by, Δ. The sum of
    squares E of the errors e = y − p then changes by 2·e·Δ, whose terms may cancel by chance: it is taken for no less
    than chance leaves of ‖e‖·‖Δ‖. It is compared with the sum of squares around the mean, or with E if that is larger.
    """

    def __init__(self, folds: FoldProblem) -> None:
        self._folds = folds
        self._last: dict[int, tuple[Array, Array]] = {}
        place = slice(None) if folds.order is None else folds.order
        self._root, self._y = folds.problem.root[place, None, None] * folds.tests[:, :, None], folds.problem.y[place]
        total = np.maximum(np.square(self._root).sum(axis=0), np.finfo(float).tiny)
        means = np.einsum("nf,nt->ft", np.square(self._root[..., 0]), self._y) / total
        self._spread = np.square(self._root * (self._y[:, None] - means)).sum(axis=0)
        self._tested = folds.tests.sum(axis=0)

    def __call__(self, found: Array, residuals: Array, numbers: Array) -> Array:
        """From solutions of shape (n, folds·sides, m) and their residuals to which are good enough."""
        n, _, m = found.shape
        sides = self._folds.right.shape[1]
        solved = np.nan_to_num(np.moveaxis(found.reshape(n, -1, sides, m), 2, 3))
        images = self._folds.product(solved.reshape(n, -1)).reshape(solved.shape)
        predicted = self._folds.predictions(solved, images)
        sizes = residuals.reshape(-1, sides, m).max(axis=1)
        sure = np.zeros(sizes.shape, dtype=bool)
        for place, number in enumerate(numbers.tolist()):
            now = predicted[:, :, place], sizes[:, place]
            if number in self._last:
                sure[:, place] = self._is_sure(*now, *self._last[number])
            self._last[number] = now
        return np.repeat(sure, sides, axis=0)

    def _is_sure(self, predicted: Array, size: Array, before: Array, size_before: Array) -> Array:
        """Of every fold, with one penalty."""
        change, error = self._root * (predicted - before), self._root * (self._y[:, None] - predicted)
        moved, square = np.square(change).sum(axis=0), np.square(error).sum(axis=0)
        share = _APART / np.sqrt(np.maximum(self._tested, 1))[:, None]
        along = np.maximum(np.abs((change * error).sum(axis=0)), share * np.sqrt(moved * square))
        fallen = np.clip(size / np.maximum(size_before, np.finfo(float).tiny), 0.0, 1.0)[:, None]
        lacks = fallen * (2.0 * along + moved) <= (1.0 - fallen) * SCORE_TOL * np.maximum(square, self._spread)
        return np.asarray(lacks.all(axis=1) & (self._tested > 0))
