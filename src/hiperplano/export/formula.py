"""A fitted model as formulas of a table's columns, from which SQL, ONNX and PMML are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array


@dataclass(frozen=True)
class Cell:
    """A column of the table.

    Attributes
    ----------
    kind : {"number", "date", "text", "label"}
        A date is in microseconds since 1970. A label is text, or the text of a number or boolean: `3` for 3.0, `true`
        for True.
    codes : tuple of float
        Numbers that stand for a missing value, in addition to NULL and NaN.
    """

    name: str
    kind: str = "number"
    codes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Number:
    """The number of a cell; missing if the cell is empty, and invalid if it is infinite."""

    cell: Cell


@dataclass(frozen=True)
class Imputed:
    """A feature, or `fill` if a cell of the feature is empty."""

    feature: Feature
    fill: float


@dataclass(frozen=True)
class Scaled:
    """(feature − shift) / scale."""

    feature: Feature
    shift: float
    scale: float


@dataclass(frozen=True)
class Combination:
    """Σ weight·feature + constant."""

    features: tuple[Feature, ...]
    weights: tuple[float, ...]
    constant: float


@dataclass(frozen=True)
class Lookup:
    """A number for each group of values.

    Attributes
    ----------
    groups : tuple of (values, number)
        Values are texts, or numbers for a numeric cell.
    empty, other : float or None
        For empty cells, and for values in no group.

    If the number is None, the row has no prediction.
    """

    cell: Cell
    groups: tuple[tuple[tuple[Any, ...], float | None], ...]
    empty: float | None
    other: float | None


@dataclass(frozen=True)
class Steps:
    """A number for each interval, values[i] on [cuts[i − 1], cuts[i]).

    Attributes
    ----------
    special : tuple of (codes, number)
        Codes that are looked up before the intervals.
    infinite : bool
        Whether infinities belong to the outer intervals; otherwise such a row has no prediction.
    """

    cell: Cell
    cuts: tuple[float, ...]
    values: tuple[float, ...]
    special: tuple[tuple[tuple[float, ...], float], ...] = ()
    empty: float | None = None
    infinite: bool = True


Feature = Number | Imputed | Scaled | Combination | Lookup | Steps


@dataclass(frozen=True)
class LinearScores:
    """coef·features + intercept, for coefficients of shape (scores, features)."""

    coef: Array
    intercept: Array

    @property
    def n_scores(self) -> int:
        return len(self.intercept)


@dataclass(frozen=True)
class QuadraticScores:
    """constant − ½·‖(features − mean)·whitening‖² for each class; for two classes, the second score minus the first."""

    means: Array
    whitening: Array
    constant: Array

    @property
    def n_scores(self) -> int:
        return 1 if len(self.constant) == 2 else len(self.constant)


@dataclass(frozen=True)
class KernelScores:
    """kernel(features, fitted)·coef + intercept, for coefficients of shape (rows of the fit, scores)."""

    kernel: Any
    fitted: Array
    coef: Array
    intercept: Array

    @property
    def n_scores(self) -> int:
        return len(self.intercept)


Scores = LinearScores | QuadraticScores | KernelScores


@dataclass(frozen=True)
class Decision:
    """How scores become probabilities and a label.

    Attributes
    ----------
    classes : list
        Labels of the scores; with one score, the first label if it is at most `cutoff`, else the second.
    link : {"softmax", "one-versus-rest"} or None
        How scores become probabilities: the logistic function of one score, the softmax of several, or logistic
        functions divided by their sum. None if the model has no probabilities.
    costs : ndarray of shape (decisions, classes), optional
        If given, the decision has the least expected cost, and `labels` has one entry for each decision.
    """

    classes: list[Any]
    link: str | None = None
    cutoff: float = 0.0
    costs: Array | None = None
    labels: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Formula:
    """A model: features of cells, scores of features, a decision by scores.

    Attributes
    ----------
    names : tuple of str
        Names of the features.
    cells : tuple of Cell
        All input columns of the model, in order, including unused ones.
    decision : Decision or None
        None for regressors, whose scores are their predictions.
    as_array : bool
        Whether the input is an array of numbers instead of a table with columns of several kinds.
    points : Combination, optional
        For a scorecard: the sum of the points of a row's bins.
    """

    cells: tuple[Cell, ...]
    features: tuple[Feature, ...]
    names: tuple[str, ...]
    scores: Scores
    decision: Decision | None
    as_array: bool
    points: Combination | None = None

    def used_features(self) -> list[tuple[Feature, int]]:
        """The features with a nonzero coefficient, and their numbers."""
        used = [True] * len(self.features)
        if not isinstance(self.scores, KernelScores):
            scores = self.scores
            coef = scores.coef.T if isinstance(scores, LinearScores) else scores.whitening.swapaxes(0, 1)
            used = np.any(coef.reshape(len(self.features), -1), axis=1).tolist()
        return [(feature, j) for j, feature in enumerate(self.features) if used[j]]

    def used_cells(self) -> frozenset[Cell]:
        """The cells that predictions depend on."""
        features = [feature for feature, _ in self.used_features()]
        return cells_in(features if self.points is None else [*features, self.points])


def is_empty(cell: Cell) -> Lookup:
    """1 if a cell is empty, else 0."""
    return Lookup(cell, (), 1.0, 0.0)


def scaled(feature: Feature, shift: float, scale: float) -> Feature:
    """(feature − shift) / scale; numbers in lookup tables are transformed directly."""

    def moved(number: float | None) -> float | None:
        return None if number is None else (number - shift) / scale

    match feature:
        case Lookup(cell, groups, empty, other):
            return Lookup(cell, tuple((values, moved(each)) for values, each in groups), moved(empty), moved(other))
        case Steps():
            values = tuple((each - shift) / scale for each in feature.values)
            special = tuple((codes, (each - shift) / scale) for codes, each in feature.special)
            return replace(feature, values=values, special=special, empty=moved(feature.empty))
        case _:
            return Scaled(feature, shift, scale)


def cells_of(feature: Feature) -> frozenset[Cell]:
    """The cells of a feature."""
    match feature:
        case Combination(features):
            return cells_in(features)
        case Imputed(inner) | Scaled(inner):
            return cells_of(inner)
        case _:
            return frozenset({feature.cell})


def finite_cells(features: Iterable[Feature]) -> frozenset[Cell]:
    """The cells in which an infinite number leaves the row without a prediction."""
    found: set[Cell] = set()
    for feature in features:
        match feature:
            case Combination(inner):
                found |= finite_cells(inner)
            case Imputed(one) | Scaled(one):
                found |= finite_cells([one])
            case Number(cell) | Steps(cell, infinite=False):
                found.add(cell)
    return frozenset(found)


def cells_in(features: Iterable[Feature]) -> frozenset[Cell]:
    """The cells of several features."""
    return frozenset(cell for feature in features for cell in cells_of(feature))
