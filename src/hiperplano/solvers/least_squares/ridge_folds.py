"""Ridge in cross-validation: every fold's path from sums that are gathered once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.least_squares.ridge_path import RidgePath, ridge_path
from hiperplano.solvers.statistics import moments

_MOST_BYTES = 2**29  # for the moments of all folds together

Split = tuple[Array, Array]


def fold_paths(design: Design, splits: Sequence[Split], fit_intercept: bool) -> list[RidgePath]:
    """The path of every split's training rows.

    Where test sets part the rows among them, all moments come from one pass: those of a fold's training rows
    are the sums over the folds before it and after it, so nothing is ever subtracted. Other splits take a pass each.
    """
    groups = _partition(splits, design.n_rows)
    width = 1 + design.n_columns + design.n_targets
    if groups is None or len(splits) * width**2 * 8 > _MOST_BYTES:
        return [ridge_path(_only(design, train), fit_intercept=fit_intercept) for train, _ in splits]
    sums = moments(design, centred=fit_intercept, groups=groups, n_groups=len(splits))
    nothing = np.zeros_like(sums.raw[0])
    before = [nothing, *accumulate(sums.raw[:-1])]
    after = [nothing, *accumulate(sums.raw[:0:-1])][::-1]
    return [
        ridge_path(_only(design, train), fit_intercept=fit_intercept, sums=sums.group(left + right))
        for (train, _), left, right in zip(splits, before, after, strict=True)
    ]


def _partition(splits: Sequence[Split], n_rows: int) -> Array | None:
    """The number of the test set each row is in, if that is one for each row and training takes the others."""
    groups = np.full(n_rows, -1)
    for number, (train, test) in enumerate(splits):
        if len(train) + len(test) != n_rows or (groups[test] >= 0).any():
            return None
        groups[test] = number
    return groups if (groups >= 0).all() else None


def _only(design: Design, rows: Array) -> Design:
    """The design with weight on these rows alone."""
    mask = np.bincount(rows, minlength=design.n_rows).astype(np.float64)
    return design.with_target(design.y, mask if design.weight is None else mask * design.weight)


def squared_errors(
    design: Design, splits: Sequence[Split], coefs: Sequence[Array], intercepts: Sequence[Array]
) -> tuple[Array, Array]:
    """Weighted squared errors of every split on its test rows, and of the mean of those rows.

    Parameters
    ----------
    coefs, intercepts : one for each split
        Of shapes (alphas, targets, d) and (alphas, targets).

    Returns
    -------
    model : ndarray of shape (splits, alphas, targets)
    constant : ndarray of shape (splits, targets)
    """
    n_alphas = coefs[0].shape[0]
    members = [np.sort(test) for _, test in splits]
    centres = [_test_mean(design, test) for test in members]

    def statistic(block: Block) -> Sums:
        model = np.zeros((len(splits), n_alphas, design.n_targets))
        constant = np.zeros((len(splits), design.n_targets))
        for number, test in enumerate(members):
            first, last = np.searchsorted(test, [block.rows.start, block.rows.stop])
            if first == last:
                continue
            here = test[first:last] - block.rows.start
            y = block.y[here]
            weight = np.ones(len(here)) if block.weight is None else block.weight[here]
            scores = block.x[here] @ coefs[number].reshape(-1, design.n_columns).T
            error = y[:, None, :] - scores.reshape(len(here), n_alphas, -1) - intercepts[number]
            model[number] = np.tensordot(weight, np.square(error), axes=1)
            constant[number] = weight @ np.square(y - centres[number])
        return model, constant

    model, constant = design.fold(statistic)
    return model, constant


def _test_mean(design: Design, rows: Array) -> Array:
    weight = None if design.weight is None else design.weight[rows]
    return np.asarray(np.average(design.y[rows], axis=0, weights=weight))
