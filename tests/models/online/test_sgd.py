"""Stochastic gradient: transcription, scikit-learn, exact minima, schedules."""

import inspect

import numpy as np
import pytest
import sklearn.linear_model
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.model_selection import FixedThresholdClassifier

from hiperplano import LinearRegression, Ridge, SGDClassifier, SGDRegressor, losses, replay
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from tests.models.online import reference
from tests.models.online.test_passive_aggressive import regression
from tests.models.online.test_perceptron import noisy

CLASS_LOSSES = {
    "hinge": losses.Hinge(),
    "log_loss": losses.Logistic(),
    "squared_hinge": losses.SquaredHinge(),
    "perceptron": losses.Perceptron(),
}
NUMBER_LOSSES = {
    "squared_error": losses.Squared(),
    "huber": losses.Huber(0.1),
    "epsilon_insensitive": losses.EpsilonInsensitive(0.1),
}
RATES = {
    "constant": lambda t: 0.02,
    "inverse": lambda t: 0.02 / t,
    "invscaling": lambda t: 0.02 / t**0.4,
    "optimal": lambda t: 1 / (0.5 * (0.5**-0.75 + t - 1)),
}


def test_ten_steps_of_least_squares_by_hand():
    # F, algorithm 6 with η = 1/2 and no intercept: w ← w + (y − w·x)·x/2 on (1, 2), (2, 2).
    X, y = np.array([[1.0], [2.0]]), np.array([2.0, 2.0])
    model = SGDRegressor(
        penalty=None, learning_rate="constant", eta0=0.5, fit_intercept=False, shuffle=False, max_iter=5, tol=None
    )
    expected = [1.0, 1.0, 1.5, 0.5, 1.25, 0.75, 1.375, 0.625, 1.3125, 0.6875]
    assert [s.coef[0] for s in replay(model, X, y)] == expected


def test_ten_steps_of_ridge_by_hand():
    # F, algorithm 7: w ← (1 − λη)·w + η·(y − w·x)·x with λ = η = 1/2 on (1, 2).
    model = SGDRegressor(
        alpha=0.5, learning_rate="constant", eta0=0.5, fit_intercept=False, shuffle=False, max_iter=10, tol=None
    )
    w, expected = 0.0, []
    for _ in range(10):
        w = 0.75 * w + 0.5 * (2 - w)
        expected.append(w)
    np.testing.assert_allclose([s.coef[0] for s in replay(model, [[1.0]], [2.0])], expected, rtol=1e-12)
    np.testing.assert_allclose(expected[:3], [1.0, 1.25, 1.3125])


@pytest.mark.parametrize("batch", [1, 16])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *NUMBER_LOSSES])
def test_transcription(loss, rate, average, batch):
    model, slopes, (X, y) = (
        (SGDClassifier, CLASS_LOSSES, noisy()) if loss in CLASS_LOSSES else (SGDRegressor, NUMBER_LOSSES, regression())
    )
    target = 2 * y - 1 if loss in CLASS_LOSSES else y
    w, b = reference.gradient(X, target, slopes[loss].slope, RATES[rate], 0.5, passes=3, batch=batch, average=average)
    fitted = model(
        loss,
        alpha=0.5,
        learning_rate=rate,
        eta0=0.02,
        power_t=0.4,
        batch_size=batch,
        average=average,
        shuffle=False,
        max_iter=3,
        tol=None,
    ).fit(X, y)
    np.testing.assert_allclose(np.ravel(fitted.coef_), w, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(fitted.intercept_, b, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("average", [False, True, 50])
@pytest.mark.parametrize("rate", ["constant", "invscaling", "optimal", "adaptive"])
@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *NUMBER_LOSSES])
def test_equals_scikit_learn(loss, rate, average):
    given = {
        "loss": loss,
        "learning_rate": rate,
        "average": average,
        # With a smaller alpha the steps of "optimal" are long, and rounding errors grow beyond comparing. With a larger
        # eta0 weights shrink much between two steps, which costs scikit-learn's averages digits.
        "alpha": 0.5,
        "eta0": 0.002,
        "shuffle": False,
        "max_iter": 4,
        "tol": None,
    }
    name, data = ("SGDClassifier", noisy(seed=1)) if loss in CLASS_LOSSES else ("SGDRegressor", regression(seed=1))
    ours = {"SGDClassifier": SGDClassifier, "SGDRegressor": SGDRegressor}[name](**given).fit(*data)
    theirs = getattr(sklearn.linear_model, name)(**given).fit(*data)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rate", ["constant", "invscaling", "optimal"])
@pytest.mark.parametrize("loss", [*CLASS_LOSSES, *NUMBER_LOSSES])
def test_sparse_rows_and_class_weights_equal_scikit_learn(loss, rate):
    given = {"loss": loss, "learning_rate": rate, "alpha": 0.5, "eta0": 0.002, "max_iter": 4, "tol": None}
    given |= {"shuffle": False, "fit_intercept": False}  # scikit-learn has shorter steps for intercepts of sparse rows
    name, (X, y) = ("SGDClassifier", noisy(seed=1)) if loss in CLASS_LOSSES else ("SGDRegressor", regression(seed=1))
    if name == "SGDClassifier":
        given["class_weight"] = {0: 0.5, 1: 2.0}
    X = csr_array(X * (np.random.default_rng(0).random(X.shape) < 0.5))
    ours = {"SGDClassifier": SGDClassifier, "SGDRegressor": SGDRegressor}[name](**given).fit(X, y)
    theirs = getattr(sklearn.linear_model, name)(**given).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_adaptive_steps_grow_shorter_as_scikit_learns_do(loss):
    X, y = noisy(seed=3)
    given = {"learning_rate": "adaptive", "eta0": 0.01, "penalty": None, "shuffle": False, "tol": 1e-3}
    ours, theirs = (m(loss=loss, **given).fit(X, y) for m in (SGDClassifier, sklearn.linear_model.SGDClassifier))
    assert ours.n_iter_ == theirs.n_iter_ > 20
    # Steps of 0.01·x cancel until 1e-6 is left: what their sums lost is a share of the steps.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10, atol=1e-14)


def test_averages_of_shrinking_weights_keep_their_digits():
    X, y = regression(seed=1)
    exact, _ = reference.gradient(
        X.astype(np.longdouble),
        y.astype(np.longdouble),
        losses.Squared().slope,
        lambda t: np.longdouble(0.02),
        np.longdouble(0.5),
        passes=4,
        average=True,
    )
    model = SGDRegressor(
        alpha=0.5, learning_rate="constant", eta0=0.02, average=True, shuffle=False, max_iter=4, tol=None
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.astype(float), rtol=1e-12)


def test_many_classes_and_probabilities_equal_scikit_learn():
    X, y = noisy(classes=4, seed=2)
    given = {"loss": "log_loss", "alpha": 0.1, "shuffle": False, "max_iter": 4, "tol": None}
    ours, theirs = (m(**given).fit(X, y) for m in (SGDClassifier, sklearn.linear_model.SGDClassifier))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(theirs.predict_proba(X)), rtol=1e-8, atol=1e-12)
    two = SGDClassifier("log_loss", random_state=0).fit(X, y > 1)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], expit(two.decision_function(X)))
    far = ours.predict_proba(-1e4 * X)
    np.testing.assert_allclose(far.sum(axis=1), 1.0)
    assert not hasattr(SGDClassifier(), "predict_proba")


@pytest.mark.parametrize("rate", ["adaptive", "invscaling"])
def test_ends_when_scikit_learn_ends(rate):
    X, y = regression(seed=3)
    given = {"learning_rate": rate, "eta0": 0.1, "shuffle": False, "tol": 1e-3}
    ours, theirs = (m(**given).fit(X, y) for m in (SGDRegressor, sklearn.linear_model.SGDRegressor))
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)


@pytest.mark.parametrize("strength", [0.0, 0.1])
def test_whole_batches_reach_the_exact_minimum(strength):
    X, y = regression(seed=4)
    exact = Ridge(alpha=strength * len(y)).fit(X, y) if strength else LinearRegression().fit(X, y)
    given = {"penalty": "l2" if strength else None, "alpha": strength, "learning_rate": "constant"}
    model = SGDRegressor(batch_size=None, eta0=0.5, max_iter=400, tol=None, **given).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, rtol=1e-9)


@pytest.mark.parametrize("rate", ["inverse", "optimal", "invscaling"])
def test_schedules_that_meet_both_conditions_converge(rate):
    X, y = regression(n=2000, seed=5)
    exact = Ridge(alpha=0.1 * 2000).fit(X, y)
    model = SGDRegressor(alpha=0.1, learning_rate=rate, eta0=3.0 if rate == "inverse" else 0.1, power_t=0.75)
    errors = []
    for passes in (1, 300):
        model.set_params(max_iter=passes, tol=None, random_state=0).fit(X, y)
        errors.append(np.linalg.norm(model.coef_ - exact.coef_))
    assert errors[1] < 0.2 * errors[0]
    assert errors[1] < 5e-3


def test_mini_batches_lie_between():
    X, y = regression(seed=6)
    given = {"penalty": None, "learning_rate": "constant", "eta0": 0.1, "shuffle": False, "max_iter": 1, "tol": None}
    whole = SGDRegressor(batch_size=None, **given).fit(X, y)
    full = SGDRegressor(batch_size=len(y), **given).fit(X, y)
    np.testing.assert_allclose(full.coef_, whole.coef_, rtol=1e-12)
    assert SGDRegressor(batch_size=50, **given).fit(X, y).t_ == 7.0


def test_huge_steps_are_refused_not_published():
    X, y = regression(seed=7)
    model = SGDRegressor(random_state=0).fit(X, y)
    before = model.coef_
    model.set_params(learning_rate="constant", eta0=1e300, tol=None)
    with pytest.raises(InvalidData, match="beyond the range of float64"):
        model.fit(1e90 * X, y)
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize(
    "given",
    [
        {"loss": "log"},
        {"penalty": "l3"},
        {"learning_rate": "pa1", "loss": "log_loss"},
        {"learning_rate": "pa2", "batch_size": 2},
        {"alpha": -1.0},
        {"learning_rate": "fast"},
        {"learning_rate": "optimal", "alpha": 0.0},
        {"learning_rate": "optimal", "penalty": None},
        {"power_t": -0.1},
        {"batch_size": 0},
    ],
)
def test_parameters_are_checked(given):
    with pytest.raises(InvalidParameter, match=next(iter(given))):
        SGDClassifier(**given).fit(*noisy())
    with pytest.raises(NotAvailable, match="penalties with an L1 part"):
        SGDClassifier(penalty="l1").fit(*noisy())


def test_probabilities_are_a_method_by_its_name():
    # scikit-learn asks a method for its name to know what its numbers are.
    X, y = noisy()
    model = SGDClassifier(loss="log_loss", random_state=0)
    chosen = FixedThresholdClassifier(model, threshold=0.3, response_method="predict_proba").fit(X, y)
    np.testing.assert_array_equal(
        chosen.predict(X), model.fit(X, y).classes_[(model.predict_proba(X)[:, 1] >= 0.3) + 0]
    )
    assert model.predict_proba.__doc__.startswith("Probabilities")
    assert list(inspect.signature(SGDClassifier.predict_proba).parameters) == ["self", "X"]


def test_a_class_with_probabilities_of_its_own_has_their_logarithms():
    class Even(SGDClassifier):
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    X, y = noisy()
    np.testing.assert_array_equal(Even(loss="log_loss", random_state=0).fit(X, y).predict_log_proba(X), np.log(0.5))
