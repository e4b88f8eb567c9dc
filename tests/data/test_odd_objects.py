"""Objects that once came out as exceptions of other libraries, or as answers that were wrong: one case of each kind."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hiperplano import (
    CostSensitiveClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    Ridge,
    RidgeCV,
)
from hiperplano.errors import HiperplanoError, InvalidData, InvalidParameter, InvalidTarget

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.normal(size=40)
LABELS = (Y > 0).astype(int)


def tuples():
    out = np.empty(40, dtype=object)
    out[:] = [(int(label), "a") for label in LABELS]
    return out


REFUSED = {
    "matrix": (LinearRegression(), lambda: np.asmatrix(X), Y, None, r"X is a numpy.matrix.*Pass numpy.asarray\(X\)"),
    "matrix for a target": (Ridge(), lambda: X.tolist(), lambda: np.asmatrix(Y).T, None, r"y is a numpy.matrix"),
    "names of two types": (
        LogisticRegression(),
        lambda: pd.DataFrame(X, columns=["a", 1, "b"]),
        LABELS,
        None,
        r"string names, but column 1 is named by int. Convert them",
    ),
    "sparse target": (LogisticRegression(), lambda: X, sparse.csr_array(LABELS[:, None]), None, r"Pass y.toarray"),
    "tuples for labels": (
        LinearSVC(),
        lambda: X,
        tuples(),
        None,
        r"kinds tuple; labels must be all numbers or all text",
    ),
    "no columns in a frame": (Ridge(), lambda: pd.DataFrame(index=range(40)), Y, None, r"0 feature\(s\).*at least one"),
    "records": (
        Ridge(),
        lambda: np.zeros(40, dtype=[("a", float)]),
        Y,
        None,
        r"rows and columns of numbers are needed",
    ),
    "a dictionary": (Ridge(), lambda: {"a": Y}, Y, None, r"got dict instead"),
    "a number for a target": (Ridge(), lambda: X.tolist(), 1.0, None, r"Pass one target for each row"),
    "dates for a target": (Ridge(), lambda: X, np.datetime64("2024-01-01") + LABELS, None, r"y holds dates or times"),
    "a mask in the weights": (
        Ridge(),
        lambda: X,
        Y,
        np.ma.array(np.ones(40), mask=LABELS),
        r"sample_weight contains \d+ masked values",
    ),
    "a target of 1e300": (LinearSVR(), lambda: X, Y * 1e300, None, r"y holds numbers of size .*e\+300"),
    "a cell of 1.7e308": (
        LogisticRegression(),
        lambda: np.where(np.arange(120).reshape(40, 3) == 7, 1.7e308, X),
        LABELS,
        None,
        r"Column 1 holds numbers of size 1.7e\+308",
    ),
    "a denormal column": (
        QuadraticDiscriminantAnalysis(),
        lambda: X * [1.0, 1e-310, 1.0],
        LABELS,
        None,
        r"Column 1 holds numbers of size .*e-310",
    ),
    "one row for three folds": (
        RidgeCV(cv=3),
        lambda: X,
        Y,
        (np.arange(40) == 5).astype(float),
        r"(fold \d has|gives no folds|n_samples=1)",
    ),
    "two rows for three folds": (LogisticRegressionCV(cv=3), lambda: X[:2], [0, 1], None, r"cv=3 gives no folds of 2"),
    "three rows for five folds": (
        CostSensitiveClassifier(threshold="tuned"),
        lambda: X[:3],
        [0, 1, 0],
        None,
        r"gives no folds of 3 rows",
    ),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::hiperplano.errors.SingularWarning")
@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_used_is_refused_in_our_words(kind):
    model, rows, target, weight, told = REFUSED[kind]
    with pytest.raises(HiperplanoError, match=f"(?s){told}") as caught:
        model.fit(
            rows(), target() if callable(target) else target, **({} if weight is None else {"sample_weight": weight})
        )
    assert isinstance(caught.value, InvalidData | InvalidTarget | InvalidParameter)


def test_a_class_without_weight_among_labels_of_text():
    labels = pd.Series(np.where(LABELS, "yes", np.where(X[:, 1] > 0, "no", "never")))
    model = LinearSVC().fit(X, labels, sample_weight=(labels != "never").astype(float))
    assert set(model.predict(X)) <= {"yes", "no", "never"}


@pytest.mark.parametrize("size", [1e-70, 1e-90, 1e-99])
def test_columns_of_tiny_spread_have_the_coefficients_of_their_unit(size):
    """The likelihood does not know units: what is multiplied into a column is divided out of its coefficient."""
    scale = np.array([1.0, size, 1.0])
    plain = LogisticRegression(C=np.inf).fit(X, LABELS)
    tiny = LogisticRegression(C=np.inf).fit(X * scale, LABELS)
    assert tiny.solution_.converged
    np.testing.assert_allclose(tiny.coef_ * scale, plain.coef_, rtol=1e-8)
    for kind in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        np.testing.assert_allclose(
            kind().fit(X * scale, LABELS).predict_proba(X * scale), kind().fit(X, LABELS).predict_proba(X), rtol=1e-6
        )


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearDiscriminantAnalysis(), Ridge(), LinearSVC(), Perceptron()]
)
def test_a_spread_below_all_numbers_is_a_constant_column(model):
    flat = X.copy()
    flat[:, 1] = 1e-90 + 1e-310 * X[:, 1]
    constant = X.copy()
    constant[:, 1] = 1e-90
    found, right = (model.fit(rows, LABELS).coef_.ravel()[[0, 2]].copy() for rows in (flat, constant))
    np.testing.assert_allclose(found, right, rtol=1e-9)


def test_firth_without_anything_to_learn_from():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(firth=True).fit(np.zeros((40, 2)), LABELS)
    np.testing.assert_array_equal(model.coef_, 0.0)
    # Of an intercept alone Firth's estimate is known: half a success and half a failure are added.
    n, k = 40, LABELS.sum()
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 2)))[0, 1], (k + 0.5) / (n + 1), rtol=1e-6)
