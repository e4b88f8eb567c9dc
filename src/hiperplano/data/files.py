"""Atomic writing of files: completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; it replaces `path` if the block succeeds.

    If anything fails before that, including Ctrl-C, the old file stays unchanged, and no other is left behind. For a
    symbolic link, the file it points to is replaced.
    """
    path = Path(os.path.realpath(path))
    # The name is chosen before the file is created, since `mkstemp` may be interrupted after it has created an unknown
    # file.
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
    """Write a file atomically, flushed to disk before the old one is replaced."""
    with replacing(path) as new, new.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _usual_mode(path: Path) -> int:
    """The mode of the file to replace, or the default of new files; the temporary file was private to its owner."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
