"""Linear relations of dependent vectors, rows or columns of a table, computed up to rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.triangular import EPS

_MOST_CORRECTIONS = 4  # the first usually makes the error a rounding error
_FEW = 16  # rounding errors that are allowed in any relation; otherwise one for each vector
_CORRECTED = 0.5  # a correction must leave at most this share of the error


def corrected_relations(
    kept: Array,
    others: Array,
    shares: Array,
    inverse: Callable[[Array], Array],
    combine: Callable[[Array], tuple[Array, Array]],
    sizes: Array,
) -> Array | None:
    """Shares of the independent vectors in each of the others, from an approximation, corrected up to rounding.

    Return None if there are none, since the others are independent as well.

    Parameters
    ----------
    kept, others : ndarray of int
        Numbers of the independent vectors, and of the others.
    shares : ndarray of shape (len(kept), len(others))
        The approximation.
    inverse : callable
        Multiplies by the inverse of the products of the independent vectors.
    combine : callable
        Combinations of all vectors with the shares in the columns of its argument: their norms, and their products with
        all vectors.
    sizes : ndarray
        Norms of all vectors.
    """
    whole, largest = np.zeros((len(sizes), len(others))), np.inf  # the largest error, in units of its rounding error
    for _ in range(_MOST_CORRECTIONS):
        whole[kept], whole[others, np.arange(len(others))] = -shares, 1.0
        norms, products = combine(whole)
        rounding = EPS * (sizes @ np.abs(whole))
        before, largest = largest, float((norms / np.where(rounding > 0, rounding, 1.0)).max(initial=0.0))
        if largest > _CORRECTED * before or largest <= 1.0:
            break
        shares = shares + inverse(products[kept])
    return shares if largest <= max(_FEW, len(sizes)) else None
