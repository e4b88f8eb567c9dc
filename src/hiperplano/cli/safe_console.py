"""A console that shows control characters of data as signs, wherever they stand in what it prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderHook
from rich.segment import Segment

from hiperplano.messages.printable import printable


class _Safe:
    """Something to print, with its text made printable after rich has laid it out and before it adds its own codes."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        for text, style, control in console.render(self.inner, options):
            yield Segment(text if control else printable(text), style, control)


class _MakeSafe(RenderHook):
    def process_renderables(self, renderables: list[Any]) -> list[Any]:
        return [_Safe(one) for one in renderables]


def safe_console(**options: Any) -> Console:
    """A rich console on which data cannot act.

    Parameters
    ----------
    **options
        Of `rich.console.Console`.
    """
    console = Console(**options)
    console.push_render_hook(_MakeSafe())
    return console
