"""DeLong's interval against all pairs, against pROC, and against what it promises."""

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score

from hiperplano import auc_interval
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget

# R 4.2.2, pROC 1.18.0: virginica (1) against versicolor (0) of iris by each measure; auc, sqrt(var), ci.auc(0.8).
PROC = {
    0: (0.7896, 0.044841598762665, 0.732133178904184, 0.847066821095816),
    1: (0.6636, 0.0536378787874421, 0.594860292467462, 0.732339707532538),
    2: (0.9822, 0.00975863824558341, 0.969693801878789, 0.994706198121211),
    3: (0.9804, 0.0104780431262284, 0.966971847427738, 0.993828152572262),
}


@pytest.mark.parametrize("column", PROC)
def test_the_numbers_of_proc(column):
    X, species = load_iris(return_X_y=True)
    found = auc_interval(species[50:], X[50:, column], level=0.8)
    np.testing.assert_allclose(found, PROC[column], rtol=1e-13)


def all_pairs(y, score):
    """Every positive beside every negative."""
    ordered = np.sign(np.subtract.outer(score[y], score[~y])) / 2 + 0.5
    variance = ordered.mean(axis=1).var(ddof=1) / y.sum() + ordered.mean(axis=0).var(ddof=1) / (~y).sum()
    return ordered.mean(), np.sqrt(variance)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n", "share"), [(12, 0.5), (300, 0.1), (500, 0.9)])
def test_all_pairs(n, share, ties):
    rng = np.random.default_rng(n)
    y = rng.permutation(np.arange(n) < share * n)
    score = rng.normal(size=n) + 0.5 * y
    score = np.round(score) if ties else score
    auc, se = all_pairs(y, score)
    found = auc_interval(np.where(y, "yes", "no"), score)
    np.testing.assert_allclose(found[:2], (auc, se), rtol=1e-12)
    assert found.auc == pytest.approx(roc_auc_score(y, score), rel=1e-14)
    np.testing.assert_allclose(found.low, max(auc - ndtri(0.975) * se, 0.0), rtol=1e-12)
    np.testing.assert_allclose(found.high, min(auc + ndtri(0.975) * se, 1.0), rtol=1e-12)


def test_the_interval_covers_as_often_as_it_says():
    """Normal scores one apart: the true area is Φ(1/√2)."""
    rng, truth = np.random.default_rng(5), 0.7602499389065233
    y = np.arange(150) < 60
    covered = 0
    for _ in range(2000):
        found = auc_interval(y, rng.normal(size=150) + y)
        covered += found.low <= truth <= found.high
    assert 0.92 < covered / 2000 < 0.97  # 0.944 ± 0.005 over 24 seeds: DeLong's interval of 150 rows is a little narrow


def test_all_pairs_ordered_alike_do_not_make_the_area_certain():
    y = np.arange(50) < 20
    up = auc_interval(y, y.astype(float))
    assert (up.auc, up.se, up.high) == (1.0, 0.0, 1.0)
    assert up.low == pytest.approx(0.05 ** (1 / 20))
    down = auc_interval(y, -y.astype(float))
    assert (down.auc, down.low) == (0.0, 0.0)
    assert down.high == pytest.approx(1 - up.low)


def test_equal_scores():
    assert auc_interval([0, 0, 1, 1], [3, 3, 3, 3], level=1.0) == (0.5, 0.0, 0.5, 0.5)


@pytest.mark.parametrize(
    ("y", "score", "level", "error", "words"),
    [
        ([0, 0, 1], [1, 2, 3], 0.95, InvalidTarget, "2 rows of the negative and 1 of the positive.*on more rows"),
        ([1, 1, 1], [1, 2, 3], 0.95, InvalidTarget, "0 rows of the negative and 3"),
        ([0, 1, 2, 2], [1, 2, 3, 4], 0.95, InvalidTarget, "two classes"),
        ([0, 0, 1, 1], [1, np.nan, 3, 4], 0.95, InvalidData, "NaN"),
        ([0, 0, 1, 1], [1, 2, 3, 4], 0.0, InvalidParameter, "level=0"),
    ],
)
def test_refusals(y, score, level, error, words):
    with pytest.raises(error, match=words):
        auc_interval(y, score, level)
