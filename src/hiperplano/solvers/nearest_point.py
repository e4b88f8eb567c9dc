"""The point of a convex hull nearest to the origin, by Wolfe's algorithm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.sparse import issparse

from hiperplano.data.design import Array

_ROUNDING = 1e-13  # relative: closer than this, points cannot be told apart


class Nearest(NamedTuple):
    """A point of the hull, and how near to the origin the nearest one is: between `low` and its own `length`.

    For every point p of the hull p·point/length ≥ low: the plane through the origin across `point` has the whole hull
    on one side, `low` away at least, if low > 0.
    """

    point: Array
    length: float
    low: float


def nearest_point(points: Any, tol: float, max_steps: int) -> Nearest:
    """Minimise ‖Σ λᵢ·pᵢ‖ over λ ≥ 0, Σ λ = 1, until length − low ≤ tol·length.

    Points enter one at a time, the one that lies furthest towards the origin; those without weight leave. What
    remains is always affinely independent, so the problem among them is a small least-squares problem.

    Parameters
    ----------
    points : ndarray or CSR array of shape (n, d)
    tol : float
    max_steps : int
    """
    squares = np.asarray(points.multiply(points).sum(axis=1) if issparse(points) else np.sum(points**2, axis=1))
    members = [int(np.argmin(squares))]
    chosen, share = _one(points, members[0]), np.ones(1)
    largest = float(np.sqrt(squares.max()))
    best = Nearest(chosen[0], float(np.linalg.norm(chosen[0])), -np.inf)
    for _ in range(max_steps):
        point = share @ chosen
        length = float(np.linalg.norm(point))
        if length <= _ROUNDING * largest:
            return Nearest(point, length, 0.0)
        along = np.asarray(points @ point).ravel()
        entering = int(np.argmin(along))
        best = max(best, Nearest(point, length, float(along[entering]) / length), key=lambda found: found.low)
        if best.length - best.low <= tol * best.length or entering in members:
            return best
        members.append(entering)
        chosen, share = np.vstack([chosen, _one(points, entering)]), np.append(share, 0.0)
        members, chosen, share = _reduce(members, chosen, share)
    return best


def _one(points: Any, place: int) -> Array:
    row = points[[place]]
    return np.asarray(row.toarray() if issparse(row) else row, dtype=np.float64)


def _reduce(members: list[int], chosen: Array, share: Array) -> tuple[list[int], Array, Array]:
    """Move to the nearest point of the affine hull, dropping points whose share would turn negative on the way."""
    while True:
        wanted = _affine_minimum(chosen)
        if (wanted > 0).all():
            return members, chosen, wanted
        falling = wanted <= 0
        steps = share[falling] / np.maximum(share[falling] - wanted[falling], np.finfo(float).tiny)
        share = share + min(1.0, float(steps.min())) * (wanted - share)
        share[np.flatnonzero(falling)[np.argmin(steps)]] = 0.0
        kept = share > 0
        members = [member for member, keep in zip(members, kept, strict=True) if keep]
        chosen, share = chosen[kept], share[kept] / share[kept].sum()


def _affine_minimum(chosen: Array) -> Array:
    """Weights that sum to 1 of the nearest point of an affine hull: with M = [1; Pᵀ], MᵀM·u = 1, w = u/Σu."""
    system = np.vstack([np.full(len(chosen), np.abs(chosen).max()), chosen.T])
    (r,) = qr(system, mode="r")
    r = r[: len(chosen)]
    u = solve_triangular(r, solve_triangular(r, np.ones(len(chosen)), trans="T"))
    return np.asarray(u / u.sum())
