"""Divergences between two distributions: Kullback-Leibler, Jensen-Shannon, information value, stability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import rel_entr

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget

_ROUNDED = 1e-3  # largest error of the sum of shares that were rounded to few decimals


def kl_divergence(p: Any, q: Any, *, base: float = np.e, bins: Any = None, smoothing: float = 0.0) -> float:
    """Σ p·log(p/q): the excess length of coding p with a code for q; infinite if q is 0 where p is not.

    Parameters
    ----------
    p, q : array-like
        Probabilities, which sum to 1, or counts, which are integers, of the same categories; with `bins`, samples.
    base : float, default=e
        Base of the logarithm: e for nats, 2 for bits.
    bins : None, int, str or array-like, default=None
        None: p and q are distributions. Otherwise they are samples, counted in the bins of `numpy.histogram_bin_edges`
        for both together; with given edges, the outer bins extend to infinity.
    smoothing : float, default=0.0
        Added to every count, so that empty bins do not give infinity.

    Returns
    -------
    float
        0 or more; infinite if q is 0 where p is not.

    Examples
    --------
    >>> from hiperplano.metrics import kl_divergence
    >>> round(kl_divergence([0.5, 0.5], [0.25, 0.75], base=2), 4)
    0.2075
    """
    left, right = _two_distributions(p, q, bins, smoothing)
    return float(rel_entr(left, right).sum() / _log_base(base))


def js_divergence(p: Any, q: Any, *, base: float = np.e, bins: Any = None, smoothing: float = 0.0) -> float:
    """KL(p, m)/2 + KL(q, m)/2 with m = (p + q)/2: symmetric, from 0 to log 2 (1 bit).

    Parameters
    ----------
    p, q, base, bins, smoothing
        As in `kl_divergence`.

    Returns
    -------
    float
        0 for equal distributions, log 2 for disjoint ones.

    Examples
    --------
    >>> from hiperplano.metrics import js_divergence
    >>> js_divergence([1, 0], [0, 1], base=2)
    1.0
    """
    left, right = _two_distributions(p, q, bins, smoothing)
    middle = (left + right) / 2
    return float((rel_entr(left, middle).sum() + rel_entr(right, middle).sum()) / 2 / _log_base(base))


def population_stability_index(expected: Any, actual: Any, *, bins: Any = 10, smoothing: float = 0.0) -> float:
    """Σ (a − e)·ln(a/e) over bins: the symmetric divergence of a sample from the expected one.

    Parameters
    ----------
    expected, actual : array-like
        Samples of numbers or of categories; with `bins=None`, shares or counts of the same bins.
    bins : int, array-like or None, default=10
        For numbers, the number of bins of equal share in `expected`, or their inner edges. Each category is a bin.
    smoothing : float, default=0.0
        Added to every count, so that a bin that is empty in one sample does not give infinity.

    Returns
    -------
    float
        0 for equal shares in all bins, up to infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano.metrics import population_stability_index
    >>> rng = np.random.default_rng(0)
    >>> made_on = rng.normal(size=20_000)
    >>> round(population_stability_index(made_on, made_on + 0.5), 2)
    0.24
    """
    if bins is None:
        left, right = _shares(expected, smoothing, "expected"), _shares(actual, smoothing, "actual")
        _same_length(left, right)
    else:
        counted = common_bins(expected, actual, bins)
        left, right = (_normalised(counts, smoothing) for counts in (counted.expected, counted.actual))
    return float((rel_entr(left, right) + rel_entr(right, left)).sum())


def information_value(y: Any, x: Any, *, bins: Any = None, sample_weight: Any = None, smoothing: float = 0.0) -> float:
    """Σ (n − p)·ln(n/p) over the categories of x, n and p their shares among negatives and positives.

    The symmetric divergence KL(n, p) + KL(p, n) between the two classes; infinite if a category holds one class only,
    unless smoothed.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two classes.
    x : array-like of shape (n,)
        Categories, or numbers to be cut.
    bins : int, array-like or None, default=None
        None: values of x are categories. Otherwise numbers are cut into that many bins of equal share, or at the
        given inner edges.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, 0 or more; rows of equal weight by default.
    smoothing : float, default=0.0
        Added to the weight of each class in each category.

    Returns
    -------
    float
        0 where both classes have the same shares, up to infinity.

    Examples
    --------
    >>> from hiperplano.metrics import information_value
    >>> y = [0] * 60 + [1] * 40
    >>> x = ["owner"] * 45 + ["tenant"] * 15 + ["owner"] * 15 + ["tenant"] * 25
    >>> round(information_value(y, x), 4)
    0.6035
    """
    labels, values = _sample(y, "y"), _sample(x, "x")
    if labels.shape != values.shape:
        raise InvalidData(
            "y has {n_labels} rows and x {n_values}; each row needs a class and a value. Pass vectors of one length.",
            n_labels=len(labels),
            n_values=len(values),
        )
    classes, positive = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise InvalidTarget(
            "y holds {n_classes} classes; information value compares two. Pass y == the positive class.",
            n_classes=len(classes),
        )
    if bins is None:
        found, codes = np.unique(values, return_inverse=True)
        size = len(found)
    else:
        edges = _quantile_edges(values, bins) if np.ndim(bins) == 0 else _inner_edges(bins)
        codes, size = np.searchsorted(edges, values, side="right"), len(edges) + 1
    weight = check_weight(sample_weight, len(values))
    counts = np.bincount(2 * codes + positive, weights=weight, minlength=2 * size).reshape(size, 2)
    counts = counts[counts.sum(axis=1) > 0]
    left, right = (_normalised(column, smoothing) for column in counts.T)
    return float((rel_entr(left, right) + rel_entr(right, left)).sum())


class CommonBins(NamedTuple):
    """Two samples counted in the same bins, given by `edges` or by `categories`; the other one is None."""

    edges: Array | None
    categories: Array | None
    expected: Array
    actual: Array


def common_bins(expected: Any, actual: Any, bins: Any) -> CommonBins:
    """Count numbers between quantiles of `expected`, or between given inner edges, and all other values by category.

    Parameters
    ----------
    expected, actual : array-like
        Samples of numbers or of categories.
    bins : int or array-like
        For numbers, the number of bins or their inner edges.
    """
    first, second = (_sample(values, name) for values, name in ((expected, "expected"), (actual, "actual")))
    edges, categories = None, None
    if first.dtype.kind in "fiub" and second.dtype.kind in "fiub":
        edges = _quantile_edges(first, bins) if np.ndim(bins) == 0 else _inner_edges(bins)
        codes = [np.searchsorted(edges, values, side="right") for values in (first, second)]
        size = len(edges) + 1
    else:
        categories, inverse = np.unique(np.concatenate([first, second]), return_inverse=True)
        codes, size = [inverse[: len(first)], inverse[len(first) :]], len(categories)
    return CommonBins(edges, categories, *(np.bincount(code, minlength=size) for code in codes))


def _log_base(base: float) -> float:
    return float(np.log(check_number("divergence", "base", base, 1.0, np.inf, open_low=True)))


def _two_distributions(p: Any, q: Any, bins: Any, smoothing: float) -> tuple[Array, Array]:
    if bins is None:
        left, right = _shares(p, smoothing, "p"), _shares(q, smoothing, "q")
        _same_length(left, right)
        return left, right
    first, second = _sample(p, "p"), _sample(q, "q")
    if np.ndim(bins) == 0:
        edges = np.histogram_bin_edges(np.concatenate([first, second]), bins)[1:-1]
    else:
        edges = _inner_edges(np.asarray(bins)[1:-1])
    counts = [
        np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)
        for values in (first, second)
    ]
    return _normalised(counts[0], smoothing), _normalised(counts[1], smoothing)


def _same_length(left: Array, right: Array) -> None:
    if left.shape != right.shape:
        raise InvalidData(
            "the distributions have {n_left} and {n_right} categories; both must be of the same ones. For samples "
            "say how to cut them: set bins.",
            n_left=len(left),
            n_right=len(right),
        )


def _shares(values: Any, smoothing: float, name: str) -> Array:
    counts = np.asarray(values, dtype=np.float64)
    if counts.ndim != 1 or not len(counts) or not np.isfinite(counts).all() or (counts < 0).any() or not counts.any():
        raise InvalidData(
            "{name} is not a distribution ({counts} …); it must be a vector of shares or counts of 0 or more, not all "
            "0. For samples set bins.",
            name=name,
            counts=counts.ravel()[:5].tolist(),
        )
    total = float(counts.sum())
    if abs(total - 1.0) > _ROUNDED and (counts != np.floor(counts)).any():
        raise InvalidData(
            "{name} is not a distribution: its shares add up to {total:g}, and must to 1 (counts are whole numbers). "
            "Look for a missing category, or divide by the sum yourself.",
            name=name,
            total=total,
        )
    return _normalised(counts, smoothing)


def _normalised(counts: Array, smoothing: float) -> Array:
    added = counts + check_number("divergence", "smoothing", smoothing, 0.0, np.inf)
    total = added.sum()
    if not total > 0:
        raise InvalidData("one of the two samples has weight 0; a distribution needs rows that count. Add rows.")
    return np.asarray(added / total)


def _sample(values: Any, name: str) -> Array:
    sample = np.asarray(values)
    if sample.ndim != 1 or not len(sample):
        raise InvalidData(
            "{name} has shape {shape}; it must be a vector of one row or more. Pass a vector.",
            name=name,
            shape=sample.shape,
        )
    if sample.dtype.kind == "f" and np.isnan(sample).any():
        raise InvalidData(
            "{name} contains NaN; every row needs a value. Drop those rows, or give them a category.", name=name
        )
    return sample


def _quantile_edges(values: Array, bins: Any) -> Array:
    """Inner edges of bins of equal share; fewer if many values are equal."""
    count = int(check_number("divergence", "bins", bins, 1, np.inf))
    edges = np.quantile(values, np.arange(1, count) / count)
    return np.unique(edges)


def _inner_edges(bins: Any) -> Array:
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or np.isnan(edges).any() or (np.diff(edges) <= 0).any():
        raise InvalidParameter(
            "bins={bins!r}; edges of bins must be rising numbers. Sort them and drop repeated ones.", bins=bins
        )
    return edges
