"""Output of a subcommand: tables, or one JSON object, and progress."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from hiperplano.cli.safe_console import safe_console
from hiperplano.messages import Message, message_of, translate

_BEYOND_ASCII = re.compile("[\x7f-\x9f]")  # control characters that JSON allows in text, and terminals obey


@dataclass
class Terminal:
    """Output of a subcommand.

    Attributes
    ----------
    as_json : bool
        One JSON object on the standard output instead of tables.
    quiet : bool
        Errors only.
    """

    as_json: bool = False
    quiet: bool = False
    results: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    told: int = 0

    def __post_init__(self) -> None:
        self.out = safe_console(file=sys.stdout, highlight=False, soft_wrap=False)
        self.progress = safe_console(file=sys.stderr)

    @property
    def prints_text(self) -> bool:
        """Whether tables and sentences are printed."""
        return not (self.as_json or self.quiet)

    def print(self, *shown: Any) -> None:
        """Print text or a table, unless JSON or quiet output is requested."""
        if self.prints_text:
            self.out.print(*shown)

    def say(self, text: str) -> None:
        """Print a sentence verbatim."""
        if self.prints_text:
            self.out.print(text, markup=False)

    def print_notes(self) -> None:
        """Print the notes that have not been printed yet."""
        if self.prints_text:
            for text in self.notes[self.told :]:
                self.out.print(f"• {translate(text)}", markup=False)
        self.told = len(self.notes)

    def add_note(self, *texts: str) -> None:
        """Add a note for the reader, once."""
        self.notes += [text for text in dict.fromkeys(texts) if text not in self.notes]

    def finish(self) -> None:
        """Print the notes, or the JSON object."""
        if self.as_json:
            text = json.dumps(_plain(self.results | {"notes": self.notes}), ensure_ascii=False, indent=1)
            print(_BEYOND_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        else:
            self.print_notes()

    @contextmanager
    def progress_bar(self, text: str, steps: int | None = None) -> Iterator[Any]:
        """A progress bar on standard error; yields the function that reports a step.

        Parameters
        ----------
        steps : int, optional
            Number of steps.
        """
        if not self.prints_text or not self.progress.is_terminal:
            yield lambda text="": None
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self.progress, transient=True) as bar:
            task = bar.add_task(text, total=steps)

            def step(text: str = "") -> None:
                bar.update(task, advance=1, description=text or None)

            yield step

    @contextmanager
    def capture_warnings(self) -> Iterator[None]:
        """Turn the library's warnings into notes."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            yield
        for warning in heard:
            if str(warning.category.__module__).startswith(("hiperplano", "sklearn")):
                text = message_of(warning.message) if isinstance(warning.message, Warning) else warning.message
                self.add_note(for_the_terminal(text))


def for_the_terminal(text: str) -> str:
    """A message of the library, with advice for the command line instead of Python."""
    if not isinstance(text, Message) or "remedy" not in text.fields:
        return text
    remedy = Message("Choose --model firth or --model logistic-l2.")
    if "firth" not in str(text.fields["remedy"]):
        remedy = Message("Choose --model logistic-l2.")
    return text.with_fields(remedy=remedy)


def _plain(value: Any) -> Any:
    """A value for JSON: lists instead of arrays, and null instead of NaN."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
