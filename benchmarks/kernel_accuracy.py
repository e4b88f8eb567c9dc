"""How good answers of kernel machines are, by plain NumPy: nothing here comes from a contender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import Accuracy, Answer, Array

_BLOCK = 1000


class Curved(NamedTuple):
    """Rows whose target is a curved function of them, and rows to test on."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    alphas: Array


def curved(n: int, d: int, n_test: int = 0, alphas: Array | None = None, seed: int = 0) -> Curved:
    """Normal columns; a sine, a product and a line of them, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n_test, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.1 * rng.standard_normal(n + n_test)
    return Curved(X[:n], y[:n], X[n:], y[n:], np.empty(0) if alphas is None else alphas)


def rbf(x: Array, z: Array, gamma: float) -> Array:
    """exp(−gamma·‖x − z‖²) of every pair."""
    square = np.square(x).sum(axis=1)[:, None] + np.square(z).sum(axis=1) - 2 * x @ z.T
    return np.asarray(np.exp(-gamma * np.maximum(square, 0.0)))


def residual_accuracy(alpha: float, gamma: float) -> Accuracy[Any]:
    """Judge dual coefficients by how nearly they solve (K + alpha)·coef = y."""

    def distances(problem: Curved, answers: Sequence[Answer]) -> list[float]:
        coefs = np.column_stack([answer.coef for answer in answers])
        left = np.empty_like(coefs)
        for start in range(0, len(coefs), _BLOCK):
            rows = slice(start, start + _BLOCK)
            fitted = rbf(problem.X[rows], problem.X, gamma) @ coefs + alpha * coefs[rows]
            left[rows] = problem.y[rows, None] - fitted
        return [float(size) for size in np.linalg.norm(left, axis=0) / np.linalg.norm(problem.y)]

    return Accuracy("relative residual of (K + alpha)·coef = y", distances, equal=1e-8)


def fold_scores(problem: Curved, gamma: float, folds: int) -> Array:
    """Mean R² over consecutive folds for every penalty, by a solution for each."""
    K, n = rbf(problem.X, problem.X, gamma), len(problem.y)
    scores = np.zeros(len(problem.alphas))
    for test in np.array_split(np.arange(n), folds):
        train = np.setdiff1d(np.arange(n), test)
        y, target = problem.y[train], problem.y[test]
        for number, alpha in enumerate(problem.alphas):
            coef = np.linalg.solve(K[np.ix_(train, train)] + alpha * np.eye(len(train)), y)
            error = np.square(target - K[np.ix_(test, train)] @ coef).sum()
            scores[number] += (1 - error / np.square(target - target.mean()).sum()) / folds
    return scores


def held_out_accuracy(equal: float = 0.02) -> Accuracy[Any]:
    """Judge predictions of the test rows by their mean squared error, relative to the best of all answers."""

    def distances(problem: Curved, answers: Sequence[Answer]) -> list[float]:
        errors = [float(np.square(answer.figures["predicted"] - problem.y_test).mean()) for answer in answers]
        return [error / min(errors) - 1 for error in errors]

    return Accuracy("mean squared error of test rows, beyond the best", distances, equal=equal)
