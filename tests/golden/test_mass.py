"""Discriminants against R's MASS on iris."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hiperplano import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

MASS = json.loads((Path(__file__).parent / "mass_iris.json").read_text())


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_lda_equals_mass(iris):
    X, y = iris
    golden = MASS["lda"]
    model = LinearDiscriminantAnalysis(unbiased=True).fit(X, y)
    scaling = np.array(golden["scaling"])
    signs = np.sign((scaling * model.scalings_).sum(axis=0))
    np.testing.assert_allclose(model.means_, golden["means"], rtol=1e-14)
    np.testing.assert_allclose(model.scalings_ * signs, scaling, rtol=1e-11)
    np.testing.assert_allclose(model.explained_variance_ratio_, golden["prop_trace"], rtol=1e-12)
    # MASS reports √(between/within) in mean squares: λ·(n − K)/(K − 1).
    np.testing.assert_allclose(np.sqrt(model.axes().eigenvalues * 147 / 2), golden["svd"], rtol=1e-12)
    np.testing.assert_allclose(model.transform(X)[golden["rows"]] * signs, golden["x"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[golden["rows"]], golden["posterior"], rtol=1e-8)
    np.testing.assert_allclose(1 - model.score(X, y), golden["train_error"], rtol=1e-12)


def test_qda_equals_mass(iris):
    X, y = iris
    golden = MASS["qda"]
    model = QuadraticDiscriminantAnalysis(unbiased=True).fit(X, y)
    np.testing.assert_allclose(model.solution_.log_det, golden["ldet"], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[golden["rows"]], golden["posterior"], rtol=1e-8)
    np.testing.assert_allclose(1 - model.score(X, y), golden["train_error"], rtol=1e-12)
    for covariance, scaling in zip(model.covariance_, golden["scaling"], strict=True):
        np.testing.assert_allclose(np.transpose(scaling) @ covariance @ scaling, np.eye(4), atol=1e-12)
