"""Powers of two cost nothing: targets and weights in other units give the same bits."""

import numpy as np
import pytest

from hiperplano import LinearRegression, Ridge
from hiperplano.data.validate import design as make_design
from hiperplano.solvers.least_squares.units import Units

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) + 2.0
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=50)
W = RNG.uniform(0.5, 2.0, 50)


@pytest.mark.parametrize("power", [-800, -300, 300, 800])
@pytest.mark.parametrize("solver", ["gram", "qr", "cg"])
def test_targets(power, solver):
    plain, scaled = (LinearRegression(solver=solver).fit(X, y, W) for y in (Y, np.ldexp(Y, power)))
    np.testing.assert_array_equal(scaled.coef_, np.ldexp(plain.coef_, power))
    assert scaled.intercept_ == np.ldexp(plain.intercept_, power)
    assert scaled.solution_.digits == plain.solution_.digits


@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
@pytest.mark.parametrize("solver", ["gram", "qr", "cg"])
def test_weights(power, solver):
    plain, scaled = (LinearRegression(solver=solver).fit(X, Y, w) for w in (W, np.ldexp(W, power)))
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-14)
    np.testing.assert_allclose(scaled.solution_.rss, np.ldexp(plain.solution_.rss, power), rtol=1e-12)
    np.testing.assert_allclose(scaled.solution_.tss, np.ldexp(plain.solution_.tss, power), rtol=1e-12)
    assert scaled.solution_.total == pytest.approx(np.ldexp(plain.solution_.total, power), rel=1e-12)


@pytest.mark.parametrize("power", [-600, 600])
def test_weights_and_penalty_together(power):
    plain = Ridge(alpha=2.0).fit(X, Y, W)
    scaled = Ridge(alpha=np.ldexp(2.0, power)).fit(X, Y, np.ldexp(W, power))
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-13)
    np.testing.assert_array_equal(scaled.solution_.alpha, [np.ldexp(2.0, power)])
    assert scaled.solution_.objective == pytest.approx(np.ldexp(plain.solution_.objective, power), rel=1e-12)
    np.testing.assert_allclose(scaled.summary().se, plain.summary().se, rtol=1e-12)


def test_ordinary_numbers_are_left_alone():
    units = Units.of(make_design(X, Y, W))
    assert units.plain
    assert units.weight == 1.0
    assert not Units.of(make_design(X, Y * 1e100, W)).plain
    assert not Units.of(make_design(X, Y, W * 1e-100)).plain


def test_several_targets_have_units_of_their_own():
    together = LinearRegression().fit(X, np.column_stack([Y, Y * 1e150, Y * 1e-150]))
    alone = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(
        together.coef_ / np.array([[1.0], [1e150], [1e-150]]), np.tile(alone.coef_, (3, 1)), rtol=1e-12
    )
