"""All columns of a table: the same wherever the rows are, in every format, and consistent with single columns."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from hiperplano import LogisticRegression, OptimalBinning, WoEEncoder, load, save
from hiperplano.data.in_memory import InMemory
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.features.binning.prebinning.sketch import LIMIT, sketch_columns
from tests.shipped import Shipped

N = 900
RNG = np.random.default_rng(11)
AGE = RNG.integers(18, 80, size=N).astype(float)
INCOME = np.exp(RNG.normal(size=N)) * 1000
HOME = RNG.choice(["own", "rent", "other"], size=N, p=[0.5, 0.4, 0.1])
SINCE = np.datetime64("2015-01-01") + RNG.integers(0, 2000, size=N).astype("timedelta64[D]")
SCORE = (AGE - 45) / 15 + np.log(INCOME / 1000) + (HOME == "own")
Y = (RNG.uniform(size=N) < 1 / (1 + np.exp(SCORE))).astype(int)
AGE[::37] = np.nan
INCOME[::41] = -1
FRAME = pd.DataFrame({"age": AGE, "income": INCOME, "home": HOME, "since": SINCE})
PER_COLUMN = {"income": {"special_codes": [-1]}, "age": {"max_bins": 4}}


@pytest.fixture(scope="module")
def encoder():
    return WoEEncoder(per_column=PER_COLUMN).fit(FRAME, Y)


def test_each_column_is_that_of_its_own_binning(encoder):
    made = encoder.transform(FRAME)
    for place, name in enumerate(FRAME):
        alone = OptimalBinning(**PER_COLUMN.get(name, {})).fit(FRAME[name], Y)
        assert encoder.binnings_[name].bins_ == alone.bins_
        np.testing.assert_array_equal(made[:, place], alone.transform(FRAME[name]))
    assert encoder.get_feature_names_out().tolist() == list(FRAME)
    assert list(encoder.information_values().values()) == sorted(encoder.information_values().values())[::-1]


FORMATS = {
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "arrow-backed": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda frame: frame.astype(object),
}


@pytest.mark.parametrize("format", FORMATS)
def test_tables_of_every_library_give_the_same(encoder, format):
    table = FORMATS[format](FRAME)
    other = clone(encoder).fit(table, Y)
    assert [each.bins_ for each in other.binnings_.values()] == [each.bins_ for each in encoder.binnings_.values()]
    np.testing.assert_allclose(other.transform(table), encoder.transform(FRAME), rtol=1e-12)


def test_names_and_frames_come_out(encoder):
    frame = clone(encoder).set_output(transform="pandas").fit_transform(FRAME, Y)
    assert list(frame.columns) == list(FRAME)
    assert frame.index.equals(FRAME.index)
    polars = clone(encoder).set_output(transform="polars").fit_transform(pl.from_pandas(FRAME), Y)
    assert polars.columns == list(FRAME)
    short = clone(encoder).set_params(dtype=np.float32).fit(FRAME, Y).transform(FRAME)
    assert short.dtype == np.float32
    np.testing.assert_allclose(short, frame.to_numpy(), rtol=1e-6)


NUMBERS = np.column_stack([AGE, INCOME, RNG.normal(size=N), RNG.integers(0, 4, size=N)])


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("target", ["classes", "three", "numbers"])
def test_bins_are_the_same_wherever_rows_are(weighted, target):
    """Through a serialiser, in blocks of random sizes, with the sums of the bins to 1e-12."""
    y = {"classes": Y, "three": np.digitize(SCORE, [-1, 1]), "numbers": SCORE}[target]
    weight = RNG.integers(0, 3, size=N).astype(float) if weighted else None
    model = WoEEncoder(
        per_column={
            1: {"special_codes": [-1], "cuts": [500, 1000]},
            2: {"prebins": [-1, 0, 1]},
            3: {"kind": "categorical"},
        }
    )
    plain = clone(model).fit(NUMBERS, y, sample_weight=weight)
    for seed in (0, 1):
        there = clone(model).fit(Shipped(NUMBERS, y, weight, seed=seed))
        for name, binning in plain.binnings_.items():
            assert there.binnings_[name].bins_ == binning.bins_
            np.testing.assert_allclose(there.binnings_[name].sums_, binning.sums_, rtol=1e-12, atol=1e-9)
        rows = Shipped(NUMBERS, y, seed=seed)
        np.testing.assert_allclose(there.transform(rows), plain.transform(NUMBERS), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "lognormal", "whole", "clustered", "few"])
def test_a_sketch_does_not_depend_on_the_blocks(kind):
    """More values than a sketch keeps: what it keeps is a property of the values, so that parts can be merged."""
    rng = np.random.default_rng(5)
    n = 40_000
    x = {
        "normal": rng.normal(size=n),
        "lognormal": np.exp(3 * rng.normal(size=n)),
        "whole": rng.integers(0, 30_000, size=n).astype(float),
        "clustered": 1e6 + rng.uniform(size=n) ** 9,
        "few": rng.integers(0, 50, size=n).astype(float),
    }[kind]
    x[::100] = np.nan
    code = rng.integers(0, 2, size=n)
    here = InMemory(x[:, None], code[:, None], vectors={"code": code, "column": x})
    there = Shipped(x[:, None], code, seed=2).with_vectors(code=code)
    sketches = [
        sketch_columns(here, ((),), (LIMIT,), 2)[0],
        sketch_columns(here, ((),), (LIMIT,), 2, "column")[0],
        sketch_columns(there, ((),), (LIMIT,), 2)[0],
    ]
    for other in sketches[1:]:
        for mine, theirs in zip(sketches[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    keys, low, high, sums, apart, level = sketches[0]
    assert LIMIT / 8 < len(keys) <= 6 * LIMIT or level[0] == 0
    assert sums.sum() + apart.sum() == n
    assert (low <= high).all()
    assert (high[:-1] < low[1:]).all()
    for place in range(0, len(low), max(1, len(low) // 50)):
        inside = (x >= low[place]) & (x <= high[place])
        np.testing.assert_array_equal(np.bincount(code[inside], minlength=2), sums[place])
    assert (sums.sum(axis=1)[low < high] <= 0.005 * n).all()  # fine enough for a hundred pre-bins


def test_columns_are_left_out_by_information_and_correlation():
    frame = FRAME.assign(noise=RNG.normal(size=N), leak=Y + 0.0, twin=np.nan_to_num(AGE, nan=45) + RNG.normal(size=N))
    model = WoEEncoder(min_iv=0.1, max_iv=4.0, max_correlation=0.7).fit(frame, Y)
    assert "below 0.1" in model.reasons_["noise"]
    assert "a leak?" in model.reasons_["leak"]
    assert {"age", "twin"} & set(model.reasons_)
    assert "correlation" in model.reasons_[next(iter({"age", "twin"} & set(model.reasons_)))]
    kept = model.get_feature_names_out().tolist()
    assert kept == [name for name in frame if name not in model.reasons_]
    correlation = np.corrcoef(model.transform(frame).T)
    assert (np.abs(correlation - np.eye(len(kept))) <= 0.7).all()
    weight = RNG.integers(0, 3, size=N)
    weighted = WoEEncoder(max_correlation=0.7).fit(frame, Y, sample_weight=weight)
    repeated = WoEEncoder(max_correlation=0.7).fit(frame.loc[frame.index.repeat(weight)], np.repeat(Y, weight))
    assert list(weighted.reasons_.values()) == list(repeated.reasons_.values())
    with pytest.raises(InvalidData, match="no column is left"):
        WoEEncoder(min_iv=50).fit(frame, Y)


def test_bins_changed_by_hand_are_transformed():
    model = WoEEncoder(per_column=PER_COLUMN).fit(FRAME, Y)
    before = model.information_values()["age"]
    model.binnings_["age"].merge(0, 1)
    assert model.information_values()["age"] < before
    made = model.transform(FRAME)[:, 0]
    assert set(made) <= set(model.binnings_["age"].woe_)
    assert len(set(made)) == len(model.binnings_["age"].woe_)


def test_other_targets():
    three = WoEEncoder().fit(FRAME, np.digitize(SCORE, [-1, 1]))
    assert three.transform(FRAME).shape == (N, 12)
    assert three.get_feature_names_out()[:3].tolist() == ["age_0", "age_1", "age_2"]
    number = WoEEncoder().fit(FRAME, SCORE)
    assert number.transform(FRAME)[:, 0].mean() == pytest.approx(SCORE.mean())
    with pytest.raises(NotAvailable, match="number"):
        number.information_values()


def test_unseen_categories_and_kinds_in_new_rows(encoder):
    new = FRAME.head(3).assign(home=["castle", None, "own"], age=[None, 1000, -5])
    made = encoder.transform(new)
    assert made[0, 2] == 0.0
    assert made[1, 2] == encoder.binnings_["home"].woe_[-2]
    assert made[0, 0] == encoder.binnings_["age"].woe_[-1]
    with pytest.raises(InvalidData, match="'age' holds 'old'"):
        encoder.transform(new.assign(age="old"))
    strict = WoEEncoder(OptimalBinning(handle_unknown="error")).fit(FRAME, Y)
    with pytest.raises(InvalidData, match=r"'home' holds 'castle' \(row 0\)"):
        strict.transform(new)


def test_a_pipeline_with_logistic_regression_and_files(encoder, tmp_path):
    model = make_pipeline(WoEEncoder(per_column=PER_COLUMN), LogisticRegression()).fit(FRAME, Y)
    assert (model[-1].coef_ < 0).all()  # a larger WoE speaks against the event
    assert cross_val_score(model, FRAME, Y, scoring="roc_auc").mean() > 0.75
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(FRAME), model.predict_proba(FRAME))
    copied = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copied.transform(FRAME), encoder.transform(FRAME))
    assert str(copied.binnings_["age"].table()) == str(encoder.binnings_["age"].table())


@pytest.mark.parametrize(
    ("parameters", "X", "words"),
    [
        ({"per_column": {"agee": {}}}, FRAME, "'agee'"),
        ({"per_column": {9: {}}}, FRAME, "column 9"),
        ({"binning": "tree"}, FRAME, "OptimalBinning"),
        ({"min_iv": -1}, FRAME, "min_iv"),
        ({"max_correlation": 2}, FRAME, "max_correlation"),
        ({"binning": OptimalBinning(max_bins=0)}, FRAME, "max_bins"),
        ({}, FRAME.set_axis(["a", "a", "b", "c"], axis=1), "'a'; names must differ"),
        ({}, FRAME.head(0), "0 sample"),
    ],
)
def test_what_cannot_be_encoded_is_said(parameters, X, words):
    with pytest.raises((InvalidParameter, InvalidData), match=words):
        WoEEncoder(**parameters).fit(X, Y[: len(X)])
