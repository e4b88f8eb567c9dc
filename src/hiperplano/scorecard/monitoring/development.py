"""Statistics of the training rows that a scorecard stores: the distribution of its score, and its ranking measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.metrics.ranking import ranking_scores

BANDS = 10


@dataclass(frozen=True)
class Development:
    """Statistics of the training rows in bands of the score.

    Attributes
    ----------
    edges : ndarray of shape (bands − 1,)
        Inner edges of bands of about equal share; a score at an edge belongs to the upper band.
    count, events, expected : ndarray of shape (bands,)
        Weight of all rows and of events in each band, and the expected weight of events (the sum of probabilities).
    ks, gini, auc : float
        Ranking measures of the score on the training rows.
    """

    edges: Array
    count: Array
    events: Array
    expected: Array
    ks: float
    gini: float
    auc: float

    @classmethod
    def of(cls, points: Array, probability: Array, event: Array, weight: Array | None) -> Development:
        """Compute from the training rows."""
        edges = score_edges(points, BANDS)
        share = np.ones(len(points)) if weight is None else weight
        ranked = ranking_scores(event, -points, weight)
        count, events, expected = banded(edges, points, share, (event, probability))
        return cls(edges, count, events, expected, ranked.ks, ranked.gini, ranked.auc)

    def labels(self) -> list[str]:
        """Names of the bands, as intervals of the score."""
        ends = ["-inf", *(f"{edge:.6g}" for edge in self.edges.tolist()), "inf"]
        return [f"{'(' if i == 0 else '['}{ends[i]}, {ends[i + 1]})" for i in range(len(ends) - 1)]


def score_edges(points: Array, bands: int) -> Array:
    """Inner edges of bands of about equal share, at scores that occur and have rows on both sides."""
    ordered = np.sort(points)  # several times faster than np.quantile
    edges = np.unique(ordered[np.ceil(np.arange(1, bands) / bands * (len(points) - 1)).astype(np.intp)])
    return edges[edges > ordered[0]]


def banded(edges: Array, points: Array, weight: Array, values: tuple[Array, ...]) -> tuple[Array, ...]:
    """The weight of the rows in each band, and the weighted sum of each of `values` there."""
    place, size = np.searchsorted(edges, points, side="right"), len(edges) + 1
    totals = [np.bincount(place, weights=weight, minlength=size)]
    return tuple(totals + [np.bincount(place, weights=weight * each, minlength=size) for each in values])
