"""An active set refuses corners that depend on those it has."""

import numpy as np

from hiperplano.solvers.nearest_point import ActiveSet


def test_a_mixture_of_corners_is_refused_and_changes_nothing():
    """SciPy's update of the factorisation raises for some of them, and gives a tiny entry for others."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_columns = int(rng.integers(2, 6))
        active = ActiveSet.of((0,), rng.normal(size=n_columns) / 3)
        for k in range(1, n_columns):
            assert active.add((k,), rng.normal(size=n_columns) / 3)
        before = active.upper.copy()
        mixture = rng.dirichlet(np.ones(len(active.members))) @ active.corners
        assert not active.add((99,), mixture)
        assert len(active.members) == n_columns
        assert np.array_equal(active.upper, before)
