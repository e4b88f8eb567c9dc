"""The plane of a classifier, its margin planes, and the support vectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.validate import last_step
from hiperplano.plot.plane import Points, arrow, circle_points, draw_level, one_plane
from hiperplano.plot.style import INK, Display, format_number, hide_spines, legend_above


class MarginDisplay(Display):
    """The plane x·coef + intercept = 0 of two classes, and the margin planes, where it is ±1, at 1/‖coef‖ from it.

    Support vectors are ringed. Make it with `from_estimator`.

    Attributes
    ----------
    points : Points
        The rows, the numbers of their classes, and the names of columns and classes.
    coef : ndarray of shape (2,)
        Coefficients of the plane.
    intercept : float
        Intercept of the plane.
    support : ndarray of int
        The rows that are ringed: the support vectors, if these are the rows of a support vector machine's fit;
        otherwise the rows on or beyond their margin plane, those with a hinge loss.
    ax_, figure_
        The axes and the figure, once drawn.

    Examples
    --------
    >>> from hiperplano import HardMarginSVC, MarginDisplay
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 4.0]], ["no", "no", "yes", "yes"]
    >>> display = MarginDisplay.from_estimator(HardMarginSVC().fit(X, y), X, y)
    >>> round(display.width, 4), display.support.tolist()
    (1.118, [1, 2])
    """

    def __init__(self, *, points: Points, coef: Array, intercept: float, support: Array) -> None:
        self.points = points
        self.coef = coef
        self.intercept = intercept
        self.support = support

    @property
    def width(self) -> float:
        """1/‖coef‖: how far the margin planes are from the plane."""
        return float(1.0 / np.linalg.norm(self.coef))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the plane of a fitted linear classifier of two classes.

        Parameters
        ----------
        estimator : fitted linear classifier, or Pipeline that ends with one
            Of hiperplano or scikit-learn.
        X : array-like or table of shape (n, 2)
            Rows to draw, of two columns; for a pipeline, those that its last step sees.
        y : array-like of shape (n,)
            Their labels, of two classes.
        ax : matplotlib axes, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        estimator, X = last_step(estimator, X)
        coef, intercept = one_plane(cls.__name__, estimator)
        points = Points.of(cls.__name__, X, y, estimator.classes_)
        support = _support(estimator, points, coef, intercept)
        return cls(points=points, coef=coef, intercept=intercept, support=support).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw points, planes and rings.

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
        self.points.frame(ax)
        self.points.scatter(ax, **kwargs)
        draw_level(ax, self.coef, self.intercept, 0.0, color=INK, lw=1.8, label="plane")
        draw_level(ax, self.coef, self.intercept, 1.0, color=INK, lw=1.0, ls="--", label="margin planes")
        draw_level(ax, self.coef, self.intercept, -1.0, color=INK, lw=1.0, ls="--")
        if len(self.support):
            circle_points(ax, self.points.rows[self.support], "support vectors")
        self._draw_width(ax)
        hide_spines(ax)
        legend_above(ax)
        return self

    def _draw_width(self, ax: Any) -> None:
        """A double arrow from the plane to a margin plane, where both are inside the axes."""
        start = self._label_position(ax)
        if start is None:
            return
        end = start + self.coef / (self.coef @ self.coef)
        to_the_right = bool(self.coef[0] >= 0)
        arrow(ax, start, end, arrowstyle="<|-|>", color=INK, lw=1.1, mutation_scale=9)
        ax.annotate(
            f"1/‖w‖ = {format_number(self.width)}",
            tuple(end),
            xytext=(5 if to_the_right else -5, 0),
            textcoords="offset points",
            ha="left" if to_the_right else "right",
            va="center",
            fontsize="small",
            color=INK,
            zorder=6,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8},
        )

    def _label_position(self, ax: Any) -> Array | None:
        """A point of the plane where arrow and words are inside the axes, and far from all rows."""
        low = np.array([ax.get_xlim()[0], ax.get_ylim()[0]])
        size = np.array([ax.get_xlim()[1], ax.get_ylim()[1]]) - low
        middle = low + size / 2
        start = middle - (middle @ self.coef + self.intercept) * self.coef / (self.coef @ self.coef)
        along = np.array([-self.coef[1], self.coef[0]]) / np.linalg.norm(self.coef)
        places = start + np.linspace(-1.0, 1.0, 81)[:, None] * along * np.linalg.norm(size)
        ends = places + self.coef / (self.coef @ self.coef)
        words = ends + np.array([0.14 if self.coef[0] >= 0 else -0.14, 0.0]) * size
        shown = [
            ((at > low + np.array(room) * size) & (at < low + (1.0 - np.array(room)) * size)).all(axis=1)
            for at, room in ((places, (0.02, 0.02)), (ends, (0.02, 0.02)), (words, (0.14, 0.03)))
        ]
        places, ends, words = (at[np.all(shown, axis=0)] for at in (places, ends, words))
        if not len(places):
            return None
        spots = places, ends, words
        apart = [np.linalg.norm((spot[:, None] - self.points.rows) / size, axis=2).min(axis=1) for spot in spots]
        return np.asarray(places[int(np.argmax(np.min(apart, axis=0)))])


def _support(model: Any, points: Points, coef: Array, intercept: float) -> Array:
    """Support vectors if the rows are those of the fit, which their sum proves; otherwise rows with a hinge loss."""
    rows, codes = points.rows, points.codes
    held = getattr(model, "support_", None)
    if held is not None and len(held) and np.max(held) < len(rows):
        vectors = model.support_vectors_
        vectors = vectors.toarray() if hasattr(vectors, "toarray") else vectors
        if np.array_equal(rows[held], vectors):
            return np.asarray(held)
    multipliers = np.asarray(getattr(getattr(model, "solution_", None), "multipliers", ()))
    if multipliers.shape == (1, len(rows)):
        sizes = np.abs(multipliers[0])
        if (np.abs(multipliers[0] @ rows - coef) <= 1e-2 * (sizes @ np.abs(rows))).all():
            return np.flatnonzero(sizes > 1e-6 * sizes.max())
    signed = np.where(codes == 1, 1.0, -1.0) * (rows @ coef + intercept)
    return np.flatnonzero(signed <= 1.0 + 1e-9)
