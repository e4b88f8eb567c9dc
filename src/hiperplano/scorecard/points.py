"""Points of the bins of a fitted scorecard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.scorecard.scaling import PointScale
from hiperplano.scorecard.table import Table

_AT_ONCE = 4096  # rows whose points stay in a core's cache


@dataclass(frozen=True)
class VariablePoints:
    """One variable of a scorecard.

    Attributes
    ----------
    name : str
        Name of the column.
    labels : tuple of str
        Labels of its bins.
    n_ordered : int
        Number of first bins that are ordered: intervals of numbers, or groups of categories by event rate.
    count, events : ndarray of shape (bins,)
        Weight of the training rows in each bin, and of the events among them.
    woe : ndarray of shape (bins,)
        ln(share of non-events / share of events).
    coef : float
        Coefficient of the WoE in the log-odds of the event.
    exact, points : ndarray of shape (bins,)
        Points before and after rounding; equal if points are not rounded.
    """

    name: str
    labels: tuple[str, ...]
    n_ordered: int
    count: Array
    events: Array
    woe: Array
    coef: float
    exact: Array
    points: Array

    @property
    def seen(self) -> Array:
        """Bins with training rows."""
        return np.asarray(self.count > 0)

    @property
    def best(self) -> float:
        """The most points of a bin with training rows."""
        return float(self.points[self.seen].max())

    @property
    def average(self) -> float:
        """Mean points of the training rows."""
        return float(np.average(self.points, weights=self.count))

    @property
    def event_rate(self) -> Array:
        return np.asarray(np.divide(self.events, self.count, out=np.full(len(self.count), np.nan), where=self.seen))


def bin_points(
    woe: Array, coef: float, intercept: float, n_variables: int, scale: PointScale, spread: bool, rounded: bool
) -> tuple[Array, Array]:
    """Points of the bins of a variable, before and after rounding: −factor·coef·WoE, and a share of the base points.

    Parameters
    ----------
    woe : ndarray of shape (bins,)
    coef, intercept : float
        Coefficient and intercept of the log-odds of the event.
    spread : bool
        Whether every variable gets its share, 1/n_variables, of the base points offset − factor·intercept.
    """
    exact = -scale.factor * coef * woe
    if spread:
        exact = exact + scale.points(intercept) / n_variables
    return exact, np.rint(exact) + 0.0 if rounded else exact


def points_table(
    variables: Sequence[VariablePoints], base_points: float, rounded: bool, event: Any, other: Any = None
) -> Table:
    """One row for each bin of each variable, preceded by the base points if these are separate.

    Parameters
    ----------
    base_points : float
        0 if they are spread over the variables.
    event : label
        The class of the event.
    other : label, optional
        The other class, if the event was not chosen by the user.
    """
    columns: dict[str, list[object]] = {
        name: [] for name in ("variable", "bin", "count", "share", "event_rate", "woe", "coef", "points")
    }
    if base_points:
        nothing = np.nan
        for name, value in zip(columns, ("base points", "", *[nothing] * 5, base_points), strict=True):
            columns[name].append(value)
    for each in variables:
        size = len(each.labels)
        columns["variable"] += [each.name] * size
        columns["bin"] += each.labels
        columns["count"] += each.count.tolist()
        columns["share"] += (each.count / each.count.sum()).tolist()
        columns["event_rate"] += each.event_rate.tolist()
        columns["woe"] += each.woe.tolist()
        columns["coef"] += [each.coef] * size
        columns["points"] += each.points.tolist()
    notes = [Message("points are rounded to whole numbers")] if rounded else []
    if not all(each.seen.all() for each in variables):
        notes.append(Message("bins without rows in the fit count as WoE 0, as likely to be an event as all rows are"))
    share = variables[0].events.sum() / variables[0].count.sum()
    if other is not None and share > 0.5:
        notes.append(
            Message(
                "the event is {event!r}, in {share:.0%} of the rows, since it sorts second: the more points, the rarer "
                "it is. If {other!r} is to be avoided, set event={other!r}.",
                event=event,
                share=share,
                other=other,
            )
        )
    return Table(Message("Scorecard: event {event!r}", event=event), columns, tuple(notes), ("share", "event_rate"))


def points_of_woe(woe: Array, coef: Array, intercept: float, scale: PointScale, spread: bool, rounded: bool) -> Array:
    """Points of rows with known WoE, without separate base points.

    Parameters
    ----------
    woe : ndarray of shape (n, variables)
    coef : ndarray of shape (variables,)
    intercept, scale, spread, rounded
        As in `bin_points`.
    """
    total = np.empty(len(woe))
    factor, share = -scale.factor * coef, scale.points(intercept) / len(coef) if spread and len(coef) else 0.0
    for first in range(0, len(woe), _AT_ONCE):
        own = woe[first : first + _AT_ONCE] * factor
        own += share
        total[first : first + _AT_ONCE] = (np.rint(own, out=own) if rounded else own).sum(axis=1)
    return total
