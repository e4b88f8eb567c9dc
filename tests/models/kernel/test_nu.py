"""Machines with a share nu of support vectors: scikit-learn's, and the machines with C and ε that they are."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import svm
from sklearn.datasets import load_iris

from hiperplano import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from hiperplano.errors import ConvergenceWarning, InvalidParameter
from hiperplano.kernels import RBF

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4))
Y = (X[:, 0] * X[:, 1] + 0.4 * RNG.normal(size=160) > 0).astype(int)
TARGET = 2 * X[:, 0] + np.sin(X[:, 1]) + 0.1 * RNG.normal(size=160)
WEIGHT = RNG.integers(1, 4, size=160) * 0.7
KERNELS = [{"gamma": 0.2}, {"gamma": 3.0}, {"kernel": "poly", "gamma": 0.1, "coef0": 1.0, "degree": 2}]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("parameters", KERNELS, ids=str)
@pytest.mark.parametrize("nu", [0.05, 0.5, 0.8])
def test_they_agree_with_scikit_learn(nu, parameters, weight):
    if nu > 0.05 or "kernel" not in parameters:  # the others have no margin
        theirs, ours = (kind(nu=nu, tol=1e-8, **parameters).fit(X, Y, weight) for kind in (svm.NuSVC, NuSVC))
        # libsvm keeps kernel values in float32.
        scores = theirs.decision_function(X)
        np.testing.assert_allclose(ours.decision_function(X), scores, atol=2e-4 * np.abs(scores).max())
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        largest = np.abs(theirs.dual_coef_).max()
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3 * largest)
    theirs, ours = (kind(nu=nu, tol=1e-8, **parameters).fit(X, TARGET, weight) for kind in (svm.NuSVR, NuSVR))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)


def test_many_classes_have_the_layout_of_scikit_learn():
    rows, labels = load_iris(return_X_y=True)
    rows = np.where(RNG.random(rows.shape) < 0.2, rows[::-1], rows)  # so that all pairs have rows on their margins
    theirs, ours = (kind(nu=0.4, gamma=0.5, tol=1e-8).fit(rows, labels) for kind in (svm.NuSVC, NuSVC))
    for name in ("support_", "n_support_", "class_weight_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3 * np.abs(theirs.dual_coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    sparse = NuSVC(nu=0.4, gamma=0.5, tol=1e-8).fit(csr_array(rows), labels)
    given = NuSVC(nu=0.4, kernel="precomputed", tol=1e-8).fit(ours.kernel_(rows), labels)
    for same in (sparse.decision_function(csr_array(rows)), given.decision_function(ours.kernel_(rows))):
        np.testing.assert_allclose(same, ours.decision_function(rows), atol=1e-6)


@pytest.mark.parametrize("nu", [0.4, 0.6])
def test_each_is_the_machine_with_c_or_epsilon(nu):
    """Solved by the other solver, with the C or ε that was found; n > 1,024 takes several working sets."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1100, 3))
    labels = np.sin(2 * rows[:, 0]) + 0.5 * rng.normal(size=1100) > 0
    share = NuSVC(nu=nu, gamma=0.5, tol=1e-6, cache_size=20).fit(rows, labels)
    assert share.solution_.gap < 1e-4
    cost = SVC(C=float(np.abs(share.dual_coef_).max()), gamma=0.5, tol=1e-6).fit(rows, labels)
    np.testing.assert_allclose(share.decision_function(rows), cost.decision_function(rows), atol=2e-3)
    np.testing.assert_allclose(share.solution_.objective, cost.solution_.objective, rtol=1e-4)
    margin = np.where(labels, 1, -1) * share.decision_function(rows)
    assert np.mean(margin < 1 - 1e-3) <= nu <= len(share.support_) / len(rows) + 1e-9
    target = rows[:, 0] ** 2 + 0.3 * rng.normal(size=1100)
    tube = NuSVR(nu=nu, gamma=0.5, tol=1e-6, cache_size=20).fit(rows, target)
    width = SVR(epsilon=tube.epsilon_, gamma=0.5, tol=1e-6).fit(rows, target)
    np.testing.assert_allclose(tube.predict(rows), width.predict(rows), atol=1e-4)
    assert tube.solution_.gap < 1e-5
    assert np.mean(np.abs(target - tube.predict(rows)) > tube.epsilon_ + 1e-4) <= nu <= len(tube.support_) / 1100


def test_weights_repeat_rows_and_have_no_unit():
    times = RNG.integers(0, 3, size=160)
    again = np.repeat(np.arange(160), times)
    for kind, target in ((NuSVC, Y), (NuSVR, TARGET)):
        one = kind(nu=0.4, tol=1e-7).fit(X, target, times)
        other = kind(nu=0.4, tol=1e-7).fit(X[again], target[again])
        np.testing.assert_allclose(one._scores(X), other._scores(X), atol=1e-4)
    small = NuSVC(nu=0.4, tol=1e-7).fit(X, Y, times * 1e-6)
    large = NuSVC(nu=0.4, tol=1e-7).fit(X, Y, times)
    np.testing.assert_allclose(small.decision_function(X), large.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 30.0])
def test_rows_that_are_asked_for_do_not_change_the_machine(gamma):
    """A matrix that is given is whole from the start; with a small nu, others are computed row by row."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(320, 3))
    target = rows[:, 0] + 0.3 * rng.normal(size=320)
    gram = RBF(gamma)(rows)
    for kind, given in ((OneClassSVM, {"nu": 0.03}), (NuSVR, {"nu": 0.03, "C": 10.0})):
        asked = kind(gamma=gamma, tol=1e-7, **given).fit(rows, target)
        whole = kind(kernel="precomputed", tol=1e-7, **given).fit(gram, target)
        np.testing.assert_allclose(asked._scores(rows), whole._scores(gram), atol=1e-5)
        np.testing.assert_allclose(asked.solution_.dual_objective, whole.solution_.dual_objective, rtol=1e-6)


@pytest.mark.parametrize("n", [60, 260, 700, 1100])
def test_a_kernel_that_tells_all_rows_apart_takes_no_step(n):
    """With K = I, the machine of one class has all rows alike, and regression the largest and smallest targets."""
    rng = np.random.default_rng(5)
    rows, weight, rank = rng.normal(size=(n, 20)), rng.uniform(0.1, 2.0, size=n), rng.permutation(n)
    alike = OneClassSVM(nu=0.09, gamma=1e3).fit(rows, sample_weight=weight)
    np.testing.assert_allclose(alike.dual_coef_[0], 0.09 * weight.mean(), rtol=1e-10)
    machine = NuSVR(nu=0.2, C=0.01, gamma=1e3).fit(rows, rank.astype(float))
    outside = np.flatnonzero((rank < n // 10) | (rank >= n - n // 10))
    np.testing.assert_array_equal(machine.support_, outside)
    np.testing.assert_allclose(machine.dual_coef_[0], np.where(rank[outside] < n // 2, -0.01, 0.01), rtol=1e-10)
    assert alike.n_iter_ == 0
    assert machine.n_iter_ == 0 or n > 1024


def test_a_fit_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match=r"duality gap.*max_iter=20 steps"):
        assert not NuSVR(max_iter=20, nu=0.2, C=100.0).fit(X, TARGET).solution_.converged


def test_a_share_that_leaves_no_margin_is_said():
    for model, rows in ((NuSVC(kernel="linear", nu=0.2), X), (NuSVC(nu=0.3), np.ones((160, 2)))):
        with pytest.warns(ConvergenceWarning, match="leaves no margin"):
            model.fit(rows, Y)
        assert not model.solution_.converged
        assert np.isfinite(model.decision_function(rows)).all()


FEW = np.arange(160) < 10
REFUSALS = [
    (lambda: NuSVC(nu=0.5).fit(X, FEW), InvalidParameter, "specified nu is infeasible.*at most 0.125"),
    (lambda: NuSVC(nu=0.0).fit(X, Y), InvalidParameter, "nu"),
    (lambda: NuSVC(nu=1.5).fit(X, Y), InvalidParameter, "nu"),
    (lambda: NuSVR(nu=0.0).fit(X, TARGET), InvalidParameter, "nu"),
    (lambda: NuSVR(C=0.0).fit(X, TARGET), InvalidParameter, "C must be"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSALS, ids=[words for *_, words in REFUSALS])
def test_refusals_give_evidence(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_last_digits_cost_no_more_steps_than_the_first():
    rng = np.random.default_rng(8)
    model = NuSVC(nu=0.1).fit(rng.normal(size=(40, 2)), rng.integers(0, 2, size=40))
    assert model.solution_.converged
    assert model.n_iter_.max() < 50_000


@pytest.mark.filterwarnings("ignore:The `probability` parameter:FutureWarning")
@pytest.mark.parametrize("labels", [Y, np.digitize(TARGET, [-1.0, 1.0])], ids=["two classes", "three"])
def test_probabilities_are_near_scikit_learns(labels):
    """Their folds are dealt in another order: sigmoids agree as far as those of two of their own seeds do."""
    one, other = (svm.NuSVC(nu=0.4, probability=True, random_state=seed).fit(X, labels) for seed in (0, 1))
    ours = NuSVC(nu=0.4, probability=True, random_state=0).fit(X, labels)
    found, right = ours.predict_proba(X), one.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert np.abs(found - right).mean() < 0.02 + 2 * np.abs(other.predict_proba(X) - right).mean()
    np.testing.assert_array_equal(ours.dual_coef_, NuSVC(nu=0.4).fit(X, labels).dual_coef_)
    assert ours.probA_.shape == (len(ours.intercept_),)
