"""How long a new interpreter takes until a model is fitted: what a short script costs."""

from __future__ import annotations

from benchmarks.workload import Answer, Contender, Workload
from benchmarks.workloads.import_time import fresh, make

PROGRAM = """
import numpy as np
from {library} import LogisticRegression
X = np.random.default_rng(0).normal(size=(1000, 10))
LogisticRegression().fit(X, (X[:, 0] > 0).astype(int))
"""


def first_fit(library: str) -> Answer:
    return fresh(PROGRAM.format(library=library))


WORKLOAD = Workload(
    description="A new interpreter that imports LogisticRegression and fits it to 1,000×10.",
    make=make,
    ours=Contender("hiperplano", lambda p: first_fit("hiperplano")),
    rivals=(Contender("sklearn", lambda p: first_fit("sklearn.linear_model")),),
    target=1.0,
    weighed=False,
)
