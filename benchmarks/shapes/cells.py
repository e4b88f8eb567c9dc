"""Cells of the map: a model and the shape of its table, drawn from a space by a seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

MODELS = (
    "linear", "ridge", "ridge_cv", "logistic", "logistic_cv", "svc_hinge", "svc_squared", "svr", "lda", "qda",
    "perceptron", "sgd",
)  # fmt: skip
CLASSIFIERS = frozenset({"logistic", "logistic_cv", "svc_hinge", "svc_squared", "lda", "qda", "perceptron", "sgd"})
DENSE_ONLY = frozenset({"lda", "qda", "ridge_cv"})
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
    kind : str
        Of everyday tables (`everyday.KINDS`); "" for independent normal numbers.
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
    kind: str = ""

    def __str__(self) -> str:
        said = [self.model, self.table or f"{self.n:,}×{self.d:,}"]
        said += [self.kind] if self.kind else []
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
    is_sparse = model not in DENSE_ONLY and rng.random() < 0.3
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
