"""LogisticRegression: the same answers as scikit-learn and statsmodels, and words for what cannot be fitted."""

import warnings

import numpy as np
import pandas
import polars
import pytest
import sklearn.linear_model
import statsmodels.api as sm
from scipy.sparse import csc_array, csr_array, issparse, random_array
from scipy.special import softmax
from scipy.stats import entropy
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from hiperplano import LogisticRegression, LogisticRegressionCV
from hiperplano.errors import ConvergenceWarning, InvalidData, InvalidParameter, InvalidTarget, NotAvailable
from hiperplano.models import logistic

SOLVERS = ["auto", "newton", "lbfgs"]
CS = [1e-3, 1.0, 1e3]


def sample(n=300, d=5, classes=2, seed=0, strength=1.0):
    rng = np.random.default_rng(seed)
    scale, offset = 10.0 ** rng.uniform(-1, 1, d), rng.normal(size=d)
    Z = rng.normal(size=(n, d))
    scores = Z @ rng.normal(size=(d, classes)) * strength / np.sqrt(d) + rng.gumbel(size=(n, classes))
    return (Z + offset) * scale, scores.argmax(axis=1)


def reference(X, y, C, **parameters):
    """scikit-learn, run until it cannot get any better."""
    weight = parameters.pop("sample_weight", None)
    model = sklearn.linear_model.LogisticRegression(C=C, solver="newton-cg", tol=1e-13, max_iter=10_000, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search ends in rounding there
        return model.fit(X, y, sample_weight=weight)


def assert_same(model, other, X, rtol=1e-6):
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=rtol, atol=rtol * np.abs(other.coef_).max())
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-7)
    np.testing.assert_array_equal(model.classes_, other.classes_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", CS)
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("solver", SOLVERS)
def test_agrees_with_scikit_learn(solver, classes, C, fit_intercept):
    X, y = sample(classes=classes)
    model = LogisticRegression(C=C, solver=solver, fit_intercept=fit_intercept).fit(X, y)
    assert model.solution_.converged
    assert_same(model, reference(X, y, C, fit_intercept=fit_intercept), X)
    assert model.coef_.shape == ((1, 5) if classes == 2 else (classes, 5))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"k0": 0.5, "k1": 3.0, "k2": 1.5}])
def test_weights_and_words_agree_with_scikit_learn(class_weight, classes):
    X, y = sample(classes=classes, seed=1)
    labels = np.array([f"k{code}" for code in y])
    weight = np.random.default_rng(2).uniform(0.1, 4.0, len(y))
    if isinstance(class_weight, dict):
        class_weight = {label: class_weight[label] for label in np.unique(labels)}
    if class_weight == "balanced":
        weight = None  # scikit-learn counts rows there, we count weights: a weight of 2 is two rows
    model = LogisticRegression(class_weight=class_weight).fit(X, labels, sample_weight=weight)
    other = reference(X, labels, 1.0, class_weight=class_weight, sample_weight=weight)
    assert_same(model, other, X)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_balanced_counts_weights_as_rows():
    X, y = sample(120, seed=3)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = LogisticRegression(class_weight="balanced").fit(X, y, times)
    repeated = LogisticRegression(class_weight="balanced").fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("solver", SOLVERS)
def test_rows_of_every_kind(solver, classes):
    X, y = sample(classes=classes, seed=4)
    X[np.abs(X) < np.median(np.abs(X))] = 0.0
    expected = LogisticRegression(solver=solver).fit(X, y)
    names = [f"c{j}" for j in range(X.shape[1])]
    for rows in (
        csr_array(X),
        csc_array(X),
        np.asfortranarray(X),
        X.tolist(),
        pandas.DataFrame(X, columns=names),
        polars.DataFrame(X, schema=names),
    ):
        found = LogisticRegression(solver=solver).fit(rows, y)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
def test_float32_rows_give_float32_coefficients_of_float64_sums(sparse):
    X, y = sample(seed=5)
    short = X.astype(np.float32)
    expected = LogisticRegression().fit(short.astype(np.float64), y)
    model = LogisticRegression().fit(csr_array(short) if sparse else short, y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    np.testing.assert_allclose(model.solution_.coef, expected.coef_, rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_agrees_with_statsmodels(solver):
    X, y = sample(400, 6, seed=6)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12, maxiter=100)
    model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    found = model.summary()
    np.testing.assert_allclose(found.coef, theirs.params, rtol=1e-8)
    np.testing.assert_allclose(found.se, theirs.bse, rtol=1e-8)
    np.testing.assert_allclose(found.p, theirs.pvalues, rtol=1e-6)
    np.testing.assert_allclose(found.covariance, theirs.cov_params(), rtol=1e-6)
    np.testing.assert_allclose(found.stats["loglik"], theirs.llf, rtol=1e-12)
    # Without columns the likelihood is known; statsmodels looks for it, and finds ten digits.
    null = len(y) * -entropy([np.mean(y), 1 - np.mean(y)])
    np.testing.assert_allclose(found.stats["mcfadden_r2"], 1 - theirs.llf / null, rtol=1e-11)
    np.testing.assert_allclose(found.stats["lr_p"], theirs.llr_pvalue, rtol=1e-6)
    np.testing.assert_allclose(found.stats["bic"], theirs.bic, rtol=1e-12)
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), theirs.conf_int(), rtol=1e-6)


def test_agrees_with_statsmodels_on_three_classes():
    X, y = sample(400, 4, classes=3, seed=7)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12, maxiter=100)
    found = LogisticRegression(C=np.inf).fit(X, y).summary()
    np.testing.assert_allclose(found.coef, theirs.params.T, rtol=1e-7)
    np.testing.assert_allclose(found.se, theirs.bse.T, rtol=1e-7)
    np.testing.assert_allclose(found.stats["loglik"], theirs.llf, rtol=1e-12)
    np.testing.assert_allclose(found.stats["lr"], theirs.llr, rtol=1e-9)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("classes", [2, 3])
def test_solvers_agree(classes, C):
    X, y = sample(500, 3, classes=classes, seed=8, strength=0.5)
    expected = LogisticRegression(C=C, solver="newton").fit(X, y)
    for solver in ("lbfgs", "gradient", "auto"):
        found = LogisticRegression(C=C, solver=solver, max_iter=20_000).fit(X, y)
        assert found.solution_.converged, solver
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=2e-7)


def test_solution_says_what_was_done():
    X, y = sample()
    said = {solver: LogisticRegression(solver=solver).fit(X, y).solution_ for solver in (*SOLVERS, "gradient")}
    assert said["auto"].method == said["newton"].method == "Newton"
    assert said["lbfgs"].method.startswith("L-BFGS")
    assert "gradient" in said["gradient"].method
    for solution in said.values():
        assert solution.converged
        assert solution.gradient_norm <= 1e-8
        assert "Converged by" in str(solution)
        assert solution.passes >= 1


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_too_few_steps(solver, C):
    X, y = sample(seed=9)
    model = LogisticRegression(C=C, solver=solver, max_iter=1)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=1 .*gradient entry is .*above tol.*Raise max_iter"
    ) as record:
        model.fit(X, y)
    assert [warning.filename for warning in record] == [__file__]
    assert not model.solution_.converged
    assert model.n_iter_ == 1
    assert model.predict(X).shape == y.shape


def test_gradient_steps_beyond_the_digits_of_the_loss():
    """A gradient of 1e-8 changes the loss by 1e-16, which no float shows: the gradient itself must lead on."""
    X, y = sample(300, 4, seed=12)
    model = LogisticRegression(C=np.inf, solver="gradient", tol=1e-12).fit(X, y)
    assert model.solution_.converged
    np.testing.assert_allclose(model.coef_, LogisticRegression(C=np.inf).fit(X, y).coef_, rtol=1e-9)
    with pytest.warns(ConvergenceWarning, match="no step lowers the loss any more.*raise tol"):
        LogisticRegression(C=np.inf, solver="gradient", tol=1e-300, max_iter=5000).fit(X, y)


@pytest.mark.parametrize("solver", [*SOLVERS, "gradient"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_warm_start_starts_there(solver, classes):
    X, y = sample(2000, 6, classes=classes, seed=10)
    cold = LogisticRegression(solver=solver).fit(X, y)
    warm = LogisticRegression(solver=solver, warm_start=True).fit(X, y)
    steps = warm.n_iter_
    warm.fit(X, y)
    assert warm.n_iter_ < steps
    assert warm.n_iter_ <= 1
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-7, atol=1e-9)
    warm.set_params(C=1.05).fit(X, y)
    again = LogisticRegression(C=1.05, solver=solver).fit(X, y)
    assert warm.n_iter_ < again.n_iter_
    np.testing.assert_allclose(warm.predict_proba(X), again.predict_proba(X), atol=1e-7)


def test_a_warm_start_of_another_shape_starts_anew():
    X, y = sample(classes=3)
    model = LogisticRegression(warm_start=True).fit(X[:, :2], y > 0)
    model.fit(X, y)
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("make", [np.array, csr_array])
@pytest.mark.parametrize("parameters", [{}, {"C": np.inf}, {"firth": True}, {"solver": "lbfgs"}], ids=str)
def test_inputs_are_not_changed(parameters, make):
    X, y = sample()
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    rows = make(X)
    LogisticRegression(**parameters).fit(rows, y, weight)
    np.testing.assert_array_equal(rows if make is np.array else rows.toarray(), X)
    np.testing.assert_array_equal(y, sample()[1])
    np.testing.assert_array_equal(weight, np.random.default_rng(0).uniform(0.5, 2, len(y)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_same_bits_for_any_number_of_threads(solver, classes):
    X, y = sample(30_000, 12, classes=classes, seed=11)

    def numbers():
        model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
        return [model.coef_, model.intercept_, model.summary().se, np.array(model.solution_.objective)]

    with threadpool_limits(1):
        one = numbers()
    with threadpool_limits(2):
        two = numbers()
    for a, b in zip(one, two, strict=True):
        assert a.tobytes() == b.tobytes()


# Those of the registry are checked with the laws of estimators.
@pytest.mark.parametrize("estimator", [LogisticRegression(firth=True), LogisticRegression(solver="newton")], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator):
    found = check_estimator(estimator, on_skip=None, on_fail=None)
    assert not [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"]
    assert not [one["check_name"] for one in found if one["status"] == "xfail"]


X2, y2 = sample(100, 3)
BAD = [
    ({}, np.zeros(100), InvalidTarget, r"one class \(0.0 in all 100 rows\).*2 classes.*Check the target"),
    ({}, X2[:, 0], InvalidTarget, "100 different numbers.*looks like a regression target.*Use a regressor"),
    ({}, np.arange(100) * 10.0, InvalidTarget, "100 different numbers.*looks like a regression target.*regressor"),
    ({}, np.arange(100), InvalidTarget, "looks like a regression target"),
    ({}, np.where(y2 > 0, 1.0, np.nan), InvalidTarget, "y contains NaN.*Drop those rows"),
    ({}, np.array(["a", None] * 50, dtype=object), InvalidTarget, "kinds NoneType, str.*Fill or convert"),
    ({"firth": True, "solver": "lbfgs"}, y2, InvalidParameter, "firth=True with solver='lbfgs'.*Set solver='auto'"),
    ({"firth": True}, np.arange(100) % 3, InvalidParameter, "firth=True with 3 classes.*two classes at a time"),
    ({"class_weight": "even"}, y2, InvalidParameter, "class_weight='even'.*Set one of them"),
    ({"C": 0}, y2, InvalidParameter, "C=0; C must be a number, more than 0. Set C"),
    ({"C": -1.0}, y2, InvalidParameter, "C=-1.0"),
    ({"C": "1"}, y2, InvalidParameter, "C='1'"),
    ({"C": np.nan}, y2, InvalidParameter, "C=nan"),
    ({"C": "1", "firth": True}, y2, InvalidParameter, "C='1'"),
    ({"solver": "quick"}, y2, InvalidParameter, "solver='quick'.*'newton'"),
    ({"tol": -1.0}, y2, InvalidParameter, "tol=-1.0"),
    ({"max_iter": -1}, y2, InvalidParameter, "max_iter=-1"),
    ({"penalty": "l1"}, y2, NotAvailable, "penalty='l1'"),
    ({"l1_ratio": 0.5}, y2, NotAvailable, "l1_ratio=0.5"),
    ({"n_jobs": "all"}, y2, InvalidParameter, "n_jobs='all'; n_jobs has no effect here"),
    ({"dual": 1}, y2, InvalidParameter, "dual=1; dual has no effect here"),
    ({"fit_intercept": "yes"}, y2, InvalidParameter, "fit_intercept='yes'"),
    ({"firth": 1}, y2, InvalidParameter, "firth=1"),
    ({"warm_start": None}, y2, InvalidParameter, "warm_start=None"),
]


@pytest.mark.parametrize(("parameters", "target", "error", "words"), BAD)
def test_bad_input_is_refused_and_changes_nothing(parameters, target, error, words):
    model = LogisticRegression().fit(X2, y2)
    before = {key: np.copy(value) if isinstance(value, np.ndarray) else value for key, value in vars(model).items()}
    model.set_params(**parameters)
    with pytest.raises(error, match=words):
        model.fit(X2[:, :2], target)
    model.set_params(**LogisticRegression().get_params())
    assert vars(model).keys() == before.keys()
    for key, value in before.items():
        np.testing.assert_array_equal(getattr(model, key), value) if isinstance(value, np.ndarray) else None
    assert model.predict(X2).shape == (100,)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_without_weight_is_a_class_without_rows(classes):
    rows, labels = sample(100, 3, classes)
    by_sample = LogisticRegression().fit(rows, labels, (labels != 0).astype(float))
    by_class = LogisticRegression(class_weight={0: 0.0}).fit(rows, labels)
    theirs = sklearn.linear_model.LogisticRegression(class_weight={0: 0.0}, tol=1e-9, max_iter=10_000)
    theirs.fit(rows, labels)
    for model in (by_sample, by_class):
        assert model.classes_.tolist() == np.unique(labels).tolist()
        assert model.predict_proba(rows)[:, 0].max() < 1e-6
        np.testing.assert_allclose(model.predict_proba(rows), theirs.predict_proba(rows), atol=1e-4)


def test_a_warm_start_from_no_numbers():
    model = LogisticRegression(warm_start=True).fit(X2, y2)
    model.coef_[:] = np.nan
    with pytest.raises(InvalidData, match=r"warm_start=True, but coef_ or intercept_ holds NaN.*fit a clone"):
        model.fit(X2, y2)


def test_no_steps_leave_the_shares_of_the_classes():
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        model = LogisticRegression(max_iter=0).fit(X2, y2)
    assert not model.coef_.any()
    assert model.n_iter_.tolist() == [0]
    np.testing.assert_allclose(model.predict_proba(X2)[:, 1], y2.mean())


def test_no_penalty_by_name():
    plain = LogisticRegression(C=np.inf).fit(X2, y2)
    with pytest.warns(UserWarning, match="will ignore the C"):
        named = LogisticRegression(None, C=3.0, solver="newton-cholesky").fit(X2, y2)
    np.testing.assert_allclose(named.coef_, plain.coef_, rtol=1e-6)


def test_sparse_coefficients():
    model = LogisticRegression().fit(X2, y2)
    expected, coef = model.decision_function(X2), model.coef_
    assert issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.decision_function(X2), expected)
    np.testing.assert_array_equal(model.densify().coef_, coef)


def test_missing_numbers_are_named():
    rows = pandas.DataFrame(X2, columns=["age", "income", "debt"])
    rows.loc[7, "income"] = np.nan
    with pytest.raises(InvalidData, match=r"NaN .first in row 7, column 'income'"):
        LogisticRegression().fit(rows, y2)


@pytest.mark.parametrize("parameters", [{"C": 1.0}, {"C": np.inf}, {"firth": True}], ids=str)
def test_constant_columns_get_no_coefficient(parameters):
    expected = LogisticRegression(**parameters).fit(X2, y2)
    model = LogisticRegression(**parameters).fit(np.column_stack([X2, np.full(100, 7.0), np.zeros(100)]), y2)
    np.testing.assert_allclose(model.coef_[:, :3], expected.coef_, rtol=1e-7)
    np.testing.assert_allclose(model.coef_[:, 3:], 0.0, atol=1e-12)
    only = LogisticRegression(**parameters).fit(np.ones((100, 2)), y2)
    if not parameters.get("firth"):
        np.testing.assert_allclose(only.predict_proba(np.ones((1, 2)))[0, 1], y2.mean(), rtol=1e-10)


def test_rows_without_weight_do_not_count_whatever_they_hold():
    X, y = X2.copy(), y2.copy()
    X[:5], weight = 1e300, np.ones(100)
    weight[:5] = 0.0
    expected = LogisticRegression(C=np.inf).fit(X[5:], y[5:])
    for rows in (X, csr_array(X)):
        np.testing.assert_allclose(LogisticRegression(C=np.inf).fit(rows, y, weight).coef_, expected.coef_, rtol=1e-9)


def test_probabilities_too_small_to_be_written():
    model = LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    far = np.array([[1e4], [-1e4]])
    np.testing.assert_allclose(model.predict_log_proba(far)[0, 0], -model.decision_function(far)[0], rtol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(far).sum(axis=1), 1.0)
    X, y = sample(classes=3)
    softmax = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(np.exp(softmax.predict_log_proba(X)), softmax.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 3, 77_777, -1])
@pytest.mark.parametrize("convert", [np.asarray, csr_array])
def test_a_bad_number_in_a_large_table_is_found(bad, row, convert):
    """Large tables are not searched beforehand: the sums of the fit must tell, wherever the number lies."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120_000, 10))
    y = (X[:, 0] + rng.standard_normal(len(X)) > 0).astype(int)
    X[row, 4] = bad
    with pytest.raises(InvalidData, match=f"contains {'NaN' if np.isnan(bad) else 'infinity'} .*column 4"):
        LogisticRegression().fit(convert(X), y)


def test_many_classes_of_many_columns_reach_the_optimum_without_their_hessian():
    """Where the whole Hessian is too dear, blocks of it must lead to the same answer."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 250)) @ (np.eye(250) + 0.05 * rng.standard_normal((250, 250)))
    scores = X @ rng.normal(0, 0.15, (250, 9))
    y = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
    model = LogisticRegression(tol=1e-9).fit(X, y)
    assert "for each class" in model.solution_.method
    # The minimum is where the gradient is 0: in plain sums here, over columns of unit spread as tol has it.
    miss = softmax(X @ model.coef_.T + model.intercept_, axis=1) - np.eye(9)[y]
    gradient = (X.T @ miss + model.coef_.T) / len(y) / X.std(axis=0)[:, None]
    assert np.abs(gradient).max() < 1.01e-9
    assert np.abs(miss.mean(axis=0)).max() < 1.01e-9


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("size", [1e-9, 1e-98])
def test_a_column_of_tiny_numbers_leaves_many_classes_to_the_others(solver, size):
    """Its penalty, in units of its spread, is larger than all curvature of the loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1.0, 1.0, 1.0, size]
    y = np.argmax(X[:, :3] + rng.gumbel(size=(300, 3)), axis=1)
    found = LogisticRegression(solver=solver).fit(X, y)
    without = LogisticRegression(solver=solver).fit(X[:, :3], y)
    assert found.solution_.converged
    np.testing.assert_allclose(found.coef_[:, :3], without.coef_, rtol=1e-6)
    assert found.solution_.objective == pytest.approx(without.solution_.objective, rel=1e-12)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_one_number_of_another_size_under_a_large_weight(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X[6, 1] = 1e99
    weight = np.where(np.arange(60) % 3, 1.0, 1e12)
    model = LogisticRegression(solver="newton").fit(make(X), y, weight)
    assert model.solution_.converged
    assert np.isfinite(model.predict_proba(make(X))).all()


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_constant_columns_of_any_size_get_no_coefficient_for_many_classes(C, solver, make):
    """Rounding of a mean must not be taken for a column: what it leaves is constant, as the intercept is."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 3
    expected = LogisticRegression(C=C, solver=solver).fit(X, y)
    padded = np.column_stack([X, np.full(90, 0.1), np.full(90, 1e16 / 3), np.full(90, -1e8 / 3), np.zeros(90)])
    model = LogisticRegression(C=C, solver=solver).fit(make(padded), y)
    np.testing.assert_array_equal(model.coef_[:, 2:], 0.0)
    np.testing.assert_allclose(model.coef_[:, :2], expected.coef_, rtol=1e-7)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("units", [1.0, np.array([1.0, 1e-6, 1e4, 1.0, 1e8])])
def test_dependent_columns_without_a_penalty_take_the_minimum_norm(solver, classes, units):
    """The scores of a fit to independent columns, and of all coefficients with these scores the shortest."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(200, 3))
    mix = np.array([[1.0, 0, 0, 1, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 2]])
    X = base @ mix * units + 3.0
    y = np.digitize(base[:, 0] + rng.normal(size=200), [0.0] if classes == 2 else [-0.5, 0.5])
    model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    free = LogisticRegression(C=np.inf).fit(base, y)
    np.testing.assert_allclose(model.predict_proba(X), free.predict_proba(base), atol=1e-8)
    rows = mix * units  # what coefficients of minimum norm are made of
    part = np.linalg.qr((rows / np.linalg.norm(rows, axis=1)[:, None]).T)[0]
    np.testing.assert_allclose(model.coef_ @ part @ part.T, model.coef_, atol=1e-9 * np.abs(model.coef_).max())
    assert model.solution_.rank == 3
    assert "linearly dependent (rank 3 of 5): the minimum-norm coefficients were taken" in model.solution_.status
    assert "dependent" not in free.solution_.status
    assert "dependent" not in LogisticRegression().fit(X, y).solution_.status


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_that_hold_nothing_change_nothing(classes):
    """Hashed words: most columns are empty, and get the coefficient 0."""
    X, y = sample(n=150, d=4, classes=classes)
    where = np.array([3, 40, 700, 801])
    wide = np.zeros((150, 900))
    wide[:, where] = X
    wide = csr_array(wide)
    reference = LogisticRegression(tol=1e-10).fit(X, y)
    start = LogisticRegression(tol=1e-10, warm_start=True, max_iter=500).fit(wide, y)
    for model in (start, start.fit(wide, y)):
        np.testing.assert_allclose(model.coef_[:, where], reference.coef_, rtol=1e-6, atol=1e-8)
        assert np.count_nonzero(model.coef_) == np.count_nonzero(reference.coef_)
        np.testing.assert_allclose(model.predict_proba(wide), reference.predict_proba(X), atol=1e-7)
    searched = LogisticRegressionCV(Cs=[0.1, 1.0], cv=3).fit(wide, y)
    dense = LogisticRegressionCV(Cs=[0.1, 1.0], cv=3).fit(X, y)
    np.testing.assert_allclose(searched.coef_[:, where], dense.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("n", "d", "density"), [(150, 400, 0.05), (400, 250, 1.0)])
def test_nearly_separated_classes_are_solved_by_products_with_hessians(n, d, density):
    rng = np.random.default_rng(n)
    X = random_array((n, d), density=density, rng=rng, format="csr")
    y = rng.integers(0, 4, n)
    model = LogisticRegression(C=50.0).fit(X if density < 1 else X.toarray(), y)
    theirs = sklearn.linear_model.LogisticRegression(C=50.0, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(X, y)
    assert "conjugate gradients" in model.solution_.method
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize(
    ("n", "d", "classes", "rare"), [(40_000, 8, 2, 12.0), (5_000, 200, 2, 0.0), (5_000, 30, 7, 0.0)]
)
def test_nine_digits_of_coefficients(n, d, classes, rare):
    # Where a gradient of 1e-8 leaves more: a rare class curves little, and L-BFGS finds some directions late.
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=(d, classes)) / np.sqrt(d / 8)
    score[:, 0] += rare
    y = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    exact = sklearn.linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-13).fit(X, y)
    np.testing.assert_allclose(LogisticRegression().fit(X, y).coef_, exact.coef_, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("n", "d", "k"), [(80, 400, 3), (60, 120, 2)])
def test_a_small_objective_is_as_close_to_its_minimum_as_a_large_one(n, d, k):
    """Nearly separated classes: the gradient of C·Σ loss + ½‖w‖² bounds what is left by half of its square."""
    rng = np.random.default_rng(2)
    X, C = rng.normal(size=(n, d)), 1e6
    y = (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)
    model = LogisticRegression(C=C, fit_intercept=False).fit(X, y)
    coef = model.coef_ if k > 2 else np.concatenate([-model.coef_, model.coef_]) / 2
    score = X @ coef.T
    apart = score - score[np.arange(n), y][:, None]
    apart[np.arange(n), y] = -np.inf
    others = np.exp(apart)
    slope = others / (1 + others.sum(axis=1, keepdims=True))
    slope[np.arange(n), y] = -slope.sum(axis=1)
    share = 1.0 if k > 2 else 0.5  # two classes halve the coefficients, and with them the penalty
    objective = C * np.log1p(others.sum(axis=1)).sum() + 0.5 / share * np.sum(coef**2)
    gradient = C * slope.T @ X + coef / share
    assert 0.5 * share * np.sum(gradient**2) < 1e-5 * objective


@pytest.mark.parametrize(("value", "rows"), [(np.nan, 1), (1e120, 1), (1e-180, 30_000)])
def test_what_is_out_of_range_is_named_in_large_tables(value, rows):
    """Which nobody looks through first: sums over rows, and passes in float32, tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 40))
    X[rng.choice(30_000, rows, replace=False), 25] = value
    with pytest.raises(InvalidData, match="25"):
        LogisticRegression().fit(X, rng.integers(2, size=30_000))


@pytest.mark.parametrize("heavy", [1e45, 1e-45])
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_beyond_float32_change_nothing(heavy, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2700, 100))
    y = np.digitize(X[:, 0] + X[:, 1] + 2 * rng.normal(size=len(X)), [-1.0, 1.0][: classes - 1])
    weight = rng.uniform(0.5, 1.5, len(X))
    plain = LogisticRegression(C=1.0).fit(X, y, weight)
    with np.errstate(all="raise", under="ignore"):
        scaled = LogisticRegression(C=1.0 / heavy).fit(X, y, weight * heavy)
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("wrong", [np.nan, -np.inf, 1e120, 1e-120])
def test_numbers_out_of_range_show_in_the_sums_of_a_fit(monkeypatch, wrong, sparse):
    """No pass looks for them alone; the one that names the column comes when they were met."""
    rng = np.random.default_rng(0)
    X, asked = rng.normal(size=(80, 3)), []
    y = X[:, 0] + rng.logistic(size=80) > 0
    refuse = logistic.refuse_out_of_range
    monkeypatch.setattr(logistic, "refuse_out_of_range", lambda design: asked.append(design) or refuse(design))
    LogisticRegression().fit(csr_array(X) if sparse else X, y)
    assert not asked
    X[:, 1] = 0.0
    X[7, 1] = wrong
    with pytest.raises(InvalidData, match=r"column 1\)|Column 1 "):
        LogisticRegression().fit(csr_array(X) if sparse else X, y)
    assert len(asked) == 1
