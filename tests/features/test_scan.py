"""Rows scanned from files give the model of the same rows in memory; what is wrong with a file names it and the row."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.dataset as arrow_dataset
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from hiperplano import LinearRegression, LogisticRegression, Ridge, scan
from hiperplano.errors import InvalidData, InvalidFile, InvalidParameter, InvalidTarget
from hiperplano.features.coding import Coding
from hiperplano.features.columns import Column
from hiperplano.features.scanning.learning import first_pass
from hiperplano.features.scanning.learning.medians import find_medians
from hiperplano.features.scanning.learning.tally import NumberTally
from hiperplano.features.scanning.walking import Walk, planned
from hiperplano.tables.batches import find_tables, formats
from hiperplano.tables.reading import plain_column, to_frame

N = 3_000
SMALL = 0.05  # megabytes: many chunks
KINDS = {"size": ("s", "m", "l"), "code": "nominal"}
COLUMNS = [
    Column("amount", "numeric"),
    Column("count", "numeric"),
    Column("when", "date"),
    Column("size", "ordered", order=("s", "m", "l")),
    Column("purpose", "nominal"),
    Column("code", "nominal"),
    Column("flag", "nominal"),
]


@pytest.fixture(scope="module")
def table():
    """Columns of every kind with gaps, and targets that depend on them."""
    rng = np.random.default_rng(0)
    amount = rng.lognormal(3, 1, N)
    purpose = rng.choice(["car", "house", "trip", "odd", "rare"], N, p=[0.4, 0.3, 0.2, 0.095, 0.005])
    score = 0.5 * np.log(amount) + (purpose == "car") + rng.normal(size=N)
    days = rng.integers(0, 3000, N)

    def gaps(share):
        return rng.uniform(size=N) < share

    return pa.table(
        {
            "amount": pa.array(amount, mask=gaps(0.1)),
            "count": pa.array(rng.integers(0, 9, N), mask=gaps(0.003)),
            "when": pa.array([dt.date(2015, 1, 1) + dt.timedelta(int(d)) for d in days], mask=gaps(0.05)),
            "size": pa.array(rng.choice(["s", "m", "l"], N), mask=gaps(0.02)),
            "purpose": pa.array(purpose, mask=gaps(0.04)),
            "code": rng.integers(1, 4, N),
            "flag": pa.array(rng.uniform(size=N) < 0.3),
            "weight": rng.integers(0, 3, N).astype(float),
            "label": np.where(score > np.median(score), "yes", "no"),
            "y": score,
        }
    )


@pytest.fixture(scope="module")
def coded(table):
    """The same as a frame of numbers, by the encoders of tables in memory."""
    frame = to_frame(pa.table({c.name: plain_column("", c.name, table.column(c.name)) for c in COLUMNS}))
    return Coding(COLUMNS).fit_transform(frame)


def write(folder, table, form, parts=3):
    """The table in several files of one form."""
    cuts = np.linspace(0, table.num_rows, parts + 1).astype(int)
    for k in range(parts):
        piece = table.slice(cuts[k], cuts[k + 1] - cuts[k])
        path = folder / f"part-{k}.{form}"
        if form == "parquet":
            pq.write_table(piece, path, row_group_size=400)
        elif form == "arrow":
            feather.write_feather(piece, path, chunksize=300)
        else:
            arrow_csv.write_csv(piece, path)
    return folder


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv"])
def test_a_scanned_folder_gives_the_model_of_the_table_in_memory(table, coded, form, tmp_path):
    write(tmp_path, table, form)
    rows = scan(
        tmp_path, "label", [c.name for c in COLUMNS], "weight", kinds=KINDS, memory=SMALL if form == "parquet" else 256
    )
    assert list(rows.names) == list(coded.columns)
    label, weight = table.column("label").to_numpy(), table.column("weight").to_numpy()
    for model in (LogisticRegression(), LogisticRegression(C=np.inf, class_weight="balanced")):
        here, there = clone(model).fit(coded, label, sample_weight=weight), clone(model).fit(rows)
        np.testing.assert_allclose(there.coef_ * coded.std().to_numpy(), here.coef_ * coded.std().to_numpy(), atol=1e-9)
        np.testing.assert_array_equal(there.predict(rows), here.predict(coded))
        assert there.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(rows.pipeline(there).predict(to_frame(table)), here.predict(coded))


def test_sources_of_every_kind_give_the_same_rows(table, coded, tmp_path):
    names = [c.name for c in COLUMNS]
    write(tmp_path, table, "parquet")
    sources = [
        tmp_path,
        str(tmp_path / "part-*.parquet"),
        sorted(tmp_path.glob("*.parquet")),
        arrow_dataset.dataset(tmp_path),
        arrow_dataset.dataset(tmp_path).filter(arrow_dataset.field("code") > 0),
        lambda: table.to_batches(max_chunksize=700),
    ]
    here = Ridge().fit(coded, table.column("y").to_numpy())
    for source in sources:
        there = Ridge().fit(scan(source, "y", names, kinds=KINDS, memory=SMALL))
        np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9, atol=1e-12)


def test_folders_named_by_keys_become_columns(tmp_path):
    rng = np.random.default_rng(1)
    made = {(year, land): rng.normal(size=(50, 2)) for year in (2023, 2024) for land in ("br", "co")}
    for (year, land), x in made.items():
        folder = tmp_path / f"year={year}" / f"land={land}"
        folder.mkdir(parents=True)
        y = x.sum(axis=1) + (year - 2023) * 3 + (land == "co")
        pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "y": y}), folder / "rows.parquet")
    (tmp_path / "_SUCCESS").touch()
    model = LinearRegression().fit(rows := scan(tmp_path, "y"))
    assert list(rows.names) == ["a", "b", "year", "land = co"]
    np.testing.assert_allclose(model.coef_, [1, 1, 3, 1], atol=1e-10)


def test_numbers_stay_as_they_are(tmp_path):
    x = np.random.default_rng(2).normal(size=(5_000, 3)).astype(np.float32)
    y = x @ np.array([1.0, -2.0, 0.5], dtype=np.float32)
    pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}), tmp_path / "a.parquet")
    rows = scan(tmp_path / "a.parquet", "y", memory=SMALL)
    assert rows.dtype == np.float32
    here, there = LinearRegression().fit(x, y), LinearRegression().fit(rows)
    np.testing.assert_array_equal(there.coef_, here.coef_)
    assert there.coef_.dtype == np.float32
    np.testing.assert_array_equal(there.predict(rows), here.predict(x))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 101, 3_000])
def test_medians_are_exact(kind, n, tmp_path):
    rng = np.random.default_rng(n)
    x = np.column_stack([rng.normal(size=n) * 1e3, rng.integers(-2, 3, n), rng.lognormal(0, 9, n)]).astype(kind)
    x[rng.uniform(size=x.shape) < 0.3] = np.nan
    x[0] = [-0.0, 1.0, -5.0]
    columns = {name: pa.array(x[:, j], from_pandas=True) for j, name in enumerate("abc")}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    tables = find_tables(tmp_path)
    tallies = [NumberTally(Column(name, "numeric"), False) for name in "abc"]
    for tally in tallies:
        tally.add(pa.table(columns), tables[0], 0)
    find_medians(Walk.over(tables, 512), tallies)
    assert [tally.median for tally in tallies] == [
        float(np.mean(np.median(c[~np.isnan(c)].astype(float)))) for c in x.T
    ]


def test_new_rows_are_coded_as_those_of_the_fit(table, coded, tmp_path):
    names = [c.name for c in COLUMNS]
    write(tmp_path, table, "parquet")
    model = LogisticRegression().fit(rows := scan(tmp_path, "label", names, kinds=KINDS))
    new = table.slice(0, 200)
    strange = pa.array(["boat"] * 100 + new.column("purpose").to_pylist()[100:])
    new = new.set_column(new.column_names.index("purpose"), "purpose", strange)
    pq.write_table(new, tmp_path / "new.parquet")
    found = model.predict_proba(scan(tmp_path / "new.parquet", like=rows))
    np.testing.assert_allclose(found, rows.pipeline(model).predict_proba(to_frame(new)), rtol=1e-12)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Columns of numbers without gaps, in the order of their labels, in files with several row groups each."""
    folder = tmp_path_factory.mktemp("plain")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(16_000, 3))
    y = (X @ [1.0, -0.5, 0.0] - 1.0 + rng.logistic(size=len(X)) > 0).astype(int)
    X, y = X[np.argsort(y)], np.sort(y)
    write(folder, pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}), "parquet")
    return folder, X, y


def test_of_plain_numbers_only_targets_are_read_before_the_fit(plain, monkeypatch):
    """And the model is the same, whatever the order of the rows; what encoders need is learned when it is asked for."""
    folder, X, y = plain
    monkeypatch.setattr(first_pass, "worker_count", lambda: 2)  # with one, whole batches are read
    decoded, column = [], formats.ParquetTable._column_of
    monkeypatch.setattr(
        formats.ParquetTable, "_column_of", lambda *given: (decoded.append(given[-1]), column(*given))[1]
    )
    rows = scan(folder, "y", memory=0.2)
    assert set(decoded) == {"y"}
    for C in (1.0, np.inf):
        here = LogisticRegression(C=C, solver="newton", tol=1e-12).fit(X, y)
        there = LogisticRegression(C=C).fit(rows)
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-9)
    few = rows.sample(90)
    assert len(few.row_numbers()) == 90
    np.testing.assert_array_equal(few.dense(), X[few.row_numbers()])
    decoded.clear()
    new = scan(folder, like=rows, memory=0.2)
    assert not decoded
    np.testing.assert_array_equal(there.predict(new), here.predict(X))
    frame = pd.DataFrame(X, columns=list("abc"))
    np.testing.assert_array_equal(rows.pipeline(there).predict(frame), here.predict(X))


def test_numbers_that_nobody_has_looked_at_are_refused_when_they_are_read(plain, tmp_path):
    folder, X, _y = plain
    for name, value, kind in (("b", np.nan, "NaN"), ("c", -np.inf, "infinity")):
        for path in folder.iterdir():
            table = pq.read_table(path)
            if path.name == "part-2.parquet":
                cells = table.column(name).to_numpy().copy()
                cells[5_000] = value
                table = table.set_column(table.column_names.index(name), name, pa.array(cells))
            pq.write_table(table, tmp_path / path.name, row_group_size=400)
        rows = scan(tmp_path, "y", memory=0.2)
        for work in (LogisticRegression().fit, Ridge().fit, lambda rows: list(rows.parts())):
            with pytest.raises(InvalidData, match=rf"Column '{name}' holds {kind} \(row 5001 of .*part-2\.parquet\)"):
                work(rows)
    table = table.set_column(0, "a", pa.array([None, *X[1 : table.num_rows, 0]]))
    pq.write_table(table, tmp_path / path.name, row_group_size=400)
    assert list(scan(tmp_path, "y", ["a", "b"], nan="missing").names[:2]) == ["a", "b"]
    assert scan(tmp_path, "y", ["a"]).learning.first.numbers[0].n_gaps == 1


def broken(tmp_path, change, form="parquet"):
    """Three files, the second of which is not as the others."""
    rng = np.random.default_rng(3)
    for k in range(3):
        columns = {"a": rng.normal(size=600), "c": rng.choice(["u", "v"], 600), "y": rng.normal(size=600)}
        if k == 1:
            columns = change(columns)
        pq.write_table(pa.table(columns), tmp_path / f"part-{k}.{form}")
    return tmp_path


def with_cell(name, row, value):
    def change(columns):
        cells = list(columns[name])
        cells[row] = value
        return {**columns, name: pa.array(cells)}

    return change


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (lambda c: {k: v for k, v in c.items() if k != "a"}, InvalidFile, r"part-1\.parquet has no column 'a'"),
        (
            lambda c: {**c, "a": c["c"]},
            InvalidFile,
            r"part-1\.parquet: column 'a' holds string, and double in .*part-0",
        ),
        (with_cell("a", 456, np.nan), InvalidData, r"Column 'a' holds NaN \(row 457 of .*part-1\.parquet\)"),
        (with_cell("a", 7, np.inf), InvalidData, r"Column 'a' holds infinity \(row 8 of .*part-1\.parquet\)"),
        (with_cell("y", 99, None), InvalidTarget, r"'y' has no value in row 100 of .*part-1\.parquet"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_row(change, error, match, tmp_path):
    with pytest.raises(error, match=match):
        scan(broken(tmp_path, change), "y", memory=SMALL)


def test_nan_can_be_called_missing(tmp_path):
    rows = scan(broken(tmp_path, with_cell("a", 456, np.nan)), "y", nan="missing")
    assert rows.n_rows == 1800


def test_damaged_and_empty_files_are_named(tmp_path):
    broken(tmp_path, dict)
    path = tmp_path / "part-1.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidFile, match=r"part-1\.parquet is damaged"):
        scan(tmp_path, "y")
    path.write_bytes(b"")
    with pytest.raises(InvalidFile, match=r"part-1\.parquet is empty"):
        scan(tmp_path, "y")
    pq.write_table(pq.read_table(tmp_path / "part-0.parquet").slice(0, 0), path)  # without rows, as Spark writes some
    assert scan(tmp_path, "y").n_rows == 1200
    with pytest.raises(InvalidFile, match="no files"):
        scan(tmp_path / "*.csv", "y")


def test_a_file_that_changes_between_passes_is_refused_and_the_model_stays(tmp_path):
    rows = scan(broken(tmp_path, dict), "y")
    model = LinearRegression().fit(rows)
    before = model.coef_
    pq.write_table(pq.read_table(tmp_path / "part-2.parquet").slice(1), tmp_path / "part-2.parquet")
    with pytest.raises(InvalidFile, match=r"part-2\.parquet changed"):
        model.fit(rows)
    assert model.coef_ is before


def test_a_function_that_yields_other_rows_is_refused():
    tables = [pa.table({"c": ["u", "v"] * 500, "y": np.arange(1000.0)})]
    rows = scan(lambda: tables, "y")
    tables[0] = pa.table({"c": ["u", "v"] * 499 + ["u", "w"], "y": np.arange(1000.0)})
    with pytest.raises(InvalidData, match=r"holds 'w' \(row 1000 of"):
        LinearRegression().fit(rows)
    tables[0] = tables[0].slice(0, 900)
    with pytest.raises(InvalidData, match="had 1000 rows from row 1 on in the first pass, and has 900"):
        LinearRegression().fit(rows)


def test_one_class_in_the_first_files_is_no_obstacle(tmp_path):
    x = np.random.default_rng(4).normal(size=(900, 2))
    y = np.repeat([0, 0, 1], 300)
    for k in range(3):
        part = slice(300 * k, 300 * k + 300)
        pq.write_table(pa.table({"a": x[part, 0], "b": x[part, 1], "y": y[part]}), tmp_path / f"{k}.parquet")
    here, there = LogisticRegression().fit(x, y), LogisticRegression().fit(scan(tmp_path, "y"))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-9)
    with pytest.raises(InvalidTarget, match="one class"):
        LogisticRegression().fit(scan(tmp_path / "0.parquet", "y"))


def test_text_files_name_the_cell_that_is_no_number(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "_TEXT_BLOCK", 2**12)
    path = tmp_path / "a.csv"
    lines = ["a,y", *(f"{k % 7},{k}" for k in range(9_000))]
    lines[5_000] = "2.5,1"  # whole numbers may get fractions further down
    path.write_text("\n".join(lines))
    assert scan(path, "y").n_rows == 9_000
    lines[8_001] = "zwei,1"
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidFile, match=r"a\.csv: column 'a' holds 'zwei' \(row 8001\)"):
        scan(path, "y")


def test_text_files_without_rows_and_cut_off_in_a_row(tmp_path):
    """The names alone tell no types, also in the first file; a row with cells missing is named by its number."""
    (tmp_path / "0.csv").write_text("a,c,y\n")
    (tmp_path / "1.csv").write_text("a,c,y\n" + "".join(f"{k}.5,{'uv'[k % 2]},{k % 3 % 2}\n" for k in range(900)))
    rows = scan(tmp_path, "y")
    assert (rows.n_rows, rows.names.tolist()) == (900, ["a", "c = v"])
    (tmp_path / "2.csv").write_text("a,c,y\n" + "1.5,u,0\n" * 50_000 + "1.5,u")
    with pytest.raises(InvalidFile, match=r"2\.csv: row 50002 has 2 cells"):
        scan(tmp_path, "y")


def test_parameters_are_checked(tmp_path):
    path = broken(tmp_path, dict)
    with pytest.raises(InvalidParameter, match="memory"):
        scan(path, "y", memory=0)
    with pytest.raises(InvalidParameter, match="nan="):
        scan(path, "y", nan="drop")
    with pytest.raises(InvalidParameter, match="'c' cannot be 'numeric'"):
        scan(path, "y", kinds={"c": "numeric"})
    with pytest.raises(InvalidFile, match="no column 'z'"):
        scan(path, "z")
    with pytest.raises(InvalidParameter, match="whose columns have no names"):
        scan(lambda: [np.ones((2, 2))], "y")


def test_chunks_end_where_row_groups_end():
    """All rows are in one chunk, whole groups are never cut, and only groups too large are."""
    rng = np.random.default_rng(0)
    for _case in range(50):
        groups = rng.integers(0, 40, rng.integers(1, 12)).tolist()
        rows, whole = int(rng.integers(1, 15)), int(rng.integers(15, 30))
        plan = planned(groups, rows, whole)
        assert sum(piece.size for piece in plan) == sum(groups)
        assert all(0 < piece.size <= (whole if piece.groups else rows) for piece in plan)
        assert all(piece.size <= rows for piece in plan if len(piece.groups) > 1 and groups[piece.groups[0]])
        held = [group for piece in plan for group in piece.groups]
        assert held == sorted(set(held))
        assert {group for group, size in enumerate(groups) if 0 < size <= whole} <= set(held)
        assert not {group for group, size in enumerate(groups) if size > whole} & set(held)
