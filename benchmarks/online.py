"""Classifiers that learn one example at a time: problems, and how their answers are judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.classification import Labelled, logistic_rows, sparse_rows
from benchmarks.workload import Accuracy, Answer, Array, Request

PASSES = 5


class Stream(Labelled):
    """Rows that come one at a time: as arrays of one row, and as the dictionaries that river takes."""

    rows: list[tuple[Array, Array]]
    dictionaries: list[tuple[dict[int, float], bool]]


def dense(request: Request) -> Labelled:
    return logistic_rows(20_000 if request.quick else 500_000, 50)


def sparse(request: Request) -> Labelled:
    """With 32-bit indices, the only ones that scikit-learn's perceptron takes."""
    X, y = sparse_rows(5_000, 2_000, 20) if request.quick else sparse_rows(200_000, 50_000, 69)
    narrow = csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    narrow.has_sorted_indices = narrow.has_canonical_format = True
    return Labelled(narrow, y)


def stream(request: Request) -> Stream:
    X, y = logistic_rows(2_000 if request.quick else 100_000, 50)
    problem = Stream(X, y)
    problem.rows = [(X[i : i + 1], y[i : i + 1]) for i in range(len(y))]
    problem.dictionaries = [(dict(enumerate(x.tolist())), bool(label)) for x, label in zip(X, y, strict=True)]
    return problem


def mistakes(equal: float) -> Accuracy[Any]:
    """Judge a plane by the training rows on its wrong side.

    Parameters
    ----------
    equal : float
        Shares up to this one count as equally good: the last weights of such a walk are noise about good ones.
    """

    def distances(problem: Any, answers: Sequence[Answer]) -> list[float]:
        return [
            float(np.mean((problem.X @ np.ravel(answer.coef) + float(np.ravel(answer.intercept)[0]) > 0) != problem.y))
            for answer in answers
        ]

    return Accuracy("share of the training rows on the wrong side", distances, equal)
