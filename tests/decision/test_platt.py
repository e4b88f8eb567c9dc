"""Probabilities of support vector machines, against a plain minimisation and scikit-learn's machines."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from hiperplano import SVC
from hiperplano.decision.platt import couple, fit_sigmoid, pair_probabilities
from hiperplano.errors import InvalidParameter

RNG = np.random.default_rng(0)
DIGITS, KIND = (part[:400] for part in load_digits(return_X_y=True))


@pytest.mark.parametrize("noise", [1.0, 0.1])  # 0.1: the scores separate the classes
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sigmoid_is_that_of_platts_targets(noise, weighted):
    positive = RNG.random(120) < 0.3
    scores = 2.0 * positive - 1.0 + noise * RNG.normal(size=120)
    weight = RNG.integers(1, 4, size=120).astype(float) if weighted else np.ones(120)
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))

    def loss(parameters):
        z = parameters[0] * scores + parameters[1]
        return weight @ (target * np.logaddexp(0, z) + (1 - target) * np.logaddexp(0, -z))

    right = minimize(loss, [-1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
    np.testing.assert_allclose(fit_sigmoid(scores, positive, weight), right.x, rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def theirs():
    with pytest.warns(FutureWarning):
        return svm.SVC(probability=True, random_state=0, decision_function_shape="ovo").fit(DIGITS, KIND)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_pairs_are_coupled_as_in_scikit_learn(theirs):
    pairs = pair_probabilities(theirs.decision_function(DIGITS), theirs.probA_, theirs.probB_)
    # libsvm iterates until 0.005/classes.
    np.testing.assert_allclose(couple(pairs, 10), theirs.predict_proba(DIGITS), atol=2e-3)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_probabilities_of_a_machine_are_those_of_scikit_learn_up_to_its_folds(theirs):
    ours = SVC(probability=True, random_state=0).fit(DIGITS, KIND)
    found, right = ours.predict_proba(DIGITS), theirs.predict_proba(DIGITS)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert ours.probA_.shape == theirs.probA_.shape
    assert np.abs(found - right).mean() < 0.01
    np.testing.assert_allclose(np.log(found), ours.predict_log_proba(DIGITS))
    two = KIND < 2
    binary = SVC(probability=True, random_state=0).fit(DIGITS[two], KIND[two])
    other = svm.SVC(probability=True, random_state=0).fit(DIGITS[two], KIND[two])
    np.testing.assert_allclose(binary.predict_proba(DIGITS), other.predict_proba(DIGITS), atol=0.05)
    again = SVC(probability=True, random_state=0).fit(DIGITS[two], KIND[two])
    np.testing.assert_array_equal(again.probA_, binary.probA_)


def test_few_rows_and_folds_without_a_class():
    X, y = [[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "c"]
    chances = SVC(probability=True, random_state=0).fit(X, y).predict_proba(X)
    assert np.isfinite(chances).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_probabilities_are_there_if_they_were_asked_for():
    model = SVC().fit(DIGITS[:50], KIND[:50])
    assert not hasattr(model, "predict_proba")
    model.probability = True
    with pytest.raises(NotFittedError, match="probability=False"):
        model.predict_proba(DIGITS[:2])
    with pytest.raises(InvalidParameter, match="probability"):
        SVC(probability="yes").fit(DIGITS[:50], KIND[:50])


def test_a_fold_that_trains_on_one_class_alone_is_no_obstacle():
    rows = np.array([[0.0, 1.0], [1.0, -1.0]])
    model = SVC(probability=True).fit(rows, [0, 1])
    assert model.predict(rows).tolist() == [0, 1]
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1.0)
