"""Rows of two columns as points, and lines between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidTarget, NotAvailable
from hiperplano.plot.style import GREY, INK, colour, marker, should_rasterise

_COMPARABLE = 6.0  # columns whose ranges differ by more than this factor are not drawn with equal units
_MARGIN = 0.08


class Points(NamedTuple):
    """Rows of two columns, the numbers of their classes, and the names of columns and classes.

    `codes` is None if classes are unknown.
    """

    rows: Array
    codes: Array | None
    classes: list[str]
    names: tuple[str, str]

    @classmethod
    def of(cls, owner: str, X: Any, y: Any, classes: Any) -> Points:
        """Check that there are two columns, and that labels are among the classes.

        Parameters
        ----------
        owner : str
            Name of the display, for messages.
        X : array-like or table of shape (n, 2)
        y : array-like of shape (n,) or None
        classes : array-like
            Classes of the model.
        """
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows) or rows.dtype.kind not in "fiub":
            raise InvalidData(
                "{owner}: X has shape {shape} and holds {dtype}; a plot of the plane needs rows of two numbers. "
                "Choose two columns and fit the model on these.",
                owner=owner,
                shape=rows.shape,
                dtype=rows.dtype,
            )
        rows = rows.astype(np.float64)
        if not np.isfinite(rows).all():
            row = int(np.argmin(np.isfinite(rows).all(axis=1)))
            raise InvalidData(
                "{owner}: row {row} of X holds NaN or infinity; points must be finite. Drop such rows.",
                owner=owner,
                row=row,
            )
        columns = getattr(X, "columns", ("x0", "x1"))
        names = str(columns[0]), str(columns[1])
        return cls(rows, None if y is None else _codes(owner, y, classes, len(rows)), [str(c) for c in classes], names)

    def limits(self, margin: float = _MARGIN) -> Array:
        """The smallest and largest value of each column, with a margin, of shape (2, columns).

        Parameters
        ----------
        margin : float
            Share of the range that is added on each side.
        """
        low, high = self.rows.min(axis=0), self.rows.max(axis=0)
        room = margin * np.where(high > low, high - low, 1.0)
        return np.stack([low - room, high + room])

    def frame(self, ax: Any) -> None:
        """Limits and names of the axes.

        Equal units for both columns if their ranges allow, so that angles are right.
        """
        limits = self.limits()
        ranges = limits[1] - limits[0]
        ax.set(xlim=limits[:, 0], ylim=limits[:, 1], xlabel=self.names[0], ylabel=self.names[1])
        if ranges.max() <= _COMPARABLE * ranges.min():
            ax.set_aspect("equal", adjustable="box")

    def scatter(self, ax: Any, **kwargs: Any) -> None:
        """Each class in its own colour and shape.

        Parameters
        ----------
        **kwargs
            For `ax.scatter`.
        """
        style = {"s": 24, "edgecolors": "white", "linewidths": 0.5, "zorder": 3} | kwargs
        style["rasterized"] = should_rasterise(len(self.rows))
        if self.codes is None:
            ax.scatter(*self.rows.T, **{"color": INK} | style)
            return
        for number, label in enumerate(self.classes):
            mine = self.rows[self.codes == number]
            ax.scatter(*mine.T, **{"color": colour(number), "marker": marker(number), "label": label} | style)


def _codes(owner: str, y: Any, classes: Any, n_rows: int) -> Array:
    labels, known = np.asarray(y), np.asarray(classes)
    if labels.shape != (n_rows,):
        raise InvalidTarget(
            "{owner}: y has shape {shape} and X {n_rows} rows; each row needs one label. Pass a vector of them.",
            owner=owner,
            shape=labels.shape,
            n_rows=n_rows,
        )
    right = np.isin(labels, known)
    if not right.all():
        row = int(np.argmin(right))
        raise InvalidTarget(
            "{owner}: y holds {label!r} (row {row}), which is not one of the model's classes {known}. Leave such "
            "rows out, or fit with them.",
            owner=owner,
            label=labels[row].item(),
            row=row,
            known=known.tolist(),
        )
    return np.searchsorted(known, labels)


def one_plane(owner: str, model: Any) -> tuple[Array, float]:
    """Coefficients and intercept of a fitted linear classifier of two classes and two columns.

    Parameters
    ----------
    owner : str
        Name of the display, for messages.

    Returns
    -------
    coef : ndarray of shape (2,)
    intercept : float
    """
    check_is_fitted(model)
    if not (hasattr(model, "coef_") and hasattr(model, "classes_")):
        raise NotAvailable(
            "{owner}: {model} is not a linear classifier (it lacks coef_ or classes_), so there is no plane to draw. "
            "Pass a fitted linear classifier; RegionsDisplay draws the regions of any.",
            owner=owner,
            model=type(model).__name__,
        )
    coef = np.asarray(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_, dtype=np.float64)
    coef = np.atleast_2d(coef)
    if coef.shape != (1, 2):
        raise NotAvailable(
            "{owner}: {model} has {n_planes} plane(s) in {n_columns} columns; the plot shows one plane in two. "
            "Fit two classes on two columns; RegionsDisplay draws several classes.",
            owner=owner,
            model=type(model).__name__,
            n_planes=coef.shape[0],
            n_columns=coef.shape[1],
        )
    if not coef.any():
        raise NotAvailable(
            "{owner}: both coefficients of {model} are 0, so there is no plane to draw. Fit it with a weaker "
            "penalty, or on columns that separate the classes.",
            owner=owner,
            model=type(model).__name__,
        )
    return coef[0], float(np.ravel(model.intercept_)[0])


def draw_level(ax: Any, coef: Array, intercept: float, level: float, **kwargs: Any) -> None:
    """The line where x·coef + intercept = level, through the whole axes.

    Parameters
    ----------
    coef : ndarray of shape (2,)
    **kwargs
        For `ax.axline`.
    """
    middle = np.array([np.mean(ax.get_xlim()), np.mean(ax.get_ylim())])
    # In units of the axes, so that columns of different scale do not put the point far outside.
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    scaled = coef * size
    point = middle - (middle @ coef + intercept - level) * scaled / (scaled @ scaled) * size
    along = np.array([-scaled[1], scaled[0]]) / np.linalg.norm(scaled) * size
    ax.axline(point, point + along, **kwargs)


def circle_points(ax: Any, rows: Array, label: str | None = None, **kwargs: Any) -> None:
    """A circle around rows.

    Parameters
    ----------
    rows : ndarray of shape (n, 2)
    label : str, optional
        For the legend.
    **kwargs
        For `ax.scatter`.
    """
    style = {"s": 95, "facecolors": "none", "edgecolors": INK, "linewidths": 1.2, "zorder": 4, "label": label}
    ax.scatter(*rows.T, **style | kwargs)


def arrow(ax: Any, start: Array, end: Array, **kwargs: Any) -> None:
    """From one point to another.

    Parameters
    ----------
    start, end : ndarray of shape (2,)
    **kwargs
        Properties of the arrow.
    """
    style = {"arrowstyle": "-|>", "color": GREY, "lw": 1.4, "shrinkA": 0, "shrinkB": 0} | kwargs
    ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style, zorder=5)
