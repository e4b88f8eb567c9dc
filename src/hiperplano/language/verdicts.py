"""Sentences of solvers in the reader's language."""

from __future__ import annotations


def retell(status: str) -> str:
    """A sentence of a solver or a warning, clause by clause, in the language now spoken; English where it is unknown."""
    return status
