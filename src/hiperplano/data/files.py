"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hiperplano.errors import InvalidParameter


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file beside `path` that takes its place when the block ends well; until then the old one stays.

    If the block fails, or is interrupted, the new file is removed.
    """
    wanted = Path(path)
    if wanted.is_dir():
        raise InvalidParameter(f"{str(wanted)!r} is a folder; a file is written. Add a file's name to it.")
    if not wanted.absolute().parent.is_dir():
        raise InvalidParameter(
            f"{str(wanted)!r} lies in a folder that does not exist; a file is written into an existing one. Make the "
            "folder first, or choose another."
        )
    handle, name = tempfile.mkstemp(prefix=f".{wanted.name}.", dir=wanted.absolute().parent)
    os.close(handle)
    fresh = Path(name)
    try:
        yield fresh
        fresh.chmod(_usual_mode(wanted))
        os.replace(fresh, wanted)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _usual_mode(path: Path) -> int:
    """The rights of the file that is replaced, or those any new file gets: temporary ones are the owner's alone."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
