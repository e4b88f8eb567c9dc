"""Description of a column: its kind, and the reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hiperplano.messages import Message

USED = ("numeric", "ordered", "nominal", "date")
"""Kinds that a model uses."""
UNUSED = ("identifier", "constant", "empty", "leak", "unselected")
KINDS = (*USED, *UNUSED)


@dataclass(frozen=True)
class Column:
    """A column of a table, and its interpretation.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    why : str
        Reason for this kind; a `Message` if it was guessed.
    missing : int
        Cells without a value.
    order : tuple of str
        The values of an ordered column, from low to high.
    codes : tuple of float or str
        Numbers or texts that stand for a missing value.
    """

    name: str
    kind: str
    why: str = field(default="", repr=False)
    missing: int = field(default=0, repr=False)
    order: tuple[str, ...] = ()
    codes: tuple[float | str, ...] = ()

    @property
    def used(self) -> bool:
        return self.kind in USED


def column_of(fields: dict[str, Any]) -> Column:
    """A column from the fields of a JSON text."""
    return Column(**fields | {"order": tuple(fields["order"]), "codes": tuple(fields["codes"])})


def pack_columns(columns: Sequence[Column]) -> str:
    """Columns as one text, since a model's file grows by kilobytes with each object in it."""
    return json.dumps([asdict(column) for column in columns])


def unpack_columns(text: str) -> tuple[Column, ...]:
    """The inverse of `pack_columns`."""
    return tuple(map(column_of, json.loads(text)))


def kind_label(kind: str) -> Message:
    """The kind as words.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    """
    return {
        "numeric": Message("numeric"),
        "ordered": Message("ordered"),
        "nominal": Message("nominal"),
        "date": Message("date"),
        "identifier": Message("identifier"),
        "constant": Message("constant"),
        "empty": Message("empty"),
        "leak": Message("leak suspect"),
        "unselected": Message("not selected"),
    }[kind]
