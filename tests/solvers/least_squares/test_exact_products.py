"""Products in doubled precision, against arithmetic that makes no errors."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.least_squares.refinement.exact import ExactResiduals, add_exact, column_units, two_product

N, D = 2500, 4  # of rows: more than one block


def numbers(kind):
    rng = np.random.default_rng(0)
    X = {
        "ordinary": rng.normal(size=(N, D)),
        "whole": np.round(1000 * rng.normal(size=(N, D))),
        "far": 1e8 + rng.normal(size=(N, D)),
        "uneven": rng.normal(size=(N, D)) * 10.0 ** rng.uniform(-12, 12, (N, D)),
        "short": rng.normal(size=(N, D)).astype(np.float32),
        "tiny": rng.normal(size=(N, D)) * 1e-99,
        "sparse": rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.2),
    }[kind]
    coef = rng.normal(size=D) * 10.0 ** rng.uniform(-3, 3, D)
    return X, coef, rng.normal(size=N) * 10.0 ** rng.uniform(-6, 0, N), rng.uniform(0.1, 3.0, N)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["ordinary", "whole", "far", "uneven", "short", "tiny", "sparse"])
def test_residual_and_gradient_are_rounded_once(kind, weighted):
    X, coef, r, weight = numbers(kind)
    coef = coef / np.abs(X).max(axis=0).astype(float)
    y = X.astype(float) @ coef + r  # so that most of y − r − x·coef cancels
    parts = np.stack(two_product(weight, r) if weighted else (r,), axis=1)
    rows = InMemory(csr_array(X) if kind == "sparse" else X, y[:, None], weight if weighted else None)
    unit = column_units(rows)
    statistic = ExactResiduals.of(unit, np.zeros(D), coef, 0.0, 0, 0.0)
    sums, kept = rows.with_vectors(residual=r).fold_and_map(statistic, add_exact)
    f, gradient = kept["f"], sums[0] + sums[1]
    whole = [[Fraction(float(value)) for value in row] for row in X]
    slopes = [Fraction(float(value)) for value in coef]
    u = [sum(Fraction(float(part)) for part in row) for row in parts]
    for i in range(0, N, 97):
        true = Fraction(y[i]) - Fraction(r[i]) - sum(a * b for a, b in zip(whole[i], slopes, strict=True))
        # A relative 2⁻⁸⁸ of the terms: 35 bits more than their rounding.
        assert abs(Fraction(f[i]) - true) <= abs(true) * Fraction(2) ** -52 + Fraction(2) ** -88 * _terms(i, X, coef, y)
    for j in range(D):
        true = sum(row[j] * value for row, value in zip(whole, u, strict=True)) / Fraction(float(unit[j]))
        size = sum(abs(row[j] * value) for row, value in zip(whole, u, strict=True)) / Fraction(float(unit[j]))
        floor = Fraction(float(np.abs(r).max())) * N * Fraction(2) ** -100
        assert abs(Fraction(gradient[j]) - true) <= abs(true) * Fraction(2) ** -52 + Fraction(2) ** -88 * size + floor


def _terms(i, X, coef, y):
    """Sizes of what is added for a row, at the grid of the columns."""
    reach = np.abs(X).max(axis=0).astype(float) * np.abs(coef)
    return Fraction(float(reach.sum() + abs(y[i])))
