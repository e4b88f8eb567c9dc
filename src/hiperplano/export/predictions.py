"""Predictions of a model in the shape of an export's result, and comparison of two such predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import _check_feature_names

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.export.formula import Formula
from hiperplano.features.coding import Coding
from hiperplano.features.table_columns import TableColumns


@dataclass(frozen=True)
class Predictions:
    """Numbers and labels of rows; NaN and None for rows without a prediction.

    Attributes
    ----------
    numbers : dict of str to ndarray of shape (n, k)
        "prediction", or "score", "probability" and, for scorecards, "points".
    labels : list or None
        None for regressors.
    """

    numbers: dict[str, Array]
    labels: list[Any] | None
    cutoff: float = 0.0

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.numbers.values())))

    @property
    def refused(self) -> Array:
        """Rows without a prediction."""
        return np.asarray(np.isnan(next(iter(self.numbers.values()))).all(axis=1))

    @classmethod
    def of_table(cls, names: list[str], rows: list[tuple[Any, ...]], like: Predictions) -> Predictions:
        """The result of a statement, with columns `score` or `score_…`, `probability…` and `label`."""
        numbers = {}
        for kind, expected in like.numbers.items():
            places = [place for place, name in enumerate(names) if name == kind or name.startswith(f"{kind}_")]
            cells = [[np.nan if row[place] is None else float(row[place]) for place in places] for row in rows]
            numbers[kind] = np.array(cells, dtype=np.float64).reshape(len(rows), expected.shape[1])
        labels = None if like.labels is None else [row[names.index("label")] for row in rows]
        return cls(numbers, labels)

    def compare(self, found: Predictions, tolerance: float) -> tuple[float, list[int]]:
        """The largest difference, and the numbers of the rows that differ."""
        wrong = np.zeros(self.n_rows, dtype=bool)
        largest = 0.0
        for kind, expected in self.numbers.items():
            got = found.numbers[kind]
            wrong |= (np.isnan(expected) != np.isnan(got)).any(axis=1)
            with np.errstate(invalid="ignore"):
                apart = np.abs(got - expected) / np.maximum(1.0, np.abs(expected))
            apart = np.where(got == expected, 0.0, apart)
            largest = max(largest, float(np.nanmax(apart, initial=0.0)))
            wrong |= (np.nan_to_num(apart) > tolerance).any(axis=1)
        if self.labels is not None and found.labels is not None:
            other = np.array([not _same(a, b) for a, b in zip(self.labels, found.labels, strict=True)], dtype=bool)
            wrong |= other & ~self._tied(tolerance)
        return largest, np.flatnonzero(wrong).tolist()

    def _tied(self, tolerance: float) -> Array:
        """Rows in which rounding errors may decide."""
        scores = self.numbers["score"]
        if scores.shape[1] == 1:
            gaps = np.abs(scores[:, 0] - self.cutoff)
        else:
            in_order = np.sort(scores, axis=1)
            gaps = in_order[:, -1] - in_order[:, -2]
        return np.asarray(gaps <= tolerance * np.maximum(1.0, np.abs(scores).max(axis=1)))


def model_predictions(model: Any, X: Any, formula: Formula) -> Predictions:
    """Predictions of a model; rejected rows have NaN, and None as label."""
    _refuse_other_columns(model, X)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    rows = X if hasattr(X, "shape") else np.asarray(X)
    parts = _by_halves(model, rows, formula, 0, n_rows)
    numbers = {kind: np.vstack([part.numbers[kind] for part in parts]) for kind in parts[0].numbers}
    labels = None if parts[0].labels is None else [label for part in parts for label in part.labels or []]
    return Predictions(numbers, labels, 0.0 if formula.decision is None else formula.decision.cutoff)


def _refuse_other_columns(model: Any, X: Any) -> None:
    """Raise an error for columns that are not those of the fit: they are an error of the call, not of a row."""
    first = model[0] if hasattr(model, "steps") else model
    if not isinstance(first, Coding | TableColumns | ColumnTransformer):  # these look columns up by name
        _check_feature_names(first, X, reset=False)


def _by_halves(model: Any, rows: Any, formula: Formula, start: int, stop: int) -> list[Predictions]:
    """Predictions of all rows; rejected rows are found by bisection."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # in rows that will be rejected
            return [_predict(model, _slice(rows, start, stop), formula)]
    except (InvalidData, ValueError):
        if stop - start == 1:
            return [_none(formula)]
    middle = (start + stop) // 2
    return _by_halves(model, rows, formula, start, middle) + _by_halves(model, rows, formula, middle, stop)


def _slice(rows: Any, start: int, stop: int) -> Any:
    return rows.iloc[start:stop] if hasattr(rows, "iloc") else rows[start:stop]


def _predict(model: Any, rows: Any, formula: Formula) -> Predictions:
    if formula.decision is None:
        found = np.asarray(model.predict(rows), dtype=np.float64)
        return Predictions({"prediction": found.reshape(len(found), -1)}, None)
    scores = np.asarray(model.decision_function(rows), dtype=np.float64)
    numbers = {"score": scores.reshape(len(scores), -1)}
    if formula.decision.link is not None:
        shares = np.asarray(model.predict_proba(rows), dtype=np.float64)
        numbers["probability"] = shares[:, 1:] if numbers["score"].shape[1] == 1 else shares
    if formula.points is not None:
        card, cells = (model[-1], model[:-1].transform(rows)) if hasattr(model, "steps") else (model, rows)
        numbers["points"] = np.asarray(card.score_points(cells), dtype=np.float64)[:, None]
    return Predictions(numbers, np.asarray(model.predict(rows)).tolist())


def _none(formula: Formula) -> Predictions:
    width = formula.scores.n_scores
    gap = np.full((1, width), np.nan)
    if formula.decision is None:
        return Predictions({"prediction": gap}, None)
    numbers = {"score": gap} | ({"probability": gap} if formula.decision.link is not None else {})
    numbers |= {"points": gap} if formula.points is not None else {}
    return Predictions(numbers, [None])


def _same(expected: Any, found: Any) -> bool:
    if expected is None or found is None:
        return expected is found
    return bool(expected == found)
