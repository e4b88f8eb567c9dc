"""The Bayes error against closed forms, against itself by other means, and as a bound of models."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.stats import norm

from hiperplano import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, bayes_error
from hiperplano.errors import InvalidParameter


def test_two_gaussians_at_a_distance():
    for distance in (0.1, 1.0, 4.0):
        found = bayes_error([0.0, distance], 1.0)
        np.testing.assert_allclose(found.value, norm.cdf(-distance / 2), rtol=1e-10)
        assert "1 dimension" in found.method
    assert float(found) == found.value


def test_unequal_priors_and_costs():
    # Decide the second where (odds)·e^{2x−2} > cost ratio.
    cut = 1 + np.log(0.8 / 0.2 * 1.0 / 6.0) / 2
    expected = 0.8 * norm.sf(cut) + 6.0 * 0.2 * norm.cdf(cut - 2)
    found = bayes_error([0.0, 2.0], 1.0, [0.8, 0.2], costs=[[0, 6], [1, 0]])
    np.testing.assert_allclose(found.value, expected, rtol=1e-10)


def test_one_covariance_in_many_dimensions_is_one_line():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    covariance = root @ root.T + np.eye(6)
    means = rng.normal(size=(2, 6))
    away = means[1] - means[0]
    distance = np.sqrt(away @ np.linalg.solve(covariance, away))
    np.testing.assert_allclose(bayes_error(means, covariance).value, norm.cdf(-distance / 2), rtol=1e-9)


@pytest.mark.parametrize("spreads", [[1.0, 4.0], [1.0, 0.01], [2.0, 2.0]])
def test_unequal_variances_equal_quadrature(spreads):
    means, priors = [0.0, 0.7], [0.6, 0.4]

    def least(x):
        return min(p * norm.pdf(x, m, np.sqrt(s)) for p, m, s in zip(priors, means, spreads, strict=True))

    # Smooth between the roots of the difference of log densities, a quadratic in x.
    (p, q), (m, n), (s, t) = priors, means, spreads
    quadratic = [1 / t - 1 / s, 2 * m / s - 2 * n / t, n**2 / t - m**2 / s + 2 * np.log(p / q) + np.log(t / s)]
    roots = np.roots(np.trim_zeros(quadratic, "f"))
    edges = [-12.0, *np.sort(roots[np.isreal(roots)].real), 13.0]
    expected = sum(
        quad(least, a, b, points=[x for x in (m, n) if a < x < b] or None, epsabs=1e-13)[0] for a, b in pairwise(edges)
    )
    np.testing.assert_allclose(bayes_error(means, spreads, priors).value, expected, rtol=1e-9)


def test_planes_agree_with_monte_carlo():
    means = [[0.0, 0.0], [1.5, 0.5], [0.0, 2.0]]
    covariances = [np.eye(2), [[1.0, 0.6], [0.6, 2.0]], [[0.5, -0.2], [-0.2, 0.7]]]
    priors = [0.5, 0.3, 0.2]
    flat = bayes_error(means, covariances, priors)
    assert "2 dimensions" in flat.method
    assert flat.error < 1e-6
    # A third coordinate that all share says nothing, but leaves integration behind.
    deep = np.zeros((3, 3, 3))
    deep[:, :2, :2] = covariances
    deep[:, 2, 2] = 1.0
    drawn = bayes_error(np.column_stack([means, np.zeros(3)]), deep, priors, n_draws=300_000)
    assert "Monte Carlo" in drawn.method
    assert abs(drawn.value - flat.value) < 4 * drawn.error
    assert 0 < drawn.error < 1e-3


def test_three_corners_of_a_triangle():
    # Equal covariances: two dimensions, whatever the space; the error is 1 − P(nearest corner).
    corners = np.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)]]) * 1.3
    found = bayes_error(corners, np.eye(2))
    rng = np.random.default_rng(0)
    x = corners[0] + rng.normal(size=(400_000, 2))
    wrong = np.mean(((x[:, None] - corners) ** 2).sum(axis=2).argmin(axis=1) != 0)
    np.testing.assert_allclose(found.value, wrong, atol=4 * np.sqrt(wrong / 400_000))
    lifted = bayes_error(np.column_stack([corners, np.ones((3, 4))]), np.eye(6))
    np.testing.assert_allclose(lifted.value, found.value, rtol=1e-7)


def test_classes_of_several_components():
    # Positive at ±3, negative at 0: two cut-offs.
    found = bayes_error([-3.0, 0.0, 3.0], 1.0, [0.25, 0.5, 0.25], labels=[1, 0, 1])

    def least(x):
        return min(0.5 * norm.pdf(x), 0.25 * (norm.pdf(x, -3) + norm.pdf(x, 3)))

    np.testing.assert_allclose(found.value, 2 * quad(least, 0, 15, points=[1, 1.5, 2, 3], epsabs=1e-13)[0], rtol=1e-9)
    assert bayes_error([0.0, 1.0], 1.0, labels=[0, 0]).value == 0.0


def test_equal_components_leave_the_prior_decision():
    assert bayes_error([1.0, 1.0], 2.0, [0.7, 0.3]).value == pytest.approx(0.3)
    assert bayes_error([1.0, 1.0], 2.0, [0.7, 0.3], costs=[[0, 9], [1, 0]]).value == pytest.approx(0.7)


def test_not_deciding_bounds_the_cost():
    plain = bayes_error([0.0, 1.0], 1.0).value
    with_reject = bayes_error([0.0, 1.0], 1.0, costs=[[0, 1], [1, 0], [0.2, 0.2]]).value
    assert with_reject < min(plain, 0.2)


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()])
def test_no_model_is_better_than_bayes(model):
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [1.5, 1.0]])
    covariances = np.array([np.eye(2), [[2.0, 0.8], [0.8, 1.0]]])
    roots = np.linalg.cholesky(covariances)

    def sample(n):
        y = rng.integers(0, 2, n)
        return means[y] + np.einsum("nij,nj->ni", roots[y], rng.normal(size=(n, 2))), y

    best = bayes_error(means, covariances)
    X, y = sample(200_000)
    error = 1 - model.fit(*sample(5000)).score(X, y)
    interval = 3 * np.sqrt(error * (1 - error) / len(y))
    assert error > best.value - best.error - interval
    if isinstance(model, QuadraticDiscriminantAnalysis):
        assert error < best.value + 0.01  # it knows the right shape


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([0.0, 1.0], [1.0, 2.0, 3.0]), "one for each of the 2"),
        (([0.0, 1.0], -1.0), "positive definite"),
        (([[0.0, 0.0], [1.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (([0.0, 1.0], 1.0, [0.5, 0.6]), "sum to 1"),
    ],
)
def test_refusals(arguments, word):
    with pytest.raises(InvalidParameter, match=word):
        bayes_error(*arguments)


def test_refused_options():
    with pytest.raises(InvalidParameter, match="without gaps"):
        bayes_error([0.0, 1.0], 1.0, labels=[0, 2])
    with pytest.raises(InvalidParameter, match="no rows"):
        bayes_error([0.0, 1.0], 1.0, costs=np.zeros((5, 2, 2)))
    with pytest.raises(InvalidParameter, match="n_draws"):
        bayes_error([0.0, 1.0], 1.0, n_draws=1)


def test_a_table_of_outcomes_by_hand():
    """Two words, three classes: the sum of what the best decision gets wrong in each outcome."""
    table, priors = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]), np.array([0.5, 0.3, 0.2])
    joint = priors[:, None] * table
    found = bayes_error(table, priors=priors)
    assert found.value == pytest.approx(1 - joint.max(axis=0).sum())
    assert found.error == 0.0
    assert found.method == "sum over 3 outcomes"
    costs = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 1.0], [2.0, 2.0, 0.0]])
    best = min(
        sum(joint[k, x] * costs[rule[x], k] for k in range(3) for x in range(3)) for rule in product(range(3), repeat=3)
    )
    assert bayes_error(table, priors=priors, costs=costs).value == pytest.approx(best)


def test_simulation_agrees_with_integration_and_sums():
    two = [stats.norm(0, 1), stats.norm(2, 1)]
    found = bayes_error(two)
    assert abs(found.value - stats.norm.cdf(-1)) < 5 * found.error
    assert found.error < 2e-3
    gaussian = bayes_error([[0.0, 0.0], [1.0, 1.0]], np.stack([np.eye(2), 2 * np.eye(2)]), [0.3, 0.7])
    drawn = bayes_error(
        [stats.multivariate_normal([0, 0], np.eye(2)), stats.multivariate_normal([1, 1], 2 * np.eye(2))],
        priors=[0.3, 0.7],
    )
    assert abs(drawn.value - gaussian.value) < 5 * drawn.error
    counts = [stats.poisson(2), stats.poisson(5)]
    exact = bayes_error(np.array([one.pmf(np.arange(60)) for one in counts]))
    drawn = bayes_error(counts)
    assert abs(drawn.value - exact.value) < 5 * drawn.error
    # Two exponentials of rates 1.5 and 0.5, by hand: their densities cross at ln 3.
    drawn, cross = bayes_error([stats.expon(scale=1 / 1.5), stats.expon(scale=2.0)]), np.log(3)
    exact = 0.5 * (stats.expon(scale=2.0).cdf(cross) + stats.expon(scale=1 / 1.5).sf(cross))
    assert abs(drawn.value - exact) < 5 * drawn.error


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], "sum to 1"),
        ([[0.5, 0.5], [-0.5, 1.5]], "sum to 1"),
        ([0.5, 0.5], "one row for each class"),
        ([stats.norm(), stats.poisson(2)], "logpmf for all of them"),
        ([object(), object()], "rvs"),
    ],
)
def test_other_distributions_are_refused(given, told):
    with pytest.raises(InvalidParameter, match=told):
        bayes_error(given)
