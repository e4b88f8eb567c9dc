"""Where there are no standard errors, the message says why."""

import numpy as np
import pytest
import sklearn.linear_model

from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge, RidgeCV, diagnose, inference, load_credit_line
from hiperplano.errors import InvalidParameter, InvalidTarget, NotAvailable

X, y = load_credit_line(as_frame=True, return_X_y=True)


def test_too_few_rows_are_not_blamed_on_columns():
    with pytest.raises(NotAvailable, match="4 rows do not determine 5 coefficients"):
        LinearRegression().fit(X[:4], y[:4]).summary()


@pytest.mark.parametrize("ask", [inference, diagnose])
def test_models_of_another_library_are_told_apart_from_ours(ask):
    with pytest.raises(NotAvailable, match=r"sklearn's LinearRegression; .* hiperplano's LinearRegression"):
        ask(sklearn.linear_model.LinearRegression().fit(X, y), X, y)


def test_one_class_is_shown_as_it_was_written():
    with pytest.raises(InvalidTarget, match=r"\('no' in all 400 rows\)"):
        LeastSquaresClassifier().fit(X, np.full(400, "no"))


def test_the_penalty_at_fault_is_named():
    with pytest.raises(InvalidParameter, match=r"alphas\[1\]=-1"):
        RidgeCV(alphas=[1, -1]).fit(X, y)


def test_a_ridge_with_fewer_rows_than_many_columns_says_how_to_get_them():
    """Neither the rows nor products of 150 columns are kept; the rows, given again, tell the same as a Gram matrix."""
    rng = np.random.default_rng(0)
    rows, target = rng.normal(size=(60, 150)), rng.normal(size=60)
    model = Ridge(10.0).fit(rows, target)
    with pytest.raises(NotAvailable, match="solver='gram'"):
        model.summary()
    by_columns = Ridge(10.0, solver="gram").fit(rows, target).summary().to_pandas()
    given = inference(model, rows, target).to_pandas()
    np.testing.assert_allclose(given["se"], by_columns["se"], rtol=1e-8)
