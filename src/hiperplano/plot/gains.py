"""Gains and lift curves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter
from hiperplano.metrics.ranking import confusion_at
from hiperplano.plot.scores import ScoreDisplay, positive_labels
from hiperplano.plot.style import GREY, colour, hide_spines, legend_above, subsample

KINDS = ("gains", "lift")


class GainsDisplay(ScoreDisplay):
    """Gains: share of the positive class among the best-scored share of rows. Lift: gains divided by that share.

    Rows of equal score are taken together. Make it with `from_estimator` or `from_predictions`.

    Attributes
    ----------
    share : ndarray of shape (m,)
        Share of the rows (of their weight), from 0 to 1, the largest scores first.
    gains : ndarray of shape (m,)
        The share of the positive class among them.
    prevalence : float
        The share of the positive class in all rows.
    label : str
        Name of the positive class.
    name : str or None
        Name of the model, for the legend.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    Of ten rows two are positive; the best-scored tenth holds one of them.

    >>> from hiperplano import GainsDisplay
    >>> y, score = [0, 0, 0, 0, 0, 0, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> display = GainsDisplay.from_predictions(y, score)
    >>> display.share[:4].round(2), display.gains[:4]
    (array([0. , 0.1, 0.2, 0.3]), array([0. , 0.5, 0.5, 1. ]))
    >>> display.lift[1:4].round(2)
    array([5.  , 2.5 , 3.33])
    """

    def __init__(
        self, *, share: Array, gains: Array, prevalence: float, label: str = "positive", name: str | None = None
    ) -> None:
        self.share = share
        self.gains = gains
        self.prevalence = prevalence
        self.label = label
        self.name = name

    @property
    def lift(self) -> Array:
        """Gains over share: how many times denser the positive class is among them. NaN for no rows."""
        lift: Array = np.full(len(self.share), np.nan)
        return np.asarray(np.divide(self.gains, self.share, out=lift, where=self.share > 0))

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw given scores.

        Parameters
        ----------
        y : array-like of shape (n,)
            True labels of two classes.
        score : array-like of shape (n,)
            Larger where the positive class is likelier.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, 0 or more; rows of equal weight by default.
        pos_label : label, optional
            Label of the positive class; the larger one by default.
        name : str, optional
            Name of the curve in the legend.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        positive, (_, label) = positive_labels(cls.__name__, y, pos_label)
        cutoffs = np.append(np.unique(np.ravel(score))[::-1], -np.inf)
        at = confusion_at(positive, score, cutoffs, sample_weight)
        total, own = (at.tn + at.fp + at.fn + at.tp)[0], (at.tp + at.fn)[0]
        display = cls(
            share=(at.tp + at.fp) / total, gains=at.tp / own, prevalence=float(own / total), label=label, name=name
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, kind: str = "gains", **kwargs: Any) -> Self:
        """Draw gains or lift, between a perfect order and none.

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.
        kind : {"gains", "lift"}, default="gains"
            Share of the positives found, or that share divided by the share of rows looked at.
        **kwargs
            For matplotlib's `plot`, of the model's curve.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        if kind not in KINDS:
            raise InvalidParameter(
                "GainsDisplay: kind={kind!r}; kind must be 'gains' or 'lift'. Choose one of them.", kind=kind
            )
        ax = self._axes(ax)
        shown = subsample(len(self.share))
        across = self.share[shown]
        style = {"color": colour(0), "lw": 2.0, "zorder": 3, "label": self.name or "model"} | kwargs
        perfect = np.unique(np.append(np.linspace(0.0, 1.0, 200), self.prevalence))
        best = np.minimum(perfect / self.prevalence, 1.0)
        if kind == "gains":
            ax.plot(across, self.gains[shown], **style)
            ax.plot(perfect, best, color=GREY, lw=1.2, ls="--", label="perfect order")
            ax.plot([0, 1], [0, 1], color=GREY, lw=1.2, ls=":", label="no order")
            ax.set(ylabel=f"share of {self.label!r} found", ylim=(0, 1.02))
        else:
            ax.plot(across[1:], self.lift[shown][1:], **style)
            ax.plot(perfect[1:], best[1:] / perfect[1:], color=GREY, lw=1.2, ls="--", label="perfect order")
            ax.axhline(1.0, color=GREY, lw=1.2, ls=":", label="no order")
            ax.set(ylabel=f"lift of {self.label!r}")
            ax.set_ylim(bottom=0)
        ax.set(xlabel="share of rows, largest scores first", xlim=(0, 1))
        hide_spines(ax)
        legend_above(ax)
        return self
