"""Kernel machines in the map: cells of n from 50 to 30,000 rows, with gamma, C and alpha over six decades."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.kernel_accuracy import rbf
from benchmarks.shapes.cells import Cell, Table
from benchmarks.shapes.contenders import TOLERANCES, Contender
from benchmarks.workload import Array

MODELS = ("kernel_svc", "kernel_svr", "kernel_ridge")
_EPSILON = 0.1
_BLOCK = 1000


def draw_kernels(seed: int, count: int, most_rows: int = 30_000) -> list[Cell]:
    """Cells by chance: rows, columns, penalty and gamma even in their logarithm; gamma is in units of 1/columns."""
    rng = np.random.default_rng(seed)
    return [_draw_one(rng, most_rows) for _ in range(count)]


def _draw_one(rng: np.random.Generator, most_rows: int) -> Cell:
    model = str(rng.choice(MODELS, p=[0.6, 0.2, 0.2]))
    n = round(10 ** rng.uniform(np.log10(50), np.log10(most_rows)))
    d = round(10 ** rng.uniform(np.log10(2), 2))
    classes = 0 if model != "kernel_svc" else 2 if rng.random() < 0.6 else int(rng.integers(3, 21))
    return Cell(
        model,
        n,
        d,
        dtype=str(rng.choice(["float64", "float64", "float32"])),
        classes=min(classes, max(2, n // 20)) if classes else 0,
        strength=float(10 ** rng.uniform(-3, 3)),
        separable=bool(classes and rng.random() < 0.1),
        weights=bool(rng.random() < 0.2),
        seed=int(rng.integers(2**31)),
        gamma=float(10 ** rng.uniform(-3, 3) / d),
    )


def kernel_ours(cell: Cell) -> Contender:
    """Our machine at its defaults."""
    import hiperplano as hp

    kinds: dict[str, Callable[..., Any]] = {
        "kernel_svc": partial(hp.SVC, C=cell.strength),
        "kernel_svr": partial(hp.SVR, C=cell.strength, epsilon=_EPSILON),
        "kernel_ridge": partial(hp.KernelRidge, alpha=cell.strength, kernel="rbf"),
    }
    return Contender("hiperplano", partial(_fit, partial(kinds[cell.model], gamma=cell.gamma)))


def kernel_rivals(cell: Cell) -> list[Contender]:
    """scikit-learn's machine; support vector machines also with a large cache."""
    from sklearn import svm
    from sklearn.kernel_ridge import KernelRidge

    C, gamma = cell.strength, cell.gamma
    if cell.model == "kernel_ridge":
        chosen = partial(KernelRidge, alpha=C, kernel="rbf", gamma=gamma)
        return [Contender("scikit-learn", partial(_fit, chosen))]
    kind: Any = svm.SVC if cell.model == "kernel_svc" else partial(svm.SVR, epsilon=_EPSILON)
    sizes = [200] if cell.n < 7_000 else [200, 2000]
    return [
        Contender(
            f"scikit-learn, cache {size} MB",
            partial(_fit, partial(kind, C=C, gamma=gamma, cache_size=size)),
            TOLERANCES,
        )
        for size in sizes
    ]


def _fit(make: Callable[..., Any], table: Table, tol: float | None = None) -> Any:
    model = make() if tol is None else make(tol=tol)
    return model.fit(table.X, table.y, sample_weight=table.weight)


def kernel_objective(cell: Cell, table: Table, model: Any) -> float:
    """The dual objective, summed over pairs of classes; of ridge regression the relative residual of its equations."""
    X = np.asarray(table.plain, dtype=np.float64)
    if cell.model == "kernel_ridge":
        coef = np.asarray(model.dual_coef_, dtype=np.float64)
        weight = np.ones(len(X)) if table.weight is None else table.weight
        left = table.y - _sums(X, X, coef, cell.gamma) - cell.strength * coef / weight
        return float(np.linalg.norm(left) / np.linalg.norm(table.y))
    rows = X[model.support_]
    if cell.model == "kernel_svr":
        beta, target = np.ravel(model.dual_coef_), table.y[model.support_]
        linear = target @ beta - _EPSILON * np.abs(beta).sum()
        return float(0.5 * beta @ _sums(rows, rows, beta, cell.gamma) - linear)
    return sum(_pair_value(rows[own], beta, cell.gamma) for own, beta in _pairs(model))


def _pair_value(rows: Array, beta: Array, gamma: float) -> float:
    return float(0.5 * beta @ _sums(rows, rows, beta, gamma) - np.abs(beta).sum())


def _pairs(model: Any) -> list[tuple[Array, Array]]:
    """Support vectors and dual coefficients of every pair of classes, from scikit-learn's layout."""
    coef, borders = np.asarray(model.dual_coef_), np.concatenate([[0], np.cumsum(model.n_support_)])
    of = [np.arange(borders[k], borders[k + 1]) for k in range(len(borders) - 1)]
    if len(of) == 2:
        return [(np.concatenate(of), coef[0])]
    return [
        (np.concatenate([of[i], of[j]]), np.concatenate([coef[j - 1, of[i]], coef[i, of[j]]]))
        for i, j in combinations(range(len(of)), 2)
    ]


def _sums(x: Array, z: Array, coef: Array, gamma: float) -> Array:
    """Σⱼ coefⱼ·k(x, zⱼ) of every row."""
    starts = range(0, len(x), _BLOCK)
    return np.concatenate([rbf(x[start : start + _BLOCK], z, gamma) @ coef for start in starts])
