"""Systems with many shifts against a solution for each."""

import numpy as np

from hiperplano.linalg.krylov.lanczos import shifted_solutions

RNG = np.random.default_rng(0)
N = 60
VECTORS = np.linalg.qr(RNG.normal(size=(N, N)))[0]
SHIFTS = np.array([1e-4, 1.0, 30.0])


def matrix_of(values):
    return (VECTORS * values) @ VECTORS.T


def test_every_column_has_its_matrix_and_every_shift_its_solution():
    matrices = [matrix_of(RNG.uniform(0.1, 2.0, size=N)), matrix_of(np.repeat([0.0, 1.0, 5.0], 20))]
    which = np.array([0, 1, 1])
    right = RNG.normal(size=(N, 3))
    right[:, 2] = 0.0

    def product(directions, columns):
        return np.array([matrices[which[c]] @ v for c, v in zip(columns, directions, strict=True)])

    found = shifted_solutions(product, right, SHIFTS, rtol=1e-10, most=120).x
    for column, number in enumerate(which):
        for place, shift in enumerate(SHIFTS):
            expected = np.linalg.solve(matrices[number] + shift * np.eye(N), right[:, column])
            left = right[:, column] - (matrices[number] + shift * np.eye(N)) @ found[:, column, place]
            assert np.linalg.norm(left) <= 1e-9 * np.linalg.norm(right[:, column])
            np.testing.assert_allclose(found[:, column, place], expected, rtol=1e-5, atol=1e-7)


def test_shifts_that_another_method_solves_sooner_are_given_up_alone():
    matrix, right = matrix_of(np.logspace(-6, 2, N)), RNG.normal(size=(N, 1))

    def solve(cost):
        return shifted_solutions(
            lambda v, _: v @ matrix, right, SHIFTS, rtol=1e-10, most=N, otherwise=lambda count: cost * count
        )

    found, whole = solve(40.0), solve(100.0)
    assert found.solved.tolist() == [[False, True, True]]
    assert whole.solved.all()
    assert found.n_iter < whole.n_iter
    for place, shift in enumerate(SHIFTS):
        exact = np.linalg.solve(matrix + shift * np.eye(N), right)
        np.testing.assert_allclose(whole.x[:, :, place], exact, atol=1e-8 * np.abs(exact).max())
    system = matrix + SHIFTS[0] * np.eye(N)
    exact = np.linalg.solve(system, right)
    error = exact - found.x[:, :, 0]  # what was given up is a start for the other method
    assert (error.T @ system @ error).item() < 0.9 * (exact.T @ system @ exact).item()


def test_a_shift_that_drowns_in_the_matrix_is_not_solved():
    matrix = matrix_of(np.linspace(-0.5, 20.0, N))
    found = shifted_solutions(lambda v, _: v @ matrix, RNG.normal(size=(N, 1)), SHIFTS, rtol=1e-8, most=N)
    assert found.solved.tolist() == [[False, True, True]]
    assert np.isfinite(found.x).all()


def test_the_last_products_may_be_rounded():
    matrix, right, used = matrix_of(np.linspace(0.05, 20.0, N)), RNG.normal(size=(N, 2)), []

    def rounded(directions, _):
        used.append(1)
        return (directions.astype(np.float32) @ matrix.astype(np.float32)).astype(np.float64)

    found = shifted_solutions(lambda v, _: v @ matrix, right, SHIFTS, rtol=1e-8, most=800, rounded=rounded)
    assert found.n_iter // 10 < len(used) < found.n_iter  # more than the trials, and not all
    for place, shift in enumerate(SHIFTS):
        left = right - matrix @ found.x[:, :, place] - shift * found.x[:, :, place]
        assert (np.linalg.norm(left, axis=0) <= 2e-8 * np.linalg.norm(right, axis=0)).all()


def test_columns_that_go_along_leave_a_space_that_solves_and_preconditions():
    matrix, right = matrix_of(np.linspace(0.5, 3.0, N)), RNG.normal(size=(N, 2))
    seen = []

    def product(directions, columns):
        seen.append(columns.tolist())
        return directions @ matrix

    found = shifted_solutions(product, right, SHIFTS[1:], rtol=1e-9, most=120, beside=1)
    assert found.x.shape == (N, 1, 2)
    assert all(columns == [0, 1] for columns in seen)
    (space,) = found.beside
    assert len(space.basis) == found.n_iter == len(seen) < N
    system = matrix + SHIFTS[1] * np.eye(N)
    np.testing.assert_allclose(space.solve(right[:, 1], SHIFTS[1]), np.linalg.solve(system, right[:, 1]), atol=1e-6)
    inside, outside = space.basis[0], np.linalg.qr(space.basis.T, mode="complete")[0][:, -1]
    np.testing.assert_allclose(space.precondition(outside, SHIFTS[1], 3.0), outside / (3.0 + SHIFTS[1]), atol=1e-6)
    tiny = 1e-60 * inside  # beyond the range of float32
    np.testing.assert_allclose(
        1e60 * space.precondition(tiny, SHIFTS[1], 3.0), space.solve(inside, SHIFTS[1]), atol=1e-6
    )
