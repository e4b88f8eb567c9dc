"""When few rows with many columns are fitted in the span of the rows."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from hiperplano import LogisticRegression
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.row_span import is_wide


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_many_classes_of_sparse_rows_are_fitted_in_the_span_of_the_rows(C):
    """A pass over all columns costs much for vectors of parameters, of which there is one for each class."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 6_000), density=0.002, format="csr", rng=rng)
    rows = InMemory(X, np.zeros((600, 1)))
    assert not is_wide(rows, 1)
    assert is_wide(rows, 10)
    y = rng.integers(0, 10, 600)
    model = LogisticRegression(C=C).fit(X, y)
    assert "in the span of the rows" in str(model.solution_.method)
    slope = softmax(model.decision_function(X), axis=1) - np.eye(10)[y]  # the gradient is zero
    np.testing.assert_allclose(C * (X.T @ slope).T, -model.coef_, rtol=0, atol=1e-6 * np.abs(model.coef_).max())
