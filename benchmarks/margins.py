"""Support vector machines: problems, and how their planes are judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.classification import Labelled
from benchmarks.workload import Accuracy, Answer, Array


def noisy_rows(n: int, d: int, *, seed: int = 0) -> Labelled:
    """Independent normal columns; about one row in six lies on the wrong side of the best plane."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ rng.standard_normal(d) / np.sqrt(d) + 0.3
    return Labelled(X, (score + 0.5 * rng.standard_normal(n) > 0).astype(np.int64))


def separable_rows(n: int, d: int, *, seed: int = 0) -> Labelled:
    """Normal rows pushed away from a plane by a tenth of their spread, to either side."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    normal = rng.standard_normal(d)
    normal /= np.linalg.norm(normal)
    side = np.where(X @ normal + 0.3 > 0, 1.0, -1.0)
    return Labelled(X + 0.1 * side[:, None] * normal, (side > 0).astype(np.int64))


def objective_accuracy(C: float, squared: bool) -> Accuracy[Any]:
    """Judge planes by ½‖coef‖² + C·Σ loss, relative to the smallest found; 1e-4 of it is what users ask for."""

    def distances(problem: Labelled, answers: Sequence[Answer]) -> list[float]:
        values = [_objective(problem, answer, C, squared) for answer in answers]
        return [value / min(values) - 1.0 for value in values]

    return Accuracy("objective above the smallest found, relative", distances, equal=1e-4)


def margin_accuracy() -> Accuracy[Any]:
    """Judge separating planes by the distance of the nearest row, relative to the largest found."""

    def distances(problem: Labelled, answers: Sequence[Answer]) -> list[float]:
        values = [_nearest(problem, answer) for answer in answers]
        return [max(values) / value - 1.0 if value > 0 else np.inf for value in values]

    return Accuracy("margin below the largest found, relative", distances, equal=1e-6)


def _signed(problem: Labelled, answer: Answer) -> Array:
    sign = np.where(problem.y > 0, 1.0, -1.0)
    return np.asarray(sign * (problem.X @ np.ravel(answer.coef) + np.ravel(answer.intercept)[0]))


def _objective(problem: Labelled, answer: Answer, C: float, squared: bool) -> float:
    short = np.maximum(0.0, 1.0 - _signed(problem, answer))
    return float(0.5 * np.sum(np.square(answer.coef)) + C * (short @ short if squared else short.sum()))


def _nearest(problem: Labelled, answer: Answer) -> float:
    return float(_signed(problem, answer).min() / np.linalg.norm(answer.coef))
