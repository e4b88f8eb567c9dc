"""The models under attack, each with its judge."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit

import hiperplano as hp
from tools.attack import references as ref
from tools.attack.references import Sample
from tools.attack.walks import compare_walk

Judge = Callable[[Any, Sample], str]


@dataclass(frozen=True)
class Attacked:
    """A model to fit.

    Attributes
    ----------
    judge : callable or None
        What is wrong with a fit, by an independent solve; None if only finite numbers are asked for.
    many_targets : bool
        Takes targets with several columns.
    takes_weights : bool
        Has sample_weight.
    takes_target : bool
        Learns from y.
    may_refuse : bool
        Refuses rows for reasons of its own: not separable, too few for folds.
    """

    make: Callable[[], Any]
    judge: Judge | None = None
    classifier: bool = True
    many_targets: bool = False
    takes_weights: bool = True
    takes_target: bool = True
    may_refuse: bool = False
    classes: int = 3


def _signs(model: Any, sample: Sample) -> Any:
    classes = len(model.classes_)
    if classes == 2:
        return np.where(sample.y == 1, 1.0, -1.0)[:, None]
    return np.where(sample.y[:, None] == np.arange(classes), 1.0, -1.0)


def _perceptron(model: Any, sample: Sample) -> str:
    move = lambda y, score, square, weight, t: (1.0, weight * y if y * score <= 0 else 0.0)  # noqa: E731
    return compare_walk(model, sample, _signs(model, sample), move, 0.0)


def _aggressive(model: Any, sample: Sample) -> str:
    def move(y: float, score: float, square: float, weight: float, t: int) -> tuple[float, float]:
        loss = max(0.0, 1 - y * score)
        return 1.0, y * min(weight * model.C, loss / square) if loss > 0 and square > 0 else 0.0

    return compare_walk(model, sample, _signs(model, sample), move, 1.0)


def _sgd_logistic(model: Any, sample: Sample) -> str:
    def move(y: float, score: float, square: float, weight: float, t: int) -> tuple[float, float]:
        return 1 - model.eta0 * model.alpha, model.eta0 * weight * y * float(expit(-y * score))

    return compare_walk(model, sample, _signs(model, sample), move, None)


def _svc(model: Any, sample: Sample) -> str:
    return ref.support_vectors(model, sample, _signs(model, sample), model.loss == "squared_hinge", None)


def _svr(model: Any, sample: Sample) -> str:
    squared = model.loss != "epsilon_insensitive"
    return ref.support_vectors(model, sample, sample.y.reshape(len(sample.X), -1), squared, model.epsilon)


class _Primal:
    """A kernel machine with the linear kernel, as the judge of linear ones takes it."""

    fit_intercept = True

    def __init__(self, model: Any) -> None:
        coef = model.coef_
        self.coef_ = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
        self.intercept_, self.C = model.intercept_, model.C

    def only(self, plane: int) -> _Primal:
        """One of several planes."""
        one = copy(self)
        one.coef_, one.intercept_ = self.coef_[[plane]], self.intercept_[[plane]]
        return one


def _is_blurred(model: Any, sample: Sample) -> bool:
    """Whether kernel values of this size leave no digits of a score: float64 cannot tell."""
    vectors, weights = (
        np.abs(part.toarray() if hasattr(part, "toarray") else part)
        for part in (model.support_vectors_, model.dual_coef_)
    )
    terms = (np.abs(sample.X) @ vectors.astype(float).T) @ weights.T
    return bool(np.finfo(float).eps * terms.max(initial=0.0) > 1e-9 * max(1.0, np.abs(sample.y).max()))


def _kernel_svc(model: Any, sample: Sample) -> str:
    if _is_blurred(model, sample):
        return ""
    plane, classes = _Primal(model), len(model.classes_)
    if classes == 2:
        return ref.support_vectors(plane, sample, _signs(model, sample), False, None)
    for pair, (first, second) in enumerate(combinations(range(classes), 2)):  # positive for the first, on their rows
        own = (sample.y == first) | (sample.y == second)
        part = Sample(sample.X[own], sample.y[own], sample.weight[own], None)
        wrong = ref.support_vectors(plane.only(pair), part, np.where(part.y == first, 1.0, -1.0)[:, None], False, None)
        if wrong:
            return f"classes {first} and {second}: {wrong}"
    return ""


def _kernel_svr(model: Any, sample: Sample) -> str:
    if _is_blurred(model, sample):
        return ""
    return ref.support_vectors(_Primal(model), sample, sample.y.reshape(len(sample.X), -1), False, model.epsilon)


def _regressor(make: Callable[[], Any], judge: Judge | None, **facts: Any) -> Attacked:
    return Attacked(make, judge, classifier=False, **facts)


MODELS = {
    "LinearRegression": _regressor(
        lambda: hp.LinearRegression(), lambda m, s: ref.regression(m, s, 0.0), many_targets=True
    ),
    "LinearRegression without intercept": _regressor(
        lambda: hp.LinearRegression(fit_intercept=False), lambda m, s: ref.regression(m, s, 0.0), many_targets=True
    ),
    "LinearRegression positive": _regressor(
        lambda: hp.LinearRegression(positive=True), lambda m, s: ref.regression(m, s, 0.0, True), many_targets=True
    ),
    "Ridge": _regressor(lambda: hp.Ridge(), lambda m, s: ref.regression(m, s, 1.0), many_targets=True),
    "Ridge weak": _regressor(lambda: hp.Ridge(1e-6), lambda m, s: ref.regression(m, s, 1e-6), many_targets=True),
    "RidgeCV": _regressor(
        lambda: hp.RidgeCV(), lambda m, s: ref.regression(m, s, m.alpha_), many_targets=True, may_refuse=True
    ),
    "RidgeCV folds": _regressor(
        lambda: hp.RidgeCV(cv=3), lambda m, s: ref.regression(m, s, m.alpha_), many_targets=True, may_refuse=True
    ),
    "KernelRidge": _regressor(lambda: hp.KernelRidge(), ref.linear_kernel, many_targets=True),
    "KernelRidgeCV": _regressor(lambda: hp.KernelRidgeCV(), None, many_targets=True, may_refuse=True),
    "LinearSVR": _regressor(lambda: hp.LinearSVR(epsilon=0.1, tol=1e-8), _svr),
    "LinearSVR squared": _regressor(
        lambda: hp.LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive", tol=1e-8), _svr
    ),
    "SVR": _regressor(lambda: hp.SVR(), None),
    "SVR linear": _regressor(lambda: hp.SVR(kernel="linear", tol=1e-8, max_iter=100_000), _kernel_svr),
    "NuSVR": _regressor(lambda: hp.NuSVR(), None),
    "SGDRegressor": _regressor(lambda: hp.SGDRegressor(random_state=0), None, may_refuse=True),
    "PassiveAggressiveRegressor": _regressor(lambda: hp.PassiveAggressiveRegressor(random_state=0), None),
    "LeastSquaresClassifier": Attacked(
        lambda: hp.LeastSquaresClassifier(), lambda m, s: ref.least_squares_classifier(m, s, 0.0)
    ),
    "RidgeClassifier": Attacked(
        lambda: hp.RidgeClassifier(), lambda m, s: ref.least_squares_classifier(m, s, 1.0, -1.0), many_targets=True
    ),
    "RidgeClassifierCV": Attacked(lambda: hp.RidgeClassifierCV(), None, may_refuse=True, many_targets=True),
    "LogisticRegression": Attacked(lambda: hp.LogisticRegression(), lambda m, s: ref.logistic(m, s, 1.0)),
    "LogisticRegression unpenalised": Attacked(
        lambda: hp.LogisticRegression(C=np.inf), lambda m, s: ref.logistic(m, s, np.inf)
    ),
    "LogisticRegression by L-BFGS": Attacked(
        lambda: hp.LogisticRegression(solver="lbfgs", C=10.0), lambda m, s: ref.logistic(m, s, 10.0)
    ),
    "LogisticRegression of Firth": Attacked(lambda: hp.LogisticRegression(firth=True), ref.firth, classes=2),
    "LogisticRegressionCV": Attacked(
        lambda: hp.LogisticRegressionCV(Cs=[0.1, 10.0], cv=3, tol=1e-8),
        lambda m, s: ref.logistic(m, s, float(np.ravel(m.C_)[0])),
        may_refuse=True,
    ),
    "SVC": Attacked(lambda: hp.SVC(), None),
    "SVC linear": Attacked(lambda: hp.SVC(kernel="linear", tol=1e-8, max_iter=100_000), _kernel_svc),
    "SVC with probabilities": Attacked(lambda: hp.SVC(probability=True, random_state=0), None),
    "NuSVC": Attacked(lambda: hp.NuSVC(nu=0.2), None, may_refuse=True),
    "OneClassSVM": Attacked(lambda: hp.OneClassSVM(), None, takes_target=False),
    "KernelLogisticRegression": Attacked(lambda: hp.KernelLogisticRegression(), None),
    "LinearSVC": Attacked(lambda: hp.LinearSVC(tol=1e-8), _svc),
    "LinearSVC hinge": Attacked(lambda: hp.LinearSVC(loss="hinge", tol=1e-8), _svc),
    "LinearSVC of Crammer and Singer": Attacked(lambda: hp.LinearSVC(loss="hinge", multi_class="crammer_singer"), None),
    "HardMarginSVC": Attacked(lambda: hp.HardMarginSVC(), None, takes_weights=False, may_refuse=True, classes=2),
    "LinearDiscriminantAnalysis": Attacked(
        lambda: hp.LinearDiscriminantAnalysis(), lambda m, s: ref.gaussian(m, s, False)
    ),
    "LinearDiscriminantAnalysis shrunk": Attacked(lambda: hp.LinearDiscriminantAnalysis(shrinkage="auto"), None),
    "QuadraticDiscriminantAnalysis": Attacked(
        lambda: hp.QuadraticDiscriminantAnalysis(), lambda m, s: ref.gaussian(m, s, True)
    ),
    "QuadraticDiscriminantAnalysis shrunk": Attacked(lambda: hp.QuadraticDiscriminantAnalysis(shrinkage="auto"), None),
    "CostSensitiveClassifier": Attacked(lambda: hp.CostSensitiveClassifier(), None),
    "CostSensitiveClassifier tuned": Attacked(
        lambda: hp.CostSensitiveClassifier(threshold="tuned"), None, may_refuse=True, classes=2
    ),
    "Perceptron": Attacked(lambda: hp.Perceptron(), None),
    "Perceptron in order": Attacked(lambda: hp.Perceptron(shuffle=False, tol=None, max_iter=3), _perceptron),
    "Perceptron averaged": Attacked(lambda: hp.Perceptron(average=True), None),
    "Perceptron with a pocket": Attacked(lambda: hp.Perceptron(pocket=True), None),
    "Perceptron from least squares": Attacked(lambda: hp.Perceptron(init="least_squares"), None),
    "Perceptron of all classes": Attacked(lambda: hp.Perceptron(multi_class="multinomial"), None),
    "Perceptron stopped early": Attacked(lambda: hp.Perceptron(early_stopping=True), None, may_refuse=True),
    "PassiveAggressiveClassifier": Attacked(lambda: hp.PassiveAggressiveClassifier(random_state=0), None),
    "PassiveAggressiveClassifier in order": Attacked(
        lambda: hp.PassiveAggressiveClassifier(shuffle=False, tol=None, max_iter=3), _aggressive
    ),
    "Pegasos": Attacked(lambda: hp.Pegasos(random_state=0), None),
    "SGDClassifier": Attacked(lambda: hp.SGDClassifier(random_state=0), None),
    "SGDClassifier in order": Attacked(
        lambda: hp.SGDClassifier("log_loss", learning_rate="constant", shuffle=False, tol=None, max_iter=3, eta0=0.01),
        _sgd_logistic,
    ),
}
