"""A corral refuses corners that depend on those it has."""

import numpy as np

from hiperplano.solvers.nearest_point import Corral


def test_a_mixture_of_corners_is_refused_and_changes_nothing():
    """SciPy's update of the factorisation raises for some of them, and gives a tiny entry for others."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_columns = int(rng.integers(2, 6))
        corral = Corral.of((0,), rng.normal(size=n_columns) / 3)
        for k in range(1, n_columns):
            assert corral.add((k,), rng.normal(size=n_columns) / 3)
        before = corral.upper.copy()
        mixture = rng.dirichlet(np.ones(len(corral.members))) @ corral.corners
        assert not corral.add((99,), mixture)
        assert len(corral.members) == n_columns
        assert np.array_equal(corral.upper, before)
