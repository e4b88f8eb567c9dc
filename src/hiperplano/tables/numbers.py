"""Numbers as text: 1,234,567.89 and 1.234.567,89, with a currency or percent sign."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.messages import Message

DASHES = ("-", "--", "–", "—", ".")
"""Texts for missing numbers or dates; in a column of words they may be words (UCI's classes + and -)."""
_PARTS = (
    r"^(?P<sign>[-+−]?)(?P<before>US\$|R\$|S/\.?|[$€£])? ?(?P<minus>[-−]?)(?P<body>[\d.,'’\x{a0}\x{202f}]*\d)"
    r"(?P<after> ?[%€$])?$"
)
_THOUSANDS_ONLY = r"['’\x{a0}\x{202f}]"  # these separate only thousands
_IN_BRACKETS = r"^\(([^()+−-]*\d[^()]*)\)$"  # accountants write −1,234 as (1,234)
_CODE = r"^0\d+$"
_LOOKED_AT, _MANY, _ALMOST = 1_000, 20, 0.9


@dataclass(frozen=True)
class ParsedNumbers:
    """Result of parsing a text column.

    Attributes
    ----------
    values : ChunkedArray or None
        The numbers, if all texts are numbers in one format.
    note : str
        Why there are none, although the texts look like numbers.
    """

    values: pa.ChunkedArray | None = None
    note: str = ""


def as_numbers(name: str, column: pa.ChunkedArray, decimal: str | None) -> ParsedNumbers:
    """The numbers of a text column, if one format fits every cell, and no other gives other values.

    Parameters
    ----------
    column : ChunkedArray
        Column of strings or dictionary-encoded strings.
    decimal : str or None
        Decimal mark, if known; 1,234 would be ambiguous otherwise.
    """
    coded = pa.types.is_dictionary(column.type)
    texts = (column.chunk(0).dictionary if coded else column.combine_chunks()).cast(pa.string())
    if not _look_like_numbers(texts.slice(0, _LOOKED_AT)):
        return ParsedNumbers()
    texts, there = _strip_and_mask(texts)
    if pc.any(pc.match_substring_regex(texts, _CODE)).as_py():
        return ParsedNumbers()  # postcodes and other codes, whose zeros would be lost
    parts = _parts(pc.if_else(there, texts, None))
    body = pc.struct_field(parts, "body")
    if not _share_one_unit(parts):
        return ParsedNumbers()  # mixed units in one column
    fits = {sign: pc.fill_null(pc.match_substring_regex(body, _number_pattern(sign)), False) for sign in ".,"}
    sure = [sign for sign in ".," if pc.all(pc.or_(fits[sign], pc.invert(there))).as_py()]
    if not sure:
        return ParsedNumbers(note=_mixed_content_note(name, column, texts, there, fits))
    if len(sure) == 2 and pc.any(pc.match_substring_regex(body, "[.,]")).as_py():
        if decimal is None:
            return ParsedNumbers(
                note=_ambiguous_note(name, pc.filter(body, pc.match_substring_regex(body, "[.,]"))[0].as_py())
            )
        sure = [decimal]
    values = _values(parts, sure[0])
    indices = column.combine_chunks().indices if coded else None
    return ParsedNumbers(pa.chunked_array([values if indices is None else values.take(indices)]))


def _look_like_numbers(texts: pa.Array) -> bool:
    """Whether more than half of the first texts look like numbers, which quickly excludes most text columns."""
    texts, there = _strip_and_mask(texts)
    parts = _parts(texts.filter(there))
    return bool(2 * parts.null_count < len(parts))


def _strip_and_mask(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Stripped texts, negative amounts with a sign, and a mask of the nonempty ones."""
    texts = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), _IN_BRACKETS, r"-\1")
    return texts, pc.and_(texts.is_valid(), pc.invert(pc.is_in(texts, pa.array(DASHES))))


def _parts(texts: pa.Array) -> pa.StructArray:
    return pc.extract_regex(texts, _PARTS)


def _share_one_unit(parts: pa.StructArray) -> bool:
    signs = pc.binary_join_element_wise(pc.struct_field(parts, "before"), pc.struct_field(parts, "after"), "")
    return len(pc.unique(signs.drop_null())) <= 1


def _number_pattern(decimal: str) -> str:
    other = "," if decimal == "." else "."
    whole = rf"[1-9]\d{{0,2}}(?:(?:[{other}]\d{{3}})+|(?:{_THOUSANDS_ONLY}\d{{3}})+)|\d*"
    return rf"^(?:{whole})(?:[{decimal}]\d+)?$"


def _values(parts: pa.StructArray, decimal: str) -> pa.Array:
    thousands = "," if decimal == "." else "."
    plain = pc.replace_substring_regex(pc.struct_field(parts, "body"), rf"{_THOUSANDS_ONLY}|[{thousands}]", "")
    plain = pc.replace_substring(plain, ",", ".")
    numbers = plain.cast(pa.float64())
    signs = pc.binary_join_element_wise(pc.struct_field(parts, "sign"), pc.struct_field(parts, "minus"), "")
    numbers = pc.if_else(pc.match_substring_regex(signs, "[-−]"), pc.negate(numbers), numbers)
    whole = not pc.any(pc.match_substring(plain, ".")).as_py() and pc.max(pc.abs(numbers)).as_py() < 2.0**53
    return numbers.cast(pa.int64()) if whole else numbers


def _ambiguous_note(name: str, example: str) -> str:
    return Message(
        "Column {name!r} was left as text: {example} may be {small} or {large}. If it is the first, give --decimal "
        "{sign!r}; if the second, --decimal {other!r}.",
        name=name,
        example=example,
        small=example.replace(",", "."),
        large=example.replace(",", "").replace(".", ""),
        sign="," if "," in example else ".",
        other="." if "," in example else ",",
    )


def _mixed_content_note(
    name: str, column: pa.ChunkedArray, texts: pa.Array, there: pa.Array, fits: dict[str, pa.Array]
) -> str:
    """A note on a text column that consists almost entirely of numbers, since the model cannot use it."""
    best = max(fits.values(), key=lambda fit: pc.sum(fit).as_py() or 0)
    n, fitting = pc.sum(there).as_py(), pc.sum(best).as_py() or 0
    if n < _MANY or fitting < _ALMOST * n:
        return ""
    odd = texts.filter(pc.and_(there, pc.invert(best)))[0].as_py()
    trimmed = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return Message(
        "Column {name!r} was left as text: {k:,} of its {n:,} different texts are numbers, but {odd!r} (row {row}) is "
        "none. Correct or empty such cells to have numbers.",
        name=name,
        k=fitting,
        n=n,
        odd=odd,
        row=pc.index(trimmed, odd).as_py() + 1,
    )
