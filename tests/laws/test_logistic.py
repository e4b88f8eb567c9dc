"""What must hold for every logistic fit, on tables drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.special import expit, softmax

from hiperplano import LogisticRegression

PENALTIES = st.sampled_from([0.01, 1.0, 100.0])
SOLVERS = st.sampled_from(["auto", "newton", "lbfgs"])


@st.composite
def tables(draw, most_classes=4):
    """Rows with columns of very different scales and offsets, some 0/1, and noisy classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, classes = draw(st.integers(30, 200)), draw(st.integers(1, 6)), draw(st.integers(2, most_classes))
    Z = rng.normal(size=(n, d))
    Z = np.where(rng.random(d) < 0.3, Z > 0, Z)
    scores = Z @ rng.normal(size=(d, classes)) * draw(st.sampled_from([0.1, 1.0])) + rng.gumbel(size=(n, classes))
    y = scores.argmax(axis=1)
    y[:classes] = np.arange(classes)
    scale = 10.0 ** draw(st.lists(st.integers(-4, 4), min_size=d, max_size=d).map(np.array))
    return Z * scale + draw(st.sampled_from([0.0, 1.0, 100.0])) * scale, y


def unit_gradient(X, y, weight, model):
    """Largest entry of the gradient of the mean loss with its penalty, columns centred and at unit spread."""
    coef, intercept = model.coef_, model.intercept_
    share = weight / weight.sum()
    scores = X @ coef.T + intercept
    if len(coef) == 1:
        residual = (expit(scores[:, 0]) - (y == model.classes_[1]))[:, None]
    else:
        residual = softmax(scores, axis=1) - (y[:, None] == model.classes_)
    residual *= share[:, None]
    mean = share @ X
    spread = np.sqrt(share @ np.square(X - mean))
    spread = np.where(spread > 1e-12 * np.abs(mean), spread, 1.0)
    slopes = ((X - mean) / spread).T @ residual + (coef / (model.C * weight.sum()) / spread).T
    return max(np.abs(slopes).max(), np.abs(residual.sum(axis=0)).max())


@given(tables(), PENALTIES, SOLVERS, st.booleans())
def test_the_gradient_vanishes(table, C, solver, weighted):
    X, y = table
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y)) if weighted else np.ones(len(y))
    model = LogisticRegression(C=C, solver=solver).fit(X, y, weight if weighted else None)
    assert model.solution_.converged
    assert unit_gradient(X, y, weight, model) <= 1e-8
    assert model.solution_.gradient_norm <= 1e-8


@given(tables(), PENALTIES, SOLVERS, st.booleans())
def test_weights_equal_repetition(table, C, solver, fit_intercept):
    X, y = table
    times = np.random.default_rng(1).integers(0, 4, len(y))
    assume(len(np.unique(y[times > 0])) == len(np.unique(y)))
    weighted = LogisticRegression(C=C, solver=solver, fit_intercept=fit_intercept).fit(X, y, times)
    repeated = LogisticRegression(C=C, solver=solver, fit_intercept=fit_intercept)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7, atol=1e-7)
    for key in ("loglik", "null_deviance", "bic", "df"):
        left, right = weighted.summary().stats[key], repeated.summary().stats[key]
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


@given(tables(), PENALTIES)
def test_the_order_of_classes_does_not_matter(table, C):
    X, y = table
    model = LogisticRegression(C=C).fit(X, y)
    turned = LogisticRegression(C=C).fit(X, -y)
    np.testing.assert_allclose(turned.predict_proba(X)[:, ::-1], model.predict_proba(X), atol=1e-9)
    words = LogisticRegression(C=C).fit(X, np.array([f"class {code}" for code in y]))
    np.testing.assert_allclose(words.coef_, model.coef_, rtol=1e-12)


@given(tables(), PENALTIES)
def test_the_order_of_rows_does_not_matter(table, C):
    X, y = table
    order = np.random.default_rng(2).permutation(len(y))
    model, shuffled = LogisticRegression(C=C).fit(X, y), LogisticRegression(C=C).fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.predict_proba(X), model.predict_proba(X), atol=1e-9)


@given(tables(), PENALTIES, SOLVERS, st.booleans())
def test_dense_equals_sparse(table, C, solver, fit_intercept):
    X, y = table
    X = np.where(np.random.default_rng(3).random(X.shape) < 0.5, X, 0.0)
    dense = LogisticRegression(C=C, solver=solver, fit_intercept=fit_intercept).fit(X, y)
    sparse = LogisticRegression(C=C, solver=solver, fit_intercept=fit_intercept).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("classes", [2, 3])
@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 1e6]), st.sampled_from([0.0, 1e6, -1e6]))
def test_units_and_offsets_change_no_unpenalised_prediction(solver, classes, seed, factor, offset):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    y = (X @ rng.normal(size=(4, classes)) * 0.5 + rng.gumbel(size=(300, classes))).argmax(axis=1)
    expected = LogisticRegression(C=np.inf, solver=solver).fit(X, y).predict_proba(X)
    scaled = X * [factor, 1.0, 1.0, 1.0]
    found = LogisticRegression(C=np.inf, solver=solver).fit(scaled, y).predict_proba(scaled)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    # An offset of 1e6 rounds the rows themselves by 1e-10 of their spread.
    moved = X + np.array([0.0, offset, 0.0, 0.0])
    found = LogisticRegression(C=np.inf, solver=solver).fit(moved, y).predict_proba(moved)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@settings(max_examples=25)
@given(tables(most_classes=2))
def test_firth_obeys_weights_units_and_sparsity(table):
    X, y = table
    model = LogisticRegression(firth=True).fit(X, y)
    assert model.solution_.converged
    times = np.random.default_rng(4).integers(1, 3, len(y))
    weighted = LogisticRegression(firth=True).fit(X, y, times)
    repeated = LogisticRegression(firth=True).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)
    sparse = LogisticRegression(firth=True).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(X), model.predict_proba(X), atol=1e-7)
    scaled = LogisticRegression(firth=True).fit(X * 1e3, y)
    np.testing.assert_allclose(scaled.predict_proba(X * 1e3), model.predict_proba(X), atol=1e-7)
