"""Coefficients of a model in the units of its table, as shown by the terminal, its JSON and the report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.design import Array
from hiperplano.errors import HiperplanoError
from hiperplano.messages import message_of
from hiperplano.report.columns import sample_rows
from hiperplano.report.sample import Sample
from hiperplano.report.subject import Subject
from hiperplano.stats.summary import Summary

_DRAWN_ROWS = 50_000  # rows that the columns' standard deviations are computed from


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of all scores.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    blocks : list of str
        Class of each score; one empty name if there is one score.
    coef : ndarray of shape (blocks, d)
    intercept : ndarray of shape (blocks,)
    standard_deviations : ndarray of shape (d,)
        Standard deviations of the columns, in the same units.
    summary : Summary or None
        Summary with standard errors, if the model has them. For several classes it holds contrasts with the first.
    missing : str
        Reason for a missing summary.
    flipped : bool
        Whether signs are reversed, because the model's second class is not the positive one.
    odds : bool
        Whether exp of a coefficient is an odds ratio.
    """

    names: list[str]
    blocks: list[str]
    coef: Array
    intercept: Array
    standard_deviations: Array
    summary: Summary | None = field(repr=False, default=None)
    missing: str = ""
    flipped: bool = False
    odds: bool = False

    @property
    def effect(self) -> Array:
        """Change of the score per standard deviation of the column."""
        return np.asarray(self.coef * self.standard_deviations)

    def columns(self) -> dict[str, Array]:
        """Columns of the table of one score, by heading, each of shape (1 + d,) with the intercept first."""
        values = np.r_[self.intercept[0], self.coef[0]]
        if self.summary is None or len(self.blocks) > 1:
            with np.errstate(over="ignore"):
                return {"coef": values} | ({"odds ratio": np.exp(values)} if self.odds else {})
        shown = self.summary.columns() | {"coef": values}
        if self.summary.names[:1] == ["intercept"]:
            return shown
        return {name: column if name == "coef" else np.r_[np.nan, column] for name, column in shown.items()}

    def interval(self) -> tuple[Array, Array] | None:
        """Interval ends of the columns' coefficients if there is one score, else None."""
        if self.summary is None or len(self.blocks) > 1 or np.isnan(self.summary.low).all():
            return None
        return self.summary.low[-len(self.names) :], self.summary.high[-len(self.names) :]


def read_coefficients(subject: Subject, names: list[str] | None = None) -> Coefficients | None:
    """The coefficients of a model for the positive class, with a summary if available.

    Return None for a model without coefficients.

    Parameters
    ----------
    names : list of str, optional
        Names of the columns, if other than those for display.
    """
    linear = subject.parts.linear
    if not hasattr(linear, "coef_"):
        return None
    units = subject.parts.units
    flipped = subject.task == "two classes" and subject.validation.positive == 0
    coef = np.atleast_2d(np.asarray(linear.coef_, dtype=np.float64))
    intercept = np.broadcast_to(np.atleast_1d(np.asarray(linear.intercept_, dtype=np.float64)), len(coef))
    coef, intercept = units.coefficients(coef, intercept)
    coef, intercept = (-coef, -intercept) if flipped else (coef, intercept)
    summary, why = _summary(subject)
    return Coefficients(
        names or subject.names,
        [""] if len(coef) == 1 else subject.classes,
        coef,
        intercept,
        _standard_deviations(subject.fitted_on) / np.abs(units.columns.slope),
        _flip(summary) if flipped and summary is not None else summary,
        why,
        flipped,
        hasattr(linear, "predict_log_proba") and hasattr(linear, "fit_intercept"),
    )


def _summary(subject: Subject) -> tuple[Summary | None, str]:
    linear = subject.parts.linear
    if not hasattr(linear, "summary"):
        return None, ""
    try:
        return subject.parts.units.summary(linear.summary()), ""
    except HiperplanoError as problem:
        return None, message_of(problem)


def _flip(summary: Summary) -> Summary:
    """Coefficients for the other of two classes."""
    return replace(summary, coef=-summary.coef, statistic=-summary.statistic, low=-summary.high, high=-summary.low)


def _standard_deviations(sample: Sample) -> Array:
    rows = sample_rows(sample.design, _DRAWN_ROWS)
    if issparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        square = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    return np.asarray(np.asarray(rows, dtype=np.float64).std(axis=0))
