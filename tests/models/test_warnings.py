"""A bad ending gives one warning, at the line that called `fit`."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import LeastSquaresClassifier, LinearRegression, Ridge, RidgeCV, load_credit_line
from hiperplano.errors import AccuracyWarning, ConvergenceWarning

X, y = load_credit_line(return_X_y=True)
nearly_dependent = np.column_stack([X, X[:, 1] * 2 + 1e-6 * np.random.default_rng(0).normal(size=len(X))])


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (LinearRegression(), y),
        (Ridge(alpha=0.0), y),
        (RidgeCV(alphas=[0.0]), y),
        (LeastSquaresClassifier(), y > np.median(y)),
    ],
)
def test_few_digits(model, target):
    with pytest.warns(AccuracyWarning, match="digits of the coefficients") as record:
        model.fit(nearly_dependent, target)
    assert [warning.filename for warning in record] == [__file__]


def test_steps_run_out():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter") as record:
        Ridge(solver="cg", max_iter=2).fit(X, y)
    assert [warning.filename for warning in record] == [__file__]


@pytest.mark.parametrize(
    ("call", "fits"),
    [
        (lambda model: model.fit(X, y), 1),
        (lambda model: cross_val_score(model, X, y, cv=2), 2),
        (lambda model: GridSearchCV(model, {"ridge__alpha": [1.0, 2.0]}, cv=2).fit(X, y), 5),
    ],
)
def test_pipelines_and_searches_are_not_the_user(call, fits):
    with pytest.warns(ConvergenceWarning, match="Raise max_iter") as record:
        call(make_pipeline(StandardScaler(), Ridge(solver="cg", max_iter=2)))
    assert [warning.filename for warning in record] == [__file__] * fits
