"""Columns of all kinds as numbers."""

from __future__ import annotations

from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from hiperplano import load, save
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.features.coding import Coding
from hiperplano.features.columns import Column

FRAME = pd.DataFrame(
    {
        "age": [20.0, np.nan, 40.0, 999.0] * 5,
        "grade": ["low", "high", None, "medium"] * 5,
        "day": pd.to_datetime(["1970-01-02", "1970-01-11", None, "1970-01-03"] * 5),
        "town": ["Cali", "Cali", None, "Bogotá"] * 5,
        "use": ["car", "car", "home", "home"] * 4 + ["car"] * 4,
    }
)
COLUMNS = (
    Column("age", "numeric", codes=(999.0,)),
    Column("grade", "ordered", order=("low", "medium", "high")),
    Column("day", "date"),
    Column("town", "nominal"),
    Column("use", "nominal"),
    Column("name", "identifier"),
)


def coded(frame=FRAME, columns=COLUMNS, **options):
    coding = Coding(columns, **options).fit(frame)
    return pd.DataFrame(coding.transform(frame), columns=coding.get_feature_names_out())


def test_numbers_dates_and_scales_with_gaps_filled_and_marked():
    found = coded()
    assert found["age"].tolist()[:4] == [20.0, 30.0, 40.0, 30.0]
    assert found["age missing"].tolist()[:4] == [0.0, 1.0, 0.0, 1.0]
    assert found["grade"].tolist()[:4] == [0.0, 2.0, 1.0, 1.0]
    assert found["day (days)"].tolist()[:4] == [1.0, 10.0, 2.0, 2.0]
    assert "use missing" not in found


def test_no_value_is_all_zeros():
    found = coded()
    towns = found[["town = Bogotá", "town = Cali"]].to_numpy()
    assert towns[:4].tolist() == [[0, 1], [0, 1], [0, 0], [1, 0]]


def test_a_column_without_gaps_is_compared_with_its_most_frequent_category():
    """All categories and the intercept would depend on each other."""
    found = coded()
    assert "use = car" not in found
    assert found["use = home"].tolist()[:4] == [0.0, 0.0, 1.0, 1.0]
    assert Coding(COLUMNS).fit(FRAME).references() == {"town": None, "use": "car"}
    with_intercept = np.column_stack([np.ones(len(found)), found])
    assert np.linalg.matrix_rank(with_intercept[:, [0, -1]]) == 2


def test_numbers_are_those_of_scikit_learn():
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90_000, 3)), columns=["x", "y", "z"])
    frame = frame.where(rng.random(frame.shape) > 0.05)
    frame["c"] = pd.Categorical(rng.choice(["a", "b", "c", "d"], len(frame)))
    frame["c"] = frame["c"].where(rng.random(len(frame)) > 0.05)
    columns = (*(Column(name, "numeric") for name in "xyz"), Column("c", "nominal"))
    reference = make_column_transformer(
        (SimpleImputer(strategy="median", add_indicator=True), ["x", "y", "z"]),
        (OneHotEncoder(categories=[["a", "b", "c", "d"]], handle_unknown="ignore", sparse_output=False), ["c"]),
    ).fit_transform(frame)
    names = ["x", "y", "z", "x missing", "y missing", "z missing", "c = a", "c = b", "c = c", "c = d"]
    np.testing.assert_array_equal(coded(frame, columns)[names], reference)


def test_fit_transform_is_fit_and_transform():
    assert np.array_equal(Coding(COLUMNS).fit_transform(FRAME), coded().to_numpy())


def test_rows_do_not_depend_on_order_or_number_of_columns_and_rows():
    coding = Coding(COLUMNS).fit(FRAME)
    whole = coding.transform(FRAME)
    turned = FRAME.assign(extra=1)[["extra", *FRAME.columns[::-1]]]
    assert np.array_equal(coding.transform(turned), whole)
    assert np.array_equal(coding.transform(FRAME.iloc[3:4]), whole.iloc[3:4])


def test_rare_categories_are_pooled_and_unseen_ones_join_them():
    values = ["a"] * 500 + ["b"] * 400 + ["c"] * 20 + ["d"] * 9
    coding = Coding((Column("x", "nominal"),)).fit(pd.DataFrame({"x": values}))
    assert coding.get_feature_names_out().tolist() == ["x = b", "x = (other)"]
    assert coding.transform(pd.DataFrame({"x": ["a", "b", "c", "new", None]})).to_numpy().tolist() == [
        [0, 0], [1, 0], [0, 1], [0, 1], [0, 0]
    ]  # fmt: skip


def test_without_rare_ones_an_unseen_category_is_all_zeros():
    coding = Coding(COLUMNS).fit(FRAME)
    new = coding.transform(FRAME.head(1).assign(town="Lima", grade="unheard of"))
    found = new.iloc[0].to_dict()
    assert found["town = Bogotá"] == found["town = Cali"] == 0.0
    assert found["grade missing"] == 1.0


def test_a_handful_of_gaps_gets_no_column_and_is_no_reference():
    """A few rows that happen to be of one class would make a likelihood without a maximum."""
    frame = pd.DataFrame({"x": np.arange(1000.0), "c": ["a", "b"] * 500})
    few = frame.assign(x=frame["x"].where(frame["x"] > 5), c=frame["c"].where(frame["x"] > 5))
    many = frame.assign(x=frame["x"].where(frame["x"] > 50), c=frame["c"].where(frame["x"] > 50))
    columns = (Column("x", "numeric"), Column("c", "nominal"))
    assert list(coded(few, columns)) == ["x", "c = b"]
    assert list(coded(many, columns)) == ["x", "x missing", "c = a", "c = b"]


def test_at_most_fifty_categories_get_a_column():
    values = np.repeat([f"place {i:02d}" for i in range(80)], 40)
    assert len(Coding((Column("x", "nominal"),)).fit(pd.DataFrame({"x": values})).get_feature_names_out()) == 50


def test_numbers_as_categories_are_the_same_with_and_without_gaps():
    coding = Coding((Column("zone", "nominal"),)).fit(pd.DataFrame({"zone": [1, 2, 3] * 20}))
    whole, gaps = pd.DataFrame({"zone": [1, 2, 3]}), pd.DataFrame({"zone": [1.0, 2.0, np.nan]})
    assert coding.transform(gaps)[:2].equals(coding.transform(whole)[:2])


def test_gaps_in_a_column_that_had_none_are_filled():
    coding = Coding((Column("x", "numeric"),)).fit(pd.DataFrame({"x": [1.0, 2.0, 9.0]}))
    assert coding.transform(pd.DataFrame({"x": [np.nan]})).to_numpy().tolist() == [[2.0]]
    assert coding.transform(pd.DataFrame({"x": pd.Series([None], dtype=object)})).to_numpy().tolist() == [[2.0]]


def test_gaps_filled_by_a_model_follow_the_other_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "twice": np.where(np.arange(200) < 20, np.nan, 2 * x)})
    columns = (Column("x", "numeric"), Column("twice", "numeric"))
    found = coded(frame, columns, fill="model")
    np.testing.assert_allclose(found["twice"], 2 * x, atol=1e-2)
    assert np.ptp(coded(frame, columns)["twice"][:20]) == 0


@pytest.mark.parametrize("fill", ["median", "model"])
def test_a_coding_comes_back_from_a_file(fill, tmp_path):
    coding = Coding(COLUMNS, fill=fill).fit(FRAME)
    save(coding, tmp_path / "coding.skops")
    back = load(tmp_path / "coding.skops")
    assert back.transform(FRAME).to_numpy().tobytes() == coding.transform(FRAME).to_numpy().tobytes()
    assert back.get_feature_names_out().tolist() == coding.get_feature_names_out().tolist()
    assert (back.columns, back.coders_) == (coding.columns, coding.coders_)


def test_the_file_of_a_coding_does_not_grow_by_kilobytes_with_each_column(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 500)), columns=[f"x{j}" for j in range(500)])
    coding = Coding([Column(name, "numeric") for name in frame]).fit(frame)
    save(coding, tmp_path / "coding.skops")
    with ZipFile(tmp_path / "coding.skops") as archive:
        assert sum(part.file_size for part in archive.infolist()) < 1000 * frame.shape[1]


def test_missing_columns_are_named():
    with pytest.raises(InvalidData, match="2 of 5 columns that the model needs are not there: 'age', 'town'"):
        Coding(COLUMNS).fit(FRAME).transform(FRAME.drop(columns=["age", "town"]))


def test_text_among_numbers_is_named_with_its_row():
    coding = Coding(COLUMNS).fit(FRAME)
    wrong = FRAME.assign(age=["20", "thirty"] * 10)
    with pytest.raises(InvalidData, match=r"column 'age' holds 'thirty' \(row 2\); the model knows numbers in it"):
        coding.transform(wrong)
    with pytest.raises(InvalidData, match=r"column 'day' holds 5 \(row 1\); the model knows dates"):
        coding.transform(FRAME.assign(day=5))


def test_nothing_to_learn_from():
    with pytest.raises(InvalidData, match="no column is left to learn from: each is identifier"):
        Coding((Column("x", "identifier"),)).fit(FRAME)
    with pytest.raises(InvalidParameter, match="fill is 'mean'; it must be median or model"):
        Coding(COLUMNS, fill="mean").fit(FRAME)


def test_a_column_of_rare_categories_alone_is_not_the_intercept_once_more():
    frame = FRAME.assign(town=[f"town {i}" for i in range(20)], use=list("ab") * 10)
    frame = pd.concat([frame] * 3, ignore_index=True).assign(town=[f"town {i}" for i in range(60)])
    coding = Coding(COLUMNS).fit(frame)
    assert not [name for name in coding.get_feature_names_out() if name.startswith("town")]
    assert coding.too_rare() == ["town"]
    assert coding.references() == {"use": "a"}
    with pytest.raises(InvalidData, match="the categories of 'town' are each in too few rows"):
        Coding((Column("town", "nominal"),)).fit(frame)


def test_names_are_shown_in_the_readers_language_and_kept_in_one():
    from hiperplano.messages.catalogue import use_language

    town = ["Cali"] * 16 + [None, None, "x", "z"]
    coding = Coding(COLUMNS).fit(pd.concat([FRAME.assign(town=town)] * 10, ignore_index=True))
    with use_language("es"):
        spoken, kept = coding.display_names(), coding.get_feature_names_out().tolist()
    assert kept[:5] == ["age", "age missing", "grade", "grade missing", "day (days)"]
    assert spoken[:5] == ["age", "age faltante", "grade", "grade faltante", "day (días)"]
    assert coding.display_names() == kept
