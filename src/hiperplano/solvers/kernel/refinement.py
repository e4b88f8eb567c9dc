"""Linear systems solved by conjugate gradients in float32, with iterative refinement in float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradients

REACH: dict[np.dtype[Any], float] = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
"""Least relative residual of steps in each precision; it is then recomputed in float64."""
_CORRECTIONS = 20  # most rounds of refinement
_SLOW = 0.1  # refinement ends for a column whose correction leaves more than this share of its residual


class Refined(NamedTuple):
    """Solutions, and their residuals relative to the right-hand sides.

    Attributes
    ----------
    x : ndarray of shape (d, k)
    residuals : ndarray of shape (k,)
    """

    x: Array
    residuals: Array
    n_iter: int

    @property
    def residual(self) -> float:
        """The largest relative residual."""
        return float(self.residuals.max(initial=0.0))


def refined_gradients(
    product: Callable[[Array, Array], Array],
    remainder: Callable[[Array, Array], Array],
    *,
    start: tuple[Array, Array],
    size: Array,
    precondition: Callable[[Array, Array], Array],
    tol: float,
    reach: float,
    max_iter: int,
    budget: int | None = None,
) -> Refined:
    """Solve by conjugate gradients with an approximate matrix and iterative refinement.

    A column is not refined further once a correction fails to shrink its residual to a tenth.

    Parameters
    ----------
    product, precondition : callable
        As in `conjugate_gradients`; `product` may be rounded.
    remainder : callable
        Function from solutions, of shape (d, m), and their column numbers to their residuals, in full precision.
    start : tuple of ndarray of shape (d, k)
        The initial solutions and their residuals.
    size : ndarray of shape (k,)
        Norms of the right-hand sides.
    tol : float
        Target for the residuals, relative to `size`.
    reach : float
        Relative reduction of a residual down to which the rounded product is accurate enough.
    budget : int, optional
        As in `conjugate_gradients`.
    """
    size = np.where(size > 0, size, 1.0)
    x, left = (part.copy() for part in start)
    residuals, n_iter = np.linalg.norm(left, axis=0) / size, 0
    active = np.flatnonzero(residuals > tol)
    for _ in range(_CORRECTIONS):
        if not len(active) or n_iter >= max_iter:
            break
        before = residuals[active]
        solved = conjugate_gradients(
            partial(_of_columns, product, active),
            left[:, active],
            precondition=partial(_of_columns, precondition, active),
            rtol=max(0.5 * tol / float(before.max()), reach),
            max_iter=max_iter - n_iter,
            budget=budget,
        )
        n_iter += solved.n_iter
        changed = x[:, active] + solved.x
        rest = remainder(changed, active)
        reached = np.linalg.norm(rest, axis=0) / size[active]
        better = reached < before
        x[:, active[better]], left[:, active[better]] = changed[:, better], rest[:, better]
        residuals[active] = np.minimum(before, reached)
        active = active[(reached > tol) & (reached <= _SLOW * before)]
    return Refined(x, residuals, n_iter)


def _of_columns(function: Callable[[Array, Array], Array], columns: Array, directions: Array, which: Array) -> Array:
    """Adapt a function of directions and column numbers to a subset of the columns, numbered from 0."""
    return function(directions, columns[which])
