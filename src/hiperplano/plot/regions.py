"""Decision regions of a classifier, and where its binary rules contradict each other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.decision.votes import ambiguous
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.plot.plane import Points
from hiperplano.plot.style import INK, Display, colour, hide_spines, legend_above

_PALE = 0.28


class RegionsDisplay(Display):
    """The regions of a classifier in the plane; hatched where binary rules are ambiguous.

    One-versus-rest leaves regions that no class claims, or several do; one-versus-one leaves regions where votes tie.
    `predict` decides there by the sizes of the scores. Make it with `from_estimator`.

    Attributes
    ----------
    across, up : ndarray
        The values of the two columns on the grid.
    decided : ndarray of int of shape (up, across)
        The number of the class decided at each point.
    open : ndarray of bool of shape (up, across)
        Where binary rules contradict each other (`hiperplano.ambiguous`).
    points : Points
        The rows, the numbers of their classes if known, and the names of columns and classes.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from hiperplano import LeastSquaresClassifier, RegionsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsRestClassifier(LeastSquaresClassifier()).fit(X[:, :2], y)
    >>> display = RegionsDisplay.from_estimator(model, X[:, :2], y, resolution=50)
    >>> display.decided.shape, round(display.open_share, 2)
    ((50, 50), 0.29)
    """

    def __init__(self, *, across: Array, up: Array, decided: Array, open: Array, points: Points) -> None:
        self.across = across
        self.up = up
        self.decided = decided
        self.open = open
        self.points = points

    @property
    def open_share(self) -> float:
        """The share of the grid where binary rules contradict each other."""
        return float(np.mean(self.open))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, resolution: int = 300, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the decision regions of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of two columns
            A model of hiperplano or scikit-learn.
        X : array-like or table of shape (n, 2)
            Rows to draw, of two columns.
        y : array-like of shape (n,), optional
            Labels, for the colours of the points.
        resolution : int, default=300
            Points of the grid along each column.
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
        if not hasattr(estimator, "classes_"):
            raise NotAvailable(
                "RegionsDisplay: {model} is not a classifier (it has no classes_), so the plane has no regions. Pass "
                "a fitted classifier.",
                model=type(estimator).__name__,
            )
        if isinstance(resolution, bool) or not isinstance(resolution, int | np.integer) or resolution < 2:
            raise InvalidParameter(
                "RegionsDisplay: resolution={resolution!r}; it must be a whole number of 2 or more. Set it so.",
                resolution=resolution,
            )
        points = Points.of(cls.__name__, X, y, estimator.classes_)
        low, high = points.limits()
        across, up = np.linspace(low, high, int(resolution)).T
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        rows = _as_input_type(X, grid)
        decided = np.searchsorted(estimator.classes_, estimator.predict(rows))
        shape = len(up), len(across)
        display = cls(
            across=across,
            up=up,
            decided=decided.reshape(shape),
            open=_unclaimed(estimator, rows).reshape(shape),
            points=points,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw regions, hatches and points.

        Parameters
        ----------
        ax : matplotlib axes, optional
            New ones by default.
        **kwargs
            For matplotlib's `scatter`, of the points.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        ax = self._axes(ax, (5.6, 5.0))
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        # Mixed with white instead of transparent, which looks the same in every format and on every background.
        pale = 1.0 - _PALE * (1.0 - np.array([to_rgb(colour(k)) for k in range(len(self.points.classes))]))
        edges = [(line[0], line[-1]) for line in (self.across, self.up)]
        extent = (*edges[0], *edges[1])
        ax.imshow(pale[self.decided], extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)
        for number in range(len(self.points.classes) - 1):
            ax.contour(
                self.across, self.up, self.decided > number, levels=[0.5], colors="white", linewidths=1.0, zorder=1
            )
        handles = []
        if self.open.any():
            drawn = ax.contourf(self.across, self.up, self.open, levels=[0.5, 1.5], colors="none", hatches=["////"])
            drawn.set(edgecolor=INK, linewidth=0.0, zorder=2)
            handles = [Patch(facecolor="none", edgecolor=INK, hatch="////", linewidth=0.0, label="ambiguous")]
        self.points.frame(ax)
        self.points.scatter(ax, **kwargs)
        hide_spines(ax)
        known = ax.get_legend_handles_labels()[0]
        if not known:
            known = [Patch(color=pale[k], label=name) for k, name in enumerate(self.points.classes)]
        legend_above(ax, [*known, *handles])
        return self


def _as_input_type(X: Any, grid: Array) -> Any:
    """Grid points as a table with the columns of X, if X is a table, so that models find their column names."""
    columns = getattr(X, "columns", None)
    return grid if columns is None else type(X)({name: grid[:, j] for j, name in enumerate(columns)})


def _unclaimed(model: Any, rows: Any) -> Array:
    """Where rules contradict each other; nowhere for a model without such scores."""
    try:
        return ambiguous(model, rows)
    except NotAvailable:
        return np.zeros(len(rows), dtype=bool)
