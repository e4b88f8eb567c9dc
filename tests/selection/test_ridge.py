"""RidgeCV against brute force and scikit-learn."""

import mpmath
import numpy as np
import pytest
import sklearn.linear_model
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, TimeSeriesSplit

from hiperplano import Ridge, RidgeCV
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.solvers.least_squares.path import ridge_path

ALPHAS = np.logspace(-3, 4, 8)


def table(n=60, d=8, targets=1, seed=0, scales=1.0):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + 2.0) * scales
    Y = (X / scales) @ rng.normal(size=(d, targets)) + rng.normal(size=(n, targets))
    return X, Y[:, 0] if targets == 1 else Y


def brute_leave_one_out(X, y, weight=None):
    """−(weighted) mean of squared errors, every row predicted by a fit to all others."""
    n = len(y)
    scores = []
    for alpha in ALPHAS:
        errors = []
        for i in range(n):
            others = np.arange(n) != i
            model = Ridge(alpha).fit(X[others], y[others], None if weight is None else weight[others])
            errors.append((y[i] - model.predict(X[i : i + 1])[0]) ** 2)
        scores.append(-np.average(errors, weights=weight))
    return np.array(scores)


@pytest.mark.parametrize("shape", [(60, 8), (20, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("scales", [0.0, 2.8, 7.0])  # powers of ten between the columns' units
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_equals_brute_force(shape, scales, weighted):
    rng = np.random.default_rng(1)
    scales = 10.0 ** (scales * rng.uniform(-0.5, 0.5, shape[1])) if scales > 3 else np.logspace(0, scales, shape[1])
    X, y = table(*shape, scales=scales)
    weight = rng.uniform(0.1, 3.0, len(y)) if weighted else None
    model = RidgeCV(ALPHAS).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.scores_, brute_leave_one_out(X, y, weight), rtol=1e-8)
    best = np.argmax(model.scores_)
    assert model.alpha_ == ALPHAS[best]
    assert model.best_score_ == model.scores_[best]
    np.testing.assert_allclose(model.coef_, Ridge(model.alpha_).fit(X, y, weight).coef_, rtol=1e-10)


def exact_leave_one_out(X, y, alphas, weight):
    """Squared errors of every row, predicted by a fit to all others in 80 digits."""
    out = np.empty((len(y), len(alphas)))
    with mpmath.workdps(80):
        x, y, weight = (mpmath.matrix(each.tolist()) for each in (X, y, weight))
        columns = range(x.cols)
        for i in range(x.rows):
            others = [k for k in range(x.rows) if k != i]
            total = mpmath.fsum(weight[k] for k in others)
            mean = [mpmath.fsum(weight[k] * x[k, j] for k in others) / total for j in columns]
            level = mpmath.fsum(weight[k] * y[k] for k in others) / total
            rows = mpmath.matrix([[mpmath.sqrt(weight[k]) * (x[k, j] - mean[j]) for j in columns] for k in others])
            right = mpmath.matrix([mpmath.sqrt(weight[k]) * (y[k] - level) for k in others])
            here = mpmath.matrix([[x[i, j] - mean[j] for j in columns]])
            for a, alpha in enumerate(alphas):
                inner = mpmath.lu_solve(rows * rows.T + mpmath.mpf(alpha) * mpmath.eye(len(others)), right)
                out[i, a] = float((y[i] - level - (here * rows.T * inner)[0]) ** 2)
    return out


APART = {
    "two long": np.repeat([1e8, 1e-8], [2, 10]),
    "one long": np.repeat([1e16, 1.0], [1, 11]),
    "spread": np.logspace(8, -8, 12),
}


@pytest.mark.parametrize("lengths", APART)
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_with_few_rows_and_lengths_far_apart(lengths, weighted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 12)) * APART[lengths], rng.normal(size=8)
    weight = rng.uniform(0.1, 3.0, 8) if weighted else np.ones(8)
    alphas = [1e-18, 1e-16, 1e-12, 1.0, 1e14, 1e18]
    found = RidgeCV(alphas, store_cv_results=True).fit(X, y, weight if weighted else None)
    expected = exact_leave_one_out(X, y, alphas, weight)
    np.testing.assert_allclose(found.cv_results_, expected * weight[:, None], rtol=1e-11)
    np.testing.assert_allclose(found.scores_, -np.average(expected, axis=0, weights=weight), rtol=1e-11)


@pytest.mark.parametrize("n", [8, 12])
def test_penalties_that_hide_short_directions_need_no_jacobi_method(n, monkeypatch):
    rng = np.random.default_rng(3)
    X, y, alphas = rng.normal(size=(n, 12)) * np.logspace(3, -3, 12), rng.normal(size=n), [1e-5, 1e-3]
    monkeypatch.setattr(ridge_path, "dgejsv", None)
    found = RidgeCV(alphas, store_cv_results=True).fit(X, y)
    expected = exact_leave_one_out(X, y, alphas, np.ones(n))
    np.testing.assert_allclose(found.cv_results_, expected, rtol=1e-8)
    fits = [[Ridge(alpha).fit(X[2:], y[2:]).score(X[:2], y[:2]) for alpha in alphas]]
    found = RidgeCV(alphas, cv=[(np.arange(2, n), np.arange(2))]).fit(X, y)
    np.testing.assert_allclose(found.scores_, np.mean(fits, axis=0), rtol=1e-8)


@pytest.mark.parametrize("lengths", APART)
def test_folds_with_few_rows_and_lengths_far_apart(lengths):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 12)) * APART[lengths], rng.normal(size=8)
    alphas, cv = [1e-18, 1e-16, 1e-12, 1.0, 1e14, 1e18], KFold(4)
    expected = [
        np.mean([Ridge(alpha).fit(X[train], y[train]).score(X[test], y[test]) for train, test in cv.split(X)])
        for alpha in alphas
    ]
    np.testing.assert_allclose(RidgeCV(alphas, cv=cv).fit(X, y).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "cv",
    [5, KFold(4, shuffle=True, random_state=0), ShuffleSplit(4, random_state=0), TimeSeriesSplit(4)],
    ids=["int", "shuffled", "overlapping", "growing"],
)
@pytest.mark.parametrize("targets", [1, 3])
def test_folds_equal_brute_force(cv, targets):
    X, y = table(80, 6, targets)
    model = RidgeCV(ALPHAS, cv=cv).fit(X, y)
    splitter = KFold(cv) if isinstance(cv, int) else cv
    expected = [
        np.mean(
            [
                r2_score(y[test], Ridge(alpha).fit(X[train], y[train]).predict(X[test]))
                for train, test in splitter.split(X)
            ]
        )
        for alpha in ALPHAS
    ]
    np.testing.assert_allclose(model.scores_, expected, rtol=1e-8)


@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_agrees_with_scikit_learn(cv, targets, fit_intercept):
    X, y = table(90, 7, targets, seed=3)
    ours = RidgeCV(ALPHAS, cv=cv, fit_intercept=fit_intercept).fit(X, y)
    theirs = sklearn.linear_model.RidgeCV(ALPHAS, cv=cv, fit_intercept=fit_intercept).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)


def test_penalties_for_each_target():
    X, y = table(50, 5, 3)
    ours = RidgeCV(ALPHAS, alpha_per_target=True).fit(X, y)
    theirs = sklearn.linear_model.RidgeCV(ALPHAS, alpha_per_target=True).fit(X, y)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize(
    "scoring", ["neg_mean_absolute_error", make_scorer(mean_absolute_error, greater_is_better=False)]
)
def test_any_scorer(cv, scoring):
    X, y = table(40, 5, seed=5)
    ours = RidgeCV(ALPHAS, cv=cv, scoring=scoring).fit(X, y)
    theirs = sklearn.linear_model.RidgeCV(ALPHAS, cv=cv, scoring=scoring).fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)


def test_leave_one_out_splitter_gives_the_errors_of_leave_one_out():
    X, y = table(30, 4)
    scoring = "neg_mean_squared_error"
    by_folds = RidgeCV(ALPHAS, cv=LeaveOneOut(), scoring=scoring).fit(X, y)
    np.testing.assert_allclose(by_folds.scores_, RidgeCV(ALPHAS).fit(X, y).scores_, rtol=1e-9)


def test_stored_results():
    X, y = table(30, 4, 2)
    model = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y)
    assert model.cv_results_.shape == (30, 2, len(ALPHAS))
    np.testing.assert_allclose(-model.cv_results_.mean(axis=(0, 1)), model.scores_)
    predictions = RidgeCV(ALPHAS, store_cv_results=True, scoring="r2").fit(X, y).cv_results_
    np.testing.assert_allclose((y[:, :, None] - predictions) ** 2, model.cv_results_, rtol=1e-9)


@pytest.mark.parametrize("cv", [None, 3])
def test_sparse_rows_equal_dense_rows(cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.05)
    y = X @ rng.normal(size=20) + rng.normal(size=300)
    dense, sparse = (RidgeCV(ALPHAS, cv=cv).fit(rows, y) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-9)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-8, atol=1e-12)


def test_weights_equal_repetition_in_folds():
    X, y = table(40, 4)
    times = np.random.default_rng(0).integers(1, 4, 40)
    group = np.arange(40) % 4
    repeated = np.repeat(np.arange(40), times)
    weighted_cv = list(GroupKFold(4).split(X, y, group))
    repeated_cv = [
        (np.flatnonzero(~np.isin(repeated, test)), np.flatnonzero(np.isin(repeated, test))) for _, test in weighted_cv
    ]
    weighted = RidgeCV(ALPHAS, cv=weighted_cv).fit(X, y, sample_weight=times)
    plain = RidgeCV(ALPHAS, cv=repeated_cv).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.scores_, plain.scores_, rtol=1e-9)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-9)


def test_a_row_of_weight_zero_is_left_out():
    X, y = table(12, 20)
    weight = np.ones(12)
    weight[3] = 0.0
    kept = weight > 0
    with_zero, without = RidgeCV(ALPHAS).fit(X, y, weight), RidgeCV(ALPHAS).fit(X[kept], y[kept])
    np.testing.assert_allclose(with_zero.scores_, without.scores_, rtol=1e-9)


def test_dependent_and_constant_columns():
    X, y = table(50, 4)
    X = np.column_stack([X, X[:, 0], np.full(50, 7.0)])
    model = RidgeCV(ALPHAS).fit(X, y)
    np.testing.assert_allclose(model.scores_, brute_leave_one_out(X, y), rtol=1e-8)
    assert model.coef_[-1] == 0.0
    np.testing.assert_allclose(model.coef_[0], model.coef_[4], rtol=1e-9)


def test_all_columns_constant():
    model = RidgeCV(ALPHAS).fit(np.ones((5, 2)), np.arange(5.0))
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == 2.0


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"alphas": [-1.0]}, r"alphas\[0\]=-1.0"),
        ({"alphas": []}, "empty"),
        ({"alphas": [np.nan]}, "finite"),
        ({"cv": 3, "store_cv_results": True}, "Set cv=None"),
        ({"cv": 3, "alpha_per_target": True}, "Set cv=None"),
        ({"fit_intercept": "yes"}, "True or False"),
    ],
)
def test_wrong_parameters_are_refused(parameters, word):
    X, y = table()
    with pytest.raises(InvalidParameter, match=word):
        RidgeCV(**parameters).fit(X, y)


def test_too_many_sparse_columns_are_refused_with_a_way_out():
    X = csr_array((np.ones(3001), (np.arange(3001), np.arange(3001) % 3000)), shape=(3001, 3000))
    with pytest.raises(InvalidData, match="GridSearchCV"):
        RidgeCV().fit(X, np.arange(3001.0))


def test_parameters_stay_as_given():
    alphas = [1.0, 2.0]
    model = RidgeCV(alphas)
    assert clone(model).fit(*table()).alphas == alphas


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("column", "row"), [(1e16, slice(None)), (1e6, 3), (1e10, 3), (1e90, 3)])
def test_leaving_out_is_exact_whatever_the_sizes_of_columns_and_outliers(column, row, weighted):
    """A column longer than the rest, or one row of it, for which one minus the leverage has no digits left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=25)
    X[row, 0] *= column
    weight = rng.uniform(0.5, 2.0, 25) if weighted else np.ones(25)
    alphas = [1e-6, 1.0, 100.0]
    model = RidgeCV(alphas, store_cv_results=True).fit(X, y, weight if weighted else None)
    for i in range(25):
        rest = np.arange(25) != i
        refits = [Ridge(alpha).fit(X[rest], y[rest], weight[rest]) for alpha in alphas]
        errors = [y[i] - one.predict(X[[i]])[0] for one in refits]
        np.testing.assert_allclose(np.sqrt(model.cv_results_[i] / weight[i]), np.abs(errors), rtol=1e-10)
    summed = RidgeCV(alphas).fit(X, y, weight if weighted else None)
    np.testing.assert_allclose(summed.scores_, -model.cv_results_.sum(axis=0) / weight.sum(), rtol=1e-12)


def test_rows_without_weight_keep_their_places_in_results_and_splits():
    X, y = table(30, 3)
    weight = np.ones(30)
    weight[[2, 11]] = 0.0
    kept = weight > 0
    with_zeros = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y, weight)
    without = RidgeCV(ALPHAS, store_cv_results=True).fit(X[kept], y[kept])
    assert np.isnan(with_zeros.cv_results_[~kept]).all()
    np.testing.assert_allclose(with_zeros.cv_results_[kept], without.cv_results_, rtol=1e-12)
    numbers = np.arange(30)
    splits = [(numbers[numbers % 3 != k], numbers[numbers % 3 == k]) for k in range(3)]
    place = np.cumsum(kept) - 1
    own = [tuple(place[rows[kept[rows]]] for rows in split) for split in splits]
    here, there = RidgeCV(ALPHAS, cv=splits).fit(X, y, weight), RidgeCV(ALPHAS, cv=own).fit(X[kept], y[kept])
    np.testing.assert_allclose(here.scores_, there.scores_, rtol=1e-12)


def test_a_fold_of_rows_without_weight_is_refused():
    X, y = table(30, 3)
    weight = np.ones(30)
    weight[:10] = 0.0
    with pytest.raises(InvalidParameter, match=r"fold 0 has 20 rows to train and 0 to test on.*Use fewer folds"):
        RidgeCV(ALPHAS, cv=3).fit(X, y, weight)
