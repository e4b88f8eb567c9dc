"""What must hold for every model that learns one example at a time."""

import itertools
import pickle
import random
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

from hiperplano import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Pegasos,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    replay,
)
from hiperplano.data.loops.arrays import row_arrays
from hiperplano.errors import ConvergenceWarning, InvalidData, InvalidParameter, InvalidTarget
from hiperplano.solvers.online.sampling_order import SamplingOrder
from tests.models.online.test_passive_aggressive import regression
from tests.models.online.test_perceptron import noisy

WALKING = [
    Perceptron(),
    Perceptron(average=True),
    Perceptron(average=120, fit_intercept=False),
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(loss="squared_hinge", average=True),
    Pegasos(alpha=0.01),
    Pegasos(alpha=0.01, average=True, project=True),
    SGDClassifier("log_loss", alpha=0.1),
    SGDClassifier(average=True, learning_rate="invscaling", eta0=0.1),
    PassiveAggressiveRegressor(),
    PassiveAggressiveRegressor(average=True),
    SGDRegressor(),
    SGDRegressor("huber", average=True),
]
OTHERS = [
    Perceptron(pocket=True),
    Perceptron(update="batch"),
    Perceptron(init="least_squares"),
    Perceptron(multi_class="multinomial"),
    Pegasos(alpha=0.01, batch_size=8),
    SGDRegressor(batch_size=10),
    SGDRegressor(batch_size=None, eta0=0.1, learning_rate="constant"),
]
ALL = WALKING + OTHERS


def data(model, n=300, classes=2, seed=0):
    return noisy(n, classes=classes, seed=seed) if is_classifier(model) else regression(n, seed=seed)


def classes(model, y):
    return {"classes": np.unique(y)} if is_classifier(model) else {}


def few_passes(model, passes=3, **more):
    return clone(model).set_params(max_iter=passes, tol=None, **{"random_state": 0, **more})


def same(ours, theirs, exactly=False, **tolerance):
    compare = np.testing.assert_array_equal if exactly else np.testing.assert_allclose
    compare(ours.coef_, theirs.coef_, **tolerance)
    compare(ours.intercept_, theirs.intercept_, **tolerance)


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_dense_equals_sparse(model, n_classes):
    X, y = data(model, classes=n_classes)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.6)
    X[7] = 0.0
    same(few_passes(model).fit(csr_array(X), y), few_passes(model).fit(X, y), rtol=1e-9, atol=1e-9)
    same(few_passes(model).fit(csr_matrix(X), y), few_passes(model).fit(csr_array(X), y), exactly=True)


@pytest.mark.parametrize("model", WALKING, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rows", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_chunks_teach_the_same_to_the_bit_as_one_pass(model, n_classes, rows):
    X, y = data(model, classes=n_classes)
    whole = few_passes(model, 1, shuffle=False).fit(rows(X), y)
    chunks = clone(model).set_params(shuffle=False)
    for part in np.split(np.arange(300), [1, 2, 50, 51, 200]):
        chunks.partial_fit(rows(X)[part], y[part], **classes(model, y))
    same(chunks, whole, exactly=True)
    assert chunks.t_ == whole.t_ == 301
    assert (chunks.solution_.mistakes, chunks.solution_.updates) == (whole.solution_.mistakes, whole.solution_.updates)


@pytest.mark.parametrize("model", [*WALKING, OTHERS[3]], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_rows_teach_the_same_to_the_bit(model, n_classes):
    X, y = data(model, 120, classes=n_classes)
    whole = few_passes(model, 1, shuffle=False).fit(X, y)
    rows = clone(model)
    rows.partial_fit(X[:1], y[:1], **classes(model, y))
    for i in range(1, 120):
        rows.partial_fit(X[i : i + 1], y[i : i + 1])
    same(rows, whole, exactly=True)
    assert rows.solution_.examples == whole.solution_.examples
    assert rows.solution_.passes == 120


def test_single_long_rows_teach_the_same_to_the_bit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 53)), rng.integers(0, 2, 200)
    whole = few_passes(Perceptron(average=True), 1, shuffle=False).fit(X, y)
    rows = Perceptron(average=True).partial_fit(X[:1], y[:1], classes=[0, 1])
    for i in range(1, 200):
        rows.partial_fit(X[i : i + 1], y[i : i + 1])
    same(rows, whole, exactly=True)


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (lambda x: x.tolist(), lambda y: y),
        (lambda x: np.asfortranarray(np.vstack([x, x]))[:1], lambda y: y),
        (lambda x: x.astype(">f8"), lambda y: y),
        (lambda x: np.repeat(x, 2, axis=1)[:, ::2], lambda y: y.astype(object)),
        (lambda x: x, lambda y: y.astype(float)),
        (lambda x: x, lambda y: y.tolist()),
    ],
    ids=["list", "strided", "other byte order", "objects", "floats", "list of labels"],
)
def test_single_rows_of_any_kind_teach_the_same(rows, labels):
    X, y = noisy()
    plain, other = (Perceptron(shuffle=False).partial_fit(X[:50], y[:50], classes=[0, 1]) for _ in range(2))
    for i in range(50, 80):
        plain.partial_fit(X[i : i + 1], y[i : i + 1])
        other.partial_fit(rows(X[i : i + 1]), labels(y[i : i + 1]))
    same(other, plain, exactly=True)


@pytest.mark.parametrize(
    "labels",
    [np.array([0, 1]), np.array([], dtype=int), np.array([{}]), np.array([[0, 1]])],
    ids=["2", "0", "{}", "row"],
)
def test_what_is_not_one_label_for_one_row_is_refused(labels):
    X, y = noisy()
    model = Perceptron(shuffle=False).partial_fit(X, y, classes=[0, 1])
    before = model.coef_.copy()
    with pytest.raises((InvalidData, InvalidTarget)):
        model.partial_fit(X[:1], labels)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("model", [OTHERS[4], OTHERS[5]], ids=str)
def test_chunks_of_whole_batches_teach_the_same(model):
    X, y = data(model, 320)
    whole = few_passes(model, 1, shuffle=False).fit(X, y)
    chunks = clone(model).set_params(shuffle=False)
    for start in range(0, 320, 80):
        chunks.partial_fit(X[start : start + 80], y[start : start + 80], **classes(model, y))
    same(chunks, whole, exactly=True)


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_chunk_with_nan_is_refused_and_forgotten(model, bad):
    X, y = data(model)
    taught, spoilt = (clone(model).set_params(random_state=0).partial_fit(X, y, **classes(model, y)) for _ in range(2))
    for rows in (1, 40):
        chunk = X[:rows].copy()
        chunk[rows // 2, 3] = bad
        with pytest.raises(InvalidData, match=f"row {rows // 2}, column 3"):
            spoilt.partial_fit(chunk, y[:rows])
    with pytest.raises(InvalidData, match="contains"):
        spoilt.fit(chunk, y[:rows])
    same(spoilt, taught, exactly=True)
    same(spoilt.partial_fit(X[:1], y[:1]), taught.partial_fit(X[:1], y[:1]), exactly=True)


def test_a_target_with_nan_is_refused_and_forgotten():
    X, y = regression()
    taught, spoilt = (SGDRegressor(shuffle=False).partial_fit(X, y) for _ in range(2))
    with pytest.raises(InvalidTarget):
        spoilt.partial_fit(X[:1], np.array([np.nan]))
    same(spoilt.partial_fit(X[:1], y[:1]), taught.partial_fit(X[:1], y[:1]), exactly=True)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_a_refused_fit_leaves_the_model(model):
    X, y = data(model)
    fitted = few_passes(model).fit(X, y)
    before = fitted.coef_.copy()
    spoilt = np.column_stack([X, X])
    spoilt[5, 2] = np.nan
    with pytest.raises(InvalidData):
        fitted.fit(spoilt, y)
    np.testing.assert_array_equal(fitted.coef_, before)
    assert fitted.predict(X).shape == (300,)


@pytest.mark.parametrize("model", [m for m in WALKING if is_classifier(m)], ids=str)
def test_labels_and_classes(model):
    X, y = noisy(classes=3)
    names = np.array(["no", "perhaps", "yes"])
    words, numbers = few_passes(model).fit(X, names[y]), few_passes(model).fit(X, y)
    same(words, numbers, exactly=True)
    np.testing.assert_array_equal(words.predict(X), names[numbers.predict(X)])
    chunk = clone(model)
    with pytest.raises(InvalidTarget, match="first call"):
        chunk.partial_fit(X, y)
    chunk.partial_fit(X[y == 1], names[y[y == 1]], classes=names[::-1])
    with pytest.raises(InvalidTarget, match="'never'"):
        chunk.partial_fit(X[:2], np.array(["no", "never"]))
    with pytest.raises(InvalidTarget, match="cannot change"):
        chunk.partial_fit(X, names[y], classes=["no", "yes"])
    assert chunk.coef_.shape == (3, 5)


def test_a_single_row_of_an_unknown_class_is_refused():
    X, y = noisy()
    model = Perceptron().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidTarget, match="not one of the classes"):
        model.partial_fit(X[:1], np.array([7]))
    with pytest.raises(InvalidData, match="4 features"):
        model.partial_fit(X[:1, :4], y[:1])


def test_changed_parameters_count_for_single_rows():
    X, y = noisy()
    quick, slow = (Perceptron(shuffle=False).partial_fit(X[:50], y[:50], classes=[0, 1]) for _ in range(2))
    quick.partial_fit(X[50:51], y[50:51])
    slow.partial_fit(X[50:51], y[50:51])
    for i in range(51, 100):
        quick.set_params(eta0=0.25).partial_fit(X[i : i + 1], y[i : i + 1])
    slow.set_params(eta0=0.25).partial_fit(X[51:100], y[51:100])
    same(quick, slow, exactly=True)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_float32_rows_stay_float32(model):
    X, y = data(model)
    short = few_passes(model, 1).fit(X.astype(np.float32), y)
    assert short.coef_.dtype == short.intercept_.dtype == np.float32
    assert few_passes(model, 1).fit(X, y).coef_.dtype == np.float64


@pytest.mark.parametrize("model", [m for m in ALL if "Passive" not in type(m).__name__], ids=str)
def test_weights_are_repetitions(model):
    X, y = data(model, 60)
    weight = np.random.default_rng(1).integers(0, 4, 60)
    more = {"shuffle": False} if getattr(model, "batch_size", 1) == 1 else {}
    weighted = few_passes(model, **more).fit(X, y, sample_weight=weight)
    repeated = few_passes(model, **more).fit(X.repeat(weight, axis=0), y.repeat(weight))
    same(weighted, repeated, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_shuffled_fits_do_not_depend_on_the_arrangement_of_few_rows(model):
    X, y = data(model)
    mixed = np.random.default_rng(0).permutation(300)
    same(few_passes(model).fit(X[mixed], y[mixed]), few_passes(model).fit(X, y), rtol=1e-9, atol=1e-12)


def test_a_fraction_lengthens_the_steps():
    X, y = noisy(50)
    weight = np.where(np.arange(50) % 2, 2.5, 0.25)
    ours = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y, sample_weight=weight)
    w, b = np.zeros(5), 0.0
    for x, t, heavy in zip(X, 2 * y - 1, weight > 1, strict=True):
        for step in (1.25, 1.25) if heavy else (0.25,):
            if t * (w @ x + b) <= 0:
                w, b = w + step * t * x, b + step * t
    np.testing.assert_allclose(ours.coef_[0], w, atol=1e-12)


def test_the_size_of_weights_costs_no_time():
    """Up to eight visits a weight is that many rows; from there on it lengthens the steps."""
    X, y = noisy(50)
    weight = np.where(np.arange(50) % 3 == 0, 1e40, 2.0)
    order = SamplingOrder(row_arrays(X), weight, y.astype(float), seed=None)
    rows, visit_weight = order.of_pass(1)
    np.testing.assert_array_equal(np.bincount(rows), np.where(weight > 8, 8, 2))
    np.testing.assert_allclose(np.bincount(rows, visit_weight), weight)
    ours = Perceptron(shuffle=False, max_iter=2, tol=None).fit(X, y, sample_weight=np.full(50, 80.0))
    plain = Perceptron(shuffle=False, max_iter=2, tol=None).fit(np.repeat(X, 8, axis=0), np.repeat(y, 8))
    np.testing.assert_allclose(ours.coef_, 10 * plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("model", WALKING, ids=str)
def test_same_seed_same_fit_other_seed_other_fit(model):
    X, y = data(model)
    same(few_passes(model, random_state=3).fit(X, y), few_passes(model, random_state=3).fit(X, y), exactly=True)
    other = few_passes(model, random_state=4).fit(X, y)
    assert not np.array_equal(other.coef_, few_passes(model, random_state=3).fit(X, y).coef_)


@pytest.mark.parametrize("what", [-1, 1.0, "a", np.random.default_rng(0), random.Random(0), random])
def test_a_random_state_of_another_kind_is_refused(what):
    with pytest.raises(InvalidParameter, match="random_state"):
        Perceptron(random_state=what).fit(*noisy())


def test_without_a_random_state_numpys_own_says_the_order():
    X, y = noisy(classes=3)
    coefs = []
    for seed in (0, 0, 1):
        np.random.seed(seed)  # noqa: NPY002  the generator in question
        coefs.append(few_passes(Perceptron(), random_state=None).fit(X, y).coef_)
    same, again, other = coefs
    assert np.array_equal(same, again)
    assert not np.array_equal(same, other)


def test_threads_do_not_change_a_bit():
    X, y = noisy(classes=4)
    one, all_ = (Perceptron(n_jobs=jobs, max_iter=5, tol=None).fit(X, y) for jobs in (1, None))
    same(one, all_, exactly=True)


@pytest.mark.parametrize("model", [m for m in ALL if isinstance(m, Pegasos)], ids=str)
def test_warm_steps_of_pegasos_are_counted_on(model):
    X, y = data(model)
    given = {"random_state": 0, "average": False}
    warm = few_passes(model, 1, warm_start=True, **given).fit(X, y)
    steps = warm.t_
    chunk = few_passes(model, 1, shuffle=False, **given).fit(X, y).partial_fit(X, y)
    again = few_passes(model, 1, shuffle=False, warm_start=True, **given).fit(X, y).fit(X, y)
    same(again, chunk, rtol=1e-9)
    assert warm.fit(X, y).t_ == 2 * steps - 1
    with pytest.raises(InvalidParameter, match="coef_init"):
        few_passes(model).fit(X, y, coef_init=np.ones((1, 5)))


@pytest.mark.parametrize("model", [m for m in ALL if not isinstance(m, Pegasos)], ids=str)
def test_warm_start_goes_on(model):
    X, y = data(model)
    given = {"random_state": 0}
    if hasattr(model, "average"):
        given["average"] = False
    cold = few_passes(model, 1, **given).fit(X, y)
    start = {"coef_init": cold.coef_, "intercept_init": cold.intercept_}
    warm = few_passes(model, 1, warm_start=True, **given).fit(X, y).fit(X, y)
    same(warm, few_passes(model, 1, **given).fit(X, y, **start), exactly=True)
    if not getattr(model, "pocket", False):  # the best planes may be those of the first fit
        assert not np.array_equal(warm.coef_, cold.coef_)
    with pytest.raises(InvalidData, match="warm_start"):
        warm.fit(X[:, :2], y)
    with pytest.raises(InvalidData, match="coef_init"):
        few_passes(model).fit(X, y, coef_init=np.ones(3))


@pytest.mark.parametrize("model", ALL, ids=str)
def test_replay_shows_the_numbers_of_the_fit(model):
    X, y = data(model, 80)
    fitted = few_passes(model, 2).fit(X, y)
    steps = list(replay(few_passes(model, 2), X, y))
    coef, intercept = fitted._learner_.weights * fitted._learner_.states[:, :1], fitted._learner_.states[:, 1]
    np.testing.assert_array_equal(np.atleast_2d(steps[-1].coef), coef)
    np.testing.assert_array_equal(np.atleast_1d(steps[-1].intercept), intercept)
    for step, following in itertools.pairwise(steps):
        np.testing.assert_array_equal(step.coef, following.coef_before)
    single = [s for s in steps if isinstance(s.row, int)]
    for step in single:
        np.testing.assert_allclose(step.score, step.coef_before @ X[step.row] + step.intercept_before, atol=1e-9)
    if is_classifier(model) and single:
        assert sum(s.mistake for s in steps) == fitted.solution_.mistakes
        assert sum(s.updated for s in steps) == fitted.solution_.updates


def test_replay_of_many_classes_names_them():
    X, y = noisy(60, classes=3)
    labels = [step.label for step in replay(Perceptron(max_iter=2, tol=None), X, np.array(["a", "b", "c"])[y])]
    assert labels == ["a"] * 120 + ["b"] * 120 + ["c"] * 120


def test_replay_takes_only_models_with_steps():
    from hiperplano import Ridge

    with pytest.raises(InvalidParameter, match="Ridge does not learn step by step"):
        next(replay(Ridge(), [[1.0]], [1.0]))
    with pytest.raises(InvalidData, match="contains NaN"):
        list(replay(Perceptron(), [[np.nan], [1.0]], [0, 1]))


@pytest.mark.parametrize("model", ALL, ids=str)
def test_pickles_and_copies_go_on_learning(model):
    X, y = data(model)
    first = clone(model).set_params(shuffle=False).partial_fit(X, y, **classes(model, y))
    first.partial_fit(X[:1], y[:1])
    second = pickle.loads(pickle.dumps(first))
    same(second, first, exactly=True)
    same(second.partial_fit(X[1:2], y[1:2]), first.partial_fit(X[1:2], y[1:2]), exactly=True)


def test_large_rows_are_shuffled_in_pools():

    X = np.zeros((20_000, 40))
    visits = SamplingOrder(row_arrays(X), None, np.zeros(20_000), seed=5)
    first, again, second = visits.of_pass(1)[0], visits.of_pass(1)[0], visits.of_pass(2)[0]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(np.sort(first), np.arange(20_000))
    near = np.abs(np.diff(first)) < visits._block
    assert 0.02 < near.mean() < 0.2  # a pool mixes 16 places, and its rows lie close together in each
    assert abs(np.corrcoef(first, np.arange(20_000))[0, 1]) < 0.1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_sorted_into_long_runs_are_learnt_all_the_same(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 30))
    scores = X @ rng.normal(size=(30, n_classes))
    X, y = X[np.argsort(scores.argmax(axis=1))], np.sort(scores.argmax(axis=1))
    model = SGDClassifier("log_loss", average=True, max_iter=3, tol=None, random_state=0)
    mixed = rng.permutation(len(y))
    # Over 24 seeds the difference is −0.004 ± 0.007 (at worst −0.023) for three classes, a fifth of that for two; read
    # as they lie, sorted rows cost 0.25 and more.
    assert model.fit(X, y).score(X, y) > model.fit(X[mixed], y[mixed]).score(X, y) - 0.05


def test_rows_weigh_what_their_class_does_in_every_plane():
    X, y = noisy(60, classes=3)
    price = np.array([3.0, 1.0, 0.5])
    model = few_passes(Perceptron(), 1, shuffle=False, class_weight=dict(enumerate(price))).fit(X, y)
    for plane in range(3):
        w, b = np.zeros(5), 0.0
        for x, label in zip(X, y, strict=True):
            side = 1.0 if label == plane else -1.0
            if side * (w @ x + b) <= 0:
                w, b = w + price[label] * side * x, b + price[label] * side
        np.testing.assert_allclose(model.coef_[plane], w, atol=1e-12)
    batch = Perceptron(update="batch", max_iter=1, tol=None, class_weight=dict(enumerate(price))).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    np.testing.assert_allclose(batch.coef_[1], (price[y] * signs) @ X, atol=1e-12)


def test_a_batch_of_all_rows_is_the_whole_batch_with_class_weights():
    X, y = noisy(60)
    given = {"class_weight": {0: 3.0, 1: 0.5}, "alpha": 0.1, "learning_rate": "constant", "eta0": 0.01}
    part, whole = (few_passes(SGDClassifier(batch_size=size, **given)).fit(X, y) for size in (60, None))
    same(part, whole, rtol=1e-10)


@pytest.mark.parametrize("model", [Perceptron(), SGDClassifier(), SGDRegressor()], ids=str)
def test_what_is_held_out_goes_by_content(model):
    X, y = data(model, 80)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.7)
    weight = np.random.default_rng(1).integers(0, 4, 80)
    model = clone(model).set_params(early_stopping=True, random_state=0)
    plain = clone(model).fit(X, y, sample_weight=weight)
    many = np.random.default_rng(2).permutation(np.repeat(np.arange(80), weight))
    same(clone(model).fit(X[many], y[many]), plain, rtol=1e-8, atol=1e-9)
    same(clone(model).fit(csr_array(X), y, sample_weight=weight), plain, rtol=1e-8, atol=1e-9)
    other = clone(model).set_params(random_state=1).fit(X, y, sample_weight=weight)
    assert not np.array_equal(other.coef_, plain.coef_)


def test_steps_that_are_too_long_for_a_batch_are_said_to_be():
    X, y = regression()
    with pytest.raises(InvalidData, match=r"the fit diverged.*Scale them"):
        SGDRegressor(batch_size=None, learning_rate="constant", eta0=30.0).fit(X, y)
    model = SGDRegressor(batch_size=None, learning_rate="invscaling", eta0=3000.0)
    with pytest.warns(ConvergenceWarning, match="the steps are too long, and have not become short enough"):
        model.fit(X, y)
    assert not model.solution_.converged


@pytest.mark.parametrize("tol", [1e-3, None])
@pytest.mark.parametrize("average", [False, True])
def test_a_fit_that_goes_astray_is_refused(tol, average):
    """Slopes are cut at 1e12, so weights need not overflow to be worthless."""
    X, y = regression()
    with pytest.raises(InvalidData, match=r"the fit diverged.*Scale them"):
        SGDRegressor(learning_rate="constant", eta0=2.5, tol=tol, max_iter=20, average=average).fit(X, y)
    with pytest.raises(InvalidData, match=r"the fit diverged"):
        SGDClassifier("squared_hinge", learning_rate="constant", eta0=30.0, tol=tol, max_iter=20).fit(X, y > 0)
    settled = SGDRegressor(learning_rate="constant", eta0=1e-3, tol=tol, max_iter=300).fit(X, y)
    again = SGDRegressor(learning_rate="constant", eta0=1e-3, tol=tol, max_iter=300, warm_start=True)
    again.fit(X, y).fit(X, y)  # from the end of a good fit, whose loss is next to nothing
    np.testing.assert_allclose(settled.coef_, again.coef_, atol=0.1)


# One check asks for 83% of the rows to be answered rightly: with 20 random states each of these has 85% or more, in two
# and in three classes. (Longer steps, as those of a squared hinge by default, end where rounding leads them.)
CHECKED = [
    Perceptron(),
    Perceptron(average=True),
    Perceptron(pocket=True),
    Perceptron(multi_class="multinomial", pocket=True),
    Perceptron(update="batch", max_iter=100),
    Perceptron(init="least_squares", pocket=True),
    Perceptron(early_stopping=True, pocket=True),
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(average=True),
    PassiveAggressiveClassifier(C=0.1, loss="squared_hinge"),
    PassiveAggressiveClassifier(early_stopping=True),
    PassiveAggressiveRegressor(),
    PassiveAggressiveRegressor(average=True),
    PassiveAggressiveRegressor(loss="squared_epsilon_insensitive"),
    PassiveAggressiveRegressor(early_stopping=True),
    Pegasos(),
    Pegasos(average=True, max_iter=50),
    Pegasos(batch_size=None, max_iter=100),
    SGDClassifier(),
    SGDClassifier("log_loss", average=True),
    SGDClassifier("squared_hinge", alpha=0.1),
    SGDClassifier(batch_size=8),
    SGDClassifier(batch_size=None, max_iter=100),
    SGDClassifier(alpha=0.01, early_stopping=True),
    SGDClassifier(learning_rate="adaptive", eta0=0.1),
    SGDRegressor(),
    SGDRegressor("huber"),
    SGDRegressor("epsilon_insensitive"),
    SGDRegressor(average=True, batch_size=5, max_iter=100),
    SGDRegressor(batch_size=None, max_iter=300),
    SGDRegressor(early_stopping=True),
]


@pytest.mark.parametrize("model", CHECKED, ids=str)
def test_scikit_learn_checks(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model, on_skip=None)
    assert all(result["status"] in ("passed", "skipped") for result in results)
