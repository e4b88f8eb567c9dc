"""Rows on a Dask cluster. Dask itself is imported only once one of its collections has come in."""

from typing import Any


def is_dask(value: Any) -> bool:
    """Whether a value is a dask array, dataframe, series, or another of its collections."""
    return hasattr(type(value), "__dask_graph__")
