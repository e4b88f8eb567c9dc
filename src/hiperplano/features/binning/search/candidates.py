"""Candidates of the search: all bins of neighbouring pre-bins, with their gains and constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, xlogy

from hiperplano.data.design import Array
from hiperplano.features.binning.evidence import information

_WAYS = {"ascending": (1, 1), "descending": (-1, -1), "peak": (1, -1), "valley": (-1, 1), None: (0, 0)}
_TIE = 1e-12  # one more bin must gain more than rounding errors


@dataclass(frozen=True)
class Limits:
    """Constraints on bins.

    Attributes
    ----------
    max_bins : int
    min_weight, min_events, min_nonevents : float
        Least weight of a bin, of its events and of its non-events (for more than two classes, of each against the
        others).
    min_difference : float
        Least difference of the rates, or means, of neighbours; with several classes, of at least one of them.
    max_p_value : float or None
        Largest p-value of the test that neighbours have one rate (χ²) or mean (Welch's, with the normal law).
    trend : str or None
        "ascending", "descending", "peak", "valley", "auto", or None for any order of the rates.
    """

    max_bins: int
    min_weight: float = 0.0
    min_events: float = 0.0
    min_nonevents: float = 0.0
    min_difference: float = 0.0
    max_p_value: float | None = None
    trend: str | None = None


class Chain(NamedTuple):
    """Bins by their ends; empty if no bins satisfy the limits."""

    gain: float
    ends: tuple[int, ...]


@dataclass(frozen=True)
class Candidates:
    """Bins [i, j) of the pre-bins i … j − 1.

    Attributes
    ----------
    before : ndarray of shape (B + 1, m)
        Sums of all pre-bins before each.
    weight, gain, rates : ndarray of shape (B + 1, B + 1)
        Weight of each bin, its term of the criterion (which is maximised), and its event rate or mean.
    allowed : ndarray of bool of shape (B + 1, B + 1)
        Whether a bin is large enough.
    spread : ndarray of shape (B + 1, B + 1) or (0, 0)
        Variance of the mean of each bin for a target of numbers.
    distances : ndarray of shape (B − 1,)
        Distance of the cumulated shares of the two classes at each cut; empty unless the criterion is KS.
    base : float
        Gain of a single bin, from which impurities are counted. 0 for the information value and KS.
    """

    before: Array
    weight: Array
    gain: Array
    rates: Array
    allowed: Array
    spread: Array
    distances: Array
    limits: Limits
    n_classes: int
    base: float
    is_ks: bool

    @classmethod
    def of(
        cls, sums: Array, totals: Array, criterion: str, limits: Limits, n_classes: int, smoothing: float
    ) -> Candidates:
        """All candidates; parameters as in `search`."""
        before = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
        forward = np.triu(np.ones((len(before), len(before)), dtype=bool), 1)
        bins = np.where(forward[..., None], before[None] - before[:, None], 0.0)
        real = bins.sum(axis=2) if n_classes else bins[..., 0]
        weight = np.where(real > 0, real, 1.0)  # empty bins are not allowed; dividing by 1 avoids warnings
        gain = _gains(bins, weight, totals, criterion, n_classes, smoothing)
        return cls(
            before=before,
            weight=weight,
            gain=gain,
            rates=bins[..., 1] / weight,
            allowed=forward & (real > 0) & _large_enough(bins, real, limits, n_classes),
            spread=np.empty((0, 0)) if n_classes else _spread(bins, weight),
            distances=np.abs(np.diff(before[1:-1] / totals, axis=1))[:, 0] if criterion == "ks" else np.empty(0),
            limits=limits,
            n_classes=n_classes,
            base=0.0 if criterion in ("iv", "ks") else float(gain[0, -1]),
            is_ks=criterion == "ks",
        )

    @property
    def size(self) -> int:
        """Number of pre-bins."""
        return len(self.before) - 1

    def best(self, trend: str | None, cut: int = 0) -> list[Chain]:
        """The bins with the largest gain that follow a trend; separately before and after its turn, if it has one.

        Parameters
        ----------
        cut : int
            The pre-bin at which one bin must end; 0 for none.
        """
        allowed = self.allowed
        if cut:
            allowed = allowed.copy()
            allowed[:cut, cut + 1 :] = False
        limits, (first, then) = self.limits, _WAYS[trend]
        critical = 0.0
        if limits.max_p_value is not None:
            critical = float(chdtri(max(self.n_classes - 1, 1), limits.max_p_value))
        from hiperplano.features.binning.search.chain_loops import best_chain  # numba is loaded late

        values, ends = best_chain(
            self.gain,
            allowed,
            self.rates,
            self.before,
            self.spread,
            first,
            then,
            limits.min_difference,
            critical,
            min(limits.max_bins, self.size),
        )
        return [_fewest_bins(*phase) for phase in zip(values, ends, strict=True)]

    def log_likelihood(self, ends: tuple[int, ...]) -> float:
        """Log-likelihood of the target, with one rate (or mean, with normal errors) for each bin."""
        bins = np.diff(self.before[[0, *ends]], axis=0)
        if self.n_classes:
            return float(xlogy(bins, bins).sum() - xlogy(bins.sum(axis=1), bins.sum(axis=1)).sum())
        within = bins[:, 2].sum() - (bins[:, 1] ** 2 / np.where(bins[:, 0] > 0, bins[:, 0], 1.0)).sum()
        n = bins[:, 0].sum()
        return float(-n / 2 * np.log(max(within / n, np.finfo(float).tiny)))


def _fewest_bins(values: Array, ends: Array) -> Chain:
    """The chain with the largest gain; the shortest of equal ones, up to rounding."""
    most = float(values.max())
    if most == -np.inf:
        return Chain(-np.inf, ())
    n_bins = int(np.argmax(values >= most - _TIE * abs(most)))
    return Chain(float(values[n_bins]), tuple(ends[n_bins, :n_bins].tolist()))


def _gains(bins: Array, weight: Array, totals: Array, criterion: str, n_classes: int, smoothing: float) -> Array:
    """Terms of the criterion: information, or minus the impurity up to a constant."""
    if criterion == "squared_error":
        return np.asarray(bins[..., 1] ** 2 / weight)
    if criterion == "gini":
        return np.asarray((bins**2).sum(axis=2) / weight)
    if criterion == "log_loss":
        return np.asarray(xlogy(bins, bins).sum(axis=2) - xlogy(weight, weight))
    if n_classes == 2:
        return information(bins[..., 0], bins[..., 1], smoothing, (totals[0], totals[1]))
    rest = bins.sum(axis=2, keepdims=True) - bins
    return np.asarray(information(rest, bins, smoothing, (totals.sum() - totals, totals)).sum(axis=2))


def _large_enough(bins: Array, weight: Array, limits: Limits, n_classes: int) -> Array:
    enough = weight >= limits.min_weight
    if n_classes == 2:
        enough &= (bins[..., 1] >= limits.min_events) & (bins[..., 0] >= limits.min_nonevents)
    elif n_classes:
        rest = weight[..., None] - bins
        enough &= (bins >= limits.min_events).all(axis=2) & (rest >= limits.min_nonevents).all(axis=2)
    return np.asarray(enough)


def _spread(bins: Array, weight: Array) -> Array:
    """s²/n of each bin; infinite for a single row."""
    within = np.maximum(bins[..., 2] - bins[..., 1] ** 2 / weight, 0.0)
    freedom = np.where(bins[..., 0] > 1, bins[..., 0] - 1, 1.0)
    return np.where(bins[..., 0] > 1, within / freedom / weight, np.inf)
