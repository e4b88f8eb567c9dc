"""The gate: everything that holds rows comes out as the same design, and nothing that came in is changed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from hiperplano import LinearRegression
from hiperplano.data import validate
from hiperplano.data.in_memory import InMemory

ROWS = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0], [0.0, 5.0, 6.0]])
TARGET = np.array([1.0, 2.0, 3.0, 5.0])
NAMES = ["income", "debt", "age"]


def checked(X, y=TARGET, weight=None):
    return validate(LinearRegression(), X, y, weight)


DENSE = {
    "array": ROWS,
    "fortran": np.asfortranarray(ROWS),
    "every other column of a wider array": np.repeat(ROWS, 2, axis=1)[:, ::2],
    "list of lists": ROWS.tolist(),
    "list of tuples": [tuple(row) for row in ROWS],
    "integers": ROWS.astype(np.int32),
    "unsigned": ROWS.astype(np.uint8),
    "float16": ROWS.astype(np.float16),
    "longdouble": ROWS.astype(np.longdouble),
    "big-endian": ROWS.astype(">f8"),
    "objects": ROWS.astype(object),
    "numbers in writing": ROWS.astype(str),
    "pandas": pd.DataFrame(ROWS, columns=NAMES),
    "pandas of mixed types": pd.DataFrame({"income": [1, 0, 4, 0], "debt": [0.0, 3, 0, 5], "age": [2.0, 0, 0, 6]}),
    "nullable pandas": pd.DataFrame(ROWS, columns=NAMES).convert_dtypes(),
    "pandas on pyarrow": pd.DataFrame(ROWS, columns=NAMES).astype("float64[pyarrow]"),
    "polars": pl.DataFrame(ROWS, schema=NAMES),
    "pyarrow": pa.table({name: ROWS[:, j] for j, name in enumerate(NAMES)}),
}


@pytest.mark.parametrize("kind", DENSE)
def test_rows_of_every_kind_are_the_same_rows(kind):
    design = checked(DENSE[kind])
    assert type(design) is InMemory
    assert design.x.dtype == np.float64
    np.testing.assert_array_equal(design.x, ROWS)
    np.testing.assert_array_equal(design.y, TARGET[:, None])
    assert design.weight is None
    assert design.one_target


@pytest.mark.parametrize("kind", ["pandas", "nullable pandas", "pandas on pyarrow", "polars", "pyarrow"])
def test_names_of_columns_are_kept(kind):
    model = LinearRegression().fit(DENSE[kind], TARGET)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 3
    assert not hasattr(model.fit(ROWS, TARGET), "feature_names_in_")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_predictions_know_the_columns_of_the_fit(kind):
    model = LinearRegression().fit(DENSE[kind], TARGET)
    np.testing.assert_allclose(model.predict(DENSE[kind]), TARGET, rtol=1e-12)
    other = pd.DataFrame(ROWS, columns=NAMES)[["debt", "income", "age"]]
    with pytest.raises(ValueError, match=r"(?s)feature names.*same order"):
        model.predict(other)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_whole_numbers_and_booleans_of_tables(table):
    design = checked(table({"count": [1, 2, 3, 4], "flag": [True, False, True, True]}))
    np.testing.assert_array_equal(design.x, [[1, 1], [2, 0], [3, 1], [4, 1]])


@pytest.mark.parametrize("series", [list, pd.Series, pl.Series, pa.array, lambda v: pa.chunked_array([v])])
def test_targets_and_weights_of_every_kind(series):
    design = checked(ROWS, series([1, 2, 3, 5]), series([0.5, 1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(design.y[:, 0], TARGET[[0, 1, 3]])  # a row without weight is not there
    np.testing.assert_array_equal(design.weight, [0.5, 1.0, 2.0])
    np.testing.assert_array_equal(design.row_numbers(), [0, 1, 3])


def test_target_tables_are_several_targets():
    design = checked(ROWS, pd.DataFrame({"a": TARGET, "b": TARGET**2}))
    np.testing.assert_array_equal(design.y, np.column_stack([TARGET, TARGET**2]))
    assert not design.one_target
    assert not checked(ROWS, TARGET[:, None]).one_target


def test_one_number_is_a_weight_for_all():
    np.testing.assert_array_equal(checked(ROWS, weight=2).weight, np.full(4, 2.0))


def test_float32_stays_float32():
    assert checked(ROWS.astype(np.float32)).x.dtype == np.float32
    assert checked(sparse.csr_array(ROWS.astype(np.float32))).x.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_are_not_copied(dtype, order):
    X = np.asarray(ROWS, dtype=dtype, order=order)
    assert np.shares_memory(checked(X).x, X)


def test_csr_is_not_copied():
    X = sparse.csr_array(ROWS)
    assert np.shares_memory(checked(X).x.data, X.data)


FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.coo_matrix])
@pytest.mark.parametrize("format", FORMATS)
def test_sparse_rows_of_every_format_become_csr(kind, format):
    design = checked(kind(ROWS).asformat(format))
    assert type(design) is InMemory
    assert type(design.x) is sparse.csr_array
    np.testing.assert_array_equal(design.x.toarray(), ROWS)


def test_large_indices():
    X = sparse.csr_array(ROWS)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    design = checked(X)
    np.testing.assert_array_equal(design.block(slice(1, 3)).dense(), ROWS[1:3])


def untidy():
    """Rows with unsorted columns and one entry in two parts."""
    data, indices, indptr = [2.0, 1.0, 1.0, 2.0, 4.0, 6.0, 5.0], [2, 0, 1, 1, 0, 2, 1], [0, 2, 4, 5, 7]
    return sparse.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=(4, 3))


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_untidy_rows_are_tidied_in_a_copy(kind):
    X = kind(untidy())
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    design = checked(X)
    np.testing.assert_array_equal(design.x.toarray(), ROWS)
    assert design.x.has_canonical_format
    for part, was in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, was)


def test_read_only_and_mapped_arrays(tmp_path):
    X = ROWS.copy()
    X.flags.writeable = False
    y = TARGET.copy()
    y.flags.writeable = False
    np.testing.assert_array_equal(checked(X, y, y).x, ROWS)
    np.save(tmp_path / "rows.npy", ROWS)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert np.shares_memory(checked(mapped).x, mapped)
    model, plain = LinearRegression().fit(mapped, TARGET), LinearRegression().fit(ROWS, TARGET)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
