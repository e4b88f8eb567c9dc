"""What is known of a column: its kind, and why it was taken for that."""

from __future__ import annotations

from dataclasses import dataclass, field

from hiperplano.messages.catalogue import words

_ = words("terminal")

USED = ("numeric", "ordered", "nominal", "date")
"""Kinds that a model gets to see."""
UNUSED = ("identifier", "constant", "empty", "leak")
KINDS = (*USED, *UNUSED)


@dataclass(frozen=True)
class Column:
    """A column of a table, as it was taken.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    why : str
        What speaks for this kind, in the reader's language.
    missing : int
        Cells without a value.
    order : tuple of str
        The values of an ordered column, from low to high.
    codes : tuple of float
        Numbers that stand for "no value".
    """

    name: str
    kind: str
    why: str = field(default="", repr=False)
    missing: int = field(default=0, repr=False)
    order: tuple[str, ...] = ()
    codes: tuple[float, ...] = ()

    @property
    def used(self) -> bool:
        return self.kind in USED


def kind_word(kind: str) -> str:
    """The kind in the reader's language."""
    return {
        "numeric": _("numeric"),
        "ordered": _("ordered"),
        "nominal": _("nominal"),
        "date": _("date"),
        "identifier": _("identifier"),
        "constant": _("constant"),
        "empty": _("empty"),
        "leak": _("leak suspect"),
    }[kind]
