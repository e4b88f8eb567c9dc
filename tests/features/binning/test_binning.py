"""One column: its bins, its table, and what users meet in real columns."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from hiperplano import OptimalBinning, information_value
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, NotAvailable
from hiperplano.features.binning.bins import CategoryBins, NumericBins
from hiperplano.features.binning.pieces import round_cut

N = 600
RNG = np.random.default_rng(7)
X = RNG.normal(size=N).round(2)
Y = (RNG.uniform(size=N) < 1 / (1 + np.exp(1 - X))).astype(int)


def fitted(x=X, y=Y, **parameters):
    return OptimalBinning(**parameters).fit(x, y)


# The table of Siddiqi (2006, Credit Risk Scorecards, exhibit 6.2): age, with goods and bads of each bin, and WoE in
# per cent as printed there.
AGE = {
    "missing": (860, 140),
    "18-22": (3040, 960),
    "23-26": (4920, 1080),
    "27-29": (8100, 900),
    "30-35": (9500, 500),
    "35-44": (6800, 200),
    "44+": (2940, 60),
}


def test_woe_and_iv_are_those_of_the_formula_by_hand():
    values, labels = [], []
    for place, (goods, bads) in enumerate(AGE.values()):
        values += [np.nan if place == 0 else float(place)] * (goods + bads)
        labels += [0] * goods + [1] * bads
    binning = OptimalBinning(cuts=[2, 3, 4, 5, 6]).fit(values, labels)
    goods, bads = (np.array(column, dtype=float) for column in zip(*AGE.values(), strict=True))
    n, p = goods / goods.sum(), bads / bads.sum()
    woe = np.log(n / p)
    order = [1, 2, 3, 4, 5, 6, 0]
    np.testing.assert_allclose(binning.woe_, woe[order], rtol=1e-12)
    assert binning.iv_ == pytest.approx(((n - p) * woe).sum(), rel=1e-12)
    table = binning.table()
    np.testing.assert_allclose(table["event_rate"], (bads / (goods + bads))[order], rtol=1e-12)
    assert table.totals["iv"] == pytest.approx(binning.iv_, rel=1e-12)
    assert binning.iv_ == pytest.approx(information_value(labels, np.nan_to_num(values)), rel=1e-10)


def test_woe_and_iv_are_those_of_optbinning_on_the_same_cut_offs():
    """optbinning 1.0.0: OptimalBinning(user_splits=cuts, user_splits_fixed=3·[True], special_codes=[-9],
    monotonic_trend=None)."""
    k = np.arange(400)
    x = ((k * 37) % 101) / 10.0
    y = (k * k + 3 * k) % 7 < 2 + (x > 5)
    x[k % 19 == 0], x[k % 23 == 0] = np.nan, -9
    table = OptimalBinning(cuts=[2.5, 5.0, 7.5], special_codes=[-9]).fit(x, y).table()
    woe = [
        -0.05010682005417888,
        0.0007015082714905141,
        -0.14541699985850376,
        0.24989573678564259,
        -0.2144098713454552,
        0.008733679968754626,
    ]
    np.testing.assert_allclose(table["woe"], woe, rtol=0, atol=1e-12)
    assert table.totals["iv"] == pytest.approx(0.02112269111919593, abs=1e-12)


def test_a_zero_counts_as_smoothing_says_and_nothing_else_changes():
    x, y = [1, 1, 2, 2, 2, 3, 3], [0, 0, 1, 0, 0, 1, 1]
    woe = OptimalBinning(cuts=[2, 3]).fit(x, y).woe_
    np.testing.assert_allclose(woe[:3], np.log([(2 / 4) / (0.5 / 3), (2 / 4) / (1 / 3), (0.5 / 4) / (2 / 3)]))
    assert woe[3] == 0.0  # no value is missing: nothing is known
    smoother = OptimalBinning(cuts=[2, 3], smoothing=1.0).fit(x, y).woe_
    np.testing.assert_allclose(smoother[:3], np.log([(2 / 4) / (1 / 3), (2 / 4) / (1 / 3), (1 / 4) / (2 / 3)]))


def test_wilson_interval_is_that_of_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    table = fitted().table()
    full = table["count"] > 0
    low, high = proportion_confint(table["events"][full], table["count"][full], method="wilson")
    np.testing.assert_allclose(table["low"][full], low, rtol=1e-10)
    np.testing.assert_allclose(table["high"][full], high, rtol=1e-10)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_weights_equal_repetition(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=80).round(1), rng.integers(0, 2, size=80)
    x[rng.uniform(size=80) < 0.1] = np.nan
    y[:2] = [0, 1]
    weight = rng.integers(0, 4, size=80)
    weight[:2] = 1
    for target in (y, x.round() + rng.normal(size=80) * y if not np.isnan(x).any() else rng.normal(size=80)):
        weighted = OptimalBinning(max_bins=4).fit(x, target, sample_weight=weight)
        repeated = OptimalBinning(max_bins=4).fit(np.repeat(x, weight), np.repeat(target, weight))
        assert weighted.bins_ == repeated.bins_
        np.testing.assert_allclose(weighted.encoding_, repeated.encoding_, rtol=1e-12, atol=1e-12)


def test_two_classes_in_sorted_order_whatever_they_are_called():
    plain = fitted()
    for labels in (np.array(["good", "zbad"]), np.array([False, True]), np.array([1.0, 2.0]), np.array([-1, 1])):
        other = fitted(y=labels[Y])
        assert other.bins_ == plain.bins_
        np.testing.assert_array_equal(other.woe_, plain.woe_)
    assert fitted(y=pd.Series(np.where(Y, "b", "a"), dtype="category")).bins_ == plain.bins_
    assert fitted(y=pl.Series(Y)).bins_ == plain.bins_


NUMBERS = {
    "list": X.tolist(),
    "column": X[:, None],
    "pandas table": pd.DataFrame({"age": X}),
    "polars table": pl.DataFrame({"age": X}),
    "float32": X.astype(np.float32),
    "objects": X.astype(object),
    "decimals": np.array([Decimal(str(x)) for x in X], dtype=object),
    "masked": np.ma.masked_invalid(X),
    "pandas": pd.Series(X, name="age"),
    "nullable": pd.Series(X).astype("Float64"),
    "arrow-backed": pd.Series(X).astype("double[pyarrow]"),
    "polars": pl.Series(X),
    "pyarrow": pa.chunked_array([X[:100], X[100:]]),
}


@pytest.mark.parametrize("format", NUMBERS)
def test_numbers_of_every_format_give_the_same_bins(format):
    plain, binning = fitted(), OptimalBinning().fit(NUMBERS[format], Y)
    np.testing.assert_allclose(binning.transform(NUMBERS[format]), plain.transform(X), rtol=1e-12)


MISSING = {
    "None": np.array([None, 1.0, 2.0, None] * 50, dtype=object),
    "NaN": np.array([np.nan, 1.0, 2.0, np.nan] * 50),
    "pandas": pd.Series([None, 1, 2, None] * 50, dtype="Int64"),
    "polars": pl.Series([None, 1, 2, None] * 50),
    "masked": np.ma.array([0, 1, 2, 0] * 50, mask=[1, 0, 0, 1] * 50),
    "text": pd.Series([None, "1", "2", None] * 50, dtype="string"),
    "category": pd.Series([None, "1", "2", None] * 50, dtype="category"),
    "polars text": pl.Series([None, "1", "2", None] * 50),
    "dates": np.array(["NaT", "2020-01-01", "2021-01-01", "NaT"] * 50, dtype="datetime64[D]"),
    "date objects": [None, dt.date(2020, 1, 1), dt.date(2021, 1, 1), None] * 50,
    "polars dates": pl.Series([None, dt.date(2020, 1, 1), dt.date(2021, 1, 1), None] * 50),
    "bool": pd.Series([None, False, True, None] * 50, dtype="boolean"),
    "polars bool": pl.Series([None, False, True, None] * 50),
}


@pytest.mark.parametrize("format", MISSING)
def test_missing_values_have_their_own_bin_in_every_format(format):
    y = np.tile([1, 0, 1, 0, 1, 0, 0, 0], 25)
    binning = OptimalBinning().fit(MISSING[format], y)
    codes = binning.bins_.assign(MISSING[format])
    np.testing.assert_array_equal(codes == binning.bins_.missing, [True, False, False, True] * 50)
    assert binning.table()["count"][binning.bins_.missing] == 100
    assert binning.sums_.sum() == 200


def test_intervals_are_closed_on_the_left_and_hold_infinity():
    bins = NumericBins((0.0, 2.5), ((-1.0,), (998.0, 999.0)))
    values = [-np.inf, -0.5, -0.0, 0.0, 2.4, 2.5, np.inf, -1, 998, 999, np.nan, None]
    assert bins.assign(values).tolist() == [0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5]
    assert bins.labels() == [
        "(-inf, 0)",
        "[0, 2.5)",
        "[2.5, inf)",
        "special: -1",
        "special: 998, 999",
        "missing",
    ]
    assert fitted(np.where(X > 1, np.inf, np.where(X < -1, -np.inf, X))).sums_.sum() == N


def test_special_codes_do_not_move_the_cuts():
    x = np.concatenate([X, np.full(90, 999.0), np.full(60, -9.0)])
    y = np.concatenate([Y, np.tile([0, 1], 75)])
    together = OptimalBinning(special_codes=[-9, 999], min_bin_size=30).fit(x, y)
    named = OptimalBinning(special_codes={"unknown": -9, "refused": [999, 998]}, min_bin_size=30).fit(x, y)
    assert together.bins_.cuts == named.bins_.cuts
    assert max(together.bins_.cuts) < 5
    assert together.table()["count"][together.bins_.n_regular] == 150
    assert named.bins_.labels()[-3:] == ["special: unknown", "special: refused", "missing"]
    assert named.table()["count"][-3:].tolist() == [60, 90, 0]
    dates = pd.Series(pd.date_range("2020-01-01", periods=N))
    shared = [-1, "999", "?", "2020-01-02"]  # of a table with columns of all kinds
    assert OptimalBinning(special_codes=shared).fit(X, Y).bins_.special == ((-1.0, 999.0),)
    assert "special: 2020-01-02" in OptimalBinning(special_codes=shared).fit(dates, Y).bins_.labels()
    text = OptimalBinning(special_codes=["?"]).fit(np.where(X > 1, "?", np.where(X > 0, "a", "b")), Y)
    assert "'?'" not in "".join(text.bins_.labels()[: text.bins_.n_regular])


def test_categories_are_grouped_as_well_as_any_grouping_can():
    """With two classes no grouping of the categories has a larger IV than the best one of neighbours by event rate."""
    rng = np.random.default_rng(3)
    letters = rng.choice(list("abcdef"), size=500)
    y = rng.uniform(size=500) < (np.char.encode(letters).view("u1") % 4 + 1) / 6
    binning = OptimalBinning(max_bins=3, min_bin_size=0.0, rare=0).fit(letters, y)

    def groupings(rest):
        if not rest:
            yield []
            return
        for grouping in groupings(rest[1:]):
            yield [[rest[0]], *grouping]
            for place in range(len(grouping)):
                yield [*grouping[:place], [rest[0], *grouping[place]], *grouping[place + 1 :]]

    best = max(
        OptimalBinning(cuts=grouping).fit(letters, y).iv_
        for grouping in groupings(list("abcdef"))
        if len(grouping) <= 3
    )
    assert binning.iv_ == pytest.approx(best, rel=1e-12)


def test_unseen_categories_have_woe_0_or_are_an_error():
    x = np.where(X > 0, "a", "b")
    assert fitted(x).transform(["c", "a"])[0] == 0.0
    with pytest.raises(InvalidData, match=r"holds 'c' \(row 1\).*did not see"):
        fitted(x, handle_unknown="error").transform(["a", "c"])
    number = fitted(x, y=X)
    assert number.transform(["c"])[0] == pytest.approx(X.mean())


def test_categories_are_python_values():
    x = np.array([1, True, 1.0, "1", 2.5, None, "b", "b"] * 40, dtype=object)
    binning = OptimalBinning(min_bin_size=0.0).fit(x, np.tile([0, 1, 0, 1, 1, 0, 1, 0, 0, 1], 32))
    codes = binning.bins_.assign(x)
    assert codes[0] == codes[1] == codes[2]
    assert codes[5] == binning.bins_.missing
    assert sorted(map(str, sum(binning.bins_.groups, ()))) == ["1", "1", "2.5", "b"]


def test_ten_thousand_categories():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.integers(0, 10_000, size=20_000).astype(str), np.repeat(["often", "seldom"], 2_000)])
    y = np.concatenate([rng.uniform(size=20_000) < 0.3, np.repeat([True, False], 2_000)])
    binning = OptimalBinning().fit(x, y)
    assert binning.bins_.n_regular == 3  # the rare ones are pooled
    assert "more" in binning.bins_.labels()[1]
    assert binning.sums_.sum() == 24_000
    assert "categories are rare" in OptimalBinning().fit(x[:20_000], y[:20_000]).status_


def test_small_categories_are_pooled_unless_they_differ():
    """Each of 200 categories has half a percent of the rows; ten more were seen once."""
    rng = np.random.default_rng(4)
    level = np.append(rng.integers(0, 200, size=9_990), np.arange(200, 210))
    x, noise = level.astype(str), rng.logistic(size=10_000)
    signal = noise + rng.normal(size=210)[level]
    for of in (lambda z: z > 1, np.asarray, lambda z: np.digitize(z, [-1, 1])):  # two classes, numbers, three classes
        assert OptimalBinning().fit(x, of(noise)).bins_.n_regular == 1
        found = OptimalBinning().fit(x, of(signal))
        assert found.bins_.n_regular > 4
        assert any(set(map(str, range(200, 210))) <= set(group) for group in found.bins_.groups)
        assert found.status_.endswith("10 rare categories were pooled first.")


def test_dates_are_cut_at_midnight_where_that_is_possible():
    days = np.datetime64("2020-01-01") + np.arange(N).astype("timedelta64[D]")
    y = days >= np.datetime64("2020-09-01")
    binning = OptimalBinning(max_bins=2, max_prebins=N).fit(days, y)
    assert binning.bins_.labels()[:2] == ["(-inf, 2020-09-01)", "[2020-09-01, inf)"]
    by_hand = OptimalBinning(cuts=["2020-03-01"], special_codes=["2020-01-01"]).fit(pd.Series(days), y)
    assert by_hand.table()["count"].tolist() == [59, N - 60, 1, 0]
    zoned = pd.Series(days).dt.tz_localize("UTC").dt.tz_convert("America/Bogota")
    assert OptimalBinning(max_bins=2, max_prebins=N).fit(zoned, y).bins_ == binning.bins_


@pytest.mark.parametrize(
    ("below", "above", "cut"),
    [
        (24, 25, 25),
        (2.3, 2.4, 2.4),
        (7.0, 7.1, 7.1),
        (24, 31, 30),
        (0.37171, 0.3723, 0.372),
        (-3, -2, -2),
        (-3, 5, 0),
        (999.99, 1000.01, 1000),
        (1e20, 1.1e20, 1.1e20),
        (-np.inf, 4, 4),
        (4, np.inf, 6),
        (-np.inf, np.inf, 0),
        (5e-324, 1e-323, 1e-323),
        (1.7e308, np.inf, 1.75e308),
        (np.finfo(float).max, np.inf, np.inf),
        (1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 2)),
    ],
)
def test_cuts_are_round(below, above, cut):
    assert round_cut(below, above) == cut


@settings(max_examples=100)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_cut_lies_between_the_values(one, other):
    below, above = sorted((one, other))
    if below < above:
        assert below < round_cut(below, above) <= above


def test_bins_are_changed_by_hand_and_stay_consistent():
    binning = fitted(max_bins=5)
    before = binning.table()
    merged = clone(binning).fit(X, Y).merge(1, 2)
    assert merged.bins_.cuts == binning.bins_.cuts[:1] + binning.bins_.cuts[2:]
    assert merged.table()["count"][1] == before["count"][1:3].sum()
    assert merged.iv_ <= binning.iv_
    again = merged.split(binning.bins_.cuts[1])
    assert again.bins_ == binning.bins_
    np.testing.assert_array_equal(again.woe_, binning.woe_)
    np.testing.assert_array_equal(again.transform(X), binning.transform(X))
    by_hand = OptimalBinning(cuts=binning.bins_.cuts).fit(X, Y)
    np.testing.assert_array_equal(by_hand.woe_, binning.woe_)
    with pytest.raises(InvalidParameter, match="not neighbours"):
        binning.merge(0, 2)
    with pytest.raises(InvalidParameter, match=r"0 … 4"):
        binning.merge(4, 5)
    with pytest.raises(InvalidParameter, match="no place to split"):
        binning.split(binning.bins_.cuts[0])
    letters = np.array(list("abcd"))[RNG.integers(0, 4, size=N)]
    groups = OptimalBinning(cuts=[["a", "b"], ["c", "d"]]).fit(letters, Y)
    assert groups.split(["b"]).bins_.groups == (("a",), ("b",), ("c", "d"))
    assert groups.merge(0, 2).bins_.groups == (("a", "c", "d"), ("b",))
    assert groups.table()["count"][1] == (letters == "b").sum()
    with pytest.raises(InvalidParameter, match="not all"):
        groups.split(["b"])


@pytest.mark.parametrize("prebins", ["quantile", "tree"])
def test_a_valley_is_found_and_noise_stays_monotone(prebins):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=4000)
    y = rng.uniform(size=4000) < 0.1 + 0.12 * x**2
    assert OptimalBinning(prebins=prebins).fit(x, y).trend_ == "valley"
    assert OptimalBinning(prebins=prebins).fit(x, ~y).trend_ == "peak"
    noise = [OptimalBinning(prebins=prebins).fit(x, rng.uniform(size=4000) < 0.3).trend_ for _ in range(10)]
    assert set(noise) <= {"ascending", "descending"}
    rates = OptimalBinning(prebins=prebins, trend="descending").fit(x, y).table()["event_rate"][:-1]
    assert (np.diff(rates) <= 0).all()


def test_a_number_as_target_is_coded_by_means():
    y = 3 * X + 1e6
    binning = fitted(y=y, max_bins=4)
    assert binning.target_kind_ == "continuous"
    codes = binning.bins_.assign(X)
    np.testing.assert_allclose(
        binning.transform(X), pd.Series(y).groupby(codes).transform("mean").to_numpy(), rtol=1e-12
    )
    sd = binning.table()["sd"][:4]
    np.testing.assert_allclose(sd, pd.Series(y).groupby(codes).std().to_numpy(), rtol=1e-9)
    with pytest.raises(NotAvailable, match="compares classes"):
        binning.iv_  # noqa: B018


def test_many_classes_are_each_coded_against_the_others():
    y = np.digitize(X + RNG.normal(size=N), [-0.5, 0.5])
    binning = fitted(y=y, max_bins=4)
    assert binning.encoding_.shape == (5, 3)
    for k in range(3):
        alone = OptimalBinning(cuts=binning.bins_.cuts).fit(X, y == k)
        np.testing.assert_allclose(binning.encoding_[:, k], alone.woe_, rtol=1e-12)
    assert binning.iv_ == pytest.approx(
        sum(OptimalBinning(cuts=binning.bins_.cuts).fit(X, y == k).iv_ for k in range(3)), rel=1e-12
    )


EDGES = {
    "no values": np.full(N, np.nan),
    "one value": np.ones(N),
    "two values": (X > 0).astype(float),
    "the target": Y.astype(float),
    "ties": np.where(np.arange(N) < 5, 1.0, 2.0),
    "only infinity": np.where(X > 0, np.inf, -np.inf),
    "tiny": X * 1e-310,
    "huge": X * 1e305,
    "zeros": np.where(X > 0, -0.0, 0.0),
    "large whole numbers": 2**60 + (X * 2**50).astype(np.int64),
    "all special": np.full(N, -1.0),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("y", [Y, X], ids=["classes", "numbers"])
def test_odd_columns_give_bins_that_count_every_row(name, y):
    for parameters in ({}, {"prebins": "tree", "max_prebins": 5}, {"kind": "categorical"}):
        binning = OptimalBinning(special_codes=[-1], **parameters).fit(EDGES[name], y)
        assert np.isfinite(binning.transform(EDGES[name])).all()
        assert binning.table()["count"].sum() == N
        assert str(binning.status_)
        assert str(binning.table())
        assert binning.table()._repr_html_().startswith("<table>")


def test_a_table_becomes_a_frame():
    table = fitted().table()
    assert table.to_pandas().index.tolist() == list(table.labels)
    assert table.to_polars()["woe"].to_list() == table["woe"].tolist()
    assert len(table) == len(table.labels)


REFUSED = [
    ({}, X, np.zeros(N), InvalidTarget, "one value"),
    ({}, X, np.where(Y, np.nan, 1.0), InvalidTarget, "NaN"),
    ({}, X, Y[:-1], InvalidTarget, "599 values and X 600 rows"),
    ({}, X, None, InvalidTarget, "requires y"),
    ({}, np.ones((N, 2)), Y, InvalidData, "one column at a time"),
    ({}, pd.DataFrame(np.ones((N, 2))), Y, InvalidData, "WoEEncoder"),
    ({}, sparse.csr_array(X[:, None]), Y, InvalidData, "dense"),
    ({}, X.astype(complex), Y, InvalidData, "complex"),
    ({}, np.array([[1], [1, 2]] * 300, dtype=object), Y, InvalidData, "no categories"),
    ({"kind": "numeric"}, np.array(["1", "x"] * 300), Y, InvalidData, "holds 'x'"),
    ({"cuts": [2, 1]}, X, Y, InvalidParameter, "ascend"),
    ({"cuts": [["a"], ["a", "b"]]}, np.where(Y, "a", "b"), Y, InvalidParameter, "twice"),
    ({"criterion": "ks"}, X, X, InvalidParameter, "continuous"),
    ({"criterion": "entropy"}, X, Y, InvalidParameter, "criterion"),
    ({"trend": "up"}, X, Y, InvalidParameter, "trend"),
    ({"max_bins": 0}, X, Y, InvalidParameter, "max_bins"),
    ({"max_p_value": 0}, X, Y, InvalidParameter, "max_p_value"),
    ({"kind": "text"}, X, Y, InvalidParameter, "kind"),
    ({"target": "binary"}, X, np.arange(N) % 3, InvalidTarget, "two"),
    ({"target": "continuous"}, X, np.where(Y, "a", "b"), InvalidTarget, "numbers"),
]


@pytest.mark.parametrize(("parameters", "x", "y", "error", "words"), REFUSED)
def test_what_cannot_be_binned_is_said(parameters, x, y, error, words):
    with pytest.raises(error, match=words):
        OptimalBinning(**parameters).fit(x, y)


def test_a_bin_of_just_the_least_share_is_large_enough():
    x = np.repeat([1.0, 2.0], [7, 93])
    assert OptimalBinning(min_bin_size=0.07).fit(x, np.arange(100) < 9).bins_.cuts == (2.0,)


def test_limits_that_nothing_satisfies_leave_one_bin():
    binning = fitted(min_events=N)
    assert binning.bins_ == NumericBins(())
    assert "No bin satisfies" in binning.status_
    assert "No two bins" in fitted(min_bin_size=0.6).status_


def test_scikit_learn_says_that_it_checks_tables_only():
    """One column is a vector: the checks of scikit-learn that feed it are those without data."""
    with pytest.warns(SkipTestWarning, match="one_d_array=True"):
        results = check_estimator(OptimalBinning(), on_skip=None, on_fail="raise")
    assert all(result["status"] == "passed" for result in results)
    assert isinstance(fitted(np.where(X > 0, "a", "b")).bins_, CategoryBins)
