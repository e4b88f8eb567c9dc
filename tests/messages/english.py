"""What is left in English when a text is shown in the current language."""

from __future__ import annotations

import re

from hiperplano.messages import Message
from hiperplano.messages.catalogue import lookup

_NAME_OF_A_MODEL = re.compile(r"[A-Z]\w+: ")


def english_parts(text: str) -> list[str]:
    """The parts of a text without translation; names of models, values and punctuation need none."""
    if not isinstance(text, Message):
        return [text] if re.search(r"[a-z]", text) and not _NAME_OF_A_MODEL.fullmatch(text) else []
    if text.parts:
        return [left for part in text.parts for left in english_parts(part)]
    missing = [] if lookup("messages", text.template) else [text.template]
    return missing + [
        left for field in text.fields.values() if isinstance(field, Message) for left in english_parts(field)
    ]
