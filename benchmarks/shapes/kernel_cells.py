"""Kernel machines in the map: cells of n from 50 to 30,000 rows, with gamma, C and alpha over six decades."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import issparse

from benchmarks.kernel_accuracy import rbf
from benchmarks.shapes.cells import Cell
from benchmarks.shapes.contenders import TOLERANCES, Contender
from benchmarks.shapes.tables import Table
from benchmarks.workload import Array

MODELS = ("kernel_svc", "kernel_svr", "kernel_ridge", "kernel_one_class", "kernel_nu_svc", "kernel_nu_svr")
_SHARES = (0.4, 0.15, 0.15, 0.1, 0.1, 0.1)  # of the cells
_CLASSIFIERS = ("kernel_svc", "kernel_nu_svc")
_EPSILON = 0.1
_BLOCK = 1000


def draw_kernels(seed: int, count: int, most_rows: int = 30_000) -> list[Cell]:
    """Cells by chance: rows, columns, penalty or nu, and gamma even in their logarithm; gamma in units of 1/columns."""
    rng = np.random.default_rng(seed)
    return [_draw_one(rng, most_rows) for _ in range(count)]


def _draw_one(rng: np.random.Generator, most_rows: int) -> Cell:
    model = str(rng.choice(MODELS, p=_SHARES))
    n = round(10 ** rng.uniform(np.log10(50), np.log10(most_rows)))
    d = round(10 ** rng.uniform(np.log10(2), 2))
    classes = 0 if model not in _CLASSIFIERS else 2 if rng.random() < 0.6 else int(rng.integers(3, 21))
    is_sparse = model != "kernel_ridge" and rng.random() < 0.2
    has_share = "nu" in model or "one_class" in model
    return Cell(
        model,
        n,
        d,
        density=float(rng.uniform(max(0.05, 1 / d), 0.6)) if is_sparse else 1.0,
        layout="csr" if is_sparse else "C",
        dtype=str(rng.choice(["float64", "float64", "float32"])),
        classes=min(classes, max(2, n // 20)) if classes else 0,
        strength=float(10 ** (rng.uniform(-2, np.log10(0.8)) if has_share else rng.uniform(-3, 3))),
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
        "kernel_one_class": partial(hp.OneClassSVM, nu=cell.strength),
        "kernel_nu_svc": partial(hp.NuSVC, nu=cell.strength),
        "kernel_nu_svr": partial(hp.NuSVR, nu=cell.strength),
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
    kinds: dict[str, Callable[..., Any]] = {
        "kernel_svc": partial(svm.SVC, C=C),
        "kernel_svr": partial(svm.SVR, C=C, epsilon=_EPSILON),
        "kernel_one_class": partial(svm.OneClassSVM, nu=C),
        "kernel_nu_svc": partial(svm.NuSVC, nu=C),
        "kernel_nu_svr": partial(svm.NuSVR, nu=C),
    }
    sizes = [200] if cell.n < 7_000 else [200, 2000]
    return [
        Contender(
            f"scikit-learn, cache {size} MB",
            partial(_fit, partial(kinds[cell.model], gamma=gamma, cache_size=size)),
            TOLERANCES,
        )
        for size in sizes
    ]


def _fit(make: Callable[..., Any], table: Table, tol: float | None = None) -> Any:
    model = make() if tol is None else make(tol=tol)
    if "NuSVC" in type(model).__name__:
        model.set_params(nu=min(model.nu, _largest_share(table)))
    return model.fit(table.X, table.y, sample_weight=table.weight)


def _largest_share(table: Table) -> float:
    """A nu that every pair of classes allows."""
    totals = np.bincount(table.y, weights=table.weight)
    return float(1.8 * totals.min() / (totals.min() + totals.max()))


def kernel_objective(cell: Cell, table: Table, model: Any) -> float:
    """The dual objective, summed over pairs of classes; of ridge regression the relative residual of its equations."""
    X = np.asarray(table.plain.toarray() if issparse(table.plain) else table.plain, dtype=np.float64)
    coef = np.asarray(model.dual_coef_.toarray() if issparse(model.dual_coef_) else model.dual_coef_, dtype=np.float64)
    if cell.model == "kernel_ridge":
        weight = np.ones(len(X)) if table.weight is None else table.weight
        left = table.y - _sums(X, X, coef, cell.gamma) - cell.strength * coef / weight
        return float(np.linalg.norm(left) / np.linalg.norm(table.y))
    rows = X[model.support_]
    if cell.model in _CLASSIFIERS:
        value = _pair_value if cell.model == "kernel_svc" else _share_value
        return sum(value(rows[own], beta, cell.gamma) for own, beta in _pairs(coef, model.n_support_))
    beta = np.ravel(coef)
    if cell.model == "kernel_one_class":
        return _share_value(rows, beta, cell.gamma)
    width = _EPSILON if cell.model == "kernel_svr" else 0.0
    linear = table.y[model.support_] @ beta - width * np.abs(beta).sum()
    return float(0.5 * beta @ _sums(rows, rows, beta, cell.gamma) - linear)


def _pair_value(rows: Array, beta: Array, gamma: float) -> float:
    return float(0.5 * beta @ _sums(rows, rows, beta, gamma) - np.abs(beta).sum())


def _share_value(rows: Array, beta: Array, gamma: float) -> float:
    """½βᵀKβ of machines whose Σ|β| is given, in its unit."""
    beta = beta / np.abs(beta).sum()
    return float(0.5 * beta @ _sums(rows, rows, beta, gamma))


def _pairs(coef: Array, counts: Array) -> list[tuple[Array, Array]]:
    """Support vectors and dual coefficients of every pair of classes, from scikit-learn's layout."""
    borders = np.concatenate([[0], np.cumsum(counts)])
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
