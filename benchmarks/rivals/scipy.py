"""SciPy, where need be with scikit-learn beside it."""

from __future__ import annotations

from benchmarks.workload import Answer, Array

DISTRIBUTION = "scipy"


def ranking(y: Array, score: Array) -> Answer:
    from scipy.stats import ks_2samp
    from sklearn.metrics import roc_auc_score

    positive = y == 1
    ks = ks_2samp(score[positive], score[~positive]).statistic
    auc = roc_auc_score(y, score)
    return Answer(figures={"ks": ks, "auc": auc, "gini": 2 * auc - 1})
