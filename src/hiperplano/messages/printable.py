"""Text from data for a terminal: nothing in it moves the cursor, sets colours or turns the line around."""

from __future__ import annotations

import re

# C0 and C1 controls but the newline, DEL, and the marks that change the direction of what follows.
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PICTURES = 0x2400  # where Unicode has a visible sign for each control of ASCII
_DELETE, _OTHER = "\u2421", "\ufffd"


def printable(text: str) -> str:
    """The text with a visible sign in the place of every control character; newlines stay.

    Parameters
    ----------
    text : str
        Of any origin.
    """
    return _CONTROLS.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return _DELETE if code == 0x7F else _OTHER
