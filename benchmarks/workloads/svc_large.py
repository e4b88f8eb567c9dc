"""A kernel support vector machine on many noisy rows, with a larger C."""

from __future__ import annotations

from benchmarks.kernel_machines import Bent, bent_rows, dual_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

C, GAMMA = 10.0, 0.05


def make(request: Request) -> Bent:
    return bent_rows(3_000 if request.quick else 30_000, 20)


WORKLOAD = Workload(
    description=f"SVC(C={C:g}), RBF kernel, 30,000×20, noisy, float64.",
    make=make,
    ours=Contender("hiperplano SVC", lambda p: hiperplano.svc(p.X, p.y, C, GAMMA)),
    rivals=(Contender("sklearn SVC(cache_size=2000)", lambda p: sklearn.svc(p.X, p.y, C, GAMMA, cache_size=2000)),),
    target=4.0,
    accuracy=dual_accuracy(C, GAMMA),
)
