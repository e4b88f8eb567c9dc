"""Generated data that several workloads share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.workload import Array


class Regression(NamedTuple):
    """Rows and a numeric target."""

    X: Array
    y: Array


def regression(n: int, d: int, *, size: float = 1.0, noise: float = 1.0, seed: int = 0) -> Regression:
    """Independent normal columns about different means; coefficients of spread `size`."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X += rng.uniform(-3, 3, d)
    y = X @ (size * rng.standard_normal(d)) + 5.0
    y += noise * rng.standard_normal(n)
    return Regression(X, y)
