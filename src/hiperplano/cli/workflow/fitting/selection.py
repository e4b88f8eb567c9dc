"""Selection of columns by backward elimination; every step is recorded."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.coding import Coding
from hiperplano.features.columns import Column
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.report.number_format import decimal

_ = translator("terminal")

CRITERIA = ("aic", "bic")
_MOST_COLUMNS = 60  # most columns, since each step fits as many models as there are columns left


@dataclass(frozen=True)
class Step:
    """A removed column or term, and the criterion before and after."""

    left_out: str
    before: float
    after: float


def eliminate(
    coding: Coding, frame: Any, y: Array, classification: bool, criterion: str, weight: Array | None = None
) -> list[Step]:
    """Remove, one by one, the column or term whose removal improves AIC or BIC most, until none does.

    A column is removed with all its categories and its indicator of missing values.

    Parameters
    ----------
    coding : Coding
        Unfitted coding of all columns.
    frame, y : training rows
    classification : bool
        Use unpenalised logistic regression; otherwise least squares.
    """
    rows = coding.fit_transform(frame)
    groups = {
        coder.column.name: [str(name) for name in coder.names if str(name) in rows.columns] for coder in coding.coders_
    }
    groups = {name: made for name, made in groups.items() if made}
    if len(groups) > _MOST_COLUMNS:
        raise InvalidData(
            _(
                "--select: {n} columns are too many for elimination one by one; at most {most} can be. Leave some out "
                "with --drop.",
                n=len(groups),
                most=_MOST_COLUMNS,
            )
        )

    def value(names: Sequence[str]) -> float:
        kept = [made for name in names for made in groups[name]]
        return _criterion(rows[kept], y, classification, criterion, weight)

    left, steps = list(groups), []
    now = value(left)
    while len(left) > 1:
        found = {name: value([other for other in left if other != name]) for name in left}
        best = min(found, key=lambda name: found[name])
        if found[best] >= now:
            break
        steps.append(Step(best, now, found[best]))
        left.remove(best)
        now = found[best]
    return steps


def without(columns: Sequence[Column], terms: Sequence[str], steps: Sequence[Step]) -> tuple[list[Column], list[str]]:
    """The columns, with removed ones marked, and the remaining terms."""
    gone = {step.left_out for step in steps}
    remaining = [term for term in terms if term not in gone]
    needed = {column.name for column in columns if any(column.name in term for term in remaining)}
    kept = [
        replace(column, kind="unselected", why=Message("left out by selection"))
        if column.name in gone - needed
        else column
        for column in columns
    ]
    return kept, remaining


def selection_note(steps: Sequence[Step], criterion: str) -> str:
    """The steps as one sentence."""
    if not steps:
        return Message("selection by {criterion}: every column stays", criterion=criterion.upper())
    way = ", ".join(f"{step.left_out} ({decimal(step.after, 1).text})" for step in steps)
    return Message(
        "selection by {criterion} from {first:,.1f}: left out in this order {way}",
        criterion=criterion.upper(),
        first=steps[0].before,
        way=way,
    )


def _criterion(rows: Any, y: Array, classification: bool, criterion: str, weight: Array | None) -> float:
    """−2·log-likelihood plus 2, or log n, per parameter."""
    from hiperplano import LinearRegression, LogisticRegression

    n = len(rows) if weight is None else float(weight.sum())
    price = 2.0 if criterion == "aic" else float(np.log(n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a separated fit still has a deviance
        if classification:
            model = LogisticRegression(C=np.inf).fit(rows, y, sample_weight=weight)
            scores = max(len(model.classes_) - 1, 1)
            return float(model.solution_.deviance) + price * scores * (rows.shape[1] + 1)
        residuals = y - LinearRegression().fit(rows, y, sample_weight=weight).predict(rows)
    squares = float(np.average(residuals**2, weights=weight))
    return n * float(np.log(max(squares, 1e-300))) + price * (rows.shape[1] + 2)
