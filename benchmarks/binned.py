"""Tables for binning, and how cut-offs are judged: by the information value of what they cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import Accuracy, Answer, Array


class Binned(NamedTuple):
    """Rows, a target of two classes, and cut-offs between 20 pre-bins of equal weight for each column, if asked for."""

    X: Array
    y: Array
    prebins: list[Array]


def table(n_rows: int, n_columns: int, dtype: Any = np.float64, seed: int = 0, prebins: bool = False) -> Binned:
    """Columns of several shapes (normal, lognormal, whole numbers), of which every third tells of the target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns), dtype=dtype)
    score = X[:, ::3].sum(axis=1, dtype=np.float64) / np.sqrt(len(range(0, n_columns, 3)))
    y = (rng.uniform(size=n_rows) < 1 / (1 + np.exp(2 - score))).astype(np.int64)
    X[:, 1::3] = np.exp(X[:, 1::3])
    X[:, 2::3] = np.floor(20 * X[:, 2::3])
    shares = np.arange(1, 20) / 20
    return Binned(X, y, [np.unique(np.quantile(X[:, j], shares)) for j in range(n_columns)] if prebins else [])


def information_value(x: Array, y: Array, cuts: Array) -> float:
    """Σ (n − p)·ln(n/p) over the bins between cut-offs, by counting."""
    codes = np.searchsorted(np.asarray(cuts, dtype=np.float64), x, side="right")
    events = np.bincount(codes, y, len(cuts) + 1)
    nonevents = np.bincount(codes, 1 - y, len(cuts) + 1)
    n, p = nonevents / nonevents.sum(), events / events.sum()
    return float(np.sum((n - p) * np.log(n / p)))


def information_accuracy(equal: float) -> Accuracy[Binned]:
    """Judge cut-offs by the share of information value, over all columns, that they lose against the best answer."""

    def distances(problem: Binned, answers: Sequence[Answer]) -> list[float]:
        values = [
            sum(information_value(problem.X[:, j], problem.y, cuts) for j, cuts in enumerate(answer.figures["cuts"]))
            for answer in answers
        ]
        return [1 - value / max(values) for value in values]

    return Accuracy("share of information value lost against the best answer", distances, equal=equal)


def new_rows_accuracy(n_rows: int, equal: float) -> Accuracy[Binned]:
    """Judge cut-offs by the information value they have on new rows of the same law.

    On the rows of the fit, cut-offs that follow the noise more closely have more of it.
    """

    def distances(problem: Binned, answers: Sequence[Answer]) -> list[float]:
        new = table(n_rows, problem.X.shape[1], seed=1)
        return information_accuracy(equal).distances(new, answers)

    return Accuracy(f"share of information value lost on {n_rows:,} new rows", distances, equal=equal)


def claimed_accuracy(n_columns: int) -> Accuracy[Binned]:
    """Judge information values that were claimed by counting in the first columns."""

    def distances(problem: Binned, answers: Sequence[Answer]) -> list[float]:
        return [
            max(
                abs(information_value(problem.X[:, j], problem.y, answer.figures["cuts"][j]) - answer.figures["iv"][j])
                for j in range(n_columns)
            )
            for answer in answers
        ]

    return Accuracy(f"largest error of the information values of {n_columns} columns", distances, equal=1e-9)
