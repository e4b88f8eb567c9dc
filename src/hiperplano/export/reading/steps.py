"""Steps of a pipeline: the output features of each from its input features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from hiperplano.data.design import Array
from hiperplano.errors import NotAvailable
from hiperplano.export.formula import Cell, Combination, Feature, Imputed, Number, Steps, cells_in, is_empty, scaled
from hiperplano.export.reading.bins import encoded_columns
from hiperplano.export.reading.categories import one_hot, ordinal
from hiperplano.export.reading.coding import coded_columns
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.binning.reading import is_missing
from hiperplano.features.coding import Coding
from hiperplano.scorecard.scorecard import Scorecard


@dataclass(frozen=True)
class Columns:
    """Features with their names."""

    features: tuple[Feature, ...]
    names: tuple[str, ...]

    def cells(self) -> frozenset[Cell]:
        return cells_in(self.features)

    def take(self, numbers: Any) -> Columns:
        """Some of the columns."""
        return Columns(tuple(self.features[j] for j in numbers), tuple(self.names[j] for j in numbers))


def takes_a_table(step: Any) -> bool:
    """Whether a first step, or a model, expects columns of several kinds instead of an array of numbers."""
    kinds = Coding | WoEEncoder | Scorecard | ColumnTransformer | OneHotEncoder | OrdinalEncoder
    return isinstance(step, kinds) or (isinstance(step, Pipeline) and takes_a_table(step[0]))


@singledispatch
def apply_step(step: Any, columns: Columns) -> Columns:
    """The output columns of a fitted step."""
    if isinstance(step, SelectorMixin):
        return columns.take(np.flatnonzero(step.get_support()))
    raise NotAvailable(
        "the step {step} cannot be exported: it is not known as a formula. Use scalers, imputers, one-hot and ordinal "
        "encoders, selectors or PCA of scikit-learn, or the encoders of hiperplano.",
        step=type(step).__name__,
    )


@apply_step.register
def _(step: Pipeline, columns: Columns) -> Columns:
    for _, each in step.steps:
        columns = columns if each is None or each == "passthrough" else apply_step(each, columns)
    return columns


@apply_step.register
def _(step: Coding, columns: Columns) -> Columns:
    return Columns(*coded_columns(step))


@apply_step.register
def _(step: WoEEncoder, columns: Columns) -> Columns:
    if not all(isinstance(feature, Number) for feature in columns.features):
        raise NotAvailable("the step WoEEncoder cannot be exported after another step. Put it first.")
    return Columns(*encoded_columns(step))


@apply_step.register
def _(step: ColumnTransformer, columns: Columns) -> Columns:
    features: list[Feature] = []
    names: list[str] = []
    for name, part, which in step.transformers_:
        chosen = columns.take(_column_numbers(which, columns.names))
        if (isinstance(part, str) and part == "drop") or not chosen.features:
            continue
        made = chosen if isinstance(part, str) else apply_step(part, chosen)
        place = step.output_indices_[name]
        if place.start != len(features) or place.stop - place.start != len(made.features):
            raise NotAvailable(
                "the step ColumnTransformer puts its columns in an order that export does not know. Use one without "
                "parts that share columns' places."
            )
        features += made.features
        names += made.names
    return Columns(tuple(features), tuple(names))


def _column_numbers(which: Any, names: tuple[str, ...]) -> list[int]:
    """Numbers of the columns that a ColumnTransformer passes to a part, given by names, numbers, mask or slice."""
    if isinstance(which, slice):
        if isinstance(which.start, str) or isinstance(which.stop, str):  # a slice by names includes the last one
            start = None if which.start is None else names.index(which.start)
            stop = None if which.stop is None else names.index(which.stop) + 1
            which = slice(start, stop)
        return list(range(len(names)))[which]
    listed = [which] if isinstance(which, str | int) else list(which)
    if listed and all(isinstance(each, bool | np.bool_) for each in listed):
        return [number for number, chosen in enumerate(listed) if chosen]
    return [names.index(each) if isinstance(each, str) else range(len(names))[each] for each in listed]


@apply_step.register
def _(step: FunctionTransformer, columns: Columns) -> Columns:
    if step.func is not None:
        raise NotAvailable(
            "the step FunctionTransformer cannot be exported: its function is not known as a formula. Compute the "
            "column in the table."
        )
    return columns


@apply_step.register
def _(step: StandardScaler, columns: Columns) -> Columns:
    return _scaled(columns, step.mean_ if step.with_mean else None, step.scale_)


@apply_step.register
def _(step: RobustScaler, columns: Columns) -> Columns:
    return _scaled(columns, getattr(step, "center_", None), getattr(step, "scale_", None))


@apply_step.register
def _(step: MaxAbsScaler, columns: Columns) -> Columns:
    _refuse_clipping(step)
    return _scaled(columns, None, step.scale_)


@apply_step.register
def _(step: MinMaxScaler, columns: Columns) -> Columns:
    _refuse_clipping(step)
    made = [
        Combination((feature,), (float(scale),), float(low))
        for feature, scale, low in zip(columns.features, step.scale_, step.min_, strict=True)
    ]
    return replace(columns, features=tuple(made))


def _scaled(columns: Columns, shifts: Array | None, scales: Array | None) -> Columns:
    d = len(columns.features)
    shifts = np.zeros(d) if shifts is None else np.asarray(shifts, dtype=np.float64)
    scales = np.ones(d) if scales is None else np.asarray(scales, dtype=np.float64)
    made = [
        scaled(feature, float(shift), float(scale))
        for feature, shift, scale in zip(columns.features, shifts, scales, strict=True)
    ]
    return replace(columns, features=tuple(made))


def _refuse_clipping(step: Any) -> None:
    if getattr(step, "clip", False):
        raise NotAvailable(
            "the step {step} with clip=True cannot be exported. Set clip=False.", step=type(step).__name__
        )


@apply_step.register
def _(step: SimpleImputer, columns: Columns) -> Columns:
    if not is_missing(step.missing_values):
        raise NotAvailable(
            "the step SimpleImputer(missing_values={code!r}) cannot be exported: only an empty cell counts as missing "
            "in SQL and ONNX. Make the value NaN before the fit, and NULL in the table.",
            code=step.missing_values,
        )
    fills = step.statistics_.tolist()
    kept = [j for j, fill in enumerate(fills) if fill == fill]  # columns without any value are dropped
    made: list[Feature] = [Imputed(columns.features[j], fills[j]) for j in kept]
    names = [columns.names[j] for j in kept]
    if step.indicator_ is not None:
        for j in step.indicator_.features_.tolist():
            (cell,) = columns.take([j]).cells()
            made.append(is_empty(cell))
            names.append(f"{columns.names[j]} missing")
    return Columns(tuple(made), tuple(names))


@apply_step.register(PCA)
@apply_step.register(TruncatedSVD)
def _(step: Any, columns: Columns) -> Columns:
    directions = np.asarray(step.components_, dtype=np.float64)
    if getattr(step, "whiten", False):
        directions = directions / np.sqrt(step.explained_variance_)[:, None]
    shifts = -(directions @ step.mean_) if getattr(step, "mean_", None) is not None else np.zeros(len(directions))
    made = [
        Combination(columns.features, tuple(direction.tolist()), float(shift))
        for direction, shift in zip(directions, shifts, strict=True)
    ]
    return Columns(tuple(made), tuple(f"direction {number + 1}" for number in range(len(made))))


@apply_step.register
def _(step: OneHotEncoder, columns: Columns) -> Columns:
    return Columns(*one_hot(step, columns.features, columns.names))


@apply_step.register
def _(step: OrdinalEncoder, columns: Columns) -> Columns:
    return replace(columns, features=ordinal(step, columns.features))


@apply_step.register
def _(step: KBinsDiscretizer, columns: Columns) -> Columns:
    features: list[Feature] = []
    names: list[str] = []
    for feature, name, edges in zip(columns.features, columns.names, step.bin_edges_, strict=True):
        if not isinstance(feature, Number):
            raise NotAvailable("the step KBinsDiscretizer cannot be exported after another step. Put it first.")
        cuts = tuple(float(edge) for edge in edges[1:-1])
        if step.encode == "ordinal":
            features.append(Steps(feature.cell, cuts, tuple(map(float, range(len(cuts) + 1))), infinite=False))
            names.append(name)
            continue
        for number in range(len(cuts) + 1):
            ones = tuple(float(k == number) for k in range(len(cuts) + 1))
            features.append(Steps(feature.cell, cuts, ones, infinite=False))
            names.append(f"{name} in bin {number + 1}")
    return Columns(tuple(features), tuple(names))
