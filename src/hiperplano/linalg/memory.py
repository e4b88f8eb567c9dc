"""Limit of the memory of one matrix."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from hiperplano.errors import NotAvailable
from hiperplano.messages import Message

_UNKNOWN = 8 * 2**30
_SHARE = 0.5  # share of the machine's memory for one matrix


@cache
def memory_limit() -> int:
    """Bytes that one matrix may take: half of the memory of the machine or of the process's control group."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = _UNKNOWN
    try:
        group = int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):  # no such limit
        group = physical
    return int(_SHARE * min(physical, group))


def require_bytes(needed: float, owner: str, what: Message, remedy: Message) -> None:
    """Raise an error if a matrix does not fit in memory.

    Parameters
    ----------
    what, remedy : Message
        What the matrix holds, and what to do instead.
    """
    if needed > memory_limit():
        raise NotAvailable(
            "{owner}: {what} takes {needed:.1f} GB, and {limit:.1f} GB may be used (half of the memory of this "
            "machine). {remedy}",
            owner=owner,
            what=what,
            needed=needed / 1e9,
            limit=memory_limit() / 1e9,
            remedy=remedy,
        )
