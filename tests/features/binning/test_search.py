"""The search is exact: brute force over all partitions of up to 12 pre-bins finds nothing better."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hiperplano.features.binning.search.candidates import Limits
from hiperplano.features.binning.search.partition import search

SMOOTHING = 0.5


def partitions(size, most):
    """The ends of all partitions of 0 … size − 1 into at most `most` bins."""
    for n_bins in range(1, min(size, most) + 1):
        for inner in combinations(range(1, size), n_bins - 1):
            yield (*inner, size)


def joined(sums, ends):
    return np.array([sums[a:b].sum(axis=0) for a, b in pairwise((0, *ends))])


def information(n, p, totals):
    n, p = (n or SMOOTHING) / totals[0], (p or SMOOTHING) / totals[1]
    return (n - p) * np.log(n / p)


def value(sums, ends, totals, criterion):
    """The criterion as it is defined, by loops."""
    bins = joined(sums, ends)
    if criterion == "iv" and sums.shape[1] == 2:
        return sum(information(n, p, totals) for n, p in bins)
    if criterion == "iv":
        return sum(
            information(row.sum() - row[c], row[c], (totals.sum() - totals[c], totals[c]))
            for row in bins
            for c in range(len(totals))
        )
    if criterion == "ks":
        distances = np.abs(np.diff(np.cumsum(bins, axis=0)[:-1] / totals, axis=1))
        return distances.max(initial=0.0)
    if criterion == "squared_error":
        return sum(row[1] ** 2 / row[0] for row in bins) - sums[:, 1].sum() ** 2 / sums[:, 0].sum()
    impurity = {
        "gini": lambda row: row.sum() * (1 - ((row / row.sum()) ** 2).sum()),
        "log_loss": lambda row: -sum(c * np.log(c / row.sum()) for c in row if c > 0),
    }[criterion]
    return impurity(sums.sum(axis=0)) - sum(impurity(row) for row in bins)


def follows(rates, trend):
    steps = np.diff(rates)
    if trend == "ascending":
        return bool((steps >= 0).all())
    if trend == "descending":
        return bool((steps <= 0).all())
    if trend == "valley":
        return follows(-rates, "peak")
    if trend == "peak":
        return any((steps[:k] >= 0).all() and (steps[k:] <= 0).all() for k in range(len(steps) + 1))
    return True


def p_value(one, other, numbers):
    if numbers:
        means, counts = (one[1] / one[0], other[1] / other[0]), (one[0], other[0])
        if min(counts) <= 1:
            return 1.0
        spread = sum((row[2] - row[1] ** 2 / row[0]) / (row[0] - 1) / row[0] for row in (one, other))
        difference = abs(means[0] - means[1])
        return 2 * stats.norm.sf(difference / np.sqrt(spread)) if spread > 0 else float(difference == 0)
    table = np.array([one, other])
    table = table[:, table.sum(axis=0) > 0]
    found = stats.contingency.chi2_contingency(table, correction=False).statistic if table.shape[1] > 1 else 0.0
    return stats.chi2.sf(found, len(one) - 1)


def satisfies(sums, ends, limits, numbers):
    bins = joined(sums, ends)
    weight = bins[:, 0] if numbers else bins.sum(axis=1)
    if (weight < limits.min_weight).any() or (weight <= 0).any():
        return False
    rates = bins / weight[:, None]
    if not numbers:
        events, nonevents = (bins[:, 1:], bins[:, :1]) if bins.shape[1] == 2 else (bins, weight[:, None] - bins)
        if (events < limits.min_events).any() or (nonevents < limits.min_nonevents).any():
            return False
    rates = rates[:, 1:2] if numbers or bins.shape[1] == 2 else rates
    if (np.abs(np.diff(rates, axis=0)).max(axis=1) < limits.min_difference).any():
        return False
    if limits.max_p_value is not None and any(
        p_value(one, other, numbers) > limits.max_p_value for one, other in pairwise(bins)
    ):
        return False
    return follows(rates[:, 0], limits.trend) if rates.shape[1] == 1 else True


def counts(draw, size, n_classes):
    numbers = st.integers(0, 30)
    return np.array([[draw(numbers) for _ in range(n_classes)] for _ in range(size)], dtype=float)


def moments(draw, size):
    rows = []
    for _ in range(size):
        y = np.array(draw(st.lists(st.integers(-20, 20), min_size=1, max_size=6)), dtype=float)
        rows.append([len(y), y.sum(), (y**2).sum()])
    return np.array(rows)


@st.composite
def problems(draw, n_classes):
    size = draw(st.integers(1, 12 if draw(st.integers(0, 9)) == 0 else 8))
    sums = counts(draw, size, n_classes) if n_classes else moments(draw, size)
    apart = counts(draw, 1, n_classes)[0] + 1 if n_classes else np.zeros(3)  # special and missing values
    criterion = draw(
        st.sampled_from(["iv", "ks", "gini", "log_loss"] if n_classes == 2 else ["iv", "gini", "log_loss"])
    )
    difference = draw(st.sampled_from([0.0, 0.0, 0.05, 0.2]))
    limits = Limits(
        max_bins=draw(st.integers(1, 12)),
        min_weight=draw(st.sampled_from([0.0, 0.0, 1.0, 20.0, 60.0])),
        min_events=draw(st.sampled_from([0.0, 0.0, 1.0, 10.0])),
        min_nonevents=draw(st.sampled_from([0.0, 0.0, 1.0, 10.0])),
        min_difference=difference if n_classes else 20 * difference,
        max_p_value=draw(st.sampled_from([None, None, 0.01, 0.2, 0.9])),
        trend=None if n_classes > 2 else draw(st.sampled_from([None, "ascending", "descending", "peak", "valley"])),
    )
    return sums, sums.sum(axis=0) + apart, criterion if n_classes else "squared_error", limits


@pytest.mark.parametrize("n_classes", [2, 3, 0], ids=["binary", "classes", "numbers"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_partition_is_better(n_classes, data):
    sums, totals, criterion, limits = data.draw(problems(n_classes))
    found = search(sums, totals, criterion, limits, n_classes, SMOOTHING)
    rivals = [ends for ends in partitions(len(sums), limits.max_bins) if satisfies(sums, ends, limits, n_classes == 0)]
    if not rivals:
        assert found.ends == (len(sums),)
        assert "No bin satisfies" in found.status
        return
    assert found.ends in rivals
    best = max(value(sums, ends, totals, criterion) for ends in rivals)
    assert value(sums, found.ends, totals, criterion) == pytest.approx(best, rel=1e-9, abs=1e-9)
    if len(found.ends) > 1:
        assert found.gain == pytest.approx(best, rel=1e-9, abs=1e-9)
