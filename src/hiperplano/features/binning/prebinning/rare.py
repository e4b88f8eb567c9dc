"""Rare categories, which are pooled because they are too small for a rate of their own."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, fdtrc

from hiperplano.data.design import Array

_SHARE = 0.01
_EXPECTED = 5.0  # expected count of each class for which the χ² test is valid
_LEVEL = 0.01


def rare_categories(sums: Array, totals: Array, n_classes: int) -> Array:
    """Which categories are pooled by default: small ones that do not differ, and very small ones.

    Small categories have fewer than 1% of all rows. In a column with hundreds of categories that may be all of them,
    and their rates can still be informative. So if a test finds that they differ, those with an expected count of at
    least five for each class (or five rows, for a numeric target) stay separate.

    Parameters
    ----------
    sums : ndarray of shape (categories, m)
        Weights of the classes, or Σw, Σw·z, Σw·z².
    totals : ndarray of shape (m,)
        Sums over all rows.
    n_classes : int
        0 for a numeric target.

    Returns
    -------
    ndarray of bool of shape (categories,)
    """
    weight, total = (sums.sum(axis=1), totals.sum()) if n_classes else (sums[:, 0], totals[0])
    least = _EXPECTED * total / totals.min() if n_classes else _EXPECTED
    small = weight < _SHARE * total * (1 - 1e-12)
    tested = small & (weight >= least)
    differ = _rates_differ if n_classes else _means_differ
    return np.asarray(small & ~tested if tested.sum() > 1 and differ(sums[tested]) else small)


def _rates_differ(counts: Array) -> bool:
    """Pearson's χ² test that categories have the same rates."""
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    there = expected > 0
    chi2 = ((counts - expected)[there] ** 2 / expected[there]).sum()
    return bool(chdtrc((len(counts) - 1) * (counts.shape[1] - 1), chi2) < _LEVEL)


def _means_differ(sums: Array) -> bool:
    """The F test that categories have the same mean."""
    explained = sums[:, 1] ** 2 / sums[:, 0]
    between = explained.sum() - sums[:, 1].sum() ** 2 / sums[:, 0].sum()
    within = (sums[:, 2] - explained).sum()
    freedom = len(sums) - 1, sums[:, 0].sum() - len(sums)
    return bool(between > 0 and (within <= 0 or fdtrc(*freedom, between / freedom[0] / (within / freedom[1])) < _LEVEL))
