"""Ridge by conjugate gradients where some rows tell that they take few steps: large penalties, unrelated columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from hiperplano import Ridge
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import InvalidData, NotAvailable
from hiperplano.solvers.least_squares.conjugate import conjugate_least_squares, expected_steps


def _rows(n, d, kind, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    if kind == "factor":
        x = 0.3 * x + rng.normal(size=(n, 1))
    if kind == "chain":
        for j in range(1, d):
            x[:, j] = 0.9 * x[:, j - 1] + 0.4 * x[:, j]
    if kind == "far":
        x = (x + 5.0) * np.exp(rng.uniform(-3, 3, size=d))
    if kind == "sparse":
        x = csr_array(random_array((n, d), density=0.1, rng=rng, data_sampler=rng.standard_normal))
    y = x @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n) + 3.0
    return x, y, rng.uniform(0.2, 3.0, size=n)


def _reference(x, y, weight, alpha):
    """By the normal equations of all rows, in float64."""
    x = x.toarray() if not isinstance(x, np.ndarray) else x
    mean, level = np.average(x, axis=0, weights=weight), np.average(y, weights=weight)
    apart = x - mean
    coef = np.linalg.solve(
        apart.T @ (weight[:, None] * apart) + alpha * np.eye(x.shape[1]), apart.T @ (weight * (y - level))
    )
    return coef, level - mean @ coef


@pytest.mark.parametrize("kind", ["plain", "factor", "chain", "far", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_penalties_take_few_steps_and_lose_no_digits(kind, weighted):
    x, y, weight = _rows(2500, 400, kind, seed=1)
    weight = weight if weighted else np.ones(len(y))
    squares = (x.multiply(x) if kind == "sparse" else x**2).sum(axis=0)
    alpha = 50.0 * float(np.max(squares))
    model = Ridge(alpha).fit(x, y, sample_weight=weight if weighted else None)
    assert str(model.solution_.method) == "conjugate gradients"
    coef, intercept = _reference(x, y, weight, alpha)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=3e-10 * np.abs(coef).max())
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-9)


@pytest.mark.parametrize("kind", ["plain", "factor", "chain", "sparse"])
@pytest.mark.parametrize("share", [0.01, 1.0, 30.0])
def test_some_rows_tell_how_many_steps_there_will_be(kind, share):
    x, y, _ = _rows(2500, 300, kind, seed=2)
    design, alpha = InMemory(x, y[:, None]), share * 2500.0 * (0.1 if kind == "sparse" else 1.0)
    steps = conjugate_least_squares(design, alpha=np.array([alpha]), tol=1e-10, max_iter=3000).n_iter
    expected = expected_steps(design, alpha, True, 1e-10, most=np.inf)
    assert 0.5 * steps - 2 <= expected <= 2.0 * steps + 2


@pytest.mark.parametrize(("correlation", "alpha"), [(0.99, 40.0), (0.9, 400.0)])
def test_a_common_factor_of_the_columns_does_not_rule_steps_out(correlation, alpha):
    """It takes one step. Columns without one, but with the same sums of squares, would need more than 20."""
    rng = np.random.default_rng(5)
    x = np.sqrt(1 - correlation) * rng.normal(size=(400, 300)) + np.sqrt(correlation) * rng.normal(size=(400, 1))
    design = InMemory(x, x[:, :1] + rng.normal(size=(400, 1)))
    steps = conjugate_least_squares(design, alpha=np.array([alpha]), tol=1e-10, max_iter=300).n_iter
    assert 0.5 * steps <= expected_steps(design, alpha, True, 1e-10, most=20.0) <= 20.0
    plain = InMemory(rng.normal(size=(400, 300)), design.y)
    assert expected_steps(plain, alpha, True, 1e-10, most=20.0) > 20.0


def test_columns_that_depend_on_each_other_keep_their_factor():
    x, y, _ = _rows(2500, 300, "factor", seed=3)
    assert "normal equations" in str(Ridge(0.1).fit(x, y).solution_.method)


def test_standard_errors_stay_at_hand_where_columns_are_few_and_have_a_remedy_elsewhere():
    x, y, _ = _rows(3000, 400, "plain", seed=4)
    few = Ridge(1e6).fit(x[:, :128], y).summary()
    assert len(few.se) == 129
    with pytest.raises(NotAvailable, match="Set solver='gram' and fit again"):
        Ridge(1e6).fit(x, y).summary()
    assert len(Ridge(1e6, solver="gram").fit(x, y).summary().se) == 401


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_named_whatever_way_was_expected(bad):
    x, y, _ = _rows(2500, 300, "plain", seed=5)
    x[:, 0] = bad  # among the columns that are looked at
    with pytest.raises(InvalidData, match="column 0"):
        Ridge(1e6).fit(x, y)
    x, y, _ = _rows(2500, 300, "plain", seed=5)
    x[1234, 7] = bad
    with pytest.raises(InvalidData, match="row 1234, column 7"):
        Ridge(1e6).fit(x, y)


@pytest.mark.parametrize(
    ("n", "d", "length", "alpha", "span", "most"),
    [(2500, 6000, 20, 20.0, False, 40), (900, 9000, 20, 0.1, True, 70), (4000, 6000, 100, 0.01, True, 450)],
)
def test_words_take_few_steps(n, d, length, alpha, span, most):
    """With fewer texts than words, products of rows are nearly singular.

    They would take 130, 260 and over 1,000 steps, and columns of unit length 670 in the last case.
    """
    rng = np.random.default_rng(6)
    words = np.minimum(rng.zipf(1.3, size=(n, length)), d) - 1
    counts = csr_array((np.ones(words.size), words.ravel(), np.arange(n + 1) * length), shape=(n, d))
    counts.sum_duplicates()
    y = np.column_stack([counts @ rng.normal(size=d) + rng.normal(size=n) for _ in range(2)])
    solution = Ridge(alpha).fit(counts, y).solution_
    assert ("span of the rows" in str(solution.method)) == span
    assert solution.n_iter <= 2 * most
    apart = counts.toarray() - counts.mean(axis=0)
    coef = np.linalg.solve(apart @ apart.T + alpha * np.eye(n), y - y.mean(axis=0)).T @ apart
    error = np.linalg.norm(solution.coef - coef) / np.linalg.norm(coef)
    assert error <= min(1e-7, 10.0**-solution.digits)
