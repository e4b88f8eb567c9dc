"""The numbers behind pictures, against other ways to compute them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.linear_model
import sklearn.svm
import statsmodels.api as sm
from matplotlib import pyplot as plt
from scipy import stats
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import log_loss, mean_squared_error, r2_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.outliers_influence import OLSInfluence

from hiperplano import (
    SVC,
    BinningDisplay,
    CoefficientDisplay,
    DivergenceDisplay,
    GainsDisplay,
    HardMarginSVC,
    KSDisplay,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    MarginDisplay,
    OptimalBinning,
    PathDisplay,
    Perceptron,
    RegionsDisplay,
    ReplayDisplay,
    ResidualDisplay,
    Ridge,
    RidgeCV,
    ambiguous,
    population_stability_index,
    replay,
)
from hiperplano.errors import InvalidParameter
from tests.plot.samples import regression, scored, three_groups, two_groups


class TestKS:
    def test_value_is_that_of_scipy(self):
        y, score = scored()
        display = KSDisplay.from_predictions(y, score)
        found = stats.ks_2samp(score[y == 1], score[y == 0])
        assert display.ks == pytest.approx(found.statistic, abs=1e-15)
        assert display.cutoff == found.statistic_location

    def test_curves_are_empirical_distributions(self):
        y, score = scored()
        display = KSDisplay.from_predictions(y, score)
        for mine, share in ((score[y == 0], display.negative), (score[y == 1], display.positive)):
            np.testing.assert_allclose(share, stats.ecdf(mine).cdf.evaluate(display.scores), atol=1e-15)

    def test_weights_are_repetitions(self):
        y, score = scored(60)
        weight = np.random.default_rng(1).integers(1, 4, 60)
        one = KSDisplay.from_predictions(y, score, sample_weight=weight)
        other = KSDisplay.from_predictions(y.repeat(weight), score.repeat(weight))
        assert one.ks == pytest.approx(other.ks, abs=1e-14)
        np.testing.assert_allclose(one.positive, other.positive, atol=1e-14)

    @pytest.mark.parametrize("method", ["auto", "predict_proba", "decision_function"])
    def test_either_class_may_be_the_positive_one(self, method):
        X, y = two_groups(0.8)
        labels = np.array(["bad", "good"])[y]
        model = LogisticRegression().fit(X, labels)
        shown = [
            KSDisplay.from_estimator(model, X, labels, pos_label=label, response_method=method)
            for label in ("bad", "good")
        ]
        assert shown[0].ks == pytest.approx(shown[1].ks, abs=1e-12)
        assert shown[0].classes == ("good", "bad")
        # Scores of the positive class are the larger ones: less of it lies below any score.
        assert all((each.positive <= each.negative + 0.1).all() for each in shown)
        assert shown[0].name == "LogisticRegression"

    def test_curves_of_many_scores_are_drawn_with_few_points_and_the_distance_stays_exact(self):
        y, _ = scored(30_000)
        score = np.random.default_rng(1).normal(size=30_000) + y
        display = KSDisplay.from_predictions(y, score)
        line = display.ax_.lines[0]
        assert len(display.scores) == 30_000
        assert len(line.get_xdata()) < 1100
        assert display.cutoff in line.get_xdata()


class TestGains:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_by_brute_force(self, weighted):
        y, score = scored(80)
        weight = np.random.default_rng(2).integers(0, 3, 80) if weighted else np.ones(80, dtype=int)
        display = GainsDisplay.from_predictions(y, score, sample_weight=weight if weighted else None)
        share, gains = [0.0], [0.0]
        for cut in sorted(set(score), reverse=True):
            above = score >= cut
            share.append(weight[above].sum() / weight.sum())
            gains.append(weight[above & (y == 1)].sum() / weight[y == 1].sum())
        np.testing.assert_allclose(display.share, share, atol=1e-14)
        np.testing.assert_allclose(display.gains, gains, atol=1e-14)
        assert display.prevalence == pytest.approx(weight[y == 1].sum() / weight.sum())

    def test_lift_of_all_rows_is_one(self):
        display = GainsDisplay.from_predictions(*scored())
        assert np.isnan(display.lift[0])
        assert display.lift[-1] == pytest.approx(1.0)

    def test_area_follows_from_the_roc(self):
        """∫ gains over share = (prevalence/2) + (1 − prevalence)·AUC, whatever the scores."""
        from sklearn.metrics import roc_auc_score

        y, score = scored()
        display = GainsDisplay.from_predictions(y, score)
        p = display.prevalence
        assert np.trapezoid(display.gains, display.share) == pytest.approx(p / 2 + (1 - p) * roc_auc_score(y, score))


class TestCoefficients:
    def test_intervals_are_those_of_statsmodels(self):
        X, y = regression()
        display = CoefficientDisplay.from_estimator(LinearRegression().fit(X, y), level=0.9)
        reference = sm.OLS(y, sm.add_constant(X)).fit()
        np.testing.assert_allclose(display.coef[0], reference.params[1:], rtol=1e-10)
        low, high = reference.conf_int(alpha=0.1)[1:].T
        np.testing.assert_allclose(np.stack([display.low[0], display.high[0]]), [low, high], rtol=1e-8)

    def test_scaled_ones_are_those_of_standardised_columns(self):
        X, y = regression()
        display = CoefficientDisplay.from_estimator(LinearRegression().fit(X, y), X)
        other = LinearRegression().fit(StandardScaler().fit_transform(X), y)
        np.testing.assert_allclose(display.coef[0], other.coef_, rtol=1e-10)
        np.testing.assert_allclose(display.low[0], other.summary().low[1:], rtol=1e-8)

    def test_a_pipeline_is_opened_and_its_names_kept(self):
        X, y = regression()
        table = pd.DataFrame(X, columns=["age", "income", "debt", "noise"])
        model = make_pipeline(StandardScaler(), LinearRegression()).fit(table, y)
        display = CoefficientDisplay.from_estimator(model, table)
        assert display.names == list(table.columns)
        np.testing.assert_allclose(display.coef[0], model[-1].coef_)

    def test_the_largest_are_drawn_first_and_the_rest_counted(self):
        X, y = regression()
        display = CoefficientDisplay.from_estimator(LinearRegression().fit(X, y), X, most=2)
        drawn = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert drawn == [display.names[j] for j in np.argsort(-np.abs(display.coef[0]))[:2]]
        assert "2 smaller" in display.ax_.get_xlabel()

    def test_odds_are_exponentials(self):
        X, y = two_groups(0.6)
        model = LogisticRegression(C=np.inf).fit(X, y)
        display = CoefficientDisplay.from_estimator(model, odds=True)
        drawn = display.ax_.containers[0].lines[0].get_xdata()
        np.testing.assert_allclose(np.sort(drawn), np.sort(model.summary().odds_ratio[1:]))

    def test_models_without_a_table_have_dots_only(self):
        X, y = three_groups()
        display = CoefficientDisplay.from_estimator(sklearn.linear_model.LogisticRegression().fit(X, y))
        assert display.low is None
        assert display.blocks == ["0", "1", "2"]
        penalised = CoefficientDisplay.from_estimator(LogisticRegression().fit(X, y))
        assert penalised.low is None
        assert "summary()" in penalised.ax_.get_xlabel()


class TestMargin:
    def test_support_vectors_are_those_of_scikit_learn(self):
        X, y = two_groups(0.9)
        model = LinearSVC(C=0.7, loss="hinge", tol=1e-9).fit(X, y)
        display = MarginDisplay.from_estimator(model, X, y)
        reference = sklearn.svm.SVC(kernel="linear", C=0.7, tol=1e-9).fit(X, y)
        assert display.support.tolist() == sorted(reference.support_)
        assert MarginDisplay.from_estimator(reference, X, y).support.tolist() == reference.support_.tolist()

    def test_margin_planes_are_drawn_at_one_over_the_length(self):
        X, y = two_groups()
        model = HardMarginSVC().fit(X, y)
        display = MarginDisplay.from_estimator(model, X, y)
        assert display.width == pytest.approx(model.margin_)
        found = []
        for line in display.ax_.lines:
            point, second = np.array(line.get_xy1()), np.array(line.get_xy2())
            scores = np.array([point, second]) @ model.coef_[0] + model.intercept_[0]
            assert scores[0] == pytest.approx(scores[1], abs=1e-9)
            found.append(scores[0])
        np.testing.assert_allclose(sorted(found), [-1.0, 0.0, 1.0], atol=1e-9)

    def test_other_rows_are_ringed_where_they_are_not_beyond_the_margin(self):
        X, y = two_groups(0.9)
        model = LinearSVC(loss="hinge").fit(X[::2], y[::2])
        display = MarginDisplay.from_estimator(model, X, y)
        margin = np.where(y == 1, 1, -1) * model.decision_function(X)
        assert display.support.tolist() == np.flatnonzero(margin <= 1.0 + 1e-9).tolist()  # those on a margin plane too

    def test_columns_of_different_units_are_drawn_in_their_own(self):
        X, y = two_groups()
        wide = X * [1e6, 1.0]
        display = MarginDisplay.from_estimator(HardMarginSVC().fit(wide, y), wide, y)
        assert display.ax_.get_aspect() == "auto"


class TestRegions:
    @pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
    def test_every_point_is_what_the_model_says(self, wrapper):
        X, y = three_groups()
        model = wrapper(LeastSquaresClassifier()).fit(X, y)
        display = RegionsDisplay.from_estimator(model, X, y, resolution=17)
        for i, up in enumerate(display.up):
            row = np.column_stack([display.across, np.full(17, up)])
            np.testing.assert_array_equal(display.decided[i], model.predict(row))
            np.testing.assert_array_equal(display.open[i], ambiguous(model, row))
        assert display.open_share == display.open.mean()

    def test_only_binary_rules_leave_points_open(self):
        X, y = three_groups()
        assert RegionsDisplay.from_estimator(LinearDiscriminantAnalysis().fit(X, y), X, resolution=50).open_share == 0
        assert RegionsDisplay.from_estimator(DecisionTreeClassifier().fit(X, y), X, resolution=50).open_share == 0
        rest = OneVsRestClassifier(LeastSquaresClassifier()).fit(X, y)
        assert RegionsDisplay.from_estimator(rest, X, resolution=50).open_share > 0.1

    @pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
    def test_tables_keep_their_names(self, table):
        """A model that was fitted with names warns if it is asked without, and warnings are errors here."""
        X, y = three_groups()
        named = table({"income": X[:, 0], "debt": X[:, 1]})
        display = RegionsDisplay.from_estimator(LeastSquaresClassifier().fit(named, y), named, y, resolution=20)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("income", "debt")


class TestReplay:
    def test_steps_are_the_updates_of_the_fit(self):
        X, y = two_groups(1.6)
        model = Perceptron(tol=None, random_state=1)
        display = ReplayDisplay.from_estimator(model, X, y)
        assert [step.number for step in display.steps] == [s.number for s in replay(model, X, y) if s.updated]
        fitted = Perceptron(tol=None, random_state=1).fit(X, y)
        np.testing.assert_array_equal(display.steps[-1].coef, fitted.coef_[0])
        assert not hasattr(model, "coef_")

    def test_more_steps_than_panels_are_thinned_with_both_ends(self):
        X, y = two_groups(1.6)
        display = ReplayDisplay.from_estimator(Perceptron(tol=None, shuffle=False), X + 1.0, y, panels=3)
        titles = [panel.get_title(loc="left") for panel in display.ax_]
        last = len(display.steps)
        assert len(titles) == 3
        assert titles[0] == f"update 1 of {last}"
        assert titles[-1] == f"update {last} of {last}"


class TestPath:
    def test_ridge_leave_one_out_and_training_errors(self):
        X, y = regression(30)
        alphas = np.array([10.0, 0.1, 1.0])  # not in order
        model = RidgeCV(alphas=alphas).fit(X, y)
        display = PathDisplay.from_estimator(model, X, y)
        np.testing.assert_allclose(display.strengths, np.sort(alphas) / 30)
        for position, alpha in enumerate(np.sort(alphas)):
            other = sklearn.linear_model.Ridge(alpha=alpha).fit(X, y)
            np.testing.assert_allclose(display.coef[position], other.coef_, rtol=1e-8)
            assert display.training[position] == pytest.approx(mean_squared_error(y, other.predict(X)))
            left_out = cross_val_predict(other, X, y, cv=LeaveOneOut())
            assert display.validation[position] == pytest.approx(mean_squared_error(y, left_out))
        assert display.chosen == model.alpha_ / 30
        assert display.error_name == "mean squared error"

    def test_ridge_with_folds_counts_what_is_not_explained(self):
        X, y = regression(60)
        model = RidgeCV(alphas=[0.0, 1.0, 10.0], cv=3).fit(X, y)
        display = PathDisplay.from_estimator(model, X, y)
        assert len(display.strengths) == 2  # 0 has no place on the axis
        np.testing.assert_allclose(display.validation, 1 - model.scores_[1:])
        fit = sklearn.linear_model.Ridge(alpha=1.0).fit(X, y)
        assert display.training[0] == pytest.approx(1 - r2_score(y, fit.predict(X)))

    def test_ridge_with_weights_and_rows_to_validate(self):
        X, y = regression(60)
        weight = np.random.default_rng(0).uniform(0.5, 2.0, 40)
        display = PathDisplay.from_estimator(
            Ridge(), X[:40], y[:40], sample_weight=weight, strengths=[0.1, 1.0], validation=(X[40:], y[40:])
        )
        fit = sklearn.linear_model.Ridge(alpha=weight.sum()).fit(X[:40], y[:40], sample_weight=weight)
        np.testing.assert_allclose(display.coef[1], fit.coef_, rtol=1e-8)
        expected = mean_squared_error(y[:40], fit.predict(X[:40]), sample_weight=weight)
        assert display.training[1] == pytest.approx(expected)
        assert display.validation[1] == pytest.approx(mean_squared_error(y[40:], fit.predict(X[40:])))

    @pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"positive": True}], ids=str)
    @pytest.mark.parametrize("rows", [60, 3])
    def test_ridge_is_factored_once_for_all_penalties(self, parameters, rows, monkeypatch):
        fits, fit = [], Ridge.fit
        monkeypatch.setattr(Ridge, "fit", lambda self, *rest, **more: fits.append(1) or fit(self, *rest, **more))
        X, y = regression(60)
        X, y = X[:rows] + 3.0, y[:rows]
        display = PathDisplay.from_estimator(Ridge(**parameters), X, y, strengths=[0.01, 0.1, 1.0, 10.0])
        assert len(fits) == (4 if "positive" in parameters else 1)
        for position, strength in enumerate(display.strengths):
            other = fit(Ridge(strength * rows, **parameters), X, y)
            np.testing.assert_allclose(display.coef[position], other.coef_, rtol=1e-9, atol=1e-12)
            assert display.training[position] == pytest.approx(mean_squared_error(y, other.predict(X)), rel=1e-9)

    def test_logistic_folds_bring_their_spread(self):
        X, y = two_groups(0.6)
        model = LogisticRegressionCV(Cs=[0.1, 10.0, 1.0], cv=4, use_legacy_attributes=False).fit(X, y)
        display = PathDisplay.from_estimator(model, X, y)
        np.testing.assert_allclose(display.strengths, 1 / (len(y) * np.array([10.0, 1.0, 0.1])))
        losses = -model.scores_[:, 0, [1, 2, 0]]
        np.testing.assert_allclose(display.validation, losses.mean(axis=0))
        np.testing.assert_allclose(display.spread, stats.sem(losses, axis=0))
        other = sklearn.linear_model.LogisticRegression(C=0.1, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(display.coef[2], other.coef_[0], rtol=1e-4)
        assert display.training[2] == pytest.approx(log_loss(y, other.predict_proba(X)), rel=1e-6)
        assert display.chosen == 1 / (len(y) * model.C_)

    def test_softmax_has_the_coefficients_of_all_classes(self):
        X, y = load_iris(return_X_y=True)
        display = PathDisplay.from_estimator(LogisticRegression(), X, y, strengths=[0.01, 1.0])
        assert display.coef.shape == (2, 12)
        assert display.names[:5] == ["0: x0", "0: x1", "0: x2", "0: x3", "1: x0"]

    def test_scores_that_grow_are_turned_into_errors(self):
        X, y = two_groups(0.6)
        model = LogisticRegressionCV(Cs=[0.1, 1.0], scoring="roc_auc", cv=3, use_legacy_attributes=False).fit(X, y)
        display = PathDisplay.from_estimator(model, X, y)
        np.testing.assert_allclose(display.validation, (1 - model.scores_[:, 0]).mean(axis=0)[::-1])
        assert display.error_name == "1 − roc auc"


class TestResiduals:
    def test_figures_are_those_of_statsmodels(self):
        X, y = regression()
        display = ResidualDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
        reference = sm.OLS(y, sm.add_constant(X)).fit()
        influence = OLSInfluence(reference)
        np.testing.assert_allclose(display.fitted, reference.fittedvalues, rtol=1e-9)
        np.testing.assert_allclose(display.leverage, influence.hat_matrix_diag, rtol=1e-8)
        np.testing.assert_allclose(display.standardised, influence.resid_studentized_internal, rtol=1e-8)
        np.testing.assert_allclose(display.cooks, influence.cooks_distance[0], rtol=1e-7)

    def test_borders_have_the_cooks_distance_they_claim(self):
        """A point on the drawn line, put into the formula of Cook's distance."""
        X, y = regression()
        X[3] *= 8.0
        y[3] += 5.0
        display = ResidualDisplay.from_estimator(LinearRegression().fit(X, y), X, y, panels="leverage")
        drawn = [line for line in display.ax_[0].lines if line.get_linestyle() == "--"]
        assert len(drawn) == 4
        for line, level in zip(drawn, (0.5, 0.5, 1.0, 1.0), strict=True):
            h, r = line.get_data()
            np.testing.assert_allclose(r**2 / 5 * h / (1 - h), level)

    def test_quantiles_are_those_of_the_normal_distribution(self):
        X, y = regression()
        display = ResidualDisplay.from_predictions(y, LinearRegression().fit(X, y).predict(X), panels=["quantiles"])
        across, up = np.asarray(display.ax_[0].collections[0].get_offsets()).T
        order = np.argsort(up)
        np.testing.assert_allclose(stats.norm.cdf(across[order]), (np.arange(60) + 0.5) / 60)
        assert up.std() == pytest.approx(1.0)


class TestDivergence:
    def test_figures_by_their_formulas(self):
        rng = np.random.default_rng(0)
        one, other = rng.normal(size=900), rng.normal(0.4, 1.2, size=700)
        display = DivergenceDisplay.from_predictions(one, other, bins=8)
        p, q = display.expected, display.actual
        assert p.sum() == pytest.approx(1.0)
        edges = np.quantile(one, np.arange(1, 8) / 8)
        np.testing.assert_allclose(q, np.histogram(other, [-np.inf, *edges, np.inf])[0] / 700)
        middle = (p + q) / 2
        assert display.kl == pytest.approx(stats.entropy(p, q))
        assert display.js == pytest.approx((stats.entropy(p, middle) + stats.entropy(q, middle)) / 2)
        assert display.psi == pytest.approx(stats.entropy(p, q) + stats.entropy(q, p))
        assert display.psi == pytest.approx(population_stability_index(one, other, bins=8))

    def test_categories_are_their_own_bins_and_smoothing_fills_empty_ones(self):
        one, other = ["own"] * 6 + ["rent"] * 4, ["own"] * 5 + ["family"] * 5
        assert DivergenceDisplay.from_predictions(one, other).psi == np.inf
        display = DivergenceDisplay.from_predictions(one, other, smoothing=0.5)
        assert display.labels == ["family", "own", "rent"]
        np.testing.assert_allclose(display.expected, np.array([0.5, 6.5, 4.5]) / 11.5)
        assert display.psi == pytest.approx(population_stability_index(one, other, smoothing=0.5))

    def test_scores_of_a_model_are_compared(self):
        X, y = two_groups(0.8)
        model = LogisticRegression().fit(X, y)
        display = DivergenceDisplay.from_estimator(model, X, X + 0.5, bins=4)
        scores = model.predict_proba(X)[:, 1], model.predict_proba(X + 0.5)[:, 1]
        assert display.psi == population_stability_index(*scores, bins=4)
        line = Ridge().fit(X, X[:, 0])
        shown = DivergenceDisplay.from_estimator(line, X, X + 0.5, bins=[-1.0, 1.0])
        assert shown.actual[0] == np.mean(line.predict(X + 0.5) < -1.0)
        assert shown.ax_.get_xlabel() == "prediction"


def test_drawing_again_on_other_axes_changes_no_number():
    display = KSDisplay.from_predictions(*scored())
    before = display.positive.copy()
    figure, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    np.testing.assert_array_equal(display.positive, before)


def test_style_can_be_changed():
    display = GainsDisplay.from_predictions(*scored(), color="black", lw=5)
    assert display.ax_.lines[0].get_color() == "black"
    assert display.ax_.lines[0].get_linewidth() == 5


def test_many_points_become_an_image_inside_a_vector_picture(tmp_path):
    X, y = make_blobs(20_000, centers=[[-2, 0], [2, 1]], random_state=0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    RegionsDisplay.from_estimator(model, X, y, resolution=50).figure_.savefig(tmp_path / "regions.svg")
    assert (tmp_path / "regions.svg").stat().st_size < 1_000_000


class TestBinning:
    def test_shares_rates_and_woe_are_those_of_the_rows(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=500)
        y = rng.uniform(size=500) < 1 / (1 + np.exp(-x))
        x[:50] = np.nan
        binning = OptimalBinning(cuts=[-1, 1], special_codes=[99]).fit(x, y)
        display = BinningDisplay.from_estimator(binning)
        groups = [x < -1, (x >= -1) & (x < 1), x >= 1, np.isnan(x)]
        assert display.labels == ["(-inf, -1)", "[-1, 1)", "[1, inf)", "missing"]  # no row has the special code
        assert display.n_regular == 3
        np.testing.assert_allclose(display.share, [group.mean() for group in groups])
        np.testing.assert_allclose(display.value, [y[group].mean() for group in groups])
        woe = BinningDisplay.from_estimator(binning, measure="woe")
        odds = [(1 - y[group].mean()) / y[group].mean() * y.mean() / (1 - y.mean()) for group in groups]
        np.testing.assert_allclose(woe.value, np.log(odds))
        assert ((woe.low < woe.value) & (woe.value < woe.high)).all()
        mean = BinningDisplay.from_estimator(OptimalBinning(cuts=[0]).fit(x, np.arange(500) / 7))
        assert mean.measure == "mean"
        with pytest.raises(InvalidParameter, match="multiclass"):
            BinningDisplay.from_estimator(OptimalBinning().fit(x, np.arange(500) % 3))
        plt.close("all")


def test_regions_are_open_where_a_models_own_rules_contradict_each_other():
    """The perceptron's own one-versus-rest, and scikit-learn's wrapper around it: the same planes, the same share."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.5, 0.5])
    own = RegionsDisplay.from_estimator(Perceptron(shuffle=False, tol=None, max_iter=5).fit(X, y), X)
    wrapped = OneVsRestClassifier(Perceptron(shuffle=False, tol=None, max_iter=5)).fit(X, y)
    assert 0 < own.open_share == RegionsDisplay.from_estimator(wrapped, X).open_share


def test_the_margin_of_a_kernel_machine_is_drawn_where_its_score_is_one():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(80, 2))
    y = (np.square(X).sum(axis=1) < 2).astype(int)
    machine = SVC(gamma=1.0, C=10.0).fit(X, y)
    display = MarginDisplay.from_estimator(machine, X, y)
    assert sorted(display.support.tolist()) == sorted(machine.support_.tolist())
    assert np.isnan(display.width)
    levels = next(each for each in display.ax_.collections if hasattr(each, "levels"))
    assert levels.levels.tolist() == [-1.0, 0.0, 1.0]
    for level, path in zip(levels.levels, levels.get_paths(), strict=True):
        np.testing.assert_allclose(machine.decision_function(path.vertices), level, atol=0.05)
    new = MarginDisplay.from_estimator(machine, X[::-1], y[::-1])  # not the rows of the fit in their order
    signed = np.where(y[::-1] == 1, 1.0, -1.0) * machine.decision_function(X[::-1])
    np.testing.assert_array_equal(new.support, np.flatnonzero(signed <= 1 + 1e-9))
