"""Kernel support vector machines against scikit-learn's, and against the conditions that an optimum satisfies."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

from hiperplano import SVC, SVCCV, SVR, LinearSVC, OneClassSVM
from hiperplano.errors import ConvergenceWarning, InvalidData, InvalidParameter, InvalidTarget
from hiperplano.kernels import RBF, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4))
Y = (X[:, 0] * X[:, 1] + 0.4 * RNG.normal(size=160) > 0).astype(int)
TARGET = 2 * X[:, 0] + np.sin(X[:, 1]) + 0.1 * RNG.normal(size=160)

KERNELS = [
    {},
    {"C": 100.0},
    {"C": 1e-3},
    {"kernel": "linear"},
    {"kernel": "poly", "coef0": 1.0, "degree": 2},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"class_weight": {0: 3.0, 1: 0.5}},
    {"gamma": 30.0},
    {"gamma": "auto"},
]


@pytest.mark.parametrize("parameters", KERNELS, ids=str)
def test_classifiers_agree_with_scikit_learn(parameters):
    theirs = svm.SVC(tol=1e-8, **parameters).fit(X, Y)
    ours = SVC(tol=1e-8, **parameters).fit(X, Y)
    scale = np.abs(theirs.decision_function(X)).max()
    # libsvm keeps kernel values in float32, which limits what can be compared where C is large.
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4 * scale)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    assert ours.solution_.gap < 1e-6 or parameters.get("kernel") == "sigmoid"


@pytest.mark.parametrize(
    "parameters", [{}, {"C": 100.0, "epsilon": 0.0}, {"kernel": "linear", "epsilon": 0.3}, {"C": 1e-2}], ids=str
)
def test_regressions_agree_with_scikit_learn(parameters):
    theirs = svm.SVR(tol=1e-8, **parameters).fit(X, TARGET)
    ours = SVR(tol=1e-8, **parameters).fit(X, TARGET)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-2 * max(1.0, parameters.get("C", 1.0)))


def test_novelties_agree_with_scikit_learn():
    theirs, ours = svm.OneClassSVM(tol=1e-9, nu=0.2).fit(X), OneClassSVM(tol=1e-9, nu=0.2).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    assert np.mean(ours.decision_function(X) < -1e-9) <= 0.2 <= len(ours.support_) / len(X)


@pytest.fixture(scope="module")
def digits():
    rows, labels = load_digits(return_X_y=True)
    rows, labels = rows[:600], labels[:600]
    return rows, labels, svm.SVC(tol=1e-7).fit(rows, labels), SVC(tol=1e-7).fit(rows, labels)


def test_many_classes_have_the_layout_of_scikit_learn(digits):
    rows, labels, theirs, ours = digits
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    pairs = SVC(tol=1e-7, decision_function_shape="ovo").fit(rows, labels).decision_function(rows)
    np.testing.assert_allclose(
        pairs, theirs.set_params(decision_function_shape="ovo").decision_function(rows), atol=1e-5
    )
    broken = SVC(tol=1e-7, break_ties=True).fit(rows, labels)
    np.testing.assert_array_equal(broken.predict(rows), broken.decision_function(rows).argmax(axis=1))


def test_sparse_and_precomputed_rows_give_the_same_machine(digits):
    rows, labels, _, ours = digits
    sparse = SVC(tol=1e-7).fit(csr_array(rows), labels)
    np.testing.assert_allclose(sparse.decision_function(csr_array(rows)), ours.decision_function(rows), atol=1e-5)
    gram = ours.kernel_(rows)
    given = SVC(kernel="precomputed", tol=1e-7).fit(gram, labels)
    np.testing.assert_allclose(given.decision_function(gram), ours.decision_function(rows), atol=1e-5)
    weight = np.ones(len(rows))
    weight[::7] = 0
    some = SVC(kernel="precomputed", tol=1e-7).fit(gram, labels, weight)
    alone = SVC(kernel=ours.kernel_, tol=1e-7).fit(rows[weight > 0], labels[weight > 0])
    np.testing.assert_allclose(some.decision_function(gram), alone.decision_function(rows), atol=1e-5)
    assert not (some.support_ % 7 == 0).any()


def optimality(kernel, rows, sign, beta, intercept, C):
    """The largest violation of the optimality conditions, from the whole Gram matrix."""
    margin = sign * (kernel(rows) @ beta + intercept)
    alpha = sign * beta
    assert alpha.min() >= 0
    assert alpha.max() <= C
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    wrong = np.where(alpha < C, 1 - margin, 0).clip(0) + np.where(alpha > 0, margin - 1, 0).clip(0)
    return wrong.max()


@pytest.mark.parametrize(("C", "cache_size"), [(1.0, 200), (30.0, 2)])
def test_larger_tables_are_solved_in_working_sets(C, cache_size):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1500, 6))
    labels = np.sin(rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.5 * rng.normal(size=1500) > 0
    order = rng.permutation(1500)
    kernel = RBF(0.1)
    model = SVC(C=C, kernel=kernel, cache_size=cache_size).fit(rows, labels)
    beta = np.zeros(1500)
    beta[model.support_] = model.dual_coef_[0]
    assert optimality(kernel, rows, np.where(labels, 1.0, -1.0), beta, model.intercept_[0], C) <= 1e-3
    other = SVC(C=C, kernel=kernel, tol=1e-5, verbose=False).fit(rows[order], labels[order])
    np.testing.assert_allclose(other.decision_function(rows), model.decision_function(rows), atol=5e-3)
    again = SVC(C=C, kernel=kernel, tol=1e-5, warm_start=True).fit(rows, labels)
    again.fit(rows, labels)
    assert again.n_iter_[0] <= 10
    target = rows[:, 0] + 0.1 * rng.normal(size=1500)
    ours, theirs = (
        SVR(C=C, gamma=0.1, cache_size=cache_size, tol=1e-4).fit(rows, target),
        svm.SVR(C=C, gamma=0.1, tol=1e-4).fit(rows, target),
    )
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), atol=5e-3)


def test_a_linear_kernel_is_the_linear_machine():
    machine = SVC(kernel=Linear(), tol=1e-9).fit(X, Y)
    plane = LinearSVC(loss="hinge", tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(machine.coef_, plane.coef_, atol=1e-5)
    np.testing.assert_allclose(machine.solution_.objective, plane.solution_.objective, rtol=1e-7)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SVC().fit(X, Y).coef_


def test_weights_repeat_rows():
    weight = RNG.integers(0, 3, len(X)).astype(float)
    again = np.repeat(np.arange(len(X)), weight.astype(int))
    for model, target in ((SVC(), Y), (SVR(), TARGET)):
        one, other = model.fit(X, target, weight), type(model)().fit(X[again], target[again])
        answer = "decision_function" if model is not None and hasattr(model, "decision_function") else "predict"
        np.testing.assert_allclose(getattr(one, answer)(X), getattr(other, answer)(X), atol=2e-3)


HARD = {
    "rows repeated": (np.repeat(X[:20], 8, axis=0), Y),
    "one point for each class": (np.where(Y[:, None] == 1, 1.0, -1.0) * np.ones((160, 2)), Y),
    "all rows equal": (np.ones((160, 3)), Y),
    "two rows": (X[:2], np.array([0, 1])),
    "far from the origin": (X + 1e4, Y),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
def test_hard_tables_end_with_a_gap(case, C):
    rows, labels = HARD[case]
    for gamma in (1e-4, 1.0, 1e4):
        model = SVC(C=C, gamma=gamma).fit(rows, labels)
        assert model.solution_.converged
        assert np.isfinite(model.decision_function(rows)).all()


def test_a_fit_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match=r"duality gap.*max_iter=3 steps"):
        model = SVC(C=100.0, max_iter=3).fit(X, Y)
    assert not model.solution_.converged
    assert model.fit_status_ == 1
    assert model.solution_.gap > 0


def test_progress_is_shown(capsys):
    SVC(verbose=True).fit(X, Y)
    assert "violation" in capsys.readouterr().out


def test_search_shares_what_it_computes():
    grid = {"gamma": [0.01, 0.1, 1.0], "C": [0.1, 1.0, 10.0, 100.0]}
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    for labels, scoring in ((Y, "roc_auc"), (codes, None)):
        theirs = GridSearchCV(svm.SVC(tol=1e-6), grid, cv=4, scoring=scoring).fit(X, labels)
        ours = SVCCV(Cs=grid["C"], gammas=grid["gamma"], cv=4, tol=1e-6, scoring=scoring).fit(X, labels)
        mean = theirs.cv_results_["mean_test_score"].reshape(4, 3).T
        np.testing.assert_allclose(ours.scores_.mean(axis=0), mean, atol=1e-12)
        assert (ours.C_, ours.gamma_) == (theirs.best_params_["C"], theirs.best_params_["gamma"])
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    linear = SVCCV(Cs=[0.1, 1.0], kernel="linear", cv=3).fit(X, Y)
    assert linear.gamma_ is None
    assert linear.scores_.shape == (3, 1, 2)


@pytest.mark.parametrize("labels", [Y, np.digitize(TARGET, [-1, 1])], ids=["two", "three"])
def test_coefficients_are_as_sparse_as_the_rows(labels):
    dense, theirs = SVC(kernel="linear", tol=1e-9).fit(X, labels), svm.SVC(kernel="linear").fit(csr_array(X), labels)
    ours = SVC(kernel="linear", tol=1e-9).fit(csr_array(X), labels)
    np.testing.assert_allclose(ours.dual_coef_.toarray(), dense.dual_coef_, atol=1e-6)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_allclose(ours.coef_.toarray(), dense.coef_, atol=1e-7)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.decision_function(X), dense.decision_function(X), atol=1e-7)
    for coef in (dense.coef_, ours.coef_.data):  # predictions do not come from it
        with pytest.raises(ValueError, match="read-only"):
            coef[0] = 0.0


def test_a_function_of_sparse_rows_may_give_sparse_values():
    rows = csr_array(X)
    found = SVC(kernel=lambda x, z: x @ z.T).fit(rows, Y).decision_function(rows)
    np.testing.assert_allclose(found, SVC(kernel="linear").fit(X, Y).decision_function(X), atol=1e-2)


def test_an_infinite_C_allows_no_loss():
    """As a very large one, where rows can be separated or lie within the tube."""
    hard, large = (SVC(C=C, tol=1e-8).fit(X[:60], Y[:60]) for C in (np.inf, 1e10))
    np.testing.assert_allclose(hard.decision_function(X), large.decision_function(X), atol=1e-6)
    assert (np.where(Y[:60], 1, -1) * hard.decision_function(X[:60])).min() > 1 - 1e-6
    assert hard.solution_.gap < 1e-5
    tube, other = (SVR(C=C, tol=1e-8).fit(X[:60], TARGET[:60]) for C in (np.inf, 1e10))
    np.testing.assert_allclose(tube.predict(X), other.predict(X), atol=1e-6)
    assert np.abs(tube.predict(X[:60]) - TARGET[:60]).max() < 0.1 + 1e-6
    assert tube.solution_.gap < 1e-5


REFUSALS = [
    (lambda: SVC(kernel=lambda x, z: x @ z.T).fit(["A B", "B"], [0, 1]), InvalidData, "X holds text|Expected 2D"),
    (lambda: OneClassSVM().fit(None), InvalidData, "Pass a table"),
    (lambda: SVC(gamma=0.0).fit(X, Y), InvalidParameter, "gamma"),
    (lambda: SVC(C=0.0).fit(X, Y), InvalidParameter, "C must be"),
    (lambda: SVC(max_iter=0).fit(X, Y), InvalidParameter, "max_iter"),
    (lambda: SVC(break_ties=True, decision_function_shape="ovo").fit(X, Y).predict(X), InvalidParameter, "break_ties"),
    (lambda: SVC(class_weight={0: 0.0, 1: 1.0}).fit(X, Y), InvalidTarget, "class_weight gives 0"),
    (lambda: SVC(kernel="precomputed").fit(X, Y), InvalidData, "square"),
    (lambda: SVC(kernel="precomputed").fit(-np.eye(160), Y), InvalidData, "eigenvalue"),
    (lambda: SVC(kernel="precomputed").fit(np.triu(np.ones((160, 160))), Y), InvalidData, "symmetric"),
    (lambda: SVC(kernel=lambda x, z: np.full((len(x), len(z)), np.nan)).fit(X, Y), InvalidData, "finite"),
    (lambda: SVC(kernel=lambda x, z: np.ones((2, 2))).fit(X, Y), InvalidData, "shape|failed"),
    (lambda: SVR(epsilon=-1.0).fit(X, TARGET), InvalidParameter, "epsilon"),
    (lambda: OneClassSVM(nu=0.0).fit(X), InvalidParameter, "nu"),
    (lambda: SVCCV(Cs=[]).fit(X, Y), InvalidParameter, "Cs is empty"),
    (lambda: SVCCV(cv=[(np.flatnonzero(Y), np.flatnonzero(Y == 0))]).fit(X, Y), InvalidTarget, "trains on no row"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSALS, ids=[words for _, _, words in REFUSALS])
def test_refusals_give_evidence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_matrix_that_is_not_symmetric_is_refused_by_its_own_rows():
    gram = np.eye(40)
    gram[3, 21] = 0.5
    with pytest.raises(InvalidData, match=r"K\[3, 21\] = 0.5|K\[21, 3\] = 0"):
        SVC(kernel="precomputed").fit(gram, np.arange(40) % 2)
