"""Two and more classes: problems, and how logistic answers are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import expit, softmax

from benchmarks.workload import Accuracy, Answer, Array

_BLOCK_ROWS = 2**15


class Labelled(NamedTuple):
    """Rows and the numbers of their classes."""

    X: Any
    y: Array


def logistic_rows(n: int, d: int, *, seed: int = 0) -> Labelled:
    """Independent normal columns, about a quarter of the rows positive."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ (0.4 * rng.standard_normal(d)) - 1.5
    return Labelled(X, (rng.random(n) < expit(score)).astype(np.int64))


def credit_table(n: int, *, seed: int = 0) -> Labelled:
    """10 unscaled money columns beside 8 categoricals coded by 0 and 1 (110 columns), 3% events."""
    rng = np.random.default_rng(seed)
    money = rng.lognormal(rng.uniform(7, 15, 10), rng.uniform(0.3, 1.0, 10), (n, 10))
    shared = rng.lognormal(0.0, 0.4, (n, 1))
    money *= shared  # incomes and debts go together
    columns = [money]
    score = (np.log(money) - np.log(money).mean(axis=0)) @ rng.normal(0, 0.3, 10)
    for levels in (2, 3, 5, 8, 12, 20, 30, 38):
        share = rng.dirichlet(np.full(levels, 0.6)) * 0.98 + 0.02 / levels
        code = rng.choice(levels, n, p=share / share.sum())
        columns.append((code[:, None] == np.arange(1, levels)).astype(float))
        score += rng.normal(0, 0.5, levels)[code]
    X = np.hstack(columns)
    return Labelled(X, (rng.random(n) < expit(score - 5.3)).astype(np.int64))


def sparse_rows(n: int, d: int, per_row: int, *, seed: int = 0) -> Labelled:
    """Columns of very different frequency, as words have."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, d + 1) ** 0.7
    columns = np.searchsorted(np.cumsum(share / share.sum()), rng.random(n * per_row)).astype(np.int32)
    columns = np.minimum(columns, d - 1)
    X = csr_array((rng.random(n * per_row), (np.repeat(np.arange(n), per_row), columns)), shape=(n, d))
    X.sum_duplicates()
    X.indptr = X.indptr.astype(np.int32)  # LIBLINEAR takes no others
    X.indices = X.indices.astype(np.int32)
    score = X @ (rng.standard_normal(d) * (rng.random(d) < 0.1))
    return Labelled(X, (rng.random(n) < expit(2.0 * score / score.std())).astype(np.int64))


def softmax_rows(n: int, d: int, classes: int, *, seed: int = 0) -> Labelled:
    """Independent normal columns and classes drawn from a softmax of linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    chances = softmax(X @ (0.3 * rng.standard_normal((d, classes))), axis=1).cumsum(axis=1)
    y = (rng.random(n)[:, None] > chances).sum(axis=1)
    return Labelled(X, np.minimum(y, classes - 1))


def likelihood_accuracy(C: float = 1.0, equal: float = 1e-6) -> Accuracy[Any]:
    """Judge coefficients of C·Σ loss + ½‖coef‖² by how nearly the derivatives of its mean vanish."""

    def distances(problem: Labelled, answers: Sequence[Answer]) -> list[float]:
        return [largest_derivative(problem.X, problem.y, answer, C) for answer in answers]

    return Accuracy("largest derivative of the mean loss, standardised columns; 0 at the minimum", distances, equal)


def largest_derivative(X: Any, y: Array, answer: Answer, C: float) -> float:
    """Of mean loss + ‖coef‖²/(2·C·n), by parameters of columns centred and at unit spread."""
    n, d = X.shape
    coef = np.atleast_2d(answer.coef).astype(np.float64)
    intercept = np.ravel(answer.intercept).astype(np.float64)
    mean, spread = _mean_and_spread(X)
    sums, totals = np.zeros((len(coef), d)), np.zeros(len(coef))
    for rows in _blocks(n):
        x = X[rows]
        score = (x - mean) @ coef.T + (intercept + coef @ mean) if not issparse(x) else x @ coef.T + intercept
        if len(coef) == 1:
            residual = expit(score) - y[rows, None]
        else:
            residual = softmax(score, axis=1) - (y[rows, None] == np.arange(len(coef)))
        totals += residual.sum(axis=0)
        sums += (residual.T @ (x - mean)) if not issparse(x) else (x.T @ residual).T
    if issparse(X):
        sums -= np.outer(totals, mean)
    penalty = 0.0 if np.isinf(C) else coef / (C * n)
    varies = spread > 0
    # coef = v/spread for the coefficient v of the column at unit spread, so a derivative by v is one by coef / spread.
    slopes = np.abs(sums / n + penalty)[:, varies] / spread[varies]
    return float(max(slopes.max(initial=0.0), np.abs(totals).max() / n))


def _mean_and_spread(X: Any) -> tuple[Array, Array]:
    if issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0.0))
    return X.mean(axis=0), X.std(axis=0)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK_ROWS, n)) for start in range(0, n, _BLOCK_ROWS))
