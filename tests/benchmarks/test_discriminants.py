"""The judges of discriminants and ranking: they must see what is wrong, and agree with scikit-learn."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from benchmarks.discriminants import gaussian_classes, ledoit_wolf, one_covariance, own_covariances, scores_accuracy
from benchmarks.rivals import sklearn
from benchmarks.workload import Answer, Request
from benchmarks.workloads import ranking


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (one_covariance, lambda p: sklearn.linear_discriminant(p.X, p.y, p.judged, "svd")),
        (ledoit_wolf, lambda p: sklearn.linear_discriminant(p.X, p.y, p.judged, "lsqr", "auto")),
        (own_covariances, lambda p: sklearn.quadratic_discriminant(p.X, p.y, p.judged, "svd")),
    ],
)
@pytest.mark.parametrize("k", [2, 4])
def test_right_scores_are_near_and_wrong_ones_far(model, answer, k):
    problem = gaussian_classes(600, 5, k)
    right = answer(problem)
    scores = right.figures["scores"]
    wrong = Answer(figures={"scores": scores * (1 + 1e-5)})
    shifted = Answer(figures={"scores": scores + 7.0}) if k > 2 else right  # a common level says nothing
    near, far, level = scores_accuracy(model).distances(problem, [right, wrong, shifted])
    assert near < 1e-10
    assert far > 1e-6
    assert level < 1e-10


def test_ranking_is_judged_by_counting():
    problem = ranking.make(Request(quick=True))._replace(score=np.round(ranking.make(Request(quick=True)).score, 1))
    positive = problem.y == 1
    auc = roc_auc_score(problem.y, problem.score)
    ks = ks_2samp(problem.score[positive], problem.score[~positive]).statistic
    right = {"ks": ks, "auc": auc, "gini": 2 * auc - 1}
    near, far = ranking.distances(problem, [Answer(figures=right), Answer(figures=right | {"ks": ks + 1e-6})])
    assert near < 1e-12
    assert far > 9e-7
