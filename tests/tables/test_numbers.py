"""Numbers as people write them, and what is said where nobody can tell what they meant."""

from __future__ import annotations

import numpy as np
import pytest

from hiperplano.tables.reading import read_table, to_frame

AMOUNTS = [1234567.89, 950.5, 20094.25, 7.0]
ENGLISH = ["1,234,567.89", "950.50", "20,094.25", "7"]
SPANISH = ["1.234.567,89", "950,50", "20.094,25", "7"]
SWISS = ["1'234'567.89", "950.50", "20’094.25", "7"]
FRENCH = ["1\u00a0234\u202f567,89", "950,50", "20\u00a0094,25", "7"]


def read(tmp_path, column, other=("a", "b"), **options):
    """A column between semicolons, beside one of `other` in turn."""
    path = tmp_path / "table.csv"
    rows = [f'"{cell}";{other[k % len(other)]}' for k, cell in enumerate(column)]
    path.write_text("\n".join(["amount;other", *rows, ""]), encoding="utf-8")
    table, source = read_table(path, **options)
    return to_frame(table)["amount"], source


@pytest.mark.parametrize("column", [ENGLISH, SPANISH, SWISS, FRENCH])
@pytest.mark.parametrize("around", ["{}", "${}", "US$ {}", "€{}", "S/ {}", "{}%", "{} €", "  {} "])
def test_parted_thousands_are_numbers(column, around, tmp_path):
    amounts, source = read(tmp_path, [around.format(cell) for cell in column])
    np.testing.assert_array_equal(amounts, AMOUNTS)
    assert not source.reading_notes


@pytest.mark.parametrize("column", [ENGLISH, SPANISH])
def test_signs_of_numbers(column, tmp_path):
    signed = [f"-{column[0]}", f"+{column[1]}", f"-${column[2]}", f"$-{column[3]}"]
    assert read(tmp_path, [signed[0], signed[1]])[0].tolist() == [-AMOUNTS[0], AMOUNTS[1]]
    assert read(tmp_path, signed[2:])[0].tolist() == [-AMOUNTS[2], -AMOUNTS[3]]


@pytest.mark.parametrize("dash", ["-", "--", "–", "—", "."])
def test_a_dash_among_numbers_or_dates_is_no_value(dash, tmp_path):
    amounts, _ = read(tmp_path, ["1.5", dash, "2.5", "NA"])
    np.testing.assert_array_equal(amounts, [1.5, np.nan, 2.5, np.nan])
    for dates in (["2024-05-31", dash, "2023-01-02"], [dash, "31/05/2024", "02/01/2023"]):
        days, _ = read(tmp_path, dates)
        assert days.dtype.kind == "M"
        assert days.isna().tolist() == [cell == dash for cell in dates]


def test_a_dash_among_words_is_a_word(tmp_path):
    classes, _ = read(tmp_path, ["+", "-", "-", "+"])
    assert classes.tolist() == ["+", "-", "-", "+"]


def test_whole_numbers_stay_whole_so_that_identifiers_are_known(tmp_path):
    numbers, _ = read(tmp_path, ["1.020.345.678", "52.345.678", "7"])
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [1020345678, 52345678, 7]


@pytest.mark.parametrize(
    "column",
    [
        ["12.345.678-9", "9.876.543-2"],  # an identity number with its check digit
        ["1,23,456", "2,34,567"],
        ["$5", "€5"],
        ["5%", "5"],
        ["1.2.3", "1.2.4"],
        ["012.345.678", "012.345.679"],
        ["1,234.5", "1.234,5"],
        ["10.0.0.1", "10.0.0.2"],
    ],
)
def test_what_is_no_number_in_one_way_of_writing_stays_text(column, tmp_path):
    assert read(tmp_path, column)[0].tolist() == column


@pytest.mark.parametrize(
    ("cell", "other", "number"),
    [("1.234", "0,5", 1234), ("1.234", "0.5", 1.234), ("1,234", "0.5", 1234), ("1,234", "0,5", 1.234)],
)
def test_other_columns_tell_what_one_sign_means(cell, other, number, tmp_path):
    amounts, source = read(tmp_path, [cell, "950"], (other,))
    assert amounts.tolist() == [number, 950]
    assert not source.reading_notes


@pytest.mark.parametrize("cell", ["1.234", "1,234"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_a_person_can_say_what_one_sign_means(cell, decimal, tmp_path):
    amounts, source = read(tmp_path, [cell, "950"], decimal=decimal)
    assert amounts.tolist() == [1.234 if decimal in cell else 1234, 950]
    assert not source.reading_notes


@pytest.mark.parametrize(("cell", "other"), [("1.234", ","), ("1,234", ".")])
def test_numbers_that_may_be_a_thousand_times_as_large_are_told(cell, other, tmp_path):
    amounts, source = read(tmp_path, [cell, "950"])
    assert amounts.tolist() == [1.234, 950]
    assert source.reading_notes == (
        f"Column 'amount': {cell} was read as a number below a thousand. If the sign in it separates thousands, give "
        f"--decimal {other!r}.",
    )


@pytest.mark.parametrize("column", [["0.234", "0.500"], ["1.234", "1.5"], ["12", "950"]])
def test_numbers_that_can_be_read_in_one_way_raise_no_doubt(column, tmp_path):
    assert not read(tmp_path, column)[1].reading_notes


def test_a_comma_in_a_table_of_commas_is_left_open(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,y\n"1,234",1\n"2,345",0\n')
    table, source = read_table(path)
    assert to_frame(table)["a"].tolist() == ["1,234", "2,345"]
    assert source.reading_notes == (
        "Column 'a' was left as text: 1,234 may be 1.234 or 1234. If it is the first, give --decimal ','; if the "
        "second, --decimal '.'.",
    )
    assert to_frame(read_table(path, decimal=".")[0])["a"].tolist() == [1234, 2345]
    assert to_frame(read_table(path, decimal=",")[0])["a"].tolist() == [1.234, 2.345]


def test_a_column_that_is_almost_numbers_says_what_is_in_the_way(tmp_path):
    column = [f"{1000 + k:,}.5" for k in range(40)]
    column[17] = "see file"
    amounts, source = read(tmp_path, column)
    assert amounts[17] == "see file"
    assert source.reading_notes == (
        "Column 'amount' was left as text: 39 of its 40 different texts are numbers, but 'see file' (row 18) is none. "
        "Correct or empty such cells to have numbers.",
    )


def test_columns_of_more_texts_than_are_numbered(tmp_path):
    column = [f"{k:,}.5" for k in range(12_000)]
    assert read(tmp_path, column)[0].tolist() == [k + 0.5 for k in range(12_000)]


def test_texts_of_a_parquet_file_stay_texts(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table({"a": ["1,234.5", "-"], "b": ["1", "2"]}), tmp_path / "t.parquet")
    table, source = read_table(tmp_path / "t.parquet")
    assert to_frame(table)["a"].tolist() == ["1,234.5", "-"]
    assert to_frame(table)["b"].tolist() == ["1", "2"]
    assert source.reading_notes == ()


def test_signs_in_the_name_of_a_doubtful_column_stay(tmp_path):
    (tmp_path / "t.csv").write_text("amount $ ;y\n1.234;1\n950;0\n")
    assert "Column 'amount $': 1.234" in read_table(tmp_path / "t.csv")[1].reading_notes[0]
