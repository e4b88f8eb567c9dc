"""Targets and weights of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from tools.attack.rows import ACCEPT, EITHER, REFUSE


def class_codes(rng: Any, X: Any, classes: int) -> Any:
    """Numbers of classes that lean on the columns, each at least once if there are rows enough."""
    size = np.abs(X).max(axis=0)
    size = np.where((size > 0) & np.isfinite(size), size, 1.0)
    score = np.nan_to_num(X / size) @ rng.normal(size=X.shape[1]) + 0.5 * rng.normal(size=len(X))
    codes = np.argsort(np.argsort(score)) * classes // max(len(X), 1)
    return np.where(rng.uniform(size=len(X)) < 0.1, rng.integers(classes, size=len(X)), codes)


def _tuples(codes: Any) -> Any:
    out = np.empty(len(codes), dtype=object)
    out[:] = [(int(code), "a") for code in codes]
    return out


def _hidden(values: Any) -> Any:
    return np.ma.array(values, mask=np.arange(len(values)) == 0)


_WORDS = np.array(["no", "yes", "maybe", "never"])

LABELS = {
    "numbers": (lambda c: c, ACCEPT),
    "list": (lambda c: c.tolist(), ACCEPT),
    "text": (lambda c: _WORDS[c], ACCEPT),
    "text objects": (lambda c: _WORDS[c].astype(object), ACCEPT),
    "series of text": (lambda c: pd.Series(_WORDS[c]), ACCEPT),
    "categories": (lambda c: pd.Series(pd.Categorical(_WORDS[c])), ACCEPT),
    "nullable numbers": (lambda c: pd.Series(c, dtype="Int64"), ACCEPT),
    "arrow text": (lambda c: pd.Series(_WORDS[c], dtype="string[pyarrow]"), ACCEPT),
    "polars": (lambda c: pl.Series(_WORDS[c].tolist()), ACCEPT),
    "floats": (lambda c: c.astype(float) - 1.0, ACCEPT),
    "small floats": (lambda c: c.astype(np.float32), ACCEPT),
    "large numbers": (lambda c: c.astype(np.int64) + 2**60, ACCEPT),
    "unsigned": (lambda c: c.astype(np.uint64) + np.uint64(2**63), ACCEPT),
    "swapped bytes": (lambda c: c.astype(">i4"), ACCEPT),
    "bools": (lambda c: c > 0, ACCEPT),
    "nullable bools": (lambda c: pd.Series(c > 0, dtype="boolean"), ACCEPT),
    "bytes": (lambda c: _WORDS[c].astype("S"), EITHER),
    "mask without hidden cells": (lambda c: np.ma.array(c), ACCEPT),
    "matrix": (lambda c: np.matrix(c).T, EITHER),
    "column": (lambda c: c[:, None], EITHER),
    "frame": (lambda c: pd.DataFrame({"y": c}), EITHER),
    "tuples": (_tuples, REFUSE),
    "list of tuples": (lambda c: [(int(k), "a") for k in c], REFUSE),
    "mixed": (lambda c: np.array([int(k) if k else "no" for k in c] + [None], dtype=object)[:-1], EITHER),
    "missing": (lambda c: np.array([None, *_WORDS[c[1:]]], dtype=object), REFUSE),
    "missing in a table": (lambda c: pd.Series([pd.NA, *c[1:].tolist()], dtype="Int64"), REFUSE),
    "NaN": (lambda c: np.array([np.nan, *c[1:]]), REFUSE),
    "masked": (_hidden, REFUSE),
    "sparse": (lambda c: sparse.csr_array(c[:, None]), REFUSE),
    "dates": (lambda c: np.datetime64("2024-01-01") + c, EITHER),
    "complex": (lambda c: c + 1j, REFUSE),
    "one class": (lambda c: np.zeros(len(c)), REFUSE),
    "fractions": (lambda c: np.arange(len(c)) + 0.5, REFUSE),
    "two columns": (lambda c: np.column_stack([c, c]), REFUSE),
    "a row for each class": (lambda c: np.arange(len(c)), EITHER),
    "too short": (lambda c: c[:-1], REFUSE),
    "nothing": (lambda c: None, REFUSE),
    "a number": (lambda c: 1.0, REFUSE),
    "one rare class": (lambda c: np.where(np.arange(len(c)) == 0, 9, np.minimum(c, 1)), EITHER),
}

NUMBERS = {
    "numbers": (lambda y: y, ACCEPT),
    "list": (lambda y: y.tolist(), ACCEPT),
    "whole": (lambda y: np.round(y * 3).astype(int), ACCEPT),
    "constant": (lambda y: np.full(len(y), 3.7), ACCEPT),
    "zeros": (lambda y: np.zeros(len(y)), ACCEPT),
    "offset": (lambda y: y + 1e6, ACCEPT),
    "large": (lambda y: y * 1e90, EITHER),
    "small": (lambda y: y * 1e-90, EITHER),
    "small floats": (lambda y: y.astype(np.float32), ACCEPT),
    "swapped bytes": (lambda y: y.astype(">f8"), ACCEPT),
    "objects": (lambda y: y.astype(object), ACCEPT),
    "series": (lambda y: pd.Series(y), ACCEPT),
    "nullable": (lambda y: pd.Series(y, dtype="Float64"), ACCEPT),
    "polars": (lambda y: pl.Series(y), ACCEPT),
    "mask without hidden cells": (lambda y: np.ma.array(y), ACCEPT),
    "bools": (lambda y: y > 0, ACCEPT),
    "numbers in text": (lambda y: y.astype(str), EITHER),
    "matrix": (lambda y: np.matrix(y).T, EITHER),
    "column": (lambda y: y[:, None], EITHER),
    "two columns": (lambda y: np.column_stack([y, -y]), EITHER),
    "frame": (lambda y: pd.DataFrame({"a": y, "b": y**2}), EITHER),
    "1e300": (lambda y: y * 1e300, REFUSE),
    "text": (lambda y: np.full(len(y), "many"), REFUSE),
    "NaN": (lambda y: np.array([np.nan, *y[1:]]), REFUSE),
    "infinity": (lambda y: np.array([np.inf, *y[1:]]), REFUSE),
    "missing": (lambda y: np.array([None, *y[1:]], dtype=object), REFUSE),
    "masked": (_hidden, REFUSE),
    "sparse": (lambda y: sparse.csr_array(y[:, None]), REFUSE),
    "complex": (lambda y: y + 1j, REFUSE),
    "dates": (lambda y: np.datetime64("2024-01-01") + np.round(y).astype(int), REFUSE),
    "tuples": (lambda y: [(value, "a") for value in y], REFUSE),
    "too short": (lambda y: y[:-1], REFUSE),
    "no columns": (lambda y: np.empty((len(y), 0)), REFUSE),
    "nothing": (lambda y: None, REFUSE),
    "a number": (lambda y: 1.0, REFUSE),
}


def _one(rng: Any, codes: Any) -> Any:
    weight = np.zeros(len(codes))
    weight[rng.integers(len(codes))] = 1.0
    return weight


def _exponents(rng: Any, codes: Any, high: float) -> Any:
    return 10.0 ** rng.uniform(-high, high, size=len(codes))


WEIGHTS = {
    "none": (lambda rng, c: None, ACCEPT),
    "ones": (lambda rng, c: np.ones(len(c)), ACCEPT),
    "uniform": (lambda rng, c: rng.uniform(0.1, 2.0, size=len(c)), ACCEPT),
    "whole, some 0": (lambda rng, c: rng.integers(0, 4, size=len(c)), EITHER),
    "to a million": (lambda rng, c: rng.uniform(size=len(c)) * 1e6, ACCEPT),
    "a million at one row": (lambda rng, c: np.where(np.arange(len(c)) == 0, 1e6, 1.0), ACCEPT),
    "of any size": (lambda rng, c: _exponents(rng, c, 6), EITHER),
    "of every size": (lambda rng, c: _exponents(rng, c, 45), EITHER),
    "all large": (lambda rng, c: np.full(len(c), 1e45), EITHER),
    "all small": (lambda rng, c: np.full(len(c), 1e-45), EITHER),
    "one row": (_one, EITHER),
    "no weight for a class": (lambda rng, c: (c > 0).astype(float), EITHER),
    "list": (lambda rng, c: rng.uniform(0.1, 2.0, size=len(c)).tolist(), ACCEPT),
    "series": (lambda rng, c: pd.Series(rng.uniform(0.1, 2.0, size=len(c))), ACCEPT),
    "nullable": (lambda rng, c: pd.Series(rng.uniform(0.1, 2.0, size=len(c)), dtype="Float64"), ACCEPT),
    "small floats": (lambda rng, c: rng.uniform(0.1, 2.0, size=len(c)).astype(np.float32), ACCEPT),
    "objects": (lambda rng, c: rng.uniform(0.1, 2.0, size=len(c)).astype(object), ACCEPT),
    "bools": (lambda rng, c: rng.uniform(size=len(c)) < 0.9, EITHER),
    "a number": (lambda rng, c: 2.0, ACCEPT),
    "mask without hidden cells": (lambda rng, c: np.ma.array(np.ones(len(c))), ACCEPT),
    "masked": (lambda rng, c: _hidden(np.ones(len(c))), REFUSE),
    "missing": (lambda rng, c: pd.Series([pd.NA, *[1.0] * (len(c) - 1)], dtype="Float64"), REFUSE),
    "negative": (lambda rng, c: np.where(np.arange(len(c)) == 0, -1.0, 1.0), REFUSE),
    "NaN": (lambda rng, c: np.where(np.arange(len(c)) == 0, np.nan, 1.0), REFUSE),
    "all zero": (lambda rng, c: np.zeros(len(c)), REFUSE),
    "column": (lambda rng, c: np.ones((len(c), 1)), REFUSE),
    "too long": (lambda rng, c: np.ones(len(c) + 1), REFUSE),
    "sparse": (lambda rng, c: sparse.csr_array(np.ones((1, len(c)))), REFUSE),
    "text": (lambda rng, c: ["heavy"] * len(c), REFUSE),
    "1e200": (lambda rng, c: np.full(len(c), 1e200), REFUSE),
}

ONE_ROW = ("missing", "missing in a table", "NaN", "infinity", "masked")  # what is wrong with them is in the first row
SOME_ZERO = ("whole, some 0", "one row", "no weight for a class", "bools")
