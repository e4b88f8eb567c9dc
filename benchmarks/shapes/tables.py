"""The table of a cell: rows, target and weights, the same at every call."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.shapes.cells import Cell
from benchmarks.shapes.everyday import everyday_rows
from benchmarks.workload import Array


class Table(NamedTuple):
    """Rows as they are given to a model, the same as an array or CSR matrix, target and weights."""

    X: Any
    plain: Any
    y: Array
    weight: Array | None


def make(cell: Cell, folder: Path | None) -> Table:
    """The table of a cell, the same at every call."""
    if cell.table:
        return _real(cell, folder)
    rng = np.random.default_rng(cell.seed)
    if cell.kind:
        plain, score = everyday_rows(cell, rng)
    else:
        plain, score = _normal_rows(cell, rng)
    y = _target(cell, score, rng)
    if cell.spread > 1:
        sizes = (cell.spread ** rng.uniform(0, 1, cell.d)).astype(cell.dtype)
        plain = (plain * sizes).tocsr() if cell.layout == "csr" else plain * sizes
    weight = rng.uniform(0.5, 2.0, cell.n) if cell.weights else None
    return Table(_laid_out(plain, cell.layout), plain, y, weight)


def _normal_rows(cell: Cell, rng: np.random.Generator) -> tuple[Any, Array]:
    """Rows of normal numbers, and a score for each class."""
    if cell.layout == "csr":
        plain: Any = sparse.random_array(
            (cell.n, cell.d), density=cell.density, format="csr", rng=rng, dtype=cell.dtype
        )
        plain.data = rng.standard_normal(plain.nnz).astype(cell.dtype)
    else:
        plain = rng.standard_normal((cell.n, cell.d), dtype=cell.dtype)
        if cell.correlation:
            common = rng.standard_normal((cell.n, 1), dtype=cell.dtype)
            plain *= np.sqrt(1 - cell.correlation)
            plain += np.sqrt(cell.correlation) * common
    row_size = np.sqrt(cell.d * cell.density * (1 + cell.correlation * cell.d * (cell.layout != "csr")))
    k = 1 if cell.classes <= 2 else cell.classes
    return plain, np.asarray(plain @ (2 * rng.standard_normal((cell.d, k)) / row_size), dtype=np.float64)


def _target(cell: Cell, score: Array, rng: np.random.Generator) -> Array:
    if not cell.classes:
        return score[:, 0] + 0.5 * rng.standard_normal(cell.n)
    noise = 0.0 if cell.separable else 1.0
    if cell.classes == 2:
        y = (score[:, 0] + noise * rng.logistic(size=cell.n) > 0).astype(np.intp)
    else:
        y = (score + noise * rng.gumbel(size=score.shape)).argmax(axis=1)
    y[: cell.classes * 2] = np.arange(cell.classes * 2) % cell.classes  # every class has rows
    return y


def _laid_out(plain: Any, layout: str) -> Any:
    if layout == "F":
        return np.asfortranarray(plain)
    if layout in ("pandas", "polars"):
        names = [f"x{j}" for j in range(plain.shape[1])]
        if layout == "pandas":
            import pandas as pd

            return pd.DataFrame(plain, columns=names)
        import polars as pl

        return pl.DataFrame(plain, schema=names)
    return plain


def _real(cell: Cell, folder: Path | None) -> Table:
    """w8a and a9a in LIBSVM's format, 20news by its weights."""
    assert folder is not None
    if cell.table == "20news":
        stored = np.load(folder / "20news_tfidf.npz", allow_pickle=False)
        parts = tuple(stored[f"train_{name}"] for name in ("data", "indices", "indptr"))
        X, y = sparse.csr_array(parts, shape=tuple(stored["train_shape"])), (stored["y_train"] % 2).astype(np.intp)
    else:
        from sklearn.datasets import load_svmlight_file

        with gzip.open(folder / f"{cell.table}.gz") as file:
            X, labels = load_svmlight_file(file)
        X, y = sparse.csr_array(X), (labels > 0).astype(np.intp)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # liblinear takes no others
    return Table(X, X, y, None)
