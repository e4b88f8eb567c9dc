"""The point of a polytope nearest to the origin, by Wolfe's method.

The polytope is given by a function that returns its lowest corner along a direction. The result is a convex combination
of affinely independent corners, the active set, stored with a triangular factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, qr_delete, qr_insert

from hiperplano.data.design import Array

_ZERO = 1e-12  # weights up to this are dropped
# Corners closer than this to the affine hull of the active set, in units of the corners' norm, are dependent.
_DEPENDENT = 1e-12
_TOUCHING = 1e-13  # points closer than this to the origin, in units of the corners' norm, count as the origin


@dataclass
class ActiveSet:
    """Corners with positive weights that sum to one.

    Attributes
    ----------
    members : list of tuples of int
        Identity of each corner: the rows that form it.
    corners : ndarray of shape (k, d)
    weights : ndarray of shape (k,)
    left, upper : ndarray of shape (d+1, k) and (k, k)
        Orthogonal and triangular factor of the corners as columns, with a 1 above each.
    """

    members: list[tuple[int, ...]]
    corners: Array
    weights: Array
    left: Array
    upper: Array

    @classmethod
    def of(cls, members: tuple[int, ...], corner: Array) -> ActiveSet:
        column = np.append(1.0, corner)
        length = float(np.linalg.norm(column))
        return cls([members], corner[None].copy(), np.ones(1), column[:, None] / length, np.array([[length]]))

    @property
    def point(self) -> Array:
        return np.asarray(self.weights @ self.corners)

    def add(self, members: tuple[int, ...], corner: Array) -> bool:
        """Add a corner with weight 0; return False if it depends on the others."""
        size = len(self.members)
        if members in self.members or size > len(corner):
            return False
        column = np.append(1.0, corner)
        try:
            left, upper = qr_insert(self.left, self.upper, column, size, which="col", check_finite=False)
        except np.linalg.LinAlgError:  # raised by SciPy for an exactly dependent column
            return False
        if abs(upper[size, size]) <= _DEPENDENT * float(np.linalg.norm(column)):
            return False
        self.left, self.upper = left, upper
        self.members.append(members)
        self.corners = np.vstack([self.corners, corner])
        self.weights = np.append(self.weights, 0.0)
        return True

    def settle(self) -> None:
        """Move to the nearest point of the affine hull, or as far as the convex hull allows, dropping corners."""
        while True:
            # LAPACK is called directly, since SciPy's checks would dominate the time for so small a factor.
            half = lapack.dtrtrs(self.upper, np.ones(len(self.weights)), trans=1)[0]
            target = lapack.dtrtrs(self.upper, half)[0]
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
        # Deleting a column keeps the shape of the factor.
        self.left, self.upper = self.left[:, : len(self.weights) - 1], self.upper[: len(self.weights) - 1]
        self.corners, self.weights = np.delete(self.corners, k, axis=0), np.delete(self.weights, k)
        del self.members[k]


class Lowest(NamedTuple):
    """The lowest corner along a direction, and its height."""

    members: tuple[int, ...]
    corner: Array
    height: float


def approach(active: ActiveSet, lowest: Callable[[Array], Lowest], tol: float, max_steps: int) -> float:
    """Improve an active set until the relative gap to the lowest corner is at most `tol`.

    The gap is the squared norm of the set's point minus the height of the lowest corner.

    Parameters
    ----------
    active : ActiveSet
        Modified in place. The norms of corners should be about 1 at most.
    max_steps : int
        Limit of steps, reached only because of rounding errors.

    Returns
    -------
    height : float
        Height of the lowest corner along the active set's point. Divided by the norm of that point, it is a lower bound
        of the distance of the polytope from the origin.
    """
    for _ in range(max_steps):
        point = active.point
        found = lowest(point)
        square = float(point @ point)
        if square - found.height <= tol * square or not active.add(found.members, found.corner):
            break
        active.settle()
    return found.height


class Nearest(NamedTuple):
    """A point of a convex hull. The distance of the hull from the origin is between `low` and the point's `length`.

    Every point p of the hull has p·point/length ≥ low. If low > 0, the plane through the origin orthogonal to `point`
    has the whole hull on one side, at a distance of at least `low`.
    """

    point: Array
    length: float
    low: float


def nearest_point(lowest: Callable[[Array], Lowest], first: Lowest, size: float, tol: float, max_steps: int) -> Nearest:
    """Minimise ‖Σ λᵢ·pᵢ‖ over λ ≥ 0, Σ λ = 1, until length − low ≤ tol·length.

    Parameters
    ----------
    lowest : callable, direction -> Lowest
        Finds the lowest of the points along a direction.
    first : Lowest
        The point to start from.
    size : float
        Largest norm of a point.
    """
    unit = size or 1.0

    def scaled(direction: Array) -> Lowest:
        found = lowest(direction)
        return Lowest(found.members, found.corner / unit, found.height / unit)

    active = ActiveSet.of(first.members, first.corner / unit)
    height = approach(active, scaled, tol, max_steps)
    point = active.point
    length = float(np.linalg.norm(point))
    low = height / length if length > _TOUCHING else 0.0
    return Nearest(unit * point, unit * length, unit * low)
