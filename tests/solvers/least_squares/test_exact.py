"""Products correct to twice the digits of float64, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from hiperplano.data.validate import design as make_design
from hiperplano.solvers.least_squares.refinement.exact import ExactResiduals, add_exact, column_units, two_product


def rational(values):
    return [Fraction(float(value)) for value in values]


def tables():
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(50, 4))
    return {
        "plain": plain,
        "units apart": plain * [1e-99, 1.0, 1e7, 1e99],
        "far from 0": np.round(plain * 8) + 1e12,
        "all digits": plain + 1e8,
        "with zeros": np.where(plain > 1, plain, 0.0),
        "float32": plain.astype(np.float32),
        "many rows": rng.normal(size=(17_000, 1)),
    }


@pytest.mark.parametrize("kind", tables())
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_residuals_and_gradients_are_rounded_once(kind, rows):
    rng = np.random.default_rng(1)
    X = tables()[kind]
    n, d = X.shape
    coef = rng.normal(size=d) / np.abs(X).max(axis=0)
    y, intercept = rng.normal(size=n), 0.7
    r = rng.normal(size=n)
    weight = rng.uniform(0.5, 2.0, n)
    design = make_design(rows(X), y, weight).with_vectors(residual=r)
    unit = column_units(design)
    sums, kept = design.fold_and_map(ExactResiduals.of(unit, np.zeros(d), coef, intercept, 0, 0.0), add_exact)
    f, gradient, total = design.collect(kept["f"]), sums[0] + sums[1], sums[2][0] + sums[3][0]
    true = rational(coef)
    some = range(0, n, max(1, n // 50))
    for i in some:
        products = sum(a * b for a, b in zip(rational(X[i]), true, strict=True))
        expected = Fraction(float(y[i])) - Fraction(float(r[i])) - Fraction(intercept) - products
        # One rounding of the sum, and what 100 bits leave of the terms.
        terms = abs(y[i]) + abs(r[i]) + 1 + float(np.abs(X[i] * coef).sum())
        assert abs(f[i] - float(expected)) <= 2.3e-16 * abs(float(expected)) + 1e-26 * terms
    products = [a * b for a, b in zip(rational(r), rational(weight), strict=True)]
    for j in range(d):
        expected = sum(a * b for a, b in zip(rational(X[:, j]), products, strict=True)) / Fraction(float(unit[j]))
        terms = float(np.abs(X[:, j] / unit[j] * r * weight).sum())
        assert abs(gradient[j] - float(expected)) <= 2.3e-16 * abs(float(expected)) + 1e-26 * terms
    expected = float(sum(products))
    assert abs(total - expected) <= 2.3e-16 * abs(expected) + 1e-26 * float(np.abs(r * weight).sum())


def test_products_split_into_what_they_are_and_what_rounding_took():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200)) * 10.0 ** rng.integers(-100, 100, (2, 200))
    product, error = two_product(a, b)
    for i in range(200):
        exact = Fraction(float(a[i])) * Fraction(float(b[i]))
        assert Fraction(float(product[i])) + Fraction(float(error[i])) == exact


def test_units_are_powers_of_two_above_the_columns():
    X = np.array([[3.0, 0.0, -1e50], [1.0, 0.0, 2.0]])
    unit = column_units(make_design(X, np.zeros(2), None))
    assert unit[0] == 4.0
    assert unit[1] == 1.0
    assert 1e50 <= unit[2] < 2e50
    assert np.frexp(unit)[0].tolist() == [0.5, 0.5, 0.5]
