"""Costs of decisions, read from a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidFile
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.costs import binary_costs, check_costs

_ = translator("terminal")

_OUTCOMES = ("false_negative", "false_positive", "true_negative", "true_positive")


def read_costs(path: Path, classes: list[Any], positive: Any) -> Array:
    """costs[j, k], the cost of deciding class j where class k is true, in the order of the classes.

    Parameters
    ----------
    classes : list
        Labels of the target, sorted.
    positive : object
        The positive one of two classes.

    Returns
    -------
    ndarray of shape (decisions, classes)
    """
    if not path.is_file():
        raise InvalidFile(_("{file}: there is no such file. Check the path.", file=path))
    try:
        text = path.read_text(encoding="utf-8-sig")
        if text.lstrip().startswith("{"):
            return _from_outcomes(path, json.loads(text), classes, positive)
        return _from_table(path, text, [str(label) for label in classes])
    except (ValueError, UnicodeDecodeError) as problem:
        if isinstance(problem, InvalidFile):
            raise
        raise InvalidFile(_("{file} holds no costs ({why}). {form}", file=path, why=problem, form=_form())) from problem


def _from_outcomes(path: Path, given: dict[str, Any], classes: list[Any], positive: Any) -> Array:
    if len(classes) != 2 or not {"false_negative", "false_positive"} <= set(given) <= set(_OUTCOMES):
        raise InvalidFile(_("{file} names {names}. {form}", file=path, names=", ".join(map(repr, given)), form=_form()))
    costs = binary_costs(**{name: float(value) for name, value in given.items()})
    return costs if classes.index(positive) == 1 else costs[::-1, ::-1]


def _from_table(path: Path, text: str, labels: list[str]) -> Array:
    lines = text.splitlines()
    separator = next((sign for sign in ";\t" if sign in lines[0]), ",")
    head, *rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator) if row]
    decisions = [row[0] for row in rows]
    if sorted(head[1:]) != sorted(labels) or sorted(decisions) != sorted(labels):
        raise InvalidFile(
            _(
                "{file} has the decisions {decisions} and the true classes {classes}; the target has the classes "
                "{labels}. {form}",
                file=path,
                decisions=", ".join(decisions),
                classes=", ".join(head[1:]),
                labels=", ".join(labels),
                form=_form(),
            )
        )
    by_decision = {row[0]: dict(zip(head[1:], map(float, row[1:]), strict=True)) for row in rows}
    return check_costs(np.array([[by_decision[j][k] for k in labels] for j in labels]), len(labels))


def _form() -> str:
    return _(
        "Write a CSV with a row for each decision and a column for each true class, the labels in the first row and "
        "column; or a JSON object with false_negative and false_positive."
    )
