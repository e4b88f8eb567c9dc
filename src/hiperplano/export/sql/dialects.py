"""Differences between database systems: numbers, empty and infinite cells, text, dates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from sqlglot import exp

from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.export.formula import Cell

LARGEST = 1.7976931348623157e308
_EXACT_DIGITS = 15  # number of digits that SQLite reads without rounding
_END = "|"  # terminates a text in T-SQL, which ignores trailing blanks in comparisons

Expression = Any


@dataclass(frozen=True)
class Dialect:
    """One database system.

    Attributes
    ----------
    has_nan : {"equal", "unequal", ""}
        Whether NaN exists, and whether it equals itself.
    decimal : bool
        Whether a number with a point is decimal, and becomes a float only with an exponent.
    typed : bool
        Whether a constant must be cast to be a float.
    fence : bool
        Whether a subquery must be marked to be computed only once.
    microseconds : function
        From a date to microseconds since 1970.
    """

    name: str
    has_nan: str
    decimal: bool
    typed: bool
    fence: bool
    microseconds: Callable[[Expression], Expression]

    def number(self, value: float, exact: bool = False) -> Expression:
        """A constant with all its digits.

        Parameters
        ----------
        exact : bool, default=False
            Whether the database must read it without rounding, for comparisons. SQLite reads 15 digits exactly, and
            further ones approximately.
        """
        value = float(value)
        if not isfinite(value):
            raise NotAvailable("an infinite number cannot be written in SQL. Fit without infinite codes.")
        text = repr(value).removesuffix(".0") if self.decimal else repr(value)
        if (
            exact
            and self.name == "sqlite"
            and len(text.partition("e")[0].strip("-0.").replace(".", "")) > _EXACT_DIGITS
        ):
            upper, lower = value.as_integer_ratio()
            if abs(upper) < 2**63 and lower < 2**1000:
                return exp.paren(divided(self.number(float(upper)), self.number(float(lower))))
        if self.decimal and "e" not in text:
            text += "e0"
        return exp.Literal.number(text) if not text.startswith("-") else exp.Neg(this=exp.Literal.number(text[1:]))

    def double(self, value: float) -> Expression:
        """A constant that is certainly a float."""
        return as_double(self.number(value)) if self.typed else self.number(value)

    def text(self, value: str) -> Expression:
        """A text to compare a cell with."""
        if "\0" in value:
            raise NotAvailable(
                "the category {value!r} holds the character NUL, which SQL cannot write. Fit without it.", value=value
            )
        return exp.National(this=value + _END) if self.name == "tsql" else exp.Literal.string(value)

    def label(self, value: Any) -> Expression:
        """A constant of the result: text, number or boolean."""
        if isinstance(value, bool):
            bit = exp.cast(exp.Literal.number(int(value)), exp.DataType.build("BIT", dialect="tsql"))
            return bit if self.name == "tsql" else exp.Boolean(this=value)
        if isinstance(value, int):
            return exp.Literal.number(value)
        if isinstance(value, float):
            return self.double(value)
        return exp.National(this=str(value)) if self.name == "tsql" else exp.Literal.string(str(value))

    def cell(self, cell: Cell, column: Expression) -> Expression:
        """A column as used in formulas: a float or a text, NULL if it is empty."""
        if cell.kind in ("text", "label"):
            return self._text_cell(column)
        found = as_double(self.microseconds(column) if cell.kind == "date" else column)
        if self.name == "sqlite" and cell.kind == "number":  # in other databases, a numeric column holds no text
            numeric = exp.In(
                this=exp.Anonymous(this="TYPEOF", expressions=[column]), expressions=_texts("integer", "real")
            )
            found = exp.Case().when(numeric, found)
        if cell.kind == "number" and self.has_nan == "equal":
            found = exp.Nullif(this=found, expression=as_double(exp.Literal.string("NaN")))
        elif cell.kind == "number" and self.has_nan == "unequal":
            found = exp.Case().when(exp.Anonymous(this="IS_NAN", expressions=[found]), exp.null()).else_(found.copy())
        for code in cell.codes:
            found = exp.Nullif(this=found, expression=self.number(code, exact=True))
        return found

    def _text_cell(self, column: Expression) -> Expression:
        """A text in which every character counts."""
        if self.name == "tsql":
            text = exp.cast(column, exp.DataType.build("NVARCHAR(4000)", dialect="tsql"))
            closed = exp.paren(exp.Add(this=text, expression=exp.National(this=_END)))
            return exp.Collate(this=closed, expression=exp.var("Latin1_General_100_BIN2"))
        text = exp.cast(column, exp.DataType.build("TEXT"))
        return exp.Collate(this=text, expression=exp.var("BINARY")) if self.name == "sqlite" else text

    def spellings(self, label: str) -> list[str]:
        """Possible spellings of a number or boolean in this system, the label itself first."""
        found = [label]
        if label in ("true", "false"):
            found.append("1" if label == "true" else "0")
        elif label.removeprefix("-").isdecimal() and str(int(label)) == label:
            found += [f"{label}.0"] + (["-0", "-0.0"] if label == "0" else [])
        return list(dict.fromkeys(found))


def as_double(expression: Expression) -> Expression:
    """A float of 64 bits."""
    return exp.cast(expression, exp.DataType.build("DOUBLE"))


def divided(upper: Expression, lower: Expression) -> Expression:
    """A quotient of floats."""
    return exp.Div(this=upper, expression=lower, typed=True, safe=False)


def identifier(name: str) -> Expression:
    """A quoted name."""
    return exp.to_identifier(name, quoted=True)


def total(terms: Iterable[Expression], most: int = 24) -> Expression:
    """A sum in parentheses of at most `most` terms, since SQLite rejects expressions that are deeper than 1000."""
    terms = list(terms)
    while len(terms) > most:
        terms = [exp.paren(_chain(terms[i : i + most]), copy=False) for i in range(0, len(terms), most)]
    return _chain(terms)


def _chain(terms: list[Expression]) -> Expression:
    found = terms[0]
    for term in terms[1:]:
        found = exp.Add(this=found, expression=term)
    return found


def extreme(function: type[Expression], values: list[Expression], most: int = 100) -> Expression:
    """The largest or smallest of several, nested since SQLite allows 127 arguments."""
    while len(values) > 1:
        values = [_of(function, values[i : i + most]) for i in range(0, len(values), most)]
    return values[0]


def _of(function: type[Expression], values: list[Expression]) -> Expression:
    return values[0] if len(values) == 1 else function(this=values[0], expressions=values[1:])


def _texts(*values: str) -> list[Expression]:
    return [exp.Literal.string(value) for value in values]


def _call(name: str, *arguments: Expression) -> Expression:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _as(expression: Expression, kind: str) -> Expression:
    return exp.cast(expression, exp.DataType.build(kind))


def _postgres_time(column: Expression) -> Expression:
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=_as(column, "TIMESTAMP"))
    return exp.Mul(this=exp.paren(seconds), expression=exp.Literal.number(1_000_000))


def _duckdb_time(column: Expression) -> Expression:
    return _call("EPOCH_US", _as(column, "TIMESTAMP"))


def _sqlite_time(column: Expression) -> Expression:
    def part(form: str) -> Expression:
        return exp.cast(_call("STRFTIME", exp.Literal.string(form), column.copy()), exp.DataType.build("DOUBLE"))

    fraction = exp.Round(
        this=exp.Mul(
            this=exp.paren(exp.Sub(this=part("%f"), expression=part("%S"))), expression=exp.Literal.number("1000.0")
        )
    )
    whole = exp.Mul(this=part("%s"), expression=exp.Literal.number("1000000.0"))
    return exp.Add(this=whole, expression=exp.Mul(this=fraction, expression=exp.Literal.number("1000.0")))


def _bigquery_time(column: Expression) -> Expression:
    return _call("UNIX_MICROS", exp.cast(column, exp.DataType.build("TIMESTAMP", dialect="bigquery")))


def _snowflake_time(column: Expression) -> Expression:
    return _call("DATE_PART", exp.var("EPOCH_MICROSECOND"), exp.cast(column, exp.DataType.build("TIMESTAMPNTZ")))


def _tsql_time(column: Expression) -> Expression:
    def moment(value: Expression) -> Expression:
        return exp.cast(value, exp.DataType.build("DATETIME2", dialect="tsql"))

    return _call("DATEDIFF_BIG", exp.var("MICROSECOND"), moment(exp.Literal.string("1970-01-01")), moment(column))


DIALECTS = {
    each.name: each
    for each in (
        Dialect("postgres", "equal", decimal=False, typed=True, fence=True, microseconds=_postgres_time),
        Dialect("duckdb", "equal", decimal=True, typed=False, fence=False, microseconds=_duckdb_time),
        Dialect("sqlite", "", decimal=False, typed=False, fence=True, microseconds=_sqlite_time),
        Dialect("bigquery", "unequal", decimal=False, typed=False, fence=False, microseconds=_bigquery_time),
        Dialect("snowflake", "equal", decimal=True, typed=True, fence=False, microseconds=_snowflake_time),
        Dialect("tsql", "", decimal=True, typed=False, fence=False, microseconds=_tsql_time),
    )
}


def find_dialect(name: str) -> Dialect:
    """The dialect of a name."""
    if name not in DIALECTS:
        raise InvalidParameter(
            "dialect={name!r}; it must be one of {known}. Choose that of your database.",
            name=name,
            known=", ".join(DIALECTS),
        )
    return DIALECTS[name]
