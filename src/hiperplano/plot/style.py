"""Shared code of plots: import of matplotlib, colours for colour-blind readers, axes, legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter, NotInstalled

# Okabe and Ito's palette, which can be distinguished with any kind of colour vision; its yellow, too pale for lines, is
# omitted.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
INK, GREY = "#222222", "#8c8c8c"
_MANY_POINTS = 2000  # with more points, a vector graphic contains an image of them, which is smaller and looks the same
_DRAWN = 1000  # points of a curve
_KEY, _GAP = 1.6, 1.4  # of a legend: width of its keys, and space between columns, in font sizes


def pyplot() -> Any:
    """Import matplotlib when the first plot is drawn, so that models never wait for it."""
    try:
        import matplotlib.pyplot
    except ImportError as problem:
        raise NotInstalled(
            "Plots are drawn by matplotlib, which cannot be imported ({problem}). Install it with `pip install "
            "hiperplano[app]`, or `pip install matplotlib`.",
            problem=problem,
        ) from problem
    return matplotlib.pyplot


class Display:
    """Base class of displays: the numbers are computed, `plot` draws them."""

    ax_: Any
    figure_: Any

    def _axes(self, ax: Any, size: tuple[float, float] = (6.4, 4.4)) -> Any:
        """The given axes, or those of a new figure; stored as in scikit-learn's displays."""
        if ax is None:
            _, ax = pyplot().subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _panels(self, ax: Any, count: int, columns: int, size: tuple[float, float], share: Any = False) -> Array:
        """Axes for the panels: the given ones, or those of a new figure, each of `size` in inches."""
        if ax is None:
            rows = -(-count // columns)
            _, ax = pyplot().subplots(
                rows,
                columns,
                figsize=(size[0] * columns, size[1] * rows),
                layout="constrained",
                squeeze=False,
                sharex=share,
                sharey=share is True,
            )
            for unused in ax.ravel()[count:]:
                unused.remove()
            ax = ax.ravel()[:count]
        panels = np.ravel(np.asarray(ax, dtype=object))
        if len(panels) != count:
            raise InvalidParameter(
                "{model}: ax holds {n_panels} axes, and there are {count} panels to draw; each needs its own. Pass "
                "{count} axes, or leave ax out.",
                model=type(self).__name__,
                n_panels=len(panels),
                count=count,
            )
        self.ax_, self.figure_ = panels, panels[0].figure
        return panels


def hide_spines(ax: Any) -> None:
    """Remove the two spines without labels."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(ax: Any, handles: Any = None) -> None:
    """A legend above the axes, where it covers no data, with as many columns as fit.

    Parameters
    ----------
    handles : list of artists, optional
        Those with labels by default.
    """
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=_columns(ax, [str(handle.get_label()) for handle in handles]),
        frameon=False,
        borderaxespad=0.2,
        handlelength=_KEY,
        columnspacing=_GAP,
    )


def _columns(ax: Any, labels: list[str]) -> int:
    """The largest number of legend columns that fit above the axes; matplotlib fills one after the other."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size=rcParams["legend.fontsize"])
    em = font.get_size_in_points()
    # In points; a label may contain matplotlib's mathematical markup.
    needed = [
        TextPath((0, 0), label, size=em, prop=font).get_extents().width + (_KEY + rcParams["legend.handletextpad"]) * em
        for label in labels
    ]
    room = ax.get_position().width * ax.figure.get_size_inches()[0] * 72.0
    for count in range(len(needed), 1, -1):
        columns = np.array_split(np.array(needed), count)
        if sum(column.max() for column in columns) + (count - 1) * _GAP * em <= room:
            return count
    return 1


def colour(number: int) -> str:
    """Colour of the class, curve or column with a number."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Marker of the class with a number; shapes distinguish classes if colours do not."""
    return MARKERS[number % len(MARKERS)]


def should_rasterise(n_points: int) -> bool:
    """Whether there are so many points that an image inside a vector graphic is better."""
    return n_points > _MANY_POINTS


def subsample(n_points: int, keep: Sequence[int] = ()) -> Array:
    """Positions of about a thousand points of a curve at most: both ends, evenly spaced ones, and those to `keep`.

    Parameters
    ----------
    keep : sequence of int
        Positions that must be included.
    """
    if n_points <= _DRAWN:
        return np.arange(n_points)
    evenly = np.linspace(0, n_points - 1, _DRAWN).round().astype(np.intp)
    return np.union1d(evenly, np.asarray(keep, dtype=np.intp))


def format_number(value: float) -> str:
    """Three significant digits, without powers of ten if they fit into a few characters."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
