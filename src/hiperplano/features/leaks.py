"""Columns that leak the target."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.metrics.ranking import ranking_scores

_ALMOST = 0.999
_EXACTLY = 0.999999
_FEWEST = 20  # in smaller classes, a perfect order can be chance
_MOST_GROUPS = 50


def leakage_reason(column: pa.ChunkedArray, target: pa.ChunkedArray, codes: tuple[float, ...] = ()) -> str:
    """Why a column is suspected of revealing the target; empty if it is not.

    Parameters
    ----------
    codes : tuple of float
        Numbers of the column that stand for a missing value.
    """
    both = pc.and_(pc.is_valid(column), pc.is_valid(target))
    if codes:
        both = pc.and_(both, pc.invert(pc.is_in(column, pa.array(codes).cast(column.type))))
    column, target = column.filter(both), target.filter(both)
    labels = pc.unique(target)
    if len(column) < 2 * _FEWEST or len(labels) < 2:
        return ""
    numeric_target = pa.types.is_integer(target.type) or pa.types.is_floating(target.type)
    if numeric_target and len(labels) > _MOST_GROUPS:
        return _leak_of_numbers(column, target)
    classes = target.combine_chunks().dictionary_encode() if not pa.types.is_dictionary(target.type) else target
    codes_of = _codes(classes)
    if np.bincount(codes_of).min() < _FEWEST:
        return ""
    if pa.types.is_dictionary(column.type):
        return _leak_of_categories(_codes(column), codes_of)
    if pa.types.is_string(column.type) or len(labels) > 2:
        return ""
    numbers = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
    auc = ranking_scores(codes_of, numbers.to_numpy()).auc
    if max(auc, 1 - auc) >= _ALMOST:
        return Message("it alone orders the classes almost without error (AUC {auc})", auc=f"{max(auc, 1 - auc):.4f}")
    return ""


def _codes(column: pa.ChunkedArray) -> Array:
    """Codes of words, without unused ones."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.unique(whole.indices.to_numpy(zero_copy_only=False), return_inverse=True)[1]


def _leak_of_categories(groups: Array, classes: Array) -> str:
    """Whether each word belongs to one class only."""
    n_groups = int(groups.max()) + 1
    if n_groups > _MOST_GROUPS or n_groups < 2:
        return ""
    table = np.zeros((n_groups, int(classes.max()) + 1), dtype=np.int64)
    np.add.at(table, (groups, classes), 1)
    right = table.max(axis=1).sum() / len(classes)
    if right >= _ALMOST:
        return Message("each value goes with one class ({share} of the rows)", share=f"{right:.2%}")
    return ""


def _leak_of_numbers(column: pa.ChunkedArray, target: pa.ChunkedArray) -> str:
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type) or pa.types.is_timestamp(column.type):
        return ""
    x, y = (values.to_numpy().astype(np.float64) for values in (column, target))
    if x.std() == 0 or y.std() == 0:
        return ""
    correlation = abs(float(np.corrcoef(x, y)[0, 1]))
    if correlation >= _EXACTLY:
        return Message("it is the target in other units (correlation {r})", r=f"{correlation:.7f}")
    return ""
