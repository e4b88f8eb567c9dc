"""Sizes of numbers: what the gate refuses, so that no solver has to care."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hiperplano import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelRidge,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    OneClassSVM,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from hiperplano.errors import InvalidData, InvalidTarget

BATCH = [LinearRegression(), Ridge(), LogisticRegression(), LinearSVC(), LinearDiscriminantAnalysis()]
MODELS = [*BATCH, Perceptron()]  # learners of one row at a time square nothing: any number that does not overflow does


def table(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X @ [1.0, -1.0, 0.5] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("model", BATCH, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("size", [1e101, 1e200, 1e308, 1e-101, 1e-200, 5e-324])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_column_beyond_the_range_is_refused_by_name(model, size, kind):
    X, y = table()
    X[:, 1] = np.sign(X[:, 1]) * size
    with pytest.raises(InvalidData, match=r"Column 1 holds numbers of size .*another unit"):
        model.fit(kind(X), y)
    with pytest.raises(InvalidData, match="Column 'b' holds"):
        model.fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("size", [1e99, 1e-99])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_column_inside_the_range_is_fitted(model, size):
    X, y = table()
    X[:, 1] *= size
    assert np.isfinite(model.fit(X, y).coef_).all()


def test_a_large_table_is_looked_at_too():
    """Solvers that meet every number anyway leave the look to their sums."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 20))
    y = (X[:, 0] > 0).astype(int)
    for value, words in ((np.nan, "contains NaN"), (np.inf, "contains infinity"), (1e150, "numbers of size 1.0e")):
        X[41_234, 7] = value
        for model in (LinearRegression(), LogisticRegression(), Ridge()):
            with pytest.raises(InvalidData, match=words):
                model.fit(X, y)
        with pytest.raises(InvalidData, match=words):
            LogisticRegression().fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("size", [1e101, 1e-101])
def test_a_target_beyond_the_range_is_refused(size):
    X, y = table()
    with pytest.raises(InvalidTarget, match="y holds numbers of size"):
        LinearRegression().fit(X, (y + 1.0) * size)


def test_small_numbers_beside_ordinary_ones_are_fine():
    X, y = table()
    X[5] = 1e-300
    X[:, 2] = 0.0  # a column of zeros is constant, not out of range
    assert np.isfinite(LinearRegression().fit(X, y).coef_).all()
    assert np.isfinite(LinearRegression().fit(sparse.csr_array(X), y).coef_).all()


@pytest.mark.parametrize("weight", [1e51, 1e-51])
def test_weights_beyond_the_range_are_refused(weight):
    X, y = table()
    with pytest.raises(InvalidData, match=r"sample_weight holds .* Divide them by their mean"):
        LinearRegression().fit(X, y, sample_weight=np.full(len(y), weight))


KERNELS = [SVC(), SVC(kernel="linear"), SVR(), OneClassSVM(), KernelRidge(), KernelLogisticRegression()]


@pytest.mark.parametrize(
    "model", [*BATCH, *KERNELS, QuadraticDiscriminantAnalysis()], ids=lambda model: type(model).__name__
)
@pytest.mark.parametrize("row", [[1.7e308, -1.7e308, 1.7e308], [1.7e308, 1.7e308, -1.7e308], [1e308, 0.0, 0.0]])
def test_rows_of_huge_numbers_get_finite_answers_or_are_refused(model, row):
    X, y = table()
    model.fit(X, y)
    for name in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            with suppress(InvalidData):
                assert np.isfinite(getattr(model, name)([row])).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_what_a_mask_hides_is_missing(model):
    X, y = table()
    hidden = np.ma.array(X, mask=np.zeros_like(X, dtype=bool))
    model.fit(hidden, y)  # a mask that hides nothing is no mask
    hidden[4, 1] = np.ma.masked
    with pytest.raises(InvalidData, match=r"X contains 1 masked values.*filled"):
        model.fit(hidden, y)
    with pytest.raises(InvalidData, match="y contains 1 masked"):
        model.fit(X, np.ma.array(y, mask=np.arange(len(y)) == 3))
    with pytest.raises(InvalidData, match="masked"):
        model.predict(hidden)
