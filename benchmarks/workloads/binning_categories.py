"""Optimal binning of categories: text columns of 10 and of 500 levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.binned import information_value
from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Accuracy, Answer, Array, Contender, Request, Workload

MAX_BINS = 8


class Texts(NamedTuple):
    """A frame of texts, and a target of two classes."""

    frame: Any
    y: Array


def make(request: Request) -> Texts:
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 5_000 if request.quick else 100_000
    columns, score = {}, np.zeros(n)
    for j, levels in enumerate([10] * 5 + [500] * 5):
        numbers = rng.integers(0, levels, n)
        score += rng.normal(0, 0.3, levels)[numbers]
        columns[f"x{j}"] = np.array([f"level {k:03d}" for k in range(levels)])[numbers]
    y = (rng.random(n) < 1 / (1 + np.exp(2 - score))).astype(np.int64)
    return Texts(pd.DataFrame(columns), y)


def distances(problem: Texts, answers: Sequence[Answer]) -> list[float]:
    """The share of information value, over all columns, that an answer loses against the best."""
    values = []
    for answer in answers:
        found = 0.0
        for name, groups in zip(problem.frame.columns, answer.figures["groups"], strict=True):
            place = {category: number for number, group in enumerate(groups) for category in group}
            codes = problem.frame[name].map(place).to_numpy()
            found += information_value(codes, problem.y, np.arange(1, len(groups)))
        values.append(found)
    return [1 - value / max(values) for value in values]


WORKLOAD = Workload(
    description="Optimal binning of 10 text columns (10 and 500 levels), 100,000 rows, at most 8 groups, no pooling.",
    make=make,
    ours=Contender("hiperplano WoEEncoder", lambda p: hiperplano.group_categories(p.frame, p.y, MAX_BINS)),
    rivals=(Contender("optbinning BinningProcess", lambda p: optbinning.group_categories(p.frame, p.y, MAX_BINS)),),
    target=3.0,
    accuracy=Accuracy("share of information value lost against the best answer", distances, equal=1e-9),
)
