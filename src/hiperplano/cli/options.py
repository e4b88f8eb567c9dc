"""Options that several subcommands share.

Each option is a function, so that its help is in the language in use when the command is built.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer import Argument, BadParameter, Option

from hiperplano.messages.catalogue import LANGUAGES, translator

_ = translator("terminal")


def language() -> Any:
    """--lang."""
    return Option("--lang", help=_("Language: en or es; by default that of the locale."), callback=_known_language)


def table() -> Any:
    """FILE."""
    return Argument(
        metavar="FILE", help=_("A table: CSV (also .gz), Excel, Parquet, Arrow or Feather."), show_default=False
    )


def tables() -> Any:
    """FILE, FOLDER or PATTERN."""
    return Argument(
        metavar="FILE",
        help=_("A table: CSV (also .gz), Excel, Parquet, Arrow or Feather; or a folder or pattern of such files."),
        show_default=False,
    )


def stream() -> Any:
    """--stream."""
    return Option("--stream", help=_("Read the table some rows at a time, as is done where it would not fit."))


def model_file() -> Any:
    """MODEL."""
    return Argument(metavar="MODEL", help=_("A model that `hiperplano fit` wrote (model.skops)."), show_default=False)


def target() -> Any:
    """--target."""
    return Option("--target", "-t", metavar="COLUMN", help=_("The target column."), show_default=False)


def saved_target() -> Any:
    """--target of a table for a saved model."""
    return Option("--target", "-t", metavar="COLUMN", help=_("The target column, if it has another name."))


def positive() -> Any:
    """--positive."""
    return Option(metavar="LABEL", help=_("The positive class of two, for example 'default'."))


def cost() -> Any:
    """--cost."""
    return Option(
        "--cost",
        metavar="FILE",
        help=_(
            "What mistakes cost: a CSV with a row for each decision and a column for each true class, or a JSON file "
            "with false_negative and false_positive."
        ),
    )


def seed() -> Any:
    """--seed."""
    return Option(help=_("Random seed."))


def kind() -> Any:
    """--kind."""
    return Option(
        "--kind",
        metavar="COLUMN=KIND",
        help=_("Override the inferred kind: numeric, ordered, nominal, date, identifier. May be repeated."),
    )


def drop() -> Any:
    """--drop."""
    return Option("--drop", metavar="COLUMN", help=_("Drop a column. May be repeated."))


def only() -> Any:
    """--only."""
    return Option("--only", metavar="COLUMN", help=_("Use this column and no other. May be repeated."))


def sheet() -> Any:
    """--sheet."""
    return Option("--sheet", metavar="NAME", help=_("Sheet of an Excel file, by name or number; the first by default."))


def term() -> Any:
    """--term."""
    return Option(
        "--term",
        metavar="TERM",
        help=_("Add a term: a*b, log(x), x^2, spline(x, 4), month(d), weekday(d), age(d). May be repeated."),
    )


def order() -> Any:
    """--order."""
    return Option(
        "--order",
        metavar="COLUMN=LOW,…,HIGH",
        help=_("The values of an ordered column from low to high. May be repeated."),
    )


def missing() -> Any:
    """--missing."""
    return Option(
        "--missing",
        metavar="COLUMN=VALUE,…",
        help=_(
            "Values that stand for no value, such as income=999 or '*=-9,-8,-7' for all columns (nothing after = for "
            "none). May be repeated."
        ),
    )


def fill() -> Any:
    """--fill."""
    return Option(help=_("Missing numbers: median of the column, or model (from the other columns)."))


def task() -> Any:
    """--task."""
    return Option(help=_("classification or regression; inferred from the target by default."))


def separator() -> Any:
    """--separator."""
    return Option(metavar="SIGN", help=_("Field separator of a CSV; detected by default."))


def decimal() -> Any:
    """--decimal."""
    return Option(metavar="SIGN", help=_("Decimal mark of a CSV; detected by default."))


def as_json() -> Any:
    """--json."""
    return Option("--json", help=_("Print one JSON object instead of tables."))


def quiet() -> Any:
    """--quiet."""
    return Option("--quiet", "-q", help=_("Print errors only."))


def debug() -> Any:
    """--debug."""
    return Option("--debug", help=_("Show the traceback of an error."))


def folder() -> Any:
    """--out."""
    return Option("--out", "-o", metavar="FOLDER", help=_("Output folder; created if missing."))


def pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """Split COLUMN=VALUE options.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    """
    found = {}
    for text in given or []:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise BadParameter(
                _("{text!r}: a column, a sign = and a value are needed, as in income=numeric", text=text),
                param_hint=option,
            )
        found[name.strip()] = value.strip()
    return found


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """A value of a list.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    """
    if value not in allowed:
        raise BadParameter(
            _("{value!r} is none of {allowed}", value=value, allowed=", ".join(allowed)), param_hint=option
        )
    return value


def share(option: str, value: float) -> float:
    """A share of the rows.

    Parameters
    ----------
    option : str
        Name of the option, for messages.
    """
    if not 0.0 < value < 1.0:
        raise BadParameter(_("{value} must lie between 0 and 1, as 0.3", value=value), param_hint=option)
    return value


def ensure_folder(folder: Path) -> Path:
    """Return an existing folder, created if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _known_language(value: str | None) -> str | None:
    return value if value is None else one_of("--lang", value, LANGUAGES)


_arguments: list[str] = []


def set_arguments(arguments: list[str]) -> None:
    """Store the command line, for the provenance in the report."""
    _arguments[:] = arguments


def given_arguments() -> list[str]:
    """The arguments typed after `hiperplano`."""
    return list(_arguments)
