"""Conjugate gradients against a direct solve, and the spectrum they meet against all eigenvalues."""

from functools import partial

import numpy as np
import pytest

from hiperplano.linalg.conjugate_gradient import conjugate_gradient, steps_for_unrelated_columns


def problem(d=30, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3 * d, d)) * np.logspace(0, 2, d)
    return rows.T @ rows, rng.normal(size=d)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_the_answer_is_that_of_a_direct_solve(preconditioned):
    matrix, right = problem()
    found = conjugate_gradient(
        matrix.__matmul__,
        right,
        atol=1e-12,
        max_iter=1000,
        preconditioner=partial(np.multiply, 1.0 / matrix.diagonal()) if preconditioned else None,
    )
    assert np.linalg.norm(matrix @ found.x - right) < 1e-10
    np.testing.assert_allclose(found.x, np.linalg.solve(matrix, right), rtol=1e-6, atol=1e-12)


def test_a_diagonal_preconditioner_saves_steps():
    matrix, right = problem()
    plain, scaled = (
        conjugate_gradient(matrix.__matmul__, right, atol=1e-9, max_iter=1000, preconditioner=each)
        for each in (None, partial(np.multiply, 1.0 / matrix.diagonal()))
    )
    assert len(scaled.steps) < len(plain.steps) / 2


def test_the_relative_tolerance_stops_sooner():
    matrix, right = problem()
    rough = conjugate_gradient(matrix.__matmul__, right, atol=0.0, rtol=0.1, max_iter=1000)
    residual = np.linalg.norm(right - matrix @ rough.x)
    assert residual <= 0.1 * np.linalg.norm(right)
    assert len(rough.steps) < len(conjugate_gradient(matrix.__matmul__, right, atol=1e-9, max_iter=1000).steps)


def test_max_iter_is_kept():
    matrix, right = problem()
    assert len(conjugate_gradient(matrix.__matmul__, right, atol=0.0, max_iter=3).steps) == 3


def test_the_steps_tell_the_extreme_eigenvalues():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 12))
    matrix = rows.T @ rows
    found = conjugate_gradient(matrix.__matmul__, rng.normal(size=12), atol=1e-10, max_iter=100)
    values = np.linalg.eigvalsh(matrix)
    np.testing.assert_allclose(found.eigenvalue_range(), (values[0], values[-1]), rtol=1e-4)


def test_a_right_side_of_zeros_takes_no_step():
    found = conjugate_gradient(np.eye(3).__matmul__, np.zeros(3), atol=1e-9, max_iter=10)
    assert not found.x.any()
    assert found.eigenvalue_range() == (1.0, 1.0)


def test_a_residual_is_measured_by_the_answer_where_that_is_asked():
    rng = np.random.default_rng(8)
    turn = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    values = np.concatenate([[1e4], rng.uniform(1.0, 4.0, size=59)])
    matrix = (turn * values) @ turn.T
    right = matrix @ (turn[:, 0] + 1e-3 * rng.normal(size=60))  # mostly along the large eigenvalue
    exact, size = np.linalg.solve(matrix, right), np.linalg.norm(right)
    plain = conjugate_gradient(lambda v: matrix @ v, right, atol=1e-10 * size, max_iter=500)
    found = conjugate_gradient(lambda v: matrix @ v, right, atol=1e-10 * size, xtol=1e-10, max_iter=500)
    error = [np.linalg.norm(one.x - exact) / np.linalg.norm(exact) for one in (plain, found)]
    assert error[1] < 2e-10 < error[0]


@pytest.mark.parametrize(("n", "d"), [(400, 100), (100, 400), (300, 250), (30, 900)])
@pytest.mark.parametrize("alpha", [1e-3, 10.0, 1e4])
def test_the_steps_for_unrelated_columns_are_estimated(n, d, alpha):
    rng = np.random.default_rng(n + d)
    x = rng.normal(size=(n, d))
    short = x if n < d else x.T
    found = conjugate_gradient(
        lambda v: short @ (short.T @ v) + alpha * v,
        rng.normal(size=len(short)),
        atol=1e-10 * np.sqrt(min(n, d)),
        max_iter=999,
    )
    expected = steps_for_unrelated_columns(n, d, float(np.square(x).sum()), alpha, 1e-10)
    assert 0.5 * len(found.steps) <= expected <= 1.7 * len(found.steps) + 2


@pytest.mark.parametrize(("condition", "given_up"), [(10.0, False), (1e6, True)])
def test_a_trial_ends_soon_unless_its_rate_is_enough(condition, given_up):
    values, right = np.geomspace(1.0, condition, 300), np.random.default_rng(3).normal(size=300)
    found = conjugate_gradient(lambda v: values * v, right, atol=1e-8, max_iter=60, trial=True)
    assert found.given_up is given_up
    if given_up:
        assert len(found.steps) <= 20
    else:
        np.testing.assert_allclose(found.x, right / values, atol=1e-8)
