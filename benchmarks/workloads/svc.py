"""A kernel support vector machine on noisy rows."""

from __future__ import annotations

from benchmarks.kernel_machines import Bent, bent_rows, dual_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

C, GAMMA = 1.0, 0.05


def make(request: Request) -> Bent:
    return bent_rows(2_000 if request.quick else 10_000, 20)


WORKLOAD = Workload(
    description=f"SVC(C={C:g}), RBF kernel, 10,000×20, noisy, float64.",
    make=make,
    ours=Contender("hiperplano SVC", lambda p: hiperplano.svc(p.X, p.y, C, GAMMA)),
    rivals=(Contender("sklearn SVC", lambda p: sklearn.svc(p.X, p.y, C, GAMMA)),),
    target=4.0,
    accuracy=dual_accuracy(C, GAMMA),
)
