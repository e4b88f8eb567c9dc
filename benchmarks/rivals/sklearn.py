"""scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workload import Answer, Array

DISTRIBUTION = "scikit-learn"


def linear_regression(X: Array, y: Array) -> Answer:
    from sklearn.linear_model import LinearRegression

    model = LinearRegression().fit(X, y)
    return Answer(model.coef_, model.intercept_)


def ridge(X: Array, y: Array, alpha: float, solver: str) -> Answer:
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=alpha, solver=solver).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def ridge_cv(X: Array, y: Array, alphas: Array, cv: int | None) -> Answer:
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(alphas=alphas, cv=cv).fit(X, y)
    return Answer(model.coef_, model.intercept_, {"alpha": model.alpha_, "score": model.best_score_})


def kernel_ridge(X: Array, y: Array, alpha: float, gamma: float) -> Answer:
    from sklearn.kernel_ridge import KernelRidge

    return Answer(KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(X, y).dual_coef_)


def kernel_ridge_cv(X: Array, y: Array, alphas: Array, gamma: float, cv: int) -> Answer:
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    model = GridSearchCV(KernelRidge(kernel="rbf", gamma=gamma), {"alpha": alphas}, cv=cv).fit(X, y)
    return Answer(figures={"alpha": model.best_params_["alpha"], "score": model.best_score_})


def nystroem(problem: Any, alpha: float, gamma: float, n_centres: int) -> Answer:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    features = Nystroem(kernel="rbf", gamma=gamma, n_components=n_centres, random_state=0)
    model = make_pipeline(features, Ridge(alpha=alpha, fit_intercept=False)).fit(problem.X, problem.y)
    return Answer(figures={"predicted": model.predict(problem.X_test)})


def logistic(X: Array, y: Array, **parameters: Any) -> Answer:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(**parameters).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def logistic_cv(X: Array, y: Array, Cs: Array, folds: int, tol: float) -> Answer:
    import warnings

    from sklearn.linear_model import LogisticRegressionCV

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = LogisticRegressionCV(Cs=Cs, cv=folds, scoring="neg_log_loss", tol=tol, max_iter=1000).fit(X, y)
    scores = next(iter(model.scores_.values())) if isinstance(model.scores_, dict) else model.scores_
    return Answer(
        model.coef_, model.intercept_, {"C": float(model.C_.ravel()[0]), "score": float(scores.mean(axis=0).max())}
    )


def linear_discriminant(X: Array, y: Array, judged: Array, solver: str, shrinkage: str | None = None) -> Answer:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage).fit(X, y)
    return Answer(model.coef_, model.intercept_, {"scores": model.decision_function(judged)})


def quadratic_discriminant(X: Array, y: Array, judged: Array, solver: str) -> Answer:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    model = QuadraticDiscriminantAnalysis(solver=solver).fit(X, y)
    return Answer(figures={"scores": model.decision_function(judged)})


def perceptron(X: Any, y: Array, passes: int) -> Answer:
    from sklearn.linear_model import Perceptron

    model = Perceptron(max_iter=passes, tol=None).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def stochastic(X: Any, y: Array, passes: int, **parameters: Any) -> Answer:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(max_iter=passes, tol=None, random_state=0, **parameters).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def perceptron_rows(rows: list[tuple[Array, Array]]) -> Answer:
    from sklearn.linear_model import Perceptron

    model = Perceptron()
    model.partial_fit(*rows[0], classes=[0, 1])
    for x, label in rows[1:]:
        model.partial_fit(x, label)
    return Answer(model.coef_, model.intercept_)


def linear_svc(X: Any, y: Array, **parameters: Any) -> Answer:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how far it came is judged by its objective
        model = LinearSVC(**parameters).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def hard_margin(X: Array, y: Array) -> Answer:
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=1e10).fit(X, y)
    return Answer(model.coef_, model.intercept_)


def svc(X: Any, y: Array, C: float, gamma: float, cache_size: float = 200) -> Answer:
    from sklearn.svm import SVC

    return _dual(SVC(C=C, gamma=gamma, cache_size=cache_size).fit(X, y), len(y))


def svr(X: Array, y: Array, C: float, gamma: float, epsilon: float) -> Answer:
    from sklearn.svm import SVR

    return _dual(SVR(C=C, gamma=gamma, epsilon=epsilon).fit(X, y), len(y))


def _dual(model: Any, n: int) -> Answer:
    beta, found = np.zeros(n), model.dual_coef_
    beta[model.support_] = np.asarray(found.todense() if hasattr(found, "todense") else found)[0]
    return Answer(beta, model.intercept_[0])


def svc_classes(X: Array, y: Array, X_test: Array) -> Answer:
    from sklearn.svm import SVC

    return Answer(figures={"predicted": SVC().fit(X, y).predict(X_test)})


def svc_search(X: Array, y: Array, Cs: Array, gammas: Array, cv: int) -> Answer:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    grid = {"C": list(Cs), "gamma": list(gammas)}
    return Answer(figures={"score": GridSearchCV(SVC(), grid, cv=cv, n_jobs=-1).fit(X, y).best_score_})


def sgd_over_batches(
    files: Sequence[Path],
    target: str,
    is_enough: Callable[[Array, float], bool],
    passes: int = 20,
    **parameters: object,
) -> Answer:
    """Averaged stochastic steps over the batches of Parquet files, until they are good enough at the end of a file."""
    import pyarrow.parquet as pq
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", average=True, random_state=0, **parameters)
    for path in [*files] * passes:
        for batch in pq.ParquetFile(path).iter_batches(2**16):
            columns = [name for name in batch.schema.names if name != target]
            X = np.column_stack([batch.column(name).to_numpy() for name in columns])
            model.partial_fit(X, batch.column(target).to_numpy(), classes=[0, 1])
        if is_enough(model.coef_, float(model.intercept_[0])):
            break
    return Answer(model.coef_[0], model.intercept_[0])
