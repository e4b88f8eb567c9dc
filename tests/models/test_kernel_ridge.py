"""Kernel ridge regression: three solvers against the closed form and scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge as PlainRidge
from sklearn.model_selection import cross_val_score

from hiperplano import KernelRidge, Ridge, load, save
from hiperplano.errors import ConvergenceWarning, InvalidData, InvalidFile, InvalidParameter, NotAvailable
from hiperplano.kernels import RBF, Exponential, FeatureMap, Linear, Polynomial
from hiperplano.linalg import memory
from hiperplano.solvers.kernel.ridge import choice, conjugate, gram
from tests.shipped import Shipped

RNG = np.random.default_rng(0)
N = 300
X, Z = RNG.normal(size=(N, 4)), RNG.normal(size=(20, 4))
Y = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], X[:, 3] ** 2 + 3.0]) + 0.1 * RNG.normal(size=(N, 2))
WEIGHT = RNG.uniform(0.0, 2.0, size=N)
WEIGHT[:7] = 0.0
SOLVERS = ("cholesky", "conjugate", "nystroem")


def histogram(a, b):
    return np.exp(np.minimum(a, b)).sum()


KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.2},
    "poly": {"kernel": "poly", "degree": 2},
    "laplacian": {"kernel": "laplacian"},
    "linear": {"kernel": "linear"},
    "function of arrays": {"kernel": lambda a, b: (a @ b.T) ** 2},
    "expression": {"kernel": RBF(0.1) + 2.0 * Linear()},
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_predictions_are_those_of_scikit_learn(solver, name, weighted):
    """With every row for a centre, the approximate solver is exact too, but for centres that others determine."""
    given, weight = KERNELS[name], WEIGHT if weighted else None
    model = KernelRidge([0.3, 2.0], solver=solver, n_components=N, tol=1e-10, **given).fit(X, Y, weight)
    plain, rows, others = given, X, Z
    if not isinstance(given["kernel"], str):  # scikit-learn would call it for every pair
        plain, rows, others = {"kernel": "precomputed"}, given["kernel"](X, X), given["kernel"](Z, X)
    expected = PlainRidge(alpha=[0.3, 2.0], **plain).fit(rows, Y, weight).predict(others)
    atol = (1e-6 if solver == "nystroem" else 1e-8) * np.abs(expected).max()
    np.testing.assert_allclose(model.predict(Z), expected, rtol=0, atol=atol)
    assert model.solution_.converged
    assert model.solution_.gap <= 1e-10


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_intercept_is_not_penalised(solver):
    """The equations with a border, by numpy."""
    K, w = RBF(0.2)(X[7:]), WEIGHT[7:]
    n = len(w)
    bordered = np.block([[K + np.diag(0.5 / w), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    expected = np.linalg.solve(bordered, np.append(Y[7:, 1], 0.0))
    model = KernelRidge(0.5, kernel=RBF(0.2), fit_intercept=True, solver=solver, n_components=N, tol=1e-11).fit(
        X, Y[:, 1], WEIGHT
    )
    assert model.intercept_ == pytest.approx(expected[-1], rel=1e-7)
    np.testing.assert_allclose(model.predict(X[7:]), K @ expected[:-1] + expected[-1], atol=1e-7)
    residual = Y[7:, 1] - K @ expected[:-1] - expected[-1]
    objective = float(w @ residual**2 + 0.5 * expected[:-1] @ K @ expected[:-1])
    assert model.solution_.objective == pytest.approx(objective, rel=1e-6)


def test_a_linear_kernel_is_ridge_regression():
    for intercept in (False, True):
        model = KernelRidge(0.7, fit_intercept=intercept).fit(X, Y, WEIGHT)
        linear = Ridge(0.7, fit_intercept=intercept).fit(X, Y, WEIGHT)
        np.testing.assert_allclose(model.predict(Z), linear.predict(Z), atol=1e-9)


def test_a_feature_map_is_ridge_regression_on_its_features():
    kernel = FeatureMap(lambda rows: np.hstack([rows, rows**2]))
    linear = Ridge(0.7, fit_intercept=False).fit(kernel.features(X), Y[:, 0])
    model = KernelRidge(0.7, kernel=kernel).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.predict(Z), linear.predict(kernel.features(Z)), atol=1e-9)


def test_the_order_of_rows_does_not_matter():
    order = RNG.permutation(N)
    for solver in ("cholesky", "conjugate"):
        one, other = (KernelRidge(kernel=RBF(0.3), solver=solver, tol=1e-11) for _ in range(2))
        one.fit(X, Y[:, 0])
        other.fit(X[order], Y[order, 0])
        np.testing.assert_allclose(other.dual_coef_, one.dual_coef_[order], atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_precomputed_matrix_is_the_kernel_on_the_rows(solver):
    control = {"solver": solver, "n_components": 50}
    rows = KernelRidge(kernel=RBF(0.2), **control).fit(X, Y[:, 0], WEIGHT)
    given = KernelRidge(kernel="precomputed", **control).fit(RBF(0.2)(X), Y[:, 0], WEIGHT)
    np.testing.assert_allclose(given.predict(RBF(0.2)(Z, X)), rows.predict(Z), atol=1e-8)
    scores = [
        cross_val_score(KernelRidge(kernel=k), M, Y[:, 0]) for k, M in ((RBF(0.2), X), ("precomputed", RBF(0.2)(X)))
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)


def test_sparse_rows_and_float32_and_functions_of_two_rows():
    dense = KernelRidge(kernel="rbf", gamma=0.2).fit(X, Y[:, 0])
    np.testing.assert_allclose(
        KernelRidge(kernel="rbf", gamma=0.2).fit(sparse.csr_array(X), Y[:, 0]).predict(sparse.csr_array(Z)),
        dense.predict(Z),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        KernelRidge(kernel="rbf", gamma=0.2).fit(X.astype(np.float32), Y[:, 0]).predict(Z.astype(np.float32)),
        dense.predict(Z),
        atol=1e-4,
    )
    mine, plain = (model(kernel=histogram).fit(X[:40], Y[:40, 0]) for model in (KernelRidge, PlainRidge))
    np.testing.assert_allclose(mine.predict(Z), plain.predict(Z), rtol=1e-8)


def test_more_rows_than_a_tile_holds():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1700, 6))
    y = np.sin(rows[:, 0]) + 0.1 * rng.normal(size=1700)
    expected = np.linalg.solve(RBF(0.1)(rows) + 0.5 * np.eye(1700), y)
    for solver in ("auto", "cholesky", "conjugate"):
        model = KernelRidge(0.5, kernel=RBF(0.1), solver=solver, tol=1e-9).fit(rows, y)
        np.testing.assert_allclose(model.dual_coef_, expected, atol=1e-7)
    assert "Conjugate gradients for 1700 rows" in KernelRidge(0.5, kernel=RBF(0.1)).fit(rows, y).solution_.status
    hard = KernelRidge(1e-2, kernel=RBF(0.5)).fit(rows, np.column_stack([y, np.abs(y)]), np.repeat([0.5, 2.0], 850))
    assert "too slowly" in hard.solution_.status
    assert "in float32, and" in hard.solution_.status
    penalty = 1e-2 * np.diag(np.repeat([2.0, 0.5], 850))
    expected = np.linalg.solve(RBF(0.5)(rows) + penalty, np.column_stack([y, np.abs(y)]))
    np.testing.assert_allclose(hard.dual_coef_, expected, atol=1e-5)
    tiny = KernelRidge(1e-9, kernel=RBF(0.1)).fit(rows, y)  # which drowns in float32
    assert "too slowly" in tiny.solution_.status
    assert "in float32, and" not in tiny.solution_.status
    assert tiny.solution_.gap < 1e-6


def test_memory_decides_and_is_named(monkeypatch):
    for module in (memory, gram):
        monkeypatch.setattr(module, "memory_limit", lambda: 100_000)
    for module in (conjugate, choice):
        monkeypatch.setattr(module, "tiles_fit", lambda n, dtype: False)
    with pytest.raises(NotAvailable, match=r"rows takes 0.0 GB.*solver='conjugate' needs less"):
        KernelRidge(kernel="rbf", solver="cholesky").fit(X, Y)
    never = KernelRidge(kernel="rbf", solver="conjugate").fit(X, Y[:, 0], WEIGHT)
    assert "never formed" in never.solution_.status
    np.testing.assert_allclose(never.predict(Z), PlainRidge(kernel="rbf").fit(X, Y[:, 0], WEIGHT).predict(Z), atol=1e-7)
    auto = KernelRidge(kernel="rbf", n_components=30).fit(X, Y)
    assert "an approximate solver was chosen" in auto.solution_.status
    assert auto.X_fit_.shape == (30, 4)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_what_the_approximation_costs_is_estimated(alpha):
    """From all rows, as these are few: then the bounds hold."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(150, 4))
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] + 0.1 * rng.normal(size=150)
    exact = KernelRidge(alpha, kernel=RBF(0.2)).fit(rows, y).solution_
    rough = KernelRidge(alpha, kernel=RBF(0.2), solver="nystroem", n_components=25).fit(rows, y).solution_
    cost = (rough.objective - exact.objective) / rough.objective
    low = float(rough.status.split("estimated ")[1].split("%")[0]) / 100
    assert low - 0.001 <= cost <= rough.approximation_cost + 1e-9
    assert cost > 1e-4


def test_a_kernel_that_is_not_positive_definite_is_told():
    with pytest.warns(ConvergenceWarning, match="the solution minimises nothing"):
        model = KernelRidge(1e-3, kernel="sigmoid", gamma=1.0).fit(X, Y[:, 0])
    K = np.tanh(X @ X.T + 1.0)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K + 1e-3 * np.eye(N), Y[:, 0]), rtol=1e-5, atol=1e-6)
    singular = KernelRidge(0.0).fit(X, X @ [1.0, 2.0, 3.0, 4.0])
    assert "singular" in singular.solution_.status
    np.testing.assert_allclose(singular.predict(Z), Z @ [1.0, 2.0, 3.0, 4.0], rtol=1e-8)


def test_a_singular_gram_matrix_with_an_intercept_is_least_squares():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 3)) + 5.0, rng.uniform(0.5, 2.0, 60)
    Y = X @ rng.normal(size=(3, 2)) + 7.0 + rng.normal(size=(60, 2))
    columns = np.column_stack([np.ones(60), X])
    for given in (None, weight):
        root = np.ones(60) if given is None else np.sqrt(given)
        found = np.linalg.lstsq(root[:, None] * columns, root[:, None] * Y, rcond=None)[0]
        for kernel, rows in (("linear", X), ("precomputed", X @ X.T)):
            model = KernelRidge(0.0, kernel=kernel, fit_intercept=True).fit(rows, Y, given)
            np.testing.assert_allclose(model.predict(rows), columns @ found, rtol=1e-9)
            np.testing.assert_allclose(model.intercept_, found[0], rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
def test_tiny_penalties_of_a_kernel_with_few_features(alpha, weighted, fit_intercept):
    """Predictions and objective are those of least squares with the penalty as further rows."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4)) * [1.0, 3.0, 0.3, 1.0] + [2.0, 0.0, 1.0, -1.0]
    Y = X @ rng.normal(size=(4, 2)) + 3.0 + rng.normal(size=(500, 2))
    weight = rng.uniform(0.5, 2.0, 500) if weighted else np.ones(500)
    features = np.asarray(Polynomial(degree=2, gamma=1.0).features(X))
    columns = np.column_stack([np.ones(500), features]) if fit_intercept else features
    root, penalties = np.sqrt(weight)[:, None], np.array([alpha, 1.0])
    model = KernelRidge(penalties, kernel="poly", degree=2, gamma=1.0, fit_intercept=fit_intercept)
    model.fit(X, Y, sample_weight=weight if weighted else None)
    assert model.solution_.converged
    objective = 0.0
    for target, penalty in enumerate(penalties):
        extra = np.sqrt(penalty) * np.eye(columns.shape[1])[int(fit_intercept) :]
        rows = np.vstack([root * columns, extra])
        right = np.concatenate([root[:, 0] * Y[:, target], np.zeros(len(extra))])
        coef = np.linalg.lstsq(rows, right, rcond=None)[0]
        np.testing.assert_allclose(model.predict(X)[:, target], columns @ coef, atol=1e-5, rtol=0)
        objective += np.square(right - rows @ coef).sum()
    np.testing.assert_allclose(model.solution_.objective, objective, rtol=1e-9)


def test_a_fit_that_does_not_reach_its_tolerance_says_so():
    with pytest.warns(ConvergenceWarning, match="above tol=1e-14: max_iter steps were made"):
        KernelRidge(1e-3, kernel=RBF(0.2), solver="conjugate", tol=1e-14, max_iter=3).fit(X, Y[:, 0])


K = np.exp(-0.2 * cdist(X, X, "sqeuclidean"))


@pytest.mark.parametrize(
    ("given", "rows", "error", "said"),
    [
        ({"kernel": "precomputed"}, K[:, :5], InvalidData, "a Gram matrix is square"),
        ({"kernel": "precomputed"}, K + np.triu(K), InvalidData, "it is not symmetric"),
        ({"kernel": "precomputed"}, K - 0.5 * np.eye(N), InvalidData, "smallest eigenvalue is -0.5"),
        ({"kernel": "rbf", "gamma": -1.0}, X, InvalidParameter, "more than 0"),
        ({"kernel": "gauss"}, X, InvalidParameter, "KernelRidge: kernel='gauss'"),
        ({"kernel": lambda a, b: np.ones((3, 3))}, X, InvalidData, r"shape \(3, 3\) for 2 and 3 rows"),
        ({"kernel": lambda a, b: a @ b.T * np.nan}, X, InvalidData, "gave nan"),
        ({"kernel": Exponential(1000.0)}, 100 * X, InvalidData, "beyond the range of float64"),
        ({"alpha": [1.0, 2.0, 3.0]}, X, InvalidParameter, "alpha has 3 entries for 2 targets"),
        ({"alpha": -1.0}, X, InvalidParameter, "alpha must be a finite number, 0 or more"),
        ({"solver": "svd"}, X, InvalidParameter, "solver must be one of"),
        ({"tol": 0.0}, X, InvalidParameter, "tol must be"),
        ({"n_components": 0}, X, InvalidParameter, "n_components must be"),
        ({}, Shipped(X, Y), NotAvailable, "takes rows in memory"),
    ],
)
def test_refusals(given, rows, error, said):
    with pytest.raises(error, match=said), np.errstate(invalid="ignore", over="ignore"):
        KernelRidge(**given).fit(rows, None if isinstance(rows, Shipped) else Y)


def test_a_model_with_an_expression_comes_back_and_one_with_a_function_is_refused(tmp_path):
    model = KernelRidge(kernel=0.5 * Polynomial(2) + RBF("scale")).fit(X, Y)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert back.kernel_ == model.kernel_
    np.testing.assert_array_equal(back.predict(Z), model.predict(Z))
    with pytest.raises(InvalidFile, match="functions of your own"):
        save(KernelRidge(kernel=FeatureMap(lambda rows: rows)).fit(X, Y), tmp_path / "other.skops")


@pytest.mark.parametrize("unit", [4.0**75, 4.0**-75])
@pytest.mark.parametrize("solver", ["conjugate", "nystroem", "cholesky"])
@pytest.mark.filterwarnings("error")
def test_weights_and_penalty_have_no_unit(solver, unit):
    rng = np.random.default_rng(3)
    rows, weight = rng.normal(size=(300, 4)), rng.uniform(0.2, 3.0, size=300)
    y = np.sin(rows[:, 0]) + 0.1 * rng.normal(size=300)
    given = {"kernel": "rbf", "gamma": 0.2, "solver": solver}
    plain = KernelRidge(alpha=0.5, **given).fit(rows, y, weight)
    mine = KernelRidge(alpha=0.5 * unit, **given).fit(rows, y, unit * weight)
    np.testing.assert_array_equal(mine.dual_coef_, plain.dual_coef_)
    assert mine.solution_.objective == unit * plain.solution_.objective
