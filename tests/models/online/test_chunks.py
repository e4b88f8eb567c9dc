"""Chunks of `partial_fit`: the same bits as one pass whatever the options, and nothing left of what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier

from hiperplano import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Pegasos,
    Perceptron,
    SGDRegressor,
    replay,
)
from hiperplano.errors import InvalidData, InvalidTarget
from tests.models.online.test_online import ALL, OTHERS, WALKING, classes, data, few_passes, same
from tests.models.online.test_perceptron import noisy

DENSE_AND_SPARSE = pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense", "sparse"])
PARTS = [1, 2, 50, 51, 52, 53, 200]


def weighted(model, y, how):
    """Parameters and weights of rows: classes that weigh differently, weights with fractions and zeros, or both."""
    rng = np.random.default_rng(5)
    weight = rng.choice([0.0, 0.5, 1.0, 2.25], size=len(y)) if "rows" in how else np.ones(len(y))
    weight[PARTS] = 1.0  # no chunk is without weight
    price = {"class_weight": dict(enumerate([2.0, 0.3, 0.7]))} if "classes" in how and is_classifier(model) else {}
    return price, (weight if "rows" in how else None)


@pytest.mark.parametrize("how", ["rows", "classes", "rows and classes"])
@pytest.mark.parametrize("model", [*WALKING, Perceptron(multi_class="multinomial", average=40)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
@DENSE_AND_SPARSE
def test_chunks_with_weights_teach_the_same_to_the_bit(model, n_classes, rows, how):
    X, y = data(model, classes=n_classes)
    price, weight = weighted(model, y, how)
    price = {k: {c: v[c] for c in range(n_classes)} for k, v in price.items()}
    whole = few_passes(model, 1, shuffle=False, **price).fit(rows(X), y, sample_weight=weight)
    chunks = clone(model).set_params(shuffle=False, **price)
    for part in np.split(np.arange(300), PARTS):
        own = None if weight is None else weight[part]
        chunks.partial_fit(rows(X)[part], y[part], **classes(model, y), sample_weight=own)
    same(chunks, whole, exactly=True)
    assert (chunks.solution_.mistakes, chunks.solution_.updates) == (whole.solution_.mistakes, whole.solution_.updates)


@pytest.mark.parametrize("how", ["ovr", "multinomial"])
@pytest.mark.parametrize("n_classes", [2, 3])
@DENSE_AND_SPARSE
def test_pockets_and_multinomial_planes_of_chunks(how, n_classes, rows):
    X, y = noisy(classes=n_classes)
    for given in ({"pocket": True}, {"average": True}, {}):
        model = Perceptron(shuffle=False, multi_class=how, **given)
        whole, chunks = (clone(model) for _ in range(2))
        whole.partial_fit(rows(X), y, classes=np.unique(y))
        for part in np.split(np.arange(300), PARTS):
            chunks.partial_fit(rows(X)[part], y[part], classes=np.unique(y))
        same(chunks, whole, exactly=True)
        assert whole.coef_.any()
        if "pocket" not in given:  # `fit` has all rows to judge by, chunks have not
            same(few_passes(model, 1, shuffle=False).fit(rows(X), y), whole, exactly=True)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("model", ALL, ids=str)
@DENSE_AND_SPARSE
def test_a_refused_chunk_leaves_every_bit(model, rows, bad):
    X, y = data(model)
    known = {} if not is_classifier(model) else {"classes": [0, 1]}
    model = clone(model).set_params(random_state=0).partial_fit(rows(X), y, **known)
    model.partial_fit(rows(X[:1]), y[:1])
    before = pickle.dumps(model)
    for n_rows in (1, 40):
        chunk = X[:n_rows].copy()
        chunk[n_rows // 2, 3] = bad
        with pytest.raises(InvalidData, match=f"row {n_rows // 2}, column 3"):
            model.partial_fit(rows(chunk), y[:n_rows])
        assert pickle.dumps(model) == before
    wrong = np.array([7]) if is_classifier(model) else np.array([bad])
    with pytest.raises(InvalidTarget):
        model.partial_fit(rows(X[:1]), wrong)
    with pytest.raises(InvalidData, match="sample_weight"):
        model.partial_fit(rows(X[:2]), y[:2], sample_weight=[1.0, bad])
    with pytest.raises(InvalidData, match="4 features"):
        model.partial_fit(rows(X[:1, :4]), y[:1])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("model", "row", "target"),
    [
        (PassiveAggressiveClassifier(C=np.inf), 1e-160, 0),
        (Perceptron(eta0=1e250), 1e90, 0),
        (Perceptron(eta0=1e250), 1e90, 1),
        (Perceptron(eta0=1e200), 1e200, 0),
        (Perceptron(eta0=1e200), 1e200, 1),
        (SGDRegressor(learning_rate="constant"), 1e305, 5.0),
        (PassiveAggressiveRegressor(C=np.inf), 1e-150, 1e200),
    ],
    ids=str,
)
def test_single_rows_never_leave_weights_that_are_not_finite(model, row, target):
    X, y = data(model)
    model = clone(model).set_params(random_state=0).partial_fit(X, y, **classes(model, y))
    refused = [taught(model, np.array([[row, 0.0, row, 0.0, 0.0]]), np.array([target])) for _ in range(3)]
    assert any(refused)
    at_the_gate = not 1e-100 < row < 1e100
    reason = "must lie between" if at_the_gate else "beyond the range of float64"
    assert all(reason in words for words in refused if words)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


def taught(model, X, y):
    """The words with which rows were refused, having changed nothing; empty if they were learnt from."""
    before = pickle.dumps(model)
    try:
        model.partial_fit(X, y)
    except InvalidData as problem:
        return str(problem) if pickle.dumps(model) == before else "changed"
    return ""


def test_a_divergent_walk_of_single_rows_is_refused_before_it_overflows():
    # The intercept overshoots where ‖x‖ is small: misses grow by a factor of 10⁴ from row to row.
    model = PassiveAggressiveRegressor(C=np.inf, epsilon=0.0, average=True)
    words = [taught(model, np.array([[0.01]]), np.array([1.0])) for _ in range(200)]
    assert words[60] == ""
    assert "beyond the range of float64" in words[-1]
    assert np.isfinite([*model.coef_, *model.intercept_]).all()


@pytest.mark.parametrize("how", ["ovr", "multinomial"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_parameters_ask_for_may_change_between_chunks(how, n_classes):
    X, y = noisy(classes=n_classes)
    plain = Perceptron(shuffle=False, multi_class=how, max_iter=2, tol=None)
    steps = [list(group) for _, group in itertools.groupby(replay(plain, X, y), lambda step: str(step.label))]
    trails = [np.array([np.ravel(step.coef) for step in group]) for group in steps]
    last = np.concatenate([trail[-1] for trail in trails])
    later = np.concatenate([trail[300:].mean(axis=0) for trail in trails])

    def two_chunks(first, second):
        model = clone(plain).set_params(**first).partial_fit(X, y, classes=np.unique(y))
        return model.set_params(**second).partial_fit(X, y)

    off_then_on = two_chunks({}, {"average": True})
    np.testing.assert_allclose(np.ravel(off_then_on.coef_), later, rtol=1e-11)
    np.testing.assert_array_equal(np.ravel(two_chunks({"average": True}, {"average": False}).coef_), last)
    np.testing.assert_array_equal(np.ravel(two_chunks({"pocket": True}, {"pocket": False}).coef_), last)
    pocket = two_chunks({}, {"pocket": True})
    longest = []  # the plane with the longest run of right answers from the end of the first chunk on
    for group in steps:
        run, best = 0, (-1, None)
        for number, step in enumerate(group, start=1):
            run = 0 if step.mistake else run + 1
            if number >= 300 and run > best[0]:
                best = run, np.ravel(step.coef)
        longest.append(best[1])
    np.testing.assert_allclose(np.ravel(pocket.coef_), np.concatenate(longest), rtol=1e-12)


@pytest.mark.parametrize("size", [1, None])
def test_weights_are_projected_from_the_chunk_on_that_asks_for_it(size):
    X, y = noisy()
    given = {"alpha": 0.01, "shuffle": False, "schedule": "inverse"}  # steps are short: nothing else holds weights back
    model = Pegasos(**given, batch_size=size).partial_fit(100 * X, y, classes=[0, 1])
    assert np.linalg.norm(model.coef_) > 11
    model.set_params(project=True, batch_size=1).partial_fit(X[:1], y[:1])
    length = np.sqrt(np.sum(model.coef_**2) + model.intercept_[0] ** 2)
    np.testing.assert_allclose(length, 10.0, rtol=1e-12)


def test_clean_is_said_of_all_planes_and_of_the_last_chunk():
    rng = np.random.default_rng(0)
    X = np.vstack([np.tile([9.0, 0.0], (5, 1)), rng.normal(size=(40, 2)) - [9.0, 0.0]])
    y = np.repeat([0, 1, 2], [5, 20, 20])  # the first class is easily told apart, the others cannot be
    model = Perceptron(shuffle=False)
    for _ in range(20):
        model.partial_fit(X, y, classes=[0, 1, 2])
    first = replay(Perceptron(shuffle=False, max_iter=20, tol=None), X, y)
    assert not any(step.mistake for step in list(first)[-45:] if step.label == 0)
    assert model.solution_.clean is False
    X, y = noisy()
    single = Perceptron(shuffle=False).partial_fit(X, y, classes=[0, 1])
    assert single.solution_.clean is False
    for i in range(60):
        right = bool(single.predict(X[i : i + 1])[0] == y[i])
        assert single.partial_fit(X[i : i + 1], y[i : i + 1]).solution_.clean is right
    before = single.solution_.mistakes
    clean = single.partial_fit(X[:20], y[:20]).solution_.clean
    assert clean == (single.solution_.mistakes == before)
    single.coef_ = np.ones((1, 5))  # a plane that has not been tried on any row
    assert single.solution_.clean is False


def test_a_batch_of_rows_left_to_learn_from_can_be_clean():
    X, y = np.repeat([[1.0, 0.2], [-1.0, 0.1]], 20, axis=0) * np.arange(1, 41)[:, None], np.repeat([1, 0], 20)
    model = Perceptron(update="batch", early_stopping=True, tol=None, random_state=0).fit(X, y)
    assert model.solution_.mistakes_by_pass[0][-1] == 0
    assert model.solution_.clean


@pytest.mark.parametrize("model", [m for m in ALL if is_classifier(m)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_no_plane_separates_end_after_the_passes_asked_for(model, n_classes):
    X, y = noisy(n=60, classes=n_classes)
    X, y = np.vstack([X, X]), np.append(y, (y + 1) % n_classes)  # every row has two labels
    fitted = few_passes(model, 7).fit(X, y)
    assert fitted.solution_.passes == fitted.n_iter_ == 7
    assert fitted.solution_.clean is False
    assert "Made the 7 passes requested" in str(fitted.solution_)
    assert "mistakes in the last pass: no plane" in str(fitted.solution_)


def test_classes_of_any_kind_at_the_first_chunk():
    X, y = noisy(classes=3)
    names = {
        "text": np.array(["c", "a", "b"]),
        "numbers": np.array([30, 10, 20]),
        "objects": np.array(["c", "a", "b"], "O"),
    }
    plain = Perceptron(shuffle=False).partial_fit(X, np.argsort([1, 2, 0])[y], classes=[0, 1, 2])
    for labels in names.values():
        chunk = Perceptron(shuffle=False).partial_fit(X[y == 2], labels[y[y == 2]], classes=labels)
        np.testing.assert_array_equal(chunk.classes_, np.sort(labels))
        whole = Perceptron(shuffle=False).partial_fit(X, labels[y], classes=labels[::-1])
        order = np.argsort(labels)
        numbered = Perceptron(shuffle=False).partial_fit(X, np.argsort(order)[y], classes=[0, 1, 2])
        same(whole, numbered, exactly=True)
    assert plain.coef_.shape == (3, 5)


@pytest.mark.parametrize("model", [*OTHERS[1:2], *OTHERS[4:]], ids=str)
def test_whole_batches_of_chunks_are_steps(model):
    X, y = data(model)
    size = getattr(model, "batch_size", None) or len(y)
    chunks = clone(model).set_params(shuffle=False)
    for start in range(0, 300, size):
        chunks.partial_fit(X[start : start + size], y[start : start + size], **classes(model, y))
    same(chunks, few_passes(model, 1, shuffle=False).fit(X, y), rtol=1e-12)
