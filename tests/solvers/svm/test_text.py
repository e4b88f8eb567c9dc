"""Tables like those of texts: rows of positive numbers, in columns that are rare or common."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano import LinearSVC


@pytest.fixture(scope="module")
def texts():
    """Rows of unit length, whose mean is far from 0."""
    rng = np.random.default_rng(0)
    n, d, words = 4_000, 8_000, 60
    share = 1.0 / np.arange(1, d + 1)
    topic = np.exp(0.7 * rng.normal(size=(2, d)))
    y = rng.integers(0, 2, n)
    columns = np.concatenate([rng.choice(d, words, p=share * topic[k] / (share @ topic[k])) for k in y])
    X = sparse.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), columns)), shape=(n, d))
    X.sum_duplicates()
    X.data = 1.0 + np.log(X.data)
    length = np.sqrt(X.multiply(X).sum(axis=1))
    return sparse.csr_array(X.multiply(1.0 / length[:, None])), y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_intercept_costs_few_passes(texts, loss):
    X, y = texts
    model = LinearSVC(loss=loss).fit(X, y)
    without = LinearSVC(loss=loss, fit_intercept=False).fit(X, y)
    assert model.solution_.gap <= 1e-4
    assert model.n_iter_ <= 1.5 * without.n_iter_
