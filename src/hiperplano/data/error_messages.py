"""Error messages, with evidence and remedy, for input that scikit-learn's checks reject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.cluster import is_dask
from hiperplano.errors import InvalidData, InvalidTarget, InvalidType, NotAvailable
from hiperplano.messages import Message

_DATES = ("date", "time", "duration")  # prefixes of the names of date types in NumPy, pandas, polars and pyarrow

_REMEDIES = {
    "inconsistent numbers of samples": Message("Pass one target for each row."),
    "0 sample(s)": Message("Check the filter that made the table."),
    "0 feature(s)": Message("Pass at least one column."),
    "dim <= 2": Message("Pass a table of rows and columns."),
    "inhomogeneous": Message("Pass rows of equal length."),
    "features as input": Message("Pass the columns seen in fit, in the same order."),
    "feature names": Message("Pass the columns seen in fit, in the same order: X[list(feature_names_in_)]."),
    "array-like, got": Message("Pass a table of rows and columns."),
    "requires y": Message("Pass the targets as y."),
    "1d array": Message("Pass one label for each row."),
    "Input y contains": Message("A target must be finite. Drop those rows."),
    "NaN": Message("Drop those rows, or fill them first."),
    "unique column names": Message("Give every column a name of its own."),
    "argument must be a string": Message("Convert the columns to numbers first."),
    "at least 1 dimension": Message("Pass one target for each row."),
}


def refuse_dask(estimator: Any, X: Any) -> None:
    """Raise an error for Dask collections where only rows in memory are supported, instead of loading them."""
    if is_dask(X):
        raise NotAvailable(
            "{model} needs rows in memory here, and X is a dask {kind}. Pass arrays: X.compute(), if they fit.",
            model=type(estimator).__name__,
            kind=type(X).__name__,
        )


def refuse_dates(X: Any) -> None:
    """Raise an error for dates.

    They would otherwise be counts of days or nanoseconds, with a huge negative number if missing.
    """
    for name, kind in _column_types(X):
        if str(kind).lower().startswith(_DATES):
            raise InvalidData(
                "Column {name!r} holds dates or times ({kind}); all columns must be numbers. Subtract a date and "
                "divide by a unit of time first, for example (day - day.min()) / one day.",
                name=name,
                kind=kind,
            )


def refuse_unusable(X: Any, y: Any) -> None:
    """Raise an error for unsupported array-likes: np.matrix, sparse targets, names of several types."""
    for name, values in (("X", X), ("y", y)):
        if isinstance(values, np.matrix):
            raise InvalidType(
                "{name} is a numpy.matrix, whose rows are matrices again; an array is needed. Pass "
                "numpy.asarray({name}).",
                name=name,
            )
    records = getattr(getattr(X, "dtype", None), "names", None)
    if records or (isinstance(X, str | bytes | Mapping | Set) and not issparse(X)):
        raise InvalidData(
            "Expected 2D array, got {kind} instead: rows and columns of numbers are needed. Pass an array or a table, "
            "for example pandas.DataFrame(X) of records or of columns by name.",
            kind=type(X).__name__,
        )
    if len(getattr(X, "shape", ())) == 2 and X.shape[0] and not X.shape[1]:
        raise InvalidData(
            "Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. Pass at least one column.",
            shape=X.shape,
        )
    if issparse(y):
        raise InvalidTarget("y is a sparse matrix; a target must be an array of numbers. Pass y.toarray().")
    names = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    odd = [name for name in names if not isinstance(name, str)]
    if 0 < len(odd) < len(names):
        raise InvalidType(
            "Feature names are only supported if all input features have string names, but column {odd!r} is named "
            "by {kind}. Convert them, for example with X.columns = X.columns.astype(str).",
            odd=odd[0],
            kind=type(odd[0]).__name__,
        )


def data_error(problem: Exception, X: Any, y: Any = None) -> InvalidData:
    """The error to raise instead of scikit-learn's or NumPy's.

    Parameters
    ----------
    problem : Exception
        The exception that was raised.
    X : rows
        The rows as given.
    y : array-like, optional
        The target as it was given.

    Returns
    -------
    InvalidData
        `InvalidTarget` if the target is the cause.
    """
    text = str(problem).strip()
    known = _wrong_type(problem, text) or _one_dimension(text, X)
    if known:
        return InvalidData(known)
    if text and text[-1] not in ".?!":
        text += "."
    found = _text_in(X)
    if found is not None:
        name, row, value = found
        return InvalidData(
            "{text} Column {name!r} holds text ({value!r} in row {row}); all columns must be numbers. Encode it "
            "first, for example with sklearn.preprocessing.OneHotEncoder.",
            text=text,
            name=name,
            value=value,
            row=row,
        )
    if "could not convert" in text:
        found = _text_in(np.asarray(y, dtype=object).reshape(np.size(y), -1))
        if found is None:
            return InvalidData(
                "{text} X holds text; all columns must be numbers. Encode them first, for example with "
                "sklearn.preprocessing.OneHotEncoder.",
                text=text,
            )
        return InvalidTarget(
            "{text} y holds text ({value!r} in row {row}); a regression needs numbers. Encode y, or take a classifier.",
            text=text,
            value=found[2],
            row=found[1],
        )
    remedy = next((words for sign, words in _REMEDIES.items() if sign in text), "")
    kind: type[InvalidData] = InvalidTarget if "Input y" in text or text.startswith("y ") else InvalidData
    kind = InvalidType if isinstance(problem, TypeError) else kind
    return kind(Message.concatenate(" ", filter(None, [text, remedy])))


def _wrong_type(problem: Exception, text: str) -> str:
    if isinstance(problem, OverflowError):
        return Message(
            "A whole number is too large for float64 (beyond 1.8e308); all numbers must fit. Use a larger unit."
        )
    if "Complex data" in text:
        return Message(
            "Complex data not supported: X or y holds complex numbers; all must be real. Pass real and imaginary "
            "parts as columns of their own."
        )
    return ""


def _one_dimension(text: str, X: Any) -> str:
    if hasattr(X, "to_frame") and len(np.shape(X)) == 1:  # a column of a table, or a row
        return Message(
            "Expected 2D array, got 1D array instead: X is a {kind} of {n} values; rows and columns are needed. Pass "
            "X.to_frame() if it is one column, rows of the table such as table[:1] if it is one row.",
            kind=type(X).__name__,
            n=len(X),
        )
    if "got 1D array" in text:
        return Message(
            "Expected 2D array, got 1D array instead: X has shape {shape}; rows and columns are needed. Reshape your "
            "data with X.reshape(-1, 1) if it is one column, with X.reshape(1, -1) if it is one row.",
            shape=np.shape(X),
        )
    return ""


def _column_types(X: Any) -> Iterator[tuple[Any, Any]]:
    if issparse(X) or isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            yield 0, X.dtype
        return
    if len(getattr(X, "shape", ())) == 1:
        return  # one column or one row: rejected later, with a specific message
    types = getattr(X, "dtypes", None)
    types = X.schema.types if types is None and hasattr(X, "schema") else types
    if types is not None:
        yield from zip(_column_names(X), types, strict=False)


def _column_names(X: Any) -> list[Any]:
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") else list(range(np.shape(X)[1]))


def _text_in(X: Any) -> tuple[Any, int, str] | None:
    """Column, row and content of the first cell that is text and not a number."""
    try:
        table = None if issparse(X) else np.asarray(X, dtype=object)
    except ValueError:  # rows of unequal length
        return None
    if table is None or table.ndim != 2:
        return None
    for position, name in enumerate(_column_names(X)):
        for row, value in enumerate(table[:, position]):
            if isinstance(value, str) and not _is_number(value):
                return name, row, str(value)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_masked(**arrays: Any) -> None:
    """Raise an error for masked entries: they are missing values, like NaN."""
    for name, values in arrays.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
            hidden = int(np.ma.getmaskarray(values).sum())
            raise InvalidData(
                "Input {name} contains {hidden} masked values: a mask marks missing values, and every value is "
                "needed. Drop those rows, or fill them first, for example with {name}.filled(value).",
                name=name,
                hidden=hidden,
            )
