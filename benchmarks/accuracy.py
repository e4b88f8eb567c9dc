"""How good an answer is, by plain NumPy: nothing here comes from a contender."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from benchmarks.workload import Accuracy, Answer, Array

_BLOCK_ROWS = 2**15  # the judge should not need the memory of a second table


class HasRows(Protocol):
    """A problem with rows and a numeric target."""

    @property
    def X(self) -> Array: ...
    @property
    def y(self) -> Array: ...


def least_squares_accuracy(alpha: float = 0.0) -> Accuracy[Any]:
    """Judge coefficients of Σ(y − x·coef − intercept)² + alpha·‖coef‖² by how nearly its derivatives vanish."""

    def distances(problem: HasRows, answers: Sequence[Answer]) -> list[float]:
        return [slope(problem.X, problem.y, answer, alpha) for answer in answers]

    return Accuracy("largest cosine between the residual and a column; 0 at the minimum", distances, equal=1e-10)


def slope(X: Array, y: Array, answer: Answer, alpha: float = 0.0) -> float:
    """Largest |x̃ⱼ·r − alpha·coefⱼ| / (‖x̃ⱼ‖·‖r‖) over the columns x̃ about their means, and the constant.

    It knows no units, so it sees a column of small numbers as well as one of large ones. The objective itself
    would not do: it changes with the square of this number.
    """
    mean = X.mean(axis=0)
    cross, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    level = residual = 0.0
    for rows in _blocks(len(X)):
        x = X[rows] - mean
        r = (y[rows] - answer.intercept - mean @ answer.coef) - x @ answer.coef
        cross += x.T @ r
        squares += np.einsum("ij,ij->j", x, x)
        level += float(r.sum())
        residual += float(r @ r)
    if residual == 0:
        return 0.0  # an exact fit
    varies = squares > 0
    pull = np.abs(cross - alpha * answer.coef)[varies] / np.sqrt(squares[varies])
    return float(max(pull.max(initial=0.0), abs(level) / np.sqrt(len(X))) / np.sqrt(residual))


def classical_errors(X: Array, y: Array) -> tuple[Array, Array]:
    """Least-squares coefficients, the intercept first, and their standard errors, by a QR factorisation."""
    n, d = X.shape
    mean = X.mean(axis=0)
    centred = np.column_stack([X - mean, y - y.mean()])
    upper = np.linalg.qr(centred, mode="r")
    half = np.linalg.inv(upper[:d, :d])
    coef = half @ upper[:d, d]
    variance = upper[d, d] ** 2 / (n - d - 1)
    lever = half.T @ mean
    se = np.sqrt(variance * np.concatenate([[1 / n + lever @ lever], np.einsum("ij,ij->i", half, half)]))
    return np.concatenate([[y.mean() - mean @ coef], coef]), se


def chosen_penalty_accuracy(scores: Callable[[Any], Array]) -> Accuracy[Any]:
    """Judge a chosen alpha and the score claimed for it.

    Parameters
    ----------
    scores : callable, problem -> ndarray
        The true score of every one of `problem.alphas`; the largest is best.
    """

    def distances(problem: Any, answers: Sequence[Answer]) -> list[float]:
        true = scores(problem)
        best = int(np.argmax(true))
        return [
            abs(answer.figures["score"] - true[best]) / abs(true[best])
            if answer.figures["alpha"] == problem.alphas[best]
            else np.inf
            for answer in answers
        ]

    # Two answers this near to the true score are within 1e-8 of each other.
    meaning = "relative error of the best score; infinite if another alpha is chosen"
    return Accuracy(meaning, distances, equal=5e-9)


def leave_one_out_scores(X: Array, y: Array, alphas: Array) -> Array:
    """−mean of (rᵢ / (1 − hᵢ))² for every alpha; h is the diagonal of the hat matrix, intercept included."""
    path = _Path(X, y)
    total = np.zeros(len(alphas))
    for rows in _blocks(len(X)):
        x, residual = path.residuals(X[rows], y[rows], alphas)
        leverage = 1 / len(X) + x**2 @ (1 / (path.values[:, None] + alphas))
        total += np.sum((residual / (1 - leverage)) ** 2, axis=0)
    return -total / len(X)


def fold_scores(X: Array, y: Array, alphas: Array, folds: int) -> Array:
    """R² on each of `folds` consecutive parts, fitted on the others, averaged, for every alpha."""
    total = np.zeros(len(alphas))
    for part in np.array_split(np.arange(len(X)), folds):
        rest = np.ones(len(X), dtype=bool)
        rest[part] = False
        _, residual = _Path(X[rest], y[rest]).residuals(X[part], y[part], alphas)
        total += 1 - np.sum(residual**2, axis=0) / np.sum((y[part] - y[part].mean()) ** 2)
    return total / folds


class _Path:
    """Ridge fits for all alphas at once, in the principal axes of the centred rows."""

    def __init__(self, X: Array, y: Array) -> None:
        self._mean, self._level = X.mean(axis=0), y.mean()
        gram, cross = np.zeros((X.shape[1],) * 2), np.zeros(X.shape[1])
        for rows in _blocks(len(X)):
            x = X[rows] - self._mean
            gram += x.T @ x
            cross += x.T @ (y[rows] - self._level)
        self.values, self._axes = np.linalg.eigh(gram)
        self._cross = self._axes.T @ cross

    def residuals(self, X: Array, y: Array, alphas: Array) -> tuple[Array, Array]:
        """Rows in principal axes, and their residuals, one column for each alpha."""
        x = (X - self._mean) @ self._axes
        return x, (y - self._level)[:, None] - x @ (self._cross[:, None] / (self.values[:, None] + alphas))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK_ROWS, n)) for start in range(0, n, _BLOCK_ROWS))
