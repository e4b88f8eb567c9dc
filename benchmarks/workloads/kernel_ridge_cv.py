"""The penalty of kernel ridge regression, chosen by folds."""

from __future__ import annotations

import numpy as np

from benchmarks.accuracy import chosen_penalty_accuracy
from benchmarks.kernel_accuracy import Curved, curved, fold_scores
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Request, Workload

GAMMA, FOLDS = 0.05, 5


def make(request: Request) -> Curved:
    return curved(400 if request.quick else 4_000, 20, alphas=np.logspace(-3, 1.5, 10))


WORKLOAD = Workload(
    description=f"KernelRidgeCV, 10 alphas by {FOLDS} folds, RBF kernel, 4,000×20, float64.",
    make=make,
    ours=Contender(
        f"hiperplano KernelRidgeCV(cv={FOLDS})", lambda p: hiperplano.kernel_ridge_cv(p.X, p.y, p.alphas, GAMMA, FOLDS)
    ),
    rivals=(
        Contender(
            f"sklearn GridSearchCV(KernelRidge, cv={FOLDS})",
            lambda p: sklearn.kernel_ridge_cv(p.X, p.y, p.alphas, GAMMA, FOLDS),
        ),
    ),
    target=30.0,
    accuracy=chosen_penalty_accuracy(lambda p: fold_scores(p, GAMMA, FOLDS)),
)
