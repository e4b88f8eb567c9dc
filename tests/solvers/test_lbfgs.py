"""The memory of L-BFGS."""

import numpy as np

from hiperplano.solvers.lbfgs import Memory, State, drive, lbfgs


def bfgs_matrix(pairs, first):
    """The inverse Hessian by the textbook update, from the preconditioner rescaled to the last pair."""
    step, change = pairs[-1]
    inverse = first * (step @ change) / (change @ first @ change)
    for step, change in pairs:
        along = step @ change
        turn = np.eye(len(step)) - np.outer(change, step) / along
        inverse = turn.T @ inverse @ turn + np.outer(step, step) / along
    return inverse


def test_a_repenalised_memory_is_that_of_the_new_objective():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    hessian, added = root @ root.T, rng.random(6)
    steps, gradient = rng.normal(size=(3, 6)), rng.normal(size=(2, 3))
    memory = Memory()
    for step in steps:
        memory.add(step, hessian @ step)
    memory.repenalise(added)
    first = np.diag(rng.random(6))
    pairs = [(step, (hessian + np.diag(added)) @ step) for step in steps]
    found = memory.direction(gradient, lambda vector: (first @ vector.ravel()).reshape(2, 3))
    np.testing.assert_allclose(found.ravel(), -bfgs_matrix(pairs, first) @ gradient.ravel(), rtol=1e-10)


def test_no_step_is_taken_without_a_pass_if_the_last_ones_made_no_progress():
    """Such a step is only as good as the curvature that the preconditioner believes in."""
    slope = np.array([1e-9])
    start = State(np.zeros(1), 0.0, slope)
    search = lbfgs(start, lambda v: 1e6 * v, tol=1e-8, max_steps=100, close=1e-10)
    end = drive(search, lambda x: (float(slope @ x), slope))
    before = end.theta.copy()
    end.take_next_step()
    np.testing.assert_array_equal(end.theta, before)
