"""Wolfe's algorithm against the quadratic program it solves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiperplano.solvers.nearest_point import ActiveSet, Lowest, approach, nearest_point
from tests import quadratic


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 30), d=st.integers(1, 8), two=st.booleans())
def test_the_nearest_point_is_that_of_the_quadratic_program(seed, m, d, two):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(2 * m, d)) / np.sqrt(d) + rng.normal(size=d)
    groups = [np.arange(m), np.arange(m, 2 * m)] if two else [np.arange(2 * m)]

    def lowest(direction):
        members = tuple(int(group[np.argmin(points[group] @ direction)]) for group in groups)
        corner = points[list(members)].sum(axis=0)
        return Lowest(members, corner, float(corner @ direction))

    first = lowest(np.zeros(d))
    active = ActiveSet.of(first.members, first.corner)
    height = approach(active, lowest, 1e-12, 1000)
    assert (active.weights > 0).all()
    assert active.weights.sum() == pytest.approx(1.0)
    corners = np.array([points[list(members)].sum(axis=0) for members in active.members])
    np.testing.assert_allclose(active.weights @ corners, active.point, atol=1e-10)
    # Weights a ≥ 0 that sum to one in each group: min ½‖a·points‖².
    member = np.zeros((len(groups), 2 * m))
    for k, group in enumerate(groups):
        member[k, group] = 1.0
    matrix, bound = np.vstack([member, -np.eye(2 * m)]), np.concatenate([np.ones(len(groups)), np.zeros(2 * m)])
    _, value = quadratic.solve(np.triu(points @ points.T), np.zeros(2 * m), matrix, bound, equal=len(groups))
    assert 0.5 * active.point @ active.point == pytest.approx(value, rel=1e-6, abs=1e-9)
    assert active.point @ active.point - height <= 1e-9
    if not two:
        found = nearest_point(lowest, first, float(np.linalg.norm(points, axis=1).max()), 1e-12, 1000)
        assert found.length == pytest.approx(np.sqrt(2 * max(value, 0.0)), rel=1e-4, abs=1e-4)
        assert found.low <= found.length + 1e-12
