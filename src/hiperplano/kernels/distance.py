"""Kernels of the distance of two rows: radial basis functions, and the Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from hiperplano.data.block import Array
from hiperplano.kernels.algebra import Kernel, Prepared, dense, length
from hiperplano.kernels.exponential import exponentials
from hiperplano.kernels.inner_product import inner_products, row_squares
from hiperplano.kernels.width import check_gamma, shown_gamma, width


class Radial(Kernel):
    """A kernel of the distance, with k(x, x) = 1."""

    def diagonal(self, X: Any) -> Array:
        return np.ones(length(X))


@dataclass(frozen=True)
class RBF(Radial):
    """k(x, x′) = exp(−gamma·‖x − x′‖²), radial basis functions.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Positive; "scale" is 1/(columns·variance of the numbers) and "auto" 1/columns, once a machine knows its rows.

    Examples
    --------
    >>> from hiperplano.kernels import RBF
    >>> RBF(gamma=0.5)
    RBF(gamma=0.5)
    >>> print(RBF(gamma=0.5))
    exp(−0.5·‖x − x′‖²)
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        check_gamma(self)

    def __str__(self) -> str:
        return f"exp(−{shown_gamma(self)}‖x − x′‖²)"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        # −γ‖x − z‖² = 2γ·x·z − γ‖x‖² − γ‖z‖²: rows with √(2γ) and two more columns give it in one product.
        rows = X - centre.astype(X.dtype) if centre.any() else X
        scaled = rows * np.sqrt(2 * width(self)).astype(X.dtype)
        squares = (-0.5 * row_squares(scaled)).astype(X.dtype)
        if issparse(X):  # two more columns would make products dense
            return scaled, scaled, squares
        n, d = scaled.shape
        left, right = np.ones((n, d + 2), X.dtype), np.ones((n, d + 2), X.dtype)
        left[:, :d] = right[:, :d] = scaled
        left[:, d] = right[:, d + 1] = squares
        return left, right, squares

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        rows, others = (part if issparse(part) else part[:, :-2] for part in (x[0], z[1]))
        if issparse(rows) or issparse(others):
            inner_products(rows, others, out)
            out += x[2][:, None]
            out += z[2]
        else:
            inner_products(x[0], z[1], out)
        limit = -1.0 / np.sqrt(np.finfo(out.dtype).eps)
        far, also_far = np.flatnonzero(x[2] < limit), np.flatnonzero(z[2] < limit)
        # These are so far from the centre that squares leave no digits of their differences.
        if len(far) and len(also_far):
            apart = cdist(dense(rows[far]), dense(others[also_far]), "sqeuclidean")
            out[np.ix_(far, also_far)] = -0.5 * apart
        exponentials(out)


@dataclass(frozen=True)
class Laplacian(Radial):
    """k(x, x′) = exp(−gamma·Σⱼ|xⱼ − x′ⱼ|).

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Positive; "scale" is 1/(columns·variance of the numbers) and "auto" 1/columns, once a machine knows its rows.

    Examples
    --------
    >>> from hiperplano.kernels import Laplacian
    >>> print(Laplacian(gamma=2.0))
    exp(−2·‖x − x′‖₁)
    >>> Laplacian()([0.0, 0.0], [0.0, 0.0])
    1.0
    """

    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        check_gamma(self)

    def __str__(self) -> str:
        return f"exp(−{shown_gamma(self)}‖x − x′‖₁)"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return (X,)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        if issparse(x[0]) or issparse(z[0]):
            out[...] = manhattan_distances(x[0], z[0])
        else:
            out[...] = cdist(x[0], z[0], "cityblock")
        out *= -width(self)
        exponentials(out)
