"""Rows for a scorecard: lookup of bin values, and conversion of one applicant to a table of one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.parallel.threads import in_threads
from hiperplano.errors import InvalidData
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.binning.encoding import ColumnCode, column_of
from hiperplano.features.binning.optimal import refuse_unseen
from hiperplano.features.binning.reading import as_array
from hiperplano.features.scanning.scan import as_they_are


def look_up(encoder: WoEEncoder, X: Any, numbers: Sequence[Array]) -> Array:
    """For each column that the encoder keeps, the value of each row's bin.

    Parameters
    ----------
    numbers : sequence of ndarray of shape (bins,)
        One number for each bin, by column.

    Returns
    -------
    ndarray of shape (n, columns kept)
    """
    chosen = list(encoder._chosen())
    if isinstance(X, Design):
        rows = as_they_are(X)
        return rows.collect(rows.map(encoder._looked_up(numbers, rows)))
    table = encoder._table(X, reset=False)
    made = np.empty((len(table), len(chosen)), order="F")

    def write(place: int) -> None:
        column, name, binning = chosen[place]
        values = column_of(table, column)
        codes = ColumnCode(binning.bins_, numbers[place], name).write(values, made[:, place : place + 1])
        if codes is not None:
            refuse_unseen(binning, values, codes)

    in_threads(write, range(len(chosen)), made.size)
    return made


def first_values(encoder: WoEEncoder, X: Any, names: Sequence[str]) -> list[Any]:
    """Values of the first row, by column."""
    table, places = encoder._table(X, reset=False), {name: place for place, name in enumerate(encoder.binnings_)}
    return [as_array(column_of(table, places[name]))[0] for name in names]


def one_row(card: Any, row: Any) -> Any:
    """A table or array of one row.

    Parameters
    ----------
    card : Scorecard
        The scorecard; the row must have its columns.
    row : table of one row, mapping or pandas Series from names to values, or array of shape (d,) or (1, d)
    """
    if isinstance(row, Mapping) or (hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns")):
        return _from_mapping(card, dict(row))
    if hasattr(row, "columns"):
        found = row
    else:
        found = np.asarray(row, dtype=None if hasattr(row, "dtype") else object)
        found = found[None] if found.ndim == 1 else found
    if found.shape[:1] != (1,):
        raise InvalidData(
            "explain: rows of shape {shape}; one applicant is explained at a time. Pass X[i : i + 1].",
            shape=found.shape,
        )
    return found


def _from_mapping(card: Any, row: dict[Any, Any]) -> Any:
    names = [str(name) for name in getattr(card, "feature_names_in_", [f"x{j}" for j in range(card.n_features_in_)])]
    absent = [name for name in names if name not in row]
    if absent:
        raise InvalidData(
            "explain: the row has no {names}; every column of the fit is needed. Use None for a missing value.",
            names=", ".join(map(repr, absent[:6])),
        )
    if not hasattr(card, "feature_names_in_"):
        return np.array([[row[name] for name in names]], dtype=object)
    import pandas as pd

    return pd.DataFrame({name: [row[name]] for name in names})
