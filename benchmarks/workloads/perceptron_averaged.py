"""The averaged perceptron on a long table."""

from __future__ import annotations

from benchmarks.online import PASSES, dense, mistakes
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload

AVERAGED = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None, "average": True}

WORKLOAD = Workload(
    description=f"Averaged perceptron, 500,000×50, {PASSES} shuffled passes.",
    make=dense,
    ours=Contender("hiperplano Perceptron averaged", lambda p: hiperplano.perceptron(p.X, p.y, PASSES, average=True)),
    rivals=(
        Contender("sklearn Perceptron", lambda p: sklearn.perceptron(p.X, p.y, PASSES)),
        Contender("sklearn SGDClassifier averaged", lambda p: sklearn.stochastic(p.X, p.y, PASSES, **AVERAGED)),
    ),
    target=6.0,
    accuracy=mistakes(equal=0.3),
)
