"""Terms made of columns: a*b, log(x), x^2, spline(x, 4), month(d), weekday(d), age(d) and age(from, to)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.features.columns import Column
from hiperplano.features.encoders import CategoricalEncoder, numbers

_CALL = re.compile(r"(log|spline|month|weekday|age)\((.+)\)")
_POWER = re.compile(r"(.+)\^(\d)")
_YEAR = 365.2425
_MOST_KNOTS = 9


@dataclass(frozen=True)
class Term:
    """A term, as the user writes it.

    Attributes
    ----------
    text : str
        Its name in all outputs.
    kind : str
        "log", "spline", "month", "weekday", "age", "power" or "product".
    columns : tuple of Column
        Columns of the term.
    number : int
        The power, or the number of knots.
    knots : tuple of float
        Learned knots of a spline, or the reference day of an age.
    levels : tuple of str
        Learned categories of a product that have their own column.
    """

    text: str
    kind: str
    columns: tuple[Column, ...]
    number: int = 0
    knots: tuple[float, ...] = ()
    levels: tuple[str, ...] = ()

    def fitted(self, frame: Any) -> Term:
        """The term fitted to rows."""
        first = self.columns[0]
        if self.kind == "log" and bool(np.any(numbers(frame[first.name], first) <= 0)):
            raise InvalidData(
                "--term {term}: {name} holds numbers of 0 or less, which have no logarithm. Leave the term out.",
                term=self.text,
                name=first.name,
            )
        if self.kind == "spline":
            return replace(self, knots=_knots(numbers(frame[first.name], first), self))
        if self.kind == "age" and len(self.columns) == 1:
            return replace(self, knots=(float(np.nanmax(numbers(frame[first.name], first))),))
        nominal = [column for column in self.columns if column.kind == "nominal"]
        if self.kind == "product" and len(nominal) == 1:
            encoder = CategoricalEncoder.of(nominal[0], frame[nominal[0].name])
            return replace(self, levels=tuple(level for level in encoder.kept if level in encoder.known))
        return self

    def made(self) -> list[Column]:
        """Names of its output columns."""
        nominal = [column for column in self.columns if column.kind == "nominal"]
        if self.kind in ("month", "weekday") or (self.kind == "product" and len(nominal) == 2):
            return [Column(self.text, "nominal")]
        if self.levels:
            return [Column(f"{self.text} [{level}]", "numeric") for level in self.levels]
        if self.kind == "spline":
            return [Column(f"{self.text} {k + 1}", "numeric") for k in range(len(self.knots) - 2)]
        return [Column(self.text, "numeric")]

    def values(self, frame: Any) -> list[Any]:
        """Values of its output columns."""
        series = [frame[column.name] for column in self.columns]
        if self.kind in ("month", "weekday"):
            part = series[0].dt.month if self.kind == "month" else series[0].dt.day_name()
            return [part.astype("Int64").astype("string") if self.kind == "month" else part]
        nominal = [k for k, column in enumerate(self.columns) if column.kind == "nominal"]
        if self.kind == "product" and len(nominal) == 2:
            return [(series[0].astype("string") + " × " + series[1].astype("string")).astype(object)]
        if self.levels:
            label = series[nominal[0]].astype(object)
            other = numbers(series[1 - nominal[0]], self.columns[1 - nominal[0]])
            return [np.where(label.astype(str) == level, other, 0.0) for level in self.levels]
        rows = [numbers(each, column) for each, column in zip(series, self.columns, strict=True)]
        return self._numbers(rows)

    def _numbers(self, rows: list[Array]) -> list[Array]:
        first = rows[0]
        if self.kind == "log":
            return [np.log(np.where(first > 0, first, np.nan))]
        if self.kind == "power":
            return [first**self.number]
        if self.kind == "spline":
            return list(_spline(first, np.array(self.knots)).T)
        if self.kind == "age":
            return [((rows[1] if len(rows) > 1 else self.knots[0]) - first) / _YEAR]
        return [first * rows[1]]


def parse_terms(texts: Sequence[str], columns: Sequence[Column]) -> list[Term]:
    """Parse terms, and find the columns that they name.

    Parameters
    ----------
    columns : sequence of Column
        Columns that a model uses.
    """
    known = {column.name: column for column in columns if column.used}
    return [_parse(text.strip(), known) for text in texts]


def _parse(text: str, known: dict[str, Column]) -> Term:
    call, power = _CALL.fullmatch(text), _POWER.fullmatch(text)
    if call and call[1] == "spline":
        name, _comma, count = call[2].rpartition(",")
        knots = int(count) if count.strip().isdigit() else 0
        if not 3 <= knots <= _MOST_KNOTS:
            raise InvalidParameter(
                "--term {term}: a spline needs 3 to {most} knots, as spline(age, 4).", term=text, most=_MOST_KNOTS
            )
        return Term(text, "spline", _columns(text, [name], known, ("numeric", "date")), knots)
    if call:
        names = [call[2]] if call[2] in known else call[2].split(",")
        kinds = ("numeric",) if call[1] == "log" else ("date",)
        if len(names) > (2 if call[1] == "age" else 1):
            raise InvalidParameter("--term {term}: too many columns in the brackets.", term=text)
        return Term(text, call[1], _columns(text, names, known, kinds))
    if power:
        return Term(text, "power", _columns(text, [power[1]], known, ("numeric",)), int(power[2]))
    names = text.split("*")
    if len(names) != 2:
        raise InvalidParameter(
            "--term {term}: known terms are a*b, log(x), x^2, spline(x, 4), month(d), weekday(d) and age(d).", term=text
        )
    return Term(text, "product", _columns(text, names, known, ("numeric", "ordered", "date", "nominal")))


def _columns(text: str, names: Sequence[str], known: dict[str, Column], kinds: tuple[str, ...]) -> tuple[Column, ...]:
    found = []
    for name in (each.strip() for each in names):
        if name not in known or known[name].kind not in kinds:
            fitting = [each.name for each in known.values() if each.kind in kinds]
            raise InvalidParameter(
                "--term {term}: {name!r} is not one of the columns that fit it ({names}).",
                term=text,
                name=name,
                names=", ".join(fitting[:8]) or "–",
            )
        found.append(known[name])
    return tuple(found)


def _knots(values: Array, term: Term) -> tuple[float, ...]:
    """Quantiles from 5% to 95%."""
    known = values[~np.isnan(values)]
    knots = np.unique(np.quantile(known, np.linspace(0.05, 0.95, term.number))) if len(known) else np.empty(0)
    if len(knots) < 3:
        raise InvalidData(
            "--term {term}: the column has too few different values for a spline. Leave the term out.", term=term.text
        )
    return tuple(knots.tolist())


def _spline(x: Array, knots: Array) -> Array:
    """Natural cubic splines, which are linear outside their knots: knots − 2 columns in addition to the linear one."""
    last, before = knots[-1], knots[-2]

    def cubed(at: float) -> Array:
        return np.asarray(np.maximum(x - at, 0.0) ** 3)

    columns = [
        cubed(knot) - cubed(before) * (last - knot) / (last - before) + cubed(last) * (before - knot) / (last - before)
        for knot in knots[:-2]
    ]
    return np.asarray(np.column_stack(columns) / (last - knots[0]) ** 2)


def with_terms(frame: Any, terms: Sequence[Term]) -> Any:
    """A frame with the columns of fitted terms."""
    made = {
        column.name: values for term in terms for column, values in zip(term.made(), term.values(frame), strict=True)
    }
    return frame.assign(**made) if made else frame
