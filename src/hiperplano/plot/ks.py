"""Cumulative distributions of two classes' scores, and their largest distance."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.metrics.ranking import confusion_at, ranking_scores
from hiperplano.plot.scores import ScoreDisplay, positive_labels
from hiperplano.plot.style import INK, colour, format_number, hide_spines, legend_above, subsample


class KSDisplay(ScoreDisplay):
    """The share of each class with a score up to s, for every s; the largest distance between both is KS.

    Make it with `from_estimator` or `from_predictions`.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        The distinct scores in rising order.
    negative, positive : ndarray of shape (m,)
        The share of each class with a score up to these.
    ks : float
        The largest distance between the two.
    cutoff : float
        The score at which it is reached.
    classes : tuple of two str
        Names of the negative and the positive class.
    name : str or None
        Name of the model, for the title.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> from hiperplano import KSDisplay
    >>> display = KSDisplay.from_predictions(["good", "good", "bad", "bad"], [0.1, 0.4, 0.35, 0.8], pos_label="bad")
    >>> display.ks, display.cutoff
    (0.5, 0.1)
    >>> display.ax_.get_xlabel()
    'score'
    """

    def __init__(
        self,
        *,
        scores: Array,
        negative: Array,
        positive: Array,
        ks: float,
        cutoff: float,
        classes: tuple[str, str] = ("negative", "positive"),
        name: str | None = None,
    ) -> None:
        self.scores = scores
        self.negative = negative
        self.positive = positive
        self.ks = ks
        self.cutoff = cutoff
        self.classes = classes
        self.name = name

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
        positive, classes = positive_labels(cls.__name__, y, pos_label)
        found = ranking_scores(positive, score, sample_weight)
        at = confusion_at(positive, score, np.unique(np.ravel(score)), sample_weight)
        display = cls(
            scores=at.cutoffs,
            negative=1.0 - at.fpr,
            positive=1.0 - at.tpr,
            ks=found.ks,
            cutoff=found.cutoff,
            classes=classes,
            name=name,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the two distributions and the distance between them.

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.
        **kwargs
            For matplotlib's `step`, of both curves.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        ax = self._axes(ax)
        place = int(np.searchsorted(self.scores, self.cutoff))
        shown = subsample(len(self.scores), [place])
        across = self.scores[shown]
        for number, (share, label) in enumerate(zip((self.negative, self.positive), self.classes, strict=True)):
            style = {"color": colour(number), "lw": 2.0, "label": label} | kwargs
            ax.step(np.append(across[0], across), np.append(0.0, share[shown]), where="post", **style)
        low, high = sorted((self.negative[place], self.positive[place]))
        ax.plot([self.cutoff, self.cutoff], [low, high], color=INK, lw=1.5, marker="_", ms=8)
        to_the_left = self.cutoff > (self.scores[0] + self.scores[-1]) / 2
        ax.annotate(
            f"KS = {self.ks:.3f}\nat {format_number(self.cutoff)}",
            (self.cutoff, (low + high) / 2),
            xytext=(-8 if to_the_left else 8, 0),
            textcoords="offset points",
            ha="right" if to_the_left else "left",
            va="center",
            color=INK,
            bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.75},
        )
        ax.set(xlabel="score", ylabel="share of the class up to this score", ylim=(0, 1.02))
        hide_spines(ax)
        legend_above(ax)
        if self.name is not None:
            ax.set_title(self.name, loc="right", fontsize="medium")
        return self
