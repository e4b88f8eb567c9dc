"""river."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Answer

DISTRIBUTION = "river"


def perceptron_rows(dictionaries: list[tuple[dict[int, float], bool]]) -> Answer:
    from river.linear_model import Perceptron

    model: Any = Perceptron()
    for x, label in dictionaries:
        model.learn_one(x, label)
    return Answer(np.array([model.weights[j] for j in sorted(model.weights)]), model.intercept)
