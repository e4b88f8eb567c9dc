"""Decision whether a table is read as a whole or in blocks of rows."""

from __future__ import annotations

import os
from glob import has_magic
from pathlib import Path

import pyarrow.parquet as pq

from hiperplano.messages import Message
from hiperplano.tables.reading import file_format

_SHARE = 0.4  # share of the free memory that a table may take before coding, which needs more


def reason_to_stream(path: Path, asked: bool) -> Message | None:
    """The reason to read a table in blocks, for the user; None if it is read as a whole."""
    if path.is_dir() or (has_magic(str(path)) and not path.exists()):
        return Message("{file} is read some rows at a time, as folders and patterns are", file=path)
    if asked:
        return Message("{file} is read some rows at a time, as asked for with --stream", file=path)
    if not path.is_file():
        return None
    size, free = _bytes_in_memory(path), _free_memory()
    if size <= _SHARE * free:
        return None
    return Message(
        "{file} would take about {size:.1f} GB in memory, and {free:.1f} GB are free: it is read some rows at a time",
        file=path,
        size=size / 1e9,
        free=free / 1e9,
    )


def _bytes_in_memory(path: Path) -> float:
    """Approximate size in memory of the columns of a file."""
    if path.stat().st_size < 2**20 or file_format(path).name != "parquet":
        return float(path.stat().st_size)
    found = pq.read_metadata(path)
    return float(sum(found.row_group(k).total_byte_size for k in range(found.num_row_groups)))


def _free_memory() -> float:
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):  # not supported by every system
        return float("inf")
