"""What must hold for every estimator."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

from hiperplano import LinearRegression, LinearSVC, LinearSVR
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution
from tests.registry import (
    BINNED,
    CLASSIFIERS,
    DETECTORS,
    ESTIMATORS,
    ONLINE,
    REGRESSORS,
    TRANSFORMERS,
    WITHOUT_COEFFICIENTS,
)

EVERY = ESTIMATORS + ONLINE

OTHERS = WITHOUT_COEFFICIENTS + TRANSFORMERS + BINNED + DETECTORS
CHECKED = [entry.estimator for entry in ESTIMATORS + OTHERS if entry.checks] + [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(loss="hinge", multi_class="crammer_singer"),
    LinearSVR(),
]
# They skip themselves: unless SciPy's experimental array API is switched on, and where there are no probabilities.
NOT_OURS = {"check_array_api_input", "check_classifiers_multilabel_output_format_predict_proba"}


def table(entry, n=60, d=4, seed=0, density=None):
    """Rows of different scales and offsets, and a target that fits the estimator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 2, d) + np.linspace(0, 5, d)
    if density is not None:
        X = X * (rng.uniform(size=X.shape) < density)
    score = X @ (rng.normal(size=d) / np.logspace(-1, 2, d)) + 0.5 * rng.normal(size=n) + 3.0
    y = np.digitize(score, np.quantile(score, [0.3, 0.7])) if is_classifier(entry.estimator) else score
    return X, y


def assert_same(entry, model, other, X, rtol=None, what=""):
    """Coefficients agree in units of their columns' spread, intercepts in units of the largest score."""
    size = np.abs(X - X[:1]).max(axis=0)
    mine, theirs = np.atleast_2d(model.coef_) * size, np.atleast_2d(other.coef_) * size
    scale = max(float(np.abs(theirs).max()), float(np.abs(X @ np.atleast_2d(other.coef_).T).max()))
    scale = scale or float(np.abs(other.intercept_).max())  # no coefficient: signs may allow none
    rtol = entry.rtol if rtol is None else rtol
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=rtol * scale, err_msg=what)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=0, atol=10 * rtol * scale, err_msg=what)


def surely_told(model, X):
    """Rows but those that several classes claim alike, such as support vectors of two of them: rounding decides."""
    if not is_classifier(model) or len(model.classes_) == 2:
        return np.ones(len(X), dtype=bool)
    last, best = np.sort(model.decision_function(X), axis=1)[:, -2:].T
    sure = best - last > 1e-9 * np.abs(best)
    assert sure.mean() > 0.9
    return sure


def fitted(entry, X, y, weight=None):
    return clone(entry.estimator).fit(X, y, sample_weight=weight)


@cache
def plainly_fitted(entry):
    """The fit to `table(entry)`, which many laws compare with and none changes."""
    return fitted(entry, *table(entry))


# One of the checks has a column that tells the class: discriminants say what they make of it.
@pytest.mark.filterwarnings("ignore::hiperplano.errors.SingularWarning")
@pytest.mark.parametrize("estimator", CHECKED, ids=str)
def test_scikit_learn_accepts_it(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail="raise")
    assert {result["check_name"] for result in results if result["status"] != "passed"} <= NOT_OURS
    assert len(results) > (50 if hasattr(estimator, "predict") else 40)


FORMATS = {
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1][::-1],
    "read-only": lambda X: np.broadcast_to(X[None], (1, *X.shape))[0],
    "list": lambda X: X.tolist(),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "pandas": pd.DataFrame,
    "pandas in Fortran order": lambda X: pd.DataFrame({str(j): X[:, j] for j in range(X.shape[1])}),
    "polars": lambda X: pl.DataFrame(X, schema=[str(j) for j in range(X.shape[1])]),
    "pyarrow": lambda X: pa.table({str(j): X[:, j] for j in range(X.shape[1])}),
}


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_the_format_of_rows_changes_nothing(entry):
    X, y = table(entry)
    plain = plainly_fitted(entry)
    sure = surely_told(plain, X)
    for name, format in FORMATS.items():
        other = fitted(entry, format(X), y)
        assert_same(entry, other, plain, X, what=name)
        said, expected = other.predict(format(X)), plain.predict(X)
        np.testing.assert_allclose(said[sure], expected[sure], rtol=1e-7, err_msg=name)


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_dense_equals_sparse_at_all_densities(entry):
    for density in (0.01, 0.05, 0.09, 0.2, 0.6, 1.0):
        X, y = table(entry, n=200, d=12, density=density)
        rows, what = sparse.csr_array(X), f"density {density}"
        for weight in (None, np.random.default_rng(1).uniform(size=len(y))):
            here, there = fitted(entry, rows, y, weight), fitted(entry, X, y, weight)
            assert_same(entry, here, there, X, rtol=10 * entry.rtol, what=what)


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_float32_rows_give_the_answer_of_the_same_numbers(entry):
    X, y = table(entry)
    short = X.astype(np.float32)
    for rows in (short, sparse.csr_array(short)):
        model, plain = fitted(entry, rows, y), fitted(entry, short.astype(np.float64), y)
        assert model.coef_.dtype == np.float32
        assert model.predict(rows).dtype == (plain.predict(X).dtype if is_classifier(model) else np.float32)
        assert_same(entry, model, plain, X, rtol=1e-6)
        # Inside, all sums are made in float64.
        size = np.abs(plain.solution_.coef).max()
        np.testing.assert_allclose(model.solution_.coef, plain.solution_.coef, rtol=1e-7, atol=1e-9 * size)


@pytest.mark.parametrize("entry", [entry for entry in EVERY if entry.weights_repeat], ids=str)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), dense=st.booleans())
def test_weights_equal_repetition(entry, seed, dense):
    X, y = table(entry, seed=seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    weight[:6] = 1 + (weight[:6] > 2)
    rows = X if dense else sparse.csr_array(X)
    repeated = np.repeat(np.arange(len(y)), weight)
    assume(not is_classifier(entry.estimator) or len(np.unique(y[repeated])) == 3)
    assert_same(entry, fitted(entry, rows, y, weight), fitted(entry, X[repeated], y[repeated]), X)


@pytest.mark.parametrize("entry", [entry for entry in ONLINE if not entry.by_content], ids=str)
def test_the_last_bits_of_rows_do_not_matter(entry):
    """Another machine rounds otherwise: where that grows, no two of them have the same answer."""
    for seed in (0, 4, 8):
        X, y = table(entry, seed=seed)
        rng = np.random.default_rng(seed)
        weight = rng.integers(1, 4, len(y))
        other = X * (1.0 + 1e-15 * rng.choice([-1.0, 1.0], X.shape))
        assert_same(entry, fitted(entry, other, y, weight), fitted(entry, X, y, weight), X)


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_equal_weights_of_one_are_no_weights(entry):
    X, y = table(entry)
    assert_same(entry, fitted(entry, X, y, np.ones(len(y))), plainly_fitted(entry), X)
    assert_same(entry, fitted(entry, X, y, 1), plainly_fitted(entry), X)


@pytest.mark.parametrize("entry", [entry for entry in EVERY if entry.weights_repeat], ids=str)
def test_nothing_in_rows_without_weight_matters(entry):
    X, y = table(entry)
    weight = np.ones(len(y))
    weight[[3, 17]] = 0.0
    kept = weight > 0
    plain = fitted(entry, X[kept], y[kept])
    for value in (1e6, 1e30, -1e200, 1e308):
        strange, target = X.copy(), y.copy()
        strange[[3, 17]] = value
        if not is_classifier(entry.estimator):
            target[17] = value
        for rows in (strange, sparse.csr_array(strange)):
            assert_same(entry, fitted(entry, rows, target, weight), plain, X, what=f"{value}")


@pytest.mark.parametrize("entry", [entry for entry in ESTIMATORS if entry.equivariant], ids=str)
@settings(max_examples=15)
@given(powers=st.lists(st.integers(-12, 12), min_size=4, max_size=4), seed=st.integers(0, 1000))
def test_scaling_a_column_scales_its_coefficient(entry, powers, seed):
    X, y = table(entry, seed=seed)
    factors = 10.0 ** np.array(powers)
    scaled, plain = fitted(entry, X * factors, y), fitted(entry, X, y)
    scaled.coef_ = scaled.coef_ * factors
    assert_same(entry, scaled, plain, X)


@pytest.mark.parametrize(
    "entry", [entry for entry in ESTIMATORS if getattr(entry.estimator, "fit_intercept", True)], ids=str
)
@settings(max_examples=15)
@given(shifts=st.lists(st.sampled_from([0.0, -3.0, 1e3, -1e6, 2.0**20]), min_size=4, max_size=4))
def test_shifting_a_column_changes_only_the_intercept(entry, shifts):
    X, y = table(entry)
    X = np.round(X * 2**20) / 2**20  # so that shifted numbers are exact
    moved, plain = fitted(entry, X + np.array(shifts), y), fitted(entry, X, y)
    moved.intercept_ = moved.intercept_ + moved.coef_ @ np.array(shifts)
    # Intercepts are differences of terms as large as coef·shift, and rounded like them.
    lost = 1e-15 * np.abs(np.atleast_2d(plain.coef_) @ np.abs(np.array(shifts))).max() / np.abs(plain.coef_ @ X.T).max()
    assert_same(entry, moved, plain, X, rtol=max(entry.rtol, lost))


@pytest.mark.parametrize("entry", ESTIMATORS, ids=str)
def test_the_order_of_columns_changes_nothing(entry):
    X, y = table(entry)
    order = [2, 0, 3, 1]
    turned, plain = fitted(entry, X[:, order], y), fitted(entry, X, y)
    plain.coef_ = plain.coef_[..., order]
    assert_same(entry, turned, plain, X[:, order])


@pytest.mark.parametrize("entry", [entry for entry in REGRESSORS if entry.many_targets], ids=str)
def test_several_targets_equal_one_by_one(entry):
    X, y = table(entry)
    targets = np.column_stack([y, -y + X[:, 0], np.sin(y) * 1e6])
    if hasattr(entry.estimator, "alphas"):
        targets = np.column_stack([y, 2 * y])  # one penalty is chosen for all targets
    together = fitted(entry, X, targets)
    assert together.coef_.shape == (targets.shape[1], X.shape[1])
    assert together.predict(X).shape == targets.shape
    for k, target in enumerate(targets.T):
        single = fitted(entry, X, target)
        scale = np.abs(single.coef_ * X.std(axis=0)).max()
        np.testing.assert_allclose(
            together.coef_[k] * X.std(axis=0), single.coef_ * X.std(axis=0), atol=10 * entry.rtol * scale
        )
        np.testing.assert_allclose(together.predict(X)[:, k], single.predict(X), rtol=1e-6)


@pytest.mark.parametrize("entry", [entry for entry in REGRESSORS if entry.many_targets], ids=str)
def test_one_column_of_targets_has_scikit_learns_shape(entry):
    X, y = table(entry)
    model, plain = fitted(entry, X, y[:, None]), plainly_fitted(entry)
    # scikit-learn's ridge models drop the axis, its LinearRegression keeps it.
    shape = (1, 4) if isinstance(entry.estimator, LinearRegression) else (4,)
    assert model.coef_.shape == shape
    assert model.predict(X).shape == (len(y), *shape[:-1])
    np.testing.assert_array_equal(model.coef_.ravel(), plain.coef_)


@pytest.mark.parametrize("entry", CLASSIFIERS, ids=str)
def test_labels_of_any_kind_are_the_same_classes(entry):
    X, y = table(entry)
    plain = plainly_fitted(entry)
    words = np.array(["no", "perhaps", "yes"])
    for labels in (
        words[y],
        words[y].astype(object),
        y + 10,
        (y + 10).astype(float),
        pd.Series(words[y], dtype="category"),
    ):
        model = fitted(entry, X, labels)
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        np.testing.assert_array_equal(np.searchsorted(model.classes_, model.predict(X)), plain.predict(X))
    two = fitted(entry, X, y > 0)
    assert two.coef_.shape == (1, 4)
    assert two.decision_function(X).shape == (len(y),)
    np.testing.assert_array_equal(two.predict(X), two.decision_function(X) > 0)
    assert plain.decision_function(X).shape == (len(y), 3)


def snapshot(value):
    if sparse.issparse(value):
        return [part.tobytes() for part in (value.data, value.indices, value.indptr)]
    return value.to_numpy().tobytes() if hasattr(value, "to_numpy") else value.tobytes()


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_a_fit_does_not_change_its_inputs(entry):
    X, y = table(entry)
    formats = {"array": X, "fortran": np.asfortranarray(X), "csr": sparse.csr_array(X), "pandas": pd.DataFrame(X)}
    untidy = sparse.csr_array(X)
    untidy.indices, untidy.data = untidy.indices[::-1].copy(), untidy.data[::-1].copy()
    formats["untidy csr"] = untidy
    weight = np.random.default_rng(0).uniform(size=len(y))
    weight[4] = 0.0
    for name, rows in formats.items():
        before = [snapshot(thing) for thing in (rows, y, weight)]
        fitted(entry, rows, y, weight).predict(rows)
        assert [snapshot(thing) for thing in (rows, y, weight)] == before, name


REFUSED = {
    "more columns": lambda X, y: (np.column_stack([X, X]), y, None, np.nan),
    "a NaN": lambda X, y: (np.where(np.arange(len(X))[:, None] == 5, np.nan, X[:, :2]), y, None, None),
    "named columns": lambda X, y: (pd.DataFrame(X[:, :2], columns=["a", "b"]), y, -np.ones(len(y)), None),
    "a bad target": lambda X, y: (X[:, :3], np.where(np.arange(len(y)) == 3, np.nan, y), None, None),
    "a bad parameter": lambda X, y: (X[:, :3], y, None, "bad"),
}


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_a_refused_fit_leaves_an_earlier_one_as_it_was(entry):
    X, y = table(entry)
    model = fitted(entry, X, y)
    before, said = dict(vars(model)), model.predict(X)
    for reason, made in REFUSED.items():
        rows, target, weight, parameter = made(X, y)
        if parameter is not None:
            setattr(model, entry.flag, parameter)
        with pytest.raises(ValueError, match=r".+"):
            model.fit(rows, target, sample_weight=weight)
        setattr(model, entry.flag, before[entry.flag])
        assert vars(model).keys() == before.keys(), reason
        assert all(vars(model)[name] is value for name, value in before.items()), reason
        np.testing.assert_array_equal(model.predict(X), said, err_msg=reason)


@pytest.mark.parametrize("entry", CLASSIFIERS, ids=str)
def test_a_refused_target_leaves_the_classes_as_they_were(entry):
    X, y = table(entry)
    model = fitted(entry, X, y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X[:, :2], np.zeros(len(y), dtype=int))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.n_features_in_ == 4
    model.predict(X)


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_a_second_fit_forgets_the_first(entry):
    X, y = table(entry)
    model = fitted(entry, pd.DataFrame(X).rename(columns=str), y).fit(X[:40, :2], y[:40])
    fresh = fitted(entry, X[:40, :2], y[:40])
    assert vars(model).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(model.coef_, fresh.coef_)


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_models_survive_pickling_and_cloning(entry):
    X, y = table(entry)
    model = plainly_fitted(entry)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.solution_.status == model.solution_.status
    kept = getattr(model.solution_, "factor", None) is not None or getattr(model.solution_, "hessian", None) is not None
    if hasattr(model, "summary") and kept:
        assert str(again.summary()) == str(model.summary())
    copy = clone(model)
    assert not hasattr(copy, "coef_")
    assert copy.get_params() == model.get_params()
    np.testing.assert_array_equal(copy.fit(X, y).coef_, model.coef_)


@pytest.mark.parametrize("entry", EVERY, ids=str)
def test_the_solution_tells_how_the_fit_ended(entry):
    model = plainly_fitted(entry)
    solution = model.solution_
    assert solution.converged
    assert str(solution) == solution.status
    assert solution.status.endswith(".")
    if isinstance(solution, LeastSquaresSolution):
        assert 3 <= solution.digits <= 15
        assert solution.condition >= 1
    if not hasattr(model, "scores_"):  # of searches: of every fold
        assert (np.asarray(model.n_iter_) == solution.n_iter).all()
    assert np.isfinite(solution.objective)
    np.testing.assert_array_equal(np.atleast_2d(model.coef_), solution.coef)
