"""Rows: numbers of every size, types, and the objects that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

ACCEPT, EITHER, REFUSE = "accept", "either", "refuse"


def _normal(rng: Any, n: int, d: int) -> Any:
    return rng.normal(size=(n, d))


def _with_column(make: Any) -> Any:
    """Ordinary columns, and one that `make` draws from (rng, ordinary column, all columns)."""

    def values(rng: Any, n: int, d: int) -> Any:
        X = rng.normal(size=(n, d))
        X[:, rng.integers(d)] = make(rng, rng.normal(size=n), X)
        return X

    return values


def _with_cell(value: float) -> Any:
    def values(rng: Any, n: int, d: int) -> Any:
        X = rng.normal(size=(n, d))
        X[rng.integers(n), rng.integers(d)] = value
        return X

    return values


def _scaled(low: float, high: float) -> Any:
    return lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.uniform(low, high, size=d)


VALUES = {
    "normal": _normal,
    "offset": lambda rng, n, d: rng.normal(size=(n, d)) + 1e3,
    "far": lambda rng, n, d: rng.normal(size=(n, d)) + 1e7,
    "units": _scaled(-6, 6),
    "any units": _scaled(-95, 95),
    "whole": lambda rng, n, d: rng.integers(-5, 6, size=(n, d)).astype(float),
    "binary": lambda rng, n, d: rng.integers(0, 2, size=(n, d)).astype(float),
    "mostly zero": lambda rng, n, d: rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.2),
    "all zero": lambda rng, n, d: np.zeros((n, d)),
    "constant": _with_column(lambda rng, c, X: np.full(len(c), 0.1)),
    "zero column": _with_column(lambda rng, c, X: np.zeros(len(c))),
    "copy": _with_column(lambda rng, c, X: X[:, 0]),
    "sum": _with_column(lambda rng, c, X: X.sum(axis=1)),
    "nearly a copy": _with_column(lambda rng, c, X: X[:, 0] + 1e-9 * c),
    "tiny": _with_column(lambda rng, c, X: 10.0 ** rng.uniform(-99, -60) * c),
    "tiny spread": _with_column(lambda rng, c, X: 1e-70 * (1.0 + 10.0 ** rng.uniform(-20, -5) * c)),
    "rounding": _with_column(lambda rng, c, X: 1.0 + 2.2e-16 * rng.integers(0, 2, len(c))),
    "denormal spread": _with_column(lambda rng, c, X: 1e-90 + 1e-310 * c),
    "denormal": _with_column(lambda rng, c, X: 1e-310 * c),
    "huge": _with_column(lambda rng, c, X: 1e150 * c),
    "huge cell": _with_cell(1.7e308),
    "outlier": _with_cell(1e15),
    "large outlier": _with_cell(1e99),
    "NaN": _with_cell(np.nan),
    "infinity": _with_cell(np.inf),
    "equal rows": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "pairs": lambda rng, n, d: np.repeat(rng.normal(size=((n + 1) // 2, d)), 2, axis=0)[:n],
}


def _cast(kind: Any) -> Any:
    def cast(X: Any) -> Any:
        if np.dtype(kind).kind in "iub":
            X = np.nan_to_num(np.clip(X, 0 if np.dtype(kind).kind == "u" else -100, 100))
            return (X > 0) if np.dtype(kind).kind == "b" else np.round(X).astype(kind)
        with np.errstate(over="ignore", under="ignore"):
            return X.astype(kind)

    return cast


DTYPES = {
    name: _cast(name)
    for name in (
        "float64",
        "float32",
        "float16",
        "longdouble",
        ">f8",
        "<f4",
        "int8",
        "int64",
        "uint8",
        "bool",
        "object",
    )
}


def _strided(X: Any) -> Any:
    out = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    out[::2, ::3] = X
    return out[::2, ::3]


def _read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


def _masked(X: Any) -> Any:
    mask = np.zeros(X.shape, dtype=bool)
    mask[0, 0] = True
    return np.ma.array(X, mask=mask)


def _sparse(kind: str) -> Any:
    return lambda X: getattr(sparse, kind)(X.astype(np.float64) if X.dtype.kind in "OgcbefV" else X)


def _duplicates(X: Any) -> Any:
    """CSR with every number stored as two halves, columns backwards."""
    X = X.astype(np.float64)
    n, d = X.shape
    columns = np.tile(np.repeat(np.arange(d)[::-1], 2), n)
    data = np.repeat(X[:, ::-1] / 2, 2, axis=1).ravel()
    return sparse.csr_array((data, columns, np.arange(n + 1) * 2 * d), shape=(n, d))


def _explicit_zeros(X: Any) -> Any:
    n, d = X.shape
    X = X.astype(np.float64)
    return sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), shape=(n, d))


def _long_indices(X: Any) -> Any:
    found = sparse.csr_array(X.astype(np.float64))
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


def _plain(X: Any) -> Any:
    """What tables can hold."""
    native = X.dtype.newbyteorder("=")
    return (
        X.astype(np.float64) if native.kind in "g" or native == np.float16 or native.itemsize > 8 else X.astype(native)
    )


def _names(X: Any) -> list[str]:
    return [f"column {j}" for j in range(X.shape[1])]


def _frame(X: Any) -> Any:
    return pd.DataFrame(_plain(X), columns=_names(X))


def _nullable(X: Any) -> Any:
    return _frame(X.astype(np.float64)).astype("Float64")


def _missing(X: Any) -> Any:
    table = _frame(X.astype(np.float64)).astype("Float64")
    table.iloc[0, 0] = pd.NA
    return table


def _mixed_names(X: Any) -> Any:
    table = _frame(X)
    table.columns = [0 if j == 0 else name for j, name in enumerate(table.columns)]
    return table


def _renamed(names: Any) -> Any:
    def frame(X: Any) -> Any:
        table = _frame(X)
        table.columns = names(X.shape[1])
        return table

    return frame


CONTAINERS = {
    "array": (lambda X: X, ACCEPT),
    "Fortran": (np.asfortranarray, ACCEPT),
    "strided": (_strided, ACCEPT),
    "backwards": (lambda X: X[::-1].copy()[::-1], ACCEPT),
    "read-only": (_read_only, ACCEPT),
    "list": (lambda X: X.tolist(), ACCEPT),
    "tuples": (lambda X: tuple(map(tuple, X.tolist())), ACCEPT),
    "matrix": (np.matrix, EITHER),
    "mask without hidden cells": (lambda X: np.ma.array(X), ACCEPT),
    "masked": (_masked, REFUSE),
    **{
        name: (_sparse(name), ACCEPT)
        for name in (
            "csr_array",
            "csr_matrix",
            "csc_array",
            "coo_array",
            "bsr_array",
            "lil_array",
            "dok_array",
            "dia_array",
        )
    },
    "duplicates": (_duplicates, EITHER),
    "explicit zeros": (_explicit_zeros, ACCEPT),
    "64-bit indices": (_long_indices, ACCEPT),
    "frame": (_frame, ACCEPT),
    "objects in a frame": (lambda X: _frame(X).astype(object), ACCEPT),
    "nullable": (_nullable, ACCEPT),
    "missing": (_missing, REFUSE),
    "arrow-backed": (lambda X: _frame(X.astype(np.float64)).astype("double[pyarrow]"), ACCEPT),
    "sparse frame": (lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X.astype(np.float64))), ACCEPT),
    "mixed names": (_mixed_names, EITHER),
    "equal names": (_renamed(lambda d: ["a"] * d), EITHER),
    "two levels of names": (_renamed(lambda d: pd.MultiIndex.from_product([["a"], range(d)])), EITHER),
    "numbers for names": (_renamed(range), ACCEPT),
    "index of text": (lambda X: _frame(X).set_index(pd.Index([f"row {i}" for i in range(len(X))])), ACCEPT),
    "polars": (lambda X: pl.DataFrame(_plain(X).astype(np.float64), schema=_names(X)), ACCEPT),
    "pyarrow": (lambda X: pa.table(dict(zip(_names(X), _plain(X).astype(np.float64).T, strict=True))), ACCEPT),
    "no columns": (lambda X: _frame(X).iloc[:, :0], REFUSE),
    "no rows": (lambda X: X[:0], REFUSE),
    "one dimension": (lambda X: X[:, 0], REFUSE),
    "three dimensions": (lambda X: X[:, :, None], REFUSE),
    "complex": (lambda X: X.astype(np.complex128), REFUSE),
    "text": (lambda X: np.full(X.shape, "a"), REFUSE),
    "bytes": (lambda X: X.astype(np.float64).astype("S32"), EITHER),
    "dates": (lambda X: np.full(X.shape, np.datetime64("2024-01-01")), REFUSE),
    "records": (lambda X: np.zeros(len(X), dtype=[("a", float), ("b", float)]), REFUSE),
    "dictionary": (lambda X: {"a": X[:, 0]}, REFUSE),
    "unequal rows": (
        lambda X: [row[: 1 + i % 2] for i, row in enumerate(X.tolist())] if X.shape[1] > 1 else [[]],
        REFUSE,
    ),
    "nothing": (lambda X: None, REFUSE),
    "text object": (lambda X: "a,b\n1,2", REFUSE),
}
