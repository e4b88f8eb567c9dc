"""Codes for "no value": found where they stand apart, and nowhere else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hiperplano.errors import InvalidParameter
from hiperplano.features.kinds import infer_kinds, without_codes
from hiperplano.features.special_codes import without_given

RNG = np.random.default_rng(0)
BASE = RNG.integers(0, 40, 500)


def with_codes(codes, base=BASE):
    values = base.copy()
    values[: 20 * len(codes)] = np.repeat(codes, 20)
    return values


@pytest.mark.parametrize(
    "codes", [(-9,), (-9, -8, -7), (-1,), (-99, -98), (-999,), (999,), (999, 998, 997), (-9, 999), (-88, -77)]
)
def test_they_are_found_counted_and_emptied(codes):
    table = pa.table({"x": with_codes(codes)})
    [column] = infer_kinds(table)
    assert set(column.codes) == set(codes)
    assert column.missing == 20 * len(codes)
    kept = without_codes(table, [column]).column("x")
    assert kept.null_count == 20 * len(codes)
    assert sorted(kept.drop_null().to_pylist()) == sorted(with_codes(codes)[20 * len(codes) :].tolist())


@pytest.mark.parametrize(
    "values",
    [
        BASE - 9,  # a scale that reaches below 0
        with_codes((-2, -1)),  # changes, not codes
        np.where(RNG.random(500) < 0.003, -9, BASE),  # one or two rows
        BASE + 60,  # 99 is its end
        RNG.normal(size=500).round(1),
        with_codes((-9, -8, -7, -6, -99), BASE),  # too many to be codes
    ],
)
def test_numbers_that_belong_to_the_column_stay(values):
    [column] = infer_kinds(pa.table({"x": values}))
    assert column.codes == ()
    assert column.missing == 0


def test_a_hundred_rows_are_enough_in_a_large_table():
    late = np.repeat([0, 1, 2, 5, 13], 20_000)
    late[:150] = 98
    [column] = infer_kinds(pa.table({"late": late}))
    assert column.codes == (98.0,)


def test_given_ones_are_numbers_or_texts_for_one_column_or_for_all():
    table = pa.table({"n": [1, -9, 3], "t": ["a", "none", "b"], "y": [-9, 1, 2]})
    found, codes = without_given(table, {"*": ["-9", "none"]}, "y")
    assert found.to_pydict() == {"n": [1, None, 3], "t": ["a", None, "b"], "y": [-9, 1, 2]}
    assert codes == {"n": (-9.0,), "t": ("-9", "none")}
    found, _ = without_given(table, {"y": ["-9"], "n": []}, "y")
    assert found.to_pydict()["y"] == [None, 1, 2]
    assert found.to_pydict()["n"] == [1, -9, 3]
    with pytest.raises(InvalidParameter, match="the column holds numbers, and 'none' is none"):
        without_given(table, {"n": ["none"]}, "y")
