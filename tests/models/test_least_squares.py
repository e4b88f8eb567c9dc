"""LinearRegression, Ridge and LeastSquaresClassifier: formulas, and scikit-learn where both mean the same."""

import inspect

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn import linear_model
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge
from hiperplano.errors import AccuracyWarning, ConvergenceWarning, InvalidData


def table(n=120, d=5, seed=0, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    shape = d if targets is None else (d, targets)
    y = X @ rng.normal(size=shape) + rng.normal(size=n if targets is None else (n, targets)) + 1.5
    return X, y, rng.uniform(0.1, 2.0, n)


PAIRS = [(LinearRegression, linear_model.LinearRegression), (Ridge, linear_model.Ridge)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_shared_parameters_have_scikit_learns_defaults(ours, theirs):
    mine, other = (inspect.signature(kind).parameters for kind in (ours, theirs))
    shared = set(mine) & set(other) - {"solver", "tol", "max_iter"}
    assert shared >= {"fit_intercept", "positive"}
    for name in shared:
        assert mine[name].default == other[name].default, name
    # "auto" is the same word; scikit-learn's other solvers, and its tolerance for them, have no meaning here.
    assert mine["solver"].default == "auto"
    assert mine["max_iter"].default is None


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_equals_scikit_learn(ours, theirs, fit_intercept, weighted, targets, rows):
    X, y, w = table(targets=targets)
    weight = w if weighted else None
    exact = {"tol": 1e-14} if rows is sparse.csr_array else {}  # theirs iterates on sparse rows
    mine = ours(fit_intercept=fit_intercept).fit(rows(X), y, sample_weight=weight)
    other = theirs(fit_intercept=fit_intercept, **exact).fit(rows(X), y, sample_weight=weight)
    assert mine.coef_.shape == other.coef_.shape
    assert mine.predict(X).shape == other.predict(X).shape
    np.testing.assert_allclose(mine.coef_, other.coef_, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(
        np.ravel(mine.intercept_), np.ravel(other.intercept_) + np.zeros(np.size(mine.intercept_)), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(mine.predict(rows(X)), other.predict(rows(X)), rtol=1e-6, atol=1e-7)
    assert mine.score(rows(X), y, weight) == pytest.approx(other.score(rows(X), y, weight), rel=1e-8)


@pytest.mark.parametrize("alpha", [1e-4, 1.0, 37.5, 1e5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_is_its_closed_form(alpha, fit_intercept):
    X, y, w = table()
    centred = X - np.average(X, axis=0, weights=w) if fit_intercept else X
    target = y - np.average(y, weights=w) if fit_intercept else y
    weighted = centred * w[:, None]
    expected = np.linalg.solve(weighted.T @ centred + alpha * np.eye(5), weighted.T @ target)
    model = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, y, w)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)
    residual = target - centred @ expected
    assert model.solution_.objective == pytest.approx(w @ residual**2 + alpha * expected @ expected, rel=1e-11)
    assert model.solution_.rss[0] == pytest.approx(w @ residual**2, rel=1e-11)
    assert model.solution_.tss[0] == pytest.approx(w @ target**2, rel=1e-11)


def test_ridge_with_a_penalty_for_each_target():
    X, y, w = table(targets=3)
    alphas = [0.0, 1.0, 100.0]
    model = Ridge(alpha=alphas).fit(X, y, w)
    other = linear_model.Ridge(alpha=alphas).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-8)
    assert Ridge(alpha=np.array(alphas)).fit(X, y, w).coef_.tolist() == model.coef_.tolist()


def test_ridge_without_penalty_is_least_squares():
    X, y, w = table()
    np.testing.assert_array_equal(Ridge(alpha=0.0).fit(X, y, w).coef_, LinearRegression().fit(X, y, w).coef_)
    assert Ridge(alpha=0).fit(X, y).solution_.method == LinearRegression().fit(X, y).solution_.method


def test_ridge_paths_shrink():
    X, y, _ = table()
    lengths = [np.linalg.norm(Ridge(alpha=alpha).fit(X, y).coef_) for alpha in (0.0, 1.0, 1e2, 1e4, 1e300)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < 1e-290
    assert Ridge(alpha=1e300).fit(X, y).intercept_ == pytest.approx(y.mean())


@pytest.mark.parametrize("shape", [(60, 4), (30, 30), (10, 25)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_nonnegative_least_squares_equals_scipys(shape, fit_intercept, rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * np.logspace(-2, 2, shape[1])
    y = X @ (rng.normal(size=shape[1]) / np.logspace(-2, 2, shape[1])) + rng.normal(size=shape[0])
    centred, target = (X - X.mean(axis=0), y - y.mean()) if fit_intercept else (X, y)
    expected, distance = nnls(centred, target)
    model = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(rows(X), y)
    assert (model.coef_ >= 0).all()
    assert np.sqrt(model.solution_.rss[0]) == pytest.approx(distance, rel=1e-9, abs=1e-9)
    if shape[0] > shape[1]:  # otherwise others fit as well
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-12)
    theirs = linear_model.LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(centred @ model.coef_, centred @ theirs.coef_, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 50.0])
@pytest.mark.parametrize("shape", [(80, 6), (8, 15)])
def test_nonnegative_ridge_satisfies_the_kkt_conditions(alpha, shape):
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=shape), rng.uniform(0.5, 2.0, shape[0])
    y = X @ np.resize([1.0, -1.0], shape[1]) + rng.normal(size=shape[0])
    model = Ridge(alpha=alpha, positive=True).fit(X, y, w)
    residual = y - model.predict(X)
    slope = X.T @ (w * residual) - alpha * model.coef_
    assert 0 < np.count_nonzero(model.coef_) < shape[1]
    np.testing.assert_allclose(slope[model.coef_ > 0], 0.0, atol=1e-9)
    assert (slope[model.coef_ == 0] <= 1e-9).all()
    assert w @ residual == pytest.approx(0.0, abs=1e-9)


def test_signs_that_do_not_bind_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=100)
    np.testing.assert_allclose(
        LinearRegression(positive=True).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12
    )
    np.testing.assert_array_equal(LinearRegression(positive=True).fit(X, -y).coef_, 0.0)


class TestFewRows:
    @pytest.mark.parametrize("solver", ["auto", "gram", "qr", "cg"])
    def test_one_row(self, solver):
        model = LinearRegression(solver=solver).fit([[1.0, 2.0]], [3.0])
        np.testing.assert_array_equal(model.coef_, [0.0, 0.0])
        assert model.intercept_ == 3.0
        assert model.rank_ == 0
        assert model.predict([[5.0, 5.0]]) == 3.0

    @pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
    def test_one_row_without_intercept(self, solver):
        model = LinearRegression(solver=solver, fit_intercept=False).fit([[1.0, 2.0]], [3.0])
        np.testing.assert_allclose(model.coef_, [0.6, 1.2], rtol=1e-14)

    @pytest.mark.parametrize("solver", ["auto", "gram", "qr", "cg"])
    def test_one_row_and_one_column(self, solver):
        assert LinearRegression(solver=solver).fit([[2.0]], [3.0]).coef_ == [0.0]
        assert LinearRegression(solver=solver, fit_intercept=False).fit([[2.0]], [3.0]).coef_ == [1.5]

    @pytest.mark.parametrize("solver", ["auto", "gram", "qr", "cg"])
    def test_two_rows_and_one_column_are_a_line(self, solver):
        model = LinearRegression(solver=solver).fit([[2.0], [4.0]], [3.0, 1.0])
        assert model.coef_[0] == pytest.approx(-1.0, rel=1e-14)
        assert model.intercept_ == pytest.approx(5.0, rel=1e-14)

    @pytest.mark.parametrize("solver", ["auto", "gram", "qr", "cg"])
    @pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
    def test_nothing_but_zeros(self, solver, rows):
        model = LinearRegression(solver=solver).fit(rows(np.zeros((10, 3))), np.arange(10.0))
        np.testing.assert_array_equal(model.coef_, 0.0)
        assert model.intercept_ == 4.5
        assert model.rank_ == 0

    @pytest.mark.parametrize("positive", [True, False])
    @pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
    def test_equal_rows_and_columns(self, solver, positive):
        """As many rows as columns: one fewer with an intercept, and still the best fit."""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(6, 6)), rng.normal(size=6)
        model = LinearRegression(solver=solver, positive=positive).fit(X, y)
        if positive:
            expected = nnls(X - X.mean(axis=0), y - y.mean())[1]
            assert np.linalg.norm(y - model.predict(X)) == pytest.approx(expected, rel=1e-9)
            assert model.rank_ == 5
            assert "(rank 5 of 6): others may fit as well" in model.solution_.status
        else:
            np.testing.assert_allclose(model.predict(X), y, atol=1e-11)
            shortest = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=1e-12)[0]
            np.testing.assert_allclose(model.coef_, shortest, rtol=1e-11)

    def test_a_constant_target(self):
        X, _, w = table()
        for rows in (X, sparse.csr_array(X)):
            model = LinearRegression().fit(rows, np.full(len(X), 3.7), w)
            np.testing.assert_array_equal(model.coef_, 0.0)
            assert model.intercept_ == pytest.approx(3.7, rel=1e-15)
            assert model.solution_.rss == pytest.approx(0.0, abs=1e-20)


class TestClassifier:
    def test_two_classes_are_a_regression_on_signs(self):
        X, y, w = table()
        labels = np.where(y > np.median(y), "good", "bad")
        model = LeastSquaresClassifier().fit(X, labels, w)
        other = LinearRegression().fit(X, np.where(labels == "good", 1.0, -1.0), w)
        np.testing.assert_allclose(model.coef_[0], other.coef_, rtol=1e-12)
        np.testing.assert_allclose(model.decision_function(X), other.predict(X), rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X) == "good", other.predict(X) > 0)

    def test_two_classes_equal_scikit_learns_ridge_classifier(self):
        X, y, w = table()
        labels = y > 0
        model = LeastSquaresClassifier(alpha=3.0).fit(X, labels, w)
        other = linear_model.RidgeClassifier(alpha=3.0).fit(X, labels, w)
        np.testing.assert_allclose(model.coef_[0], np.ravel(other.coef_), rtol=1e-8)
        np.testing.assert_array_equal(model.predict(X), other.predict(X))

    def test_many_classes_are_regressions_on_indicators(self):
        X, labels = load_iris(return_X_y=True)
        model = LeastSquaresClassifier().fit(X, labels)
        codes = (labels[:, None] == np.arange(3)).astype(float)
        other = MultiOutputRegressor(linear_model.LinearRegression()).fit(X, codes)
        np.testing.assert_allclose(model.decision_function(X), other.predict(X), rtol=1e-9, atol=1e-11)
        np.testing.assert_array_equal(model.predict(X), other.predict(X).argmax(axis=1))
        # With an intercept, scores of all classes add up to 1.
        np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 1.0, rtol=1e-12)

    def test_a_score_of_zero_is_the_first_class(self):
        model = LeastSquaresClassifier(fit_intercept=False).fit([[-1.0], [1.0]], ["no", "yes"])
        assert model.predict([[0.0]]) == ["no"]

    def test_balanced_classes_weigh_the_same(self):
        X, y, w = table()
        labels = (y > np.quantile(y, 0.8)).astype(int)
        model = LeastSquaresClassifier(class_weight="balanced").fit(X, labels, w)
        mass = np.array([w[labels == k].sum() for k in (0, 1)])
        other = LeastSquaresClassifier().fit(X, labels, w / mass[labels])
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
        by_hand = LeastSquaresClassifier(class_weight={0: 1 / mass[0], 1: 1 / mass[1]}).fit(X, labels, w)
        np.testing.assert_allclose(by_hand.coef_, other.coef_, rtol=1e-9)

    def test_a_class_whose_rows_have_no_weight_is_never_predicted(self):
        X, y, w = table()
        labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
        w[labels == 2] = 0.0
        kept = w > 0
        for class_weight in (None, "balanced"):
            model, without = (
                LeastSquaresClassifier(class_weight=class_weight).fit(X[rows], labels[rows], w[rows])
                for rows in (slice(None), kept)
            )
            np.testing.assert_array_equal(model.classes_, [0, 1, 2])
            np.testing.assert_array_equal(model.predict(X), without.predict(X))

    def test_a_class_with_a_class_weight_of_zero_is_never_predicted(self):
        X, y, _ = table()
        labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
        model = LeastSquaresClassifier(class_weight={0: 1.0, 1: 1.0, 2: 0.0}).fit(X, labels)
        np.testing.assert_array_equal(model.classes_, [0, 1, 2])
        assert np.isfinite(model.coef_).all()
        assert not (model.predict(X) == 2).any()


def test_models_work_in_pipelines_and_searches():
    X, y, _ = table()
    pipeline = make_pipeline(StandardScaler(), Ridge())
    search = GridSearchCV(pipeline, {"ridge__alpha": [0.1, 1.0, 10.0], "ridge__fit_intercept": [True, False]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["ridge__fit_intercept"]
    scores = cross_val_score(LinearRegression(), X, y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(linear_model.LinearRegression(), X, y, cv=3), rtol=1e-9)


def test_conjugate_gradients_say_when_they_stop_early():
    X, y, _ = table()
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 steps.*above tol=1e-10. Raise max_iter, or tol"):
        model = Ridge(solver="cg", max_iter=2).fit(X, y)
    assert not model.solution_.converged
    assert model.n_iter_ == 2
    assert model.solution_.gap > 1e-10
    loose = Ridge(solver="cg", tol=0.5).fit(X, y)
    assert loose.solution_.converged
    assert loose.n_iter_ < Ridge(solver="cg").fit(X, y).n_iter_


def test_few_digits_are_a_warning():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    X = np.column_stack([X, X[:, 0] + 3e-13 * rng.normal(size=100)])
    with pytest.warns(AccuracyWarning, match=r"only about \d digits.*nearly dependent.*add a penalty"):
        LinearRegression().fit(X, rng.normal(size=100))


def test_large_sparse_rows_go_to_conjugate_gradients():
    rows = sparse.random_array((3000, 2500), density=0.002, rng=np.random.default_rng(0), format="csr")
    y = rows @ np.ones(2500) + 1.0
    model = Ridge(alpha=1e-2).fit(rows, y)
    assert model.solution_.method == "conjugate gradients"
    direct = Ridge(alpha=1e-2, solver="gram").fit(rows, y)
    np.testing.assert_allclose(model.coef_, direct.coef_, atol=1e-7)


def test_an_intercept_that_is_only_noise_needs_no_refinement():
    """Standardised columns and a centred target: no digit of the intercept means anything."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X @ np.arange(6.0) + rng.standard_normal(2000)
    assert LinearRegression().fit(X, y - y.mean()).solution_.method == "normal equations"
    exact = LinearRegression().fit(X + 1e4, (X + 1e4) @ np.arange(6.0))
    np.testing.assert_allclose(exact.predict(X + 1e4), (X + 1e4) @ np.arange(6.0), rtol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 50.0])
@pytest.mark.parametrize("weights", [False, True])
def test_few_sparse_rows_are_solved_without_filling_them(weights, offset):
    """With a constant column, and one far from 0, whose products lose digits."""
    rng = np.random.default_rng(3)
    X = sparse.random_array((60, 900), density=0.02, rng=rng, format="csr").toarray()
    X[:, 7], X[:, 8] = 3.0, offset + rng.normal(size=60)
    y, weight = rng.normal(size=60), rng.uniform(0.2, 3.0, 60) if weights else None
    for alpha in (1e-3, 10.0):
        theirs = linear_model.Ridge(alpha=alpha, solver="svd").fit(X, y, sample_weight=weight)
        ours = Ridge(alpha=alpha).fit(sparse.csr_array(X), y, sample_weight=weight)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-9 * np.abs(theirs.coef_).max())
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-9)
        assert ours.coef_[7] == 0.0
    shortest = LinearRegression().fit(sparse.csr_array(X), y, sample_weight=weight)
    dense = LinearRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(shortest.coef_, dense.coef_, rtol=0, atol=1e-9 * np.abs(dense.coef_).max())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("twice", "alpha", "method"),
    [
        (False, 0.0, "normal equations of the rows"),
        (False, 1e-9, "normal equations of the rows"),
        (True, 1e-6, "orthogonal factorisation of the rows"),  # coefficients are small beside the sums they are made of
    ],
)
def test_few_correlated_rows_are_factored_as_digits_call_for(fit_intercept, twice, alpha, method):
    rng = np.random.default_rng(0)
    X = 0.01 * rng.normal(size=(30, 45)) + rng.normal(size=(30, 1))
    X[15:] = X[:15] if twice else X[15:]
    Y, weight = rng.normal(size=(30, 2)), rng.uniform(0.5, 2.0, 30)
    model = Ridge(alpha=alpha, fit_intercept=fit_intercept) if alpha else LinearRegression(fit_intercept=fit_intercept)
    model.fit(X, Y, sample_weight=weight)
    assert str(model.solution_.method) == method
    centre = weight if fit_intercept else np.zeros(30)
    rows, right = (np.sqrt(weight)[:, None] * (M - centre @ M / weight.sum()) for M in (X, Y))
    wide = np.hstack([rows, np.sqrt(alpha) * np.eye(30)])  # the shortest solution of this is that of the penalty
    coef = np.linalg.lstsq(wide, right, rcond=1e-14)[0][:45].T
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-8, atol=1e-9 * twice * np.abs(coef).max())


@pytest.mark.parametrize(
    ("shape", "alpha", "method"),
    [
        ((2000, 520), 1e5, "conjugate gradients"),
        ((300, 2000), 1e6, "conjugate gradients in the span of the rows"),
        ((560, 520), 1e-6, "normal equations"),  # too slow: left for a factorisation
    ],
)
def test_penalised_coefficients_of_many_columns_go_by_the_faster_way(shape, alpha, method):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=shape) + 20.0) * np.logspace(0, 1, shape[1])
    y, weight = X[:, :5] @ np.ones(5) + rng.normal(size=shape[0]), rng.uniform(0.5, 2.0, shape[0])
    model = Ridge(alpha=alpha).fit(X, y, weight)
    assert str(model.solution_.method) == method
    middle = np.average(X, axis=0, weights=weight)
    apart = (X - middle) * np.sqrt(weight)[:, None]
    right = apart.T @ ((y - np.average(y, weights=weight)) * np.sqrt(weight))
    exact = np.linalg.solve(apart.T @ apart + alpha * np.eye(shape[1]), right)
    size = np.linalg.norm(apart, axis=0)
    assert np.linalg.norm(size * (model.coef_ - exact)) < 1e-8 * np.linalg.norm(size * exact)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e160])
@pytest.mark.parametrize("shape", [(30, 3), (700, 600)])
def test_numbers_out_of_range_are_refused_by_the_sums(model, bad, shape):
    X = np.random.default_rng(0).normal(size=shape)
    X[5, 1] = bad
    for weight in (None, np.full(len(X), 1e-50), np.full(len(X), 1e50)):
        with pytest.raises(InvalidData, match=r"column 1|Column 1"):
            model.fit(X, X[:, 0], weight)
