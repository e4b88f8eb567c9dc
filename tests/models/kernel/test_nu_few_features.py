"""Machines with a share nu and a kernel of few features: planes, with the answer that the Gram matrix gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from hiperplano import SVC, SVR, NuSVC, NuSVR
from hiperplano.errors import ConvergenceWarning
from hiperplano.kernels import Linear, Polynomial

KERNELS = [Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0), Polynomial(degree=2, gamma=0.3) + 0.5 * Linear()]


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    score = x[:, 0] - x[:, 1] + 0.5 * x[:, 2] ** 2
    return x, score + rng.normal(size=n), rng.uniform(0.2, 2.0, size=n)


@pytest.mark.parametrize("nu", [0.5, 0.8])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_classifier_agrees_with_smo_on_the_gram_matrix(kernel, nu):
    x, target, weight = table()
    y = target > 0.2
    model = NuSVC(kernel=kernel, nu=nu, tol=1e-9).fit(x, y, sample_weight=weight)
    other = NuSVC(kernel="precomputed", nu=nu, tol=1e-9).fit(kernel(x), y, sample_weight=weight)
    assert "features" in str(model.solution_.method)
    assert "SMO" in str(other.solution_.method)
    scores = other.decision_function(kernel(x))
    np.testing.assert_allclose(model.decision_function(x), scores, atol=1e-6 * np.abs(scores).max())
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.solution_.objective, other.solution_.objective, rtol=1e-7)


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_regressor_agrees_with_smo_on_the_gram_matrix(kernel, nu):
    x, target, weight = table()
    target = 1e4 + target
    model = NuSVR(kernel=kernel, C=0.5, nu=nu, tol=1e-7).fit(x, target, sample_weight=weight)
    other = NuSVR(kernel="precomputed", C=0.5, nu=nu, tol=1e-7).fit(kernel(x), target, sample_weight=weight)
    assert "features" in str(model.solution_.method)
    assert "SMO" in str(other.solution_.method)
    np.testing.assert_allclose(model.predict(x), other.predict(kernel(x)), atol=1e-6)
    np.testing.assert_allclose(model.epsilon_, other.epsilon_, atol=1e-7)
    np.testing.assert_allclose(model.solution_.dual_objective, other.solution_.dual_objective, rtol=1e-6)


def test_several_classes_agree_with_smo_on_the_gram_matrix():
    """A distant class, which SMO separates in few steps, and others that overlap."""
    x, y = make_blobs(900, 3, centers=4, cluster_std=3.0, random_state=0)
    x[y == 3] += 100.0
    model, other = NuSVC(kernel="linear", nu=0.7, tol=1e-8), NuSVC(kernel="precomputed", nu=0.7, tol=1e-8)
    for one, rows in ((model, x), (other, x @ x.T)):
        one.set_params(decision_function_shape="ovo").fit(rows, y)
    np.testing.assert_allclose(model.decision_function(x), other.decision_function(x @ x.T), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(model.support_, other.support_)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("n", [200, 1500])
def test_columns_of_any_scale(scale, n):
    """Each is the machine with the C or ε that was found; SMO takes millions of steps here."""
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(size=(n, 5)))
    target = np.log(x).sum(axis=1) + rng.normal(size=n)
    x *= scale * np.array([1.0, 1.0, 1.0, 0.01, 1e-4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tube = NuSVR(kernel="linear", nu=0.4).fit(x, target)
        share = NuSVC(kernel="linear", nu=0.6).fit(x, target > 0)
    same = SVR(kernel="linear", epsilon=tube.epsilon_).fit(x, target)
    np.testing.assert_allclose(tube.predict(x), same.predict(x), atol=1e-3 * np.ptp(target))
    beyond = np.abs(target - tube.predict(x)) > tube.epsilon_ + 2e-3
    assert beyond.mean() <= 0.4 <= len(tube.support_) / n
    same = SVC(kernel="linear", C=float(np.abs(share.dual_coef_).max())).fit(x, target > 0)
    np.testing.assert_allclose(share.decision_function(x), same.decision_function(x), atol=5e-3)


def test_a_unit_of_the_columns_does_not_matter_to_classes():
    """f/ρ has no unit; SMO finds no margin above `tol` if columns are short."""
    x, target, _ = table(800)
    one = NuSVC(kernel="linear", nu=0.6).fit(x, target > 0)
    for unit in (1e-4, 1e4):
        other = NuSVC(kernel="linear", nu=0.6).fit(unit * x, target > 0)
        np.testing.assert_allclose(other.decision_function(unit * x), one.decision_function(x), atol=1e-5)


@pytest.mark.parametrize("n", [300, 700, 1200])
def test_a_share_without_a_margin_is_said(n):
    x, target, _ = table(n)
    with pytest.warns(ConvergenceWarning, match="leaves no margin"):
        model = NuSVC(kernel="linear", nu=0.2).fit(x, target + 3.0 * x[::-1, 0] > 0)
    assert np.isfinite(model.decision_function(x)).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("nu", [0.01, 0.05])
def test_a_share_of_few_rows_without_a_margin_is_said(nu, seed):
    """All dual variables may end at their bounds, so that no free ones are left to solve for."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(560, 2))
    y = x[:, 0] + rng.normal(size=560) > 0
    with pytest.warns(ConvergenceWarning, match="leaves no margin"):
        NuSVC(kernel="linear", nu=nu).fit(x, y)


def test_degenerate_tables():
    x, target, _ = table()
    constant = NuSVR(kernel="linear").fit(x, np.full(len(x), 3.0))
    np.testing.assert_allclose(constant.predict(x), 3.0, atol=1e-9)
    same_rows = NuSVR(kernel="linear", nu=0.4).fit(np.ones_like(x), target)
    np.testing.assert_allclose(same_rows.predict(x[:1] * 0.0 + 1.0), same_rows.intercept_, atol=1e-3)
    plane = x @ [1.0, 2.0, 0.0, -1.0]
    np.testing.assert_allclose(NuSVR(kernel="linear", C=1e3).fit(x, plane).predict(x), plane, atol=2e-3)
    again = NuSVC(kernel="linear", nu=0.6).fit(np.repeat(x[:20], 30, axis=0), np.repeat(target[:20] > 0, 30))
    assert again.solution_.converged
