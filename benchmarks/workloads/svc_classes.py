"""Kernel support vector machines of ten classes, in pairs."""

from __future__ import annotations

from benchmarks.kernel_machines import Bent, error_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload


def make(request: Request) -> Bent:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    n = 400 if request.quick else 1_400
    return Bent(X[:n], y[:n], X[n:], y[n:])


WORKLOAD = Workload(
    description="SVC(), RBF kernel, ten digits: 1,400×64.",
    make=make,
    ours=Contender("hiperplano SVC", lambda p: hiperplano.svc_classes(p.X, p.y, p.X_test)),
    rivals=(Contender("sklearn SVC", lambda p: sklearn.svc_classes(p.X, p.y, p.X_test)),),
    target=3.0,
    accuracy=error_accuracy(equal=0.003),
)
