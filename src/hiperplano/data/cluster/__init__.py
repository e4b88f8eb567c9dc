"""Rows on a Dask cluster. Dask is imported only when one of its collections is passed in."""

from typing import Any


def is_dask(value: Any) -> bool:
    """Whether a value is a dask array, dataframe, series, or another of its collections."""
    return hasattr(type(value), "__dask_graph__")
