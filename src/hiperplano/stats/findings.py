"""Figures of a residual analysis, with one sentence each on what they mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from hiperplano.data.design import Array


class Finding(NamedTuple):
    """One figure and what it means."""

    name: str
    value: float
    sentence: str


_EXACT = "the target is fitted exactly: residuals are rounding errors, and say nothing."


def about_rows(
    leverage: Array, studentised: Array, cooks: Array, n: int, df: float, freedom: float, exact: bool
) -> list[Finding]:
    """Which rows stand out: by their target, by their columns, by both."""
    high, threshold = int(np.argmax(leverage)), 2 * freedom / n
    found = [
        _outlier(studentised, n, df, exact),
        Finding(
            "leverage",
            float(leverage[high]),
            f"row {high} pulls most on its own fit; {int(np.sum(leverage > threshold))} of {n} rows are above twice "
            f"the mean, {threshold:.2g}: their columns are unusual, whatever their target.",
        ),
        _strongest(cooks, exact),
    ]
    alone = np.flatnonzero(leverage == 1.0)
    if len(alone):
        rows = ", ".join(map(str, alone[:6].tolist())) + (" …" if len(alone) > 6 else "")
        found.append(
            Finding(
                "leverage of 1",
                float(len(alone)),
                f"row {rows}: fitted exactly whatever the target, so it has no studentised residual and no Cook's "
                "distance (NaN); a coefficient depends on such a row alone.",
            )
        )
    return found


def _outlier(studentised: Array, n: int, df: float, exact: bool) -> Finding:
    if exact or np.isnan(studentised).all():
        return Finding("outlier", np.nan, _EXACT)
    row = int(np.nanargmax(np.abs(studentised)))
    p = min(1.0, n * 2.0 * float(stdtr(df - 1, -abs(studentised[row]))))
    judged = (
        f"so large a one among {n} rows would be rare by chance (p = {p:.2g})."
        if p < 0.05
        else f"among {n} rows that is not unusual (p = {p:.2g})."
    )
    return Finding("outlier", float(studentised[row]), f"the largest studentised residual is in row {row}; {judged}")


def _strongest(cooks: Array, exact: bool) -> Finding:
    if exact or np.isnan(cooks).all():
        return Finding("Cook's distance", np.nan, _EXACT)
    row = int(np.nanargmax(cooks))
    judged = "above 1, look at it." if cooks[row] > 1 else "below 1, no single row decides the fit."
    return Finding(
        "Cook's distance", float(cooks[row]), f"row {row} moves the coefficients most when it is left out; {judged}"
    )


def about_residuals(dw: float, bp: tuple[float, float], exact: bool) -> list[Finding]:
    """Whether residuals are alike from row to row, and of one variance."""
    if exact:
        return [Finding(name, np.nan, _EXACT) for name in ("Durbin-Watson", "Breusch-Pagan")]
    judged = (
        "the errors' variance changes with the columns; take inference(…, cov='HC3')."
        if bp[1] < 0.05
        else "no sign that the errors' variance changes with the columns."
    )
    return [
        Finding("Durbin-Watson", dw, _durbin_watson_sentence(dw)),
        Finding("Breusch-Pagan", bp[0], f"p = {bp[1]:.2g}: {judged}"),
    ]


def about_columns(names: list[str], vif: Array, condition: float) -> list[Finding]:
    """Whether coefficients can be told apart."""
    worst = int(np.argmax(vif))
    poor = "above 10, its coefficient is poorly determined."
    apart = "below 10, every coefficient can be told apart."
    hardly = "above 30, some combination of columns hardly varies."
    clear = "below 30, no combination of columns is close to constant."
    return [
        Finding(
            "VIF",
            float(vif[worst]),
            f"{names[worst]!r} is predicted best by the other columns; {poor if vif[worst] > 10 else apart}",
        ),
        Finding("condition", condition, f"of the columns at unit length; {hardly if condition > 30 else clear}"),
    ]


def _durbin_watson_sentence(dw: float) -> str:
    if dw < 1.5:
        return "well below 2: neighbouring rows have similar residuals; if rows follow in time, something is missing."
    if dw > 2.5:
        return "well above 2: residuals of neighbouring rows alternate in sign."
    return "near 2: residuals of neighbouring rows are not related."
