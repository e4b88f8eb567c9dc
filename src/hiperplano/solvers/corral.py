"""The point of a polytope next to the origin, by Wolfe's method.

A polytope is given by groups of points: its corners are all sums of one point from each group. The answer is a
convex combination of affinely independent corners, the corral, held with a triangular factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr_delete, qr_insert, solve_triangular

from hiperplano.data.design import Array

_ZERO = 1e-12  # weights up to this are dropped
_DEPENDENT = 1e-12  # a corner this near to the affine hull of the corral, in lengths of corners, adds nothing
_STEPS = 20  # for each coordinate, before rounding is to blame


@dataclass
class Corral:
    """Corners with positive weights that sum to one.

    Attributes
    ----------
    members : list of tuples of int
        Which points each corner is the sum of.
    weights : ndarray of shape (k,)
    left, upper : ndarray of shape (d+1, k) and (k, k)
        Orthogonal and triangular factor of the corners as columns, with a 1 above each.
    """

    members: list[tuple[int, ...]]
    weights: Array
    left: Array
    upper: Array

    @classmethod
    def of(cls, members: tuple[int, ...], corner: Array) -> Corral:
        column = np.append(1.0, corner)
        length = float(np.linalg.norm(column))
        return cls([members], np.ones(1), column[:, None] / length, np.array([[length]]))

    @property
    def point(self) -> Array:
        return np.asarray((self.left @ (self.upper @ self.weights))[1:])

    def add(self, members: tuple[int, ...], corner: Array) -> bool:
        """Take a corner in with weight 0; False if it depends on the others."""
        size = len(self.members)
        if members in self.members or size > len(corner):
            return False
        column = np.append(1.0, corner)
        left, upper = qr_insert(self.left, self.upper, column, size, which="col", check_finite=False)
        if abs(upper[size, size]) <= _DEPENDENT * float(np.linalg.norm(column)):
            return False
        self.left, self.upper = left, upper
        self.members.append(members)
        self.weights = np.append(self.weights, 0.0)
        return True

    def settle(self) -> None:
        """Move to the nearest point of the affine hull, or to where that leaves the convex hull, dropping corners."""
        while True:
            half = solve_triangular(self.upper, np.ones(len(self.weights)), trans="T", check_finite=False)
            target = solve_triangular(self.upper, half, check_finite=False)
            target /= target.sum()
            if (target > _ZERO).all():
                self.weights = target
                return
            behind = target <= _ZERO
            away = np.maximum(self.weights - target, np.finfo(float).tiny)
            share = min(1.0, float(np.min(np.where(behind, self.weights / away, np.inf))))
            self.weights = self.weights + share * (target - self.weights)
            dropped = int(np.argmin(np.where(behind, self.weights, np.inf)))
            self.weights[dropped] = 0.0
            for k in reversed(np.flatnonzero(behind & (self.weights <= _ZERO))):
                self._drop(int(k))
            self.weights /= self.weights.sum()

    def _drop(self, k: int) -> None:
        self.left, self.upper = qr_delete(self.left, self.upper, k, which="col", check_finite=False)
        # The factor of fewer columns keeps its shape.
        self.left, self.upper = self.left[:, : len(self.weights) - 1], self.upper[: len(self.weights) - 1]
        self.weights = np.delete(self.weights, k)
        del self.members[k]


def lowest(points: Array, groups: Sequence[Array], direction: Array) -> tuple[tuple[int, ...], float]:
    """The corner that lies lowest along a direction, and how low."""
    height = points @ direction
    members = tuple(int(group[np.argmin(height[group])]) for group in groups)
    return members, float(sum(height[member] for member in members))


def nearest_point(points: Array, groups: Sequence[Array], corral: Corral, tol: float) -> None:
    """Improve a corral until no corner is nearer than its point by more than `tol`, relative to the squared distance.

    Parameters
    ----------
    points : ndarray of shape (m, d)
        Lengths of about 1 at most.
    """
    for _ in range(_STEPS * (points.shape[1] + 10)):
        point = corral.point
        members, height = lowest(points, groups, point)
        square = float(point @ point)
        if square - height <= tol * square or not corral.add(members, points[list(members)].sum(axis=0)):
            return
        corral.settle()
