"""Messages: a template with fields, English as text, translated where they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Any


class Message(str):
    """A sentence made of a template and its fields.

    It is the English sentence, a `str` like any other, and remembers its template and fields, so that `translate` can
    translate it. Messages are joined with `+` and `Message.concatenate`; fields may be messages themselves. Errors and
    warnings accept one instead of text.

    Parameters
    ----------
    template : str
        The sentence with named fields, as `str.format` takes them: ``"{n} rows, gap {gap:.1e}"``. It is a literal where
        it is written, so that `tools.catalogues` finds it.
    **fields
        Numbers, text and messages. Other objects are kept as the text that the sentence shows.

    Attributes
    ----------
    template : str
        Empty for a joined message.
    fields : dict
        The values of the template's fields.
    parts : tuple of str
        What a joined message consists of.

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
        if not fields:
            return _message(template, template, {}, ())
        if not all(isinstance(value, str | int | float) for value in fields.values()):
            fields = _as_text(template, fields)
        return _message(template.format(**fields), template, fields, ())

    @classmethod
    def concatenate(cls, separator: str, parts: Iterable[str]) -> Message:
        """Messages and plain text one after the other.

        Parameters
        ----------
        separator : str
            Put between them; the same in all languages.
        parts : iterable of str
            Messages are translated separately; other text is unchanged.
        """
        kept: list[str] = []
        for part in parts:
            kept += [separator, part] if kept and separator else [part]
        return _message("".join(kept), "", {}, tuple(kept))

    @classmethod
    def number(cls, value: float, spec: str) -> Message:
        """A number as a field of another message, in the format of the language in which that is shown.

        Parameters
        ----------
        value : float
        spec : str
            Format specification of Python.

        Returns
        -------
        Message
        """
        return cls(f"{{value:{spec}}}", value=value)

    def __add__(self, other: str) -> Message:
        return Message.concatenate("", [part for part in (self, other) if part])

    def __radd__(self, other: str) -> Message:
        return Message.concatenate("", [part for part in (other, self) if part])

    def __reduce__(self) -> tuple[Any, ...]:
        return _message, (str(self), self.template, self.fields, self.parts)

    def with_fields(self, **fields: Any) -> Message:
        """The same sentence with other values for some of its fields.

        Parameters
        ----------
        fields : dict
            New values by name.

        Returns
        -------
        Message
        """
        return type(self)(self.template, **{**self.fields, **fields})

    def to_plain(self) -> list[Any]:
        """The message as lists, dicts, text and numbers, for files.

        Returns
        -------
        list
            What `from_plain` takes.
        """
        fields = {name: _to_plain(value) for name, value in self.fields.items()}
        return [str(self), self.template, fields, [_to_plain(part) for part in self.parts]]

    @classmethod
    def from_plain(cls, plain: list[Any]) -> Message:
        """The inverse of `to_plain`.

        Its template is not filled in again, so that a file cannot choose what is formatted.

        Parameters
        ----------
        plain : list
            What `to_plain` returned.
        """
        text, template, fields, parts = plain
        return _message(
            text,
            template,
            {name: _from_plain(value) for name, value in fields.items()},
            tuple(_from_plain(part) for part in parts),
        )


def message_of(problem: BaseException) -> str:
    """The message of an error or warning.

    Parameters
    ----------
    problem : exception
        An exception of this library or any other.

    Returns
    -------
    str
        The `Message` it was made with, or its text.
    """
    text = problem.args[0] if problem.args else ""
    return text if isinstance(text, Message) else str(problem)


class _Shown(str):
    """The text of an object, which is also its repr: ``{value!r}`` shows it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _message(text: str, template: str, fields: dict[str, Any], parts: tuple[str, ...]) -> Message:
    made = str.__new__(Message, text)
    made.template, made.fields, made.parts = template, fields, parts
    return made


def _as_text(template: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields that can be copied, pickled and saved: objects are replaced by their text."""
    conversions = {name: conversion for _, name, _, conversion in Formatter().parse(template) if name}

    def kept(name: str, value: Any) -> Any:
        if isinstance(value, str | int | float):
            return value
        if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a NumPy scalar
            return value.item()
        return _Shown(repr(value) if conversions.get(name) == "r" else str(value))

    return {name: kept(name, value) for name, value in fields.items()}


def _to_plain(value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_plain()
    return str(value) if isinstance(value, str) else value


def _from_plain(value: Any) -> Any:
    return Message.from_plain(value) if isinstance(value, list) else value
