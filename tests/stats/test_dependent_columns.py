"""Columns that follow from others: what is determined keeps its standard errors, and the summary says what is not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano import LinearRegression, LogisticRegression, inference
from hiperplano.report.coefficients import read_coefficients
from hiperplano.report.subject import prepare_subject

RNG = np.random.default_rng(3)
N = 300
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc")) * [1.0, 50.0, 0.01] + [5.0, -300.0, 0.0]
SCORE = (X - X.mean()) / X.std() @ [0.8, -0.5, 0.3]
TARGETS = {
    "numbers": (LinearRegression(), SCORE + RNG.normal(size=N)),
    "two classes": (LogisticRegression(C=np.inf), SCORE + RNG.logistic(size=N) > 0.3),
    "three classes": (LogisticRegression(C=np.inf), np.digitize(SCORE + RNG.logistic(size=N), [-0.7, 0.8])),
}
TOWNS = pd.get_dummies(pd.Series(RNG.choice(["Cali", "Lima", "Oruro"], N)), dtype=float)
ADDED = {
    "a copy": (X.assign(again=X["b"]), {"b", "again"}),
    "a sum": (X.assign(total=2 * X["a"] - X["c"] + 7), {"a", "c", "total", "intercept"}),
    "a constant": (X.assign(branch=3.0), {"branch"}),
    "all categories": (pd.concat([X, TOWNS], axis=1), {"intercept", *TOWNS}),
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("case", ADDED)
def test_what_is_determined_has_the_numbers_of_the_fit_without_the_relation(kind, case):
    model, y = TARGETS[kind]
    rows, lost = ADDED[case]
    smaller = rows.drop(columns=rows.columns[-1])
    expected = model.fit(smaller, y).summary().to_pandas()
    facts = dict(model.summary().stats)
    summary = model.fit(rows, y).summary()
    found = summary.to_pandas()
    names = found.index.get_level_values(-1)
    assert set(names[found["se"].isna()]) == lost == set(names[found["p"].isna()])
    kept = [name for name in names.unique() if name not in lost]
    at = found.index[names.isin(kept)]
    columns = ["coef", "se", "p", "low", "high"]
    np.testing.assert_allclose(found.loc[at, columns], expected.loc[at, columns], rtol=1e-6, atol=1e-9)
    for name in ("n", "df", "loglik", "aic"):
        assert summary.stats[name] == pytest.approx(facts[name], rel=1e-8)
    assert all(repr(name) in summary.notes[0] for name in lost)
    assert "no standard errors" in summary.notes[0]


def test_the_report_shows_them_in_the_units_of_the_table():
    model, y = TARGETS["two classes"]
    rows, lost = ADDED["a copy"]
    expected = model.fit(rows, y).summary()
    scaled = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf)).fit(rows, y)
    found = read_coefficients(prepare_subject(scaled, rows, y, None, None, None, None)).summary
    known = [j for j, name in enumerate(expected.names) if name not in lost and name != "intercept"]
    np.testing.assert_allclose(found.se[known], expected.se[known], rtol=1e-6)
    assert np.isnan(found.se[[expected.names.index(name) for name in lost]]).all()


def test_robust_standard_errors_of_a_logistic_fit_keep_them_too():
    model, y = TARGETS["two classes"]
    expected = inference(model.fit(X, y), X, y, cov="HC1")
    rows, lost = ADDED["a copy"]
    found = inference(model.fit(rows, y), rows, y, cov="HC1")
    kept = [j for j, name in enumerate(expected.names) if name not in lost]
    np.testing.assert_allclose(found.se[kept], expected.se[kept], rtol=1e-6)
