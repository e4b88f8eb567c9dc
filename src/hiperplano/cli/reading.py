"""Reading that begins while the rest of the program is still being imported.

Files are read by threads that do not hold the interpreter, and imports take as long as half a million rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hiperplano.cli import quickly
from hiperplano.tables.reading import Source, read_table


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
    thread = ThreadPoolExecutor(1)  # one: the sum comes after the table, since nobody waits for it so early
    table = thread.submit(copy_context().run, lambda: read_table(path, **options))
    digest = thread.submit(copy_context().run, lambda: _digest(path))
    thread.shutdown(wait=False)
    return Reading(path, table, digest)


def begin_while_importing(
    path: Path,
    separator: str | None = None,
    decimal: str | None = None,
    drop: Sequence[str] | None = None,
    report: bool = True,
) -> Reading:
    """Begin to read a file, and import meanwhile what is needed before the fit.

    Imports go one after the other, so one core is theirs alone; the reading has the others until they are done.
    """
    cores = pa.cpu_count()
    pa.set_cpu_count(max(1, cores - 1))
    try:
        reading = begin(path, separator, decimal, drop)
        import hiperplano.cli.journey

        if report:
            import hiperplano.report.page  # noqa: F401
    finally:
        pa.set_cpu_count(cores)
    quickly.import_skops_aside()
    return reading


def _digest(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
