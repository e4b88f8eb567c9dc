"""A whole scorecard: 30 columns binned, coded by weight of evidence, logistic regression, points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from benchmarks.rivals import hiperplano, optbinning
from benchmarks.workload import Accuracy, Answer, Array, Contender, Request, Workload

_NEW_ROWS = 50_000


class Applicants(NamedTuple):
    """A table, its outcomes, and others of the same law to judge by."""

    frame: Any
    y: Array
    new: Any
    new_y: Array


def make(request: Request) -> Applicants:
    import pandas as pd

    n = 5_000 if request.quick else 100_000
    rng = np.random.default_rng(0)
    size = n + _NEW_ROWS
    shared = rng.standard_normal((size, 1))
    hidden = 0.6 * shared + 0.8 * rng.standard_normal((size, 30))
    effect = np.tanh(hidden) @ rng.normal(0, 0.25, 30)
    shapes = (np.exp, lambda column: np.floor(5 * column), np.positive)  # money, counts, ratios
    columns = np.stack([shapes[j % 3](hidden[:, j]) for j in range(30)], axis=1)
    columns[rng.random(columns.shape) < 0.03] = np.nan
    frame = pd.DataFrame(columns, columns=[f"x{j}" for j in range(30)])
    y = (rng.random(size) < expit(effect - 2.0)).astype(np.int64)
    return Applicants(frame[:n], y[:n], frame[n:], y[n:])


def distances(problem: Applicants, answers: Sequence[Answer]) -> list[float]:
    """How much larger the log loss on new rows is than that of the best answer."""
    losses = []
    for answer in answers:
        p = np.clip(answer.figures["probability"](problem.new), 1e-12, 1 - 1e-12)
        losses.append(-float(np.mean(np.log(np.where(problem.new_y == 1, p, 1 - p)))))
    return [loss - min(losses) for loss in losses]


WORKLOAD = Workload(
    description="A scorecard of 30 columns and 100,000 rows: bins, weights of evidence, coefficients, points.",
    make=make,
    ours=Contender("hiperplano Scorecard", lambda p: hiperplano.scorecard(p.frame, p.y)),
    rivals=(Contender("optbinning Scorecard", lambda p: optbinning.scorecard(p.frame, p.y)),),
    target=20.0,
    accuracy=Accuracy("log loss on 50,000 new rows above the smallest one", distances, equal=1e-3),
)
