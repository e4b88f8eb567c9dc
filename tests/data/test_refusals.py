"""What the gate refuses, and that it says the rule, the evidence and the remedy."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge
from hiperplano.errors import HiperplanoError, InvalidData, InvalidParameter, InvalidTarget
from tests.registry import ESTIMATORS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = (X[:, 0] > 0).astype(int)
NAN, INF = X.copy(), X.copy()
NAN[7, 1], INF[11, 2] = np.nan, -np.inf
TEXT = X.astype(object)
TEXT[4, 1] = "unknown"


def with_value(values, row, value):
    changed = np.array(values, dtype=float)
    changed[row] = value
    return changed


ROWS = {
    "NaN": (NAN, r"NaN \(first in row 7, column 1\); every number must be finite. Drop"),
    "infinity": (INF, r"infinity \(first in row 11, column 2\); every number must be finite. Drop"),
    "sparse NaN": (sparse.csr_array(NAN), r"NaN \(first in row 7, column 1\)"),
    "sparse infinity": (sparse.csc_matrix(INF), r"infinity \(first in row 11, column 2\)"),
    "float32 NaN": (NAN.astype(np.float32), r"NaN \(first in row 7, column 1\)"),
    "NaN and infinity that cancel": (np.where(X > 1, np.inf, np.where(X < -1, -np.inf, X)), r"infinity \(first in row"),
    "missing in pandas": (pd.DataFrame({"a": pd.array([None, *range(19)], dtype="Int64")}), r"NaN \(first in row 0"),
    "missing in polars": (pl.DataFrame({"a": [*range(19), None]}), r"NaN \(first in row 19"),
    "missing in pyarrow": (pa.table({"a": [1.0, None] * 10}), r"NaN \(first in row 1, column 'a'"),
    "text": (TEXT, r"Column 1 holds text \('unknown' in row 4\); all columns must be numbers. Encode"),
    "text in pandas": (
        pd.DataFrame({"n": X[:, 0], "kind": ["u", "v"] * 10}),
        r"Column 'kind' holds text \('u' in row 0",
    ),
    "text in polars": (
        pl.DataFrame({"n": X[:, 0], "kind": ["u", "v"] * 10}),
        r"Column 'kind' holds text \('u' in row 0",
    ),
    "text in pyarrow": (pa.table({"n": X[:, 0], "kind": ["u", "v"] * 10}), r"Column 'kind' holds text \('u' in row 0"),
    "categories": (pd.DataFrame({"kind": pd.Categorical(["u", "v"] * 10)}), r"Column 'kind' holds text"),
    "dates": (np.full((20, 2), np.datetime64("2024-01-01")), r"holds dates or times.*must be numbers. Subtract"),
    "dates in pandas": (pd.DataFrame({"n": X[:, 0], "day": pd.Timestamp("2024-01-01")}), r"Column 'day' holds dates"),
    "durations in polars": (
        pl.DataFrame({"wait": pl.Series([1] * 20).cast(pl.Duration)}),
        r"Column 'wait' holds dates or times",
    ),
    "dates in pyarrow": (pa.table({"day": pa.array([0] * 20).cast(pa.timestamp("s"))}), r"Column 'day' holds dates"),
    "complex": (X + 1j, r"complex numbers; all must be real. Pass real"),
    "sparse complex": (sparse.csr_array(X + 1j), r"complex numbers; all must be real"),
    "one dimension": (X[:, 0], r"Expected 2D array, got 1D array.*Reshape"),
    "a column of pandas": (pd.Series(X[:, 0], name="a"), r"1D array.*X is a Series of 20 values.*Pass X.to_frame\(\)"),
    "a column of polars": (pl.Series("a", X[:, 0]), r"1D array.*X is a Series of 20 values.*Pass X.to_frame\(\)"),
    "three dimensions": (X[:, :, None], r"dim 3.*Pass a table"),
    "a number": (3.0, r"Expected 2D array.*Reshape"),
    "nothing": (None, r"Expected 2D array.*Reshape"),
    "unequal rows": ([[1.0, 2.0], [3.0]] * 10, r"inhomogeneous.*Pass rows of equal length"),
    "no rows": (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\).*Check the filter"),
    "no columns": (np.empty((20, 0)), r"0 feature\(s\) \(shape=\(20, 0\)\).*Pass at least one column"),
    "other length": (X[:5], r"inconsistent numbers of samples: \[5, 20\]. Pass one target for each row"),
    "too large a whole number": ([[10**400]] + [[1]] * 19, r"too large for float64.*Use a larger unit"),
    "too long a float": (np.full((20, 1), np.longdouble("1e400")), r"infinity \(first in row 0, column 0"),
}


@pytest.mark.parametrize("estimator", [LinearRegression(), LeastSquaresClassifier()], ids=str)
@pytest.mark.parametrize("kind", ROWS)
def test_rows(kind, estimator):
    rows, message = ROWS[kind]
    with pytest.raises(InvalidData, match=f"(?s){message}"):
        clone(estimator).fit(rows, Y)


TARGETS = {
    "NaN": (with_value(Y, 3, np.nan), r"Input y contains NaN.*must be finite. Drop those rows"),
    "infinity": (with_value(Y, 3, np.inf), r"Input y contains infinity.*must be finite. Drop those rows"),
    "none": ([None, *Y[1:]], r"NaN or infinity in 1 of 20 places.*must be finite. Drop"),
    "missing in pandas": (pd.Series([None, *range(19)], dtype="Int64"), r"Input y contains NaN.*Drop"),
    "text": (["many"] * 20, r"y holds text \('many' in row 0\); a regression needs numbers. Encode y, or take a class"),
    "text objects": (np.array([1.0] * 19 + ["x"], dtype=object), r"y holds text \('x' in row 19\)"),
    "sparse": (sparse.csr_array(Y[:, None]), r"y is a sparse matrix; a target must be an array.*Pass y.toarray"),
    "complex": (Y + 1j, r"complex numbers; all must be real"),
    "three dimensions": (np.zeros((20, 1, 1)), r"dim 3"),
    "other length": (Y[:7], r"inconsistent numbers of samples: \[20, 7\]. Pass one target"),
    "nothing": (None, r"requires y to be passed.*Pass the targets"),
    "too large a whole number": ([10**400] * 20, r"too large for float64"),
}


@pytest.mark.parametrize("rows", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", TARGETS)
def test_targets(kind, rows):
    target, message = TARGETS[kind]
    with pytest.raises(InvalidData, match=f"(?s){message}"):
        LinearRegression().fit(rows, target)


LABELS = {
    "one class": (
        ["no"] * 20,
        r"y holds one class \('no'|np.str_\('no'\) in all 20 rows\); a classifier needs 2.*Check",
    ),
    "fractions": (X[:, 0], r"Unknown label type: continuous. y holds 20 different numbers with fractions.*Use a regr"),
    "missing": (
        np.array([None, "a"] * 10, dtype=object),
        r"kinds NoneType, str; labels must be all numbers or all text",
    ),
    "mixed": (np.array([1, "a"] * 10, dtype=object), r"kinds int, str; labels must be.*convert them first"),
    "NaN": (with_value(Y, 3, np.nan), r"Input y contains NaN.*Drop those rows"),
    "two columns": (np.zeros((20, 2)), r"should be a 1d array.*Pass one label for each row"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind):
    labels, message = LABELS[kind]
    with pytest.raises(InvalidTarget, match=f"(?s){message}"):
        LeastSquaresClassifier().fit(X, labels)


WEIGHTS = {
    "negative": (with_value(np.ones(20), 6, -2), r"Negative values.*\(row 6: -2\); weights must be 0 or more. Use 0"),
    "NaN": (with_value(np.ones(20), 6, np.nan), r"NaN or infinity \(row 6: nan\); weights must be finite. Use 0"),
    "infinity": (with_value(np.ones(20), 6, np.inf), r"NaN or infinity \(row 6: inf\); weights must be finite"),
    "all zero": (np.zeros(20), r"at least one non-zero number; all 20 are 0. Give a positive weight"),
    "too few": (np.ones(19), r"shape \(19,\); one weight for each of the 20 rows is needed.*Pass a vector"),
    "two columns": (np.ones((20, 2)), r"shape \(20, 2\); one weight for each of the 20 rows"),
    "text": (["a"] * 20, r"cannot be read as numbers.*Pass the weights themselves"),
    "complex": (np.ones(20) * 1j, r"cannot be read as numbers"),
    "sparse": (sparse.csr_array(np.ones((1, 20))), r"cannot be read as numbers"),
    "unequal rows": ([[1.0], [1.0, 2.0]], r"cannot be read as numbers"),
}


@pytest.mark.parametrize("entry", ESTIMATORS, ids=str)
@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights(kind, entry):
    weight, message = WEIGHTS[kind]
    with pytest.raises(InvalidData, match=f"(?s){message}"):
        clone(entry.estimator).fit(X, Y, sample_weight=weight)


PREDICTIONS = {
    "NaN": (NAN, r"NaN \(first in row 7, column 1\)"),
    "too few columns": (X[:, :2], r"2 features, but .* is expecting 3 features as input. Pass the columns seen in fit"),
    "too few columns in a list": (X[:, :2].tolist(), r"is expecting 3 features as input. Pass the columns seen in fit"),
    "text": (TEXT, r"Column 1 holds text \('unknown' in row 4\)"),
    "no rows": (np.empty((0, 3)), r"0 sample\(s\)"),
    "one dimension": (X[0], r"Expected 2D array.*Reshape"),
}


@pytest.mark.parametrize("entry", ESTIMATORS, ids=str)
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_predictions(kind, entry):
    rows, message = PREDICTIONS[kind]
    model = clone(entry.estimator).fit(X, Y)
    with pytest.raises(InvalidData, match=f"(?s){message}"):
        model.predict(rows)


PARAMETERS = [
    (LinearRegression(fit_intercept="yes"), "fit_intercept='yes'; fit_intercept must be True or False"),
    (LinearRegression(positive=1), "positive=1; positive must be True or False"),
    (LinearRegression(solver="newton"), "solver='newton'; solver must be one of 'auto', 'gram', 'qr', 'cg'"),
    (LinearRegression(tol=-1.0), "tol=-1.0; tol must be a finite number"),
    (LinearRegression(tol=np.inf), "tol=inf; tol must be a finite number"),
    (LinearRegression(max_iter=0), "max_iter=0; max_iter must be a whole number of 1 or more or None"),
    (LinearRegression(max_iter=2.5), "max_iter=2.5; max_iter must be a whole number"),
    (LinearRegression(positive=True, solver="cg"), "positive=True with conjugate gradients"),
    (Ridge(alpha=-1.0), "alpha=-1.0; alpha must be a finite number, 0 or more. Set alpha"),
    (Ridge(alpha=np.nan), "alpha=nan; alpha must be a finite number"),
    (Ridge(alpha=np.inf), "alpha=inf; alpha must be a finite number"),
    (Ridge(alpha="strong"), "alpha='strong'; alpha must be a finite number"),
    (Ridge(alpha=None), "alpha=None; alpha must be a finite number"),
    (Ridge(alpha=True), "alpha=True; alpha must be a finite number"),
    (Ridge(alpha=[1.0, 2.0]), "alpha holds 2 numbers for 1 targets; it must be one number, or one for each"),
    (Ridge(alpha=[-1.0]), "alpha[0]=-1.0; alpha[0] must be a finite number, 0 or more"),
    (LeastSquaresClassifier(alpha=-1), "alpha=-1; alpha must be a finite number, 0 or more"),
    (LeastSquaresClassifier(class_weight="even"), "class_weight='even'; class_weight must be None, 'balanced' or a"),
    (LeastSquaresClassifier(class_weight={0: 1, 5: 1}), "classes, [1], are not in class_weight"),
    (LeastSquaresClassifier(class_weight={0: -1, 1: 1}), "class_weight gives {0: -1.0, 1: 1.0}; class_weight must be"),
    (LeastSquaresClassifier(class_weight={0: np.nan, 1: 1}), "class_weight gives {0: nan, 1: 1.0}"),
]


@pytest.mark.parametrize(("estimator", "message"), PARAMETERS, ids=lambda part: str(part)[:60])
def test_parameters(estimator, message):
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        estimator.fit(X, Y)


def test_a_wide_sparse_matrix_is_searched_without_making_it_dense():
    """10,000 × 10,000,000 cells would be 745 GiB."""
    rows = sparse.random_array((10_000, 10_000_000), density=1e-8, rng=np.random.default_rng(0), format="csr")
    rows.data[500] = np.nan
    with pytest.raises(InvalidData, match="Input X contains NaN"):
        LinearRegression().fit(rows, np.arange(10_000.0))


@pytest.mark.parametrize(
    "problem", [*ROWS.values(), *TARGETS.values()], ids=[*ROWS, *(f"y {kind}" for kind in TARGETS)]
)
def test_messages_are_whole_sentences(problem):
    """The rule and the evidence, then what to do: two sentences at least, and no dump of the data."""
    wrong = problem[0]
    rows, target = (wrong, Y) if any(wrong is rows for rows, _ in ROWS.values()) else (X, wrong)
    with pytest.raises(HiperplanoError) as caught:
        LinearRegression().fit(rows, target)
    text = str(caught.value)
    assert text.endswith((".", "?"))
    assert len(re.findall(r"[.;:?](?:\s|$)", text)) >= 2
    assert len(text) < 500


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.asfortranarray], ids=["C", "CSR", "F"])
@pytest.mark.parametrize("coef", [[1.0, -2.0, 3.0], [1.0, 0.0, 0.0]], ids=["all columns count", "two columns do not"])
@pytest.mark.parametrize("which", ["NaN", "infinity"])
def test_rows_to_predict_are_looked_at_whether_their_column_counts_or_not(which, coef, kind):
    rows, told = ROWS[which]
    model = LinearRegression().fit(X, X @ [1.0, -2.0, 3.0])
    model.coef_ = np.array(coef)
    with pytest.raises(InvalidData, match=told):
        model.predict(kind(rows))


def test_finite_rows_whose_score_overflows_are_no_fault_of_the_rows():
    model = LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])  # of one sign: in whatever order they are added
    with pytest.raises(InvalidData, match=r"the score of row 1 lies beyond the range of float64.*Use units"):
        model.predict([[1.0, 1.0, 1.0], [1.5e308, 1.5e308, 1.5e308]])
