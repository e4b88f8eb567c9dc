"""Passive-aggressive learning (PA-I) on a long table."""

from __future__ import annotations

from benchmarks.online import PASSES, dense, mistakes
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload

PA1 = {"learning_rate": "pa1", "eta0": 1.0, "penalty": None}

WORKLOAD = Workload(
    description=f"PA-I, C=1, 500,000×50, {PASSES} shuffled passes.",
    make=dense,
    ours=Contender("hiperplano", lambda p: hiperplano.passive_aggressive(p.X, p.y, PASSES)),
    rivals=(Contender("sklearn SGDClassifier pa1", lambda p: sklearn.stochastic(p.X, p.y, PASSES, **PA1)),),
    target=5.0,
    accuracy=mistakes(equal=0.33),
)
