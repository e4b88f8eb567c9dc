"""A message in the reader's language."""

from __future__ import annotations

from typing import Any

from hiperplano.messages.catalogue import words
from hiperplano.messages.message import Message

_translated = words("messages")


def translate(text: str) -> str:
    """A message in the current language; other text as it is.

    Parameters
    ----------
    text : str
        As a rule a `Message`.

    Returns
    -------
    str
        English where there is no translation.
    """
    if not isinstance(text, Message):
        return str(text)
    if text.parts:
        return "".join(map(translate, text.parts))
    fields = {name: _field(value) for name, value in text.fields.items()}
    return _translated(text.template, **fields)


def _field(value: Any) -> Any:
    return translate(value) if isinstance(value, Message) else value
