"""The estimator: points by hand, logistic regression by statsmodels, rows of any kind."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from hiperplano import LogisticRegression, OptimalBinning, Scorecard, WoEEncoder, load, save
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, SeparationWarning, SingularWarning
from tests.scorecard.conftest import SPECIAL
from tests.shipped import Shipped


def test_points_are_those_of_the_formula(card, applicants):
    X, _ = applicants
    factor = 20 / np.log(2)
    offset = 600 - factor * np.log(50)
    rows = card.points().to_pandas()
    assert rows["variable"].unique().tolist() == card.variables_ == list(X.columns)
    for name, coef in zip(card.variables_, card.model_.coef_[0], strict=True):
        own = rows[rows["variable"] == name]
        share = (offset - factor * card.model_.intercept_[0]) / len(card.variables_)
        np.testing.assert_array_equal(own["points"], np.rint(share - factor * coef * own["woe"]))
        # WoE from the counts of the table: ln(share of non-events / share of events), 0.5 for a zero.
        events = (own["event_rate"] * own["count"]).fillna(0).to_numpy()
        others = own["count"].to_numpy() - events
        full = own["count"].to_numpy() > 0
        woe = np.log(
            np.where(others > 0, others, 0.5) / others.sum() / (np.where(events > 0, events, 0.5) / events.sum())
        )
        np.testing.assert_allclose(own["woe"].to_numpy()[full], woe[full], rtol=1e-9, atol=1e-12)
        assert (own["woe"].to_numpy()[~full] == 0).all()
    assert card.base_points_ == 0.0


def test_the_score_is_the_sum_of_the_points_of_the_bins(card, chosen, applicants):
    X, _ = applicants
    for each in (card, chosen):
        codes, variables = each.bin_codes(X), each.variable_points()
        by_hand = each.base_points_ + sum(v.points[codes[:, j]] for j, v in enumerate(variables))
        np.testing.assert_allclose(each.score_points(X), by_hand, rtol=1e-12)
    assert (card.score_points(X) == np.rint(card.score_points(X))).all()
    # Without rounding a score says the odds: 600 points are 50 to 1, 20 points double them.
    odds = (1 - chosen.event_probability(X)) / chosen.event_probability(X)
    np.testing.assert_allclose(chosen.score_points(X), 600 + 20 * np.log2(odds / 50), rtol=1e-10)


def test_bins_of_rows_are_those_of_the_table(card, applicants):
    X, _ = applicants
    codes = card.bin_codes(X)
    labels = {
        each.name: np.array(each.labels, dtype=object)[codes[:, j]] for j, each in enumerate(card.variable_points())
    }
    assert (labels["income"][X["income"].isna()] == "missing").all()
    assert (labels["years_in_job"][X["years_in_job"] == 999] == "special: not asked").all()
    assert (labels["late_payments"][X["late_payments"] == -1] == "special: -1").all()
    assert set(labels["housing"][X["housing"].isin(["rents", "family"])]) == {"'rents', 'family'"}


def test_the_logistic_part_is_that_of_statsmodels(card, applicants):
    X, y = applicants
    woe = card.encoder_.transform(X[:3000])
    reference = sm.Logit((y[:3000] == "yes").astype(float), sm.add_constant(woe)).fit(disp=0, tol=1e-12)
    found = card.summary()
    np.testing.assert_allclose(found.coef, reference.params, rtol=1e-7)
    np.testing.assert_allclose(found.se, reference.bse, rtol=1e-6)
    np.testing.assert_allclose(found.stats["aic"], reference.aic, rtol=1e-10)
    assert found.names == ["intercept", *card.variables_]
    assert "chosen on the same rows" in found.notes[-1]
    np.testing.assert_allclose(card.event_probability(X[:3000]), reference.predict(), rtol=1e-7)


def test_events_may_be_either_class(applicants):
    X, y = applicants
    X = X[["debt", "late_payments"]]
    default = Scorecard().fit(X, y)
    event = Scorecard(event="no").fit(X, y)
    assert (default.event_, event.event_) == ("yes", "no")
    np.testing.assert_array_equal(default.classes_, event.classes_)
    np.testing.assert_allclose(default.predict_proba(X), event.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(default.predict_proba(X)[:, 1], default.event_probability(X))
    np.testing.assert_allclose(event.predict_proba(X)[:, 0], event.event_probability(X))
    np.testing.assert_allclose(np.exp(event.predict_log_proba(X)), event.predict_proba(X))
    assert np.corrcoef(default.score_points(X), event.score_points(X))[0, 1] < -0.99


def test_weights_are_repetitions(applicants):
    X, y = applicants
    X, y = X[:1500], y[:1500]
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    made = Scorecard(event="yes", selection="forward")
    weighted, repeated = clone(made).fit(X, y, weight), clone(made).fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
    assert weighted.variables_ == repeated.variables_
    np.testing.assert_allclose(weighted.model_.coef_, repeated.model_.coef_, rtol=1e-7)
    np.testing.assert_array_equal(weighted.score_points(X), repeated.score_points(X))
    ours, theirs = weighted.development_, repeated.development_
    np.testing.assert_allclose([ours.ks, ours.auc], [theirs.ks, theirs.auc], rtol=1e-12)


def test_rows_may_be_of_any_kind(card, applicants):
    X, y = applicants
    points = card.score_points(X)
    polars = pl.from_pandas(X)
    np.testing.assert_array_equal(card.score_points(polars), points)
    other = clone(card).fit(polars[:3000], y[:3000].to_numpy())
    np.testing.assert_array_equal(other.score_points(polars), points)
    array = Scorecard(event="yes", encoder=WoEEncoder(per_column={6: SPECIAL["housing"]}))
    numbers = np.asarray(X, dtype=object)
    array.encoder.per_column = {f"x{X.columns.get_loc(name)}": rule for name, rule in SPECIAL.items()}
    array.fit(numbers[:3000], y[:3000])
    np.testing.assert_array_equal(array.score_points(numbers), points)
    assert array.variables_ == [f"x{j}" for j in range(X.shape[1])]


def test_unseen_and_strange_values_have_points(card, applicants):
    X, _ = applicants
    strange = pd.concat([X[:1]] * 4, ignore_index=True)
    strange.loc[0, "housing"] = "a boat"
    strange["debt"] = strange["debt"].astype(float)
    strange.loc[1, "debt"] = np.inf
    strange.loc[2, "debt"] = np.nan
    strange.loc[3, "purpose"] = None
    assert np.isfinite(card.score_points(strange)).all()
    neutral = next(each for each in card.variable_points() if each.name == "housing")
    assert (
        card.explain(strange[:1]).columns["bin"][list(card.explain(strange[:1])["variable"]).index("housing")]
        == "unseen"
    )
    assert neutral.woe[-1] == 0
    refusing = Scorecard(encoder=WoEEncoder(per_column={"housing": {"handle_unknown": "error"}}))
    refusing.fit(X[["housing", "debt"]], applicants[1])
    with pytest.raises(InvalidData, match="a boat"):
        refusing.score_points(strange[["housing", "debt"]])


def test_signs_are_reported_or_forbidden():
    rng = np.random.default_rng(0)
    first = rng.normal(size=4000)
    second = first + 0.3 * rng.normal(size=4000)
    y = (first - 0.5 * (second - first) + rng.logistic(size=4000) > 1).astype(int)
    X = pd.DataFrame({"first": first, "second": second})
    free = Scorecard().fit(X, y)
    assert free.against_woe_ == ["second"]
    assert "against their WoE: second" in free.points().notes[-1]
    held = Scorecard(positive=True).fit(X, y)
    assert held.variables_ == ["first"]
    assert held.against_woe_ == []
    assert [(step.action, step.variable) for step in held.steps_] == [("wrong sign", "second")]
    assert held.encoder_.reasons_["second"]


def test_variables_are_chosen_step_by_step(chosen, applicants):
    X, _ = applicants
    assert chosen.steps_[0].action == "start"
    entered = [step.variable for step in chosen.steps_ if step.action == "entered"]
    assert sorted(entered) == sorted(chosen.variables_)
    assert "region" not in chosen.variables_  # does not enter the odds of the table
    assert chosen.steps_[-1].bic == pytest.approx(chosen.summary().stats["bic"])
    assert all(each.coef < 0 for each in chosen.variable_points())
    assert chosen.encoder_.get_feature_names_out().tolist() == chosen.variables_
    np.testing.assert_allclose(chosen.estimator_.decision_function(X), chosen.decision_function(X))
    assert len(chosen.selection_table()) == len(chosen.steps_)


def test_base_points_stand_apart(chosen):
    rows = chosen.points().rows()
    factor = 20 / np.log(2)
    assert rows[0]["variable"] == "base points"
    assert rows[0]["points"] == pytest.approx(600 - factor * np.log(50) - factor * chosen.model_.intercept_[0])
    neutral = [row for row in rows[1:] if row["woe"] == 0]
    assert neutral
    assert all(row["points"] == 0 for row in neutral)


def test_it_survives_files_and_copies(card, chosen, applicants, tmp_path):
    X, _ = applicants
    for each in (card, chosen):
        save(each, tmp_path / "card.skops")
        for other in (load(tmp_path / "card.skops"), pickle.loads(pickle.dumps(each))):
            np.testing.assert_array_equal(other.score_points(X), each.score_points(X))
            np.testing.assert_array_equal(other.predict_proba(X), each.predict_proba(X))
            assert str(other.points()) == str(each.points())
            assert str(other.steps_) == str(each.steps_)
            assert other.development_.auc == each.development_.auc


def test_it_works_in_scikit_learns_tools(applicants):
    X, y = applicants
    model = make_pipeline(FunctionTransformer(lambda X: X[["debt", "income", "late_payments"]]), Scorecard(event="yes"))
    scores = cross_val_score(model, X, y, scoring="roc_auc", cv=3)
    assert scores.min() > 0.65


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"pdo": 0}, InvalidParameter, "pdo"),
        ({"base_odds": -1}, InvalidParameter, "base_odds"),
        ({"event": "maybe"}, InvalidParameter, "'no' and 'yes'"),
        ({"selection": "best"}, InvalidParameter, "'forward'"),
        ({"selection": "forward", "criterion": "r2"}, InvalidParameter, "'aic'"),
        ({"round_points": 1.5}, InvalidParameter, "round_points"),
        ({"intercept_points": "none"}, InvalidParameter, "'spread'"),
    ],
)
def test_wrong_parameters_are_refused(applicants, params, error, words):
    X, y = applicants
    with pytest.raises(error, match=words):
        Scorecard(**params).fit(X[["debt", "income"]], y)


def test_targets_that_are_not_two_classes_are_refused(applicants):
    X, y = applicants
    with pytest.raises(InvalidTarget, match="3 classes"):
        Scorecard().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(InvalidTarget, match="one class"):
        Scorecard().fit(X, np.zeros(len(y)))
    card = Scorecard().fit(X[["debt"]], y)
    with pytest.raises(InvalidTarget, match="maybe"):
        card.is_event(["yes", "maybe"])


def test_columns_that_say_nothing_leave_the_share_of_events():
    X, y = np.ones((50, 2)), np.arange(50) % 5 == 0
    found = Scorecard().fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X)[:, 1], 0.2, atol=1e-6)
    assert len(np.unique(found.score_points(X))) == 1


@pytest.mark.parametrize(
    "rule",
    [
        {"selection": "stepwise", "criterion": "bic", "positive": True},
        {"selection": "forward", "criterion": "p_value", "p_enter": 0.0},
    ],
)
def test_a_table_without_information_gives_everybody_one_score(rule):
    """The model of the intercept alone: the share of events, and all tables and bases of points."""
    rng = np.random.default_rng(8)
    X, y = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"]), rng.uniform(size=300) < 0.3
    rule = {**rule, "encoder": WoEEncoder(OptimalBinning(cuts=[0.0]))}
    with pytest.warns(SingularWarning, match="none of 3 variables was chosen"):
        made = Scorecard(**rule).fit(X, y)
    np.testing.assert_allclose(made.predict_proba(X)[:, 1], y.mean(), rtol=1e-9)
    assert len(made.variables_) == 1
    assert np.unique(made.score_points(X)).size == 1
    assert np.ptp(made.variable_points()[0].points) == 0
    assert made.steps_[0].action == "start"
    with pytest.warns(SingularWarning):
        apart = Scorecard(**rule, intercept_points="separate", round_points=False).fit(X, y)
    odds = (1 - y.mean()) / y.mean()
    np.testing.assert_allclose(apart.score_points(X), 600 + 20 * np.log2(odds / 50), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("rule", [{}, {"selection": "stepwise", "positive": True, "intercept_points": "separate"}])
def test_rows_that_lie_elsewhere_give_the_same_scorecard(applicants, rule, weighted):
    """Every statistic and block through a serialiser, blocks of any size: the same bins, points and development."""
    X, y = applicants
    numbers = X[["debt", "income", "age", "late_payments", "years_in_job"]][:1500]
    y = np.asarray(y[:1500])
    weight = np.random.default_rng(3).integers(0, 3, size=1500).astype(float) if weighted else None
    model = Scorecard(event="yes", encoder=WoEEncoder(per_column={"late_payments": {"special_codes": [-1]}}), **rule)
    here = clone(model).fit(numbers, y, sample_weight=weight)
    rows = Shipped(numbers.to_numpy(float), y, weight, names=np.array(numbers.columns, dtype=object), seed=4)
    there = clone(model).fit(rows)
    assert there.variables_ == here.variables_
    assert [each.action for each in there.steps_] == [each.action for each in here.steps_]
    for name in here.variables_:
        assert there.encoder_.binnings_[name].bins_ == here.encoder_.binnings_[name].bins_
    np.testing.assert_allclose(there.model_.coef_, here.model_.coef_, rtol=1e-8)
    for mine, other in zip(there.variable_points(), here.variable_points(), strict=True):
        np.testing.assert_array_equal(mine.points, other.points)
    np.testing.assert_array_equal(there.score_points(rows), here.score_points(numbers))
    np.testing.assert_allclose(there.development_.count, here.development_.count)
    assert there.development_.ks == pytest.approx(here.development_.ks, rel=1e-12)
    alone = OptimalBinning().fit(Shipped(numbers[["debt"]].to_numpy(float), y, weight, seed=5))
    assert alone.bins_ == OptimalBinning().fit(numbers["debt"], y, sample_weight=weight).bins_
    with pytest.raises(InvalidParameter, match="come with a design"):
        clone(model).fit(rows, y)
    with pytest.raises(InvalidData, match="the design has 5"):
        OptimalBinning().fit(rows)


def test_a_penalty_is_passed_on(applicants):
    X, y = applicants
    woe_model = Scorecard(C=0.01).fit(X[["debt", "income"]], y)
    woe = woe_model.encoder_.transform(X[["debt", "income"]])
    reference = LogisticRegression(C=0.01).fit(woe, y == "yes")
    np.testing.assert_allclose(woe_model.model_.coef_, reference.coef_, rtol=1e-9)


def test_tables_agree_with_those_of_optbinning_on_the_same_cut_offs(applicants):
    """Numbers of optbinning 1.0.0: Scorecard(BinningProcess(["debt", "age"], binning_fit_params=<these splits, fixed>),
    LogisticRegression(C=inf, tol=1e-12) of scikit-learn, "pdo_odds" with pdo 20, odds 50 and 600 points)."""
    X, y = applicants
    rules = {"debt": {"cuts": [4000, 8000, 14000, 20000]}, "age": {"cuts": [30, 45, 60]}}
    made = Scorecard(event="yes", encoder=WoEEncoder(per_column=rules), round_points=False).fit(X[["debt", "age"]], y)
    debt, age = made.variable_points()
    woe = [1.0954383219830381, 0.5222667602739497, 0.3808104786600812, -0.24695177178911143, -0.9288789050056654]
    np.testing.assert_allclose(debt.woe[:5], woe, rtol=1e-10)
    woe = [-0.28356251353220374, -0.07842278589989338, 0.02821547170108918, 0.4129465018126135]
    np.testing.assert_allclose(age.woe[:4], woe, rtol=1e-10)
    iv = [0.1552651333963535, 0.052121094389768245, 0.02732110161496479, 0.009368884929642813, 0.2557596034586453]
    assert made.encoder_.binnings_["debt"].iv_ == pytest.approx(sum(iv), rel=1e-10)
    points = [310.64633715896304, 293.90982259287523, 289.7793226241822, 271.448768998398, 251.53660977671976]
    np.testing.assert_allclose(debt.points[:5], points, rtol=1e-6)
    points = [269.661310176382, 276.1710962335162, 279.55509332905797, 291.7639264228405, 278.65971978832465]
    np.testing.assert_allclose(age.points, points, rtol=1e-6)
    first = [543.3005362, 531.09170311, 551.00386233, 565.95041886, 527.70770601]
    np.testing.assert_allclose(made.score_points(X[["debt", "age"]][:5]), first, rtol=1e-6)


def test_a_variable_that_tells_the_event_is_named(applicants):
    X, y = applicants
    leaking = X[["debt", "age"]].assign(collections=np.where(y == "yes", 3.0, 0.0))
    with pytest.warns(SeparationWarning, match="'collections'"):
        Scorecard(event="yes").fit(leaking, y)
    found = Scorecard(event="yes", C=1.0).fit(leaking, y)
    assert found.model_.solution_.converged


def test_an_event_that_nobody_named_is_named_where_it_is_the_common_class(applicants):
    X, y = applicants[0][["age", "debt"]], np.where(applicants[1] == "yes", "bad", "good")
    said = str(Scorecard().fit(X, y).points())
    assert said.startswith("Scorecard: event 'good'\n")
    assert "If 'bad' is to be avoided, set event='bad'." in said
    for quiet in (Scorecard(event="bad").fit(X, y), Scorecard(event="good").fit(X, y), Scorecard().fit(X, y == "bad")):
        assert "to be avoided" not in str(quiet.points())


@pytest.mark.parametrize("gap", [np.nan, pd.NA], ids=str)
def test_rows_without_an_outcome_are_counted(gap, applicants):
    y = pd.Series(np.where(np.arange(100) % 7, "no", "yes"), dtype=object)
    y[[3, 5]] = gap
    for given in (y, y.tolist()):
        with pytest.raises(InvalidTarget, match="in 2 of 100 rows"):
            Scorecard().fit(applicants[0][:100], given)
