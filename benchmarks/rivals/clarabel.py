"""Clarabel, an interior point solver of quadratic programs."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, diags_array

from benchmarks.workload import Answer, Array

DISTRIBUTION = "clarabel"


def hard_margin(X: Array, y: Array) -> Answer:
    """½‖coef‖² subject to y·(x·coef + intercept) ≥ 1."""
    import clarabel

    sign = np.where(y > 0, 1.0, -1.0)
    rows = csc_array(-sign[:, None] * np.column_stack([X, np.ones(len(X))]))
    quadratic = csc_array(diags_array(np.append(np.ones(X.shape[1]), 0.0)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        quadratic, np.zeros(rows.shape[1]), rows, -np.ones(len(X)), [clarabel.NonnegativeConeT(len(X))], settings
    )
    found = np.array(solver.solve().x)
    return Answer(found[:-1], found[-1])
