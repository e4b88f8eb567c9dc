"""Points arithmetic: Siddiqi's formula by hand, rounding by comparing all pairs."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hiperplano.scorecard import PointScale, Table
from hiperplano.scorecard.points import bin_points
from hiperplano.scorecard.rounding import rounding_effect


def test_factor_and_offset_are_those_of_the_book():
    # Siddiqi (2006), p. 114: odds of 50:1 at 600 points, 20 points to double the odds.
    scale = PointScale(pdo=20, base_score=600, base_odds=50)
    assert scale.factor == pytest.approx(28.8539, abs=5e-5)
    assert scale.offset == pytest.approx(487.123, abs=5e-4)
    log_odds = np.log([1 / 50, 1 / 100, 1 / 25])
    np.testing.assert_allclose(scale.points(log_odds), [600, 620, 580])
    np.testing.assert_allclose(scale.log_odds(scale.points(log_odds)), log_odds)


def test_points_of_bins_add_up_to_the_score():
    scale = PointScale(pdo=40, base_score=500, base_odds=20)
    woe, coefs, intercept = [np.array([-0.5, 0.3]), np.array([0.1, 0.9, -1.2])], [-0.9, -1.1], -2.0
    for spread in (True, False):
        exact = [
            bin_points(w, b, intercept, 2, scale, spread, rounded=False)[0] for w, b in zip(woe, coefs, strict=True)
        ]
        base = 0.0 if spread else scale.points(np.float64(intercept))
        total = exact[0][1] + exact[1][2] + base
        assert total == pytest.approx(scale.points(np.float64(intercept - 0.9 * 0.3 + 1.1 * 1.2)))
    # (−(woe·β + α/n))·factor + offset/n, as printed.
    by_hand = -(woe[0] * -0.9 + intercept / 2) * scale.factor + scale.offset / 2
    np.testing.assert_allclose(bin_points(woe[0], -0.9, intercept, 2, scale, True, rounded=False)[0], by_hand)
    assert bin_points(woe[0], -0.9, intercept, 2, scale, True, rounded=True)[1].tolist() == np.rint(by_hand).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_effect_of_rounding_is_that_of_comparing_all_pairs(seed):
    rng = np.random.default_rng(seed)
    exact = rng.choice(rng.normal(size=(40, 3)) * 2, size=(120), replace=True).sum(axis=1)
    rounded = np.rint(exact + rng.uniform(-1, 1, 120))
    event = rng.random(120) < 0.3
    found = rounding_effect(exact, rounded, event)
    pairs = [(i, j) for i, j in combinations(range(120), 2) if exact[i] != exact[j]]
    assert found.pairs == len(pairs)
    assert found.tied == sum(rounded[i] == rounded[j] for i, j in pairs)
    assert found.reversed == sum((rounded[i] - rounded[j]) * (exact[i] - exact[j]) < 0 for i, j in pairs)
    assert found.auc_rounded == pytest.approx(roc_auc_score(event, -rounded))
    assert found.auc_exact == pytest.approx(roc_auc_score(event, -exact))
    assert "reverses" in found.sentence
    assert np.isnan(rounding_effect(exact, rounded, None).auc_exact)


def test_scores_that_are_all_equal_have_no_pairs():
    found = rounding_effect(np.ones(5), np.ones(5), None)
    assert (found.pairs, found.reversed, found.tied) == (0, 0, 0)


def test_a_table_prints_and_becomes_a_frame():
    table = Table(
        "Title", {"bin": ["a", "b<c"], "n": np.array([1, 20]), "rate": np.array([0.5, np.nan])}, ("said",), ("rate",)
    )
    assert str(table).splitlines() == [
        "Title",
        "===============",
        "bin   n    rate",
        "a     1  50.00%",
        "b<c  20       –",
        "Note: said",
    ]
    assert "b&lt;c" in table._repr_html_()
    assert table.to_pandas()["n"].tolist() == table.to_polars()["n"].to_list() == [1, 20]
    assert table.rows()[0] == {"bin": "a", "n": 1, "rate": 0.5}
    assert len(table) == 2
