"""Columns of a frame as numbers: what scikit-learn's imputers and encoders take over from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.columns import Column
from hiperplano.language.catalogue import words

_ = words("terminal")

RARE = "…"
"""Stands for the categories that are too rare for a column of their own."""
_FEWEST, _SHARE, _MOST = 30, 0.01, 50


class Numbers(TransformerMixin, BaseEstimator):
    """Numeric columns, dates (in days since 1970) and ordered columns (as 0, 1, 2, …), with NaN for no value.

    Parameters
    ----------
    columns : sequence of Column
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learned.

        Parameters
        ----------
        X : pandas frame
        y : ignored
        """
        self.n_features_in_ = len(self.columns)
        return self

    def transform(self, X: Any) -> Array:
        """The columns, each in one piece of memory.

        Parameters
        ----------
        X : pandas frame
        """
        made = np.empty((len(X), len(self.columns)), order="F")
        for j, column in enumerate(self.columns):
            made[:, j] = _numbers(X[column.name], column)
        return made

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names, with the unit of dates.

        Parameters
        ----------
        input_features : ignored
        """
        names = [f"{each.name} (days)" if each.kind == "date" else each.name for each in self.columns]
        return np.array(names, dtype=object)


class Gaps(TransformerMixin, BaseEstimator):
    """Which cells of numeric, date and ordered columns have no value, for columns where that is not rare.

    A column that marks a handful of rows would tell these few apart, and little else.

    Parameters
    ----------
    columns : sequence of Column
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which columns have enough gaps.

        Parameters
        ----------
        X : pandas frame
        y : ignored
        """
        enough = _enough(len(X))
        self.marked_ = [each for each in self.columns if np.isnan(_numbers(X[each.name], each)).sum() >= enough]
        self.n_features_in_ = len(self.columns)
        return self

    def transform(self, X: Any) -> Array:
        """True where there is no value.

        Parameters
        ----------
        X : pandas frame
        """
        made = np.empty((len(X), len(self.marked_)), dtype=bool, order="F")
        for j, column in enumerate(self.marked_):
            np.isnan(_numbers(X[column.name], column), out=made[:, j])
        return made

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the marks.

        Parameters
        ----------
        input_features : ignored
        """
        return np.array([f"{column.name} missing" for column in self.marked_], dtype=object)


class Categories(TransformerMixin, BaseEstimator):
    """Nominal columns as numbers of categories, −1 for what gets no column of its own.

    That is: no value; the most frequent category where (almost) every row has a value, since columns for all categories
    and the intercept would depend on each other; and a category that `fit` did not see, unless rare ones were pooled.

    Parameters
    ----------
    columns : sequence of Column
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn which categories get a column: those in 1% of the rows and in 30, and at most 50.

        Parameters
        ----------
        X : pandas frame
        y : ignored
        """
        found = [_frequent(X[column.name]) for column in self.columns]
        self.categories_ = [kept for kept, _ in found]
        self.references_ = [reference for _, reference in found]
        self.n_features_in_ = len(self.columns)
        return self

    def transform(self, X: Any) -> Array:
        """Numbers of categories.

        Parameters
        ----------
        X : pandas frame
        """
        made = np.empty((len(X), len(self.columns)), dtype=np.int8, order="F")
        for j, (column, kept, reference) in enumerate(
            zip(self.columns, self.categories_, self.references_, strict=True)
        ):
            place = {label: number for number, label in enumerate(kept)} | {reference: -1}
            codes, labels = _coded(X[column.name])
            lookup = np.array([*(place.get(label, place.get(RARE, -1)) for label in labels), -1], dtype=np.int8)
            made[:, j] = lookup[codes]
        return made

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns.

        Parameters
        ----------
        input_features : ignored
        """
        return np.array([column.name for column in self.columns], dtype=object)

    def names(self) -> list[str]:
        """Names of the one-hot columns to come."""
        pairs = zip(self.columns, self.categories_, strict=True)
        return [f"{column.name} = {label}" for column, kept in pairs for label in kept]


def _numbers(series: Any, column: Column) -> Array:
    kind = getattr(series.dtype, "kind", "O")
    if column.kind == "ordered":
        codes, labels = _coded(series)
        place = {label: float(number) for number, label in enumerate(column.order)}
        return np.array([*(place.get(label, np.nan) for label in labels), np.nan])[codes]
    if column.kind == "date":
        if kind != "M":
            raise InvalidData(_wrong(series, column, _("dates")))
        days = series.to_numpy(dtype="datetime64[us]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64) / 86_400e6)
    if kind not in "iufb":
        if series.isna().all():
            return np.full(len(series), np.nan)
        raise InvalidData(_wrong(series, column, _("numbers")))
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isin(values, column.codes), np.nan, values) if column.codes else values


def _wrong(series: Any, column: Column, expected: str) -> str:
    row = int(np.flatnonzero(_misfits(series))[0])
    return _(
        "column {name!r} holds {value!r} (row {row}); the model knows {expected} in it. Correct the file, or fit the "
        "model again.",
        name=column.name,
        value=series.iloc[row : row + 1].tolist()[0],
        row=row + 1,
        expected=expected,
    )


def _misfits(series: Any) -> Array:
    """Cells of text that are no number; where all are, the first with a value."""
    import pandas as pd

    there = series.notna().to_numpy()
    text = series.astype(object).where(there, None)
    odd = there & pd.to_numeric(text, errors="coerce").isna().to_numpy()
    return np.asarray(odd if odd.any() else there)


def _coded(series: Any) -> tuple[Array, list[str]]:
    """The number of the label of each cell, −1 for none, and the labels."""
    import pandas as pd

    if not isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = pd.factorize(series)
        return codes, [_label(value) for value in values.tolist()]
    return series.cat.codes.to_numpy(), [_label(value) for value in series.cat.categories.tolist()]


def _label(value: Any) -> str:
    """Whole numbers look the same whether the column has gaps (and is of floats) or not."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _enough(n_rows: int) -> float:
    """Rows that a column of their own must have: of fewer, a model learns by heart to which class they belong."""
    return max(1, min(_FEWEST, n_rows // 20), _SHARE * n_rows)


def _frequent(series: Any) -> tuple[tuple[str, ...], str | None]:
    """The categories that get a column, in their order, and the one that is understood where none has its column."""
    codes, labels = _coded(series)
    counts = np.bincount(np.asarray(codes, dtype=np.int64) + 1, minlength=len(labels) + 1)
    gaps, counts = counts[0], counts[1:]
    by_count = np.argsort(-counts, kind="stable")[:_MOST]
    enough = _enough(len(codes))
    kept = [number for number in by_count.tolist() if counts[number] >= enough]
    pooled = [number for number in range(len(labels)) if counts[number] and number not in set(kept)]
    if len(pooled) == 1 and len(kept) < _MOST:
        kept, pooled = [*kept, *pooled], []
    reference = None if gaps >= enough or not kept else labels[kept[0]]
    names = [labels[number] for number in sorted(kept, key=lambda number: labels[number])]
    own = tuple(name for name in names if name != reference)
    return (*own, RARE) if pooled else own, reference
