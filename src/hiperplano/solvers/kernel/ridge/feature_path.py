"""Cross-validation of kernel ridge regression with a kernel that has few features: ordinary ridge regression in them.

One decomposition of the features serves all penalties, and no Gram matrix is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiperplano.data.block import Block
from hiperplano.data.design import Array
from hiperplano.data.validate import wrap
from hiperplano.kernels.dimension import few_features
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.least_squares.normal import normal_equations
from hiperplano.solvers.least_squares.path.leave_one_out import leave_one_out
from hiperplano.solvers.least_squares.path.ridge_folds import fold_paths, predictions


def leave_one_out_in_features(problem: RidgeProblem, alphas: Array) -> Array | None:
    """As `leave_one_out_residuals`; None if the kernel has too many features."""
    features = few_features(problem.gram.kernel, problem.gram.X, problem.n_rows)
    if features is None:
        return None
    design = wrap(features, problem.y, problem.gram.weight)
    sums = normal_equations(design, problem.fit_intercept)
    return leave_one_out(design, problem.fit_intercept, sums, alphas).errors(alphas)


def predict_folds_in_features(
    problem: RidgeProblem, alphas: Array, splits: Sequence[tuple[Array, Array]]
) -> list[Array] | None:
    """Predictions of the test rows of each split, of shape (rows, targets, alphas).

    Return None if the kernel has too many features for the smallest training set.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        Positive penalties.
    splits : sequence of (train, test)
        Numbers of rows.
    """
    fewest = min(len(train) for train, _ in splits)
    features = few_features(problem.gram.kernel, problem.gram.X, fewest)
    if features is None:
        return None
    paths = fold_paths(
        wrap(features, problem.y, problem.gram.weight), splits, problem.fit_intercept, float(alphas.min())
    )
    found = []
    for (_, test), path in zip(splits, paths, strict=True):
        coef = path.coefficients(alphas)
        scores = predictions(Block(features[test], {}), coef, path.intercepts(coef))
        found.append(np.swapaxes(scores, 1, 2))
    return found
