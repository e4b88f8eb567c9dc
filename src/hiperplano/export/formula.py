"""A fitted model as formulas of a table's columns: what SQL, ONNX and PMML are written from."""

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
        A date counts as microseconds since 1970. A label is text, or a number or boolean of which
        the text is taken: `3` for 3.0, `true` for True.
    codes : tuple of float
        Numbers that stand for no value, in addition to NULL and NaN.
    """

    name: str
    kind: str = "number"
    codes: tuple[float, ...] = ()


@dataclass(frozen=True)
class Number:
    """The number of a cell; none where the cell is empty, and none that may be used where it is infinite."""

    cell: Cell


@dataclass(frozen=True)
class Imputed:
    """A feature, or `fill` where a cell that it is made of is empty."""

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
        Values are texts, or numbers where the cell is one.
    empty, other : float or None
        Where the cell is empty, and for values in no group.

    A number that is None leaves the row without a prediction.
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
        Numbers that are looked up before the intervals are.
    infinite : bool
        Infinities belong to the outer intervals; otherwise they leave the row without a prediction.
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
    """constant − ½·‖(features − mean)·whitening‖² for each class; for two, the second's less the first's."""

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
        Labels of the scores; with one score, the first where it is at most `cutoff`, else the second.
    link : {"softmax", "one-versus-rest"} or None
        How scores become probabilities: the logistic function of one score, the softmax of several, or logistic
        functions divided by their sum. None where the model has no probabilities.
    costs : ndarray of shape (decisions, classes), optional
        The decision of least expected cost is taken, and `labels` has one for each.
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
        Of the features.
    cells : tuple of Cell
        All columns that the model takes, also where it does not use them, in its order.
    decision : Decision or None
        None for regressors, whose scores are their predictions.
    as_array : bool
        The model takes an array of numbers, not a table of columns of several kinds.
    points : Combination, optional
        Of a scorecard: the sum of the points of a row's bins.
    """

    cells: tuple[Cell, ...]
    features: tuple[Feature, ...]
    names: tuple[str, ...]
    scores: Scores
    decision: Decision | None
    as_array: bool
    points: Combination | None = None

    def used_features(self) -> list[tuple[Feature, int]]:
        """The features that have a coefficient, and their numbers."""
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
    """1 where a cell is empty, else 0."""
    return Lookup(cell, (), 1.0, 0.0)


def scaled(feature: Feature, shift: float, scale: float) -> Feature:
    """(feature − shift) / scale; the numbers of tables are computed at once."""

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
    """The cells that a feature is made of."""
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
    """The cells that features are made of."""
    return frozenset(cell for feature in features for cell in cells_of(feature))
