"""hiperplano: ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workload import Answer, Array

DISTRIBUTION = "hiperplano"
# The package loads its models when they are first asked for; to be honest, one is asked for.


def linear_regression(X: Array, y: Array) -> Answer:
    from hiperplano import LinearRegression

    model = LinearRegression().fit(X, y)
    return Answer(model.coef_, model.intercept_)


def linear_regression_summary(X: Array, y: Array) -> Answer:
    from hiperplano import LinearRegression

    model = LinearRegression().fit(X, y)
    table = model.summary()
    return Answer(model.coef_, model.intercept_, {"se": table.se, "p": table.p, "low": table.low, "high": table.high})


def ridge(X: Array, y: Array, alpha: float) -> Answer:
    from hiperplano import Ridge

    model = Ridge(alpha=alpha).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def ridge_cv(X: Array, y: Array, alphas: Array, cv: int | None) -> Answer:
    from hiperplano import RidgeCV

    model = RidgeCV(alphas=alphas, cv=cv).fit(X, y)
    return Answer(model.coef_, model.intercept_, {"alpha": model.alpha_, "score": model.best_score_})


def kernel_ridge(X: Array, y: Array, alpha: float, gamma: float) -> Answer:
    from hiperplano import KernelRidge

    return Answer(KernelRidge(alpha, kernel="rbf", gamma=gamma).fit(X, y).dual_coef_)


def kernel_ridge_cv(X: Array, y: Array, alphas: Array, gamma: float, cv: int) -> Answer:
    from hiperplano import KernelRidgeCV

    model = KernelRidgeCV(alphas, kernel="rbf", gamma=gamma, cv=cv).fit(X, y)
    return Answer(figures={"alpha": model.alpha_, "score": model.best_score_})


def nystroem(problem: Any, alpha: float, gamma: float, n_centres: int) -> Answer:
    from hiperplano import KernelRidge

    model = KernelRidge(alpha, kernel="rbf", gamma=gamma, solver="nystroem", n_components=n_centres)
    return Answer(figures={"predicted": model.fit(problem.X, problem.y).predict(problem.X_test)})


def logistic(X: Array, y: Array, **parameters: Any) -> Answer:
    from hiperplano import LogisticRegression

    model = LogisticRegression(**parameters).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def logistic_summary(X: Array, y: Array) -> Answer:
    from hiperplano import LogisticRegression

    model = LogisticRegression(C=np.inf).fit(X, y)
    table = model.summary()
    return Answer(model.coef_, model.intercept_, {"se": table.se, "p": table.p, "low": table.low, "high": table.high})


def logistic_cv(X: Array, y: Array, Cs: Array, folds: int, tol: float) -> Answer:
    from hiperplano import LogisticRegressionCV

    model = LogisticRegressionCV(Cs=Cs, cv=folds, tol=tol).fit(X, y)
    return Answer(model.coef_, model.intercept_, {"C": model.C_, "score": model.best_score_})


def linear_discriminant(X: Array, y: Array, judged: Array, shrinkage: str | None = None) -> Answer:
    from hiperplano import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    return Answer(model.coef_, model.intercept_, {"scores": model.decision_function(judged)})


def quadratic_discriminant(X: Array, y: Array, judged: Array) -> Answer:
    from hiperplano import QuadraticDiscriminantAnalysis

    model = QuadraticDiscriminantAnalysis().fit(X, y)
    return Answer(figures={"scores": model.decision_function(judged)})


def ranking(y: Array, score: Array) -> Answer:
    from hiperplano import ranking_scores

    found = ranking_scores(y, score)
    return Answer(figures={"ks": found.ks, "auc": found.auc, "gini": found.gini})


def perceptron(X: Any, y: Array, passes: int, average: bool = False) -> Answer:
    from hiperplano import Perceptron

    model = Perceptron(average=average, max_iter=passes, tol=None).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def passive_aggressive(X: Any, y: Array, passes: int) -> Answer:
    from hiperplano import PassiveAggressiveClassifier

    model = PassiveAggressiveClassifier(max_iter=passes, tol=None, random_state=0).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def pegasos(X: Any, y: Array, passes: int) -> Answer:
    from hiperplano import Pegasos

    model = Pegasos(max_iter=passes, tol=None, random_state=0).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def perceptron_rows(rows: list[tuple[Array, Array]]) -> Answer:
    from hiperplano import Perceptron

    model = Perceptron()
    model.partial_fit(*rows[0], classes=[0, 1])
    for x, label in rows[1:]:
        model.partial_fit(x, label)
    return Answer(model.coef_, model.intercept_)


def linear_svc(X: Any, y: Array, **parameters: Any) -> Answer:
    from hiperplano import LinearSVC

    model = LinearSVC(**parameters).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def hard_margin(X: Array, y: Array) -> Answer:
    from hiperplano import HardMarginSVC

    model = HardMarginSVC().fit(X, y)
    return Answer(model.coef_, model.intercept_)


def scorecard(frame: Any, y: Array) -> Answer:
    from hiperplano import Scorecard

    card = Scorecard(pdo=20, base_score=600, base_odds=50).fit(frame, y)
    return Answer(figures={"probability": card.event_probability})


def binning(x: Array, y: Array, prebins: Array, max_bins: int, min_bin_size: float, trend: str) -> Answer:
    from hiperplano import OptimalBinning

    model = OptimalBinning(prebins=prebins, max_bins=max_bins, min_bin_size=min_bin_size, trend=trend).fit(x, y)
    return Answer(figures={"cuts": [model.bins_.cuts]})


def encoder(X: Array, y: Array, max_bins: int, prebins: list[Array] | None = None) -> Answer:
    from hiperplano import OptimalBinning, WoEEncoder

    rules = {j: {"prebins": cuts} for j, cuts in enumerate(prebins or ())}
    model = WoEEncoder(OptimalBinning(max_bins=max_bins, trend="ascending"), per_column=rules).fit(X, y)
    fitted = model.binnings_.values()
    return Answer(figures={"cuts": [each.bins_.cuts for each in fitted], "iv": [each.iv_ for each in fitted]})


def group_categories(frame: Any, y: Array, max_bins: int) -> Answer:
    from hiperplano import OptimalBinning, WoEEncoder

    model = WoEEncoder(OptimalBinning(max_bins=max_bins, min_bin_size=0.05, rare=0.0)).fit(frame, y)
    return Answer(figures={"groups": [each.bins_.groups for each in model.binnings_.values()]})


def encode(model: Any, X: Array) -> Answer:
    return Answer(figures={"woe": model.transform(X)})


def svc(X: Any, y: Array, C: float, gamma: float) -> Answer:
    from hiperplano import SVC

    return _dual(SVC(C=C, gamma=gamma).fit(X, y), len(y))


def svr(X: Array, y: Array, C: float, gamma: float, epsilon: float) -> Answer:
    from hiperplano import SVR

    return _dual(SVR(C=C, gamma=gamma, epsilon=epsilon).fit(X, y), len(y))


def _dual(model: Any, n: int) -> Answer:
    beta, found = np.zeros(n), model.dual_coef_
    beta[model.support_] = (found.toarray() if hasattr(found, "toarray") else found)[0]
    return Answer(beta, model.intercept_[0])


def svc_classes(X: Array, y: Array, X_test: Array) -> Answer:
    from hiperplano import SVC

    return Answer(figures={"predicted": SVC().fit(X, y).predict(X_test)})


def svc_search(X: Array, y: Array, Cs: Array, gammas: Array, cv: int) -> Answer:
    from hiperplano import SVCCV

    return Answer(figures={"score": SVCCV(Cs=Cs, gammas=gammas, cv=cv).fit(X, y).best_score_})


def logistic_files(folder: Path, target: str) -> Answer:
    """Rows that stay in their files."""
    from hiperplano import LogisticRegression, scan

    model = LogisticRegression().fit(scan(folder, target, progress=False))
    return Answer(model.coef_[0], model.intercept_[0])
