"""Sentences with fields: English wherever they are read as text, another language where they are shown in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Message(str):
    """A sentence made of a template and its fields.

    It is the English sentence, a `str` like any other, and remembers what it was made of, so that `translate` can say
    it in another language. Messages are joined with `+` and `Message.join`; fields may be messages themselves.

    Parameters
    ----------
    template : str
        The sentence with named fields, as `str.format` takes them: ``"{n} rows, gap {gap:.1e}"``. It is a literal where
        it is written, so that `tools.catalogues` finds it.
    **fields
        Numbers, text and messages.

    Attributes
    ----------
    template : str
    fields : dict
    parts : tuple of str
        Of a joined message, whose template is empty.

    Examples
    --------
    >>> from hiperplano.messages import Message
    >>> found = Message("Solved by {method} in {n} passes.", method=Message("Newton's method"), n=3)
    >>> found
    "Solved by Newton's method in 3 passes."
    >>> found.fields["n"]
    3
    """

    template: str
    fields: dict[str, Any]
    parts: tuple[str, ...]

    def __new__(cls, template: str, /, **fields: Any) -> Message:
        """Fill the fields in."""
        made = super().__new__(cls, template.format(**fields) if fields else template)
        made.template, made.fields, made.parts = template, fields, ()
        return made

    @classmethod
    def join(cls, separator: str, parts: Iterable[str]) -> Message:
        """Messages and plain text one after the other.

        Parameters
        ----------
        separator : str
            Put between them; the same in all languages.
        parts : iterable of str

        Returns
        -------
        Message
        """
        kept: list[str] = []
        for part in parts:
            kept += [separator, part] if kept and separator else [part]
        made = super().__new__(cls, "".join(kept))
        made.template, made.fields, made.parts = "", {}, tuple(kept)
        return made

    def __add__(self, other: str) -> Message:
        return Message.join("", [part for part in (self, other) if part])

    def __radd__(self, other: str) -> Message:
        return Message.join("", [part for part in (other, self) if part])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.template, self.fields, self.parts)


def _rebuild(template: str, fields: dict[str, Any], parts: tuple[str, ...]) -> Message:
    return Message.join("", parts) if parts else Message(template, **fields)
