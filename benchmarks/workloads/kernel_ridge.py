"""Kernel ridge regression with one penalty."""

from __future__ import annotations

from benchmarks.kernel_accuracy import Curved, curved, residual_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

ALPHA, GAMMA = 1.0, 0.05


def make(request: Request) -> Curved:
    return curved(1_600 if request.quick else 10_000, 20)


WORKLOAD = Workload(
    description=f"KernelRidge(alpha={ALPHA:g}), RBF kernel, 10,000×20, float64.",
    make=make,
    ours=Contender("hiperplano KernelRidge", lambda p: hiperplano.kernel_ridge(p.X, p.y, ALPHA, GAMMA)),
    rivals=(Contender("sklearn KernelRidge", lambda p: sklearn.kernel_ridge(p.X, p.y, ALPHA, GAMMA)),),
    target=8.0,
    accuracy=residual_accuracy(ALPHA, GAMMA),
)
