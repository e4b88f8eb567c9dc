"""Sentences of solvers in the reader's language."""

from __future__ import annotations


def retell(status: str) -> str:
    """A sentence of a solver or a warning in the language now spoken, clause by clause; English where unknown."""
    return status
