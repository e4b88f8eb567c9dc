"""What support vector machines refuse: the rule, the evidence, the remedy; and that an earlier fit survives."""

import numpy as np
import pytest

from hiperplano import HardMarginSVC, LinearSVC, LinearSVR
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget

X = np.random.default_rng(0).normal(size=(20, 2))
Y = np.where(X[:, 0] > 0, "yes", "no")
NAN = X.copy()
NAN[3, 1] = np.nan

PARAMETERS = [
    (LinearSVC(C=0.0), r"LinearSVC: C=0.0; C must be a finite number, more than 0. Set C"),
    (LinearSVC(C=-1.0), r"C=-1.0; C must be"),
    (LinearSVC(C=np.inf), r"C=inf; C must be a finite number"),
    (LinearSVC(C="1"), r"C='1'; C must be"),
    (LinearSVC(loss="log"), r"loss='log'; loss must be one of 'hinge', 'squared_hinge'"),
    (LinearSVC(multi_class="ovo"), r"multi_class='ovo'; multi_class must be one of 'ovr', 'crammer_singer'"),
    (LinearSVC(solver="sgd"), r"solver='sgd'; solver must be one of 'auto', 'newton', 'dual'"),
    (LinearSVC(tol=0.0), r"tol=0.0; tol must be a finite number, more than 0"),
    (LinearSVC(max_iter=-1), r"max_iter=-1; max_iter must be a whole number of 0 or more"),
    (LinearSVC(dual="never"), r"dual='never'; dual has no effect here, but must be True, False or 'auto'"),
    (LinearSVC(random_state="today"), r"random_state='today'; random_state has no effect here"),
    (LinearSVC(fit_intercept="no"), r"fit_intercept='no'; fit_intercept must be True or False"),
    (HardMarginSVC(tol=-1.0), r"HardMarginSVC: tol=-1.0; tol must be"),
    (HardMarginSVC(max_iter=1.5), r"max_iter=1.5; max_iter must be a whole number"),
]


@pytest.mark.parametrize(("model", "message"), PARAMETERS, ids=lambda value: str(value)[:40])
def test_parameters_outside_their_range(model, message):
    with pytest.raises(InvalidParameter, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize("wrong", [{"epsilon": -0.1}, {"loss": "squared"}, {"C": 0}])
def test_parameters_of_the_regression(wrong):
    with pytest.raises(InvalidParameter, match=f"LinearSVR: {next(iter(wrong))}="):
        LinearSVR(**wrong).fit(X, X[:, 0])


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVC(loss="hinge", solver="dual"), HardMarginSVC()])
def test_targets_and_rows(model):
    model.fit(X, Y)
    before = model.coef_
    with pytest.raises(InvalidTarget, match=r"y holds one class \('yes' in all 20 rows\); a classifier needs 2"):
        model.fit(X, np.full(20, "yes"))
    with pytest.raises(InvalidData, match=r"NaN \(first in row 3, column 1\); every number must be finite"):
        model.fit(NAN, Y)
    assert model.coef_ is before
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_a_class_without_weight_is_a_class_without_rows(multi_class):
    for model in (LinearSVC().fit(X, Y, sample_weight=Y == "yes"), LinearSVC(class_weight={"no": 0.0}).fit(X, Y)):
        assert model.classes_.tolist() == ["no", "yes"]
        assert set(model.predict(X)) == {"yes"}
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(90, 3)), np.arange(90) % 3
    rows[np.arange(90), labels] += 1.0
    model = LinearSVC(multi_class=multi_class).fit(rows, labels, sample_weight=labels > 0)
    part = LinearSVC(multi_class="ovr" if multi_class == "ovr" else multi_class).fit(
        rows[labels > 0], labels[labels > 0]
    )
    assert model.coef_.shape == (3, 3)
    if multi_class == "ovr":
        np.testing.assert_array_equal(model.predict(rows), part.predict(rows))
    assert not (model.predict(rows) == 0).any()


def test_regression_takes_one_target():
    with pytest.raises(InvalidData, match="1d array"):
        LinearSVR().fit(X, X)
