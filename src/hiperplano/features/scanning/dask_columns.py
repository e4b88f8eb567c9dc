"""Uncoded columns of a Dask dataframe, for binning: numbers with gaps, dates, and category numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.features.binning.columns import in_order
from hiperplano.features.binning.reading import as_numbers, column_kind, factorise, is_missing


def cluster_of_columns(X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Rows on a cluster, as in `cluster_of`, of a Dask array or of a dataframe with columns of any kind.

    Categories are counted in a first pass; later passes use their numbers.
    """
    from hiperplano.data.cluster.collections import cluster_of

    example = getattr(X, "_meta_nonempty", None)
    if example is None or all(column_kind(example[name]) == "numeric" for name in example.columns):
        return cluster_of(X, y, sample_weight)
    code = FrameColumns.of(X, example)
    rows: Any = cluster_of(X.map_partitions(code, meta=code(example)), y, sample_weight)
    rows.code = code
    return rows


@dataclass(frozen=True)
class FrameColumns:
    """One column of numbers for each column of a partition, with NaN for missing values.

    Attributes
    ----------
    kinds : tuple of str
        "numeric", "date" or "categorical".
    categories : tuple of tuple or None
        For each column of categories, the values that the numbers 0, 1, 2, … stand for.
    """

    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @classmethod
    def of(cls, X: Any, example: Any) -> FrameColumns:
        """Build from the types of a Dask dataframe, and the categories in all its partitions."""
        import dask

        kinds = [column_kind(example[name]) for name in example.columns]
        named = [name for name, kind in zip(example.columns, kinds, strict=True) if kind == "categorical"]
        found = dict(zip(named, dask.compute(*[X[name].unique() for name in named]), strict=True))
        listed = [_categories(found[name]) if name in found else None for name in example.columns]
        return cls(tuple(kinds), tuple(listed))

    def __call__(self, frame: Any) -> Any:
        import pandas as pd

        made = np.empty((len(frame), len(self.kinds)), order="F")
        for place, categories in enumerate(self.categories):
            column = frame.iloc[:, place]
            made[:, place] = as_numbers(column, column.name) if categories is None else _coded(column, categories)
        return pd.DataFrame(made, index=frame.index, columns=frame.columns)


def _categories(values: Any) -> tuple[Any, ...]:
    listed = [value for value in np.asarray(values, dtype=object).tolist() if not is_missing(value)]
    return tuple(in_order(listed))


def _coded(column: Any, categories: tuple[Any, ...]) -> Any:
    place = {category: float(number) for number, category in enumerate(categories)}
    codes, values = factorise(column)
    return np.array([*(place.get(value, len(place)) for value in values), np.nan])[codes]
