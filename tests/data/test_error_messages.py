"""Bad input is answered with where it lies."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from hiperplano import LinearRegression, load_credit_line
from hiperplano.errors import InvalidData, InvalidTarget

X, y = load_credit_line(n_rows=20, as_frame=True, return_X_y=True)


def fit(rows, target=y, **more):
    return LinearRegression().fit(rows, target, **more)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_a_missing_number_is_named_by_its_column(table):
    income = X["income"].tolist()
    income[3] = None
    rows = table({"age": X["age"].tolist(), "income": income})
    with pytest.raises(InvalidData, match=r"NaN \(first in row 3, column 'income'\)"):
        fit(rows)


def test_without_names_the_column_is_a_number():
    rows = X.to_numpy().copy()
    rows[4, 2] = np.inf
    with pytest.raises(InvalidData, match=r"infinity \(first in row 4, column 2\)"):
        fit(rows)


def test_a_missing_number_at_prediction_is_named_too():
    rows = X.copy()
    rows.loc[5, "age"] = np.nan
    with pytest.raises(InvalidData, match=r"row 5, column 'age'"):
        fit(X).predict(rows)


def test_text_in_a_column():
    with pytest.raises(InvalidData, match=r"Column 'job' holds text \('clerk' in row 0\)"):
        fit(X.assign(job="clerk"))


@pytest.mark.parametrize("rows", [X, X.to_numpy(), csr_array(X.to_numpy())])
@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_text_in_a_regression_target(rows, kind):
    with pytest.raises(InvalidTarget, match=r"y holds text \('yes' in row 1\)"):
        fit(rows, kind(["1", "yes"] * 10))


def test_dates_among_numbers():
    with pytest.raises(InvalidData, match="dates"):
        fit(X.assign(since=pd.date_range("2020-01-01", periods=len(X))))


def test_a_vector_instead_of_rows_is_not_printed():
    with pytest.raises(InvalidData, match=r"X has shape \(20,\)") as caught:
        fit(X["age"].to_numpy())
    assert len(str(caught.value)) < 300


def test_columns_in_another_order():
    with pytest.raises(InvalidData, match=r"X\[list\(feature_names_in_\)\]"):
        fit(X).predict(X[X.columns[::-1]])


def test_too_few_columns_of_a_plain_array_are_an_error_of_the_library():
    with pytest.raises(InvalidData, match="expecting 5 features"):
        fit(X.to_numpy()).predict(X.to_numpy()[:, :2])


def test_weights_by_the_name_of_their_column():
    with pytest.raises(InvalidData, match=r"sample_weight cannot be read as numbers .*'age'"):
        fit(X, sample_weight="age")
