"""Steps of a perceptron, as a strip of panels or as an animation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from hiperplano.data.design import Array
from hiperplano.data.labels import encode_labels
from hiperplano.data.validate import validate
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.plot.plane import Points, arrow, circle_points, draw_level
from hiperplano.plot.style import GREY, INK, Display, colour, hide_spines, marker, pyplot

if TYPE_CHECKING:
    from hiperplano.models.online.replay import Step

_ACCENT = 2  # colour of a step's example, different from those of the classes
_ARROW = 0.22  # length, as a share of the axes


class ReplayDisplay(Display):
    """Steps of an online classifier: the example, the plane before and after it, the direction of the weights.

    Make it with `from_estimator`, which replays a fit (`hiperplano.replay`).

    Attributes
    ----------
    steps : list of Step
        Steps that moved the plane.
    points : Points
        The rows, the numbers of their classes, and the names of columns and classes.
    ax_, figure_
        The panels in their order, and the figure, once drawn.

    Examples
    --------
    >>> from hiperplano import Perceptron, ReplayDisplay
    >>> X, y = [[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 0.5]], ["yes", "yes", "no", "no"]
    >>> display = ReplayDisplay.from_estimator(Perceptron(shuffle=False), X, y)
    >>> [(step.number, step.row) for step in display.steps], len(display.ax_)
    ([(1, 0)], 1)
    """

    def __init__(self, *, steps: list[Step], points: Points) -> None:
        self.steps = steps
        self.points = points

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Fit a clone of an online classifier of two classes, and draw its steps.

        Parameters
        ----------
        estimator : Perceptron, PassiveAggressiveClassifier, Pegasos or SGDClassifier
            It is not changed. With `shuffle`, give it a `random_state` to see the same steps again.
        X : array-like or table of shape (n, 2)
            Rows to learn from, of two columns.
        y : array-like of shape (n,)
            Their labels, of two classes.
        ax : matplotlib axes, or as many as there are panels, optional
            Axes to draw on; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        # Imported here because it loads compiled code, which other plots do not need.
        from hiperplano.models.online.replay import replay

        if getattr(estimator, "kernel", None) is not None:
            raise InvalidParameter(
                "ReplayDisplay: {model} with a kernel has no plane in the columns. RegionsDisplay draws its regions, "
                "and replay gives its steps.",
                model=type(estimator).__name__,
            )
        points = Points.of(cls.__name__, X, None, ())
        classes, codes = encode_labels(validate(BaseEstimator(), points.rows, y, numeric_target=False))
        if len(classes) != 2:
            raise InvalidTarget(
                "ReplayDisplay: y holds {n_classes} classes; the plot follows one plane, between two. Compare "
                "one class with the rest, for example with y == label.",
                n_classes=len(classes),
            )
        steps = [step for step in replay(estimator, X, y) if step.updated and np.any(step.coef)]
        if not steps:
            raise InvalidParameter(
                "ReplayDisplay: no step of {model} moved the plane, so there is nothing to draw. Let it make more "
                "passes, or start from weights that are not final.",
                model=type(estimator).__name__,
            )
        points = points._replace(codes=codes, classes=[str(one) for one in classes])
        return cls(steps=steps, points=points).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, panels: int | None = None, columns: int = 4, **kwargs: Any) -> Self:
        """Draw steps side by side.

        Parameters
        ----------
        ax : matplotlib axes, or as many as there are panels, optional
            New ones by default.
        panels : int, optional
            Most steps to draw: if there are more, the first, the last and some evenly between. As many as there are
            axes by default, or 8.
        columns : int, default=4
            Panels in a row of a new figure.
        **kwargs
            For matplotlib's `scatter`, of the points.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        panels = (8 if ax is None else np.size(ax)) if panels is None else panels
        for name, value in (("panels", panels), ("columns", columns)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InvalidParameter(
                    "ReplayDisplay: {name}={value!r}; {name} must be a whole number of 1 or more. Set it so.",
                    name=name,
                    value=value,
                )
        count = min(int(panels), len(self.steps))
        chosen = np.linspace(0, len(self.steps) - 1, count).round().astype(int) if count > 1 else np.array([0])
        rows = -(-count // int(columns))
        across = -(-count // rows)
        wide, high = np.ptp(self.points.limits(), axis=0)
        height = 2.3 * float(np.clip(high / wide, 0.5, 1.5)) + 0.5 + 0.5 / rows
        drawn = self._panels(ax, count, across, (2.5, height), share=True)
        for position, (panel, place) in enumerate(zip(drawn, chosen, strict=True)):
            self._draw(panel, int(place), **kwargs)
            if position % across:
                panel.set_ylabel("")
            lowest = position + across >= count
            panel.tick_params(labelbottom=lowest)
            if not lowest:
                panel.set_xlabel("")
        if ax is None:
            self.figure_.legend(handles=_legend_handles(self.points), loc="outside upper left", ncols=5, frameon=False)
        return self

    def animate(self, *, interval: int = 700, **kwargs: Any) -> Any:
        """All steps, one after the other, in a figure of their own.

        Parameters
        ----------
        interval : int, default=700
            Milliseconds between steps.
        **kwargs
            For matplotlib's `scatter`, of the points.

        Returns
        -------
        matplotlib.animation.FuncAnimation
            `save("steps.gif", writer="pillow")` writes it; in a notebook show `HTML(animation.to_jshtml())`. Keep it in
            a variable as long as it runs.
        """
        plt = pyplot()
        from matplotlib.animation import FuncAnimation

        figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")

        def draw(place: int) -> list[Any]:
            ax.clear()
            self._draw(ax, place, **kwargs)
            return []

        draw(0)
        return FuncAnimation(figure, draw, frames=len(self.steps), interval=interval, repeat_delay=3 * interval)

    def _draw(self, ax: Any, place: int, **kwargs: Any) -> None:
        step = self.steps[place]
        self.points.frame(ax)
        self.points.scatter(ax, **{"s": 16} | kwargs)
        if np.any(step.coef_before):
            draw_level(ax, step.coef_before, float(step.intercept_before), 0.0, color=GREY, lw=1.2, ls="--")
        draw_level(ax, step.coef, float(step.intercept), 0.0, color=INK, lw=1.8)
        if step.row is not None:
            circle_points(ax, self.points.rows[np.atleast_1d(step.row)], edgecolors=colour(_ACCENT), linewidths=2.0)
        self._weights(ax, step.coef, float(step.intercept))
        ax.set_title(f"update {place + 1} of {len(self.steps)}", fontsize="small", loc="left")
        ax.tick_params(labelsize="small")
        hide_spines(ax)

    @staticmethod
    def _weights(ax: Any, coef: Array, intercept: float) -> None:
        """An arrow from the plane towards the second class, of fixed length: only its direction matters."""
        low = np.array([ax.get_xlim()[0], ax.get_ylim()[0]])
        size = np.array([ax.get_xlim()[1], ax.get_ylim()[1]]) - low
        middle = low + size / 2
        start = middle - (middle @ coef + intercept) * coef / (coef @ coef)
        if ((start < low) | (start > low + size)).any():
            return
        arrow(ax, start, start + _ARROW * size.min() * coef / np.linalg.norm(coef), color=INK, lw=1.4)


def _legend_handles(points: Points) -> list[Any]:
    """Entries of the legend of a strip, whatever its steps."""
    from matplotlib.lines import Line2D

    dots = [
        Line2D([], [], color=colour(k), marker=marker(k), ls="", label=label) for k, label in enumerate(points.classes)
    ]
    ringed: dict[str, Any] = {"color": colour(_ACCENT), "marker": "o", "ms": 9, "mew": 2.0, "mfc": "none", "ls": ""}
    return [
        *dots,
        Line2D([], [], **ringed, label="example"),
        Line2D([], [], color=GREY, lw=1.2, ls="--", label="plane before"),
        Line2D([], [], color=INK, lw=1.8, label="plane after"),
    ]
