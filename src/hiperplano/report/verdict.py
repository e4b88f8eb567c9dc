"""What solvers and analyses say, in the language of the page where there is a translation."""

from __future__ import annotations

from hiperplano.messages.catalogue import spoken
from hiperplano.messages.verdicts import retell
from hiperplano.report.sentences import tell_again


class Said(str):
    """Text of another part of the library; `language` is set where it is not the page's."""

    language: str = ""
    kind = "said"


def said(text: str) -> Said:
    """A sentence of a solver or an analysis."""
    told = tell_again(text)
    if told == text:
        told = retell(text)
    found = Said(told)
    if told == text and spoken() != "en":
        found.language = "en"
    return found
