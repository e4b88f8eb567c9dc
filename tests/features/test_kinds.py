"""Kinds of columns: what is guessed, why, and how a person overrules it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.features.kinds import infer_kinds
from hiperplano.features.ordinal import ordinal_order

RNG = np.random.default_rng(0)
N = 400


def kinds(target=None, chosen=None, **columns):
    return {column.name: column for column in infer_kinds(pa.table(columns), target, **(chosen or {}))}


def words(values):
    return pa.array(values).dictionary_encode()


@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        (RNG.normal(size=N), "numeric", "numbers from"),
        (RNG.integers(0, 90, N), "numeric", "whole numbers from 0 to 89"),
        (words(RNG.choice(["car", "home"], N).tolist()), "nominal", "2 values"),
        (words(RNG.choice(["low", "high", "medium"], N).tolist()), "ordered", "low < medium < high"),
        (words(RNG.choice(["5-9 years", "<1 year", "10+ years", "1-4 years"], N).tolist()), "ordered", "<1 year < 1-4"),
        (np.datetime64("2020-01-01", "us") + np.arange(N).astype("timedelta64[D]"), "date", "from 2020-01-01 to"),
        (RNG.permutation(N), "identifier", "each in one row"),
        (pa.array([f"client {i}" for i in range(N)]), "identifier", "400 different texts in 400 rows"),
        (np.full(N, 3), "constant", "3 in all rows"),
        (words(["x"] * N), "constant", "'x' in all rows"),
        (pa.nulls(N), "empty", "all 400 cells are empty"),
        (pa.array([None] * N, pa.float64()), "empty", "all 400 cells are empty"),
    ],
)
def test_a_kind_is_guessed_with_its_reason(values, kind, why):
    found = kinds(x=values)["x"]
    assert found.kind == kind
    assert why in found.why


def test_a_thousand_categories_are_too_many():
    rng = np.random.default_rng(0)
    values = words([f"place {i}" for i in rng.integers(0, 10_000, 50_000)])
    found = kinds(place=values)["place"]
    assert found.kind == "identifier"
    assert "different texts, more than 1,000: too many for categories" in found.why
    assert "--kind place=nominal keeps the frequent ones" in found.why
    assert kinds(place=values, chosen={"chosen": {"place": "nominal"}})["place"].used


def test_honest_whole_numbers_that_all_differ_are_not_identifiers():
    rng = np.random.default_rng(0)
    assert kinds(income=rng.choice(10**7, N, replace=False))["income"].kind == "numeric"
    assert kinds(client_id=rng.choice(10**7, N, replace=False))["client_id"].kind == "identifier"


@pytest.mark.parametrize(
    ("code", "others", "is_code"),
    [(999, (0, 40), True), (-1, (0, 5), True), (9999, (0, 9000), False), (-1, (-30, 30), False), (99, (0, 98), False)],
)
def test_special_codes_stand_apart(code, others, is_code):
    rng = np.random.default_rng(0)
    values = rng.integers(others[0], others[1] + 1, N)
    values[:200] = np.linspace(*others, 200).astype(int)
    values[-20:] = code
    found = kinds(x=values)["x"]
    assert found.codes == ((float(code),) if is_code else ())
    assert ("taken as missing" in found.why) == is_code


def test_codes_can_be_named_and_denied():
    rng = np.random.default_rng(0)
    values = np.where(np.arange(N) < 20, 999, rng.integers(0, 40, N))
    assert kinds(x=values, chosen={"missing": {"x": ()}})["x"].codes == ()
    assert kinds(x=values, chosen={"missing": {"x": (7.0,)}})["x"].codes == (7.0,)


TARGET = words(np.where(np.arange(N) % 3 == 0, "yes", "no").tolist())
IS = np.arange(N) % 3 == 0


@pytest.mark.parametrize(
    "leak",
    [np.where(IS, 5.0, 1.0) + RNG.random(N), -np.where(IS, 5, 1), words(np.where(IS, "late", "on time").tolist())],
)
def test_a_column_that_tells_the_target_is_suspected(leak):
    rng = np.random.default_rng(0)
    found = kinds("y", leak=leak, honest=rng.normal(size=N) + IS, y=TARGET)
    assert found["leak"].kind == "leak"
    assert found["honest"].kind == "numeric"
    assert kinds("y", leak=leak, y=TARGET, chosen={"leaks": False})["leak"].kind != "leak"
    assert kinds("y", leak=leak, y=TARGET, chosen={"chosen": {"leak": "nominal"}})["leak"].kind == "nominal"


def test_a_target_in_other_units_is_suspected():
    rng = np.random.default_rng(0)
    y = rng.normal(size=N)
    found = kinds("y", leak=3 * y + 1, honest=y + rng.normal(size=N), y=y)
    assert found["leak"].kind == "leak"
    assert "correlation" in found["leak"].why
    assert found["honest"].kind == "numeric"


def test_a_few_rows_are_no_ground_for_suspicion():
    assert kinds("y", x=[1.0, 2.0, 8.0, 9.0], y=words(["a", "a", "b", "b"]))["x"].kind == "numeric"


def test_infinity_is_refused_with_its_row():
    with pytest.raises(InvalidData, match=r"column 'x' holds infinity \(row 3\).*--drop x"):
        kinds(x=[1.0, 2.0, np.inf, 4.0])


def test_choices_must_make_sense():
    with pytest.raises(InvalidParameter, match="column 'z'; the columns are 'x'"):
        kinds(x=[1, 2], chosen={"chosen": {"z": "nominal"}})
    with pytest.raises(InvalidParameter, match="'fancy' is not a kind; the kinds are numeric, ordered"):
        kinds(x=[1, 2], chosen={"chosen": {"x": "fancy"}})
    with pytest.raises(InvalidParameter, match="column 'x' cannot be numeric: it holds 'a'"):
        kinds(x=words(["a", "b"]), chosen={"chosen": {"x": "numeric"}})
    with pytest.raises(InvalidParameter, match="cannot be date"):
        kinds(x=[1, 2], chosen={"chosen": {"x": "date"}})


def test_an_order_can_be_given():
    found = kinds(x=words(["b", "a", "c"]), chosen={"orders": {"x": ["c", "b", "a"]}})["x"]
    assert (found.kind, found.order) == ("ordered", ("c", "b", "a"))


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["alto", "bajo", "medio"], ("bajo", "medio", "alto")),
        (["A", "AAA", "BB"], ("BB", "A", "AAA")),
        ([">7", "1 to 4", "<1", "4 to 7"], ("<1", "1 to 4", "4 to 7", ">7")),
        (["red", "green", "blue"], ()),
        (["10001", "10002", "10003"], ()),
        (["low", "high"], ()),
    ],
)
def test_words_with_an_order(values, order):
    assert ordinal_order(values) == order
