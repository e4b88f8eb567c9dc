"""Classes for discriminants to part, and a judge of the scores they give: plain NumPy, none of it a contender's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.workload import Accuracy, Answer, Array

JUDGED_ROWS = 200
Gaussians = tuple[Array, Array, Array]
"""Means (classes, d), covariances (classes, d, d), shares (classes,)."""


class Classes(NamedTuple):
    """Rows, and the numbers of their classes."""

    X: Array
    y: Array

    @property
    def judged(self) -> Array:
        """The rows whose scores are compared."""
        return self.X[:JUDGED_ROWS]


def gaussian_classes(n: int, d: int, k: int, *, seed: int = 0) -> Classes:
    """Normal rows about the means of their classes, with columns of different spread that depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.standard_normal((n, d))
    X[:, 1:] += 0.5 * X[:, :-1]
    X *= rng.uniform(0.5, 2.0, d)
    X += rng.standard_normal((k, d))[y]
    return Classes(X, y)


def scores_accuracy(model: Callable[[Gaussians, Classes], Gaussians]) -> Accuracy[Classes]:
    """Judge `figures["scores"]` of the first rows: log-odds of every class against the first.

    Parameters
    ----------
    model : callable, (Gaussians of the sample, problem) -> Gaussians
        What the contender is asked to fit.
    """

    def distances(problem: Classes, answers: Sequence[Answer]) -> list[float]:
        true = _log_odds(_scores(model(sample_gaussians(problem), problem), problem.judged))
        size = 1.0 + np.abs(true)
        return [float(np.max(np.abs(_log_odds(answer.figures["scores"]) - true) / size)) for answer in answers]

    return Accuracy("largest relative error of a row's log-odds between classes", distances, equal=1e-8)


def sample_gaussians(problem: Classes) -> Gaussians:
    """Mean and covariance (over n) of each class."""
    groups = [problem.X[problem.y == k] for k in range(int(problem.y.max()) + 1)]
    means = np.stack([rows.mean(axis=0) for rows in groups])
    covariances = np.stack([np.cov(rows.T, bias=True) for rows in groups])
    return means, covariances, np.array([len(rows) for rows in groups]) / len(problem.y)


def one_covariance(gaussians: Gaussians, problem: Classes) -> Gaussians:
    """All classes with the mean of their covariances."""
    means, covariances, shares = gaussians
    return means, np.broadcast_to(np.tensordot(shares, covariances, axes=1), covariances.shape), shares


def own_covariances(gaussians: Gaussians, problem: Classes) -> Gaussians:
    """As they are."""
    return gaussians


def ledoit_wolf(gaussians: Gaussians, problem: Classes) -> Gaussians:
    """Correlations of each class shrunk by Ledoit and Wolf's share, then the mean of the covariances."""
    means, covariances, shares = gaussians
    shrunk = []
    for k, covariance in enumerate(covariances):
        spread = np.sqrt(np.diag(covariance))
        z = (problem.X[problem.y == k] - means[k]) / spread
        moments = covariance / np.outer(spread, spread)
        n, d = z.shape
        noise = (np.mean(np.sum(z**2, axis=1) ** 2) - np.sum(moments**2)) / n
        share = min(1.0, noise / (np.sum(moments**2) - d))
        shrunk.append(((1 - share) * moments + share * np.eye(d)) * np.outer(spread, spread))
    return one_covariance((means, np.stack(shrunk), shares), problem)


def _scores(gaussians: Gaussians, rows: Array) -> Array:
    columns = []
    for mean, covariance, share in zip(*gaussians, strict=True):
        apart = rows - mean
        distance = np.einsum("ij,ji->i", apart, np.linalg.solve(covariance, apart.T))
        columns.append(np.log(share) - 0.5 * (distance + np.linalg.slogdet(covariance)[1]))
    return np.column_stack(columns)


def _log_odds(scores: Array) -> Array:
    """Against the first class; a single column is that already."""
    return scores[:, None] if scores.ndim == 1 else scores[:, 1:] - scores[:, :1]
