"""Pegasos on a long table."""

from __future__ import annotations

from benchmarks.online import PASSES, dense, mistakes
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload

WORKLOAD = Workload(
    description=f"Pegasos, alpha=1e-4, 500,000×50, {PASSES} shuffled passes.",
    make=dense,
    ours=Contender("hiperplano Pegasos", lambda p: hiperplano.pegasos(p.X, p.y, PASSES)),
    rivals=(Contender("sklearn SGDClassifier hinge", lambda p: sklearn.stochastic(p.X, p.y, PASSES)),),
    target=4.0,
    accuracy=mistakes(equal=0.25),
)
