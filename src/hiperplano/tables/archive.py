"""Check of an archive before anything in it is opened: its sizes, its compression methods, its array headers.

An archive of a few bytes can claim terabytes. These checks use only what the archive declares, so that neither time nor
memory depends on its contents.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

_SCHEMA = "schema.json"
_LARGEST_SCHEMA = 2**24
_MOST_ENTRIES = 100_000
_PLAIN = 2**28  # bytes that any archive may hold
_DENSE = 20  # or this multiple of its own size
_LARGEST_FILE = 2**34


class Suspicious(ValueError):
    """An archive that was not written by `save`."""


def check_archive(path: Path) -> None:
    """Raise `Suspicious` for an archive that cannot be a saved model.

    Parameters
    ----------
    path : Path
        Path of a zip archive; `zipfile.BadZipFile` is raised for other files.
    """
    size = path.stat().st_size
    if size > _LARGEST_FILE:
        raise Suspicious(f"{size} bytes are more than any model has")
    with path.open("rb") as file:
        _check_entries(file, max(_PLAIN, _DENSE * size), {".npy", ".npz", ".json"})


def _check_entries(file: IO[bytes], most: int, kinds: set[str]) -> None:
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if len(entries) > _MOST_ENTRIES or len({entry.filename for entry in entries}) < len(entries):
            raise Suspicious(f"{len(entries)} parts, or parts of one name")
        if sum(entry.file_size for entry in entries) > most:
            raise Suspicious(f"its parts claim {sum(entry.file_size for entry in entries)} bytes")
        for entry in entries:
            _check_entry(archive, entry, most, kinds)


def _check_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int, kinds: set[str]) -> None:
    name, suffix = entry.filename, Path(entry.filename).suffix
    if entry.flag_bits & 0x1:
        raise Suspicious(f"{name} is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Suspicious(f"{name} is compressed by method {entry.compress_type}")
    if suffix not in kinds or (suffix == ".json") != (name == _SCHEMA):
        raise Suspicious(f"{name} is of an unknown kind")
    if name == _SCHEMA and entry.file_size > _LARGEST_SCHEMA:
        raise Suspicious(f"{name} claims {entry.file_size} bytes")
    with archive.open(entry) as part:
        if suffix == ".npy":
            _check_array(name, part, entry.file_size)
        elif suffix == ".npz":  # a sparse matrix: an archive of arrays
            _check_entries(part, most, {".npy"})


def _check_array(name: str, part: IO[bytes], size: int) -> None:
    """Check that the array declared by the header is present."""
    version = npy.read_magic(part)
    read: Any = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise Suspicious(f"{name} has the version {version}")
    shape, _, dtype = read(part)
    if dtype.hasobject:
        raise Suspicious(f"{name} holds objects, which only a pickle can")
    promised = int(np.prod([int(length) for length in shape], dtype=object)) * dtype.itemsize
    if promised + part.tell() != size:
        raise Suspicious(f"{name} promises {promised} bytes and has {size - part.tell()}")
