"""The two-sample Kolmogorov-Smirnov test of the scores of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import ks_2samp, kstwo

from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.metrics.ranking import checked_ranking, ranking_scores

_EXACT = 10_000  # up to this size of the larger class, p-values are exact by default, as in SciPy


@dataclass(frozen=True)
class KSTest:
    """The two-sample Kolmogorov-Smirnov test that both classes have the same distribution of scores.

    Attributes
    ----------
    statistic : float
        The largest distance between the two cumulative distributions.
    p : float
        Probability of a distance at least this large if both classes have the same distribution.
    cutoff : float
        The score at which it is reached.
    method : str
        "exact" or "asymptotic".
    n_negative, n_positive : int
        Rows of each class.
    """

    statistic: float
    p: float
    cutoff: float
    method: str
    n_negative: int
    n_positive: int


def ks_test(y: Any, score: Any, method: Literal["auto", "exact", "asymptotic"] = "auto") -> KSTest:
    """Test whether the scores of the two classes come from one distribution.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two classes, both present.
    score : array-like of shape (n,)
        Scores; larger if the positive class is more likely.
    method : {"auto", "exact", "asymptotic"}, default="auto"
        Method for the p-value; by default exact for up to 10,000 rows in each class.

    Returns
    -------
    KSTest
        `statistic`, `p` and `method`.

    Examples
    --------
    >>> from hiperplano.metrics import ks_test
    >>> found = ks_test([0] * 5 + [1] * 5, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    >>> found.statistic, round(found.p, 4), found.method
    (1.0, 0.0079, 'exact')
    """
    if method not in ("auto", "exact", "asymptotic"):
        raise InvalidParameter(
            "ks_test: method={method!r}; method must be 'auto', 'exact' or 'asymptotic'. Choose one of them.",
            method=method,
        )
    positive, values, _ = checked_ranking(y, score, None)
    m, n = int(np.sum(~positive)), int(np.sum(positive))
    if not m or not n:
        raise InvalidTarget(
            "ks_test: y holds one class in all {n} rows; two samples are compared. Check the target.", n=m + n
        )
    found = ranking_scores(positive, values)
    chosen = method if method != "auto" else ("exact" if max(m, n) <= _EXACT else "asymptotic")
    if chosen == "exact":
        p = float(ks_2samp(values[positive], values[~positive], method="exact").pvalue)
    else:
        p = float(kstwo.sf(found.ks, np.round(m * n / (m + n))))
    return KSTest(found.ks, p, found.cutoff, chosen, m, n)
