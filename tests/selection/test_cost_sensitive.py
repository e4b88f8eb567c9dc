"""Decisions by cost, by hand and through scikit-learn's tools."""

import numpy as np
import pytest
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import (
    CostSensitiveClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    bayes_decision,
    binary_costs,
)
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, NotAvailable

COSTS = np.array([[0.0, 8.0], [1.0, 0.0]])


def loans(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    X = rng.normal(size=(n, 3)) + 0.8 * y[:, None]
    amount = rng.exponential(10.0, n) + 1.0
    return X, y, amount


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_zero_one_costs_are_the_estimators_own_decision():
    X, y, _ = loans()
    plain = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(CostSensitiveClassifier(plain).fit(X, y).predict(X), plain.predict(X))


def test_bayes_rule_of_a_cost_matrix():
    X, y, _ = loans()
    model = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=COSTS).fit(X, y)
    proba = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), proba[:, 1] > 1 / 9)
    np.testing.assert_array_equal(model.predict_proba(X), proba)
    np.testing.assert_array_equal(
        model.decision_function(X), LinearDiscriminantAnalysis().fit(X, y).decision_function(X)
    )
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba, rtol=1e-12)
    np.testing.assert_allclose(model.score(X, y), -np.mean(COSTS[model.predict(X), y]))


def test_costs_save_money_on_new_rows():
    X, y, _ = loans(2000)
    new, truth, _ = loans(5000, seed=1)
    plain = CostSensitiveClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    for threshold in ("bayes", "tuned"):
        model = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=COSTS, threshold=threshold).fit(X, y)
        assert model.score(new, truth) > 0.8 * -np.mean(COSTS[plain.predict(new), truth])


def test_costs_of_each_example():
    X, y, amount = loans()
    costs = binary_costs(false_negative=amount, false_positive=2.0)
    model = CostSensitiveClassifier(LinearDiscriminantAnalysis()).fit(X, y, costs=costs)
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X, costs=costs), bayes_decision(proba, costs))
    # Without costs of its rows, predict takes the mean amount of those that defaulted.
    np.testing.assert_allclose(model.costs_, [[0.0, amount[y == 1].mean()], [2.0, 0.0]])
    np.testing.assert_array_equal(model.predict(X), bayes_decision(proba, model.costs_))
    decided = model.predict(X, costs=costs)
    np.testing.assert_allclose(model.score(X, y, costs=costs), -np.mean(costs[np.arange(len(y)), decided, y]))


def test_weights_equal_repetition():
    X, y, amount = loans(200)
    times = np.random.default_rng(1).integers(0, 3, 200)
    again = np.repeat(np.arange(200), times)
    costs = binary_costs(false_negative=amount, false_positive=2.0)
    weighted = CostSensitiveClassifier(LinearDiscriminantAnalysis()).fit(X, y, sample_weight=times, costs=costs)
    plain = CostSensitiveClassifier(LinearDiscriminantAnalysis()).fit(X[again], y[again], costs=costs[again])
    np.testing.assert_allclose(weighted.costs_, plain.costs_, rtol=1e-12)
    np.testing.assert_array_equal(weighted.predict(X), plain.predict(X))
    np.testing.assert_allclose(
        weighted.score(X, y, sample_weight=times, costs=costs), plain.score(X[again], y[again], costs=costs[again])
    )


@pytest.mark.parametrize(
    "estimator", [LinearDiscriminantAnalysis(), LeastSquaresClassifier(), KNeighborsClassifier(25)]
)
def test_the_tuned_cutoff_is_the_best_on_scores_out_of_fold(estimator):
    X, y, amount = loans(300)
    costs = binary_costs(false_negative=amount, false_positive=2.0)
    neighbours = isinstance(estimator, KNeighborsClassifier)  # they take no weights, and have no decision function
    weight = None if neighbours else np.random.default_rng(0).random(300)
    cv = StratifiedKFold(4)
    model = CostSensitiveClassifier(estimator, threshold="tuned", cv=cv).fit(X, y, costs=costs, sample_weight=weight)
    params = None if weight is None else {"sample_weight": weight}
    if not neighbours:
        scores = cross_val_predict(estimator, X, y, cv=cv, method="decision_function", params=params)
        own = model.estimator_.decision_function(X)
    else:
        scores = cross_val_predict(estimator, X, y, cv=cv, method="predict_proba", params=params)[:, 1] - 0.5
        own = model.estimator_.predict_proba(X)[:, 1] - 0.5

    def mean_cost(cutoff):
        return np.average(costs[np.arange(300), (scores > cutoff).astype(int), y], weights=weight)

    tried = [mean_cost(c) for c in [-np.inf, *scores]]
    np.testing.assert_allclose(model.cutoff_cost_, min(tried), rtol=1e-12)
    np.testing.assert_allclose(mean_cost(model.cutoff_), min(tried), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), own > model.cutoff_)


def test_tuning_repairs_probabilities_that_are_wrong():
    X, y, _ = loans(3000)
    new, truth, _ = loans(4000, seed=3)

    class Skewed(LinearDiscriminantAnalysis):  # its probabilities are far too high
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y, np.where(y == 1, 30.0, 1.0))

    bayes = CostSensitiveClassifier(Skewed(), costs=COSTS).fit(X, y)
    tuned = CostSensitiveClassifier(Skewed(), costs=COSTS, threshold="tuned").fit(X, y)
    assert tuned.score(new, truth) > bayes.score(new, truth)


def test_not_deciding():
    X, y, _ = loans()
    costs = np.vstack([[[0, 1], [1, 0]], [0.2, 0.2]])
    model = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=costs).fit(X, y)
    decided = model.predict(X)
    assert set(decided) == {-1, 0, 1}
    assert decided.dtype.kind == "i"
    sure = model.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(decided == -1, sure < 0.8)
    np.testing.assert_allclose(model.score(X, y), -np.mean(np.where(decided == -1, 0.2, decided != y)))
    named = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=costs, reject_label="ask")
    names = np.array(["bad", "good"])[y]
    assert set(named.fit(X, names).predict(X)) == {"ask", "bad", "good"}
    mixed = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=costs).fit(X, names).predict(X)
    assert set(mixed) == {-1, "bad", "good"}


def test_many_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 2)) + 2 * np.eye(3)[y][:, :2]
    costs = rng.random((3, 3))
    model = CostSensitiveClassifier(LinearDiscriminantAnalysis(), costs=costs).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), (model.predict_proba(X) @ costs.T).argmin(axis=1))


def test_costs_are_routed_through_cross_validation(routing):
    X, y, amount = loans()
    costs = binary_costs(false_negative=amount, false_positive=2.0)
    model = (
        CostSensitiveClassifier(LinearDiscriminantAnalysis()).set_fit_request(costs=True).set_score_request(costs=True)
    )
    found = cross_val_score(model, X, y, cv=KFold(3), params={"costs": costs})
    by_hand = []
    for train, test in KFold(3).split(X):
        one = CostSensitiveClassifier(LinearDiscriminantAnalysis()).fit(X[train], y[train], costs=costs[train])
        by_hand.append(one.score(X[test], y[test], costs=costs[test]))
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


def test_weights_are_routed_to_the_estimator_where_it_asks(routing):
    X, y, _ = loans()
    weight = np.random.default_rng(0).random(len(y))
    inner = LinearDiscriminantAnalysis().set_fit_request(sample_weight=True)
    model = CostSensitiveClassifier(inner).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    found = cross_validate(model, X, y, params={"sample_weight": weight}, return_estimator=True, cv=KFold(3))
    train = next(iter(KFold(3).split(X)))[0]
    expected = LinearDiscriminantAnalysis().fit(X[train], y[train], weight[train]).coef_
    np.testing.assert_allclose(found["estimator"][0].estimator_.coef_, expected, rtol=1e-10)
    refused = LinearDiscriminantAnalysis().set_fit_request(sample_weight=False)
    alone = CostSensitiveClassifier(refused, threshold="tuned", costs=COSTS).set_fit_request(sample_weight=True)
    alone.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(alone.estimator_.coef_, LinearDiscriminantAnalysis().fit(X, y).coef_, rtol=1e-12)


def test_inside_a_grid_search_and_around_a_pipeline():
    X, y, _ = loans()
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(
        CostSensitiveClassifier(inner, costs=COSTS),
        {"estimator__logisticregression__C": [0.01, 1.0], "threshold": ["bayes", "tuned"]},
    )
    search.fit(X, y)
    assert search.best_score_ > -1.0


def test_a_refused_fit_leaves_the_model_alone():
    X, y, _ = loans()
    model = CostSensitiveClassifier(LinearDiscriminantAnalysis(), threshold="tuned", costs=COSTS).fit(X, y)
    cutoff, coef = model.cutoff_, model.estimator_.coef_.copy()
    with pytest.raises(InvalidParameter, match="shape"):
        model.fit(X[:100, :2], y[:100], costs=np.zeros((3, 5)))
    assert model.cutoff_ == cutoff
    np.testing.assert_array_equal(model.estimator_.coef_, coef)
    model.set_params(threshold="bayes").fit(X, y)
    assert not hasattr(model, "cutoff_")


def test_refusals():
    X, y, amount = loans(100)
    lda = LinearDiscriminantAnalysis()
    three = np.arange(100) % 3
    costs = binary_costs(false_negative=amount, false_positive=2.0)
    with pytest.raises(InvalidParameter, match="threshold='best'"):
        CostSensitiveClassifier(lda, threshold="best").fit(X, y)
    with pytest.raises(InvalidParameter, match="one cut-off separates two"):
        CostSensitiveClassifier(lda, threshold="tuned").fit(X, three)
    with pytest.raises(InvalidParameter, match="one cut-off separates two"):
        CostSensitiveClassifier(lda, threshold="tuned", costs=np.ones((3, 2))).fit(X, y)
    with pytest.raises(InvalidParameter, match="reject_label=1"):
        CostSensitiveClassifier(lda, costs=np.ones((3, 2)), reject_label=1).fit(X, y)
    with pytest.raises(InvalidParameter, match="2 rows more"):
        CostSensitiveClassifier(lda, costs=np.ones((4, 2))).fit(X, y)
    with pytest.raises(NotAvailable, match="CalibratedClassifierCV"):
        CostSensitiveClassifier(LeastSquaresClassifier()).fit(X, y)
    with pytest.raises(InvalidData, match="50 rows, the data 100"):
        CostSensitiveClassifier(lda).fit(X, y, costs=costs[:50])
    with pytest.raises(InvalidParameter, match="takes no sample_weight"):
        CostSensitiveClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(100))
    with pytest.raises(InvalidParameter, match="metadata routing"):
        CostSensitiveClassifier(lda).fit(X, y, groups=y)
    with pytest.raises(InvalidParameter, match="the same for all rows"):
        CostSensitiveClassifier(lda, threshold="tuned").fit(X, y).predict(X, costs=costs)
    with pytest.raises(InvalidParameter, match="the same decisions"):
        CostSensitiveClassifier(lda).fit(X, y).predict(X, costs=np.ones((100, 3, 2)))
    with pytest.raises(InvalidTarget, match="weight 0"):
        CostSensitiveClassifier(DummyClassifier()).fit(X, y, costs=costs, sample_weight=(y == 0).astype(float))
