"""Solvers of one problem agree, with each other and with a solution in many digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import null_space

from hiperplano import LinearRegression, Ridge
from tests.exact import Problem, digits, scaled_digits
from tests.registry import SOLVERS


def spread(X, fit_intercept=True):
    return X.std(axis=0) if fit_intercept else np.sqrt(np.mean(X**2, axis=0))


TABLES = {
    "plain": lambda X: X,
    "units apart": lambda X: X * [1e-6, 1.0, 1e3, 1e9],
    "far from 0": lambda X: np.round(X * 8) / 8 + np.array([1e3, -1e6, 0.0, 50.0]),
    "very far from 0": lambda X: np.round(X * 8) + np.array([1e12, 0.0, -1e12, 1e11]),
    "correlated": lambda X: X @ (np.eye(4) + 3.0),
    "nearly dependent": lambda X: np.column_stack([X[:, :3], X[:, 0] + 1e-5 * X[:, 3]]),
    "nearly dependent and far from 0": lambda X: np.column_stack(
        [np.round(X[:, 0] * 8) + 1e12, X[:, 1:3], X[:, 1] + 1e-4 * X[:, 3]]
    ),
    "polynomial": lambda X: np.vander(X[:, 0], 5)[:, :4],
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_direct_solvers_have_the_digits_they_claim(kind, solver, weighted, fit_intercept):
    rng = np.random.default_rng(0)
    X = TABLES[kind](rng.normal(size=(40, 4)))
    y = rng.normal(size=40) + X[:, 0] / X[:, 0].std() + 3
    weight = rng.uniform(0.1, 2.0, 40) if weighted else None
    model = LinearRegression(solver=solver, fit_intercept=fit_intercept).fit(X, y, weight)
    coef, intercept = Problem(X, y, weight, fit_intercept=fit_intercept).solve()
    claimed = model.solution_.digits
    assert scaled_digits(model.coef_, coef, X) >= claimed - 1
    assert scaled_digits(model.coef_, coef, X) >= 12
    if fit_intercept:
        assert digits(model.intercept_, intercept) >= 11


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("alpha", [1e-12, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_ridge_has_the_digits_it_claims(kind, alpha, solver):
    rng = np.random.default_rng(1)
    X = TABLES[kind](rng.normal(size=(40, 4)))
    y = rng.normal(size=40) + X[:, 0] / X[:, 0].std() + 3
    model = Ridge(alpha=alpha, solver=solver).fit(X, y)
    coef, _ = Problem(X, y, alpha=alpha).solve()
    assert scaled_digits(model.coef_, coef, X) >= min(model.solution_.digits - 1, 12)


@pytest.mark.parametrize("kind", ["plain", "units apart", "far from 0", "very far from 0", "correlated"])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_conjugate_gradients_have_the_digits_they_claim(kind, rows):
    rng = np.random.default_rng(2)
    X = TABLES[kind](rng.normal(size=(40, 4)))
    y = rng.normal(size=40) + 3
    if rows is sparse.csr_array and kind == "very far from 0":
        X = TABLES["far from 0"](rng.normal(size=(40, 4)))  # stored rows are never shifted: too far for their digits
    model = LinearRegression(solver="cg", tol=1e-9).fit(rows(X), y)
    assert scaled_digits(model.coef_, Problem(X, y).solve()[0], X) >= model.solution_.digits - 1
    assert model.solution_.digits >= 8


def test_conjugate_gradients_admit_what_far_columns_cost_in_sparse_rows():
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(60, 2)) * 8) + np.array([1e10, 0.0])
    y = rng.normal(size=60) + X[:, 1]
    model = LinearRegression(solver="cg", tol=1e-4).fit(sparse.csr_array(X), y)
    true = Problem(X, y).solve()[0]
    assert scaled_digits(model.coef_, true, X) >= model.solution_.digits - 1
    assert model.solution_.digits < 7


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(8, 60),
    d=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 1e-2, 10.0]),
    fit_intercept=st.booleans(),
    density=st.sampled_from([None, 0.3, 1.0]),
)
def test_solvers_agree(seed, n, d, alpha, fit_intercept, density):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d) + rng.normal(size=d)
    X = X if density is None else X * (rng.uniform(size=X.shape) < density)
    y, weight = rng.normal(size=n) + 2, rng.uniform(0.5, 2.0, n)
    rows = X if density is None else sparse.csr_array(X)
    models = [
        Ridge(alpha=alpha, solver=solver, fit_intercept=fit_intercept, tol=1e-12).fit(rows, y, weight)
        for solver in SOLVERS
    ]
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    for model in models[1:]:
        scale = max(1.0, np.abs(models[0].coef_ * size).max())
        np.testing.assert_allclose(model.coef_ * size, models[0].coef_ * size, atol=1e-7 * scale)
        np.testing.assert_allclose(model.predict(X), models[0].predict(X), atol=1e-7 * scale)
        assert model.solution_.objective == pytest.approx(models[0].solution_.objective, rel=1e-8)
        np.testing.assert_allclose(model.solution_.rss, models[0].solution_.rss, rtol=1e-7)
        np.testing.assert_allclose(model.solution_.tss, models[0].solution_.tss, rtol=1e-9)


DEPENDENT = {
    "copy": lambda X: np.column_stack([X, X[:, 1]]),
    "sum": lambda X: np.column_stack([X, X[:, 0] + X[:, 1] - X[:, 2]]),
    "two relations": lambda X: np.column_stack([X, X[:, 0] * 3, X[:, 1] - X[:, 2]]),
    "with a constant first": lambda X: np.column_stack([np.full(len(X), 7.0), X, X[:, 1] * 2]),
    "with a constant between": lambda X: np.column_stack([X[:, :1], np.full(len(X), 0.1), X[:, 1:], X[:, 0] + X[:, 1]]),
    "far from 0": lambda X: np.round(X[:, [0, 1, 2, 0]] * 8) + np.array([1e9, 5.0, 0.0, -1e9]),
    "one-hot": lambda X: np.column_stack([X[:, :1], np.eye(3)[np.arange(len(X)) % 3]]),
}


# Without an intercept a shifted target is another one, and columns with a constant among them have other relations.
DEPENDENT_CASES = [(kind, True, offset) for kind in DEPENDENT for offset in (0.0, 1e9)] + [
    (kind, False, 0.0) for kind in ("copy", "sum", "two relations", "with a constant between")
]


@pytest.mark.parametrize(("kind", "fit_intercept", "offset"), DEPENDENT_CASES)
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_dependent_columns_give_the_shortest_solution(kind, solver, fit_intercept, offset):
    """NumPy's pseudo-inverse of the centred rows."""
    X = DEPENDENT[kind](np.random.default_rng(0).normal(size=(30, 3)))
    y = np.round(np.random.default_rng(1).normal(size=30) * 2**10) / 2**10
    centred, target = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    expected = np.linalg.pinv(centred, rcond=1e-12) @ target
    model = LinearRegression(solver=solver, fit_intercept=fit_intercept).fit(X, y + offset)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-11 * np.abs(expected).max())
    assert model.rank_ == np.linalg.matrix_rank(centred, rtol=1e-12)
    assert "minimum-norm" in model.solution_.status
    predicted = centred @ expected + (y.mean() if fit_intercept else 0.0) + offset
    rounding = 4e-16 * (np.abs(X) @ np.abs(expected)).max()
    np.testing.assert_allclose(model.predict(X), predicted, rtol=1e-9, atol=rounding)


@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("ratio", [1.0, 1e6, 1e12, 1e18, 1e90])
def test_short_columns_do_not_drown_beside_long_dependent_ones(solver, ratio):
    """A rate beside two dependent timestamps: what one says of the target has nothing to do with the others."""
    rng = np.random.default_rng(0)
    time, rate = rng.normal(size=50) * ratio, rng.normal(0.3, 0.1, 50)
    y = 5 * rate + 3 * time / ratio + 0.1 * rng.normal(size=50)
    alone = LinearRegression().fit(np.column_stack([time, rate]), y)
    model = LinearRegression(solver=solver).fit(np.column_stack([time, 2 * time, rate]), y)
    assert model.coef_[2] == pytest.approx(alone.coef_[1], rel=1e-11)
    np.testing.assert_allclose(model.coef_[:2], alone.coef_[0] * np.array([0.2, 0.4]), rtol=1e-11)


WIDE_SCALES = {
    "one size": np.ones(9),
    "one long": np.r_[1e7, np.ones(8)],
    "one very long": np.r_[1e20, np.ones(8)],
    "many sizes": np.logspace(-8, 8, 9),
    "large": np.full(9, 1e95),
    "small": np.full(9, 1e-95),
}


@pytest.mark.parametrize("kind", WIDE_SCALES)
@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_fewer_rows_than_columns_give_the_shortest_solution(kind, solver, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 9)) * WIDE_SCALES[kind]
    y = rng.normal(size=5)
    expected = Problem(X, y).shortest()
    model = LinearRegression(solver=solver).fit(rows(X), y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-11)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert model.rank_ == 4
    assert "minimum-norm" in model.solution_.status


@pytest.mark.parametrize("kind", WIDE_SCALES)
@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
def test_wide_ridge_is_right_whatever_the_scales(kind, alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 9)) * WIDE_SCALES[kind]
    y, weight = rng.normal(size=5), rng.uniform(0.5, 2.0, 5)
    coef, intercept = Problem(X, y, weight, alpha).solve()
    for solver in ("auto", "gram", "qr"):
        model = Ridge(alpha=alpha, solver=solver).fit(X, y, weight)
        size = np.hypot(np.abs(X).max(axis=0), np.sqrt(alpha))  # of a column with its penalty
        np.testing.assert_allclose(model.coef_ * size, coef * size, atol=1e-12 * np.abs(coef * size).max())
        assert model.intercept_ == pytest.approx(intercept, rel=1e-9)


def test_rows_that_contradict_each_other_are_fitted_in_the_middle():
    """Fewer rows than columns, and still no exact fit."""
    X = np.array([[1.0, 2.0, 0.0, 1.0], [1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 3.0, -1.0]])
    y = np.array([1.0, 3.0, -2.0])
    for solver in ("auto", "gram", "qr"):
        model = LinearRegression(solver=solver).fit(X, y)
        np.testing.assert_allclose(model.predict(X), [2.0, 2.0, -2.0], atol=1e-12)
        np.testing.assert_allclose(model.coef_, np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean()), atol=1e-12)
        assert model.solution_.rss == pytest.approx(2.0)
        assert model.rank_ == 1


@pytest.mark.parametrize("shape", [(6, 10), (40, 5)])
def test_conjugate_gradients_give_the_shortest_in_units_of_spread(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * np.logspace(0, 3, shape[1])
    X[:, -1] = X[:, 0] - X[:, 1]
    y = rng.normal(size=shape[0])
    unit = X / X.std(axis=0)
    expected = np.linalg.pinv(unit - unit.mean(axis=0), rcond=1e-10) @ (y - y.mean())
    model = LinearRegression(solver="cg", tol=1e-13).fit(X, y)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), expected, atol=1e-9)
    direct = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), direct.predict(X), atol=1e-9)


@pytest.mark.parametrize("penalty", [0.0, 1e-300, 1e-30])
def test_a_penalty_too_small_to_be_seen_leaves_the_shortest_solution(penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X = np.column_stack([X, X[:, 0]])
    y = rng.normal(size=40)
    expected = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-12) @ (y - y.mean())
    np.testing.assert_allclose(Ridge(alpha=penalty).fit(X, y).coef_, expected, atol=1e-12)


@pytest.mark.parametrize("alpha", [1e-16, 1e-12, 1e-8])
def test_a_small_penalty_makes_dependent_columns_unique(alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X = np.column_stack([X, X[:, 0]])
    y = rng.normal(size=40)
    model = Ridge(alpha=alpha).fit(X, y)
    assert digits(model.coef_, Problem(X, y, alpha=alpha).solve()[0]) >= 9


@pytest.mark.parametrize("solver", ["gram", "qr", "cg"])
def test_rank_does_not_depend_on_columns_elsewhere(solver):
    """A column far from 0 blurs relations it takes part in, and no others."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    X = np.column_stack([np.round(rng.normal(size=200) * 10) + 1e12, a, a + 1e-4 * rng.normal(size=200)])
    y = 2 * X[:, 1] - X[:, 2] + 0.1 * rng.normal(size=200)
    model = LinearRegression(solver=solver).fit(X, y)
    assert model.rank_ == 3
    assert scaled_digits(model.coef_, Problem(X, y).solve()[0], X) >= (5 if solver == "cg" else 12)


def test_columns_that_follow_from_each_other_up_to_their_rounding_are_dependent():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300)) + 1e6
    X = np.column_stack([a, b, a + b, rng.normal(size=300)])  # the sum is rounded to 1e-10 of its spread
    model = LinearRegression().fit(X, rng.normal(size=300))
    assert model.rank_ == 3
    assert np.abs(model.coef_).max() < 10
    assert model.solution_.dependent.tolist() == [0, 1, 2]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1234567.891, 1e12 + 0.1])
def test_columns_that_do_not_vary_get_nothing(solver, rows, value):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * (rng.uniform(size=(3000, 4)) < 0.2)
    X[:, 1] = value
    y = X[:, 0] - X[:, 3] + rng.normal(size=3000)
    model = LinearRegression(solver=solver).fit(rows(X), y, rng.uniform(size=3000))
    assert model.coef_[1] == 0.0
    assert model.rank_ == 3
    assert np.abs(model.coef_).max() < 3


def test_a_column_of_one_value_up_to_rounding_does_not_vary():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.where(np.arange(100) % 2, 0.1 + 0.2, 0.3)])
    for solver in SOLVERS:
        model = LinearRegression(solver=solver).fit(X, rng.normal(size=100))
        assert model.coef_[1] == 0.0


def test_income_and_debt_ratio():
    """Columns 1e7 apart: the answer is 5, where a cut of small singular values returns 1e-14."""
    rng = np.random.default_rng(0)
    income, ratio = rng.normal(3e6, 1e6, 1000), rng.normal(0.3, 0.1, 1000)
    y = 1 + 1e-6 * income + 5 * ratio
    for solver in (*SOLVERS, "auto"):
        model = LinearRegression(solver=solver).fit(np.column_stack([income, ratio]), y)
        np.testing.assert_allclose(model.coef_, [1e-6, 5.0], rtol=1e-12)
        assert model.intercept_ == pytest.approx(1.0, rel=1e-11)


def test_refinement_is_used_where_it_is_needed_and_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = rng.normal(size=100) + 3

    def method(X, **options):
        return LinearRegression(**options).fit(X, y).solution_.method

    assert method(X) == "normal equations"
    assert method(np.column_stack([X, X[:, 0] + 0.02 * rng.normal(size=100)])) == "normal equations, refined"
    assert method(np.column_stack([X, X[:, 0] + 1e-6 * rng.normal(size=100)])) == "orthogonal factorisation, refined"
    assert method(X, solver="qr") == "orthogonal factorisation, refined"
    assert method(np.column_stack([X, X[:, 0]])) == "minimum-norm solution"
    assert method(X, positive=True) == "active set, coefficients ≥ 0"
    assert method(X, solver="cg") == "conjugate gradients"
    assert LinearRegression().fit(X[:2], y[:2]).solution_.method == "normal equations of the rows"
    few = np.column_stack([X[:3], X[:3, :2] + 1e-9])
    few[2] = few[1] + 1e-6  # rows that are nearly the same
    assert LinearRegression().fit(few, y[:3]).solution_.method == "orthogonal factorisation of the rows"
    few[2] = few[1] + 1e-9
    assert LinearRegression().fit(few, y[:3]).solution_.method == "singular value decomposition of the rows"


def test_digits_fall_as_the_condition_grows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    found = []
    for distance in (1.0, 1e-4, 1e-8):
        rows = np.column_stack([X, X[:, 0] + distance * rng.normal(size=100)])
        found.append(LinearRegression().fit(rows, rng.normal(size=100)).solution_)
    assert found[0].digits > 13
    assert found[0].digits > found[1].digits > found[2].digits
    assert found[0].condition < found[1].condition < found[2].condition


def test_penalties_of_several_targets_report_the_least_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X = np.column_stack([X, X[:, 0] + 1e-7 * rng.normal(size=100)])
    Y = rng.normal(size=(100, 2))
    single = Ridge(alpha=1e-20).fit(X, Y[:, 0]).solution_.digits
    for alphas in ([1e-20, 100.0], [100.0, 1e-20]):
        assert Ridge(alpha=alphas).fit(X, Y).solution_.digits == pytest.approx(single, abs=0.5)


def test_null_directions_change_no_prediction():
    """The shortest solution has no component in them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 7))
    model = LinearRegression().fit(X, rng.normal(size=30))
    free = null_space(X - X.mean(axis=0), rcond=1e-10)
    assert free.shape[1] == 3
    np.testing.assert_allclose(free.T @ model.coef_, 0.0, atol=1e-12)
