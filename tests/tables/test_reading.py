"""Files of all forms and dialects become the same columns, and what cannot be read is refused with a reason."""

from __future__ import annotations

import datetime as dt
import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from hiperplano.errors import InvalidFile
from hiperplano.tables.dialect import sniff
from hiperplano.tables.reading import read_table, to_frame

FRAME = pd.DataFrame(
    {
        "age": [20, 31, 45, 60],
        "income": [1.5, np.nan, 3.25, 4.0],
        "town": ["Bogotá", "Cali", None, "Bogotá"],
        "since": pd.to_datetime(["2020-01-02", "2021-03-04", "2022-05-06", "2023-07-08"]),
    }
)


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def read(path, **options):
    table, source = read_table(path, **options)
    return to_frame(table), source


def check(frame):
    assert list(frame.columns) == ["age", "income", "town", "since"]
    assert frame["age"].tolist() == [20, 31, 45, 60]
    np.testing.assert_array_equal(frame["income"], FRAME["income"])
    assert frame["town"].astype(object).where(frame["town"].notna(), None).tolist() == [
        "Bogotá",
        "Cali",
        None,
        "Bogotá",
    ]
    assert (frame["since"].to_numpy() == FRAME["since"].to_numpy()).all()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_every_dialect_gives_the_same_columns(separator, decimal, encoding, tmp_path):
    path = tmp_path / "table.csv"
    FRAME.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding)
    frame, source = read(path)
    check(frame)
    assert source.dialect.separator == separator
    assert source.dialect.decimal == decimal


def test_a_sign_that_does_not_cut_the_names_is_not_the_separator():
    # The comma of decimals cuts each row into three cells, more than the semicolon's two, but the names into one.
    lines = ["income;debt", *(f"{k},5;{k},25" for k in range(1, 41))]
    found = sniff("\n".join(lines).encode())
    assert (found.separator, found.decimal) == (";", ",")


@pytest.mark.parametrize("packed", ["gz", "bz2", "zst"])
def test_packed_tables_are_unpacked_whatever_their_name(packed, tmp_path):
    path = tmp_path / "table.csv"
    with pa.output_stream(str(path), compression={"gz": "gzip", "bz2": "bz2", "zst": "zstd"}[packed]) as stream:
        stream.write(FRAME.to_csv(index=False).encode())
    check(read(path)[0])


def test_parquet_arrow_and_feather(tmp_path):
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    pa.feather.write_feather(table, str(tmp_path / "b.feather"))
    with pa.ipc.new_file(str(tmp_path / "c.arrow"), table.schema) as file:
        file.write_table(table)
    with pa.ipc.new_stream(str(tmp_path / "d.arrows"), table.schema) as stream:
        stream.write_table(table)
    for path in sorted(tmp_path.iterdir()):
        check(read(path)[0])


@pytest.mark.parametrize("style", ["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y/%m/%d"])
def test_dates_in_the_ways_of_many_countries(style, tmp_path):
    days = pd.to_datetime(["2020-01-31", "2021-12-25", "2022-05-06"])
    path = written(tmp_path / "table.csv", "\n".join(["day,x", *(f"{day},1" for day in days.strftime(style))]))
    assert (read(path)[0]["day"].to_numpy() == days.to_numpy()).all()


def test_letters_outside_utf8_far_down_the_file(tmp_path):
    rows = ["name,x", *(f"plain{i % 9},{i}" for i in range(20_000)), "señal,5"]
    frame = read(written(tmp_path / "table.csv", "\n".join(rows), "cp1252"))[0]
    assert frame["name"].iloc[-1] == "señal"


def test_columns_of_other_types_become_numbers_or_words(tmp_path):
    from datetime import time, timedelta
    from decimal import Decimal

    table = pa.table(
        {
            "flag": [True, False, None],
            "money": pa.array([Decimal("1.25"), None, Decimal("2.50")]),
            "clock": pa.array([time(1, 0), time(0, 1), None]),
            "wait": pa.array([timedelta(seconds=2), None, timedelta(hours=1)]),
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    frame = read(tmp_path / "t.parquet")[0]
    assert frame["flag"].astype(object).tolist()[:2] == ["true", "false"]
    np.testing.assert_array_equal(frame["money"], [1.25, np.nan, 2.5])
    np.testing.assert_array_equal(frame["clock"], [3600.0, 60.0, np.nan])
    np.testing.assert_array_equal(frame["wait"], [2.0, np.nan, 3600.0])


def refused(path, *parts, **options):
    with pytest.raises(InvalidFile) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert path.name in message
    for part in parts:
        assert part in message, message


def test_a_file_that_is_not_there(tmp_path):
    refused(tmp_path / "no.csv", "there is no such file", "Check the path")
    refused(tmp_path, "is a folder")


@pytest.mark.parametrize("content", [b"", b"  \n\n", gzip.compress(b"", mtime=0)], ids=["nothing", "blanks", "packed"])
def test_an_empty_file(content, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    refused(path, "is empty", "needs names of columns and rows")


def test_names_without_rows(tmp_path):
    refused(written(tmp_path / "t.csv", "a,b,c\n"), "holds names of columns but no rows")


def test_binary_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00")
    refused(path, "binary file of unknown kind", "byte 9 is 0", "CSV, Parquet, Arrow and Feather")
    path.write_bytes(b"PK\x03\x04 whatever")
    refused(path, "zip archive", "Unpack it")
    path.write_bytes(b"\xd0\xcf\x11\xe0 old")
    refused(path, "Excel file of the old kind", "Save it as .xlsx or CSV")


def test_damaged_files(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and then nothing PAR1")
    refused(path, "is damaged", "Write or copy it again")
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)[:-200])
    refused(path, "is damaged")


def test_a_wrong_separator(tmp_path):
    path = written(tmp_path / "t.csv", "a;b;c\n1;2;3\n4;5;6\n")
    refused(path, "one column was found, called 'a;b;c'", "--separator ';' may be right", separator=",")
    refused(written(tmp_path / "u.csv", "a:b\n1:2\n"), "one column was found", "--separator ':' may be right")
    assert list(read(path)[0].columns) == ["a", "b", "c"]


def test_one_column_for_which_no_separator_can_be_proposed(tmp_path):
    refused(written(tmp_path / "t.csv", "alone\n1\n2\n"), "one column was found", "give it with --separator")


def test_names_that_are_empty_or_twice(tmp_path):
    refused(written(tmp_path / "t.csv", ",a,b\n0,1,2\n0,3,4\n"), "column 1 has no name", "index=False")
    refused(written(tmp_path / "t.csv", "a,b,a\n0,1,2\n"), "2 columns are called 'a' (columns 1, 3)", "Rename them")


def test_a_first_row_of_numbers(tmp_path):
    refused(written(tmp_path / "t.csv", "1,2,3\n4,5,6\n"), "first row holds numbers only (1,2,3)", "row of names")


def test_rows_of_unequal_length(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n3,4,5\n")
    refused(path, "has 3 cells, the first row 2", "separated at ','", "correct the row")


def test_a_column_of_lists_is_refused_unless_it_is_dropped(tmp_path):
    pa.parquet.write_table(pa.table({"a": [[1], [2]], "b": [1, 2], "c": [3, 4]}), tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "column 'a' holds list", "--drop a")
    assert list(read(tmp_path / "t.parquet", drop=["a"])[0].columns) == ["b", "c"]


def test_dropping_a_column_that_is_not_there_names_its_neighbours(tmp_path):
    refused(written(tmp_path / "t.csv", "income,b\n1,2\n"), "no column 'incme'", "'income'", drop=["incme"])


def test_a_comma_in_numbers_does_not_pass_for_a_separator():
    assert sniff(b"a;b\n1,5;2,5\n3,5;4,5\n") == sniff(b"a;b\n1,5;2,5\n3,5;4,5\n", ";", ",")


@pytest.mark.parametrize("cell", ["31/12/24", "12/31/24", "31-12-24", "31.12.24", "31/12/24 10:30"])
def test_years_of_two_digits_are_of_our_time(cell, tmp_path):
    frame, _ = read(written(tmp_path / "table.csv", f"since,y\n{cell},1\n{cell.replace('24', '99', 1)},0\n"))
    assert frame["since"].dt.year.tolist() == [2024, 1999]
    assert set(frame["since"].dt.month) == {12}
    assert set(frame["since"].dt.day) == {31}


def test_numbers_of_sections_are_no_dates_of_the_year_three(tmp_path):
    frame, _ = read(written(tmp_path / "table.csv", "section,y\n1.2.3,1\n1.2.4,0\n"))
    assert frame["section"].tolist() == ["1.2.3", "1.2.4"]


def test_spaces_around_names_and_texts_are_not_part_of_them(tmp_path):
    text = "income , status,\n1.5 , good,\n 2.5,good ,\n 3.5,\tbad,\n4.5, NA ,\n"
    frame, _ = read(written(tmp_path / "table.csv", text))
    assert list(frame.columns) == ["income", "status"]
    assert frame["income"].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert frame["status"].astype(object).where(frame["status"].notna(), None).tolist() == ["good", "good", "bad", None]


def test_empty_lines_above_the_names_are_no_names(tmp_path):
    frame, _ = read(written(tmp_path / "table.csv", "\n\nx;y\n1,5;0\n2,5;1\n"))
    assert frame["x"].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "text",
    [
        ",x,y\n0,1,2\n1,3,4\n",  # pandas' to_csv
        '"","x","y"\n"Mazda RX4",1,2\n"Datsun 710",3,4\n',  # R's write.csv
        '"x","y"\n"Mazda RX4",1,2\n"Datsun 710",3,4\n',  # R's write.table, whose first line is shorter
    ],
)
def test_names_of_rows_are_left_out_and_told(text, tmp_path):
    table, source = read_table(written(tmp_path / "table.csv", text))
    assert table.to_pydict() == {"x": [1, 3], "y": [2, 4]}
    assert "row names, which were left out" in source.reading_notes[0]


@pytest.mark.parametrize("told", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_that_tells_the_separator(told, tmp_path):
    table, source = read_table(written(tmp_path / "table.csv", f"{told}\nx;y\n1,5;2\n3;4\n"))
    assert table.to_pydict() == {"x": [1.5, 3.0], "y": [2, 4]}
    assert source.dialect.separator == ";"


def test_errors_of_spreadsheets_are_no_values(tmp_path):
    cells = ["#¡DIV/0!", "#DIV/0!", "#N/D", "#¡REF!", "#VALUE!", "#¡VALOR!", "#¿NOMBRE?", "#NUM!"]
    table, _ = read_table(written(tmp_path / "t.csv", "x;y\n1,5;1\n" + "".join(f"{cell};2\n" for cell in cells)))
    assert table.column("x").to_pylist() == [1.5, *[None] * len(cells)]


def test_amounts_in_brackets_are_negative(tmp_path):
    table, _ = read_table(written(tmp_path / "t.csv", "x;y\n(1.234,50);1\n2.000,00;2\n($ 3,00);3\n"))
    assert table.column("x").to_pylist() == ["(1.234,50)", "2.000,00", "($ 3,00)"]  # two units in one column
    table, _ = read_table(written(tmp_path / "t.csv", "x;y\n(1.234,50);1\n2.000,00;2\n"))
    assert table.column("x").to_pylist() == [-1234.5, 2000.0]


@pytest.mark.parametrize("place", [0, 20_000])
def test_codes_with_leading_zeros_stay_texts(place, tmp_path):
    """Also where the first one comes far behind the beginning of the file."""
    rows = [f"{10_000 + i % 89_999},{i}" for i in range(20_001)]
    rows[place] = "01234,0"
    table, _ = read_table(written(tmp_path / "t.csv", "\n".join(["zip,n", *rows, ""])))
    assert table.column("zip")[place].as_py() == "01234"
    assert pa.types.is_integer(table.column("n").type)


def test_a_workbook(tmp_path):
    from openpyxl import Workbook

    book = Workbook()
    for row in (
        ["Informe de 2024"], [], ["cp", "fecha", "monto", "texto", "n", None],
        ["01234", dt.datetime(2024, 1, 2), 1234.5, "1.234,50", 1], ["99999", dt.date(2024, 2, 3), None, "#¡DIV/0!", 2],
    ):  # fmt: skip
        book.active.append(row)
    book.create_sheet("otra").append(["a", "b"])
    book["otra"].append([1, 2])
    book.save(tmp_path / "t.xlsx")
    table, source = read_table(tmp_path / "t.xlsx")
    assert table.column_names == ["cp", "fecha", "monto", "texto", "n"]
    assert table.column("cp").to_pylist() == ["01234", "99999"]
    assert table.column("fecha").to_pylist() == [dt.datetime(2024, 1, 2), dt.datetime(2024, 2, 3)]
    assert table.column("monto").to_pylist() == [1234.5, None]
    assert table.column("texto").to_pylist() == [1234.5, None]
    assert any("there are also 'otra'" in note for note in source.reading_notes)
    assert read_table(tmp_path / "t.xlsx", sheet="otra")[0].to_pydict() == {"a": [1], "b": [2]}
    assert read_table(tmp_path / "t.xlsx", sheet="2")[0].to_pydict() == {"a": [1], "b": [2]}
    with pytest.raises(InvalidFile, match="no sheet 'third'; it has 'Sheet', 'otra'"):
        read_table(tmp_path / "t.xlsx", sheet="third")


def test_a_title_above_the_names_is_named_as_a_reason(tmp_path):
    with pytest.raises(InvalidFile, match="not the first: remove those above it"):
        read_table(written(tmp_path / "table.csv", "Loans of 2024\nx,y\n0,1\n1,3\n"))


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_nan_of_a_file_is_a_missing_value(tmp_path, kind):
    """NumPy and polars write NaN where pandas writes nothing."""
    numbers = pa.array(np.array([1.0, np.nan, 3.0]).astype(kind.to_pandas_dtype()), type=kind)
    pa.parquet.write_table(pa.table({"a": numbers, "b": [1, 2, 3]}), tmp_path / "t.parquet")
    column = read_table(tmp_path / "t.parquet")[0].column("a")
    assert column.to_pylist() == [1.0, None, 3.0]
