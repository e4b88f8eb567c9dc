"""What solvers and analyses say, in the language of the page where there is a translation."""

from __future__ import annotations

from hiperplano.language.catalogue import spoken


class Said(str):
    """Text of another part of the library; `language` is set where it is not the page's."""

    language: str = ""
    kind = "said"


def said(text: str) -> Said:
    """A sentence of a solver or an analysis."""
    told = Said(text)
    told.language = "" if spoken() == "en" else "en"
    return told
