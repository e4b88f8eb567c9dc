"""Effect of rounding the points: pairs of applicants that change order, and KS and AUC before and after."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.metrics.ranking import ranking_scores


class RoundingEffect(NamedTuple):
    """Comparison of scores with rounded points and scores with exact points.

    Attributes
    ----------
    pairs, reversed, tied : int
        Pairs of rows whose exact scores differ; of those, pairs whose rounded scores are in the other order, and
        pairs whose rounded scores are equal.
    largest_difference : float
        Largest difference of a rounded and an exact score, in points.
    ks_exact, ks_rounded, auc_exact, auc_rounded : float
        NaN without outcomes.
    """

    pairs: int
    reversed: int
    tied: int
    largest_difference: float
    ks_exact: float
    ks_rounded: float
    auc_exact: float
    auc_rounded: float

    @property
    def sentence(self) -> Message:
        """The effect as a sentence."""
        said = Message(
            "rounding reverses {reversed:.3%} of all pairs of applicants, ties {tied:.3%}, and moves a score by at "
            "most {largest:.2f} points",
            reversed=self.reversed / max(self.pairs, 1),
            tied=self.tied / max(self.pairs, 1),
            largest=self.largest_difference,
        )
        if np.isnan(self.auc_exact):
            return said + "."
        return said + Message(
            "; KS {ks_exact:.4f} becomes {ks_rounded:.4f}, AUC {auc_exact:.4f} becomes {auc_rounded:.4f}.",
            ks_exact=self.ks_exact,
            ks_rounded=self.ks_rounded,
            auc_exact=self.auc_exact,
            auc_rounded=self.auc_rounded,
        )


def rounding_effect(exact: Array, rounded: Array, event: Array | None) -> RoundingEffect:
    """Compare two scores of the same rows.

    Parameters
    ----------
    exact, rounded : ndarray of shape (n,)
    event : ndarray of bool of shape (n,) or None
    """
    exact = np.round(exact, 9)  # sums of equal points in another order differ in their last bits
    n = len(exact)
    all_pairs = n * (n - 1) // 2
    exact_ties, rounded_ties, both = (_tied_pairs(key) for key in (exact, rounded, exact + 1j * rounded))
    untied = all_pairs - exact_ties - rounded_ties + both
    reversed_pairs = 0
    if untied:
        # Kendall's τ-b is (concordant − discordant)/√(pairs untied in one · pairs untied in the other).
        size = np.sqrt(float(all_pairs - exact_ties) * float(all_pairs - rounded_ties))
        reversed_pairs = round((untied - float(kendalltau(exact, rounded).statistic) * size) / 2)
    figures = [np.nan] * 4
    if event is not None and event.any() and not event.all():
        before, after = ranking_scores(event, -exact), ranking_scores(event, -rounded)
        figures = [before.ks, after.ks, before.auc, after.auc]
    return RoundingEffect(
        all_pairs - exact_ties,
        reversed_pairs,
        rounded_ties - both,
        float(np.abs(exact - rounded).max(initial=0.0)),
        *figures,
    )


def _tied_pairs(values: Array) -> int:
    counts = np.unique(values, return_counts=True)[1].astype(object)
    return int((counts * (counts - 1)).sum()) // 2
