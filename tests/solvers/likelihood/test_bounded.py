"""Curvature that rules out a maximum of the likelihood at infinity."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.likelihood.bounded import is_bounded
from hiperplano.solvers.likelihood.likelihood import Likelihood


@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
@pytest.mark.parametrize("separated", [False, True])
def test_rows_that_a_column_separates_leave_it_open(n_scores, make, separated):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 8)) * (rng.random((800, 8)) < 0.3)
    y = rng.integers(0, 3, 800) if n_scores > 1 else rng.choice([-1, 1], 800)
    if separated:
        X[:, 0] = (y == 1) & (rng.random(800) < 0.05)
    X[:, 7] = 0.0
    design = InMemory(make(X), y[:, None].astype(float), rng.uniform(0.5, 2.0, 800))
    problem = Likelihood(design, ColumnScale.exact(design, fit_intercept=True), n_scores, 0.0)
    end = problem.newton(None, 1e-8, 100, 1e-7).state
    assert end.largest <= 1e-8
    assert is_bounded(problem, end) is not separated
