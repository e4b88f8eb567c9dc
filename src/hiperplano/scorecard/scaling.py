"""Conversion between log-odds and points: points to double the odds, and the score at given odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parameters import number


@dataclass(frozen=True)
class PointScale:
    """points = offset − factor·log-odds of the event; factor = pdo/ln 2, offset = base_score − factor·ln base_odds.

    Attributes
    ----------
    pdo : float
        Points that double the odds of a non-event.
    base_score, base_odds : float
        The score at which there are `base_odds` non-events for one event.

    References
    ----------
    N. Siddiqi (2006), Credit Risk Scorecards, chapter 6.
    """

    pdo: float = 20.0
    base_score: float = 600.0
    base_odds: float = 50.0

    @classmethod
    def of(cls, owner: Any) -> PointScale:
        """Build from the parameters of an estimator, after validation."""
        return cls(
            number(owner, "pdo", low=0.0, open_low=True),
            number(owner, "base_score"),
            number(owner, "base_odds", low=0.0, open_low=True),
        )

    @property
    def factor(self) -> float:
        """Points per unit of log-odds."""
        return float(self.pdo / np.log(2.0))

    @property
    def offset(self) -> float:
        """The score at even odds."""
        return float(self.base_score - self.factor * np.log(self.base_odds))

    def points(self, log_odds: Any) -> Array:
        """The score of log-odds of the event."""
        return np.asarray(self.offset - self.factor * log_odds)

    def log_odds(self, points: Any) -> Array:
        """The log-odds of the event at a score."""
        return np.asarray((self.offset - points) / self.factor)
