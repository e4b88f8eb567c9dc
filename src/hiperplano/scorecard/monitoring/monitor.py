"""Monitoring: whether the population has shifted, and whether the scorecard still ranks and is still calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtri, ndtri

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.binning.evidence import rate_interval
from hiperplano.features.binning.reading import is_missing
from hiperplano.messages import Message
from hiperplano.metrics.area import AUCInterval, auc_interval
from hiperplano.metrics.divergence import population_stability_index
from hiperplano.metrics.ranking import ranking_scores
from hiperplano.scorecard.monitoring.development import Development, banded
from hiperplano.scorecard.points import VariablePoints
from hiperplano.scorecard.table import Table

STABLE, CHANGED = 0.1, 0.25
"""Thresholds of the population stability index: below the first it is stable, from the second on the population has
changed.
"""
_HALF_A_ROW = 0.5  # added to the count of every band, so that an empty band does not make the index infinite
_LEVEL = 0.95
_RANDOM = 0.5  # AUC of an uninformative score


@dataclass(frozen=True)
class Monitoring:
    """Result of `monitor`.

    Attributes
    ----------
    score : Table
        Shares of the bands of the score, at development and now, with their contributions to the stability index.
    variables : Table
        The stability index of each variable, its 95% quantile under chance alone, and a judgement.
    bins : Table
        Shares of each bin of each variable, at development and now, and its event rates if outcomes are known.
    performance : Table or None
        KS, Gini and AUC at development and now, if outcomes are known.
    calibration : Table or None
        Expected and observed event rates by band of the score.
    psi : float
        Stability index of the score.
    verdicts : tuple of str
        The findings in sentences.
    """

    score: Table
    variables: Table
    bins: Table
    performance: Table | None
    calibration: Table | None
    psi: float
    verdicts: tuple[str, ...]

    def __str__(self) -> str:
        tables = [self.score, self.variables, self.performance, self.calibration]
        return "\n\n".join([*(str(table) for table in tables if table is not None), *self.verdicts])

    __repr__ = __str__


def monitor(scorecard: Any, X_new: Any, y_new: Any = None) -> Monitoring:
    """Compare new applicants with the training rows of a scorecard.

    The population stability index is Σ (new − old)·ln(new/old) over the bands of the score, or the bins of a variable:
    below 0.1 the distribution is stable, from 0.25 on the population has changed. Small samples differ by chance, and
    the judgement allows for that. With outcomes, KS, Gini and AUC are compared with those at development (which were
    measured on the rows of the fit, and so are somewhat too good), and in each band the event rate with the mean
    probability.

    Parameters
    ----------
    scorecard : Scorecard
        A fitted scorecard.
    X_new : table or array of shape (n, d)
        New applicants.
    y_new : array-like of shape (n,), optional
        Their outcomes; None or NaN where one is not known yet.

    Returns
    -------
    Monitoring
        Tables, and the findings in sentences.

    Examples
    --------
    >>> from hiperplano import Scorecard, load_credit_default, monitor
    >>> X, y = load_credit_default(return_X_y=True)
    >>> X = X[["debt", "income", "late_payments"]]
    >>> card = Scorecard(event="yes").fit(X[:3000], y[:3000])
    >>> found = monitor(card, X[3000:], y[3000:])
    >>> print(found.verdicts[0])  # doctest: +ELLIPSIS
    score: stable (PSI 0.0...).
    """
    points, development = scorecard.score_points(X_new), scorecard.development_
    probability = scorecard.event_probability(X_new)
    codes, variables = scorecard.bin_codes(X_new), scorecard.variable_points()
    known, event = _outcomes(scorecard, y_new, len(points))
    now = banded(development.edges, points, np.ones(len(points)), (probability,))
    shift = Shift.of(development.count, now[0])
    shifts = [
        Shift.of(each.count, np.bincount(codes[:, j], minlength=len(each.count))) for j, each in enumerate(variables)
    ]
    verdicts: list[str] = [shift.verdict(Message("score"))]
    verdicts += [each.verdict(of.name) for of, each in zip(variables, shifts, strict=True) if each.psi >= STABLE]
    performance = calibration = None
    if event.any() and not event.all():
        performance, said = _performance(development, event, points[known])
        verdicts.append(said)
    if len(event):
        calibration, said = _calibration(development, event, points[known], probability[known])
        verdicts.append(said)
    return Monitoring(
        _score_table(development, now[0], shift),
        _variables_table(variables, shifts),
        _bins_table(variables, codes, known, event),
        performance,
        calibration,
        shift.psi,
        tuple(verdicts),
    )


def _outcomes(scorecard: Any, y_new: Any, n: int) -> tuple[Array, Array]:
    """Numbers of the rows with a known outcome, and whether it is the event."""
    if y_new is None:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=bool)
    labels = np.asarray(y_new)
    if labels.shape != (n,):
        raise InvalidData(
            "X_new has {n} rows and y_new shape {shape}; each applicant has one outcome. Use None for those that are "
            "not known yet, or leave y_new out.",
            n=n,
            shape=labels.shape,
        )
    known = np.flatnonzero([not is_missing(label) for label in labels.tolist()])
    return known, scorecard.is_event(labels[known])


@dataclass(frozen=True)
class Shift:
    """A stability index, and its 95% quantile under chance alone.

    Two samples of one population, of n and m rows in k bands, have an index of about (1/n + 1/m) times a chi-squared
    variable with k − 1 degrees of freedom.
    """

    psi: float
    chance: float

    @classmethod
    def of(cls, before: Array, after: Array) -> Shift:
        bands = int(np.count_nonzero(before + after))
        if bands < 2:
            return cls(0.0, 0.0)
        filled = before + after > 0
        psi = population_stability_index(before[filled], after[filled], bins=None, smoothing=_HALF_A_ROW)
        return cls(psi, float(chdtri(bands - 1, 1.0 - _LEVEL)) * (1.0 / float(before.sum()) + 1.0 / float(after.sum())))

    @property
    def judgement(self) -> Message:
        if self.psi < max(STABLE, self.chance):
            return Message("stable")
        return Message("shifted") if self.psi < CHANGED else Message("changed")

    def verdict(self, name: str) -> Message:
        """The judgement as a sentence."""
        fields = {"name": name, "psi": self.psi, "stable": STABLE, "changed": CHANGED}
        if self.psi < max(STABLE, self.chance):
            return Message("{name}: stable (PSI {psi:.3f}).", **fields)
        if self.psi < CHANGED:
            return Message(
                "{name}: shifted (PSI {psi:.3f}, between {stable:g} and {changed:g}). Look at its bins.", **fields
            )
        return Message(
            "{name}: changed (PSI {psi:.3f}, {changed:g} or more). Find the reason; a new scorecard may be needed.",
            **fields,
        )


def _score_table(development: Development, now: Array, shift: Shift) -> Table:
    old, new = (each / each.sum() for each in (development.count, now))
    smooth = [(each + _HALF_A_ROW) / (each + _HALF_A_ROW).sum() for each in (development.count, now)]
    columns: dict[str, Any] = {
        "score": development.labels(),
        "development": old,
        "now": new,
        "psi": (smooth[1] - smooth[0]) * np.log(smooth[1] / smooth[0]),
    }
    return Table(
        Message("Score: PSI {psi:.4f}, {judgement}", psi=shift.psi, judgement=shift.judgement),
        columns,
        (),
        ("development", "now"),
    )


def _variables_table(variables: Sequence[VariablePoints], shifts: Sequence[Shift]) -> Table:
    columns: dict[str, Any] = {
        "variable": [each.name for each in variables],
        "psi": np.array([each.psi for each in shifts]),
        "by_chance_up_to": np.array([each.chance for each in shifts]),
        "judgement": [each.judgement for each in shifts],
    }
    return Table(Message("Variables"), columns)


def _bins_table(variables: Sequence[VariablePoints], codes: Array, known: Array, event: Array) -> Table:
    columns: dict[str, Any] = {
        name: [] for name in ("variable", "bin", "development", "now", "points", "event_rate", "event_rate_now")
    }
    for j, each in enumerate(variables):
        size = len(each.labels)
        counts = np.bincount(codes[:, j], minlength=size)
        outcomes = np.bincount(codes[known, j], minlength=size)
        events = np.bincount(codes[known, j], weights=event, minlength=size)
        rates = np.divide(events, outcomes, out=np.full(size, np.nan), where=outcomes > 0)
        columns["variable"] += [each.name] * size
        columns["bin"] += each.labels
        columns["development"] += (each.count / each.count.sum()).tolist()
        columns["now"] += (counts / max(len(codes), 1)).tolist()
        columns["points"] += each.points.tolist()
        columns["event_rate"] += each.event_rate.tolist()
        columns["event_rate_now"] += rates.tolist()
    if not len(event):
        del columns["event_rate_now"]
    shares = ("development", "now", "event_rate", "event_rate_now")
    return Table(Message("Bins"), columns, shares=shares)


def _performance(development: Development, event: Array, points: Array) -> tuple[Table, Message]:
    now = ranking_scores(event, -points)
    columns: dict[str, Any] = {
        "measure": ["KS", "Gini", "AUC"],
        "development": np.array([development.ks, development.gini, development.auc]),
        "now": np.array([now.ks, now.gini, now.auc]),
    }
    table = Table(Message("How well the score ranks"), columns)
    if min(int(event.sum()), int((~event).sum())) < 2:
        return table, Message("ranking: too few outcomes of one kind to compare AUC.")
    return table, _ranking_verdict(auc_interval(event, -points, _LEVEL), development.auc, int(event.sum()))


def _ranking_verdict(found: AUCInterval, before: float, events: int) -> Message:
    """Judgement of the ranking; if the interval of the AUC includes 0.5, the score may be random."""
    figures = Message(
        "ranking: AUC {now:.3f} (95%: {low:.3f} to {high:.3f}) against {before:.3f} on the rows of the fit",
        now=found.auc,
        low=found.low,
        high=found.high,
        before=before,
    )
    if found.high < _RANDOM:
        return figures + Message(
            ". The score ranks the wrong way round: applicants with more points have more events. Look first whether "
            "outcomes are coded as at the fit; do not decide by this score."
        )
    if found.low <= _RANDOM and found.high < before:
        return figures + Message(
            ". The score no longer ranks: the interval includes 0.5, what points drawn at random would have. Do not "
            "decide by it; find out what has changed (the applicants, how columns are filled, what counts as an "
            "event), and make a new scorecard."
        )
    if found.low <= _RANDOM:
        return figures + Message(
            ". {events} events are too few to tell whether the score still ranks: the interval includes 0.5, what "
            "points drawn at random would have. Wait for more outcomes.",
            events=events,
        )
    if found.high < before:
        return figures + Message(
            ": a loss beyond chance. Some of it may be the optimism of figures on the rows of the fit; compare with "
            "the AUC of rows that were held out."
        )
    return figures + Message(": no loss beyond chance.")


def _calibration(development: Development, event: Array, points: Array, probability: Array) -> tuple[Table, Message]:
    count, events, expected = banded(development.edges, points, np.ones(len(points)), (event, probability))
    there = count > 0
    size = np.where(there, count, 1.0)
    low, high = rate_interval(events, count, _LEVEL)
    outside = there & ((expected / size < low) | (expected / size > high))
    columns: dict[str, Any] = {
        "score": development.labels(),
        "rows": count.astype(int),
        "expected": np.where(there, expected / size, np.nan),
        "observed": np.where(there, events / size, np.nan),
        "low 95%": np.where(there, low, np.nan),
        "high 95%": np.where(there, high, np.nan),
        "judgement": [
            Message("outside") if out else Message("as expected") if any_ else ""
            for out, any_ in zip(outside.tolist(), there.tolist(), strict=True)
        ],
    }
    shares = ("expected", "observed", "low 95%", "high 95%")
    table = Table(Message("Event rates by band of the score"), columns, shares=shares)
    fields = {"events": int(event.sum()), "expected": float(probability.sum())}
    spread = float(np.sqrt(np.sum(probability * (1.0 - probability))))
    if abs(fields["events"] - fields["expected"]) > float(ndtri(0.5 + _LEVEL / 2)) * spread:
        return table, Message(
            "calibration: {events} events where {expected:.1f} were expected, more than chance explains; "
            "{n} of {bands} bands are outside their 95% interval. Probabilities need a new intercept or a new fit.",
            n=int(outside.sum()),
            bands=int(there.sum()),
            **fields,
        )
    return table, Message(
        "calibration: {events} events where {expected:.1f} were expected, within chance; {n} of {bands} bands are "
        "outside their 95% interval.",
        n=int(outside.sum()),
        bands=int(there.sum()),
        **fields,
    )
