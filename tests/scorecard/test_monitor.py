"""Monitoring, trends, reject inference, reasons and the bootstrap against counting by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from hiperplano import Scorecard, monitor
from hiperplano.errors import AssumptionWarning, InvalidData, InvalidParameter, NotAvailable
from hiperplano.metrics import population_stability_index
from hiperplano.scorecard import fuzzy_augmentation, parcelling, periods, trend_stability

TWO = ["debt", "late_payments"]


@pytest.fixture(scope="module")
def small(applicants):
    """Two variables, for what is fitted often."""
    X, y = applicants
    return Scorecard(event="yes").fit(X[TWO][:3000], y[:3000])


def test_the_same_rows_have_not_shifted(card, applicants):
    X, y = applicants
    found = monitor(card, X[:3000], y[:3000])
    assert found.psi == pytest.approx(0, abs=1e-12)
    assert np.allclose(found.variables["psi"], 0, atol=1e-12)
    np.testing.assert_allclose(found.performance["now"], found.performance["development"], rtol=1e-12)
    assert all(word == "stable" for word in found.variables["judgement"])
    assert all(word == "as expected" for word in found.calibration["judgement"])
    np.testing.assert_allclose(found.calibration["observed"], card.development_.events / card.development_.count)
    assert "within chance" in found.verdicts[-1]


def test_stability_is_that_of_shares_in_the_same_bands(card, applicants):
    X, y = applicants
    new = X[3000:].assign(debt=X["debt"][3000:] * 3)
    found = monitor(card, new, y[3000:])
    before, after = card.score_points(X[:3000]), card.score_points(new)
    edges = card.development_.edges
    places = [np.searchsorted(edges, each, side="right") for each in (before, after)]
    counts = [np.bincount(each, minlength=len(edges) + 1) for each in places]
    assert found.psi == pytest.approx(population_stability_index(*counts, bins=None, smoothing=0.5))
    assert found.psi == pytest.approx(sum(found.score["psi"]))
    by_name = dict(zip(found.variables["variable"], found.variables["judgement"], strict=True))
    assert by_name["debt"] == "changed"
    assert by_name["age"] == "stable"
    assert any(said.startswith("debt: changed") for said in found.verdicts)
    assert found.performance["now"][2] == pytest.approx(roc_auc_score(y[3000:] == "yes", -after))
    assert "more than chance explains" in found.verdicts[-1]


def test_outcomes_may_be_unknown(card, applicants):
    X, y = applicants
    assert monitor(card, X[3000:]).performance is None
    assert "event_rate_now" not in monitor(card, X[3000:]).bins.columns
    partly = y[3000:].to_numpy().astype(object)
    partly[:500] = None
    found = monitor(card, X[3000:], partly)
    expected = monitor(card, X[3500:], y[3500:])
    np.testing.assert_allclose(found.performance["now"], expected.performance["now"])
    assert found.psi == monitor(card, X[3000:]).psi
    assert sum(found.calibration["rows"]) == 500
    with pytest.raises(InvalidData, match="one outcome"):
        monitor(card, X[3000:], y[3001:])


def test_a_score_that_ranks_nothing_is_called_so(card, applicants):
    X, y = applicants
    X, y = X[3000:], y[3000:].to_numpy()

    def ranking(rows, outcomes):
        return next(said for said in monitor(card, rows, outcomes).verdicts if said.startswith("ranking"))

    by_chance = np.random.default_rng(0).permutation(y)
    assert "no longer ranks: the interval includes 0.5" in ranking(X, by_chance)
    assert "wrong way round" in ranking(X, np.where(y == "yes", "no", "yes"))
    points = card.score_points(X)
    ordered = np.argsort(points, kind="stable")
    few = ordered[[5, 300, 500, 700, 990, 995]]
    outcomes = np.array(["yes", "no", "yes", "no", "yes", "no"])  # AUC 2/3
    assert "3 events are too few" in ranking(X.iloc[few], outcomes)
    assert "beyond chance" in ranking(X, y)


def test_bins_that_turn_round_are_named(small, applicants):
    X, y = applicants
    X, y = X[TWO], (y == "yes").to_numpy()
    segment = np.where(np.arange(len(y)) < 2000, "first", "second")
    turned = y.copy()
    late = (segment == "second") & (X["late_payments"] >= 2).to_numpy()
    turned[late] = False  # the worst bin of one segment has no events
    found = trend_stability(small, X, np.where(turned, "yes", "no"), segment)
    named = [said for said in found.verdicts if said.startswith("late_payments") and "second" in said]
    assert len(named) == 1
    row = next(row for row in found.turned.rows() if row["variable"] == "late_payments" and row["segment"] == "second")
    codes = small.bin_codes(X)[:, small.variables_.index("late_payments")]
    labels = next(each.labels for each in small.variable_points() if each.name == "late_payments")
    groups = [(codes == labels.index(row[name])) & (segment == "second") for name in ("bin", "next_bin")]
    rates = [turned[group].mean() for group in groups]
    np.testing.assert_allclose([row["event_rate"], row["next_event_rate"]], rates)
    pooled = turned[groups[0] | groups[1]].mean()
    spread = np.sqrt(pooled * (1 - pooled) * sum(1 / group.sum() for group in groups))
    assert row["p"] == pytest.approx(2 * norm.sf(abs(rates[0] - rates[1]) / spread))
    calm = trend_stability(small, X[:3000], np.where(y, "yes", "no")[:3000], np.zeros(3000))
    assert calm.verdicts == ("no order of bins is significantly reversed in 1 segments.",)
    with pytest.raises(InvalidData, match="one length"):
        trend_stability(small, X, np.where(y, "yes", "no")[1:], segment)


def test_periods_are_as_long_as_three_of_them_allow(credit):
    dates = pd.to_datetime(["2021-05-01", "2022-05-01", "2023-05-01", None])
    assert periods(dates).tolist() == ["2021", "2022", "2023", ""]
    assert set(periods(credit[0]["application_date"])) == {f"{year}Q{k}" for year in (2023, 2024) for k in range(1, 5)}
    with pytest.raises(InvalidData, match="not dates"):
        periods(["soon"])


def test_fuzzy_augmentation_weighs_both_outcomes(small, applicants):
    X, y = applicants
    X = X[TWO]
    with pytest.warns(AssumptionWarning, match="followed the score alone"):
        rows = fuzzy_augmentation(small, X[:3000], y[:3000], X[3000:], uplift=2.0)
    p = small.event_probability(X[3000:])
    odds = 2.0 * p / (1 - p)
    np.testing.assert_allclose(rows.sample_weight[3000:4000], odds / (1 + odds))
    np.testing.assert_allclose(rows.sample_weight[3000:4000] + rows.sample_weight[4000:], 1.0)
    assert (rows.y[3000:4000] == "yes").all()
    assert (rows.y[4000:] == "no").all()
    assert (rows.inferred == (np.arange(5000) >= 3000)).all()
    again = Scorecard(event="yes").fit(rows.X, rows.y, rows.sample_weight)
    assert np.corrcoef(again.score_points(X), small.score_points(X))[0, 1] > 0.95


def test_parcelling_draws_events_at_the_rate_of_the_band(small, applicants):
    X, y = applicants
    X = X[TWO]
    many = pd.concat([X[3000:]] * 5, ignore_index=True)
    with pytest.warns(AssumptionWarning, match="that factor is yours"):
        rows = parcelling(small, X[:3000], y[:3000], many, uplift=1.5, bands=4, random_state=0)
    score = small.event_probability(X[:3000])
    edges = np.quantile(score, [0.25, 0.5, 0.75])
    band, new = (np.searchsorted(edges, each, "right") for each in (score, small.event_probability(many)))
    for number in range(4):
        rate = 1.5 * np.mean(y[:3000][band == number] == "yes")
        drawn = rows.y[3000:][new == number] == "yes"
        assert abs(drawn.sum() - rate * len(drawn)) <= 1
    polars = pl.from_pandas(X)
    with pytest.warns(AssumptionWarning):
        same = parcelling(small, polars[:3000], y[:3000], polars[3000:], bands=4, random_state=0)
    assert same.X.shape == (4000, 2)
    assert same.table.rows()[1]["weight"] == 1000


def test_reasons_are_the_largest_losses(card, applicants):
    X, _ = applicants
    rows, variables = X[:50], card.variable_points()
    codes = card.bin_codes(rows)
    for against in ("best", "average"):
        found = card.reasons(rows, k=3, against=against)
        for i in range(50):
            best = {v.name: v.points[v.count > 0].max() for v in variables}
            mean = {v.name: np.average(v.points, weights=v.count) for v in variables}
            goal = best if against == "best" else mean
            lost = {v.name: goal[v.name] - v.points[codes[i, j]] for j, v in enumerate(variables)}
            order = sorted(lost.values(), reverse=True)[:3]
            np.testing.assert_allclose(found.lost[i], np.maximum(order, 0))
            for name, value in zip(found.variables[i], found.lost[i], strict=True):
                assert (name == "") if value == 0 else lost[name] == pytest.approx(value)
    assert found.to_pandas().shape == (50, 9)
    assert card.reasons(rows, k=99).lost.shape == (50, len(variables))
    with pytest.raises(InvalidParameter, match="'average'"):
        card.reasons(rows, against="worst")


def test_an_explanation_adds_up(card, chosen, applicants):
    X, _ = applicants
    for each in (card, chosen):
        found = each.explain(X[7:8])
        assert found.score == pytest.approx(each.score_points(X[7:8])[0])
        assert sum(found["points"]) + each.base_points_ == pytest.approx(found.score)
        assert found.probability == pytest.approx(each.event_probability(X[7:8])[0])
        assert str(each.explain(dict(X.iloc[7]))) == str(found)
    with pytest.raises(InvalidData, match="one applicant"):
        card.explain(X[:2])
    with pytest.raises(InvalidData, match="'debt'"):
        card.explain({"age": 30})


def test_the_bootstrap_repeats_everything(small, applicants):
    X, y = applicants
    X, y = X[TWO][:3000], y[:3000]
    found = small.bootstrap(X, y, n_resamples=30, random_state=0)
    table = found.coefficients.to_pandas().set_index("variable")
    assert (table["chosen"] == 1).all()
    assert (table["low"] < table["coef"]).all()
    # Bins that are chosen anew fit their own resample better than it fits other rows.
    performance = found.performance.to_pandas().set_index("measure")
    assert (performance["optimism"] > 0).all()
    assert performance.loc["AUC", "apparent"] == pytest.approx(small.development_.auc)
    np.testing.assert_allclose(performance["corrected"], performance["apparent"] - performance["optimism"])
    points = found.points.to_pandas().dropna()
    assert (points["low"] <= points["high"]).all()
    assert (points["low"] <= points["points"] + 8).all()
    few = [str(small.bootstrap(X[:500], y[:500], n_resamples=2, random_state=0)) for _ in range(2)]
    assert few[0] == few[1]


def test_strategy_counts_the_rows_of_the_score(card, applicants):
    X, y = applicants
    found = card.strategy(X[3000:], y[3000:], gain=1.0, loss=10.0)
    cut = found.by_profit()
    approved = card.score_points(X[3000:]) >= cut.score
    events = (y[3000:] == "yes").to_numpy()
    assert cut.approval_rate == approved.mean()
    assert cut.event_rate == events[approved].mean()
    assert cut.profit == np.sum(approved & ~events) - 10 * np.sum(approved & events)
    with pytest.raises(NotAvailable):
        card.strategy(X[3000:], y[3000:]).by_profit()


def test_rounding_is_stated(card, chosen, applicants):
    X, y = applicants
    found = card.rounding_effect(X, y)
    assert 0 < found.reversed < found.pairs / 50
    assert found.largest_difference <= 0.5 * len(card.variables_)
    assert found.auc_rounded == pytest.approx(roc_auc_score(y == "yes", -card.score_points(X)))
    assert chosen.rounding_effect(X).reversed == 0
