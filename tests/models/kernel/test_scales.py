"""Kernel values that vanish between all rows, or that leave the range of float32 or float64."""

from __future__ import annotations

import numpy as np
import pytest

from hiperplano import SVC, KernelLogisticRegression, KernelRidge, KernelRidgeCV, NuSVR, OneClassSVM
from hiperplano.errors import InvalidData
from hiperplano.linalg.tiles.symmetric import SymmetricTiles
from hiperplano.solvers.kernel.ridge.folds.factors import factored

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def table(n, scale):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 5))
    return scale * x, x[:, 0] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("scale", [1e4, 1e20])
def test_columns_that_are_not_standardised_make_the_gram_matrix_an_identity(kernel, cv, scale):
    """Then (I + α)⁻¹·y are the coefficients, and every prediction of a row by others is 0."""
    x, y = table(1200, scale)
    model = KernelRidgeCV(kernel=kernel, cv=cv, scoring="neg_mean_squared_error").fit(x, y)
    np.testing.assert_allclose(model.dual_coef_, y / (1.0 + model.alpha_), rtol=1e-6)
    np.testing.assert_allclose(model.scores_, -np.mean(y**2), rtol=1e-6)


@pytest.mark.parametrize("model", [KernelRidge, KernelRidgeCV, KernelLogisticRegression, SVC, NuSVR, OneClassSVM])
@pytest.mark.parametrize("n", [60, 300])
def test_values_beyond_float64_are_refused(model, n):
    x, y = table(n, 1e60)
    target = y > 0 if model in (SVC, KernelLogisticRegression) else y
    with pytest.raises(InvalidData, match="beyond the range of float64"):
        model(kernel="poly", degree=3, gamma=1.0).fit(x, target)


@pytest.mark.parametrize("cv", [None, 3])
def test_features_whose_squares_vanish(cv):
    """(0.2·x·x′ + 1)² is 1 for rows this short: the best constant, up to the penalty."""
    x, y = table(300, 1e-60)
    model = KernelRidgeCV(kernel="poly", degree=2, cv=cv).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y.sum() / (300 + model.alpha_), rtol=1e-8)


def test_values_beyond_float32():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 60))
    matrix, right, alphas = 1e60 * (rows @ rows.T), rng.normal(size=(40, 2)), np.array([1e58, 1e60])
    found = factored(matrix, right, alphas, np.zeros((40, 2, 2)))
    for place, alpha in enumerate(alphas.tolist()):
        expected = np.linalg.solve(matrix / 1e60 + alpha / 1e60 * np.eye(40), right) / 1e60
        np.testing.assert_allclose(found[:, place], expected, rtol=1e-8)

    def fill(rows, columns, out):
        out[...] = matrix[rows, columns]

    assert np.isinf(SymmetricTiles(40, np.float64, fill).single.tile(0, 0)).any()
