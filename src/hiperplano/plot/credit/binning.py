"""Plot of the bins of a column: share of rows, and event rate, WoE or mean."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter
from hiperplano.features.binning.optimal import OptimalBinning
from hiperplano.messages import translate
from hiperplano.plot.style import GREY, INK, Display, colour, hide_spines

MEASURES = ("event_rate", "woe", "mean")


class BinningDisplay(Display):
    """Bins side by side: bars for their share of the rows, points for the event rate, WoE or mean.

    Make it with `from_estimator`.

    Attributes
    ----------
    labels : list of str
        Names of the bins that hold rows.
    share : ndarray of shape (bins,)
        Of all rows.
    value : ndarray of shape (bins,)
        Event rate, WoE or mean.
    low, high : ndarray of shape (bins,)
        The interval of 95% around it.
    n_regular : int
        How many of the bins are intervals or groups of categories; special codes and missing values follow.
    measure : str
        "event_rate", "woe" or "mean".
    name : str
        Of the column.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> from hiperplano import BinningDisplay, OptimalBinning
    >>> binning = OptimalBinning(cuts=[3, 5]).fit([1, 2, 3, 4, 5, 6], [0, 1, 1, 0, 1, 1])
    >>> display = BinningDisplay.from_estimator(binning)
    >>> display.labels, display.value
    (['(-inf, 3)', '[3, 5)', '[5, inf)'], array([0.5, 0.5, 1. ]))
    """

    def __init__(
        self,
        *,
        labels: list[str],
        share: Array,
        value: Array,
        low: Array,
        high: Array,
        n_regular: int,
        measure: str = "event_rate",
        name: str = "x",
    ) -> None:
        self.labels = labels
        self.share = share
        self.value = value
        self.low = low
        self.high = high
        self.n_regular = n_regular
        self.measure = measure
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: OptimalBinning, *, measure: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the bins of a fitted binning.

        Parameters
        ----------
        estimator : OptimalBinning
            Fitted, to two classes or a number: of a `WoEEncoder`, one of its `binnings_`.
        measure : {"event_rate", "woe", "mean"}, optional
            Quantity shown by the points; by default the event rate of two classes, or the mean of a number.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        check_is_fitted(estimator)
        possible = {"binary": MEASURES[:2], "continuous": MEASURES[2:]}.get(estimator.target_kind_, ())
        chosen = possible[0] if measure is None and possible else measure
        if chosen not in possible:
            raise InvalidParameter(
                "BinningDisplay: measure={measure!r} cannot be shown for a {kind} target; what can is {possible}. "
                "Choose another, or bin one class against the others.",
                measure=measure,
                kind=estimator.target_kind_,
                possible=", ".join(map(repr, possible)) or "–",
            )
        table = estimator.table()
        full = np.flatnonzero(table["count"] > 0)
        value, low, high = (table[name][full] for name in (chosen, "low", "high"))
        if chosen == "woe":  # WoE falls as the event rate rises: ln((1 − r)/r) minus that of all rows
            overall = np.log(table.totals["nonevents"] / table.totals["events"])
            ends = [np.clip(end, 1e-12, 1 - 1e-12) for end in (high, low)]
            low, high = (np.log((1 - end) / end) - overall for end in ends)
        display = cls(
            labels=[str(table.labels[place]) for place in full],
            share=table["share"][full],
            value=value,
            low=np.minimum(low, value),
            high=np.maximum(high, value),
            n_regular=int(np.count_nonzero(full < estimator.bins_.n_regular)),
            measure=chosen,
            name=estimator.name_,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars, and the points with their intervals on an axis of their own.

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.
        **kwargs
            For matplotlib's `errorbar`, of the points.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        ax = self._axes(ax)
        places = np.arange(len(self.labels))
        ax.bar(places, self.share, color="#d9d9d9", width=0.8, zorder=1)
        ax.set(xlabel=self.name, ylabel="share of rows")
        ax.set_xticks(places, [translate(label) for label in self.labels], rotation=30, ha="right")
        over = ax.twinx()
        style = {"color": colour(0), "marker": "o", "lw": 1.8, "capsize": 3, "zorder": 3} | kwargs
        error = np.vstack([self.value - self.low, self.high - self.value])
        regular = slice(0, self.n_regular)
        over.errorbar(places[regular], self.value[regular], yerr=error[:, regular], **style)
        apart = slice(self.n_regular, None)
        if len(places[apart]):  # special codes and missing values are not ordered, so no line connects them
            over.errorbar(places[apart], self.value[apart], yerr=error[:, apart], **(style | {"ls": "none"}))
        if self.measure == "woe":
            over.axhline(0.0, color=GREY, lw=1.0, ls=":")
        names = {"event_rate": "event rate", "woe": "WoE", "mean": "mean of the target"}
        over.set_ylabel(names[self.measure], color=INK)
        hide_spines(ax)
        over.spines["top"].set_visible(False)
        return self
