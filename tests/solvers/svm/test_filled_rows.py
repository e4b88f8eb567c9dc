"""Sparse rows of which many numbers are stored, such as those of categories with few levels."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano import LinearSVC, LinearSVR
from hiperplano.solvers.svm.compiled import in_memory


@pytest.fixture(scope="module")
def categories():
    rng = np.random.default_rng(0)
    n, levels, count = 40_000, 2, 14
    columns = levels * np.arange(count) + rng.integers(levels, size=(n, count))
    X = sparse.csr_array((np.ones(n * count), columns.ravel(), np.arange(n + 1) * count), shape=(n, levels * count))
    return X, X @ rng.normal(size=levels * count) + rng.logistic(size=n)


def loss(model, X, y):
    if isinstance(model, LinearSVR):
        return np.abs(model.predict(X) - y)
    return np.maximum(0.0, 1.0 - np.where(y, 1.0, -1.0) * model.decision_function(X))


@pytest.mark.parametrize("kind", [LinearSVC, LinearSVR])
def test_newton_steps_are_taken_on_a_dense_copy(kind, categories, monkeypatch):
    X, y = categories
    y = y > 0 if kind is LinearSVC else y
    model = kind(loss="hinge", C=10.0) if kind is LinearSVC else kind(C=10.0)
    sums = in_memory.augmented_newton

    def on_dense_rows(design, *arguments, **named):
        assert not design.is_sparse
        return sums(design, *arguments, **named)

    monkeypatch.setattr(in_memory, "augmented_newton", on_dense_rows)
    model.fit(X, y)
    assert model.solution_.converged
    objective = 10.0 * loss(model, X, y).sum() + 0.5 * np.sum(model.coef_**2)
    np.testing.assert_allclose(model.solution_.objective, objective, rtol=1e-9)
    # The multipliers prove a bound that no plane can pass.
    beta = model.solution_.multipliers[0]
    assert abs(beta.sum()) < 1e-6 * np.abs(beta).sum()
    gains = np.abs(beta).sum() if kind is LinearSVC else beta @ y
    assert gains - 0.5 * np.sum((beta @ X) ** 2) >= (1.0 - 1.5e-4) * objective
    assert np.abs(beta).max() <= 10.0 * (1 + 1e-12)
