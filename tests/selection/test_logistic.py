"""LogisticRegressionCV against fits made one by one."""

import numpy as np
import pandas
import pytest
import sklearn.linear_model
from scipy.sparse import csr_array
from sklearn.metrics import get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from threadpoolctl import threadpool_limits

from hiperplano import LogisticRegression, LogisticRegressionCV
from hiperplano.errors import ConvergenceWarning, InvalidParameter
from hiperplano.selection import logistic_fits

CS = [1e-3, 0.03, 1.0, 30.0]


def sample(n=240, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    y = (Z @ rng.normal(size=(d, classes)) * 0.7 + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return (Z + 3.0) * 10.0 ** rng.integers(-2, 4, d), y


def search(Cs, **parameters):
    return LogisticRegressionCV(Cs=Cs, use_legacy_attributes=False, **parameters)


def fold_scores(model):
    """Of shape (folds, Cs)."""
    return model.scores_[:, 0]


def brute_force(X, y, splits, scorer=None, weight=None, **parameters):
    """Scores of shape (folds, Cs) of fits made one at a time, on copies of the rows."""
    scores = []
    for train, test in splits:
        row = []
        for C in CS:
            own = None if weight is None else weight[train]
            model = LogisticRegression(C=C, tol=1e-10, **parameters).fit(X[train], y[train], own)
            own = None if weight is None else weight[test]
            if scorer is None:
                labels = model.classes_
                row.append(-log_loss(y[test], model.predict_proba(X[test]), sample_weight=own, labels=labels))
            else:
                row.append(scorer(model, X[test], y[test], **({} if own is None else {"sample_weight": own})))
        scores.append(row)
    return np.array(scores)


def bootstrap(n, seed=0, repeats=3):
    """Training rows drawn with repetition, tested on those never drawn."""
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        train = rng.integers(0, n, n)
        yield train, np.setdiff1d(np.arange(n), train)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "cv",
    [
        4,
        KFold(3, shuffle=True, random_state=0),
        ShuffleSplit(4, test_size=0.4, random_state=0),
        StratifiedShuffleSplit(3, random_state=1),
        "bootstrap",
        "masks",
        "negative",
        "repeated tests",
    ],
    ids=str,
)
def test_scores_equal_fits_one_by_one(cv, classes):
    X, y = sample(classes=classes)
    n = len(y)
    plain = list(StratifiedKFold(3).split(X, y))
    splits = {
        "bootstrap": list(bootstrap(n)),
        "masks": [(np.isin(np.arange(n), train), np.isin(np.arange(n), test)) for train, test in plain],
        "negative": [(train - n, test - n) for train, test in plain],
        "repeated tests": [(train, np.repeat(test, 1 + test % 2)) for train, test in plain],
    }.get(cv if isinstance(cv, str) else "")
    model = search(CS, cv=cv if splits is None else splits, tol=1e-9).fit(X, y)
    if splits is None:
        splits = list((StratifiedKFold(cv) if isinstance(cv, int) else cv).split(X, y))
    expected = brute_force(X, y, splits)
    np.testing.assert_allclose(fold_scores(model), expected, rtol=1e-7)
    mean = expected.mean(axis=0)
    assert CS[int(mean.argmax())] == model.C_
    np.testing.assert_allclose(model.best_score_, mean.max(), rtol=1e-7)
    again = LogisticRegression(C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", [np.array, csr_array])
def test_weights_classes_and_sparse_rows(make, classes, fit_intercept):
    X, y = sample(classes=classes, seed=1)
    X[np.abs(X) < np.quantile(np.abs(X), 0.3)] = 0.0
    labels = np.array(["good", "late", "bad"])[y]
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    splits = list(StratifiedKFold(4).split(X, labels))
    model = search(CS, cv=4, fit_intercept=fit_intercept, tol=1e-9).fit(make(X), labels, weight)
    expected = brute_force(X, labels, splits, weight=weight, fit_intercept=fit_intercept)
    np.testing.assert_allclose(fold_scores(model), expected, rtol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "neg_brier_score", "neg_log_loss"])
def test_any_scorer(scoring, weighted):
    X, y = sample(seed=2)
    weight = np.random.default_rng(1).uniform(0.2, 2.0, len(y)) if weighted else None
    model = search(CS, scoring=scoring, tol=1e-9).fit(X, y, weight)
    expected = brute_force(X, y, StratifiedKFold(5).split(X, y), get_scorer(scoring), weight)
    np.testing.assert_allclose(fold_scores(model), expected, rtol=1e-6)
    assert (
        min(C for C, mean in zip(CS, fold_scores(model).mean(axis=0), strict=True) if mean == model.best_score_)
        == model.C_
    )


def test_a_scorer_of_ones_own():
    X, y = sample(seed=3)
    own = make_scorer(roc_auc_score, response_method="decision_function")
    left = search(CS, scoring=own).fit(X, y)
    right = search(CS, scoring="roc_auc").fit(X, y)
    np.testing.assert_allclose(fold_scores(left), fold_scores(right), rtol=1e-12)


def test_agrees_with_scikit_learn():
    X, y = sample(seed=4)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = search(CS, cv=5, tol=1e-9).fit(X, y)
    theirs = sklearn.linear_model.LogisticRegressionCV(
        Cs=CS, cv=5, scoring="neg_log_loss", tol=1e-10, solver="newton-cg", use_legacy_attributes=False, l1_ratios=(0,)
    ).fit(X, y)
    np.testing.assert_allclose(fold_scores(ours), np.squeeze(theirs.scores_), rtol=1e-6)
    assert np.ravel(theirs.C_)[0] == ours.C_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


def test_class_weights_count_in_fits():
    X, y = sample(seed=5)
    model = LogisticRegressionCV(
        Cs=CS, use_legacy_attributes=False, class_weight={0: 1.0, 1: 4.0}, tol=1e-9, scoring="accuracy"
    ).fit(X, y)
    expected = brute_force(X, y, StratifiedKFold(5).split(X, y), get_scorer("accuracy"), class_weight={0: 1.0, 1: 4.0})
    np.testing.assert_allclose(fold_scores(model), expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_default_score_is_the_negative_log_loss(classes):
    X, y = sample(classes=classes, seed=5)
    ours = search(CS, class_weight="balanced").fit(X, y)
    named = LogisticRegressionCV(
        Cs=CS, use_legacy_attributes=False, class_weight="balanced", scoring="neg_log_loss"
    ).fit(X, y)
    np.testing.assert_allclose(fold_scores(ours), fold_scores(named), rtol=1e-12)


def test_groups_come_through_a_list_of_splits():
    X, y = sample(seed=6)
    groups = np.arange(len(y)) % 3
    splits = list(LeaveOneGroupOut().split(X, y, groups))
    model = search(CS, cv=iter(splits), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(fold_scores(model), brute_force(X, y, splits), rtol=1e-7)


def test_the_order_of_Cs_is_kept():
    X, y = sample(seed=7)
    forth, back = (
        search(CS).fit(X, y),
        search(CS[::-1]).fit(X, y),
    )
    np.testing.assert_allclose(fold_scores(forth), fold_scores(back)[:, ::-1], rtol=1e-6)
    assert forth.C_ == back.C_
    np.testing.assert_array_equal(search(3).fit(X, y).Cs_, [1e-4, 1.0, 1e4])


def test_folds_of_a_tall_table_by_a_sample():
    """Enough rows that folds start from a sample's solution."""
    X, y = sample(40_000, 5, seed=8)
    model = search(CS, cv=3, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(fold_scores(model), brute_force(X, y, StratifiedKFold(3).split(X, y)), rtol=1e-7)


def test_folds_of_many_sparse_columns():
    """So many that folds are fitted one by one, by products with Hessians."""
    X, y = sample(600, 200, seed=11)
    X[np.abs(X) < np.quantile(np.abs(X), 0.97)] = 0.0
    model = search(CS, cv=3, tol=1e-9).fit(csr_array(X), y)
    np.testing.assert_allclose(fold_scores(model), brute_force(X, y, StratifiedKFold(3).split(X, y)), rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_same_bits_for_any_number_of_threads(classes):
    X, y = sample(20_000, 6, classes=classes, seed=9)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = search([0.01, 1.0], cv=2).fit(X, y)
        found.append((fold_scores(model).tobytes(), model.coef_.tobytes()))
    assert found[0] == found[1]


def test_names_and_summary():
    X, y = sample()
    model = search(CS).fit(pandas.DataFrame(X, columns=list("abcd")), y)
    assert model.summary().names == ["intercept", *"abcd"]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_missing_from_a_fold_is_one_of_the_classes(classes):
    X, y = sample(classes=classes)
    y = np.where(np.arange(len(y)) < 3, classes, y)
    model = LogisticRegressionCV(Cs=[0.1, 1.0], cv=KFold(4), scoring="neg_brier_score", use_legacy_attributes=False)
    model.fit(X, y)
    _, test = next(KFold(4).split(X))
    fitted = LogisticRegression(C=0.1).fit(X, y, (np.arange(len(y)) >= 60).astype(float))
    assert fitted.classes_.tolist() == model.classes_.tolist() == list(range(classes + 1))
    assert not (fitted.predict(X) == classes).any()
    chances = fitted.predict_proba(X[test])
    scored = np.mean(np.sum((chances - np.eye(classes + 1)[y[test]]) ** 2, axis=1))
    assert fold_scores(model)[0, 0] == pytest.approx(-scored, abs=1e-6)


def test_a_score_that_is_no_number():
    X, y = sample()

    def score(model, X, y):
        return np.nan

    with pytest.raises(InvalidParameter, match=r"gives NaN in 20 of 20 cases.*Choose another scorer"):
        search(CS, scoring=score).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"Cs": []}, "Cs is empty"),
        ({"Cs": 0}, "Cs=0"),
        ({"Cs": [1.0, -1.0]}, r"Cs\[1\]=-1.0"),
        ({"Cs": ["1"]}, r"Cs\[0\]='1'"),
        ({"Cs": [np.nan]}, "Cs"),
        ({"refit": "yes"}, "refit='yes'"),
        ({"verbose": None}, "verbose=None; verbose has no effect here"),
        ({"tol": -1}, "tol=-1"),
        ({"solver": "quick"}, "solver='quick'"),
        ({"fit_intercept": 1}, "fit_intercept=1"),
        ({"cv": [(np.arange(300), np.arange(5))]}, "from 0 to 299 of a table of 240"),
        ({"cv": [(np.arange(100), np.arange(0))]}, "cv gives 0 rows"),
    ],
)
def test_bad_parameters(parameters, words):
    X, y = sample()
    model = search(CS).fit(X, y)
    before = model.coef_
    with pytest.raises(InvalidParameter, match=words):
        model.set_params(**parameters).fit(X[:, :2] if "cv" not in parameters else X, y)
    assert model.coef_ is before


@pytest.mark.parametrize("classes", [2, 3])
def test_folds_that_end_early_say_so(classes):
    X, y = sample(classes=classes)
    with pytest.warns(ConvergenceWarning) as record:
        search(CS, max_iter=1).fit(X, y)
    said = [str(one.message) for one in record]
    assert any("fits to some folds stopped after max_iter=1" in words for words in said)
    assert all(one.filename == __file__ for one in record)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("listed", [False, True])
def test_rows_without_weight_are_no_rows(classes, listed):
    """Splits that are listed name rows as they were given; a splitter divides those that count."""
    X, y = sample(classes=classes)
    weight = np.where(np.arange(len(y)) % 5 == 2, 0.0, 1.5)
    kept = np.flatnonzero(weight)
    splits = list(KFold(3, shuffle=True, random_state=0).split(X))
    among = [[np.searchsorted(kept, np.intersect1d(rows, kept)) for rows in split] for split in splits]
    whole = search(CS, cv=splits if listed else 3, tol=1e-9).fit(X, y, weight)
    part = search(CS, cv=among if listed else 3, tol=1e-9).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_allclose(fold_scores(whole), fold_scores(part), rtol=1e-9)
    np.testing.assert_allclose(whole.coef_, part.coef_, rtol=1e-9)


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_a_row_tested_twice_counts_twice(scoring):
    X, y = sample()
    train, test = np.arange(160), np.arange(160, 240)
    model = LogisticRegressionCV(
        Cs=[1.0], use_legacy_attributes=False, cv=[(train, np.r_[test, test[:30]])], scoring=scoring, tol=1e-9
    ).fit(X, y)
    fitted = LogisticRegression(C=1.0, tol=1e-10).fit(X[train], y[train])
    again = np.r_[test, test[:30]]
    expected = -log_loss(y[again], fitted.predict_proba(X[again]))
    assert fold_scores(model)[0, 0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_training_rows_have_weights_only_if_they_count_differently(weighted, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, :3] + rng.gumbel(size=(300, 3))).argmax(axis=1)
    seen = []

    class Path(logistic_fits.PenaltyPath):
        def __init__(self, design, *args, **options):
            seen.append(design.has_weight)
            super().__init__(design, *args, **options)

    monkeypatch.setattr(logistic_fits, "PenaltyPath", Path)
    weight = np.full(300, 2.0) if weighted else None
    LogisticRegressionCV(Cs=[1.0], cv=[*StratifiedKFold(3).split(X, y), *bootstrap(300)]).fit(X, y, weight)
    assert seen == [weighted] * 3 + [True] * 3
