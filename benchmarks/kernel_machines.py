"""Kernel support vector machines: problems, and how their dual coefficients are judged, by plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.kernel_accuracy import rbf
from benchmarks.workload import Accuracy, Answer, Array

_BLOCK = 1000


class Bent(NamedTuple):
    """Rows, labels or numbers that are a curved function of them, and rows to test on."""

    X: Any
    y: Array
    X_test: Any = None
    y_test: Any = None


def bent_rows(n: int, d: int, *, numbers: bool = False, seed: int = 0) -> Bent:
    """Normal columns; a sine, a product and a square of them with noise, as a number or as its sign."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.5 * rng.standard_normal(n)
    return Bent(X, y if numbers else (y > 0).astype(np.int64))


def dual_accuracy(C: float, gamma: float, width: float | None = None) -> Accuracy[Any]:
    """Judge dual coefficients by ½βᵀKβ − tᵀβ + width·Σ|β|, relative to the least found; infinite outside the bounds.

    Parameters
    ----------
    width : float, optional
        Of the tube of a regression; None for classes.
    """

    def distances(problem: Bent, answers: Sequence[Answer]) -> list[float]:
        target = problem.y if width is not None else np.where(problem.y > 0, 1.0, -1.0)
        values = np.array([_value(problem.X, target, np.ravel(a.coef), C, gamma, width) for a in answers])
        least = values.min()
        return [float((value - least) / abs(least)) for value in values]

    return Accuracy("dual objective above the least found, relative", distances, equal=1e-4)


def _value(X: Any, target: Array, beta: Array, C: float, gamma: float, width: float | None) -> float:
    low, high = (-C, C) if width is not None else (np.where(target < 0, -C, 0.0), np.where(target > 0, C, 0.0))
    if (beta < low).any() or (beta > high).any() or abs(beta.sum()) > 1e-6 * np.abs(beta).sum():
        return np.inf
    X = X.toarray() if hasattr(X, "toarray") else X
    held = np.flatnonzero(beta)
    quadratic = sum(
        float(beta[rows] @ (rbf(X[rows], X[held], gamma) @ beta[held]))
        for rows in np.array_split(held, max(1, len(held) // _BLOCK))
    )
    return 0.5 * quadratic - float(target @ beta) + (width or 0.0) * float(np.abs(beta).sum())


def error_accuracy(equal: float) -> Accuracy[Any]:
    """Judge predictions of the test rows by their share of errors, above the least."""

    def distances(problem: Bent, answers: Sequence[Answer]) -> list[float]:
        errors = [float(np.mean(answer.figures["predicted"] != problem.y_test)) for answer in answers]
        return [error - min(errors) for error in errors]

    return Accuracy("share of errors on test rows above the least", distances, equal=equal)


def best_score_accuracy(equal: float) -> Accuracy[Any]:
    """Judge a search by the score of the pair it chose, below the best found."""

    def distances(problem: Bent, answers: Sequence[Answer]) -> list[float]:
        scores = [answer.figures["score"] for answer in answers]
        return [max(scores) - score for score in scores]

    return Accuracy("accuracy in the folds of the chosen pair, below the best found", distances, equal=equal)
