"""Everyday tables in the map: words of texts, one-hot categories, and columns in the units that they came in."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.shapes.cells import CLASSIFIERS, DENSE_ONLY, MODELS, Cell
from benchmarks.workload import Array

KINDS = ("tfidf", "counts", "categories", "raw")


def draw_everyday(seed: int, count: int, most: float) -> list[Cell]:
    """Cells by chance: rows, columns and penalty even in their logarithm."""
    rng = np.random.default_rng(seed)
    return [_draw_one(rng, most) for _ in range(count)]


def _draw_one(rng: np.random.Generator, most: float) -> Cell:
    model = str(rng.choice(MODELS))
    kind = "raw" if model in DENSE_ONLY else str(rng.choice(KINDS))
    while True:
        n = round(10 ** rng.uniform(2, 6))
        if kind == "raw":
            d, filled = round(10 ** rng.uniform(np.log10(3), np.log10(300))), 1.0
        elif kind == "categories":
            d, filled = round(10 ** rng.uniform(1.5, 5)), 10 ** rng.uniform(0.5, 1.5)
        else:
            d, filled = round(10 ** rng.uniform(3, 5.5)), 10 ** rng.uniform(0.7, 2.5)
        density = 1.0 if kind == "raw" else filled / d
        if density <= 1 and n * d * density <= most:
            break
    classes = 0 if model not in CLASSIFIERS else 2 if rng.random() < 0.7 else int(rng.integers(3, 21))
    none = model == "logistic" and rng.random() < 0.1
    return Cell(
        model,
        n,
        d,
        density,
        str(rng.choice(["C", "F", "pandas", "polars"])) if kind == "raw" else "csr",
        str(rng.choice(["float64", "float64", "float32"])),
        min(classes, max(2, n // 20)) if classes else 0,
        0.0 if model == "linear" else float(np.inf if none else 10 ** rng.uniform(-3, 3)),
        weights=bool(rng.random() < 0.2) and model not in ("lda", "qda"),
        seed=int(rng.integers(2**31)),
        kind=kind,
    )


def everyday_rows(cell: Cell, rng: np.random.Generator) -> tuple[Any, Array]:
    """Rows of a cell, and a score for each class (one for two classes and for regression)."""
    make = {"raw": _raw, "categories": _categories}.get(cell.kind, _words)
    plain = make(cell, rng)
    effects = rng.standard_normal((cell.d, cell.classes if cell.classes > 2 else 1))
    if cell.kind == "raw":
        effects /= np.maximum(plain.std(axis=0, dtype=np.float64), 1e-6)[:, None]
    score = np.asarray(plain @ effects, dtype=np.float64)
    return plain.astype(cell.dtype), 2.0 * (score - score.mean(axis=0)) / np.maximum(score.std(axis=0), 1e-6)


def _raw(cell: Cell, rng: np.random.Generator) -> Array:
    """Measures, amounts of money, counts, flags, every level of a category, and copies with a little noise."""
    columns: list[Array] = []
    while len(columns) < cell.d:
        kind = rng.choice(["measure", "measure", "amount", "count", "flag", "levels", "copy"])
        if kind == "measure":
            columns.append(rng.normal(rng.normal(), 10 ** rng.uniform(-2, 2), cell.n))
        elif kind == "amount":
            columns.append(10 ** rng.uniform(0, 5) * rng.lognormal(0.0, 1.0, cell.n))
        elif kind == "count":
            columns.append(rng.poisson(10 ** rng.uniform(-1, 1), cell.n).astype(float))
        elif kind == "flag":
            columns.append((rng.random(cell.n) < rng.uniform(0.02, 0.5)).astype(float))
        elif kind == "levels":
            level = rng.integers(3, 10)
            drawn = rng.integers(level, size=cell.n)
            columns += [(drawn == each).astype(float) for each in range(level)]
        elif columns:
            column = columns[int(rng.integers(len(columns)))]
            columns.append(column + 0.1 * column.std() * rng.standard_normal(cell.n))
    return np.column_stack(columns[: cell.d])


def _categories(cell: Cell, rng: np.random.Generator) -> Any:
    """One column for each level: few levels or many, of which some are common and most are rare."""
    count = max(1, round(cell.d * cell.density))
    shares = rng.lognormal(0.0, 1.5, count)
    levels = np.maximum(1, np.floor(cell.d * shares / shares.sum())).astype(int)
    starts = np.minimum(np.concatenate([[0], np.cumsum(levels)[:-1]]), cell.d - 1)
    levels = np.minimum(levels, cell.d - starts)
    drawn = [start + _ranks(level, cell.n, rng) for start, level in zip(starts, levels, strict=True)]
    columns = np.column_stack(drawn)
    rows = sparse.csr_array((np.ones(columns.size), columns.ravel(), np.arange(cell.n + 1) * count), (cell.n, cell.d))
    return _narrow(rows)


def _words(cell: Cell, rng: np.random.Generator) -> Any:
    """Words of texts about two topics, by their counts or by tf-idf with rows of length one."""
    lengths = np.maximum(1, rng.lognormal(np.log(cell.d * cell.density), 0.6, cell.n).astype(np.intp))
    of_row = np.repeat(np.arange(cell.n), lengths)
    words = _ranks(cell.d, len(of_row), rng)
    second = rng.permutation(
        cell.d
    )  # the words of the second topic by their frequency, of which common ones are shared
    changed = (np.arange(cell.n) % 2)[of_row] & (words > 100) & (rng.random(len(words)) < 0.3)
    words = np.where(changed == 1, second[words], words)
    counts = sparse.csr_array((np.ones(len(words)), (of_row, words)), (cell.n, cell.d))
    if cell.kind == "counts":
        return _narrow(counts)
    from sklearn.feature_extraction.text import TfidfTransformer

    return _narrow(sparse.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts)))


def _ranks(count: int, size: int, rng: np.random.Generator) -> Array:
    """Numbers below `count` by Zipf's law."""
    borders = np.cumsum(np.arange(1, count + 1) ** -1.05)
    return np.searchsorted(borders, rng.random(size) * borders[-1]).astype(np.intp)


def _narrow(rows: Any) -> Any:
    """With indices of 32 bits, as scikit-learn's transformers give them."""
    rows.sum_duplicates()
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows
