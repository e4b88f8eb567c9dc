"""What `solution_` claims of the digits of coefficients holds, of all of them together and of the worst."""

from itertools import product

import numpy as np
import pytest

from hiperplano import LinearRegression, Ridge
from tests import exact
from tests.exact import Problem

TABLES = {
    "plain": lambda X, rng: X,
    "units": lambda X, rng: X * 10.0 ** rng.uniform(-9, 9, X.shape[1]),
    "far from 0": lambda X, rng: X + 10.0 ** rng.uniform(0, 6, X.shape[1]),
    "correlated": lambda X, rng: X + 30 * X[:, :1],
    "nearly dependent": lambda X, rng: np.column_stack([X[:, :-1], X[:, 0] + 10.0 ** rng.uniform(-7, -2) * X[:, -1]]),
    "polynomial": lambda X, rng: np.vander(1 + X[:, 0] / 4, X.shape[1] + 1)[:, :-1],
    "whole": lambda X, rng: np.round(3 * X),
}
TARGETS = {
    "noise": lambda X, rng: rng.normal(size=len(X)),
    "line": lambda X, rng: (X / X.std(axis=0)) @ rng.normal(size=X.shape[1]) + 0.1 * rng.normal(size=len(X)),
    "one small coefficient": lambda X, rng: (X / X.std(axis=0)) @ 10.0 ** -np.arange(0, 10 * X.shape[1], 10.0),
    "exact": lambda X, rng: (X / X.std(axis=0)) @ rng.integers(-3, 4, X.shape[1]) + 7.0,
}
MODELS = {
    "auto": lambda: LinearRegression(),
    "orthogonal": lambda: LinearRegression(solver="qr"),
    "no intercept": lambda: LinearRegression(fit_intercept=False),
    "weak": lambda: Ridge(1e-8),
    "strong": lambda: Ridge(10.0),
    "wide": lambda: Ridge(1.0),
}


def problems(seeds):
    for seed, table, target, name in product(range(seeds), TABLES, TARGETS, MODELS):
        rng = np.random.default_rng(seed)
        n, d = (4, 6) if name == "wide" else (int(rng.integers(10, 16)), int(rng.integers(2, 5)))
        X = TABLES[table](rng.normal(size=(n, d)), rng)
        X = X[:, X.std(axis=0) > 0]
        yield f"{table}, {target}, {name}, {seed}", X, TARGETS[target](X, rng), MODELS[name]()


@pytest.mark.filterwarnings("ignore::hiperplano.errors.AccuracyWarning")
def test_digits_are_there_where_they_are_claimed(monkeypatch):
    """ "About 15 digits" may be 14.5; a coefficient that is published as 0 has none, and none are claimed of it."""
    monkeypatch.setattr(exact, "DIGITS", 80)
    wrong = []
    for name, X, y, model in problems(seeds=4):
        solution = model.fit(X, y).solution_
        if solution.rank < min(X.shape):
            continue
        true = Problem(X, y, alpha=getattr(model, "alpha", 0.0), fit_intercept=model.fit_intercept).solve()[0]
        unit = X.std(axis=0) if model.fit_intercept else np.sqrt(np.mean(X**2, axis=0))
        error, size = np.abs(model.coef_ - true) * unit, np.abs(true) * unit
        together = -np.log10(max(np.linalg.norm(error) / np.linalg.norm(size), 1e-16))
        there = (size > 0) & (model.coef_ != 0)
        worst = max(0.0, -np.log10(np.max(error[there] / size[there], initial=1e-16)))
        if together < int(solution.digits) - 0.5 or worst < int(solution.smallest_digits) - 0.5:
            claimed = f"{solution.digits:.1f}, {solution.smallest_digits:.1f}"
            wrong.append(f"{name}: {together:.1f} and {worst:.1f} of {claimed}")
    assert not wrong, "\n".join(wrong)


def test_the_sentence_tells_the_smallest_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    assert "digits of the coefficients can be trusted." in LinearRegression().fit(X, X @ [1.0, -0.9]).solution_.status
    small = LinearRegression().fit(X, X @ [1.0, 1e-7]).solution_
    assert small.smallest_digits == pytest.approx(small.digits - 7, abs=0.2)
    assert f"can be trusted, {int(small.smallest_digits)} of the smallest." in small.status
    assert "none of the smallest: it is 0 up to rounding" in LinearRegression().fit(X, X @ [0.3, 0.0]).solution_.status
