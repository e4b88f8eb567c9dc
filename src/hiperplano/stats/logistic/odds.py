"""The summary table of a logistic model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.stats.summary import Summary


@dataclass(frozen=True, repr=False)
class OddsSummary(Summary):
    """A summary with odds ratios, the factors by which the odds change when a column grows by one.

    Attributes
    ----------
    odds_ratio, odds_low, odds_high : ndarray
        exp of `coef`, `low` and `high`, of their shape.
    title, names, coef, se, statistic, p, low, high, stats, level, statistic_name, covariance, blocks, notes
        As in `Summary`; `covariance` is that of all blocks together.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import LogisticRegression
    >>> model = LogisticRegression(C=np.inf).fit([[0.0], [0.0], [1.0], [1.0], [1.0]], [0, 1, 0, 1, 1])
    >>> model.summary().odds_ratio.round(6)
    array([1., 2.])
    """

    @property
    def odds_ratio(self) -> Array:
        return _exp(self.coef)

    @property
    def odds_low(self) -> Array:
        return _exp(self.low)

    @property
    def odds_high(self) -> Array:
        return _exp(self.high)

    def columns(self) -> dict[str, Array]:
        """The numeric columns of the table, by heading.

        Returns
        -------
        dict of str to ndarray
            One array for each column of the table.
        """
        return super().columns() | {
            "odds ratio": self.odds_ratio,
            "odds low": self.odds_low,
            "odds high": self.odds_high,
        }


def _exp(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))
