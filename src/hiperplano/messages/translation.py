"""A message in the reader's language."""

from __future__ import annotations

import re

from hiperplano.messages.catalogue import fill, lookup
from hiperplano.messages.message import Message, message_of

# The output of `Message.number`, and nothing that a file could choose.
_NUMBER = re.compile(r"\{value:,?(\.\d)?[dfge%]?\}")


def translate(text: str | BaseException) -> str:
    """A message in the current language; other text unchanged.

    Parameters
    ----------
    text : str or exception
        A `Message`, or an error or warning made with one.

    Returns
    -------
    str
        The translation, or English if there is none.

    Examples
    --------
    >>> from hiperplano.messages import Message, translate
    >>> from hiperplano.messages.catalogue import use_language
    >>> with use_language("es"):
    ...     translate(ValueError(Message("Solved by {method}", method=Message("normal equations"))))
    'Resuelto por ecuaciones normales'
    """
    if isinstance(text, BaseException):
        text = message_of(text)
    if not isinstance(text, Message):
        return str(text)
    if text.parts:
        return "".join(map(translate, text.parts))
    translated = lookup("messages", text.template) if text.template else ""
    if not translated and _NUMBER.fullmatch(text.template):
        translated = text.template
    if not translated:
        return str(text)
    fields = {name: translate(value) if isinstance(value, Message) else value for name, value in text.fields.items()}
    return fill(translated, fields)
