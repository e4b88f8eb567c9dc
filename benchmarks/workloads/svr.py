"""Kernel support vector regression."""

from __future__ import annotations

from benchmarks.kernel_machines import Bent, bent_rows, dual_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

C, GAMMA, EPSILON = 1.0, 0.05, 0.1


def make(request: Request) -> Bent:
    return bent_rows(2_000 if request.quick else 10_000, 20, numbers=True)


WORKLOAD = Workload(
    description=f"SVR(C={C:g}, epsilon={EPSILON:g}), RBF kernel, 10,000×20, float64.",
    make=make,
    ours=Contender("hiperplano SVR", lambda p: hiperplano.svr(p.X, p.y, C, GAMMA, EPSILON)),
    rivals=(Contender("sklearn SVR", lambda p: sklearn.svr(p.X, p.y, C, GAMMA, EPSILON)),),
    target=4.0,
    accuracy=dual_accuracy(C, GAMMA, width=EPSILON),
)
