"""The perceptron on wide sparse rows."""

from __future__ import annotations

from benchmarks.online import PASSES, mistakes, sparse
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload

WORKLOAD = Workload(
    description=f"Perceptron, sparse 200,000×50,000 with 13.5 million entries, {PASSES} shuffled passes.",
    make=sparse,
    ours=Contender("hiperplano Perceptron", lambda p: hiperplano.perceptron(p.X, p.y, PASSES)),
    rivals=(Contender("sklearn Perceptron", lambda p: sklearn.perceptron(p.X, p.y, PASSES)),),
    target=2.5,
    accuracy=mistakes(equal=0.3),
)
