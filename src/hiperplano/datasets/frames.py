"""The package that tables with names are made with."""

from __future__ import annotations

from typing import Any

from hiperplano.errors import NotInstalled


def pandas() -> Any:
    """Import it where a table is asked for: models and arrays do without."""
    try:
        import pandas
    except ImportError as problem:
        raise NotInstalled(
            "This table is a pandas.DataFrame, and pandas cannot be imported ({problem}). Install it: pip install "
            "'hiperplano[app]'",
            problem=problem,
        ) from problem
    return pandas
