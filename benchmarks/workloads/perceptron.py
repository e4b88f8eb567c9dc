"""The perceptron on a long table."""

from __future__ import annotations

from benchmarks.online import PASSES, dense, mistakes
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload

WORKLOAD = Workload(
    description=f"Perceptron, 500,000×50, {PASSES} shuffled passes.",
    make=dense,
    ours=Contender("hiperplano Perceptron", lambda p: hiperplano.perceptron(p.X, p.y, PASSES)),
    rivals=(Contender("sklearn Perceptron", lambda p: sklearn.perceptron(p.X, p.y, PASSES)),),
    target=4.0,
    accuracy=mistakes(equal=0.3),
)
