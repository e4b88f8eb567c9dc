"""Cut-offs against counting by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiperplano.errors import InvalidData, InvalidTarget, NotAvailable
from hiperplano.scorecard import Strategy

rows = st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(1, 3)), min_size=2, max_size=30).filter(
    lambda drawn: len({event for _, event, _ in drawn}) == 2
)


def by_hand(points, event, weight, cut):
    approved = points >= cut
    events, total = weight[approved & event].sum(), weight[approved].sum()
    return events, total - events


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(1, 9), st.integers(1, 9), st.integers(0, 5))
def test_cutoffs_are_those_of_trying_all(drawn, gain, loss, price):
    points, event, weight = (np.array(column) for column in zip(*drawn, strict=True))
    found = Strategy.of(event, points.astype(float), weight.astype(float), gain, loss)
    cuts = [*sorted(set(points.tolist())), np.inf]
    counts = [by_hand(points, event, weight, cut) for cut in cuts]
    np.testing.assert_allclose(np.stack([found.events, found.nonevents], 1), counts)
    profits = [gain * good - loss * bad for bad, good in counts]
    assert found.by_profit().profit == max(profits)
    assert found.by_profit().score == max(
        cut for cut, profit in zip(cuts, profits, strict=True) if profit == max(profits)
    )
    total = weight.sum()
    for rate in (0.0, 0.3, 1.0):
        wanted = max(cut for cut, (bad, good) in zip(cuts, counts, strict=True) if bad + good >= rate * total - 1e-9)
        assert found.by_approval_rate(rate).score == wanted
        wanted = min(cut for cut, (bad, good) in zip(cuts, counts, strict=True) if bad <= rate * (bad + good) + 1e-12)
        assert found.by_event_rate(rate).score == wanted
    costs = {
        (low, high): loss * counts[j][0]
        + gain * (counts[0][1] - counts[i][1])
        + price * (sum(counts[i]) - sum(counts[j]))
        for i, low in enumerate(cuts)
        for j, high in enumerate(cuts)
        if i <= j
    }
    band = found.with_referral(price)
    np.testing.assert_allclose(band.cost, min(costs.values()), atol=1e-9)
    np.testing.assert_allclose(costs[band.low, band.high], band.cost, atol=1e-9)
    np.testing.assert_allclose(band.approval_rate + band.referral_rate + band.refusal_rate, 1.0)


def test_the_table_counts_from_one_row_to_the_next():
    points, event = np.arange(100.0), np.arange(100) < 20
    table = Strategy.of(event, points, None, gain=1, loss=5).table(5)
    np.testing.assert_allclose(table["score"], [0, 20, 40, 60, 80])
    np.testing.assert_allclose(table["approval_rate"], [1.0, 0.8, 0.6, 0.4, 0.2])
    np.testing.assert_allclose(table["marginal_event_rate"], [1.0, 0, 0, 0, 0])
    np.testing.assert_allclose(table["profit"], [80 - 100, 80, 60, 40, 20])
    assert "profit" not in Strategy.of(event, points, None).table(5).columns


def test_what_cannot_be_answered_is_refused():
    found = Strategy.of(np.array([True, False]), np.array([1.0, 2.0]), None)
    with pytest.raises(NotAvailable, match="gain and loss"):
        found.by_profit()
    with pytest.raises(NotAvailable, match="gain and loss"):
        found.with_referral(1.0)
    with pytest.raises(InvalidTarget, match="alike"):
        Strategy.of(np.array([True, True]), np.array([1.0, 2.0]), None)
    with pytest.raises(InvalidData, match="outcome"):
        Strategy.of(np.array([True]), np.array([1.0, 2.0]), None)
