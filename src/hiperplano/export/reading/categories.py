"""scikit-learn's encoders of categories as lookups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from hiperplano.errors import NotAvailable
from hiperplano.export.formula import Cell, Feature, Imputed, Lookup, Number
from hiperplano.features.encoders import label_of

Group = tuple[Any, ...]


def one_hot(
    step: OneHotEncoder, features: tuple[Feature, ...], names: tuple[str, ...]
) -> tuple[tuple[Feature, ...], tuple[str, ...]]:
    """A lookup for each column of 0 and 1, and the names of these columns."""
    made: list[Feature] = []
    made_names: list[str] = []
    for j, (feature, name) in enumerate(zip(features, names, strict=True)):
        cell, fill = _source(step, feature, step.categories_[j])
        groups, rare = _groups(step, j)
        dropped = _dropped(step, j, groups)
        others = groups.index(rare) if rare and step.handle_unknown != "ignore" else None
        known = step.handle_unknown != "error"
        where_empty = next((k for k, group in enumerate(groups) if any(map(_is_empty, group))), None)
        if fill is not None:
            where_empty = next((k for k, group in enumerate(groups) if fill in group), None)
        for k, group in enumerate(groups):
            if k == dropped:
                continue
            other = float(k == others) if known else None
            empty = other if where_empty is None else float(k == where_empty)
            table = tuple((_values(each), float(each is group)) for each in groups if _values(each))
            made.append(Lookup(cell, table, empty, other))
            made_names.append(f"{name} = {' | '.join(map(str, group[:3]))}")
    return tuple(made), tuple(made_names)


def _groups(step: OneHotEncoder, j: int) -> tuple[list[Group], Group | None]:
    """The categories that share a column of 0 and 1, and the group of the infrequent ones."""
    categories = step.categories_[j].tolist()
    infrequent = getattr(step, "infrequent_categories_", None)
    few = [] if infrequent is None or infrequent[j] is None else infrequent[j].tolist()
    rare = tuple(few) or None
    groups = [(value,) for value in categories if value not in few]
    return [*groups, rare] if rare else list(groups), rare


def _dropped(step: OneHotEncoder, j: int, groups: list[Group]) -> int | None:
    if step.drop_idx_ is None or step.drop_idx_[j] is None:
        return None
    value = step.categories_[j].tolist()[step.drop_idx_[j]]
    return next(
        k for k, group in enumerate(groups) if value in group or (_is_empty(value) and any(map(_is_empty, group)))
    )


def ordinal(step: OrdinalEncoder, features: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """A lookup for each column."""
    if getattr(step, "infrequent_categories_", None) is not None and any(
        each is not None for each in step.infrequent_categories_
    ):
        raise NotAvailable(
            "the step OrdinalEncoder with infrequent categories cannot be exported. Leave out min_frequency and "
            "max_categories."
        )
    made = []
    for feature, values in zip(features, step.categories_, strict=True):
        cell, fill = _source(step, feature, values)
        codes = {value: float(code) for code, value in enumerate(values.tolist()) if not _is_empty(value)}
        unknown = step.unknown_value if step.handle_unknown == "use_encoded_value" else None
        other = None if unknown is None or np.isnan(unknown) else float(unknown)
        missing = None if np.isnan(step.encoded_missing_value) else float(step.encoded_missing_value)
        empty = codes.get(fill, other) if fill is not None else missing
        made.append(Lookup(cell, tuple((_values((value,)), code) for value, code in codes.items()), empty, other))
    return tuple(made)


def _source(step: Any, feature: Feature, categories: Any) -> tuple[Cell, Any]:
    """The cell of a category, and the value used if it is empty."""
    fill: Any = None
    if isinstance(feature, Imputed):
        fill, feature = feature.fill, feature.feature
    if not isinstance(feature, Number):
        raise NotAvailable(
            "the step {step} cannot be exported after a step that changes the column. Put it first, or after an "
            "imputer.",
            step=type(step).__name__,
        )
    if all(isinstance(value, bool) for value in categories.tolist()):
        return replace(feature.cell, kind="label"), fill
    texts = [isinstance(value, str) for value in categories.tolist() if not _is_empty(value)]
    if any(texts) and not all(texts):
        raise NotAvailable(
            "the categories of column {name!r} are texts and numbers; a database column has one kind. Make all of "
            "them texts.",
            name=feature.cell.name,
        )
    return replace(feature.cell, kind="text" if any(texts) else "number"), fill


def _values(group: Group) -> Group:
    """The categories of a group; booleans by their names."""
    return tuple(label_of(value) if isinstance(value, bool) else value for value in group if not _is_empty(value))


def _is_empty(value: Any) -> bool:
    return value is None or value != value
