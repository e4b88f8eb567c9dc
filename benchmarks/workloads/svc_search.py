"""C and gamma of a kernel support vector machine, chosen by folds."""

from __future__ import annotations

import numpy as np

from benchmarks.kernel_machines import Bent, bent_rows, best_score_accuracy
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

CS, GAMMAS, FOLDS = np.logspace(-1, 3, 5), 0.05 * np.logspace(-2, 2, 5), 5


def make(request: Request) -> Bent:
    return bent_rows(500 if request.quick else 4_000, 20)


WORKLOAD = Workload(
    description=f"SVCCV, 5 values of C × 5 of gamma by {FOLDS} folds, RBF kernel, 4,000×20, float64.",
    make=make,
    ours=Contender("hiperplano SVCCV", lambda p: hiperplano.svc_search(p.X, p.y, CS, GAMMAS, FOLDS)),
    rivals=(Contender("sklearn GridSearchCV(SVC)", lambda p: sklearn.svc_search(p.X, p.y, CS, GAMMAS, FOLDS)),),
    target=15.0,
    accuracy=best_score_accuracy(equal=1e-3),
)
