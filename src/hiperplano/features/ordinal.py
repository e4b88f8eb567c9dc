"""Words that have an order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_SCALES = (
    ("none", "very low", "low", "medium low", "medium", "medium high", "high", "very high"),
    ("small", "medium", "large"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("very bad", "bad", "poor", "fair", "regular", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "usually", "always"),
    (
        "none",
        "primary",
        "secondary",
        "high school",
        "college",
        "bachelor",
        "university",
        "master",
        "postgraduate",
        "phd",
    ),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("very unsatisfied", "unsatisfied", "neutral", "satisfied", "very satisfied"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("freezing", "very cold", "cold", "cool", "mild", "warm", "hot", "very hot"),
    ("d", "c", "cc", "ccc", "b", "bb", "bbb", "a", "aa", "aaa"),
    ("muy bajo", "bajo", "medio bajo", "medio", "medio alto", "alto", "muy alto"),
    ("muy baja", "baja", "media", "alta", "muy alta"),
    ("pequeño", "mediano", "grande"),
    ("muy malo", "malo", "regular", "bueno", "muy bueno", "excelente"),
    ("nunca", "rara vez", "a veces", "a menudo", "siempre"),
    ("muy insatisfecho", "insatisfecho", "neutral", "satisfecho", "muy satisfecho"),
    ("muy insatisfecha", "insatisfecha", "neutral", "satisfecha", "muy satisfecha"),
    ("muy en desacuerdo", "en desacuerdo", "neutral", "de acuerdo", "muy de acuerdo"),
    ("muy frío", "frío", "fresco", "templado", "tibio", "cálido", "caliente", "muy caliente"),
    ("muy fría", "fría", "fresca", "templada", "tibia", "cálida", "caliente", "muy caliente"),
    ("ninguno", "primaria", "secundaria", "preparatoria", "licenciatura", "maestría", "doctorado"),
    (
        "ninguna",
        "primaria",
        "secundaria",
        "bachillerato",
        "técnica",
        "universitaria",
        "posgrado",
        "maestría",
        "doctorado",
    ),
)
_FEWEST, _MOST = 3, 50
_NUMBERED = re.compile(r"\s*(<=|<|≤|>=|>|≥|\+)?\s*(\d+(?:[.,]\d+)?)")
_BELOW, _ABOVE = ("<", "<=", "≤"), (">", ">=", "≥")


def ordinal_order(values: Sequence[str]) -> tuple[str, ...]:
    """The values from low to high if they are a known scale or begin with numbers; else empty.

    Parameters
    ----------
    values : sequence of str
        The distinct values of a column.
    """
    if not _FEWEST <= len(values) <= _MOST:
        return ()
    said = [_plain(value) for value in values]
    for words in _SCALES:
        scale = [_plain(word) for word in words]
        if set(said) <= set(scale) and len(set(said)) == len(said):
            return tuple(value for _, value in sorted(zip(map(scale.index, said), values, strict=True)))
    found = [_NUMBERED.match(value) for value in values]
    if all(found) and not all(_is_whole(value) for value in values):
        return tuple(value for _, value in sorted(zip(map(_sort_key, found), values, strict=True)))
    return ()


def _plain(word: str) -> str:
    """Text without capitals, accents and separators."""
    letters = unicodedata.normalize("NFD", word.strip().lower())
    return re.sub(r"[\s_.-]+", " ", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def _sort_key(found: re.Match[str] | None) -> tuple[float, int]:
    assert found is not None
    sign = found[1] or ""
    return float(found[2].replace(",", ".")), -1 if sign in _BELOW else int(sign in _ABOVE)


def _is_whole(value: str) -> bool:
    """Whether text is an integer: such text is a code (of places, of products), not a scale."""
    return value.strip().isdigit()
