"""Dual coordinate ascent against LIBSVM, which leaves the intercept without a penalty, too."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC, SVR

from hiperplano import LinearSVC, LinearSVR

SEEDS = range(3)


def sparse_rows(n, d, density, seed):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density, format="csr", random_state=seed)
    return X, X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)


def objective(model, X, loss, C):
    coef = np.ravel(model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_)
    return 0.5 * coef @ coef + C * loss(X @ coef + model.intercept_).sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_over_relaxation_spares_passes_over_correlated_rows(seed):
    """Steps to the maximum of each dual variable, and no further, take 118 passes."""
    X, y = sparse_rows(600, 1000, 0.02, seed)
    model = LinearSVR(C=10.0, solver="dual").fit(X, y)
    reference = SVR(kernel="linear", C=10.0, epsilon=0.0, tol=1e-8).fit(X, y)
    ours, best = (objective(m, X, lambda score: np.abs(y - score), 10.0) for m in (model, reference))
    assert model.n_iter_ < 100
    assert best * (1 - 1e-6) <= ours <= best * (1 + 1e-4)


@pytest.mark.parametrize("share", [0.5, 0.3, 0.05])
@pytest.mark.parametrize("seed", SEEDS)
def test_dual_variables_balance_where_all_are_at_their_bounds(share, seed):
    X, score = sparse_rows(400, 50, 0.05, seed)
    sign = np.where(score > np.quantile(score, 1 - share), 1.0, -1.0)
    model = LinearSVC(loss="hinge", C=1e-3, solver="dual").fit(X, sign)
    reference = SVC(kernel="linear", C=1e-3, tol=1e-8).fit(X, sign)
    ours, best = (objective(m, X, lambda score: np.maximum(0, 1 - sign * score), 1e-3) for m in (model, reference))
    beta = model.solution_.multipliers[0]
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert (sign * beta).min() >= 0
    assert (sign * beta).max() <= 1e-3
    assert best * (1 - 1e-6) <= ours <= best * (1 + 1e-4)
