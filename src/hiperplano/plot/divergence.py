"""Plot of two distributions in the same bins, with their divergences."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.metrics.divergence import CommonBins, common_bins, js_divergence, kl_divergence
from hiperplano.metrics.divergence import population_stability_index as stability
from hiperplano.plot.scores import positive_scores
from hiperplano.plot.style import Display, colour, format_number, hide_spines, legend_above


class DivergenceDisplay(Display):
    """Shares of two samples in common bins, with KL, Jensen-Shannon and the population stability index.

    KL(expected, actual) and Jensen-Shannon are in nats. Make it with `from_predictions` or `from_estimator`.

    Attributes
    ----------
    labels : list of str
        Of the bins.
    expected, actual : ndarray of shape (bins,)
        Shares of the two samples; they sum to 1.
    kl, js, psi : float
        Computed from these shares. KL and PSI are infinite where a bin is empty in one sample only.
    names : tuple of two str
        Names of the samples.
    quantity : str
        Label of the axis.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import DivergenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> made_on = rng.normal(size=20_000)
    >>> display = DivergenceDisplay.from_predictions(made_on, made_on + 0.5)
    >>> display.expected.round(2), round(display.psi, 2)
    (array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]), 0.24)
    """

    def __init__(
        self,
        *,
        labels: list[str],
        expected: Array,
        actual: Array,
        kl: float,
        js: float,
        psi: float,
        names: tuple[str, str] = ("expected", "actual"),
        quantity: str = "score",
    ) -> None:
        self.labels = labels
        self.expected = expected
        self.actual = actual
        self.kl = kl
        self.js = js
        self.psi = psi
        self.names = names
        self.quantity = quantity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        expected: Any,
        actual: Any,
        *,
        bins: Any = 10,
        smoothing: float = 0.0,
        response_method: str = "auto",
        names: tuple[str, str] = ("expected", "actual"),
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compare the predictions of a fitted model on two sets of rows.

        Parameters
        ----------
        estimator : fitted classifier of two classes, or regressor
            The model whose scores or predictions are compared.
        expected, actual : array-like or table of shape (n, d)
            The rows the model was fitted to, and later ones.
        bins : int or array-like, default=10
            So many bins of equal share in `expected`, or their inner edges.
        smoothing : float, default=0.0
            Added to every count.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            For classifiers: "auto" uses probabilities if the model has them.
        names : tuple of two str, default=("expected", "actual")
            Names of the two samples in the legend.
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
        if hasattr(estimator, "classes_"):
            first, second = (
                positive_scores(cls.__name__, estimator, rows, response_method, None)[0] for rows in (expected, actual)
            )
            quantity = "score"
        else:
            first, second = (np.ravel(estimator.predict(rows)) for rows in (expected, actual))
            quantity = "prediction"
        return cls.from_predictions(
            first, second, bins=bins, smoothing=smoothing, names=names, quantity=quantity, ax=ax, **kwargs
        )

    @classmethod
    def from_predictions(
        cls,
        expected: Any,
        actual: Any,
        *,
        bins: Any = 10,
        smoothing: float = 0.0,
        names: tuple[str, str] = ("expected", "actual"),
        quantity: str = "score",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compare two samples: of scores, of predictions, or of one column.

        Parameters
        ----------
        expected, actual : array-like of shape (n,) and (m,)
            Numbers, or categories, which are their own bins.
        bins : int or array-like, default=10
            So many bins of equal share in `expected`, or their inner edges.
        smoothing : float, default=0.0
            Added to every count, so that a bin that is empty in one sample does not give infinity.
        names : tuple of two str, default=("expected", "actual")
            Names of the two samples in the legend.
        quantity : str, default="score"
            Label of the axis.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        check_number(cls.__name__, "smoothing", smoothing, 0.0, np.inf)
        counted = common_bins(expected, actual, bins)
        one, other = (counts + smoothing for counts in (counted.expected, counted.actual))
        one, other = one / one.sum(), other / other.sum()
        display = cls(
            labels=_labels(counted),
            expected=one,
            actual=other,
            kl=kl_divergence(one, other),
            js=js_divergence(one, other),
            psi=stability(one, other, bins=None),
            names=names,
            quantity=quantity,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw two bars for each bin.

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.
        **kwargs
            For matplotlib's `bar`.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        ax = self._axes(ax, (max(6.4, 0.62 * len(self.labels)), 4.4))
        place = np.arange(len(self.labels))
        for number, (share, label) in enumerate(zip((self.expected, self.actual), self.names, strict=True)):
            style = {"color": colour(number), "width": 0.4, "label": label} | kwargs
            ax.bar(place + (number - 0.5) * 0.4, share, **style)
        long = max(map(len, self.labels)) * len(self.labels) > 70
        turned: dict[str, Any] = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if long else {}
        ax.set_xticks(place, self.labels, **turned)
        ax.tick_params(axis="x", length=0)
        ax.set(xlabel=self.quantity, ylabel="share of the sample")
        words = f"PSI {self.psi:.3f}   KL {self.kl:.3f}   JS {self.js:.3f}"
        ax.set_title(words, loc="right", fontsize="medium")
        hide_spines(ax)
        legend_above(ax)
        return self


def _labels(counted: CommonBins) -> list[str]:
    """Categories, or intervals that hold their lower end."""
    if counted.categories is not None:
        return [str(one) for one in counted.categories.tolist()]
    edges = [] if counted.edges is None else [format_number(edge) for edge in counted.edges]
    if not edges:
        return ["all"]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *between, f"from {edges[-1]}"]
