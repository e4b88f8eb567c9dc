"""A model fitted to dask collections is the model fitted in memory, whatever the partitions and the scheduler."""

from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from hiperplano import LinearRegression, LogisticRegression, Ridge, RidgeClassifier, diagnose, inference, separability
from hiperplano.errors import NotAvailable
from tests.laws.test_contract import ANYWHERE, IN_MEMORY, assert_same_model, table

CUTS = (100, 1, 0, 72)  # of 173 rows: one partition is a row, one is empty


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def on_dask(X, *vectors, cuts=CUTS):
    """The same numbers as dask arrays, with vectors cut elsewhere than rows."""
    if sparse.issparse(X):
        edges = np.cumsum((0, *cuts))
        blocks = [da.from_array(X[a:b], chunks=-1, asarray=False) for a, b in pairwise(edges) if b > a]
        rows = da.concatenate(blocks)
    else:
        rows = da.from_array(X, chunks=(cuts, X.shape[1]))
    return rows, *(None if v is None else da.from_array(v, chunks=50) for v in vectors)


CASES = [("dense", entry) for entry in ANYWHERE]
CASES += [("sparse", entry) for entry in {type(one.estimator): one for one in reversed(ANYWHERE)}.values()]


@pytest.mark.parametrize(("kind", "entry"), CASES, ids=str)
def test_a_model_is_the_same_on_dask(kind, entry):
    """With weights, some of which are 0; on sparse rows, one model of each class."""
    X, y, weight = table(entry.estimator)
    weight[::9] = 0.0
    if kind == "sparse":
        X = X * (np.random.default_rng(1).uniform(size=X.shape) < 0.6)
    rows = sparse.csr_array(X) if kind == "sparse" else X
    plain = clone(entry.estimator).fit(rows, y, sample_weight=weight)
    dask_rows, dask_y, dask_weight = on_dask(rows, y, weight)
    there = clone(entry.estimator).fit(dask_rows, dask_y, sample_weight=dask_weight)
    assert_same_model(there, plain, X)
    predicted = there.predict(dask_rows)
    assert isinstance(predicted, da.Array)
    assert predicted.chunks[0] == dask_rows.chunks[0]
    np.testing.assert_allclose(predicted.compute(), there.predict(rows), rtol=1e-12)


@pytest.mark.parametrize("entry", IN_MEMORY, ids=str)
def test_a_model_that_needs_rows_in_memory_says_so(entry):
    X, y, _ = table(entry.estimator)
    with pytest.raises(NotAvailable, match=r"memory.*Pass arrays"):
        clone(entry.estimator).fit(*on_dask(X, y))


def test_analyses_are_the_same_on_dask():
    X, y, weight = table(Ridge())
    rows, targets, weights = on_dask(X, y, weight)
    model = LinearRegression().fit(X, y, sample_weight=weight)
    here = inference(model, X, y, cov="HC1", sample_weight=weight)
    there = inference(model, rows, targets, cov="HC1", sample_weight=weights)
    np.testing.assert_allclose(there.se, here.se, rtol=1e-9)
    assert str(diagnose(model, rows, targets)) == str(diagnose(model, X, y))
    labels = X[:, 0] > 0
    assert str(separability(rows, da.from_array(labels))) == str(separability(X, labels))
    logistic = LogisticRegression(C=np.inf).fit(*on_dask(X, y > 3))
    assert str(logistic.summary()) == str(LogisticRegression(C=np.inf).fit(X, y > 3).summary())


def test_several_labels_and_targets():
    X, y, _ = table(Ridge())
    targets = np.column_stack([y, -2 * y + X[:, 1]])
    rows, two = on_dask(X, targets)
    here, there = LinearRegression().fit(X, targets), LinearRegression().fit(rows, two)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    labels = (targets > targets.mean(axis=0)).astype(int)
    here, there = RidgeClassifier().fit(X, labels), RidgeClassifier().fit(rows, on_dask(X, labels)[1])
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    np.testing.assert_array_equal(there.predict(rows), here.predict(X))


def test_the_bits_do_not_depend_on_the_scheduler():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 5)) * np.logspace(-2, 2, 5)
    y = X @ np.ones(5) + rng.normal(size=3_000) > 0
    rows, labels = on_dask(X, y, cuts=(150,) * 20)
    found = []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(LogisticRegression().fit(rows, labels).coef_)
    np.testing.assert_array_equal(*found)
