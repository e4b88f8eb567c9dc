"""How long a new interpreter takes until a model can be made."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.machine import KEEP_COMPILED
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Answer, Contender, Request, Workload


def make(request: Request) -> None:
    """Nothing to solve."""


def fresh(statement: str) -> Answer:
    """Run a statement in a new interpreter."""
    subprocess.run([sys.executable, "-c", statement], check=True, env=os.environ | KEEP_COMPILED)
    return Answer()


WORKLOAD = Workload(
    description="A new interpreter that imports LinearRegression, against one that imports sklearn.linear_model.",
    make=make,
    ours=Contender("hiperplano LinearRegression", lambda p: fresh(hiperplano.IMPORT)),
    rivals=(Contender("sklearn.linear_model", lambda p: fresh(sklearn.IMPORT)),),
    target=1.0,
    allowance=0.1,
    weighed=False,
)
