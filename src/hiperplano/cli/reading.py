"""Reading that begins while the rest of the program is still being imported.

Files are read by threads that do not hold the interpreter, and imports take as long as half a million rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from hiperplano.tables.reading import Source, read_table

Result = TypeVar("Result")


@dataclass(frozen=True)
class Reading:
    """A table being read, and the SHA-256 of its file."""

    path: Path
    table: Future[tuple[pa.Table, Source]]
    digest: Future[str]


def begin(
    path: Path, separator: str | None = None, decimal: str | None = None, drop: Sequence[str] | None = None
) -> Reading:
    """Begin to read a file; errors come when the result is asked for."""
    options: dict[str, Any] = {"separator": separator, "decimal": decimal, "drop": list(drop or [])}
    return Reading(path, _aside(lambda: read_table(path, **options)), _aside(lambda: _digest(path)))


def import_what_follows(report: bool = True) -> None:
    """Import now what would be imported after the reading."""
    import skops.io  # noqa: F401

    import hiperplano.models.logistic

    if report:
        import hiperplano.report.page  # noqa: F401


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _aside(work: Callable[[], Result]) -> Future[Result]:
    """Work in a thread of its own, in the language now spoken."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(copy_context().run, work)
    pool.shutdown(wait=False)
    return future
