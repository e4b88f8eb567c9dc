"""The penalty of a ridge regression, chosen by cross-validation."""

from __future__ import annotations

from benchmarks.accuracy import chosen_penalty_accuracy, fold_scores
from benchmarks.rivals import hiperplano, sklearn
from benchmarks.workload import Contender, Workload
from benchmarks.workloads.ridge_cv_loo import make

FOLDS = 5

WORKLOAD = Workload(
    description=f"RidgeCV, 100 alphas by {FOLDS} folds, 100,000×200, float64.",
    make=make,
    ours=Contender(f"hiperplano RidgeCV(cv={FOLDS})", lambda p: hiperplano.ridge_cv(p.X, p.y, p.alphas, FOLDS)),
    rivals=(Contender(f"sklearn RidgeCV(cv={FOLDS})", lambda p: sklearn.ridge_cv(p.X, p.y, p.alphas, FOLDS)),),
    target=200.0,
    accuracy=chosen_penalty_accuracy(lambda p: fold_scores(p.X, p.y, p.alphas, FOLDS)),
)
