"""Atomic writing of files: completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new path beside `path`, to be written; it takes the place of `path` when the block ends well.

    Whatever goes wrong before that, Ctrl-C too, leaves an old file as it was and no other behind. A link is followed:
    what it points to is replaced, and the link stays.
    """
    path = Path(os.path.realpath(path))
    # The name is known before the file is: `mkstemp` may be interrupted when it has made one that nobody knows of.
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}{path.suffix}")
    try:
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield new
        new.chmod(_usual_mode(path))
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically, and have it on disk before the old one is replaced."""
    with replacing(path) as new, new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _usual_mode(path: Path) -> int:
    """That of the file to be replaced, or what a new file gets: the one beside it was for its owner alone."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
