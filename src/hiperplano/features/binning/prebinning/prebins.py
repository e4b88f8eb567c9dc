"""Pre-bins: at most a hundred pieces of a column, from which the search builds the best bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.features.binning.pieces import Pieces

_SMALLEST_LEAF = 0.005  # least share of all rows in a leaf, since the search joins small leaves anyway


def quantile_ends(pieces: Pieces, n_classes: int, max_prebins: int) -> Array:
    """Ends of at most `max_prebins` joined pieces of about equal weight.

    Parameters
    ----------
    n_classes : int
        0 for a numeric target.

    Returns
    -------
    ndarray of int
        Ascending; the last is the number of pieces.
    """
    size = len(pieces.low)
    if size <= max_prebins:
        return np.arange(1, size + 1)
    up_to = np.cumsum(weights_of(pieces.sums, n_classes))
    goals = up_to[-1] * np.arange(1, max_prebins) / max_prebins
    after = np.clip(np.searchsorted(up_to, goals), 1, size - 1)
    nearer = np.where(goals - up_to[after - 1] < up_to[after] - goals, after, after + 1)
    return np.unique(np.append(nearer, size))


def tree_ends(pieces: Pieces, n_classes: int, max_prebins: int) -> Array:
    """Ends of the leaves of scikit-learn's decision tree with at most `max_prebins` of them.

    Parameters and returns as in `quantile_ends`.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    size = len(pieces.low)
    if size <= max_prebins:
        return np.arange(1, size + 1)
    rules: dict[str, Any] = {
        "max_leaf_nodes": max_prebins,
        "min_weight_fraction_leaf": _SMALLEST_LEAF,
        "random_state": 0,
    }
    places = np.arange(size, dtype=np.float64)
    if n_classes:
        piece, label = np.nonzero(pieces.sums)
        tree = DecisionTreeClassifier(criterion="entropy", **rules)
        tree.fit(places[piece, None], label, sample_weight=pieces.sums[piece, label])
    else:
        weight = pieces.sums[:, 0]
        tree = DecisionTreeRegressor(**rules).fit(places[:, None], pieces.sums[:, 1] / weight, sample_weight=weight)
    inner = tree.tree_.threshold[tree.tree_.feature >= 0]
    return np.append(np.unique(np.floor(inner).astype(np.intp) + 1), size)


def category_order(sums: Array, n_classes: int, pooled: Array) -> tuple[list[Array], Array]:
    """Categories by ascending event rate or mean, some of them pooled.

    Joining neighbours in this order is enough: with two classes or a numeric target, no other grouping has a better
    value of a convex criterion (Breiman et al. 1984, section 4.2.2). With more classes the order is that of the first
    principal component of their rates (Coppersmith, Hong and Hosking 1999).

    Parameters
    ----------
    sums : ndarray of shape (categories, m)
    pooled : ndarray of bool of shape (categories,)
        Categories to pool.

    Returns
    -------
    groups : list of ndarray of int
        The categories of each pre-bin.
    sums : ndarray of shape (groups, m)
    """
    groups = [np.array([each]) for each in np.flatnonzero(~pooled)]
    if pooled.any():
        groups.append(np.flatnonzero(pooled))
    joined = np.array([sums[group].sum(axis=0) for group in groups]).reshape(len(groups), sums.shape[1])
    size = weights_of(joined, n_classes)
    scores = joined[:, 1] / size
    if n_classes > 2:
        rates = joined / size[:, None]
        centred = (rates - np.average(rates, axis=0, weights=size)) * np.sqrt(size)[:, None]
        direction = np.linalg.svd(centred, full_matrices=False)[2][0]
        scores = rates @ (direction * np.sign(direction[np.argmax(np.abs(direction))]))
    order = np.argsort(scores, kind="stable")
    return [groups[place] for place in order], joined[order]


def equal_ends(sums: Array, n_classes: int, max_prebins: int) -> Array:
    """Ends of at most `max_prebins` groups of neighbouring categories of about equal weight."""
    empty = np.empty(0)
    places = np.arange(len(sums), dtype=np.float64)
    return quantile_ends(Pieces(places, places, sums, empty), n_classes, max_prebins)


def weights_of(sums: Array, n_classes: int) -> Array:
    """The weight of each piece, from its sums."""
    return np.asarray(sums.sum(axis=1) if n_classes else sums[:, 0])
