"""Whatever comes in, a fit ends in a right and finite answer or in one error that says what to do.

"Right" is judged with 700 digits: the gradient of the minimised sum is 0 up to rounding of the data, whatever the
scales and offsets of the columns, and whether or not they depend on each other.
"""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from scipy import sparse

from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge, RidgeCV
from hiperplano.errors import AccuracyWarning, ConvergenceWarning, HiperplanoError, InvalidData
from tests.exact import Problem

SIZES = st.sampled_from([1.0, 1.0, 1e-90, 1e-8, 1e-3, 1e7, 1e90])
OFFSETS = st.sampled_from([0.0, 0.0, 1.0, -1e6, 1e9])


@st.composite
def column(draw, rng, earlier):
    """One column: ordinary, far from 0, of any size, constant, zero, or made of earlier ones."""
    n = len(earlier[0])
    kind = draw(st.sampled_from(["plain", "plain", "few values", "constant", "zero", "copy", "sum", "nearly"]))
    values = np.round(rng.normal(size=n) * 2**20) / 2**20
    if kind == "few values":
        values = rng.integers(0, 2, n).astype(float)
    elif kind == "constant":
        values = np.full(n, 0.1)
    elif kind == "zero":
        values = np.zeros(n)
    elif kind != "plain" and len(earlier) > 1:
        one, two = earlier[draw(st.integers(0, len(earlier) - 1))], earlier[-1]
        return {"copy": one, "sum": one + two, "nearly": one * (1 + 1e-6 * values)}[kind]
    return (values + draw(OFFSETS)) * draw(SIZES)


@st.composite
def hard_tables(draw, least_rows=1, least_weighted=1):
    n = draw(st.integers(least_rows, 12))
    d = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    columns = [np.zeros(n)]
    for _ in range(d):
        columns.append(draw(column(rng, columns)))
    X = np.column_stack(columns[1:])
    y = draw(st.sampled_from([rng.normal(size=n), np.full(n, 3.7), np.zeros(n), rng.integers(0, 2, n).astype(float)]))
    y = (y + draw(OFFSETS)) * draw(SIZES)
    weight = draw(st.sampled_from([None, rng.uniform(size=n), rng.integers(0, 3, n).astype(float), np.full(n, 1e-49)]))
    weight = np.full(n, 1e49) if weight is None and draw(st.integers(0, 5)) == 0 else weight
    assume(weight is None or np.count_nonzero(weight) >= least_weighted)
    return X, y, weight


def assert_minimal(problem, model, coef):
    """The gradient is 0; where columns count as dependent, up to the rounding with which they were written down."""
    rounding = 4 * problem.blur() if model.solution_.rank < len(coef) else 0.0
    assert np.abs(problem.slack(coef)).max() < 1e-11 + rounding


def fit_quietly(model, X, y, weight):
    """Fit with every warning an error but the two that are part of the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, sample_weight=weight)


@settings(max_examples=250)
@given(
    data=hard_tables(),
    alpha=st.sampled_from([0.0, 0.0, 1.0, 1e-12, 1e12]),
    solver=st.sampled_from(["auto", "auto", "gram", "qr"]),
    fit_intercept=st.booleans(),
    sparse_rows=st.booleans(),
)
def test_regressions_are_right_or_refused(data, alpha, solver, fit_intercept, sparse_rows):
    X, y, weight = data
    model = Ridge(alpha=alpha, solver=solver, fit_intercept=fit_intercept)
    rows = sparse.csr_array(X) if sparse_rows else X
    fit_quietly(model, rows, y, weight)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert np.isfinite(model.predict(rows)).all()
    problem = Problem(X, y, weight, alpha, fit_intercept)
    assert_minimal(problem, model, model.coef_)
    if fit_intercept:
        assert problem.intercept_error(model.coef_, model.intercept_) < 1e-13


@settings(max_examples=60)
@given(data=hard_tables(), fit_intercept=st.booleans(), alpha=st.sampled_from([0.0, 1.0]))
def test_conjugate_gradients_are_right_or_say_so(data, fit_intercept, alpha):
    X, y, weight = data
    model = fit_quietly(Ridge(alpha=alpha, solver="cg", fit_intercept=fit_intercept), X, y, weight)
    assert np.isfinite(model.coef_).all()
    slack = np.abs(Problem(X, y, weight, alpha, fit_intercept).slack(model.coef_)).max()
    assert slack < 1e-9 or "above tol" in model.solution_.status


@settings(max_examples=80)
@given(data=hard_tables(), fit_intercept=st.booleans(), alpha=st.sampled_from([0.0, 1.0]))
def test_signs_are_kept_and_nothing_better_has_them(data, fit_intercept, alpha):
    """Karush, Kuhn, Tucker: no slope where a coefficient is positive, none downhill where it is 0."""
    X, y, weight = data
    model = fit_quietly(Ridge(alpha=alpha, positive=True, fit_intercept=fit_intercept), X, y, weight)
    assert (model.coef_ >= 0).all()
    slope = Problem(X, y, weight, alpha, fit_intercept).slack(model.coef_)
    assert np.abs(slope[model.coef_ > 0]).max(initial=0.0) < 1e-10
    assert slope.max(initial=0.0) < 1e-10


@settings(max_examples=60)
@given(data=hard_tables(least_rows=4), classes=st.integers(2, 4), alpha=st.sampled_from([0.0, 1.0]))
def test_classifiers_are_finite_or_refuse(data, classes, alpha):
    X, _, weight = data
    labels = np.arange(len(X)) % classes
    every, there = np.unique(labels), np.unique(labels if weight is None else labels[weight > 0])
    model = fit_quietly(LeastSquaresClassifier(alpha=alpha), X, labels, weight)
    assert np.isfinite(model.coef_).all()
    np.testing.assert_array_equal(model.classes_, every)
    assert np.isin(model.predict(X), there).all()  # a class without weight is not predicted
    positive = every[1:] if len(every) == 2 else every
    for label, coef in zip(positive, model.coef_, strict=True):
        code = np.where(labels == label, 1.0, -1.0 if len(every) == 2 else 0.0)
        assert_minimal(Problem(X, code, weight, alpha), model, coef)


@settings(max_examples=40)
@given(data=hard_tables(least_rows=3, least_weighted=2), alpha=st.sampled_from([(1.0,), (1e-3, 1.0, 1e3)]))
def test_chosen_penalties_are_fitted_right(data, alpha):
    X, y, weight = data
    sizes = np.abs(np.concatenate([X.ravel(), y, np.ones(1) if weight is None else weight]))
    extreme = np.abs(np.log10(sizes[sizes > 0])).max(initial=0.0) > 100
    try:
        model = fit_quietly(RidgeCV(alphas=alpha), X, y, weight)
    except InvalidData as problem:
        # A score beyond float64, or 0/0 where a penalty is nothing beside columns or weights of 1e150.
        if extreme and "no penalty has a score" in str(problem):
            reject()
        raise
    assert model.alpha_ in alpha
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.best_score_)
    assert_minimal(Problem(X, y, weight, model.alpha_), model, model.coef_)


@settings(max_examples=100)
@given(
    data=hard_tables(),
    place=st.tuples(st.integers(0, 11), st.integers(0, 4)),
    value=st.sampled_from([np.nan, np.inf, -np.inf]),
    where=st.sampled_from(["X", "sparse X", "y", "weight"]),
)
def test_one_number_that_is_none_is_always_found(data, place, value, where):
    X, y, _ = data
    row, column = place[0] % X.shape[0], place[1] % X.shape[1]
    weight = np.ones(len(y))
    target = {"X": X, "sparse X": X}.get(where)
    if target is not None:
        target[row, column] = value
    else:
        {"y": y, "weight": weight}[where][row] = value
    rows = sparse.csr_array(X) if where == "sparse X" else X
    with pytest.raises(HiperplanoError, match=r"NaN|infinity"):
        fit_quietly(LinearRegression(), rows, y, weight)


@pytest.mark.parametrize("scale", [1e-98, 1e98])
@pytest.mark.parametrize("solver", ["gram", "qr", "cg"])
def test_sizes_near_the_ends_of_what_is_taken(scale, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = 1.0 + X @ [1.0, 2.0, 3.0] + rng.normal(size=40)
    plain = LinearRegression(solver=solver).fit(X, y)
    for rows in (X * scale, sparse.csr_array(X * scale)):
        np.testing.assert_allclose(LinearRegression(solver=solver).fit(rows, y).coef_ * scale, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(LinearRegression(solver=solver).fit(X, y * scale).coef_ / scale, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(LinearRegression(solver=solver).fit(X * scale, y * scale).coef_, plain.coef_, rtol=1e-9)


def test_coefficients_beyond_float32_are_float64():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)).astype(np.float32)
    large, small = (
        LinearRegression().fit(X, X[:, 0].astype(float) * 1e90),
        Ridge().fit(X, X[:, 0].astype(float) * 1e-90),
    )
    assert large.coef_.dtype == small.coef_.dtype == np.float64
    assert large.coef_[0] == pytest.approx(1e90)
    assert small.coef_[0] > 1e-92
