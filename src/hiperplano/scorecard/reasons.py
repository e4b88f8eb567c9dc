"""Reasons for a score: the variables in which an applicant lost points, and the full sum for one applicant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.scorecard.points import VariablePoints
from hiperplano.scorecard.table import Table

REFERENCES = ("best", "average")


@dataclass(frozen=True)
class Reasons:
    """The variables in which each applicant lost most points.

    Attributes
    ----------
    variables, bins : ndarray of str of shape (n, k)
        The variable and the applicant's bin, the largest loss first; empty if fewer than k variables lose points.
    lost : ndarray of shape (n, k)
        Points lost; 0 if there is no reason.
    """

    variables: Array
    bins: Array
    lost: Array

    def to_pandas(self) -> Any:
        """One row for each applicant, three columns for each reason.

        Returns
        -------
        pandas.DataFrame
            Columns `reason 1`, `bin 1`, `lost 1`, `reason 2`, …
        """
        import pandas as pd

        return pd.DataFrame(
            {
                f"{name} {k + 1}": values[:, k]
                for k in range(self.lost.shape[1])
                for name, values in (("reason", self.variables), ("bin", self.bins), ("lost", self.lost))
            }
        )


def find_reasons(variables: Sequence[VariablePoints], codes: Array, k: int, against: str) -> Reasons:
    """The k largest losses of each row.

    Parameters
    ----------
    codes : ndarray of int of shape (n, variables)
    against : {"best", "average"}
        Points are lost against the best bin of a variable, or against its average over the training rows.
    """
    lost = np.stack([_reference(each, against) - each.points[codes[:, j]] for j, each in enumerate(variables)], axis=1)
    k = min(k, len(variables))
    order = np.argsort(-lost, axis=1, kind="stable")[:, :k]
    amounts = np.take_along_axis(lost, order, axis=1)
    counts = amounts > 0
    names = np.array([each.name for each in variables], dtype=object)[order]
    bins = np.empty(lost.shape, dtype=object)
    for j, each in enumerate(variables):
        bins[:, j] = np.array(each.labels, dtype=object)[codes[:, j]]
    shown = np.take_along_axis(bins, order, axis=1)
    return Reasons(np.where(counts, names, ""), np.where(counts, shown, ""), np.where(counts, amounts, 0.0))


def _reference(variable: VariablePoints, against: str) -> float:
    return variable.best if against == "best" else variable.average


@dataclass(frozen=True, repr=False)
class Explanation(Table):
    """The score of one applicant as a sum over the variables.

    Attributes
    ----------
    score : float
        Total points.
    probability : float
        Probability of the event, before points are rounded.
    title, columns, notes
        As in `Table`.
    """

    score: float = np.nan
    probability: float = np.nan


def explain_row(
    variables: Sequence[VariablePoints], codes: Array, values: Sequence[Any], base_points: float, probability: float
) -> Explanation:
    """Add up the points of one row.

    Parameters
    ----------
    codes : ndarray of int of shape (variables,)
    values : sequence
        Values of the columns.
    """
    points = np.array([each.points[code] for each, code in zip(variables, codes.tolist(), strict=True)])
    best, average = (np.array([_reference(each, against) for each in variables]) for against in REFERENCES)
    order = np.argsort(points - best, kind="stable")
    columns: dict[str, Any] = {
        "variable": [variables[j].name for j in order],
        "value": [_shown(values[j]) for j in order],
        "bin": [variables[j].labels[codes[j]] for j in order],
        "points": points[order],
        "lost_to_best": (best - points)[order],
        "lost_to_average": np.round((average - points)[order], 2),
    }
    score = float(points.sum() + base_points)
    title = Message("{score:g} points, probability of the event {p:.2%}", score=score, p=probability)
    notes = [Message("base points, the same for everybody: {points:g}", points=base_points)] if base_points else []
    return Explanation(title, columns, tuple(notes), score=score, probability=float(probability))


def _shown(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
