"""Sparse tables whose classes are nearly separated, with a large C and columns on unlike scales."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from hiperplano import LinearSVC


@pytest.mark.parametrize("seed", [0, 1])
def test_a_squared_hinge_ends_with_a_small_gap(seed):
    """Few rows change sides in a step of Newton's method, and it is given up for the interior point method."""
    rng = np.random.default_rng(seed)
    n, d = 1_081, 1_017
    X = sparse.random_array((n, d), density=0.04, format="csr", rng=rng, data_sampler=rng.standard_normal)
    y = X @ rng.normal(size=d) / np.sqrt(0.04 * d) + 0.5 * rng.logistic(size=n) > 0
    X = (X * 800.0 ** rng.uniform(0, 1, d)).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = LinearSVC(C=9.0).fit(X, y)
    sign, coef = np.where(y, 1.0, -1.0), model.coef_[0]
    slack = np.maximum(0.0, 1.0 - sign * model.decision_function(X))
    least = 0.5 * coef @ coef + 9.0 * slack @ slack
    beta = model.solution_.multipliers[0]
    assert (beta * sign >= 0).all()
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    bound = np.abs(beta).sum() - 0.5 * np.sum(np.square(beta @ X)) - beta @ beta / (4 * 9.0)
    assert bound <= least <= bound + 1.1e-4 * least
