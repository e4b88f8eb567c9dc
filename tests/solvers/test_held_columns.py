"""Columns that hold a stored number, against the list of all stored indices."""

import numpy as np
import pytest
import scipy.sparse as sp

from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.held_columns import HeldColumns


@pytest.mark.parametrize("held", [0, 1, 7, 19, 20, 40])
@pytest.mark.parametrize("n_rows", [1, 30, 2000])
def test_columns_are_left_out_where_fewer_than_half_are_held(n_rows, held):
    """Those with the largest numbers are met last."""
    rng = np.random.default_rng(held)
    columns = np.sort(rng.choice(40, held, replace=False))
    dense = np.zeros((n_rows, 40))
    for i, some in enumerate(np.array_split(columns, n_rows)):
        dense[i, some] = 1.0
    x = sp.csr_array(dense)
    found = HeldColumns.of(InMemory(x, np.zeros((n_rows, 1))))
    if not 0 < held < 20:
        assert found is None
    else:
        np.testing.assert_array_equal(found.numbers, columns)
        np.testing.assert_array_equal(found.widen(np.ones(held)) != 0, np.isin(np.arange(40), columns))
