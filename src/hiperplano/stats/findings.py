"""Figures of a residual analysis, each with its interpretation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from hiperplano.data.design import Array
from hiperplano.messages import Message


class Finding(NamedTuple):
    """One figure and what it means."""

    name: Message
    value: float
    sentence: Message


_COOK, _OUTLIER = Message("Cook's distance"), Message("outlier")
_DURBIN_WATSON, _BREUSCH_PAGAN = Message("Durbin-Watson"), Message("Breusch-Pagan")
_EXACT = Message("the target is fitted exactly: residuals are rounding errors, and carry no information.")


def about_rows(
    leverage: Array,
    studentised: Array,
    cooks: Array,
    n: int,
    df: float,
    freedom: float,
    exact: bool,
    labels: Any = None,
) -> list[Finding]:
    """Findings about rows that stand out by their target, by their columns, or by both.

    Parameters
    ----------
    leverage, studentised, cooks : ndarray of shape (rows,)
        NaN for rows of weight 0.
    n : int
        Number of rows with nonzero weight.
    df, freedom : float
        Degrees of freedom of the residuals and of the fit.
    exact : bool
        Whether the target is fitted exactly.
    labels : sequence, optional
        Labels of the rows, such as the index of a frame; their positions by default.
    """
    labels = range(len(leverage)) if labels is None else labels
    high, threshold = int(np.nanargmax(leverage)), 2 * freedom / n
    pulls = Message(
        "row {row} has the largest leverage; {k} of {n} rows have more than twice the mean, {threshold:.2g}: the "
        "values in their columns are unusual, whatever their target.",
        row=labels[high],
        k=int(np.sum(leverage > threshold)),
        n=n,
        threshold=threshold,
    )
    found = [
        _outlier(studentised, n, df, exact, labels),
        Finding(Message("leverage"), float(leverage[high]), pulls),
        _most_influential(cooks, exact, labels),
    ]
    alone = np.flatnonzero(leverage == 1.0)
    if len(alone):
        rows = ", ".join(str(labels[row]) for row in alone[:6].tolist()) + (" …" if len(alone) > 6 else "")
        sentence = Message(
            "row {rows}: fitted exactly whatever the target, so it has no studentised residual and no Cook's distance "
            "(NaN); a coefficient depends on such a row alone.",
            rows=rows,
        )
        found.append(Finding(Message("leverage of 1"), float(len(alone)), sentence))
    return found


def _outlier(studentised: Array, n: int, df: float, exact: bool, labels: Any) -> Finding:
    if exact or np.isnan(studentised).all():
        return Finding(_OUTLIER, np.nan, _EXACT)
    row = int(np.nanargmax(np.abs(studentised)))
    p = min(1.0, n * 2.0 * float(stdtr(df - 1, -abs(studentised[row]))))
    if p < 0.05:
        sentence = Message(
            "the largest studentised residual is in row {row}; so large a one among {n} rows would be rare by chance "
            "(p = {p:.2g}).",
            row=labels[row],
            n=n,
            p=p,
        )
    else:
        sentence = Message(
            "the largest studentised residual is in row {row}; among {n} rows that is not unusual (p = {p:.2g}).",
            row=labels[row],
            n=n,
            p=p,
        )
    return Finding(_OUTLIER, float(studentised[row]), sentence)


def _most_influential(cooks: Array, exact: bool, labels: Any) -> Finding:
    if exact or np.isnan(cooks).all():
        return Finding(_COOK, np.nan, _EXACT)
    row = int(np.nanargmax(cooks))
    if cooks[row] > 1:
        sentence = Message(
            "row {row} moves the coefficients most when it is left out; above 1, look at it.",
            row=labels[row],
        )
    else:
        sentence = Message(
            "row {row} moves the coefficients most when it is left out; below 1, no single row decides the fit.",
            row=labels[row],
        )
    return Finding(_COOK, float(cooks[row]), sentence)


def about_residuals(dw: float, bp: tuple[float, float], exact: bool) -> list[Finding]:
    """Findings about correlation between neighbouring residuals, and about their variance.

    Parameters
    ----------
    dw : float
        Durbin and Watson's statistic.
    bp : tuple of float
        Breusch and Pagan's statistic and its p-value.
    exact : bool
        Whether the target is fitted exactly.
    """
    if exact:
        return [Finding(_DURBIN_WATSON, np.nan, _EXACT), Finding(_BREUSCH_PAGAN, np.nan, _EXACT)]
    if bp[1] < 0.05:
        changes = Message(
            "p = {p:.2g}: the errors' variance changes with the columns; take robust standard errors (HC3).", p=bp[1]
        )
    else:
        changes = Message("p = {p:.2g}: no sign that the errors' variance changes with the columns.", p=bp[1])
    return [Finding(_DURBIN_WATSON, dw, _durbin_watson(dw)), Finding(_BREUSCH_PAGAN, bp[0], changes)]


def _durbin_watson(dw: float) -> Message:
    if dw < 1.5:
        return Message(
            "well below 2: neighbouring rows have similar residuals; if rows follow in time, something is missing."
        )
    if dw > 2.5:
        return Message("well above 2: residuals of neighbouring rows alternate in sign.")
    return Message("near 2: residuals of neighbouring rows are not related.")


def about_columns(names: list[str], vif: Array, condition: float) -> list[Finding]:
    """Findings about how well the coefficients are determined.

    Parameters
    ----------
    vif : ndarray of shape (d,)
        Variance inflation factors.
    condition : float
        Condition number of the columns at unit norm.
    """
    worst = int(np.argmax(vif))
    if vif[worst] > 10:
        inflated = Message(
            "{name!r} is predicted best by the other columns; above 10, its coefficient is poorly determined.",
            name=names[worst],
        )
    else:
        inflated = Message(
            "{name!r} is predicted best by the other columns; below 10, every coefficient is well determined.",
            name=names[worst],
        )
    if condition > 30:
        conditioned = Message("of the columns at unit length; above 30, some combination of columns hardly varies.")
    else:
        conditioned = Message(
            "of the columns at unit length; below 30, no combination of columns is close to constant."
        )
    return [
        Finding(Message("VIF"), float(vif[worst]), inflated),
        Finding(Message("condition"), condition, conditioned),
    ]
