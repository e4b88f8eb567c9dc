"""Firth's likelihood, recomputed in plain NumPy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import chdtrc, chdtri, expit, ndtri

from hiperplano import LogisticRegression, inference
from hiperplano.errors import ConvergenceWarning, InvalidData, InvalidParameter
from tests.golden import r_glm


def penalised(theta, rows, y, weight=1.0):
    """log-likelihood + ½·log det of the information."""
    score = rows @ theta
    p = expit(score)
    loglik = np.sum(weight * (y * score - np.logaddexp(0.0, score)))
    return loglik + 0.5 * np.linalg.slogdet((rows * (weight * p * (1 - p))[:, None]).T @ rows)[1]


def constrained_maximum(rows, y, j, value):
    """The largest penalised likelihood with coefficient j held at a value."""
    others = np.arange(rows.shape[1]) != j

    def loss(free):
        theta = np.empty(rows.shape[1])
        theta[others], theta[j] = free, value
        return -penalised(theta, rows, y)

    # Not concave: the best from several starts.
    tight = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20_000}
    starts = [np.full(others.sum(), level) for level in (0.0, 5.0, -5.0)] + [np.array([0.0, 6.0])[: others.sum()]]
    return max(-minimize(loss, start, method="Nelder-Mead", options=tight).fun for start in starts)


def small_sample(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + rng.logistic(size=n) > 0.3).astype(int)


SAMPLES = {
    "overlapping": small_sample,
    "separated": lambda: (r_glm("firth_separated_2d").x, r_glm("firth_separated_2d").y),
    "in part": lambda: (r_glm("firth_endometrial").x[:, :2], r_glm("firth_endometrial").y),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_maximum_and_its_profile(kind):
    X, y = SAMPLES[kind]()
    rows = np.column_stack([np.ones(len(y)), X])
    model = LogisticRegression(firth=True).fit(X, y)
    assert model.solution_.converged
    found = model.summary()
    best = penalised(found.coef, rows, y)
    np.testing.assert_allclose(model.solution_.penalised_loglik, best, rtol=1e-10)
    for j in range(rows.shape[1]):
        for shift in (-1e-3, 1e-3):
            moved = found.coef.copy()
            moved[j] += shift * max(1.0, abs(moved[j]))
            assert penalised(moved, rows, y) < best
        for end in (found.low[j], found.high[j]):
            if np.isfinite(end):
                drop = best - constrained_maximum(rows, y, j, end)
                np.testing.assert_allclose(drop, 0.5 * chdtri(1, 0.05), rtol=1e-5)
        expected = chdtrc(1, 2 * (best - constrained_maximum(rows, y, j, 0.0)))
        np.testing.assert_allclose(found.p[j], expected, rtol=1e-4, atol=1e-9)
    assert "profile" in found.notes[0]
    assert (found.low < found.coef).all()
    assert (found.coef < found.high).all()


def many_columns(kind):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 8))
    if kind == "rare events":
        X[:, 4:] = rng.random(size=(300, 4)) < 0.03
        return X, (X @ np.arange(1, 9) / 8 - 3.0 + rng.logistic(size=300) > 0).astype(int)
    return X, (X[:, 0] > 0).astype(int)


def score_of(theta, rows, y):
    """The derivative of `penalised`."""
    p = expit(rows @ theta)
    half = rows * np.sqrt(p * (1 - p))[:, None]
    leverage = np.einsum("ij,jk,ik->i", half, np.linalg.inv(half.T @ half), half)
    return rows.T @ (y - p + leverage * (0.5 - p))


def test_every_end_of_many_lies_where_the_likelihood_has_dropped():
    X, y = many_columns("rare events")
    rows = np.column_stack([np.ones(len(y)), X])
    found = LogisticRegression(firth=True).fit(X, y).summary()
    best = penalised(found.coef, rows, y)
    for j in range(9):
        others = np.arange(9) != j
        for end in (found.low[j], found.high[j]):

            def loss(free, j=j, others=others, end=end):
                theta = np.empty(9)
                theta[others], theta[j] = free, end
                return -penalised(theta, rows, y), -score_of(theta, rows, y)[others]

            # Not concave: the best from several starts.
            starts = [scale * found.coef[others] for scale in (0.3, 1.0, 1.7)]
            drop = best + min(minimize(loss, start, jac=True, options={"gtol": 1e-8}).fun for start in starts)
            np.testing.assert_allclose(drop, 0.5 * chdtri(1, 0.05), rtol=1e-8)


@pytest.mark.parametrize(("kind", "most"), [("rare events", 20), ("separated", 100)])
def test_intervals_take_few_looks_at_the_rows(kind, most):
    X, y = many_columns(kind)
    model = LogisticRegression(firth=True).fit(X, y)
    before = model.solution_.problem.passes
    model.summary()
    assert model.solution_.problem.passes - before < 9 * 3 * most  # coefficients, searches, passes


def test_the_whole_curvature():
    """Information and logdet_hessian together are the derivative of the score."""
    X, y = small_sample(2)
    problem = LogisticRegression(firth=True).fit(X, y, np.linspace(0.5, 2.0, len(y))).solution_.problem
    theta = np.array([0.3, -0.7, 0.5])
    here = problem.evaluate(theta)
    sides = [[problem.evaluate(theta + sign * 1e-5 * unit).score for sign in (1, -1)] for unit in np.eye(3)]
    expected = [(low - high) / 2e-5 for high, low in sides]
    np.testing.assert_allclose(here.information + problem.logdet_hessian(theta, here), expected, rtol=1e-7)


def test_narrower_levels_lie_inside():
    X, y = small_sample()
    model = LogisticRegression(firth=True).fit(X, y)
    wide, narrow = model.summary(0.99), model.summary(0.5)
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()


def test_less_biased_than_maximum_likelihood():
    """Samples of 60 rows, true slope 1: the mean of the estimates. (None of these samples is separated.)"""
    rng = np.random.default_rng(1)
    plain, reduced = [], []
    for _ in range(600):
        X = rng.normal(size=(60, 1))
        y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
        plain.append(LogisticRegression(C=np.inf).fit(X, y).coef_[0, 0])
        reduced.append(LogisticRegression(firth=True).fit(X, y).coef_[0, 0])
    error = np.std(reduced) / np.sqrt(len(reduced))
    assert abs(np.mean(reduced) - 1.0) < 4.5 * error  # (0.2 ± 1.1)·error over seeds, and
    assert 0.06 < np.mean(plain) - np.mean(reduced) < 0.085  # 0.072 ± 0.0014, more than 5·error


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_equal_repetition(fit_intercept):
    X, y = small_sample(3)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = LogisticRegression(firth=True, fit_intercept=fit_intercept).fit(X, y, times)
    repeated = LogisticRegression(firth=True, fit_intercept=fit_intercept)
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    left, right = weighted.summary(), repeated.summary()
    for key in ("coef", "se", "p", "low", "high"):
        np.testing.assert_allclose(getattr(left, key), getattr(right, key), rtol=1e-6)
    assert left.stats["n"] == times.sum()


def test_units_and_offsets():
    X, y = small_sample(4)
    expected = LogisticRegression(firth=True).fit(X, y).summary()
    found = LogisticRegression(firth=True).fit(X * [1e6, 1e-6] + [1e6, 0.0], y).summary()
    for key in ("se", "coef", "low", "high"):
        scaled = getattr(found, key)[1:] * [1e6, 1e-6]
        np.testing.assert_allclose(scaled, getattr(expected, key)[1:], rtol=1e-6)


def test_many_separated_rows_far_apart():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += 100.0 * (2 * y - 1)
    model = LogisticRegression(firth=True).fit(X, y)
    assert model.solution_.converged
    assert np.isfinite(model.summary().coef).all()
    assert (model.predict(X) == y).all()


def test_three_classes_are_refused():
    X, _ = small_sample()
    with pytest.raises(InvalidParameter, match="firth=True with 3 classes"):
        LogisticRegression(firth=True).fit(X, np.arange(40) % 3)


def test_too_few_steps():
    X, y = small_sample()
    with pytest.warns(ConvergenceWarning, match="largest score entry is .* Raise max_iter"):
        LogisticRegression(firth=True, max_iter=1).fit(X, y)


def test_robust_errors_and_no_ratio_of_likelihoods():
    X, y = small_sample()
    model = LogisticRegression(firth=True).fit(X, y)
    robust = inference(model, X, y, cov="HC0")
    assert np.isfinite(robust.se).all()
    np.testing.assert_allclose(robust.high, robust.coef + ndtri(0.975) * robust.se, rtol=1e-12)
    assert "p-values are Wald's" in robust.notes[0]
    assert np.isnan(model.summary().stats["lr_p"])


def test_inference_on_the_rows_of_the_fit_is_the_summary():
    X, y = small_sample()
    model = LogisticRegression(firth=True).fit(X, y)
    left, right = inference(model, X, y), model.summary()
    for key in ("se", "p", "low", "high"):
        np.testing.assert_allclose(getattr(left, key), getattr(right, key), rtol=1e-7)
    with pytest.raises(InvalidData, match=r"not at the maximum of Firth's likelihood of these rows.*cov='HC0'"):
        inference(model, X[:30], y[:30])


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 3e-7])
def test_nearly_dependent_columns(distance):
    """The likelihood does not know in which coordinates it is written."""
    X, y = small_sample(6, 60)
    near = np.column_stack([X, X[:, 0] + distance * np.random.default_rng(0).normal(size=60)])
    plain = near.copy()
    plain[:, 2] = (near[:, 2] - near[:, 0]) / distance
    expected, found = (LogisticRegression(firth=True).fit(rows, y) for rows in (plain, near))
    assert found.solution_.converged
    np.testing.assert_allclose(found.predict_proba(near), expected.predict_proba(plain), atol=1e-6)
    ours, theirs = found.summary(), expected.summary()
    np.testing.assert_allclose(ours.se[3] * distance, theirs.se[3], rtol=1e-2)
    np.testing.assert_allclose(ours.p[3], theirs.p[3], rtol=1e-2)
    np.testing.assert_allclose(ours.high[3] * distance, theirs.high[3], rtol=1e-2)


def test_dependent_columns_change_no_prediction():
    X, y = small_sample(7)
    expected = LogisticRegression(firth=True).fit(X, y)
    both = np.column_stack([X, X[:, 0] - X[:, 1]])
    model = LogisticRegression(firth=True).fit(both, y)
    assert model.solution_.converged
    np.testing.assert_allclose(model.predict_proba(both), expected.predict_proba(X), atol=1e-9)
    found, without = model.summary(), expected.summary()
    for key in ("se", "statistic", "p", "low", "high"):
        values = getattr(found, key)
        assert np.isnan(values[1:]).all()
        np.testing.assert_allclose(values[0], getattr(without, key)[0], rtol=1e-6)
    assert "coefficients of 'x0', 'x1', 'x2', since" in found.notes[0]
    assert found.stats["df"] == without.stats["df"]


def test_a_column_that_does_not_vary_has_no_interval():
    X, y = small_sample(7)
    expected = LogisticRegression(firth=True).fit(X, y).summary()
    found = LogisticRegression(firth=True).fit(np.column_stack([X, np.full(len(y), 3.0)]), y).summary()
    for key in ("coef", "se", "p", "low", "high"):
        np.testing.assert_allclose(getattr(found, key)[:3], getattr(expected, key), rtol=1e-6)
    assert np.isnan([found.se[3], found.p[3], found.low[3], found.high[3]]).all()


def test_no_coefficient_is_determined():
    X, y = small_sample(7)
    model = LogisticRegression(firth=True, fit_intercept=False).fit(X[:, [0, 0]], y)
    found = model.summary()
    assert np.isnan([found.se, found.p, found.low, found.high]).all()


def test_a_warm_start():
    X, y = small_sample()
    model = LogisticRegression(firth=True, warm_start=True).fit(X, y)
    coef, steps = model.coef_, model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ <= 1 < steps
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)


def test_ended_early():
    X, y = small_sample()
    with pytest.warns(ConvergenceWarning):
        found = LogisticRegression(firth=True, max_iter=1).fit(X, y).summary()
    assert np.isnan(found.p).all()
    assert "ended early" in found.notes[1]


@pytest.mark.parametrize("size", [1e-98, 1e98])
def test_intervals_of_a_column_of_any_size(size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.logistic(size=40) > 0).astype(int)
    expected = LogisticRegression(firth=True).fit(X, y).summary()
    found = LogisticRegression(firth=True).fit(X * [1.0, size], y).summary()
    for mine, true in ((found.low, expected.low), (found.high, expected.high)):
        np.testing.assert_allclose(mine * [1.0, 1.0, size], true, rtol=1e-9)
    np.testing.assert_allclose(found.p, expected.p, rtol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(70, 400), (70, 70), (70, 69), (30, 40)])
def test_with_a_coefficient_for_every_row_each_has_three_quarters(n, d):
    """log det of the information is then the sum of log p(1 − p), and log p + ½·log p(1 − p) is largest at 3/4."""
    rng = np.random.default_rng(0)
    X, y = rng.random((n, d)), rng.random(n) < 0.4
    model = LogisticRegression(firth=True).fit(X, y)
    own = model.predict_proba(X)[np.arange(n), y.astype(int)]
    np.testing.assert_allclose(own, 0.75, rtol=1e-8)
