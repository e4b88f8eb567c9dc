"""What the messages of scikit-learn and NumPy leave out: where the fault lies, and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.errors import InvalidData, InvalidTarget


def explained(problem: Exception, X: Any, y: Any = None) -> InvalidData:
    """The error to raise instead of scikit-learn's or NumPy's, with what their messages leave out."""
    text = str(problem)
    if "Input y" in text:
        return InvalidTarget(f"{text} A target must be finite. Drop those rows.")
    if isinstance(problem, np.exceptions.DTypePromotionError):
        return InvalidData(
            "X mixes numbers with columns of another kind, such as dates; all columns must be numbers. Turn dates into "
            "numbers first, for example into days since the first of them."
        )
    if "could not convert" in text:
        return _text_found(X, y) or InvalidData(text)
    if "got 1D array" in text:
        return InvalidData(
            f"Expected 2D array, got 1D array instead: X has shape {np.shape(X)}; rows and columns are needed. Reshape "
            "your data with X.reshape(-1, 1) if it is one column, with X.reshape(1, -1) if it is one row."
        )
    if "feature names should match" in text:
        return InvalidData(f"{text.rstrip()}\nPass the columns of the fit in their order: X[list(feature_names_in_)].")
    return InvalidData(text)


def _text_found(X: Any, y: Any) -> InvalidData | None:
    """The error that says where the text is that should be numbers."""
    if X is not None and not issparse(X) and (found := _first_text(X)):
        row, column, value = found
        name = list(X.columns)[column] if hasattr(X, "columns") else column
        return InvalidData(
            f"could not convert string to float: {value!r}. Column {name!r} holds text ({value!r} in row {row}); all "
            "columns must be numbers. Encode it first, for example with sklearn.preprocessing.OneHotEncoder."
        )
    if y is not None and (found := _first_text(y)):
        row, _, value = found
        return InvalidTarget(
            f"could not convert string to float: {value!r}. y holds text ({value!r} in row {row}); a regression needs "
            "numbers. Encode the target, or take a classifier."
        )
    return None


def _first_text(values: Any) -> tuple[int, int, str] | None:
    """Row, column and value of the first text, column by column, that is not a number."""
    table = np.asarray(values, dtype=object)
    for column, cells in enumerate(table.reshape(len(table), -1).T):
        for row, value in enumerate(cells):
            if isinstance(value, str) and not _is_number(value):
                return row, column, str(value)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
