"""NIST's Statistical Reference Datasets: digits of coefficients and standard errors."""

import warnings

import mpmath as mp
import numpy as np
import pytest

from hiperplano import LinearRegression
from hiperplano.errors import AccuracyWarning
from tests.golden import NIST_NAMES, nist

LEAST = {"Filip": 7.0}  # the rounding of its columns, powers up to x¹⁰, allows no more


def correct_digits(found, exact):
    """Of the worst number, against text with 25 digits."""
    with mp.workdps(40):
        errors = [abs((mp.mpf(float(a)) - mp.mpf(b)) / mp.mpf(b)) for a, b in zip(found, exact, strict=True)]
        return float(-mp.log10(max(*errors, mp.mpf("1e-16"))))


def coefficients(model):
    return [model.intercept_, *model.coef_] if model.fit_intercept else model.coef_


@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("name", NIST_NAMES)
def test_coefficients_have_twelve_digits(name, solver):
    data = nist(name)
    model = LinearRegression(fit_intercept=data.intercept, solver=solver).fit(data.x, data.y)
    assert correct_digits(coefficients(model), data.exact["coef"]) >= LEAST.get(name, 12.0)


@pytest.mark.parametrize("name", NIST_NAMES)
def test_certified_values_are_met(name):
    data = nist(name)
    model = LinearRegression(fit_intercept=data.intercept).fit(data.x, data.y)
    rtol = 10.0 ** -LEAST.get(name, 12.0)
    np.testing.assert_allclose(coefficients(model), data.certified["coef"], rtol=rtol)
    found = model.summary()
    # Wampler1 and Wampler2 are exact polynomials: what is left of their residuals is rounding of the data.
    nothing = 1e-10 * np.abs(data.y).max()
    np.testing.assert_allclose(found.stats["sigma"], data.certified["residual_sd"], rtol=1e-7, atol=nothing)
    np.testing.assert_allclose(found.stats["r2"], data.certified["r2"], rtol=1e-9)
    if data.certified["residual_sd"] > 0:
        np.testing.assert_allclose(found.se, data.certified["se"], rtol=1e-7 if name == "Filip" else 1e-9)


@pytest.mark.parametrize("name", NIST_NAMES)
@pytest.mark.parametrize("solver", ["auto", "cg"])
def test_digits_are_not_claimed_without_being_there(name, solver):
    data = nist(name)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", AccuracyWarning)
        model = LinearRegression(fit_intercept=data.intercept, solver=solver).fit(data.x, data.y)
    # Where conjugate gradients know nothing, they say "about 1 digit", or 2, as rounding has it: a warning, no claim.
    assert bool(heard) == (name == "Filip" and solver == "cg")
    with mp.workdps(40):
        true = np.array([float(mp.mpf(text)) for text in data.exact["coef"]])[-data.x.shape[1] :]
    spread = data.x.std(axis=0) if data.intercept else np.sqrt(np.mean(data.x**2, axis=0))
    error = np.linalg.norm((model.coef_ - true) * spread) / np.linalg.norm(true * spread)
    assert heard or error <= 10.0 ** (1.5 - model.solution_.digits)


def test_conjugate_gradients_warn_where_they_know_nothing():
    data = nist("Filip")
    with pytest.warns(UserWarning, match="digits of the coefficients can be trusted"):
        LinearRegression(solver="cg").fit(data.x, data.y)
