"""Kernel ridge regression in the span of a thousand rows."""

from __future__ import annotations

from benchmarks.kernel_accuracy import Curved, curved, held_out_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

ALPHA, GAMMA, CENTRES = 1.0, 0.05, 1_000


def make(request: Request) -> Curved:
    n, n_test = (5_000, 1_000) if request.quick else (200_000, 20_000)
    return curved(n, 20, n_test)


WORKLOAD = Workload(
    description=f"KernelRidge(solver='nystroem'), {CENTRES:,} centres, RBF kernel, 200,000×20, float64.",
    make=make,
    ours=Contender("hiperplano KernelRidge nystroem", lambda p: hiperplano.nystroem(p, ALPHA, GAMMA, CENTRES)),
    rivals=(Contender("sklearn Nystroem + Ridge", lambda p: sklearn.nystroem(p, ALPHA, GAMMA, CENTRES)),),
    target=3.0,
    accuracy=held_out_accuracy(),
)
