"""Linear support vector machines against quadratic programs, LIBSVM, and their own proofs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn import svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC, SVR

from hiperplano import LinearSVC, LinearSVR
from hiperplano.errors import ConvergenceWarning
from hiperplano.solvers.svm.compiled import in_memory
from hiperplano.solvers.svm.compiled.search import Search
from tests import quadratic

LOSSES = ["hinge", "squared_hinge"]
SOLVERS = ["newton", "dual"]


def problem(n=60, d=4, noise=1.0, seed=0, offset=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + offset
    score = (X - offset) @ rng.normal(size=d) + noise * rng.normal(size=n) - 0.4
    return X, np.where(score > 0, 1.0, -1.0)


def objective(model, X, y, weight=1.0):
    margin = 1 - y * (X @ model.coef_[0] + model.intercept_[0])
    loss = np.maximum(0, margin) ** (2 if model.loss == "squared_hinge" else 1)
    return 0.5 * np.sum(model.coef_**2) + model.C * np.sum(weight * loss)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_solves_the_quadratic_program(solver, loss, fit_intercept, C, seed):
    X, y = problem(seed=seed, n=(60, 25, 90)[seed], d=(4, 30, 2)[seed])
    coef, intercept, value = quadratic.hinge(X, y, C, squared=loss != "hinge", fit_intercept=fit_intercept)
    model = LinearSVC(C=C, loss=loss, fit_intercept=fit_intercept, solver=solver, tol=1e-9, max_iter=50_000).fit(X, y)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    assert objective(model, X, y) == pytest.approx(model.solution_.objective, rel=1e-12)
    np.testing.assert_allclose(model.coef_[0], coef, atol=1e-4)
    if C == 1.0:  # with little strength the hinge has many intercepts that are equally good
        assert model.intercept_[0] == pytest.approx(intercept, abs=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_rows_and_classes_multiply_C(solver, loss):
    X, y = problem(n=80)
    weight = np.random.default_rng(1).uniform(0, 3, len(y))
    by_class = {-1.0: 2.0, 1.0: 0.5}
    strength = 0.3 * weight * np.where(y > 0, 0.5, 2.0)
    coef, intercept, value = quadratic.hinge(X, y, strength, squared=loss != "hinge")
    model = LinearSVC(C=0.3, loss=loss, class_weight=by_class, solver=solver, tol=1e-9, max_iter=50_000)
    model.fit(X, y, sample_weight=weight)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], coef, atol=1e-4)
    assert model.intercept_[0] == pytest.approx(intercept, abs=1e-4)


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_the_hinge_is_that_of_libsvm(C):
    X, y = problem(n=150, d=5)
    rival = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    model = LinearSVC(C=C, loss="hinge", tol=1e-10).fit(X, y)
    # LIBSVM stops at a violation of 1e-8, which moves planes in proportion to C: over 24 seeds, by 1.4e-5·C at most.
    np.testing.assert_allclose(model.coef_, rival.coef_, rtol=0, atol=5e-5 * C)
    np.testing.assert_allclose(model.intercept_, rival.intercept_, rtol=0, atol=5e-5 * C)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_regression_solves_its_quadratic_program(solver, loss, epsilon):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3)) + 2
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=50) + 4
    coef, intercept, value = quadratic.insensitive(X, y, 0.5, epsilon, squared=loss.startswith("squared"))
    model = LinearSVR(C=0.5, epsilon=epsilon, loss=loss, solver=solver, tol=1e-9, max_iter=100_000).fit(X, y)
    assert model.solution_.objective == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-4)


def test_regression_is_that_of_libsvm():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 4))
    y = X @ [1.0, 0.0, 2.0, -1.0] + 0.3 * rng.normal(size=120)
    rival = SVR(kernel="linear", C=2.0, epsilon=0.1, tol=1e-9).fit(X, y)
    model = LinearSVR(C=2.0, epsilon=0.1, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, rival.coef_[0], atol=1e-4)


def test_a_tube_that_holds_all_targets_gives_a_level_line():
    X = np.arange(10.0)[:, None]
    model = LinearSVR(epsilon=3.0).fit(X, np.linspace(5.0, 10.0, 10))
    assert abs(model.coef_[0]) < 1e-12
    assert 7.0 <= model.intercept_ <= 8.0
    assert model.solution_.converged


def proof(model, X, y, weight, squared, fit_intercept):
    """The dual objective that the multipliers prove, by hand."""
    beta = model.solution_.multipliers[0]
    alpha = y * beta
    assert (alpha >= 0).all()
    if not squared:
        assert (alpha <= model.C * weight * (1 + 1e-12)).all()
    if fit_intercept:
        assert abs(beta.sum()) <= 1e-10 * np.abs(beta).sum()
    value = alpha.sum() - 0.5 * np.sum((beta @ X) ** 2)
    return value - np.sum(alpha[weight > 0] ** 2 / (4 * model.C * weight[weight > 0])) if squared else value


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 60),
    d=st.integers(1, 40),
    power=st.floats(-3, 0.5),
    fit_intercept=st.booleans(),
    weighted=st.booleans(),
)
def test_every_gap_is_proved_by_the_multipliers(solver, loss, seed, n, d, power, fit_intercept, weighted):
    X, y = problem(n=n, d=d, seed=seed)
    y[:2] = [-1.0, 1.0]
    weight = np.random.default_rng(seed).integers(0, 3, n).astype(float) if weighted else np.ones(n)
    weight[:2] = 1.0
    model = LinearSVC(C=10**power, loss=loss, solver=solver, fit_intercept=fit_intercept, max_iter=200_000)
    model.fit(X, y, sample_weight=weight)
    bound = proof(model, X, y, weight, loss != "hinge", fit_intercept)
    assert bound == pytest.approx(model.solution_.dual_objective, rel=1e-9, abs=1e-12)
    gap = objective(model, X, y, weight) - bound
    assert gap <= 1e-4 * objective(model, X, y, weight)
    assert model.solution_.gap == pytest.approx(gap / objective(model, X, y, weight), rel=1e-6, abs=1e-10)


def test_multipliers_tell_the_side_of_the_margin():
    X, y = problem(n=300, d=5, noise=2.0)
    model = LinearSVC(C=0.7, loss="hinge", tol=1e-12).fit(X, y)
    alpha, margin = y * model.solution_.multipliers[0], y * model.decision_function(X)
    np.testing.assert_allclose(margin[(alpha > 1e-6) & (alpha < 0.7 - 1e-6)], 1.0, atol=1e-5)
    assert (margin[alpha <= 1e-6] >= 1 - 1e-5).all()
    assert (margin[alpha >= 0.7 - 1e-6] <= 1 + 1e-5).all()
    assert 0 < np.sum((alpha > 1e-6) & (alpha < 0.7 - 1e-6)) <= 6
    np.testing.assert_allclose(model.solution_.multipliers @ X, model.coef_, atol=1e-5)


def test_squared_hinge_multipliers_are_twice_the_loss():
    X, y = problem(n=300, d=5, noise=2.0)
    model = LinearSVC(C=0.7, tol=1e-12).fit(X, y)
    slack = np.maximum(0, 1 - y * model.decision_function(X))
    np.testing.assert_allclose(y * model.solution_.multipliers[0], 2 * 0.7 * slack, atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_little_strength_leaves_the_prior(solver):
    X, y = problem(n=200, d=3)
    y[:130], y[130:] = 1.0, -1.0
    hinge = LinearSVC(C=1e-9, loss="hinge", solver=solver, tol=1e-8, max_iter=20_000).fit(X, y)
    assert np.abs(hinge.coef_).max() < 1e-6
    assert hinge.intercept_[0] == pytest.approx(1.0, abs=1e-6)  # all are called the larger class
    assert hinge.solution_.objective / 1e-9 == pytest.approx(2 * 70, rel=1e-6)
    squared = LinearSVC(C=1e-9, solver=solver, tol=1e-8).fit(X, y)
    assert np.abs(squared.coef_).max() < 1e-6
    assert squared.intercept_[0] == pytest.approx((130 - 70) / 200, abs=1e-6)  # the difference of the shares


@pytest.mark.parametrize("loss", LOSSES)
def test_C_is_one_over_lambda_n(loss):
    """The mean loss with strength λ does not change when all rows are there three times; C = 1/(λn) does."""
    X, y = problem()
    strength = 0.02
    once = LinearSVC(C=1 / (strength * len(y)), loss=loss, tol=1e-12).fit(X, y)
    thrice = LinearSVC(C=1 / (strength * 3 * len(y)), loss=loss, tol=1e-12).fit(np.tile(X, (3, 1)), np.tile(y, 3))
    np.testing.assert_allclose(thrice.coef_, once.coef_, atol=1e-6)
    np.testing.assert_allclose(thrice.intercept_, once.intercept_, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_wide_sparse_rows(solver, loss):
    """More columns than a matrix of them is made for: rows of the curvature, and the loop over CSR rows."""
    rng = np.random.default_rng(5)
    X = sparse.random_array((400, 3000), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=3000) + 0.3 * rng.normal(size=400) > 0, 1.0, -1.0)
    model = LinearSVC(loss=loss, solver=solver, tol=1e-8, max_iter=20_000).fit(X, y)
    assert model.solution_.converged
    dense = LinearSVC(loss=loss, solver=solver, tol=1e-8, max_iter=20_000).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-4)
    bound = proof(model, X.toarray(), y, np.ones(400), loss != "hinge", True)
    assert objective(model, X.toarray(), y) - bound <= 1e-8 * objective(model, X.toarray(), y)


@pytest.mark.parametrize("loss", LOSSES)
def test_many_rows_are_solved_from_a_sample(loss):
    X, y = problem(n=20_000, d=6, noise=2.0)
    model = LinearSVC(loss=loss).fit(X, y)
    assert model.n_iter_ < 20
    assert objective(model, X, y) - proof(model, X, y, np.ones(len(y)), loss != "hinge", True) <= 1e-4 * objective(
        model, X, y
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_number_of_threads_changes_no_bit(loss, solver, monkeypatch):
    X, y = problem(n=30_000, d=3, noise=3.0)
    model = LinearSVC(C=1e-3, loss=loss, solver=solver).fit(X, y)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    alone = LinearSVC(C=1e-3, loss=loss, solver=solver).fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_of_very_different_scale(loss):
    """Nearly free, as it is counted in units of 1e12; and nearly useless, in units of 1e-6."""
    X, y = problem(n=100, d=3, offset=0.0)
    scale = np.array([1e12, 1.0, 1e-6])
    _, _, value = quadratic.hinge(X, y, 1.0, squared=loss != "hinge", penalty=np.array([1e-10, 1.0, 1e10]))
    model = LinearSVC(loss=loss).fit(X * scale, y)
    assert model.solution_.converged
    assert objective(model, X * scale, y) == pytest.approx(value, rel=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_large_means_do_no_harm(loss):
    X, y = problem(n=100, d=3, offset=0.0)
    plain = LinearSVC(loss=loss, tol=1e-10).fit(X, y)
    moved = LinearSVC(loss=loss, tol=1e-10).fit(X + 1e5, y)
    np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-5)


def test_a_column_of_zeros_gets_no_coefficient():
    X, y = problem()
    X[:, 2] = 0.0
    for loss in LOSSES:
        for solver in SOLVERS:
            assert LinearSVC(C=0.1, loss=loss, solver=solver, max_iter=20_000).fit(X, y).coef_[0, 2] == 0.0


def test_the_interior_point_method_has_its_name():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    found = LinearSVR(C=100.0).fit(X, X[:, 0] + rng.normal(size=300)).solution_
    assert str(found.method) == "dual coordinate ascent and an interior point method"
    assert "interior point" in str(found.status)


def test_a_fit_that_fails_its_goal_says_so():
    X, y = problem(n=200, d=10)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of .* above tol=1e-10: max_iter=3"):
        model = LinearSVC(loss="hinge", solver="dual", tol=1e-10, max_iter=3).fit(X, y)
    assert not model.solution_.converged
    assert model.solution_.gap > 1e-10
    bound = proof(model, X, y, np.ones(200), False, True)
    assert objective(model, X, y) - bound == pytest.approx(model.solution_.gap * objective(model, X, y), rel=1e-6)
    with pytest.warns(ConvergenceWarning, match="Newton's method ended"):
        LinearSVC(loss="hinge", solver="newton", tol=1e-12, max_iter=4).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_come_from_calibration(loss):
    X, y = problem(n=600, d=4, noise=0.5)
    labels = np.where(y > 0, "yes", "no")
    for method in ("sigmoid", "isotonic"):
        model = CalibratedClassifierCV(LinearSVC(loss=loss), method=method, cv=3).fit(X[:400], labels[:400])
        chance = model.predict_proba(X[400:])
        np.testing.assert_allclose(chance.sum(axis=1), 1.0)
        hit = labels[400:] == "yes"
        # 0.70 ± 0.09 over 24 seeds, 0.43 at least.
        assert np.mean(chance[hit, 1]) - np.mean(chance[~hit, 1]) > 0.25
    assert not hasattr(LinearSVC(), "predict_proba")


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_level_of_the_target_costs_no_digits(loss):
    """At a level of 1e6 a gap of 3% was reported, as solved: only the intercept knows the level."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    y = X @ rng.normal(size=8) + 0.3 * rng.normal(size=40)
    plain, high = (LinearSVR(epsilon=0.1, loss=loss, tol=1e-9).fit(X, y + level) for level in (0.0, 2.0**20))
    np.testing.assert_allclose(high.coef_, plain.coef_, rtol=1e-4 if loss == "epsilon_insensitive" else 1e-7)
    assert high.intercept_ - 2.0**20 == pytest.approx(plain.intercept_, abs=1e-4)
    assert high.solution_.gap <= 1e-9
    assert high.solution_.converged


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("level", [0.0, 1.0])
@pytest.mark.parametrize("n", [30, 600])
def test_a_constant_target_is_its_own_prediction(loss, level, n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    model = LinearSVR(loss=loss).fit(X, np.full(n, level))
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == level
    assert model.solution_.gap == 0.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_columns_that_hold_nothing_change_nothing(loss):
    rng = np.random.default_rng(5)
    few = sparse.random_array((80, 12), density=0.4, rng=rng, format="csr")
    places = rng.permutation(60)[:12]
    wide = sparse.lil_array((80, 60))
    wide[:, places] = few
    y = rng.integers(0, 3, 80)
    alone, among = (LinearSVC(loss=loss, tol=1e-9).fit(X, y) for X in (few, sparse.csr_array(wide)))
    np.testing.assert_allclose(among.coef_[:, places], alone.coef_, atol=1e-4)
    assert not np.delete(among.coef_, places, axis=1).any()
    theirs = svm.LinearSVC(loss=loss, tol=1e-9, max_iter=10**6, fit_intercept=False).fit(wide.tocsr(), y)
    ours = LinearSVC(loss=loss, tol=1e-9, fit_intercept=False).fit(sparse.csr_array(wide), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize(("n", "empty", "C"), [(2000, 20, 1.0), (5000, 2, 10.0)])
def test_rows_that_hold_nothing_among_long_ones(n, empty, C):
    """Their dual variables are the largest; each column has one row, so that the level alone is to be found."""
    rng = np.random.default_rng(0)
    size = np.where(np.arange(n) < empty, 0.0, rng.uniform(50.0, 1000.0, n))
    y = np.where(rng.random(n) < 0.3, -1.0, 1.0)
    X = sparse.csr_array(sparse.diags_array(size))
    X.eliminate_zeros()

    def least(level):
        return C * np.sum(np.maximum(0.0, 1.0 - y * level) ** 2 / (1.0 + 2.0 * C * size**2))

    model = LinearSVC(C=C).fit(X, y)
    assert model.solution_.converged
    best = minimize_scalar(least, bounds=(-3.0, 3.0), method="bounded").fun
    assert objective(model, X, y) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("n", "d"), [(300, 100), (200, 250), (100, 300)])
def test_columns_of_any_scale_are_solved_and_proved(n, d, loss):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + 3 * rng.normal(size=n) > 0, 1.0, -1.0)
    X *= 1e6 ** rng.uniform(size=d)
    model = LinearSVC(loss=loss, C=10.0).fit(X, y)
    coef, beta = model.coef_[0], model.solution_.multipliers[0]
    short = np.maximum(0, 1 - y * (X @ coef + model.intercept_[0]))
    primal = 0.5 * coef @ coef + 10 * np.sum(short if loss == "hinge" else short**2)
    dual = y @ beta - 0.5 * np.sum((beta @ X) ** 2) - (0 if loss == "hinge" else 0.025 * beta @ beta)
    assert model.solution_.converged
    assert (y * beta >= 0).all()
    assert loss != "hinge" or (y * beta <= 10).all()
    assert primal - dual <= 1e-4 * primal + 1e-13 * 10 * n


@pytest.mark.parametrize(("d", "seed"), [(400, 3), (200, 2)])
def test_rows_that_become_free_one_by_one(d, seed):
    n, rng = 300, np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    y = X @ rng.normal(size=d) > np.quantile(X @ rng.normal(size=d), 0.9)
    X *= 3e3 ** rng.uniform(size=d)
    assert LinearSVC(C=100.0).fit(X, y).solution_.converged


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_rows_that_seldom_meet(loss):
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 2000), density=2e-3, rng=rng, format="csr", data_sampler=rng.standard_normal)
    y = np.where(X @ rng.normal(size=2000) + 0.5 * rng.normal(size=600) > 0, 1.0, -1.0)
    X = sparse.csr_array(X * 1e4 ** rng.uniform(size=2000))
    model = LinearSVC(loss=loss, C=1e5).fit(X, y)
    assert model.solution_.converged
    assert model.solution_.gap <= 1e-4


@pytest.mark.parametrize("solver", ["newton", "auto"])
def test_separated_classes_with_a_large_penalty_are_solved_by_sums_over_the_rows(solver, monkeypatch):
    """As tables too large for a copy are, and streams: Newton's method alone frees and binds a few rows in a step."""
    monkeypatch.setattr(in_memory, "_COPIED_CELLS", 0)
    monkeypatch.setattr(in_memory, "MOST_DENSE_CELLS", 0)
    rng, C = np.random.default_rng(0), 1e4
    X = rng.normal(size=(700, 110))
    sign = np.where(X @ rng.normal(size=110) > 0, 1.0, -1.0)
    model = LinearSVC(C=C, solver=solver).fit(X, sign)
    beta, w = model.solution_.multipliers[0], model.coef_[0]
    slack = np.maximum(0.0, 1 - sign * model.decision_function(X))
    primal = 0.5 * w @ w + C * slack @ slack
    dual = np.abs(beta).sum() - 0.5 * np.sum((beta @ X) ** 2) - beta @ beta / (4 * C)
    assert (beta * sign >= 0).all()
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    assert primal - dual <= 1.01e-4 * primal


@pytest.mark.parametrize("loss", LOSSES)
def test_classes_on_few_rows_share_the_span_of_the_rows(loss, monkeypatch):
    """Classes are solved on as many coordinates as there are rows; the quadratic program judges every plane."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 600)), np.arange(40) % 4
    starts = []
    ascend = Search.ascend_then_active_set
    monkeypatch.setattr(
        Search,
        "ascend_then_active_set",
        lambda self, passes: (starts.append(len(self.rows.shift)), ascend(self, passes))[1],
    )
    model = LinearSVC(loss=loss, C=0.3, tol=1e-9).fit(X, y)
    assert starts == [39] * 4  # centred rows
    for k, coef in enumerate(model.coef_):
        sign = np.where(y == k, 1.0, -1.0)
        expected = quadratic.hinge(X, sign, 0.3, squared=loss == "squared_hinge")[2]
        margin = np.maximum(0, 1 - sign * (X @ coef + model.intercept_[k]))
        value = 0.5 * coef @ coef + 0.3 * np.sum(margin ** (2 if loss == "squared_hinge" else 1))
        assert value == pytest.approx(expected, rel=1e-7)
