"""Kernel logistic regression and features of kernels."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.pipeline import make_pipeline

from hiperplano import KernelFeatures, KernelLogisticRegression, KernelRidge, LogisticRegression, Ridge, load, save
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.kernels import RBF, Laplacian, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
SCORE = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=150)
TWO, THREE = np.where(SCORE > 0, "yes", "no"), np.digitize(SCORE, [-0.5, 0.5])
WEIGHT = RNG.uniform(0.3, 2.0, size=150)
Z = RNG.normal(size=(10, 3))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_a_linear_kernel_is_logistic_regression(y):
    given = {"C": 3.0, "class_weight": "balanced"}
    model = KernelLogisticRegression(kernel="linear", **given).fit(X, y, WEIGHT)
    linear = LogisticRegression(**given).fit(X, y, WEIGHT)
    np.testing.assert_allclose(model.predict_proba(Z), linear.predict_proba(Z), atol=1e-7)
    np.testing.assert_array_equal(model.predict(Z), linear.predict(Z))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_no_function_has_a_lower_objective(y):
    """Against a minimiser that knows nothing of the structure, in the coefficients of all rows."""
    rows, y, weight, C = X[:50], y[:50], WEIGHT[:50], 2.0
    model = KernelLogisticRegression(C=C, kernel=RBF(0.4)).fit(rows, y, weight)
    _, codes = np.unique(y, return_inverse=True)
    K, k = RBF(0.4)(rows), 1 if codes.max() == 1 else 3

    def objective(flat):
        a, b = flat[: 50 * k].reshape(50, k), flat[50 * k :]
        scores = K @ a + b
        full = np.hstack([np.zeros((50, 1)), scores]) if k == 1 else scores
        logs = full - logsumexp(full, axis=1, keepdims=True)
        slope = np.exp(logs)
        slope[np.arange(50), codes] -= 1.0
        slope = C * weight[:, None] * slope[:, -k:]
        value = -C * weight @ logs[np.arange(50), codes] + 0.5 * np.sum(a * (K @ a))
        return value, np.concatenate([(K @ (slope + a)).ravel(), slope.sum(axis=0)])

    start = np.concatenate([model.dual_coef_.ravel(), model.intercept_])
    here = np.zeros_like(start)
    order = [int(np.flatnonzero((rows == centre).all(axis=1))[0]) for centre in model.X_fit_]
    here[: 50 * k].reshape(50, k)[order] = start[: len(start) - k].reshape(-1, k)
    here[50 * k :] = model.intercept_
    found = minimize(objective, np.zeros_like(here), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    assert objective(here)[0] <= found.fun * (1 + 1e-9)
    assert found.fun == pytest.approx(objective(here)[0], rel=1e-4)


def test_centres_and_what_they_cost():
    exact = KernelLogisticRegression(C=5.0, gamma=0.4).fit(X, TWO)
    rough = KernelLogisticRegression(C=5.0, gamma=0.4, n_components=25).fit(X, TWO)

    def objective(model):
        sign = np.where(TWO == "yes", 1.0, -1.0)
        a = model.dual_coef_
        losses = np.logaddexp(0.0, -sign * model.decision_function(X))
        return 5.0 * losses.sum() + 0.5 * a @ RBF(0.4)(model.X_fit_) @ a

    cost = (objective(rough) - objective(exact)) / objective(rough)
    assert 1e-4 < cost <= rough.solution_.approximation_cost + 1e-9
    assert exact.solution_.approximation_cost is None
    assert "exact" in exact.solution_.status


def test_precomputed_rows_without_weight_and_files(tmp_path):
    weight = np.where(np.arange(150) < 9, 0.0, WEIGHT)
    rows = KernelLogisticRegression(kernel=RBF(0.4)).fit(X, THREE, weight)
    given = KernelLogisticRegression(kernel="precomputed").fit(RBF(0.4)(X), THREE, weight)
    np.testing.assert_allclose(given.predict_proba(RBF(0.4)(Z, X)), rows.predict_proba(Z), atol=1e-6)
    np.testing.assert_allclose(
        KernelLogisticRegression(kernel=RBF(0.4)).fit(sparse.csr_array(X), THREE, weight).predict_proba(Z),
        rows.predict_proba(Z),
        atol=1e-6,
    )
    save(rows, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(Z), rows.predict_proba(Z))


def test_kernels_that_are_none_are_refused():
    with pytest.raises(InvalidData, match=r"tanh.*cannot be used. Not a Gram matrix"):
        KernelLogisticRegression(kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X, TWO)
    with pytest.raises(InvalidParameter, match="C must be"):
        KernelLogisticRegression(C=0.0).fit(X, TWO)


@pytest.mark.parametrize("kernel", [RBF(0.3), Laplacian(0.3)], ids=str)
def test_random_frequencies_give_the_kernel_on_average(kernel):
    """The error of n features falls as 1/√n: 16 times the features, a quarter of it."""
    errors = []
    for count in (200, 3200):
        found = [KernelFeatures(kernel, count, method="fourier", random_state=seed).fit(X) for seed in range(4)]
        errors.append(np.mean([features.error_ for features in found]))
        phi = found[0].transform(X)
        assert found[0].error_ == pytest.approx(np.linalg.norm(phi @ phi.T - kernel(X)) / np.linalg.norm(kernel(X)))
    assert 2.5 < errors[0] / errors[1] < 6.5
    assert errors[1] < 0.05


def test_the_features_of_rows_are_exact_where_the_rows_span_all():
    for kernel in (Linear(), Polynomial(2), RBF(0.3)):
        features = KernelFeatures(kernel, 150).fit(X)
        phi = features.transform(X)
        np.testing.assert_allclose(phi @ phi.T, kernel(X), atol=1e-6)
    assert KernelFeatures(Polynomial(2)).fit(X).n_components_ == 10  # monomials of 3 columns
    assert KernelFeatures("rbf").fit(X).error_ <= 0.05


def test_a_linear_model_of_features_is_the_kernel_machine():
    """Ridge on the features of all rows is kernel ridge."""
    machine = KernelRidge(0.5, kernel=RBF(0.3)).fit(X, SCORE)
    linear = make_pipeline(KernelFeatures(RBF(0.3), 150), Ridge(0.5, fit_intercept=False)).fit(X, SCORE)
    np.testing.assert_allclose(linear.predict(Z), machine.predict(Z), atol=1e-4)


def test_features_as_tables_and_in_files(tmp_path):
    for method in ("nystroem", "fourier"):
        features = KernelFeatures(n_components=7, method=method).set_output(transform="pandas").fit(X)
        table = features.transform(Z)
        assert isinstance(table, pd.DataFrame)
        assert list(table) == [f"kernelfeatures{k}" for k in range(7)]
        assert features.set_output(transform="default").transform(Z.astype(np.float32)).dtype == np.float32
        save(features, tmp_path / "features.skops")
        np.testing.assert_array_equal(load(tmp_path / "features.skops").transform(Z), features.transform(Z))
        np.testing.assert_allclose(features.transform(sparse.csr_array(Z)), features.transform(Z), atol=1e-9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_components": 0}, "n_components must be a whole number of 1 or more, or 'auto'"),
        ({"method": "orthogonal"}, "method must be one of"),
        ({"kernel": "poly", "method": "fourier"}, "frequencies are known for 'rbf' and 'laplacian'"),
    ],
)
def test_refusals_of_features(given, said):
    with pytest.raises(InvalidParameter, match=said):
        KernelFeatures(**given).fit(X)
