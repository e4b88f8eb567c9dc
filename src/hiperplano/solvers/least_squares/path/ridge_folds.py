"""Ridge in cross-validation: the paths of all folds, from one pass over the rows if possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.path.ridge_path import RidgePath, ridge_path
from hiperplano.solvers.statistics import moments

_MOST_BYTES = 2**29  # largest memory for the moments of all folds together

Split = tuple[Array, Array]


def fold_paths(design: Design, splits: Sequence[Split], fit_intercept: bool, least: float) -> list[RidgePath]:
    """The path of the training rows of each split.

    If the test sets partition the rows, all moments come from one pass. Those of the training rows are sums over the
    folds before and after the test fold, so that nothing is subtracted. Other splits take a pass each.

    Parameters
    ----------
    splits : sequence of (train, test)
        Numbers of rows.
    least : float
        Smallest penalty that will be asked for.
    """
    folds = _partition(splits, design.n_rows)
    width = 1 + design.n_columns + design.n_targets
    if folds is None or len(splits) * width**2 * 8 > _MOST_BYTES:
        return [ridge_path(_only(design, train), fit_intercept=fit_intercept, least=least) for train, _ in splits]
    sums = moments(design.with_vectors(fold=folds), centred=fit_intercept, n_groups=len(splits))
    nothing = np.zeros_like(sums.raw[0])
    before = [nothing, *accumulate(sums.raw[:-1])]
    after = [nothing, *accumulate(sums.raw[:0:-1])][::-1]
    return [
        ridge_path(
            _only(design, train),
            fit_intercept=fit_intercept,
            least=least,
            plain=NormalEquations.of(sums.group(left + right), fit_intercept),
        )
        for (train, _), left, right in zip(splits, before, after, strict=True)
    ]


def _partition(splits: Sequence[Split], n_rows: int) -> Array | None:
    """The test set of each row, if test sets partition the rows and training sets are their complements."""
    folds = np.full(n_rows, -1)
    for number, (train, test) in enumerate(splits):
        if len(train) + len(test) != n_rows or (folds[test] >= 0).any():
            return None
        folds[test] = number
    return folds if (folds >= 0).all() else None


def _only(design: Design, rows: Array) -> Design:
    """The design with zero weight on all other rows."""
    counts = np.bincount(rows, minlength=design.n_rows).astype(np.float64)
    weight = counts * design.collect(design.vector("weight")) if design.has_weight else counts
    return design.with_vectors(weight=weight)


def squared_errors(
    design: Design, splits: Sequence[Split], coefs: Sequence[Array], intercepts: Sequence[Array]
) -> tuple[Array, Array]:
    """Weighted squared errors of each split on its test rows, and those of the mean of these rows.

    Parameters
    ----------
    coefs, intercepts : one for each split
        Of shapes (alphas, targets, d) and (alphas, targets).

    Returns
    -------
    model : ndarray of shape (splits, alphas, targets)
    constant : ndarray of shape (splits, targets)
    """
    folds = _partition(splits, design.n_rows)
    if folds is not None:
        return _errors(design.with_vectors(fold=folds), np.stack(coefs), np.stack(intercepts))
    every = np.zeros(design.n_rows, dtype=np.intp)
    parts = [
        _errors(_only(design, test).with_vectors(fold=every), coef[None], intercept[None])
        for (_, test), coef, intercept in zip(splits, coefs, intercepts, strict=True)
    ]
    model, constant = (np.concatenate(each) for each in zip(*parts, strict=True))
    return model, constant


def _errors(design: Design, coefs: Array, intercepts: Array) -> tuple[Array, Array]:
    """The same for splits whose test rows are given by the row vector "fold"."""
    weights, sums = design.fold(_FoldTargets(len(coefs), design.n_targets))
    model, constant = design.fold(_FoldErrors(coefs, intercepts, sums / weights[:, None]))
    return model, constant


@dataclass(frozen=True)
class _FoldTargets:
    """Σ w and Σ w·y of every fold."""

    n_folds: int
    n_targets: int

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        fold, weighted = block.vectors["fold"], block.weighted(block.y)
        sums = [np.bincount(fold, weighted[:, t], self.n_folds) for t in range(self.n_targets)]
        return np.bincount(fold, block.weights, self.n_folds), xp.stack(sums, axis=1)


@dataclass(frozen=True)
class _FoldErrors:
    """Σ w·(y − prediction)² and Σ w·(y − mean)² of every fold, with its own coefficients and mean."""

    coefs: Array
    intercepts: Array
    means: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        model, constant = xp.zeros(self.intercepts.shape), xp.zeros(self.means.shape)
        fold = block.vectors["fold"]
        for number in np.unique(fold):
            part = block if len(self.coefs) == 1 else block.take(fold == number)
            scores = predictions(part, self.coefs[number], self.intercepts[number])
            model[number] = xp.tensordot(part.weights, xp.square(part.y[:, None, :] - scores), axes=1)
            constant[number] = part.weights @ xp.square(part.y - self.means[number])
        return model, constant


def predictions(block: Block, coef: Array, intercept: Array) -> Array:
    """x·coef + intercept, of shape (m, alphas, targets).

    Parameters
    ----------
    coef : ndarray of shape (alphas, targets, d)
    intercept : ndarray of shape (alphas, targets)
    """
    return block.dot(coef.reshape(-1, block.n_columns).T).reshape(len(block), *intercept.shape) + intercept
