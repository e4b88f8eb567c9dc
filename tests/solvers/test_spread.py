"""Means and lengths of columns, against NumPy's on columns of ordinary size."""

import numpy as np
import pytest
from scipy import sparse

from hiperplano.data.validate import design as make_design
from hiperplano.solvers.spread import column_spread


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("centred", [True, False])
def test_spread_of_columns(rows, centred):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)) * (rng.uniform(size=(3000, 5)) < 0.3)
    y, weight = rng.normal(size=3000), rng.uniform(0.5, 2.0, 3000)
    X = np.column_stack([X, X[:, 0] * 1e200, X[:, 1] * 1e-200, np.full(len(y), 0.1), np.round(X[:, 2] * 8) + 1e9])
    weight[::7] = 0.0
    X[::7] = 1e300  # rows without weight
    found = column_spread(make_design(rows(X), y, weight), centred)
    kept = weight > 0
    scale = np.abs(X[kept]).max(axis=0)
    values = X[kept] / scale
    mean = np.average(values, axis=0, weights=weight[kept]) if centred else 0.0
    length = np.sqrt(weight[kept] @ (values - mean) ** 2)
    if centred:
        length[7] = 0.0
        np.testing.assert_allclose(found.mean / scale, mean, atol=1e-12)
        # The last column spreads by 1e-9 of its size: what NumPy keeps of it above.
        np.testing.assert_allclose((found.length / scale)[:8], length[:8], rtol=1e-11)
        assert found.length[8] == pytest.approx(
            column_spread(make_design(X[:, 8:] - 1e9, y, weight), True).length[0], rel=1e-9
        )
    else:
        np.testing.assert_allclose(found.length / scale, length, rtol=1e-11)
    assert found.total == pytest.approx(weight.sum())


@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_a_weighted_sum_beyond_floats_has_a_mean_within(rows):
    X, weight = np.array([[1e300], [-1e300], [3e300]]), np.array([1e12, 1e12, 2e12])
    found = column_spread(make_design(rows(X), np.zeros(3), weight), centred=True)
    np.testing.assert_allclose(found.mean, 1.5e300, rtol=1e-15)
    np.testing.assert_allclose(found.length, np.sqrt(0.25 + 6.25 + 2 * 2.25) * 1e306, rtol=1e-14)
