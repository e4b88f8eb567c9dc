"""Parts of the solver of kernel machines, against what they replace."""

import numpy as np
import pytest
from numba import njit
from scipy.optimize import LinearConstraint, minimize
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from hiperplano import SVCCV
from hiperplano.kernels import RBF, KernelMatrix
from hiperplano.solvers.kernel.svm import decomposition
from hiperplano.solvers.kernel.svm.decomposition import minimise
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, solve_with
from hiperplano.solvers.kernel.svm.folds.refined_gram import RefinedGram
from hiperplano.solvers.kernel.svm.folds.scores import fold_scores
from hiperplano.solvers.kernel.svm.gram_rows import CachedGram, ComputedGram, HeldGram, WorkingGram
from hiperplano.solvers.kernel.svm.newton import newton_steps
from hiperplano.solvers.kernel.svm.pairs.problems import ClassPairs
from hiperplano.solvers.kernel.svm.planes.exact_duals import exact_duals
from hiperplano.solvers.kernel.svm.separable import separable_steps
from hiperplano.solvers.kernel.svm.small import free_loops
from hiperplano.solvers.kernel.svm.small.solve import solve_few
from hiperplano.solvers.kernel.svm.smo.loops import smo

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
SIGN = np.where(X[:, 0] * X[:, 1] + 0.2 * RNG.normal(size=30) > 0, 1.0, -1.0)
GRAM = np.exp(-0.7 * cdist(X, X, "sqeuclidean"))

PROBLEMS = {
    "classification": DualProblem.classification(SIGN, RNG.uniform(0.5, 2.0, 30)),
    "regression": DualProblem.regression(X[:, 0] + SIGN, np.full(30, 3.0), 0.2),
    "novelty": DualProblem.novelty(RNG.uniform(0.5, 1.0, 30), 0.3),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_minimum_is_that_of_a_general_solver(name):
    problem = PROBLEMS[name]
    found = minimise(problem, HeldGram(GRAM), tol=1e-10, max_steps=100_000, n_bytes=8 * 100**2)
    assert found.violation <= 1e-10
    assert np.isclose(found.beta.sum(), problem.start.sum())

    def value(parts):  # β as the difference of two parts: the kink of the tube is then linear
        beta = parts[:30] - parts[30:]
        return 0.5 * beta @ GRAM @ beta - problem.target @ beta + problem.width * parts.sum()

    bounds = [(0, high) for high in problem.high] + [(0, -low) for low in problem.low]
    total = LinearConstraint(np.r_[np.ones(30), -np.ones(30)], problem.start.sum(), problem.start.sum())
    start = np.r_[problem.start.clip(0), (-problem.start).clip(0)]
    general = minimize(value, start, bounds=bounds, constraints=total, method="SLSQP", options={"maxiter": 500})
    assert problem.value(found.beta, found.gradient) <= general.fun + 1e-6
    gap = problem.gap(found.beta, found.gradient, found.intercept)
    assert -1e-9 <= gap <= 1e-7


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_compiled_call_ends_there_too_and_says_how(name):
    problem = PROBLEMS[name]
    exact = minimise(problem, HeldGram(GRAM), tol=1e-11, max_steps=100_000, n_bytes=8 * 100**2)
    end, beta, gradient = solve_few(problem, GRAM, GRAM.diagonal(), 1e-9, 100_000)
    np.testing.assert_allclose(beta, exact.beta, atol=1e-6)
    np.testing.assert_allclose(gradient, GRAM @ beta - problem.target, atol=1e-10)
    assert np.isclose(end.violation, problem.violation(beta, gradient), atol=1e-14)
    for off in (0.0, 0.5):  # a sum that is off is no longer a proof: the gap says so
        gap = problem.gap(beta + off / 30, gradient + off / 30 * GRAM.sum(axis=0), end.intercept)
        assert gap >= off * abs(end.intercept)
    assert np.isclose(end.gap, problem.gap(beta, gradient, end.intercept), atol=1e-12)
    assert np.isclose(end.lower, -problem.value(beta, gradient))
    assert end.n_bound == ((beta != 0) & ((beta == problem.low) | (beta == problem.high))).sum()


@pytest.mark.parametrize("name", PROBLEMS)
def test_narrow_kernels_are_solved_row_by_row(name):
    problem, narrow = PROBLEMS[name], RBF(1000.0)(X)
    exact = minimise(problem, HeldGram(narrow), tol=1e-11, max_steps=100_000, n_bytes=8 * 100**2)
    start = narrow @ problem.start - problem.target
    steps, beta, gradient = separable_steps(problem, HeldGram(narrow), problem.start, start, 1e-7, 100_000)
    assert steps > 0
    assert problem.violation(beta, gradient) <= 1e-7
    np.testing.assert_allclose(beta, exact.beta, atol=1e-6)
    np.testing.assert_allclose(gradient, narrow @ beta - problem.target, atol=1e-12)
    assert np.isclose(beta.sum(), problem.total, atol=1e-12)
    assert (beta >= problem.low).all()
    assert (beta <= problem.high).all()
    start = GRAM @ problem.start - problem.target
    steps, beta, _ = separable_steps(problem, HeldGram(GRAM), problem.start, start, 1e-7, 100_000)
    assert steps == 0  # too wide
    np.testing.assert_array_equal(beta, problem.start)


def test_scores_of_folds_are_those_of_machines_without_them():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(1300, 4))
    sign = np.where(rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=1300) > 0, 1.0, -1.0)
    trained = np.arange(1300) % 6 != np.arange(2)[:, None]
    splits = [(use, np.arange(1300)) for use in trained]
    Cs = np.array([0.2, 2.0, 200.0])
    control = Control(tol=1e-4, max_steps=10**7, n_bytes=10**8)
    kernels, machines = (RBF(0.1), RBF(30.0)), [(np.ones(1300, dtype=bool), sign)]
    for kernel, scores in zip(
        kernels, fold_scores(kernels, rows, machines, np.ones(1300), splits, Cs, control), strict=True
    ):
        for fold, place in ((0, 2), (1, 1)):
            theirs = SVC(C=Cs[place], gamma=kernel.gamma, tol=1e-5).fit(rows[trained[fold]], sign[trained[fold]])
            np.testing.assert_allclose(scores[fold][place, 0], theirs.decision_function(rows), atol=2e-3)


@pytest.mark.parametrize("name", PROBLEMS)
def test_newton_steps_never_rise_and_end_no_lower_than_smo(name):
    problem = PROBLEMS[name]
    rough = minimise(problem, HeldGram(GRAM), tol=0.3, max_steps=100_000, n_bytes=8 * 100**2)
    exact = minimise(problem, HeldGram(GRAM), tol=1e-11, max_steps=100_000, n_bytes=8 * 100**2)
    beta, gradient, _ = newton_steps(problem, GRAM, rough.beta, rough.gradient, 1e-13)
    assert problem.value(beta, gradient) <= problem.value(rough.beta, rough.gradient) + 1e-12
    np.testing.assert_allclose(gradient, GRAM @ beta - problem.target, atol=1e-10)
    assert problem.value(beta, gradient) >= problem.value(exact.beta, exact.gradient) - 1e-9


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_newton_steps_find_free_dual_variables_that_were_moved(name):
    problem = PROBLEMS[name]
    exact = minimise(problem, HeldGram(GRAM), tol=1e-11, max_steps=100_000, n_bytes=8 * 100**2)
    room = np.minimum(np.minimum(exact.beta - problem.low, problem.high - exact.beta), np.abs(exact.beta))
    free = np.flatnonzero(room > 1e-3)
    move = np.random.default_rng(3).normal(size=len(free))
    move -= move.mean()
    beta = exact.beta.copy()
    beta[free] += 0.5 * room[free].min() / np.abs(move).max() * move
    gradient = GRAM @ beta - problem.target
    assert problem.value(beta, gradient) > problem.value(exact.beta, exact.gradient) + 1e-8
    found, gradient, _ = newton_steps(problem, GRAM, beta, gradient, 1e-13)
    np.testing.assert_allclose(found, exact.beta, atol=1e-7)
    np.testing.assert_allclose(gradient, GRAM @ found - problem.target, atol=1e-10)


def test_gram_rows_are_the_same_however_they_are_held():
    rows = RNG.normal(size=(1200, 3))
    kernel = RBF(0.4)
    whole = kernel(rows)
    matrix = KernelMatrix(kernel, rows)
    sources = [
        HeldGram(whole),
        ComputedGram(matrix, matrix.diagonal),
        CachedGram(matrix, matrix.diagonal, 8 * 1200 * 7),
    ]
    few = np.array([3, 700, 1100])
    for _ in range(3):
        some = np.sort(RNG.choice(1200, 20, replace=False))
        factors = RNG.normal(size=20)
        for source in sources:
            np.testing.assert_allclose(source.times(some, factors), whole[:, some] @ factors, atol=1e-12)
            np.testing.assert_allclose(source.times(some, factors, few), whole[few][:, some] @ factors, atol=1e-12)
            np.testing.assert_allclose(source.block(some), whole[np.ix_(some, some)], atol=1e-12)
    single = KernelMatrix(kernel, rows, dtype=np.float32)
    vast = ComputedGram(single, matrix.diagonal).times(some, 1e50 * factors)
    np.testing.assert_allclose(vast, 1e50 * whole[:, some] @ factors, atol=1e45)
    many = np.arange(0, 1200, 2)
    for source in sources:
        np.testing.assert_allclose(source.block(many), whole[np.ix_(many, many)], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_conjugate_directions_take_fewer_steps_than_pairs_where_bounds_are_large(dtype):
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(400, 3))
    sign = np.where(rows[:, 0] + rows[:, 1] * rows[:, 2] + 0.5 * rng.normal(size=400) > 0, 1.0, -1.0)
    problem = DualProblem.classification(sign, np.full(400, 3000.0))
    gram = RBF(0.01)(rows)
    beta, gradient = problem.start.copy(), -sign
    steps, largest, least = smo(
        gram.astype(dtype), np.ones(400), gradient, beta, problem.low, problem.high, 0.0, 1e-3, 10**6
    )
    theirs = SVC(kernel="precomputed", C=3000.0, tol=1e-3).fit(gram, sign)
    assert largest - least <= 1e-3
    assert steps < 0.5 * theirs.n_iter_[0]
    assert abs(beta.sum()) <= 1e-8
    np.testing.assert_allclose(gradient, gram.astype(dtype).astype(np.float64) @ beta - sign, atol=1e-8)
    dual = -problem.value(beta, gram @ beta - sign)
    expected = np.zeros(400)
    expected[theirs.support_] = theirs.dual_coef_[0]
    np.testing.assert_allclose(dual, -problem.value(expected, gram @ expected - sign), rtol=1e-5)


def test_working_sets_keep_what_they_have_in_common_with_the_last():
    matrix = KernelMatrix(RBF(0.5), np.random.default_rng(1).normal(size=(1200, 3)))
    whole, rng = matrix.dense(), np.random.default_rng(2)
    cached = CachedGram(matrix, matrix.diagonal, 8 * 1200 * 300)
    cached.hold(np.arange(250))
    for source in (ComputedGram(matrix, matrix.diagonal), cached, HeldGram(whole)):
        working = WorkingGram(source, 900)
        chosen = np.arange(500)
        for size in (500, 900, 850, 120):  # which grow, are full, and fall
            chosen = np.union1d(rng.choice(chosen, size // 3, replace=False), rng.choice(1200, size, replace=False))
            order, gram = working.of(chosen[:size])
            np.testing.assert_array_equal(np.sort(order), chosen[:size])
            np.testing.assert_allclose(gram[:size, :size], whole[np.ix_(order, order)], atol=1e-12)


def test_a_cache_is_given_up_where_working_sets_need_its_memory():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(1500, 20))
    problem = DualProblem.classification(np.sign(rows[:, 0] + rng.normal(size=1500)), np.full(1500, 100.0))
    matrix, single = KernelMatrix(RBF(0.05), rows), KernelMatrix(RBF(0.05), rows, dtype=np.float32)
    given = {"tol": 1e-4, "max_steps": 10**6, "n_bytes": 8 * 1000**2}
    cached = CachedGram(single, matrix.diagonal, 4 * 1500 * 700)
    exact = ComputedGram(matrix, matrix.diagonal)
    found = minimise(problem, exact, coarse=cached, **given)
    assert problem.free(found.beta).sum() > 1000
    assert not len(cached.held)
    gradient = matrix.dense() @ found.beta - problem.target
    assert problem.violation(found.beta, gradient) <= 1e-4
    np.testing.assert_allclose(cached.times(np.arange(9), np.ones(9)), matrix.dense()[:9].sum(axis=0), atol=1e-5)


def test_working_sets_too_small_for_the_free_variables_lead_to_the_same_minimum(monkeypatch):
    monkeypatch.setattr(decomposition, "_NEW", 64)
    monkeypatch.setattr(decomposition, "POLISHED", 0)
    rows = RNG.normal(size=(1100, 5))
    sign = np.where(rows[:, 0] * rows[:, 1] + 0.5 * RNG.normal(size=1100) > 0, 1.0, -1.0)
    problem = DualProblem.classification(sign, np.full(1100, 10.0))
    matrix = KernelMatrix(RBF(0.5), rows)
    given = {"tol": 1e-2, "max_steps": 10**6}
    whole = minimise(problem, HeldGram(matrix.dense()), n_bytes=8 * 1100**2, **given)
    small = minimise(problem, ComputedGram(matrix, matrix.diagonal), n_bytes=8 * 250**2, **given)
    assert small.violation <= 1e-2
    assert problem.free(whole.beta).sum() > 300
    values = [problem.value(each.beta, each.gradient) for each in (whole, small)]
    np.testing.assert_allclose(*values, rtol=1e-4)
    assert small.rounds <= 100  # chosen by violation, they would go round in circles


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_that_rest_change_neither_the_end_nor_what_is_said_of_it(task):
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(1500, 4))
    scores, bound = rows[:, 0] + rows[:, 1] * rows[:, 2] + 0.2 * rng.normal(size=1500), np.full(1500, 5.0)
    problem = {
        "classification": DualProblem.classification(np.sign(scores), bound),
        "regression": DualProblem.regression(scores, bound, 0.6),
    }[task]
    matrix, single = KernelMatrix(RBF(0.3), rows), KernelMatrix(RBF(0.3), rows, dtype=np.float32)
    sources = {"rows": ComputedGram(matrix, matrix.diagonal), "coarse": ComputedGram(single, matrix.diagonal)}
    given = {**sources, "tol": 1e-3, "max_steps": 10**6, "n_bytes": 8 * 500**2}
    found = minimise(problem, **given)
    gradient = matrix.dense() @ found.beta - problem.target
    rested = np.abs(gradient - found.gradient) > 1e-8
    assert rested.sum() > 100
    assert not found.beta[rested].any()
    assert problem.violation(found.beta, gradient) <= 1e-3
    np.testing.assert_allclose(problem.violation(found.beta, gradient), found.violation, rtol=1e-6)
    gaps = [problem.gap(found.beta, each, found.intercept) for each in (gradient, found.gradient)]
    np.testing.assert_allclose(*gaps, rtol=1e-6)
    given_all = minimise(problem, **given, known=-problem.target)
    gradient = matrix.dense() @ given_all.beta - problem.target
    np.testing.assert_allclose(given_all.gradient, gradient, atol=1e-8)


@njit
def settle_free(gram, low, high, width, beta, gradient):
    """What only loops can call."""
    free_loops.settle_free(gram, low, high, width, beta, gradient)


@pytest.mark.parametrize("C", [0.5, 1e6], ids=["bounded", "free"])
def test_free_variables_are_settled_within_their_bounds(C):
    problem, gram = DualProblem.classification(SIGN, np.full(30, C)), GRAM + 1e-3 * np.eye(30)
    solved = minimise(problem, HeldGram(gram), tol=1e-9, max_steps=100_000, n_bytes=8 * 100**2).beta
    one, other = np.flatnonzero(problem.free(solved))[:2]
    away = solved.copy()
    away[[one, other]] += [-1e-3, 1e-3]
    beta, gradient = away.copy(), gram @ away - SIGN
    settle_free(gram, problem.low, problem.high, 0.0, beta, gradient)
    np.testing.assert_allclose(beta, solved, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(gradient, gram @ beta - SIGN, atol=1e-9)
    closer = problem.high.copy()
    closer[one] = solved[one] - 5e-4  # between the two points
    beta, gradient = away.copy(), gram @ away - SIGN
    settle_free(gram, problem.low, closer, 0.0, beta, gradient)
    assert beta[one] == closer[one]
    np.testing.assert_allclose(beta.sum(), away.sum(), atol=1e-12)
    np.testing.assert_allclose(gradient, gram @ beta - SIGN, atol=1e-9)
    free = (beta > problem.low) & (beta < closer) & (beta != 0.0)
    np.testing.assert_allclose(np.ptp(gradient[free]), 0.0, atol=1e-9)
    twice = np.tile(gram, (2, 2))  # rows that depend on others stay, and their slopes follow
    beta, gradient = np.tile(away, 2) / 2, np.tile(gram @ away - SIGN, 2)
    settle_free(twice, np.tile(problem.low, 2) / 2, np.tile(problem.high, 2) / 2, 0.0, beta, gradient)
    np.testing.assert_allclose(beta[:30] + beta[30:], solved, rtol=1e-6, atol=1e-9)


def test_folds_are_judged_in_float64_where_float32_would_not_do():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(1250, 4))
    sign = np.where(rows[:, 0] * rows[:, 1] + 0.5 * rng.normal(size=1250) > 0, 1.0, -1.0)
    train, test = np.arange(1050), np.arange(1050, 1250)
    matrix = KernelMatrix(RBF(0.005), rows, dtype=np.float64)
    gram, refined = matrix.dense(), RefinedGram(matrix)
    some = np.arange(0, 1250, 7)
    np.testing.assert_allclose(refined.block(some), gram[np.ix_(some, some)], atol=2e-12)
    control = Control(tol=1e-3, max_steps=10**7, n_bytes=10**8)
    problem = DualProblem.classification(sign, np.where(np.arange(1250) < 1050, 1e4, 0.0))
    found = solve_with(problem, refined, refined.held, control)
    assert problem.violation(found.beta, gram @ found.beta - sign) <= 1.001e-3
    alone = solve_with(problem, refined.held, None, control)  # what float32 takes for converged is not
    assert problem.violation(alone.beta, gram @ alone.beta - sign) > 1e-3
    Cs, split = [1e3], [(train, test)]
    ours = SVCCV(Cs=Cs, gammas=[0.005], cv=split, scoring="roc_auc").fit(rows, sign)
    theirs = GridSearchCV(SVC(gamma=0.005), {"C": Cs}, cv=split, scoring="roc_auc", refit=False).fit(rows, sign)
    np.testing.assert_allclose(ours.scores_[0, 0], theirs.cv_results_["mean_test_score"], atol=1e-3)


def test_the_flat_problems_of_all_pairs_are_those_of_each_pair():
    codes = np.repeat(np.arange(4), [3, 1, 5, 2])
    positive, negative = np.array([0, 3, 1, 3]), np.array([2, 0, 2, 2])
    pairs = ClassPairs(codes, positive, negative, RNG.uniform(0.5, 2.0, len(codes)))
    rows, machine = pairs.members
    together = pairs.problems()
    for k in range(len(positive)):
        own, single = machine == k, pairs.problem(k)
        assert (np.flatnonzero(own) == np.arange(pairs.places[k], pairs.places[k + 1])).all()
        np.testing.assert_array_equal(rows[own], pairs.rows(k))
        for name in ("target", "low", "high", "start"):
            np.testing.assert_array_equal(getattr(together, name)[own], getattr(single, name))
        first, second = pairs.slices(k)
        np.testing.assert_array_equal(pairs.machine_slices[k], [first.start, first.stop - first.start, second.start])


def test_dual_variables_at_their_bounds_are_left_there():
    """On other machines, this plane through no row was divided by 0."""
    problem = DualProblem.classification(np.array([-1.0, 1.0, 1.0, -1.0]), np.ones(4))
    features, beta = np.array([[1e20, 1.0], [1e-20, 2.0], [3.0, 0.0], [4.0, 1.0]]), np.array([-1.0, 1.0, 0.0, 0.0])
    kept = exact_duals(problem, features, beta * (1.0 - 1e-12), np.array([1e-60, 1e-90, 0.0]))
    np.testing.assert_array_equal(kept, beta)
