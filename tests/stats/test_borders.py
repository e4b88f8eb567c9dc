"""Evidence at its borders: rows without spread, leverages of one, targets fitted exactly, signs held, few rows."""

import numpy as np
import pandas as pd
import pytest

from hiperplano import LinearRegression, Ridge, diagnose, inference
from hiperplano.errors import NotAvailable

KINDS = ["classical", "HC0", "HC1", "HC2", "HC3"]


def table(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.arange(1.0, d + 1) + rng.normal(size=n)


@pytest.mark.parametrize("cov", KINDS)
def test_rows_in_which_a_column_does_not_vary_are_refused(cov):
    X, y = table()
    model, here = LinearRegression().fit(X, y), X.copy()
    here[:, 1] = 3.0
    with pytest.raises(NotAvailable, match=r"inference: .*'x1' does not vary in these rows"):
        inference(model, here, y, cov=cov)
    with pytest.raises(NotAvailable, match="diagnose: 'x1' does not vary in these rows"):
        diagnose(model, here, y)
    with pytest.raises(NotAvailable, match="'x1' does not vary in these rows"):
        inference(Ridge().fit(X, y), here, y, cov=cov)


def test_rows_in_which_columns_depend_on_each_other_are_refused():
    X, y = table()
    model, here = LinearRegression().fit(X, y), X.copy()
    here[:, 1] = 2 * here[:, 0] + 7
    with pytest.raises(NotAvailable, match="'x0', 'x1' follow from each other"):
        inference(model, here, y)
    assert np.isfinite(inference(Ridge().fit(X, y), here, y).se).all()


def alone(row=7):
    """A column of which only one row is not 0: that row has a leverage of 1."""
    X, y = table()
    return np.column_stack([X, np.arange(len(y)) == row]), y


@pytest.mark.parametrize("cov", ["HC2", "HC3"])
def test_corrections_by_leverage_refuse_a_leverage_of_one(cov):
    X, y = alone()
    with pytest.raises(NotAvailable, match=rf"{cov} is not defined here: row 7 .* Take cov='HC1'"):
        inference(LinearRegression().fit(X, y), X, y, cov=cov)


def test_a_leverage_of_one_leaves_hc0_to_the_other_rows():
    X, y = alone()
    found = inference(LinearRegression().fit(X, y), X, y, cov="HC0")
    rest = np.arange(len(y)) != 7
    without = inference(LinearRegression().fit(X[rest, :3], y[rest]), X[rest, :3], y[rest], cov="HC0")
    np.testing.assert_allclose(found.se[:4], without.se, rtol=1e-11)


def test_diagnose_says_that_a_row_is_fitted_whatever_its_target():
    X, y = alone()
    found = diagnose(LinearRegression().fit(X, y), X, y)
    assert found.leverage[7] == 1.0
    for values in (found.standardised, found.studentised, found.cooks):
        np.testing.assert_array_equal(np.isnan(values), np.arange(len(y)) == 7)
    (said,) = [finding for finding in found.findings if finding.name == "leverage of 1"]
    assert said.value == 1
    assert "row 7: fitted exactly whatever the target" in said.sentence


def test_a_leverage_near_one_is_not_taken_for_one():
    X, y = table()
    X[7, 0] = 1e5
    found = diagnose(LinearRegression().fit(X, y), X, y)
    assert 1 - 1e-8 < found.leverage[7] < 1
    assert np.isfinite(found.cooks).all()


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 3])
def test_a_constant_target_has_nothing_to_explain(value):
    X, y = table()
    y = np.full_like(y, value)
    model = LinearRegression().fit(X, y)
    for found in [model.summary(), *(inference(model, X, y, cov=cov) for cov in KINDS)]:
        assert "does not vary" in found.notes[0]
        assert np.isnan(found.p).all()
        assert (found.stats["r2"], found.stats["f"], found.stats["f_p"]) == (0.0, 0.0, 1.0)
    text = str(diagnose(model, X, y))
    assert "near 2" not in text
    assert text.count("fitted exactly") == 4


def test_an_exact_fit_is_called_exact_and_a_close_one_is_not():
    X, _ = table()
    y = X @ [1.0, 2.0, 3.0] + 5.0
    model = LinearRegression().fit(X, y)
    found = model.summary()
    assert "fitted exactly" in found.notes[0]
    assert np.isnan([*found.p, *found.low, found.stats["f"]]).all()
    assert np.isnan(diagnose(model, X, y).durbin_watson)
    close = y + 1e-12 * np.random.default_rng(1).normal(size=len(y))
    assert LinearRegression().fit(X, close).summary().notes == ()


def test_only_the_target_that_is_fitted_exactly_is_named():
    X, y = table()
    both = pd.DataFrame({"noisy": y, "exact": X @ [1.0, 1.0, 1.0]})
    found = LinearRegression().fit(X, both).summary()
    assert found.blocks == ["noisy", "exact"]
    assert found.notes[0].startswith("'exact' is fitted exactly")
    assert np.isfinite(found.p[0]).all()
    assert np.isnan(found.p[1]).all()


def test_names_of_targets_go_with_the_table_they_came_in():
    X, y = table()
    model = LinearRegression().fit(X, pd.DataFrame({"a": y, "b": -y}))
    assert model.fit(X, np.column_stack([y, y])).summary().blocks == ["target 0", "target 1"]


@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
def test_signs_held_on_dependent_columns_promise_no_minimum_norm(solver):
    X, y = table(10, 15)
    model = LinearRegression(positive=True, solver=solver).fit(X, y)
    assert model.rank_ == 9
    assert "minimum-norm" not in model.solution_.status
    with pytest.raises(NotAvailable, match="10 rows do not determine 15 coefficients"):
        model.summary()


def test_signs_held_have_no_f():
    X, y = table()
    found = inference(LinearRegression(positive=True).fit(X, y), X, y, cov="HC1")
    assert "f" not in found.stats
    assert "F" not in str(found).replace("LinearRegression", "")


@pytest.mark.parametrize("solver", ["gram", "qr", "cg"])
def test_the_status_counts_columns_that_do_not_vary(solver):
    X, y = table()
    still = np.column_stack([X, np.ones(len(y)), np.full(len(y), 7.0)])
    model = LinearRegression(solver=solver).fit(still, y)
    assert "2 of 5 columns do not vary and got the coefficient 0." in model.solution_.status
    assert "not vary" not in LinearRegression(solver=solver).fit(X, y).solution_.status
    assert "2 of 5 columns do not vary" in LinearRegression().fit(still[:4], y[:4]).solution_.status


def test_a_wide_ridge_has_standard_errors_whatever_its_solver():
    X, y = table(10, 15)
    wide, gram = Ridge().fit(X, y), Ridge(solver="gram").fit(X, y)
    assert wide.solution_.method != gram.solution_.method
    np.testing.assert_allclose(wide.summary().se, gram.summary().se, rtol=1e-12)
    np.testing.assert_allclose(wide.summary().se, inference(wide, X, y).se, rtol=1e-12)
    heavy = Ridge().fit(X, y, sample_weight=np.full(10, 2.0**-160))
    scaled = Ridge(alpha=2.0**160).fit(X, y)
    np.testing.assert_allclose(heavy.summary().se, scaled.summary().se, rtol=1e-12)


def test_after_conjugate_gradients_the_remedy_works():
    X, y = table()
    with pytest.raises(NotAvailable, match="Set solver='gram' and fit again"):
        LinearRegression(solver="cg").fit(X, y).summary()


def test_diagnose_of_dependent_columns_speaks_for_itself():
    X, y = table()
    X = np.column_stack([X, X[:, 0]])
    with pytest.raises(NotAvailable, match=r"^diagnose: 'x0', 'x3' follow from other columns"):
        diagnose(LinearRegression().fit(X, y), X, y)


@pytest.mark.parametrize("cov", KINDS)
@pytest.mark.parametrize("size", [1e-98, 1e98])
def test_standard_errors_of_columns_of_very_different_sizes(cov, size):
    X, y = table()
    scale = np.array([1.0, 1.0, size, 1.0])
    plain, far = LinearRegression().fit(X, y), LinearRegression().fit(X * scale[1:], y)
    expected, found = inference(plain, X, y, cov=cov), inference(far, X * scale[1:], y, cov=cov)
    np.testing.assert_allclose(found.se * scale, expected.se, rtol=1e-12)
    np.testing.assert_allclose(found.statistic, expected.statistic, rtol=1e-12)
    np.testing.assert_allclose(far.summary().se * scale, plain.summary().se, rtol=1e-12)


def test_standard_errors_of_a_large_target():
    X, y = table()
    X += [1e6, 0.0, 0.0]
    plain, far = LinearRegression().fit(X, y).summary(), LinearRegression().fit(X, y * 1e98).summary()
    np.testing.assert_allclose(far.se / 1e98, plain.se, rtol=1e-10)


@pytest.mark.parametrize(("alpha", "sizes"), [(1e12, [1.0, 1.0, 1e-98]), (1e-300, [1e98, 1e98, 0.0])])
def test_penalties_that_are_all_or_nothing_beside_a_column(alpha, sizes):
    X, y = table()
    X *= sizes
    if not sizes[2]:
        X[:, 1] = 2 * X[:, 0]
    found = Ridge(alpha, solver="gram").fit(X, y).summary()
    assert np.isfinite(found.se).all()
    assert found.stats["effective_df"] < 4
