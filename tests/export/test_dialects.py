"""What the six dialects write, read back by sqlglot: names, texts, numbers; and where they differ."""

import re

import numpy as np
import pytest
import sqlglot
from sqlglot import exp

from hiperplano import LinearRegression, LogisticRegression, Scorecard, to_sql
from hiperplano.errors import InvalidParameter, NotAvailable, NotInstalled
from tests.export.samples import LONG, WORDS, coded, hard_table

DIALECTS = ("postgres", "duckdb", "sqlite", "bigquery", "snowflake", "tsql")
FRAME, LABELS = hard_table()
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 3)) * [1.0, 1e-9, 1e12]
MODEL = LinearRegression().fit(ROWS, RNG.normal(size=60))


@pytest.fixture(scope="module")
def written():
    """The statement of one pipeline in every dialect."""
    pipeline = coded(scaled=False).fit(FRAME, LABELS == "no")
    return {dialect: to_sql(pipeline, "t", dialect=dialect, keep=["it's \"a]`key"]) for dialect in DIALECTS}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_and_texts_come_back_as_they_are(dialect, written):
    tree = sqlglot.parse_one(written[dialect], dialect=dialect)
    names = {column.name for column in tree.find_all(exp.Column)}
    assert {'in"come é', "text]`", LONG, "it's \"a]`key"} <= names
    texts = {node.name for node in tree.find_all(exp.Literal, exp.National) if node.args.get("is_string") is not False}
    end = "|" if dialect == "tsql" else ""
    assert {word + end for word in WORDS if word in set(FRAME["text]`"])} - {"NULL" + end} <= texts


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_digit_of_a_coefficient_is_written(dialect):
    tree = sqlglot.parse_one(to_sql(MODEL, "t", dialect=dialect), dialect=dialect)
    numbers = {float(node.name) for node in tree.find_all(exp.Literal) if not node.is_string}
    assert {abs(value) for value in [*MODEL.coef_.tolist(), float(MODEL.intercept_)]} <= numbers


@pytest.mark.parametrize("dialect", ["duckdb", "snowflake", "tsql"])
def test_constants_are_floats_where_a_point_would_make_them_decimal(dialect):
    text = to_sql(LogisticRegression().fit(ROWS, np.where(ROWS[:, 0] > 0, "b", "a")), "t", dialect=dialect)
    constants = re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])", text.split("SELECT", 1)[1])
    assert [each for each in constants if "e" not in each] == []


def test_sql_server_compares_every_character_and_has_no_booleans(written):
    text = written["tsql"]
    assert "COLLATE Latin1_General_100_BIN2" in text
    assert "N'car |'" in text  # unlike N'car ', which equals N'car'
    assert "N'car|'" in text
    assert "CAST(1 AS BIT)" in text
    assert "TRUE" not in text


def test_dates_in_each_system(written):
    expected = {
        "postgres": 'EXTRACT(EPOCH FROM CAST("when" AS TIMESTAMP))',
        "duckdb": 'EPOCH_US(CAST("when" AS TIMESTAMP))',
        "sqlite": "STRFTIME('%s', \"when\")",
        "bigquery": "UNIX_MICROS(CAST(`when` AS TIMESTAMP))",
        "snowflake": 'DATE_PART(EPOCH_MICROSECOND, CAST("when" AS TIMESTAMPNTZ))',
        "tsql": "DATEDIFF_BIG(MICROSECOND, CAST('1970-01-01' AS DATETIME2), CAST([when] AS DATETIME2))",
    }
    for dialect, part in expected.items():
        assert part in " ".join(written[dialect].split()), dialect


def test_tables_and_columns_by_other_names(tmp_path):
    text = to_sql(MODEL, 'risk."My table"', columns=["a", "select", "Ñ"], path=tmp_path / "model.sql")
    assert 'FROM risk."My table"' in text
    assert (tmp_path / "model.sql").read_text(encoding="utf-8") == text
    assert '"select"' in text
    assert '"b"' in to_sql(MODEL, "t", columns={"x1": "b"})
    assert "cells_ AS" in to_sql(MODEL, "cells")  # a stage must not hide the table


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dialect": "oracle"}, "oracle"),
        ({"table": "my table; DROP TABLE t"}, "name of a table"),
        ({"table": "(SELECT 1)"}, "name of a table"),
        ({"columns": ["a"]}, "3 columns"),
        ({"columns": {"nope": "b"}}, "nope"),
        ({"columns": ["a", "a", "b"]}, "twice"),
        ({"keep": ["id", "ID"]}, "twice"),
        ({"keep": ["Prediction"]}, "prediction"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_use_is_explained(options, said):
    with pytest.raises(InvalidParameter, match=said):
        to_sql(MODEL, **{"table": "t"} | options)


def test_what_sql_cannot_write_is_refused():
    X = np.array([["a\0b"] * 20 + ["c"] * 20], dtype=object).T
    with pytest.raises(NotAvailable, match="NUL"):
        to_sql(Scorecard().fit(X, (np.arange(40) + 5) % 7 > np.arange(40) // 9), "t")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("hiperplano.export.installed.find_spec", lambda name: None)
    with pytest.raises(NotInstalled, match=r"pip install 'hiperplano\[export\]'"):
        to_sql(MODEL, "t")
