"""Linear discriminant analysis against scikit-learn, statsmodels and its own mathematics."""

import numpy as np
import pytest
import sklearn.discriminant_analysis
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from statsmodels.multivariate.cancorr import CanCorr
from statsmodels.multivariate.manova import MANOVA

from hiperplano import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from hiperplano.data.validate import design
from hiperplano.errors import (
    AccuracyWarning,
    InvalidData,
    InvalidParameter,
    InvalidTarget,
    NotAvailable,
    SingularWarning,
)
from hiperplano.solvers.discriminant.class_moments import class_moments


def classes(n=200, d=5, k=3, seed=0, apart=1.0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    mixing = rng.normal(size=(d, d))
    X = rng.normal(size=(n, d)) @ mixing + apart * rng.normal(size=(k, d))[y] + offset
    return X, y


def scatters(X, y):
    """T, F and W as their definitions read."""
    mean = X.mean(axis=0)
    total = (X - mean).T @ (X - mean)
    between = sum(np.sum(y == k) * np.outer(m := X[y == k].mean(axis=0) - mean, m) for k in np.unique(y))
    within = sum((R := X[y == k] - X[y == k].mean(axis=0)).T @ R for k in np.unique(y))
    return total, between, within


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("priors", [None, "given"])
def test_equals_scikit_learn(k, priors):
    X, y = classes(k=k)
    priors = None if priors is None else np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()
    ours = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    for name in ("coef_", "intercept_", "means_", "priors_", "xbar_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-11, err_msg=name)
    signs = np.sign((ours.scalings_ * theirs.scalings_).sum(axis=0))
    np.testing.assert_allclose(ours.scalings_ * signs, theirs.scalings_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.transform(X) * signs, theirs.transform(X), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 0.3, 1.0])
@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("shape", [(200, 5), (40, 60)], ids=["tall", "wide"])
def test_shrinkage_equals_scikit_learn(shrinkage, priors, shape):
    if shrinkage == 0.0 and shape[1] > shape[0]:
        shrinkage = 0.01
    X, y = classes(*shape, offset=3.0)
    ours = LinearDiscriminantAnalysis(shrinkage=shrinkage, priors=priors).fit(X, y)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage=shrinkage, priors=priors
    ).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8, atol=1e-11)
    # Only differences between classes count: theirs are measured from 0, ours from the centre.
    np.testing.assert_allclose(np.diff(ours.coef_, axis=0), np.diff(theirs.coef_, axis=0), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-14)


def test_ledoit_wolf_leaves_constant_columns_and_single_columns_as_scikit_learn_does():
    X, y = classes(60, 4)
    X[y == 1, 2] = 5.0
    for columns in ([0, 1, 2, 3], [1]):
        ours = LinearDiscriminantAnalysis(shrinkage="auto").fit(X[:, columns], y)
        theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        np.testing.assert_allclose(ours.covariance_, theirs.fit(X[:, columns], y).covariance_, rtol=1e-9, atol=1e-12)


def test_total_is_between_plus_within():
    X, y = classes(apart=20.0)
    axes = LinearDiscriminantAnalysis().fit(X, y).axes()
    total, between, within = scatters(X, y)
    np.testing.assert_allclose(axes.total, total, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(axes.between, between, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(axes.within, within, rtol=1e-11, atol=1e-9)


def test_axes_solve_the_eigenvalue_problem():
    X, y = classes(k=4)
    _, between, within = scatters(X, y)
    axes = LinearDiscriminantAnalysis().fit(X, y).axes()
    np.testing.assert_allclose(
        between @ axes.coefficients, within @ axes.coefficients * axes.eigenvalues, rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(axes.shares.sum(), 1.0)
    scores = (X - X.mean(axis=0)) @ axes.coefficients
    inside = scores - np.stack([scores[y == k].mean(axis=0) for k in range(4)])[y]
    np.testing.assert_allclose(inside.T @ inside / len(y), np.eye(3), atol=1e-10)
    residual = X - np.stack([X[y == k].mean(axis=0) for k in range(4)])[y]
    correlations = np.corrcoef(residual.T, inside.T)[:5, 5:]
    np.testing.assert_allclose(axes.structure, correlations, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(axes.standardised, axes.coefficients * residual.std(axis=0)[:, None], rtol=1e-10)
    np.testing.assert_allclose(axes.centroids, np.stack([scores[y == k].mean(axis=0) for k in range(4)]), atol=1e-10)
    assert (axes.centroids[-1] > 0).all()


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("unbiased", [False, True])
def test_tests_of_axes_equal_statsmodels(k, unbiased):
    X, y = classes(90, 4, k, apart=0.4)
    axes = LinearDiscriminantAnalysis(unbiased=unbiased).fit(X, y).axes()
    coded = np.eye(k)[y][:, 1:]
    design_matrix = np.column_stack([np.ones(len(y)), coded])
    manova = MANOVA(X, design_matrix).mv_test([("classes", np.eye(k)[1:])]).results["classes"]["stat"]
    wilks = manova.loc["Wilks' lambda"].astype(float)
    np.testing.assert_allclose(axes.wilks[0], wilks["Value"], rtol=1e-10)
    np.testing.assert_allclose(axes.f[0], wilks["F Value"], rtol=1e-9)
    np.testing.assert_allclose(axes.f_df2[0], wilks["Den DF"], rtol=1e-10)
    np.testing.assert_allclose(axes.f_p[0], wilks["Pr > F"], rtol=1e-8)
    canonical = CanCorr(X, coded)
    np.testing.assert_allclose(axes.correlations, canonical.cancorr[: len(axes.correlations)], rtol=1e-10)
    stepwise = canonical.corr_test().stats.astype(float)
    np.testing.assert_allclose(axes.wilks, stepwise["Wilks' lambda"][: len(axes.wilks)], rtol=1e-10)
    if k - 1 == X.shape[1]:  # otherwise statsmodels 0.15 takes the degrees of freedom of the wrong set of columns
        np.testing.assert_allclose(axes.f_p, stepwise["Pr > F"], rtol=1e-7)


def test_bartlett_statistic_of_iris():
    # −(n − 1 − (p + g)/2)·ln Λ with Λ = 0.023439 of iris, a value printed in many textbooks (χ² = 546.1, df = 8).
    axes = LinearDiscriminantAnalysis().fit(*load_iris(return_X_y=True)).axes()
    np.testing.assert_allclose(axes.wilks[0], 0.02343863, rtol=1e-6)
    np.testing.assert_allclose(axes.chi2, [546.1153, 36.5297], rtol=1e-6)
    np.testing.assert_array_equal(axes.chi2_df, [8, 3])
    assert axes.chi2_p[1] < 1e-6


def test_axes_without_tests_say_why():
    X, y = classes()
    shrunk = LinearDiscriminantAnalysis(shrinkage=0.2).fit(X, y).axes()
    assert np.isnan(shrunk.f_p).all()
    assert "shrunk" in shrunk.notes[0]
    prior = LinearDiscriminantAnalysis(priors=[0.8, 0.1, 0.1]).fit(X, y).axes()
    plain = LinearDiscriminantAnalysis().fit(X, y).axes()
    np.testing.assert_allclose(prior.f_p, plain.f_p, rtol=1e-10)
    assert not np.allclose(prior.eigenvalues, plain.eigenvalues)
    assert "priors" in prior.notes[0]


def test_axes_print_and_show():
    X, y = classes(k=3)
    axes = LinearDiscriminantAnalysis().fit(X, y).axes()
    text, html = str(axes), axes._repr_html_()
    for word in ("axis 2", "Wilks", "Structure", "Centroids", "x4"):
        assert word in text
        assert word in html


def test_fishers_function_is_the_decision_of_the_model():
    X, y = classes(k=2)
    for priors in (None, [0.9, 0.1]):
        model = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
        fisher = model.fisher()
        np.testing.assert_array_equal(fisher.decide(X @ fisher.u), model.predict(X))
        np.testing.assert_allclose(fisher.centroids, model.means_ @ fisher.u)
        assert fisher.centroids[1] > fisher.centroids[0]
    equal = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y).fisher()
    np.testing.assert_allclose(equal.cutoff, equal.centroids.mean())


def test_fishers_cutoff_minimises_expected_cost():
    X, y = classes(k=2)
    costs = np.array([[0.0, 7.0], [2.0, -1.0]])
    model = LinearDiscriminantAnalysis().fit(X, y)
    fisher = model.fisher(costs=costs)
    expected = model.predict_proba(X) @ costs.T
    np.testing.assert_array_equal(fisher.decide(X @ fisher.u), expected.argmin(axis=1))


def test_fishers_function_is_refused_where_it_has_no_meaning():
    X, y = classes(k=3)
    with pytest.raises(NotAvailable, match="two groups"):
        LinearDiscriminantAnalysis().fit(X, y).fisher()
    X, y = classes(k=2)
    with pytest.raises(InvalidParameter, match="mistakes cost more"):
        LinearDiscriminantAnalysis().fit(X, y).fisher(costs=[[1, 0], [0, 1]])
    same = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = LinearDiscriminantAnalysis().fit(same, [0, 0, 1, 1])
    assert model.transform(same).shape == (4, 0)
    np.testing.assert_allclose(model.predict_proba(same), 0.5)
    with pytest.raises(NotAvailable, match="same mean"):
        model.fisher()


@pytest.mark.parametrize("shrinkage", [None, "auto", 0.2])
@pytest.mark.parametrize("unbiased", [False, True])
def test_weights_equal_repetition(shrinkage, unbiased):
    X, y = classes(60, 4)
    times = np.random.default_rng(1).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), times)
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage, unbiased=unbiased)
    weighted = model.fit(X, y, sample_weight=times)
    coef, proba, tests = weighted.coef_, weighted.predict_proba(X), weighted.axes().f_p
    plain = model.fit(X[repeated], y[repeated])
    np.testing.assert_allclose(plain.coef_, coef, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(plain.predict_proba(X), proba, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(plain.axes().f_p, tests, rtol=1e-8)


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("kept", [[0, 2], [2]])
def test_a_class_without_weight_is_a_class_without_rows(kind, kept):
    X, y = classes()
    model = kind().fit(X, y, sample_weight=np.isin(y, kept).astype(float))
    assert model.classes_.tolist() == [0, 1, 2]
    chances = model.predict_proba(X)
    assert not np.delete(chances, kept, axis=1).any()
    assert np.isin(model.predict(X), kept).all()
    if len(kept) == 2:
        part = kind().fit(X[y != 1], y[y != 1])
        np.testing.assert_allclose(chances[:, kept], part.predict_proba(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.means_[kept], part.means_, rtol=1e-13, atol=1e-15)


def test_weights_equal_repetition_with_few_rows():
    X, y = classes(12, 20)
    times = np.random.default_rng(1).integers(1, 3, 12)
    with pytest.warns(SingularWarning):
        weighted = LinearDiscriminantAnalysis().fit(X, y, sample_weight=times)
    with pytest.warns(SingularWarning):
        plain = LinearDiscriminantAnalysis().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(plain.coef_, weighted.coef_, rtol=1e-8, atol=1e-10)


def test_sparse_rows_equal_dense_rows():
    X, y = classes(300, 6)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    for shrinkage in (None, "auto"):
        dense, sparse = (LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(rows, y) for rows in (X, csr_array(X)))
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-11)
        np.testing.assert_allclose(sparse.transform(csr_array(X)), dense.transform(X), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("apart", [1.0, 1e7])
def test_far_classes_and_offsets_keep_their_digits(offset, apart):
    rng = np.random.default_rng(0)
    noise = rng.integers(-8, 9, (500, 3)).astype(float)  # sums of such numbers are exact
    y = rng.integers(0, 3, 500)
    centres = np.round(apart * rng.normal(size=(3, 3)))
    X = noise + centres[y] + offset
    expected = scatters(noise, y)[2] / 500
    found = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(found.covariance_, expected, rtol=1e-10, atol=1e-10)
    sums = class_moments(design(X, y, None).with_vectors(code=y), 3, separate=True)
    np.testing.assert_allclose(sums.scatter.sum(axis=0) / 500, expected, rtol=1e-12, atol=1e-12)


def test_columns_of_any_unit():
    X, y = classes()
    units = 10.0 ** np.array([-95, -3, 0, 7, 95])
    plain, scaled = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X * units, y)
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(scaled.predict_proba(X * units), plain.predict_proba(X), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("size", [1e-95, 1e95])
def test_classes_far_apart_in_units_of_any_size(size):
    X, y = classes()
    far = X + np.array([0.0, 1e3, -1e3])[y][:, None]
    plain, scaled = LinearDiscriminantAnalysis().fit(far, y), LinearDiscriminantAnalysis().fit(size * far, y)
    np.testing.assert_allclose(scaled.coef_ * size, plain.coef_, rtol=1e-7)
    np.testing.assert_array_equal(scaled.predict(size * far), y)


def test_nearly_dependent_columns_are_factored_from_the_rows():
    X, y = classes(400, 4)
    rng = np.random.default_rng(1)
    near = X[:, 0] + 1e-6 * rng.normal(size=400)
    model = LinearDiscriminantAnalysis().fit(np.column_stack([X, near]), y)
    assert "orthogonal" in model.solution_.method
    assert model.solution_.rank == 5
    # The same model in coordinates without the dependence.
    other = LinearDiscriminantAnalysis().fit(np.column_stack([X, (near - X[:, 0]) * 1e6]), y)
    np.testing.assert_allclose(model.coef_[:, 4] * 1e-6, other.coef_[:, 4], rtol=1e-6)


def test_almost_no_digits_are_admitted():
    X, y = classes(400, 2)
    # Over 30 seeds 2.1 to 2.9 digits are left, of the 3 below which it is said; at 3e-14 columns count as dependent.
    near = X[:, 0] + 1e-13 * np.random.default_rng(1).normal(size=400)
    with pytest.warns(AccuracyWarning, match="shrinkage"):
        LinearDiscriminantAnalysis().fit(np.column_stack([X, near]), y)


def with_a_column_that_adds_nothing(extra):
    X, y = classes(150, 4)
    both = np.column_stack([X, extra(X)])
    plain, model = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(both, y)
    np.testing.assert_allclose(model.predict_proba(both), plain.predict_proba(X), rtol=1e-9, atol=1e-14)
    assert model.solution_.rank == 4
    assert model.solution_.ignored == 0
    return model, both, y


def test_a_constant_column_changes_no_decision_and_gets_nothing():
    # scikit-learn 1.9 takes its rounding for variance, and gives it a coefficient of 10¹³.
    model, _, _ = with_a_column_that_adds_nothing(lambda X: np.full(len(X), 7.3))
    np.testing.assert_array_equal(model.coef_[:, 4], 0.0)


@pytest.mark.parametrize("kind", ["duplicate", "sum"])
def test_dependent_columns_change_no_decision_and_share_the_coefficients(kind):
    extra = {"duplicate": lambda X: X[:, 0], "sum": lambda X: X[:, 0] + 2 * X[:, 1]}[kind]
    model, both, y = with_a_column_that_adds_nothing(extra)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis().fit(both, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    if kind == "duplicate":
        np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 4], rtol=1e-9)


@pytest.mark.parametrize("weights", [False, True])
def test_all_levels_of_categories_need_no_factorisation_of_the_rows(weights):
    """Levels add up to one, and a total to its parts. Shortest coefficients have no share of these relations."""
    rng = np.random.default_rng(3)
    X, y = classes(2_000, 4)
    X = X * [1.0, 1e3, 1e-4, 1.0] + [0.0, 5e3, 0.0, 20.0]
    y, weight = rng.permutation(y % 3), rng.integers(1, 4, len(y)) if weights else None
    levels = [np.eye(count)[rng.integers(count, size=len(y))] for count in (3, 12)]
    total = X[:, 0] + 2 * X[:, 3]
    free = np.column_stack([X, *[each[:, 1:] for each in levels]])
    model = LinearDiscriminantAnalysis().fit(np.column_stack([X, *levels, total]), y, sample_weight=weight)
    plain = LinearDiscriminantAnalysis().fit(free, y, sample_weight=weight)
    assert model.solution_.method == "sums over classes"
    assert model.solution_.rank == free.shape[1]
    np.testing.assert_allclose(
        model.decision_function(np.column_stack([X, *levels, total])), plain.decision_function(free), atol=1e-9
    )
    spread = np.sqrt(model.covariance_.diagonal())
    relations = np.zeros((3, len(spread)))
    relations[0, 4:7] = relations[1, 7:19] = 1.0
    relations[2, [0, 3, 19]] = 1.0, 2.0, -1.0
    np.testing.assert_allclose(model.coef_ * spread @ (relations * spread).T, 0.0, atol=1e-9)


def test_fewer_rows_than_columns_give_the_pseudo_inverse():
    X, y = classes(30, 80)
    with pytest.warns(SingularWarning, match="shrinkage='auto'"):
        model = LinearDiscriminantAnalysis().fit(X, y)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    assert model.solution_.rank == 27
    assert model.solution_.ignored == 2
    spread = np.sqrt(np.diag(scatters(X, y)[2] / 30))
    unit = scatters(X, y)[2] / 30 / np.outer(spread, spread)
    centred = model.means_ - model.xbar_
    np.testing.assert_allclose(
        model.coef_, centred / spread @ np.linalg.pinv(unit, 1e-10) / spread, rtol=1e-7, atol=1e-11
    )


def test_a_column_that_tells_the_class_is_left_out_with_a_warning():
    X, y = classes(100, 3)
    with pytest.warns(SingularWarning, match=r"rows of the same class are equal but class means differ \(1\)"):
        model = LinearDiscriminantAnalysis().fit(np.column_stack([X, 10.0 * y]), y)
    np.testing.assert_allclose(model.coef_[:, :3], LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.coef_[:, 3], 0.0)
    assert "left out" in str(model.solution_)
    assert "left out" in model.axes().notes[0]


def test_float32_stays_float32():
    X, y = classes()
    model = LinearDiscriminantAnalysis().fit(X.astype(np.float32), y)
    for value in (model.coef_, model.means_, model.scalings_, model.covariance_, model.transform(X.astype(np.float32))):
        assert value.dtype == np.float32
    np.testing.assert_allclose(model.coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-4, atol=1e-5)


def test_transform_names_and_number_of_axes():
    X, y = classes(k=4)
    full = LinearDiscriminantAnalysis().fit(X, y)
    model = LinearDiscriminantAnalysis(n_components=2).set_output(transform="pandas").fit(X, y)
    table = model.transform(X)
    assert list(table.columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    np.testing.assert_allclose(table, full.transform(X)[:, :2], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), full.predict_proba(X))


def test_many_classes():
    X, y = classes(4000, 6, 150, apart=3.0)
    ours = LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8)
    ours = LinearDiscriminantAnalysis().fit(X, y)
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("shrinkage", [None, "auto"])
def test_the_number_of_threads_changes_no_bit(model, shrinkage, monkeypatch):
    X, y = classes(40_000, 12, 4)
    many = model(shrinkage=shrinkage).fit(X, y).solution_
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    one = model(shrinkage=shrinkage).fit(X, y).solution_
    np.testing.assert_array_equal(one.means, many.means)
    for name in ("coef", "intercept", "scalings") if model is LinearDiscriminantAnalysis else ("whitening", "log_det"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_strings_for_classes():
    X, y = classes(k=2)
    names = np.array(["bad", "good"])[y]
    np.testing.assert_array_equal(
        LinearDiscriminantAnalysis().fit(X, names).predict(X),
        np.array(["bad", "good"])[LinearDiscriminantAnalysis().fit(X, y).predict(X)],
    )


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"shrinkage": "some"}, "shrinkage='some'"),
        ({"shrinkage": 1.5}, "at most 1"),
        ({"priors": [0.5, 0.5]}, "must be 3 positive numbers"),
        ({"priors": [0.5, 0.6, -0.1]}, "positive numbers"),
        ({"priors": [1, 1, 1]}, "sum to 1"),
        ({"priors": "many"}, "priors='many'"),
        ({"n_components": 3}, "cannot be larger than"),
        ({"n_components": 0}, "1 or more"),
        ({"unbiased": "yes"}, "True or False"),
    ],
)
def test_wrong_parameters_are_refused(parameters, word):
    X, y = classes()
    with pytest.raises(InvalidParameter, match=word):
        LinearDiscriminantAnalysis(**parameters).fit(X, y)


def test_wrong_data_are_refused_and_leave_the_model_alone():
    X, y = classes()
    model = LinearDiscriminantAnalysis().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(InvalidTarget, match="one class"):
        model.fit(X, np.zeros(len(y)))
    with pytest.raises(InvalidData, match="more rows than classes"):
        model.fit(X[:3], [0, 1, 2])
    with pytest.raises(InvalidData, match="no column varies"):
        model.fit(np.repeat(y, 5).reshape(-1, 5).astype(float), y)
    with pytest.raises(InvalidData, match="no column varies"):
        model.fit(np.zeros((4, 6)), [0, 1, 1, 0])
    with pytest.raises(InvalidData, match="difference"):
        LinearDiscriminantAnalysis(unbiased=True).fit(X, y, sample_weight=np.full(len(y), 0.001))
    with pytest.raises(InvalidData, match="TruncatedSVD"):
        LinearDiscriminantAnalysis(shrinkage="auto").fit(csr_array((30, 20_000)), np.arange(30) % 3)
    np.testing.assert_array_equal(model.coef_, before)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])


@pytest.mark.parametrize(
    ("apart", "method"),
    [(1.0, "products of the rows"), (1e-4, "products of the rows"), (1e-6, "singular value decomposition")],
)
def test_few_rows_give_the_scores_of_a_decomposition(apart, method):
    """Rows that are nearly the same twice make products of rows lose digits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 90)), np.repeat([0, 1], 20)
    X[1] = X[0] + apart * rng.normal(size=90)
    with pytest.warns(SingularWarning):
        model = LinearDiscriminantAnalysis().fit(X, y)
    assert method in model.solution_.method
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), theirs.decision_function(X), rtol=1e-6)
