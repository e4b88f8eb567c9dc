"""A chart with two axes: marks are added one by one, and `svg` renders them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hiperplano.report.charts.scale import Scale, tick_texts, ticks
from hiperplano.report.charts.svg import Markup, element, group, place

WIDTH, WIDE, HEIGHT = 420.0, 640.0, 300.0
_LETTER = 6.1  # approximate width of a letter at 11 pixels


@dataclass
class Chart:
    """Axes and what is drawn between them.

    Attributes
    ----------
    name : str
        Part of the ids of title and description.
    title, description : str
        Texts for screen readers.
    x, y : (float, float)
        Ranges of the axes.
    x_percent, y_percent : bool
        Whether axis labels are percentages.
    names : list of str
        Labels for 0, 1, … on the vertical axis, instead of numbers.
    """

    name: str
    title: str
    description: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str
    y_label: str = ""
    x_percent: bool = False
    y_percent: bool = False
    names: list[str] = field(default_factory=list)
    height: float = HEIGHT
    width: float = WIDTH
    marks: list[Markup] = field(default_factory=list, repr=False)
    legend: list[tuple[str, str]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        left = 50.0
        if self.names:
            left = 14.0 + _LETTER * max(len(_short(name)) for name in self.names)
        self.left, self.right, self.top, self.bottom = left, self.width - 12.0, 28.0, self.height - 42.0
        self.across = Scale(*self.x, self.left, self.right)
        self.upward = Scale(*self.y, self.bottom, self.top)

    def line(self, x: Any, y: Any, style: str, label: str = "") -> None:
        """A line through points."""
        self.marks.append(element("polyline", points=self._points(x, y), class_=f"line {style}"))
        self._explain(style, label)

    def area(self, x: Any, y: Any, style: str, label: str = "") -> None:
        """The area between a line and the horizontal axis."""
        x, y = np.asarray(x), np.asarray(y)
        floor = max(0.0, self.y[0])
        points = self._points(np.r_[x[0], x, x[-1]], np.r_[floor, y, floor])
        self.marks.append(element("polygon", points=points, class_=f"area {style}"))
        self._explain(style, label)

    def steps(self, edges: Any, heights: Any, style: str, label: str = "") -> None:
        """The outline of a histogram."""
        self.area(np.repeat(np.asarray(edges), 2)[1:-1], np.repeat(np.asarray(heights), 2), style, label)

    def points(self, x: Any, y: Any, style: str, label: str = "", size: float = 3.0) -> None:
        """Dots, drawn as one path if there are many."""
        dots = "".join(f"M{place(a)} {place(b)}h0" for a, b in self._finite(x, y))
        self.marks.append(element("path", d=dots, class_=f"dots {style}", stroke_width=2 * size))
        self._explain(style, label)

    def spans(self, low: Any, high: Any, at: Any, style: str, upright: bool = False) -> None:
        """Intervals: at each place a line from `low` to `high`."""
        along, over = (self.upward, self.across) if upright else (self.across, self.upward)
        ends = zip(along(low).tolist(), along(high).tolist(), over(at).tolist(), strict=True)
        if upright:
            paths = [f"M{place(o)} {place(a)}V{place(b)}" for a, b, o in ends]
        else:
            paths = [f"M{place(a)} {place(o)}H{place(b)}" for a, b, o in ends]
        self.marks.append(element("path", d="".join(paths), class_=f"span {style}"))

    def rule(self, value: float, style: str, upright: bool = True, label: str = "", **attributes: Any) -> None:
        """A straight line across the chart."""
        if upright:
            where = float(self.across(value))
            line = element(
                "line", x1=where, x2=where, y1=self.top, y2=self.bottom, class_=f"rule {style}", **attributes
            )
        else:
            where = float(self.upward(value))
            line = element(
                "line", x1=self.left, x2=self.right, y1=where, y2=where, class_=f"rule {style}", **attributes
            )
        self.marks.append(line)
        self._explain(style, label)

    def svg(self) -> Markup:
        """The chart as SVG."""
        ids = f"{self.name}-title {self.name}-desc"
        return element(
            "svg",
            element("title", self.title, id=f"{self.name}-title"),
            element("desc", self.description, id=f"{self.name}-desc"),
            self._axes(),
            *self.marks,
            self._legend(),
            viewBox=f"0 0 {place(self.width)} {place(self.height)}",
            role="img",
            aria_labelledby=ids,
            class_="chart",
        )

    def _points(self, x: Any, y: Any) -> str:
        return " ".join(f"{place(a)},{place(b)}" for a, b in self._finite(x, y))

    def _finite(self, x: Any, y: Any) -> list[tuple[float, float]]:
        """Coordinates of the finite points."""
        both = np.column_stack([self.across(x), self.upward(y)])
        return [(a, b) for a, b in both[np.isfinite(both).all(axis=1)].tolist()]

    def _explain(self, style: str, label: str) -> None:
        if label:
            self.legend.append((style, label))

    def _axes(self) -> Markup:
        drawn = []
        for value, text in _labelled(self.x, self.x_percent, 5):
            where = float(self.across(value))
            drawn.append(element("line", x1=where, x2=where, y1=self.top, y2=self.bottom, class_="grid"))
            drawn.append(element("text", text, x=where, y=self.bottom + 15, text_anchor="middle"))
        if self.names:
            for row, name in enumerate(self.names):
                said = element("text", _short(name), x=self.left - 8, y=float(self.upward(row)) + 4, text_anchor="end")
                drawn.append(group(element("title", name), said))
        else:
            for value, text in _labelled(self.y, self.y_percent, 5):
                where = float(self.upward(value))
                drawn.append(element("line", x1=self.left, x2=self.right, y1=where, y2=where, class_="grid"))
                drawn.append(element("text", text, x=self.left - 6, y=where + 4, text_anchor="end"))
        drawn.append(element("line", x1=self.left, x2=self.right, y1=self.bottom, y2=self.bottom, class_="axis"))
        middle = (self.left + self.right) / 2
        drawn.append(element("text", self.x_label, x=middle, y=self.height - 8, text_anchor="middle", class_="label"))
        if self.y_label:
            turn = f"translate(11 {place((self.top + self.bottom) / 2)}) rotate(-90)"
            drawn.append(element("text", self.y_label, transform=turn, text_anchor="middle", class_="label"))
        return group(*drawn, class_="axes")

    def _legend(self) -> Markup:
        drawn, where = [], self.left
        for style, label in self.legend:
            drawn.append(element("rect", x=where, y=8.0, width=12, height=8, rx=2, class_=f"key {style}"))
            drawn.append(element("text", label, x=where + 17, y=16.0))
            where += 17 + _LETTER * len(label) + 16
        return group(*drawn, class_="legend")


def _labelled(limits: tuple[float, float], percent: bool, count: int) -> list[tuple[float, str]]:
    values = ticks(*limits, count)
    return list(zip(values, tick_texts(values, percent), strict=True))


def _short(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def sparkline(heights: Any, label: str) -> Markup:
    """A word-sized histogram."""
    tall = np.asarray(heights, dtype=np.float64)
    scaled = 20.0 * tall / (tall.max() or 1.0)
    width = 84.0 / len(scaled)
    bars = "".join(
        f"M{place(i * width)} 22v{place(-max(h, 0.6))}h{place(width - 1)}V22z" for i, h in enumerate(scaled.tolist())
    )
    return element(
        "svg", element("path", d=bars), viewBox="0 0 84 22", role="img", aria_label=label, class_="sparkline"
    )
