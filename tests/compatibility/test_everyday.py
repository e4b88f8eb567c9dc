"""Everyday calls of scripts written for scikit-learn, with our classes in the place of its own."""

import copy
import pickle

import joblib
import numpy as np
import pandas
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from hiperplano import (
    CostSensitiveClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)

IRIS, KIND = load_iris(return_X_y=True)
TABLE = load_iris(as_frame=True).data
LINE, LEVEL = (part[:120] for part in load_diabetes(return_X_y=True))
TWO = np.flatnonzero(KIND > 0)
CANCER, ILL = (part[:150] for part in load_breast_cancer(return_X_y=True))
GROUPS = np.arange(150) % 6
SEVERAL = np.column_stack([KIND == 0, KIND == 1]).astype(int)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


CLASSIFIERS = {
    "bagging": lambda: BaggingClassifier(LogisticRegression(), max_samples=5, random_state=3),
    "bagging svm": lambda: BaggingClassifier(LinearSVC(dual=False), max_samples=5, random_state=3),
    "bagging lda": lambda: BaggingClassifier(LinearDiscriminantAnalysis(), max_samples=5, random_state=3),
    "boosting": lambda: AdaBoostClassifier(LogisticRegression(max_iter=200), n_estimators=4),
    "boosting sgd": lambda: AdaBoostClassifier(SGDClassifier(loss="log_loss", random_state=0), n_estimators=4),
    "stacking": lambda: StackingClassifier([("svm", LinearSVC()), ("lda", LinearDiscriminantAnalysis())], cv=3),
    "stacking on top": lambda: StackingClassifier(
        [("qda", QuadraticDiscriminantAnalysis())], final_estimator=LogisticRegression(), cv=3
    ),
    "voting": lambda: VotingClassifier([("lr", LogisticRegression(n_jobs=1)), ("ridge", RidgeClassifier())]),
    "soft voting": lambda: VotingClassifier(
        [("lr", LogisticRegression()), ("lda", LinearDiscriminantAnalysis(solver="lsqr"))], voting="soft"
    ),
    "one versus rest": lambda: OneVsRestClassifier(LogisticRegression(solver="liblinear")),
    "one versus one": lambda: OneVsOneClassifier(LinearSVC(random_state=0)),
    "output codes": lambda: OutputCodeClassifier(Perceptron(tol=None, max_iter=50, average=True), random_state=0),
    "calibration": lambda: CalibratedClassifierCV(LinearSVC(), cv=3),
    "isotonic": lambda: CalibratedClassifierCV(RidgeClassifier(), method="isotonic", cv=3),
    "grid": lambda: GridSearchCV(LogisticRegression(), {"C": [0.1, 1], "penalty": ["l2", None]}, cv=3),
    "grid of steps": lambda: GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("model", LogisticRegression(random_state=0))]),
        {"model": [LogisticRegression(), LinearSVC(), LinearDiscriminantAnalysis()]},
        cv=3,
    ),
    "random search": lambda: RandomizedSearchCV(LinearSVC(), {"C": [0.1, 1, 10]}, n_iter=2, random_state=0, cv=3),
    "plain sgd": lambda: make_pipeline(StandardScaler(), SGDClassifier(max_iter=50, tol=None, random_state=0)),
    "recursive elimination": lambda: RFE(LogisticRegression(), n_features_to_select=2),
    "elimination by folds": lambda: RFECV(LinearSVC(), cv=3),
    "polynomials": lambda: make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=500)),
    "selection": lambda: make_pipeline(SelectFromModel(LogisticRegression()), LinearDiscriminantAnalysis()),
    "sequential selection": lambda: make_pipeline(
        SequentialFeatureSelector(RidgeClassifier(), n_features_to_select=2, cv=3), RidgeClassifier()
    ),
    "transform": lambda: make_pipeline(LinearDiscriminantAnalysis(n_components=1), LogisticRegression()),
    "self-training": lambda: SelfTrainingClassifier(LogisticRegression()),
    "search": lambda: LogisticRegressionCV(Cs=3, cv=3, n_jobs=2, scoring="accuracy"),
    "ridge search": lambda: RidgeClassifierCV(alphas=[1e-3, 1, 100]),
    "crammer and singer": lambda: LinearSVC("l2", "hinge", C=10, multi_class="crammer_singer", max_iter=5000),
    "old solvers": lambda: LogisticRegression("l2", solver="saga", dual=False, tol=1e-3, verbose=0),
    "huber": lambda: scaled(SGDClassifier(loss="modified_huber", random_state=0)),
    "pa": lambda: scaled(SGDClassifier(loss="hinge", learning_rate="pa1", eta0=1.0, penalty=None, random_state=0)),
    "passive-aggressive": lambda: scaled(PassiveAggressiveClassifier(random_state=0, average=True)),
    "perceptron": lambda: scaled(Perceptron(penalty="l2", alpha=1e-4, l1_ratio=0.15, random_state=0)),
    "balanced": lambda: LogisticRegression(class_weight="balanced", intercept_scaling=2, fit_intercept=True),
    "columns": lambda: make_pipeline(ColumnTransformer([("s", StandardScaler(), [0, 1, 2, 3])]), LinearSVC(tol=1e-3)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    model = CLASSIFIERS[name]().fit(IRIS, KIND)
    assert is_classifier(model)
    assert model.score(IRIS, KIND) > 0.6
    assert set(model.predict(IRIS[:9])) <= {0, 1, 2}
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(IRIS).sum(axis=1), 1.0)


REGRESSORS = {
    "bagging": lambda: BaggingRegressor(Ridge(0.1, copy_X=False), n_estimators=3, random_state=0),
    "stacking": lambda: StackingRegressor([("lr", LinearRegression(n_jobs=-1)), ("svr", LinearSVR(C=100))], RidgeCV()),
    "voting": lambda: VotingRegressor([("lr", LinearRegression()), ("ridge", Ridge(solver="svd"))]),
    "grid": lambda: GridSearchCV(
        Ridge(random_state=0), {"alpha": [0.1, 1], "solver": ["cholesky", "lsqr", "sag"]}, cv=3
    ),
    "target": lambda: TransformedTargetRegressor(Ridge(alpha=0.1), func=np.log, inverse_func=np.exp),
    "search": lambda: RidgeCV(np.logspace(-3, 1, 5), gcv_mode="auto", store_cv_results=True),
    "sgd": lambda: scaled(SGDRegressor(loss="squared_epsilon_insensitive", l1_ratio=0.2, random_state=0)),
    "svr": lambda: scaled(LinearSVR(dual="auto", C=10, epsilon=1.0, intercept_scaling=1.0, random_state=0)),
    "positive": lambda: LinearRegression(positive=True, copy_X=True, n_jobs=None),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    model = REGRESSORS[name]().fit(LINE, LEVEL)
    assert is_regressor(model)
    assert model.score(LINE, LEVEL) > 0.3
    assert model.predict(LINE).shape == (120,)


CALLS = {
    "cross_val_score": lambda: cross_val_score(LogisticRegression(), CANCER, ILL, cv=3, scoring="roc_auc").min() > 0.8,
    "cross_validate": lambda: (
        cross_validate(
            LinearDiscriminantAnalysis(), IRIS, KIND, cv=3, scoring=["accuracy", "neg_log_loss"], return_estimator=True
        )["test_accuracy"].min()
        > 0.9
    ),
    "cross_val_predict": lambda: (
        cross_val_predict(LogisticRegression(), IRIS, KIND, cv=3, method="predict_proba").shape == (150, 3)
    ),
    "learning_curve": lambda: len(
        learning_curve(LogisticRegression(), IRIS, KIND, shuffle=True, random_state=0, cv=3)[0]
    ),
    "validation_curve": lambda: (
        validation_curve(Ridge(), LINE, LEVEL, param_name="alpha", param_range=[0.1, 1], cv=3)[1].shape == (2, 3)
    ),
    "permutation_importance": lambda: (
        permutation_importance(
            LogisticRegression().fit(IRIS, KIND), IRIS, KIND, n_repeats=2, random_state=0
        ).importances_mean.max()
        > 0.1
    ),
    "tuned threshold": lambda: TunedThresholdClassifierCV(LogisticRegression(), cv=3).fit(CANCER, ILL).best_threshold_,
    "fixed threshold": lambda: FixedThresholdClassifier(LinearSVC(), threshold=0.1).fit(CANCER, ILL).predict(CANCER),
    "several labels": lambda: RidgeClassifier().fit(IRIS, SEVERAL).predict(IRIS).shape == (150, 2),
    "classifier for each label": lambda: MultiOutputClassifier(LogisticRegression()).fit(IRIS, SEVERAL).predict(IRIS),
    "chain of labels": lambda: ClassifierChain(LogisticRegression()).fit(IRIS, SEVERAL).predict_proba(IRIS),
    "regressor for each target": lambda: MultiOutputRegressor(LinearSVR()).fit(IRIS[:, :2], IRIS[:, 2:]),
    "chain of targets": lambda: RegressorChain(Ridge()).fit(IRIS[:, :2], IRIS[:, 2:]).predict(IRIS[:, :2]),
    "clone": lambda: clone(LogisticRegression(C=3, n_jobs=2)).get_params()["C"] == 3,
    "parameters": lambda: LinearSVC().set_params(dual=False, C=2).get_params()["dual"] is False,
    "pickle": lambda: pickle.loads(pickle.dumps(LogisticRegression().fit(IRIS, KIND))).score(IRIS, KIND) > 0.9,
    "deep copy": lambda: copy.deepcopy(Ridge(0.1).fit(LINE, LEVEL)).score(LINE, LEVEL) > 0.3,
    "html": lambda: "LogisticRegression" in LogisticRegression()._repr_html_(),
    "text": lambda: repr(LogisticRegression(C=2, penalty=None)) == "LogisticRegression(C=2, penalty=None)",
    "names": lambda: LogisticRegression().fit(TABLE, KIND).feature_names_in_.tolist() == list(TABLE.columns),
    "frames out": lambda: isinstance(
        LinearDiscriminantAnalysis().set_output(transform="pandas").fit(TABLE, KIND).transform(TABLE), pandas.DataFrame
    ),
    "labels as text": lambda: LogisticRegression().fit(IRIS, KIND.astype(str)).predict(IRIS[:1])[0] == "0",
    "column of labels": lambda: (
        CostSensitiveClassifier(LogisticRegression(), costs=[[0, 1], [5, 0]], threshold="tuned", cv=3)
        .fit(CANCER, ILL[:, None])
        .predict(CANCER)
    ),
    "legacy attributes": lambda: LogisticRegressionCV(Cs=4, cv=3).fit(IRIS, KIND).scores_[1].mean(axis=0).shape == (4,),
    "chosen C": lambda: LogisticRegressionCV(Cs=[1.0], cv=3).fit(CANCER, ILL).C_[0] == 1.0,
    "steps": lambda: LogisticRegression().fit(IRIS, KIND).n_iter_[0] > 0,
    "sparsify": lambda: LogisticRegression().fit(IRIS, KIND).sparsify().predict(IRIS[:3]),
    "first chunk": lambda: SGDClassifier().partial_fit(IRIS, KIND, classes=np.unique(KIND)).t_ > 1,
    "a callable scorer": lambda: (
        RidgeCV(scoring=make_scorer(lambda y, p: -np.abs(y - p).max())).fit(LINE, LEVEL).alpha_
    ),
    "groups": lambda: (
        LogisticRegressionCV(Cs=2, cv=GroupKFold(3)).fit(IRIS, KIND, groups=GROUPS).coefs_paths_[0].shape == (3, 2, 5)
    ),
    "no refit": lambda: LogisticRegressionCV(Cs=2, cv=3, refit=False).fit(IRIS, KIND).score(IRIS, KIND) > 0.9,
    "a weight of 0": lambda: LogisticRegression(class_weight={0: 0}).fit(IRIS, KIND).classes_.tolist() == [0, 1, 2],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    found = CALLS[name]()
    assert not (isinstance(found, bool | np.bool_) and not found)


def test_joblib_files(tmp_path):
    joblib.dump(LinearSVC().fit(IRIS, KIND), tmp_path / "model.joblib")
    assert joblib.load(tmp_path / "model.joblib").score(IRIS, KIND) > 0.9


@pytest.mark.parametrize("model", [RidgeCV(cv=GroupKFold(3)), RidgeCV(cv=GroupKFold(3), scoring="r2")], ids=str)
def test_metadata_reach_the_splitter_and_the_scorer(model):
    groups, weight = np.arange(120) % 4, np.arange(120) % 3 + 1.0
    plain = model.fit(LINE, LEVEL, groups=groups).scores_
    with config_context(enable_metadata_routing=True):
        routed = clone(model).set_params(cv=GroupKFold(3).set_split_request(groups=True))
        np.testing.assert_array_equal(routed.fit(LINE, LEVEL, groups=groups).scores_, plain)
        scorer = make_scorer(lambda y, p, sample_weight=None: 0.0 if sample_weight is None else sample_weight.sum())
        asked = clone(routed).set_params(scoring=scorer.set_score_request(sample_weight=True))
        assert asked.fit(LINE, LEVEL, sample_weight=weight, groups=groups).best_score_ == pytest.approx(
            weight.sum() / 3
        )
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        model.fit(LINE, LEVEL, colour="red")


def test_sizes_of_the_paths_of_a_search():
    search = LogisticRegressionCV(Cs=[0.1, 1.0], cv=4, l1_ratios=(0,), use_legacy_attributes=False).fit(IRIS, KIND)
    assert search.coefs_paths_.shape == (4, 1, 2, 3, 5)
    assert search.scores_.shape == search.n_iter_.shape == (4, 1, 2)
    assert (search.C_, search.l1_ratio_) in ((0.1, 0.0), (1.0, 0.0))
    legacy = LogisticRegressionCV(Cs=[0.1, 1.0], cv=4, l1_ratios=(0,)).fit(IRIS[TWO], KIND[TWO])
    assert list(legacy.scores_) == [2]
    assert legacy.scores_[2].shape == (4, 2, 1)
    assert legacy.coefs_paths_[2].shape == (4, 2, 1, 5)
    assert legacy.C_.shape == legacy.l1_ratio_.shape == (1,)
