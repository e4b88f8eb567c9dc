"""The penalty of kernel ridge regression against searches that fit every fold."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as PlainRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit

from hiperplano import KernelRidge, KernelRidgeCV
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.kernels import RBF
from hiperplano.solvers.kernel.ridge import choice
from hiperplano.solvers.kernel.ridge.folds import fits as fold_fits

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 4))
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] ** 2 + 4.0]) + 0.2 * RNG.normal(size=(N, 2))
WEIGHT = np.where(np.arange(N) < 5, 0.0, RNG.uniform(0.3, 2.0, size=N))
ALPHAS = np.logspace(-4, 2, 5)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("cv", [5, ShuffleSplit(3, test_size=0.4, random_state=0)], ids=["folds", "shuffled"])
def test_scores_are_those_of_a_grid_search(scoring, cv):
    mine = KernelRidgeCV(ALPHAS, kernel="rbf", gamma=0.2, cv=cv, scoring=scoring).fit(X, Y)
    plain = GridSearchCV(PlainRidge(kernel="rbf", gamma=0.2), {"alpha": ALPHAS}, cv=cv, scoring=scoring).fit(X, Y)
    np.testing.assert_allclose(mine.scores_, plain.cv_results_["mean_test_score"], rtol=1e-9)
    assert mine.alpha_ == plain.best_params_["alpha"]
    np.testing.assert_allclose(mine.predict(X[:9]), plain.predict(X[:9]), rtol=1e-8)


@pytest.mark.parametrize("small", [True, False], ids=["factored", "side by side"])
@pytest.mark.parametrize("intercept", [False, True])
def test_folds_with_weights_are_those_of_single_fits(small, intercept, monkeypatch):
    monkeypatch.setattr(fold_fits, "_SMALL", N if small else 0)
    given = {"kernel": RBF(0.2), "fit_intercept": intercept}
    mine = KernelRidgeCV(ALPHAS, cv=3, **given).fit(X, Y, WEIGHT)
    expected = np.zeros(len(ALPHAS))
    for train, test in KFold(3).split(X):
        fits = [KernelRidge(alpha, **given).fit(X[train], Y[train], WEIGHT[train]) for alpha in ALPHAS]
        expected += [r2_score(Y[test], fit.predict(X[test]), sample_weight=WEIGHT[test]) / 3 for fit in fits]
    np.testing.assert_allclose(mine.scores_, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("cv", [KFold(4, shuffle=True, random_state=0), ShuffleSplit(2, test_size=0.3, random_state=0)])
@pytest.mark.parametrize(
    ("columns", "alphas", "taken", "rtol"),
    [
        (2, [1.0, 30.0], ["solve_by_low_rank"], 1e-8),
        (12, [0.6, 30.0], ["solve_folds"], 3e-8),
        (2, [1e-7, 30.0], ["solve_folds", "factored"], 2e-6),  # condition 1e10: digits of a residual of 1e-8
        (5, [1e-6, 30.0], ["solve_folds", "factored"], 3e-8),
        (8, [1e-3, 3e-3, 30.0], ["solve_folds", "factored"], 5e-7),
    ],
    ids=["few pivots", "steps", "few columns and factors", "steps and factors", "one factor for two"],
)
def test_rows_in_any_order_by_every_way(cv, columns, alphas, taken, rtol, monkeypatch):
    monkeypatch.setattr(choice, "_FEW_STEPS", 0)
    ways = []
    for name in ("solve_by_low_rank", "solve_folds", "factored"):
        function = getattr(fold_fits, name)
        monkeypatch.setattr(
            fold_fits, name, lambda *given, name=name, function=function: (ways.append(name), function(*given))[1]
        )
    rng = np.random.default_rng(2)
    rows, weight = rng.normal(size=(600, columns)), rng.uniform(0.2, 3.0, size=600)
    y = np.sin(rows[:, 0]) + 0.1 * rng.normal(size=600)
    given = {"kernel": RBF(1.0 / columns), "fit_intercept": True}
    mine = KernelRidgeCV(alphas, cv=cv, **given).fit(rows, y, weight)
    assert list(dict.fromkeys(ways)) == taken
    expected = np.zeros(len(alphas))
    for train, test in cv.split(rows):
        fits = [KernelRidge(a, solver="cholesky", **given).fit(rows[train], y[train], weight[train]) for a in alphas]
        expected += [r2_score(y[test], fit.predict(rows[test]), sample_weight=weight[test]) for fit in fits]
    np.testing.assert_allclose(mine.scores_, expected / cv.get_n_splits(), rtol=rtol)
    plain = KernelRidge(mine.alpha_, solver="cholesky", **given).fit(rows, y, weight)
    exact = KernelRidgeCV(alphas, cv=cv, tol=1e-12, **given).fit(rows, y, weight)
    for fit, atol in ((mine, 1e-6), (exact, 1e-9)):
        np.testing.assert_allclose(fit.dual_coef_, plain.dual_coef_, atol=atol)
        np.testing.assert_allclose(fit.intercept_, plain.intercept_, atol=atol)


@pytest.mark.parametrize("alphas", [[1.0, 1e3], [1.0]], ids=["chosen among others", "alone"])
def test_the_fit_of_all_rows_goes_on_from_the_steps_of_the_folds(alphas):
    rng = np.random.default_rng(5)
    rows, weight = rng.normal(size=(1500, 12)), rng.uniform(0.5, 2.0, size=1500)
    y = np.column_stack([rows[:, 0] * rows[:, 1], np.sin(rows[:, 2]) + 3.0]) + 0.1 * rng.normal(size=(1500, 2))
    given = {"kernel": RBF(0.1), "fit_intercept": True}
    mine = KernelRidgeCV(alphas, cv=KFold(4, shuffle=True, random_state=0), **given).fit(rows, y, weight)
    assert mine.alpha_ == 1.0
    assert "steps together with the folds" in mine.solution_.status
    assert mine.solution_.gap <= 1e-8
    plain = KernelRidge(1.0, solver="cholesky", **given).fit(rows, y, weight)
    np.testing.assert_allclose(mine.dual_coef_, plain.dual_coef_, atol=1e-6 * np.abs(plain.dual_coef_).max())
    np.testing.assert_allclose(mine.intercept_, plain.intercept_, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_the_fit_of_all_rows_is_factored_where_folds_took_many_steps(alpha):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(1700, 30))
    y = rows[:, 0] + 0.1 * rng.normal(size=1700)
    mine = KernelRidgeCV([alpha], kernel="rbf", gamma=0.02, cv=KFold(2, shuffle=True, random_state=0)).fit(rows, y)
    assert ("folds took many steps" in mine.solution_.status) == (alpha < 1)
    plain = PlainRidge(alpha, kernel="rbf", gamma=0.02).fit(rows, y)
    np.testing.assert_allclose(mine.dual_coef_, plain.dual_coef_, atol=1e-6 * np.abs(plain.dual_coef_).max())


@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_leaves_every_row_out(intercept):
    given = {"kernel": RBF(0.2), "fit_intercept": intercept}
    mine = KernelRidgeCV(ALPHAS[1:4], cv=None, **given).fit(X[:40], Y[:40, 0], WEIGHT[:40])
    rows = np.arange(5, 40)
    errors = np.array(
        [
            [
                Y[i, 0]
                - KernelRidge(a, **given)
                .fit(X[rows[rows != i]], Y[rows[rows != i], 0], WEIGHT[rows[rows != i]])
                .predict(X[[i]])[0]
                for a in ALPHAS[1:4]
            ]
            for i in rows
        ]
    )
    np.testing.assert_allclose(mine.scores_, -np.average(errors**2, axis=0, weights=WEIGHT[rows]), rtol=1e-8)
    scored = KernelRidgeCV(ALPHAS[1:4], cv=None, scoring="neg_mean_squared_error", **given)
    np.testing.assert_allclose(scored.fit(X[:40], Y[:40, 0], WEIGHT[:40]).scores_, mine.scores_, rtol=1e-9)


def test_groups_go_to_the_splitter_and_borders_are_told():
    groups = np.arange(N) % 6
    mine = KernelRidgeCV([100.0, 1000.0], kernel=RBF(0.2), cv=GroupKFold(3)).fit(X, Y[:, 0], groups=groups)
    plain = GridSearchCV(PlainRidge(kernel="rbf", gamma=0.2), {"alpha": [100.0, 1000.0]}, cv=GroupKFold(3))
    plain.fit(X, Y[:, 0], groups=groups)
    np.testing.assert_allclose(mine.scores_, plain.cv_results_["mean_test_score"], rtol=1e-9)
    assert "is the smallest of those tried" in mine.solution_.status


def test_a_precomputed_matrix():
    given = KernelRidgeCV(ALPHAS, kernel="precomputed").fit(RBF(0.2)(X), Y[:, 0], WEIGHT)
    rows = KernelRidgeCV(ALPHAS, kernel=RBF(0.2)).fit(X, Y[:, 0], WEIGHT)
    np.testing.assert_allclose(given.scores_, rows.scores_, rtol=1e-8)
    np.testing.assert_allclose(given.predict(RBF(0.2)(X[:5], X)), rows.predict(X[:5]), rtol=1e-8)


@pytest.mark.parametrize(
    ("given", "n", "error", "said"),
    [
        ({"alphas": []}, N, InvalidParameter, "alphas is empty"),
        ({"alphas": [1.0, 0.0]}, N, InvalidParameter, r"alphas\[1\] must be a finite number, more than 0"),
        ({"cv": 500}, N, InvalidParameter, "gives no folds"),
        ({"scoring": "best"}, N, InvalidParameter, "scoring must be None"),
        ({}, 1, InvalidData, "a row must be predicted by others"),
    ],
)
def test_refusals(given, n, error, said):
    with pytest.raises(error, match=said):
        KernelRidgeCV(**given).fit(X[:n], Y[:n, 0])


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_a_fold_of_one_row_has_no_score_and_is_no_error():
    weight = np.where(np.isin(np.arange(N), [1, 2]), 0.0, 1.0)
    folds = [(np.arange(3, N), np.arange(3)), (np.arange(N - 9), np.arange(N - 9, N))]
    assert not np.isfinite(KernelRidgeCV(ALPHAS, cv=folds).fit(X, Y, weight).scores_).any()


@pytest.mark.parametrize("cv", [3, None])
@pytest.mark.filterwarnings("error")
def test_weights_and_penalties_have_no_unit(cv):
    rng, unit = np.random.default_rng(3), 4.0**75
    rows, weight = rng.normal(size=(1100, 10)), rng.uniform(0.2, 3.0, size=1100)
    y, alphas = np.sin(rows[:, 0]) + 0.1 * rng.normal(size=1100), np.array([0.01, 0.1, 1.0])
    plain, mine = (
        KernelRidgeCV(factor * alphas, cv=cv, kernel="rbf", gamma=0.1).fit(rows, y, factor * weight)
        for factor in (1.0, unit)
    )
    assert mine.alpha_ == unit * plain.alpha_
    np.testing.assert_array_equal(mine.scores_, plain.scores_)
    np.testing.assert_array_equal(mine.dual_coef_, plain.dual_coef_)
