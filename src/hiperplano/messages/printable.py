"""Text from data, made safe for a terminal: it cannot move the cursor, set colours or change the text direction."""

from __future__ import annotations

import re

# C0 and C1 control characters except the newline, DEL, and marks that change the text direction.
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PICTURES = 0x2400  # Unicode block with a visible sign for each ASCII control character
_DELETE, _OTHER = "\u2421", "\ufffd"


def printable(text: str) -> str:
    """The text with every control character replaced by a visible sign, except newlines.

    Parameters
    ----------
    text : str
        Any text.
    """
    return _CONTROLS.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return _DELETE if code == 0x7F else _OTHER
