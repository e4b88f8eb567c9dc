"""scikit-learn."""

from __future__ import annotations

from benchmarks.workload import Answer, Array

DISTRIBUTION = "scikit-learn"
IMPORT = "import sklearn.linear_model"


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
