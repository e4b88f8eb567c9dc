"""A console that replaces control characters of data by visible signs in everything it prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderHook
from rich.segment import Segment

from hiperplano.messages.printable import printable


class _Safe:
    """A renderable whose text is made printable after rich's layout, and before rich adds its own control codes."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        for text, style, control in console.render(self.inner, options):
            yield Segment(text if control else printable(text), style, control)


class _MakeSafe(RenderHook):
    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_Safe(one) for one in renderables]


def safe_console(**options: Any) -> Console:
    """A rich console that neutralises control characters in data.

    Parameters
    ----------
    **options
        Options of `rich.console.Console`.
    """
    console = Console(**options)
    console.push_render_hook(_MakeSafe())
    return console
