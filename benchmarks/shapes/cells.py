"""Cells of the map: a model and a table, drawn from a space by a seed."""

from __future__ import annotations

import gzip
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.workload import Array

MODELS = (
    "linear", "ridge", "ridge_cv", "logistic", "logistic_cv", "svc_hinge", "svc_squared", "svr", "lda", "qda",
    "perceptron", "sgd",
)  # fmt: skip
CLASSIFIERS = frozenset({"logistic", "logistic_cv", "svc_hinge", "svc_squared", "lda", "qda", "perceptron", "sgd"})
_DENSE_ONLY = frozenset({"lda", "qda", "ridge_cv"})
_TABLES = ("w8a", "a9a", "20news")
_MOST_CELLS, _MOST_ENTRIES = 2e8, 2e7


@dataclass(frozen=True)
class Cell:
    """A model and the table it is fitted to.

    Attributes
    ----------
    model : str
        One of `MODELS`.
    n, d : int
        Rows and columns.
    density : float
        Share of the entries that are stored; 1 for dense rows.
    layout : str
        "C", "F", "pandas" or "polars" for dense rows, "csr" for sparse ones.
    dtype : str
        "float32" or "float64".
    classes : int
        2 or more for classifiers; 0 for regressors.
    strength : float
        C of classifiers, alpha of ridge, nu of kernel machines that have it; infinite or 0 for no penalty.
    correlation : float
        Of any two columns.
    spread : float
        Largest standard deviation of a column over the smallest.
    separable : bool
        Whether classes are separated by planes.
    weights : bool
        Whether rows have weights.
    seed : int
    table : str
        The name of a real table, or "".
    gamma : float
        Of the RBF kernel of kernel machines.
    """

    model: str
    n: int
    d: int
    density: float = 1.0
    layout: str = "C"
    dtype: str = "float64"
    classes: int = 2
    strength: float = 1.0
    correlation: float = 0.0
    spread: float = 1.0
    separable: bool = False
    weights: bool = False
    seed: int = 0
    table: str = ""
    gamma: float = 0.0

    def __str__(self) -> str:
        said = [self.model, self.table or f"{self.n:,}×{self.d:,}"]
        said += [f"{self.classes} classes"] if self.classes > 2 else []
        said += [f"density {self.density:.1g}"] if self.layout == "csr" and not self.table else []
        said += [self.layout] if self.layout in ("F", "pandas", "polars") else []
        said += ["float32"] if self.dtype == "float32" else []
        said += [f"strength {self.strength:.0e}"]
        said += [f"gamma {self.gamma:.0e}"] if self.gamma else []
        said += [f"correlation {self.correlation:g}"] if self.correlation else []
        said += [f"spread {self.spread:.0e}"] if self.spread > 1 else []
        return ", ".join(said + ["separable"] * self.separable + ["weights"] * self.weights)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Table(NamedTuple):
    """Rows as they are given to a model, the same as an array or CSR matrix, target and weights."""

    X: Any
    plain: Any
    y: Array
    weight: Array | None


def draw(seed: int, count: int, most: float, folder: Path | None) -> list[Cell]:
    """Cells by chance: sizes even in their logarithm.

    Parameters
    ----------
    most : float
        Entries of a table, at most.
    folder : Path or None
        Of the real tables; with it every twentieth cell is one of them.
    """
    rng = np.random.default_rng(seed)
    cells: list[Cell] = []
    while len(cells) < count:
        cell = _draw_one(rng, min(most, _MOST_CELLS), min(most, _MOST_ENTRIES))
        if folder is not None and len(cells) % 20 == 19 and cell.model in ("logistic", "svc_hinge", "svc_squared"):
            cell = Cell(cell.model, 0, 0, layout="csr", strength=cell.strength, table=str(rng.choice(_TABLES)))
        cells.append(cell)
    return cells


def _draw_one(rng: np.random.Generator, most_cells: float, most_entries: float) -> Cell:
    model = str(rng.choice(MODELS))
    is_sparse = model not in _DENSE_ONLY and rng.random() < 0.3
    while True:
        n = round(10 ** rng.uniform(np.log10(50), np.log10(5e6)))
        d = round(10 ** rng.uniform(np.log10(2), 6.0 if is_sparse else 4.0))
        density = 10 ** rng.uniform(-5, np.log10(0.3)) if is_sparse else 1.0
        entries = n * d * density
        if entries <= (most_entries if is_sparse else most_cells) and entries >= max(50, n / 2):
            break
    classes = 0 if model not in CLASSIFIERS else 2 if rng.random() < 0.7 else round(10 ** rng.uniform(0.5, 2))
    classes = min(classes, max(2, n // 20)) if classes else 0
    penalty = 10 ** rng.uniform(-4, 6)
    none = rng.random() < 0.1
    strength = {"linear": 0.0, "ridge": penalty}.get(model, np.inf if none and model == "logistic" else penalty)
    return Cell(
        model,
        n,
        d,
        density,
        "csr" if is_sparse else str(rng.choice(["C", "C", "C", "F", "pandas", "polars"])),
        str(rng.choice(["float64", "float64", "float32"])),
        classes,
        float(strength),
        float(rng.choice([0.0, 0.0, 0.5, 0.9])) if not is_sparse else 0.0,
        float(10 ** rng.uniform(0, 6)) if rng.random() < 0.3 else 1.0,
        bool(classes and rng.random() < 0.1),
        bool(rng.random() < 0.2) and model not in ("lda", "qda"),
        int(rng.integers(2**31)),
    )


def make(cell: Cell, folder: Path | None) -> Table:
    """The table of a cell, the same at every call."""
    if cell.table:
        return _real(cell, folder)
    rng = np.random.default_rng(cell.seed)
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
    score = np.asarray(plain @ (2 * rng.standard_normal((cell.d, k)) / row_size), dtype=np.float64)
    y = _target(cell, score, rng)
    if cell.spread > 1:
        sizes = (cell.spread ** rng.uniform(0, 1, cell.d)).astype(cell.dtype)
        plain = (plain * sizes).tocsr() if cell.layout == "csr" else plain * sizes
    weight = rng.uniform(0.5, 2.0, cell.n) if cell.weights else None
    return Table(_laid_out(plain, cell.layout), plain, y, weight)


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
