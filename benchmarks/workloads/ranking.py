"""Kolmogorov-Smirnov, Gini and the area under the ROC curve of one set of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.rivals import hiperplano, scipy
from benchmarks.workload import Accuracy, Answer, Array, Contender, Request, Workload


class Scores(NamedTuple):
    """Classes 0 and 1, and a score for each row."""

    y: Array
    score: Array


def make(request: Request) -> Scores:
    rng = np.random.default_rng(0)
    n = 50_000 if request.quick else 5_000_000
    y = (rng.random(n) < 0.2).astype(np.int64)
    return Scores(y, rng.standard_normal(n) + y)


def distances(problem: Scores, answers: Sequence[Answer]) -> list[float]:
    """By counting: how many scores of each class lie at or below each score."""
    low, high = (np.sort(problem.score[problem.y == label]) for label in (0, 1))
    below = np.searchsorted(low, high, side="left")
    ties = np.searchsorted(low, high, side="right") - below
    auc = float(np.sum(below + ties / 2) / len(low) / len(high))
    every = np.concatenate([low, high])
    gaps = np.searchsorted(low, every, "right") / len(low) - np.searchsorted(high, every, "right") / len(high)
    true = {"ks": float(np.abs(gaps).max()), "auc": auc, "gini": 2 * auc - 1}
    return [max(abs(answer.figures[name] - value) for name, value in true.items()) for answer in answers]


WORKLOAD = Workload(
    description="KS, Gini and AUC of 5,000,000 scores together.",
    make=make,
    ours=Contender("hiperplano ranking_scores", lambda p: hiperplano.ranking(p.y, p.score)),
    rivals=(Contender("scipy ks_2samp + sklearn roc_auc_score", lambda p: scipy.ranking(p.y, p.score)),),
    target=4.0,
    accuracy=Accuracy("largest error of KS, Gini or AUC", distances, equal=1e-10),
)
