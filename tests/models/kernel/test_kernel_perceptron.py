"""The kernel perceptron and Pegasos with a kernel are the linear learners on the features of the kernel."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from hiperplano import KernelPerceptron, Pegasos, Perceptron, load, replay, save
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.kernels import RBF, FeatureMap, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = (X @ [1.0, 2.0, -1.0] + 0.2 + 0.3 * RNG.normal(size=150) > 0).astype(int)
BANDS = np.digitize(X[:, 0], [-0.5, 0.5])
WEIGHT = RNG.integers(0, 4, size=150) * 0.75
INSIDE = (np.square(X[:, :2]).sum(axis=1) < 1).astype(int)


def squares(rows):
    return np.column_stack([rows, np.square(rows)])


def same(rows):
    return rows


PERCEPTRONS = [
    {"shuffle": False},
    {"random_state": 3, "average": 40},
    {"tol": None, "max_iter": 12, "average": True},
    {"fit_intercept": False, "tol": None, "max_iter": 7},
    {"eta0": 0.3, "class_weight": "balanced", "average": True},
]
MACHINES = [
    {},
    {"average": True, "class_weight": "balanced"},
    {"batch_size": 7, "average": 20},
    {"project": True, "schedule": "inverse"},
    {"batch_size": 4, "project": True, "fit_intercept": False},
]
PAIRS = [(Perceptron, KernelPerceptron, each) for each in PERCEPTRONS]
PAIRS += [
    (Pegasos, Pegasos, {"alpha": 0.01, "random_state": 0, "max_iter": 40, "tol": None} | each) for each in MACHINES
]


@pytest.mark.parametrize(("linear", "curved", "parameters"), PAIRS, ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_step_for_step_the_learner_on_features(linear, curved, parameters, weight):
    for labels in (Y, BANDS):
        for kernel, phi in ((Linear(), same), (FeatureMap(squares), squares)):
            plane = linear(**parameters).fit(phi(X), labels, sample_weight=weight)
            model = curved(kernel=kernel, **parameters).fit(X, labels, sample_weight=weight)
            assert model.solution_.mistakes_by_pass == plane.solution_.mistakes_by_pass
            assert model.solution_.updates == plane.solution_.updates
            np.testing.assert_allclose(model.solution_.objective, plane.solution_.objective, rtol=1e-8)
            scores = plane.decision_function(phi(X))
            np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-8 * np.abs(scores).max())
            if phi is same:
                np.testing.assert_allclose(model.coef_, plane.coef_, atol=1e-8 * np.abs(plane.coef_).max())


def test_replay_shows_every_step():
    for model, plane in (
        (KernelPerceptron(kernel=FeatureMap(squares), max_iter=3, tol=None), Perceptron(max_iter=3, tol=None)),
        (
            Pegasos(kernel=FeatureMap(squares), alpha=0.1, max_iter=2, tol=None, random_state=1),
            Pegasos(alpha=0.1, max_iter=2, tol=None, random_state=1),
        ),
    ):
        steps, others = list(replay(model, X, Y)), list(replay(plane, squares(X), Y))
        assert [(s.row, s.mistake, s.updated) for s in steps] == [(s.row, s.mistake, s.updated) for s in others]
        for step, other in zip(steps[::20], others[::20], strict=True):
            np.testing.assert_allclose(step.coef @ squares(X), other.coef, atol=1e-9)
            np.testing.assert_allclose([step.score, step.intercept], [other.score, other.intercept], atol=1e-9)
        last = model.fit(X, Y)
        np.testing.assert_allclose(steps[-1].coef[last.support_], last.dual_coef_[0], atol=1e-12)
    # α counts mistakes.
    counts = KernelPerceptron(max_iter=3, tol=None).fit(X, Y)
    rows = [step.row for step in replay(counts, X, Y) if step.mistake]
    np.testing.assert_array_equal(np.bincount(rows, minlength=150)[counts.support_], np.abs(counts.dual_coef_[0]))


@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(shuffle=False, max_iter=1, tol=None, gamma=0.3),
        KernelPerceptron(shuffle=False, max_iter=1, tol=None, gamma=0.3, average=True),
        KernelPerceptron(shuffle=False, max_iter=1, tol=None, gamma=0.3, budget=8),
        Pegasos(alpha=0.01, shuffle=False, max_iter=1, tol=None, kernel=RBF(0.3), average=True),
        Pegasos(alpha=0.01, shuffle=False, max_iter=1, tol=None, kernel=RBF(0.3), project=True),
    ],
    ids=str,
)
def test_chunks_are_one_pass(model):
    for labels in (INSIDE, BANDS):
        whole, parts = clone(model).fit(X, labels, sample_weight=WEIGHT), clone(model)
        for chunk in np.split(np.arange(150), [1, 2, 30, 31, 90]):
            if WEIGHT[chunk].any():
                rows = csr_array(X[chunk]) if chunk[0] == 30 else X[chunk]
                parts.partial_fit(rows, labels[chunk], np.unique(labels), sample_weight=WEIGHT[chunk])
        np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-9)
        assert parts.solution_.mistakes == whole.solution_.mistakes
        assert len(parts.support_) == len(whole.support_)
        assert set(parts.support_[parts.support_ >= 0]) <= set(range(60))


def test_a_warm_start_goes_on():
    for model in (
        KernelPerceptron(max_iter=4, tol=None, shuffle=False, gamma=0.5),
        Pegasos(alpha=0.01, max_iter=4, tol=None, shuffle=False, kernel=RBF(0.5)),
    ):
        long = clone(model).set_params(max_iter=8).fit(X, INSIDE)
        short = clone(model).set_params(warm_start=True).fit(X, INSIDE).fit(X, INSIDE)
        np.testing.assert_allclose(short.decision_function(X), long.decision_function(X), atol=1e-9)


def test_a_circle_is_separated_and_a_budget_is_kept():
    model = KernelPerceptron(kernel=Polynomial(2), tol=None).fit(X[:, :2], INSIDE)
    assert model.solution_.clean
    assert model.score(X[:, :2], INSIDE) == 1.0
    for small in (
        KernelPerceptron(budget=10, tol=None, max_iter=5, class_weight={0: 1.0, 1: 0.2}),
        Pegasos(alpha=0.01, kernel="rbf", budget=10, random_state=0),
        Pegasos(alpha=0.01, kernel="rbf", budget=10, batch_size=16, project=True, random_state=0),
    ):
        small.fit(X[:, :2], INSIDE)
        assert len(small.support_) == 10
        np.testing.assert_allclose(
            small._learner_.scores()[0], small.kernel_(small.support_vectors_) @ small.dual_coef_[0]
        )


def test_a_budget_leaves_out_the_oldest_of_equal_rows():
    """All counts are 1, so it is a window of the last mistakes: the rule written out."""
    counts, scores, gram = [], np.zeros(150), RBF(0.5)(X) + 1.0
    for row in range(150):
        sign = 2.0 * INSIDE[row] - 1.0
        if sign * scores[row] <= 0:
            counts.append((row, sign))
            scores += sign * gram[row]
            if len(counts) > 12:
                old, sign = counts.pop(0)
                scores -= sign * gram[old]
    model = KernelPerceptron(gamma=0.5, shuffle=False, max_iter=1, tol=None, budget=12).fit(X, INSIDE)
    assert sorted(row for row, _ in counts) == model.support_.tolist()
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)


def test_rows_of_the_gram_matrix_are_kept_as_far_as_they_fit():
    rows = np.random.default_rng(2).normal(size=(1100, 3))
    labels = rows[:, 0] + 0.1 * rows[:, 1] > 0
    for model in (
        KernelPerceptron(gamma=0.5),
        Pegasos(alpha=0.01, kernel=RBF(0.5), max_iter=3, tol=None, random_state=0),
    ):
        one, other = (clone(model).set_params(cache_size=size).fit(rows, labels) for size in (200, 0.05))
        np.testing.assert_allclose(one.decision_function(rows), other.decision_function(rows), atol=1e-9)


def test_sparse_and_precomputed_rows_give_the_same_function():
    gram = RBF(0.5)(X)
    for model in (KernelPerceptron(), Pegasos(alpha=0.01, random_state=0)):
        model.set_params(kernel=RBF(0.5), shuffle=False)
        plain = clone(model).fit(X, BANDS, sample_weight=WEIGHT)
        sparse = clone(model).fit(csr_array(X), BANDS, sample_weight=WEIGHT)
        given = clone(model).set_params(kernel="precomputed").fit(gram, BANDS, sample_weight=WEIGHT)
        np.testing.assert_array_equal(sparse.support_, plain.support_)
        np.testing.assert_array_equal(given.support_, plain.support_)
        assert (WEIGHT[plain.support_] > 0).all()
        np.testing.assert_allclose(sparse.decision_function(csr_array(X)), plain.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(given.decision_function(gram), plain.decision_function(X), atol=1e-9)


def test_a_model_goes_on_after_it_was_saved(tmp_path):
    model = Pegasos(alpha=0.01, kernel="rbf", random_state=0).partial_fit(X[:80], Y[:80], [0, 1])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    for each in (model, again):
        each.partial_fit(X[80:], Y[80:])
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    plane = model.set_params(kernel=None).fit(X, Y)
    assert not hasattr(plane, "support_vectors_")
    np.testing.assert_array_equal(plane.coef_, Pegasos(alpha=0.01, random_state=0).fit(X, Y).coef_)


REFUSALS = [
    (lambda: KernelPerceptron(kernel=None).fit(X, Y), InvalidParameter, "needs a kernel"),
    (lambda: KernelPerceptron(budget=5, average=True).fit(X, Y), InvalidParameter, "budget=5 with average"),
    (lambda: KernelPerceptron(budget=0).fit(X, Y), InvalidParameter, "budget"),
    (lambda: KernelPerceptron(gamma=-1.0).fit(X, Y), InvalidParameter, "gamma"),
    (lambda: KernelPerceptron(cache_size=0).fit(X, Y), InvalidParameter, "cache_size"),
    (lambda: Pegasos(budget=5).fit(X, Y), InvalidParameter, "without a kernel"),
    (lambda: Pegasos(kernel="rbf", batch_size=None).fit(X, Y), InvalidParameter, "batch_size=None"),
    (lambda: KernelPerceptron().fit(X, Y).coef_, NotAvailable, "linear kernel"),
    (lambda: Pegasos().fit(X, Y).dual_coef_, NotAvailable, "with a kernel"),
    (
        lambda: KernelPerceptron(kernel="precomputed").partial_fit(X @ X.T, Y, [0, 1]).partial_fit(X @ X.T, Y),
        NotAvailable,
        "precomputed",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSALS, ids=[words for *_, words in REFUSALS])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
