"""Bins of columns as steps and lookups, for weights of evidence and points."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import NotAvailable
from hiperplano.export.formula import Cell, Combination, Decision, Feature, LinearScores, Lookup, Steps
from hiperplano.features.binning.bins import Bins, NumericBins
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.encoders import label_of
from hiperplano.scorecard.scorecard import Scorecard


def binned(name: str, bins: Bins, values: Array, known_only: bool = False) -> Feature:
    """A number for each bin of a column.

    Parameters
    ----------
    values : ndarray of shape (bins,)
    known_only : bool, default=False
        Whether a row with an unseen category has no prediction.
    """
    numbers = [float(value) for value in values]
    if isinstance(bins, NumericBins):
        cell = Cell(name, "date" if bins.kind == "date" else "number")
        special = tuple(zip(bins.special, numbers[bins.n_regular : bins.missing], strict=True))
        return Steps(cell, bins.cuts, tuple(numbers[: bins.n_regular]), special, numbers[bins.missing])
    kind, groups = _category_kind(name, bins.groups + bins.special)
    table = tuple(zip(groups, numbers[: bins.missing], strict=True))
    return Lookup(Cell(name, kind), table, numbers[bins.missing], None if known_only else numbers[bins.unseen])


def _category_kind(name: str, groups: tuple[tuple[Any, ...], ...]) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """The kind of a column of categories, and its groups with values of that kind."""
    values = [value for group in groups for value in group]
    if all(isinstance(value, str) for value in values):
        return "text", groups
    if all(isinstance(value, bool) for value in values):
        return "label", tuple(tuple(label_of(value) for value in group) for group in groups)
    if all(isinstance(value, int | float) for value in values):
        return "number", groups
    raise NotAvailable(
        "the categories of column {name!r} are not all texts, or all numbers; a column of a database has one kind. "
        "Make all of them texts, and fit again.",
        name=name,
    )


def encoded_columns(encoder: WoEEncoder) -> tuple[tuple[Feature, ...], tuple[str, ...]]:
    """The output features of a fitted `WoEEncoder`, and their names."""
    features = []
    for name, kept in zip(encoder.binnings_, encoder.support_.tolist(), strict=True):
        binning = encoder.binnings_[name]
        if kept:
            encoding = np.asarray(binning.encoding_, dtype=encoder.dtype).reshape(binning.bins_.n_bins, -1)
            strict = binning.handle_unknown == "error"
            features += [binned(name, binning.bins_, values, strict) for values in encoding.T]
    return tuple(features), tuple(encoder.get_feature_names_out().tolist())


def scorecard_parts(card: Scorecard) -> tuple[tuple[Feature, ...], LinearScores, Decision, Combination]:
    """The WoE of the variables, the score of the second class, its decision, and the sum of the points."""
    variables = card.variable_points()
    sign = 1.0 if card.event_ == card.classes_[1] else -1.0
    coef = np.array([[sign * each.coef for each in variables]])
    scores = LinearScores(coef, sign * np.asarray(card.model_.intercept_, dtype=np.float64))

    def feature(name: str, values: Array) -> Feature:
        binning = card.encoder_.binnings_[name]
        return binned(name, binning.bins_, values, binning.handle_unknown == "error")

    points = tuple(feature(each.name, each.points) for each in variables)
    return (
        tuple(feature(each.name, each.woe) for each in variables),
        scores,
        Decision(np.asarray(card.classes_).tolist(), "softmax"),
        Combination(points, (1.0,) * len(points), float(card.base_points_)),
    )
