"""Import of pandas, for tables with names."""

from __future__ import annotations

from typing import Any

from hiperplano.errors import NotInstalled


def pandas() -> Any:
    """Import pandas only when a table is requested; models and arrays do not need it."""
    try:
        import pandas
    except ImportError as problem:
        raise NotInstalled(
            "This table is a pandas.DataFrame, and pandas cannot be imported ({problem}). Install it: pip install "
            "'hiperplano[app]'",
            problem=problem,
        ) from problem
    return pandas
