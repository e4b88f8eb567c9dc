"""Order of bins over time: event rates of neighbouring bins by period or segment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidData
from hiperplano.features.binning.evidence import weight_of_evidence
from hiperplano.messages import Message
from hiperplano.scorecard.points import VariablePoints
from hiperplano.scorecard.table import Table

_FEWEST = 3  # least number of periods for a trend


@dataclass(frozen=True)
class TrendStability:
    """Result of `trend_stability`.

    Attributes
    ----------
    rates : Table
        Weight of evidence and event rate of each bin in each segment.
    turned : Table
        Neighbouring bins whose order in a segment is the reverse of that at development, with the p-value of the
        difference (two proportions, two-sided) in that segment.
    verdicts : tuple of str
        The reversals that are significant at `level`, as sentences; or a statement that there are none.
    """

    rates: Table
    turned: Table
    verdicts: tuple[str, ...]

    def __str__(self) -> str:
        return "\n\n".join([str(self.turned), *self.verdicts])

    __repr__ = __str__


def trend_stability(scorecard: Any, X: Any, y: Any, by: Any, *, level: float = 0.05) -> TrendStability:
    """Compare the order of neighbouring bins in every segment with that at development.

    Intervals of numbers are compared with the next one, groups of categories with the next by event rate; bins of
    missing values and special codes have no neighbours.

    Parameters
    ----------
    scorecard : Scorecard
        A fitted scorecard.
    X : table or array of shape (n, d)
        Rows of the fit, or of a validation.
    y : array-like of shape (n,)
        Their outcomes.
    by : array-like of shape (n,)
        The segment or period of each row; see `periods` for dates.
    level : float, default=0.05
        Reversals with a p-value below it are reported. Since many pairs are tested, some are below it by chance.

    Returns
    -------
    TrendStability
        Tables, and the reversals in sentences.

    Examples
    --------
    >>> from hiperplano import Scorecard, load_credit_default
    >>> from hiperplano.scorecard import periods, trend_stability
    >>> X, y = load_credit_default(return_X_y=True)
    >>> card = Scorecard(event="yes").fit(X[["debt", "late_payments"]], y)
    >>> found = trend_stability(card, X[["debt", "late_payments"]], y, periods(X["application_date"]))
    >>> sorted(set(found.rates["segment"]))[:2]
    ['2023Q1', '2023Q2']
    """
    check_number("trend_stability", "level", level, 0.0, 1.0)
    codes, event, labels = scorecard.bin_codes(X), scorecard.is_event(y), np.asarray(by, dtype=object)
    if labels.shape != (len(codes),) or len(event) != len(codes):
        raise InvalidData(
            "trend_stability: X has {n} rows, y {m} and by {k}; each row needs an outcome and a segment. Pass vectors "
            "of one length.",
            n=len(codes),
            m=len(event),
            k=labels.size,
        )
    segments, place = np.unique(labels.astype(str), return_inverse=True)
    rates: dict[str, list[Any]] = {name: [] for name in ("variable", "bin", "segment", "count", "event_rate", "woe")}
    turned: dict[str, list[Any]] = {
        name: [] for name in ("variable", "bin", "next_bin", "segment", "event_rate", "next_event_rate", "p")
    }
    for j, variable in enumerate(scorecard.variable_points()):
        size = len(variable.labels)
        cells = np.bincount((place * size + codes[:, j]) * 2 + event, minlength=len(segments) * size * 2)
        for segment, counts in zip(segments.tolist(), cells.reshape(len(segments), size, 2), strict=True):
            _add_rates(rates, variable, segment, counts)
            _add_turned(turned, variable, segment, counts)
    shares = ("event_rate", "next_event_rate")
    found = Table(Message("Neighbouring bins in reversed order"), _arrays(turned, (*shares, "p")), shares=shares)
    table = Table(Message("Bins by segment"), _arrays(rates, ("count", "event_rate", "woe")), shares=shares)
    return TrendStability(table, found, _verdicts(found, level, len(segments)))


def periods(dates: Any) -> Array:
    """Years, quarters or months of dates: the longest unit with at least 3 periods.

    Parameters
    ----------
    dates : array-like of dates
        Dates of numpy, pandas, polars or Python.

    Returns
    -------
    ndarray of str
        "2024", "2024Q1" or "2024-01"; "" for a missing date.

    Examples
    --------
    >>> from hiperplano.scorecard import periods
    >>> periods(["2024-01-31", "2024-02-01", "2024-09-30"]).tolist()
    ['2024-01', '2024-02', '2024-09']
    """
    try:
        days = np.asarray(dates).astype("datetime64[D]")
    except (TypeError, ValueError) as problem:
        raise InvalidData(
            "periods: these are not dates ({problem}); dates as 2024-01-31 are needed. Convert the column first.",
            problem=problem,
        ) from problem
    months = days.astype("datetime64[M]").astype(np.int64)
    there = ~np.isnat(days)
    year, month = 1970 + months // 12, months % 12
    forms = {
        12: lambda k: f"{year[k]}",
        3: lambda k: f"{year[k]}Q{month[k] // 3 + 1}",
        1: lambda k: f"{year[k]}-{month[k] + 1:02d}",
    }
    counts = {length: len(np.unique(months[there] // length)) for length in forms}
    chosen = next((length for length in (12, 3, 1) if counts[length] >= _FEWEST), 1)
    return np.array([forms[chosen](k) if there[k] else "" for k in range(len(days))], dtype=object)


def _add_rates(rates: dict[str, list[Any]], variable: VariablePoints, segment: str, counts: Array) -> None:
    total = counts.sum(axis=1)
    rates["variable"] += [variable.name] * len(total)
    rates["bin"] += variable.labels
    rates["segment"] += [segment] * len(total)
    rates["count"] += total.tolist()
    rates["event_rate"] += np.divide(counts[:, 1], total, out=np.full(len(total), np.nan), where=total > 0).tolist()
    rates["woe"] += _woe(counts).tolist()


def _woe(counts: Array) -> Array:
    """WoE of each bin; NaN for empty bins, and for all bins in a segment with one class."""
    if not counts.sum(axis=0).all():
        return np.full(len(counts), np.nan)
    return np.where(counts.sum(axis=1) > 0, weight_of_evidence(counts[:, 0], counts[:, 1]), np.nan)


def _add_turned(turned: dict[str, list[Any]], variable: VariablePoints, segment: str, counts: Array) -> None:
    before = variable.event_rate
    for i in range(variable.n_ordered - 1):
        pair, total = counts[i : i + 2, 1], counts[i : i + 2].sum(axis=1)
        if not total.all() or not np.isfinite(before[i : i + 2]).all():
            continue
        first, second = (pair / total).tolist()
        if (second - first) * (before[i + 1] - before[i]) >= 0:
            continue
        pooled = pair.sum() / total.sum()
        spread = float(np.sqrt(pooled * (1 - pooled) * (1.0 / total).sum()))
        values = (variable.name, variable.labels[i], variable.labels[i + 1], segment, first, second)
        for name, value in zip(turned, (*values, float(2 * ndtr(-abs(second - first) / spread))), strict=True):
            turned[name].append(value)


def _arrays(columns: dict[str, list[Any]], numeric: tuple[str, ...]) -> dict[str, Any]:
    return {name: np.array(values, dtype=float) if name in numeric else values for name, values in columns.items()}


def _verdicts(turned: Table, level: float, n_segments: int) -> tuple[str, ...]:
    sentences = [
        Message(
            "{variable}: the order of {bin} and {next_bin} is reversed in {segment} (event rates {event_rate:.1%} "
            "and {next_event_rate:.1%}, p = {p:.3f}).",
            **row,
        )
        for row in turned.rows()
        if row["p"] < level
    ]
    if sentences:
        return tuple(sentences)
    return (Message("no order of bins is significantly reversed in {n} segments.", n=n_segments),)
