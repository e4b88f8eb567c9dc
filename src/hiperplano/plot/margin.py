"""The plane of a classifier, its margin planes, and the support vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.validate import last_step
from hiperplano.errors import NotAvailable
from hiperplano.plot.plane import Points, arrow, circle_points, draw_level, one_plane
from hiperplano.plot.style import INK, Display, format_number, hide_spines, legend_above

_GRID = 200  # grid points along each axis for level curves
_STYLES = ["--", "-", "--"]


class MarginDisplay(Display):
    """The plane x·coef + intercept = 0 of two classes, and the margin planes, where it is ±1, at 1/‖coef‖ from it.

    Of a support vector machine with another kernel than the linear one, the curves where its score is 0, 1 and −1.
    Support vectors are ringed. Make it with `from_estimator`.

    Attributes
    ----------
    points : Points
        The rows, the numbers of their classes, and the names of columns and classes.
    coef : ndarray of shape (2,) or None
        Coefficients of the plane; None for curves.
    intercept : float
        Intercept of the plane.
    score : callable or None
        The score of rows of two columns, for curves; None for a plane.
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

    def __init__(
        self,
        *,
        points: Points,
        coef: Array | None,
        intercept: float,
        support: Array,
        score: Callable[[Any], Array] | None = None,
    ) -> None:
        self.points = points
        self.score = score
        self.coef = coef
        self.intercept = intercept
        self.support = support

    @property
    def width(self) -> float:
        """1/‖coef‖, the distance of the margin planes from the plane; NaN for curves."""
        return float("nan") if self.coef is None else float(1.0 / np.linalg.norm(self.coef))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the plane of a fitted linear classifier of two classes.

        Parameters
        ----------
        estimator : fitted linear classifier, or Pipeline that ends with one
            A model of hiperplano or scikit-learn.
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
        if not hasattr(estimator, "coef_") and hasattr(estimator, "support_"):
            return cls._of_curves(estimator, X, y).plot(ax=ax, **kwargs)
        coef, intercept = one_plane(cls.__name__, estimator)
        points = Points.of(cls.__name__, X, y, estimator.classes_)
        support = _support(estimator, points, coef, intercept)
        return cls(points=points, coef=coef, intercept=intercept, support=support).plot(ax=ax, **kwargs)

    @classmethod
    def _of_curves(cls, machine: Any, X: Any, y: Any) -> Self:
        """The display of a kernel machine."""
        points = Points.of(cls.__name__, X, y, machine.classes_)
        if len(machine.classes_) != 2:
            raise NotAvailable(
                "{owner}: {model} has {n} classes; the plot shows the margin between two. RegionsDisplay draws several "
                "classes.",
                owner=cls.__name__,
                model=type(machine).__name__,
                n=len(machine.classes_),
            )
        scores = np.asarray(machine.decision_function(points.rows))
        held = machine.support_
        of_the_fit = held.max(initial=-1) < len(points.rows) and np.array_equal(
            points.rows[held], np.asarray(_dense(machine.support_vectors_))
        )
        sign = np.where(points.codes == 1, 1.0, -1.0)
        support = held if of_the_fit else np.flatnonzero(sign * scores <= 1.0 + 1e-9)
        return cls(points=points, coef=None, intercept=0.0, support=support, score=machine.decision_function)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw points, planes or curves, and rings.

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
        if self.coef is None:
            self._draw_curves(ax)
        else:
            draw_level(ax, self.coef, self.intercept, 0.0, color=INK, lw=1.8, label="plane")
            draw_level(ax, self.coef, self.intercept, 1.0, color=INK, lw=1.0, ls="--", label="margin planes")
            draw_level(ax, self.coef, self.intercept, -1.0, color=INK, lw=1.0, ls="--")
            self._draw_width(ax, self.coef)
        if len(self.support):
            circle_points(ax, self.points.rows[self.support], "support vectors")
        hide_spines(ax)
        legend_above(ax)
        return self

    def _draw_curves(self, ax: Any) -> None:
        """The level curves of the score at 0 and ±1, with a line for each in the legend."""
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        across, up = np.linspace(left, right, _GRID), np.linspace(bottom, top, _GRID)
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        assert self.score is not None
        heights = np.asarray(self.score(grid)).reshape(_GRID, _GRID)
        ax.contour(across, up, heights, [-1.0, 0.0, 1.0], colors=INK, linewidths=[1.0, 1.8, 1.0], linestyles=_STYLES)
        ax.plot([], [], color=INK, lw=1.8, label="score 0")
        ax.plot([], [], color=INK, lw=1.0, ls="--", label="score ±1")

    def _draw_width(self, ax: Any, coef: Array) -> None:
        """A double arrow from the plane to a margin plane, if both are inside the axes."""
        start = self._label_position(ax, coef)
        if start is None:
            return
        end = start + coef / (coef @ coef)
        to_the_right = bool(coef[0] >= 0)
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

    def _label_position(self, ax: Any, coef: Array) -> Array | None:
        """A point of the plane where arrow and text are inside the axes, and far from all rows."""
        low = np.array([ax.get_xlim()[0], ax.get_ylim()[0]])
        size = np.array([ax.get_xlim()[1], ax.get_ylim()[1]]) - low
        middle = low + size / 2
        start = middle - (middle @ coef + self.intercept) * coef / (coef @ coef)
        along = np.array([-coef[1], coef[0]]) / np.linalg.norm(coef)
        places = start + np.linspace(-1.0, 1.0, 81)[:, None] * along * np.linalg.norm(size)
        ends = places + coef / (coef @ coef)
        words = ends + np.array([0.14 if coef[0] >= 0 else -0.14, 0.0]) * size
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


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


def _support(model: Any, points: Points, coef: Array, intercept: float) -> Array:
    """Support vectors if the rows are those of the fit, which is checked by their sum.

    Otherwise rows with a hinge loss.
    """
    rows, codes = points.rows, points.codes
    held = getattr(model, "support_", None)
    if held is not None and len(held) and np.max(held) < len(rows):
        vectors = _dense(model.support_vectors_)
        if np.array_equal(rows[held], vectors):
            return np.asarray(held)
    multipliers = np.asarray(getattr(getattr(model, "solution_", None), "multipliers", ()))
    if multipliers.shape == (1, len(rows)):
        sizes = np.abs(multipliers[0])
        if (np.abs(multipliers[0] @ rows - coef) <= 1e-2 * (sizes @ np.abs(rows))).all():
            return np.flatnonzero(sizes > 1e-6 * sizes.max())
    signed = np.where(codes == 1, 1.0, -1.0) * (rows @ coef + intercept)
    return np.flatnonzero(signed <= 1.0 + 1e-9)
