"""Reject inference: inferred outcomes of rejected applicants, to fit a scorecard to all applicants."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.data.validate import check_weight
from hiperplano.errors import AssumptionWarning, InvalidData
from hiperplano.messages import Message
from hiperplano.models.base import users_level
from hiperplano.scorecard.table import Table


@dataclass(frozen=True)
class InferredRows:
    """Accepted and rejected applicants together, for `Scorecard.fit(X, y, sample_weight)`.

    Attributes
    ----------
    X : table or array
        Rows of accepted applicants, then of rejected ones.
    y : ndarray of shape (n,)
        Labels, coded as those of the accepted applicants.
    sample_weight : ndarray of shape (n,)
        Weights of the rows.
    inferred : ndarray of bool of shape (n,)
        Rows whose label is inferred.
    table : Table
        Event rates of accepted and rejected.
    note : str
        Assumptions of the method.
    """

    X: Any
    y: Array
    sample_weight: Array
    inferred: Array
    table: Table
    note: str


def fuzzy_augmentation(
    scorecard: Any, X: Any, y: Any, rejected: Any, *, uplift: float = 1.0, sample_weight: Any = None
) -> InferredRows:
    """Use every rejected applicant twice: as an event, weighted by its probability, and as a non-event with the rest.

    Assumes that a rejected applicant is as likely to be an event as an accepted one with the same score, times
    `uplift` in odds. That holds where the decision followed the score alone; where it followed more (a clerk, another
    bureau), the rejected are worse than their score, and nothing in the data tells by how much.

    Parameters
    ----------
    scorecard : Scorecard
        Scorecard fitted to the accepted applicants.
    X : table or array of shape (n, d)
        Accepted applicants.
    y : array-like of shape (n,)
        Their outcomes.
    rejected : table or array of shape (m, d)
        Applicants without an outcome.
    uplift : float, default=1.0
        Factor of the odds of an event for rejected applicants.
    sample_weight : array-like of shape (n,), optional
        Weights of the accepted applicants.

    Returns
    -------
    InferredRows
        n + 2·m rows.

    Examples
    --------
    >>> import warnings
    >>> from hiperplano import Scorecard, load_credit_default
    >>> from hiperplano.scorecard import fuzzy_augmentation
    >>> X, y = load_credit_default(return_X_y=True)
    >>> X = X[["debt", "income", "late_payments"]]
    >>> accepted = Scorecard(event="yes").fit(X[:3000], y[:3000])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # on what it assumes
    ...     rows = fuzzy_augmentation(accepted, X[:3000], y[:3000], X[3000:], uplift=1.5)
    >>> len(rows.y), round(float(rows.sample_weight.sum()))
    (5000, 4000)
    """
    uplift = check_number("fuzzy_augmentation", "uplift", uplift, 0.0, np.inf, open_low=True)
    accepted = _Accepted.of(scorecard, X, y, sample_weight)
    p = uplifted(scorecard.event_probability(rejected), uplift)
    note = Message(
        "fuzzy augmentation assumes that rejected applicants with a score are as likely to be events as accepted ones "
        "with that score, times {uplift:g} in odds: true where the decision followed the score alone. The outcomes of "
        "the rejected are the model's own opinion, so no measure on them is a validation.",
        uplift=uplift,
    )
    warnings.warn(note, AssumptionWarning, stacklevel=users_level())
    labels = np.concatenate([np.full(len(p), scorecard.event_), np.full(len(p), scorecard.nonevent_)])
    return accepted.joined([rejected, rejected], labels, np.concatenate([p, 1.0 - p]), note)


def parcelling(
    scorecard: Any,
    X: Any,
    y: Any,
    rejected: Any,
    *,
    uplift: float = 1.0,
    bands: int = 10,
    sample_weight: Any = None,
    random_state: Any = None,
) -> InferredRows:
    """In each band of the score, draw events among the rejected at the rate of the accepted times `uplift`.

    Assumes that within a band all rejected applicants have that event rate. Bands hold equal shares of the accepted
    applicants.

    Parameters
    ----------
    scorecard : Scorecard
        Scorecard fitted to the accepted applicants.
    X : table or array of shape (n, d)
        Accepted applicants.
    y : array-like of shape (n,)
        Their outcomes.
    rejected : table or array of shape (m, d)
        Applicants without an outcome.
    uplift : float, default=1.0
        Factor of a band's event rate for rejected applicants; a rate is at most 1.
    bands : int, default=10
        Number of bands.
    sample_weight : array-like of shape (n,), optional
        Weights of the accepted applicants.
    random_state : int, RandomState or None
        Seed of the draw.

    Returns
    -------
    InferredRows
        n + m rows.

    Examples
    --------
    >>> import warnings
    >>> from hiperplano import Scorecard, load_credit_default
    >>> from hiperplano.scorecard import parcelling
    >>> X, y = load_credit_default(return_X_y=True)
    >>> X = X[["debt", "income", "late_payments"]]
    >>> accepted = Scorecard(event="yes").fit(X[:3000], y[:3000])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # on what it assumes
    ...     rows = parcelling(accepted, X[:3000], y[:3000], X[3000:], uplift=1.2, random_state=0)
    >>> everybody = Scorecard(event="yes").fit(rows.X, rows.y, rows.sample_weight)
    >>> len(rows.y), int(rows.inferred.sum())
    (4000, 1000)
    """
    uplift = check_number("parcelling", "uplift", uplift, 0.0, np.inf, open_low=True)
    count = int(check_number("parcelling", "bands", bands, 1, np.inf))
    rng = check_random_state(random_state)
    accepted = _Accepted.of(scorecard, X, y, sample_weight)
    score = scorecard.event_probability(rejected)
    edges = np.unique(np.quantile(accepted.score, np.arange(1, count) / count))
    place, new = (np.searchsorted(edges, each, side="right") for each in (accepted.score, score))
    totals = np.bincount(place, weights=accepted.weight, minlength=len(edges) + 1)
    events = np.bincount(place, weights=accepted.weight * accepted.event, minlength=len(edges) + 1)
    rates = np.minimum(uplift * events / np.maximum(totals, 1e-300), 1.0)
    drawn = np.zeros(len(score), dtype=bool)
    for band, rate in enumerate(rates.tolist()):
        members = np.flatnonzero(new == band)
        wanted = rate * len(members)
        size = int(wanted) + int(rng.uniform() < wanted - int(wanted))  # rounded at random, which is right on average
        drawn[rng.permutation(members)[:size]] = True
    note = Message(
        "parcelling assumes that in each of {bands} bands of the score rejected applicants are events at {uplift:g} "
        "times the rate of the accepted, whichever they are; that factor is yours, nothing in the data tells it. The "
        "outcomes of the rejected are drawn, so no measure on them is a validation.",
        bands=len(rates),
        uplift=uplift,
    )
    warnings.warn(note, AssumptionWarning, stacklevel=users_level())
    labels = np.where(drawn, scorecard.event_, scorecard.nonevent_)
    return accepted.joined([rejected], labels, np.ones(len(score)), note)


def uplifted(p: Array, uplift: float) -> Array:
    """Probabilities with their odds multiplied by a factor."""
    return np.asarray(uplift * p / (uplift * p + (1.0 - p)))


@dataclass(frozen=True)
class _Accepted:
    """Applicants with known outcomes."""

    X: Any
    y: Array
    event: Array
    score: Array
    weight: Array

    @classmethod
    def of(cls, scorecard: Any, X: Any, y: Any, sample_weight: Any) -> _Accepted:
        score, event = scorecard.event_probability(X), scorecard.is_event(y)
        if len(event) != len(score):
            raise InvalidData(
                "X has {n} rows and y {m}; each accepted applicant needs an outcome. Pass as many of one as of the "
                "other.",
                n=len(score),
                m=len(event),
            )
        weight = check_weight(sample_weight, len(score))
        return cls(X, np.asarray(y), event, score, np.ones(len(score)) if weight is None else weight)

    def joined(self, others: list[Any], labels: Array, weight: Array, note: Message) -> InferredRows:
        return InferredRows(
            stacked([self.X, *others]),
            np.concatenate([self.y, labels.astype(self.y.dtype)]),
            np.concatenate([self.weight, weight]),
            np.arange(len(self.y) + len(labels)) >= len(self.y),
            self._table(labels, weight),
            note,
        )

    def _table(self, labels: Array, weight: Array) -> Table:
        event = np.isin(labels, self.y[self.event][:1])
        rates = [np.average(of, weights=share) for of, share in ((self.event, self.weight), (event, weight))]
        columns: dict[str, Any] = {
            "applicants": ["accepted", "rejected"],
            "weight": np.array([self.weight.sum(), weight.sum()]),
            "event_rate": np.array(rates),
        }
        return Table(
            Message("Event rates after reject inference"),
            columns,
            (Message("rates of the rejected are inferred, not observed"),),
            ("event_rate",),
        )


def stacked(parts: list[Any]) -> Any:
    """Stack tables or arrays with the same columns."""
    first = parts[0]
    module = type(first).__module__.partition(".")[0]
    if module == "pandas":
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    if module == "polars":
        import polars as pl

        return pl.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])
