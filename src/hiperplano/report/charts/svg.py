"""SVG elements as text; everything that comes from data is escaped."""

from __future__ import annotations

from html import escape
from typing import Any


class Markup(str):
    """Escaped markup, which templates insert unchanged."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def element(name: str, *inside: Any, **attributes: Any) -> Markup:
    """`<name key="value">inside</name>`; `class_` stands for `class`, and `_` in names for `-`."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    body = "".join(part if isinstance(part, Markup) else escape(str(part)) for part in inside)
    return Markup(f"<{name}{said}>{body}</{name}>" if body else f"<{name}{said}/>")


def group(*inside: Markup, **attributes: Any) -> Markup:
    """Elements in a group."""
    return element("g", *inside, **attributes)


def place(value: float) -> str:
    """A coordinate, rounded to tenths of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def _text(value: Any) -> str:
    return place(value) if isinstance(value, float) else str(value)
