"""The parts of the support vector solvers, each against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import sparse
from scipy.optimize import minimize_scalar

from hiperplano import losses
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.svm.class_losses import ClassLoss
from hiperplano.solvers.svm.compiled.box_loops import best_level
from hiperplano.solvers.svm.compiled.conjugate_equations import ConjugateEquations
from hiperplano.solvers.svm.compiled.interior_point import InteriorPoint
from hiperplano.solvers.svm.compiled.normal_equations import NormalEquations
from hiperplano.solvers.svm.compiled.problem import dual_box
from hiperplano.solvers.svm.curvature import MatrixCurvature, RowCurvature
from hiperplano.solvers.svm.dual_losses import DualLoss, root_of_increasing
from hiperplano.solvers.svm.smoothed import SmoothedProblem

seeds = st.integers(0, 10_000)


@njit
def level_of(box, residual, guess, unit):
    return best_level(box, residual, guess, unit)


LOSSES = {
    "hinge": DualLoss.hinge(0.7, False),
    "squared hinge": DualLoss.hinge(0.7, True),
    "insensitive": DualLoss.epsilon_insensitive(0.3, 0.7, False),
    "absolute": DualLoss.epsilon_insensitive(0.0, 0.7, False),
    "squared insensitive": DualLoss.epsilon_insensitive(0.3, 0.7, True),
}


def rows(loss, seed=0, n=7):
    """A design with targets, signs and weights, and one column."""
    rng = np.random.default_rng(seed)
    sign = np.where(rng.uniform(size=n) < 0.5, -1.0, 1.0)
    target, weight = rng.normal(size=n), rng.integers(1, 4, n).astype(float)
    y = sign if loss.classifies else target
    return InMemory(np.zeros((n, 1)), y[:, None], weight, vectors={"sign": sign})


def block_of(design):
    return design.block(slice(0, design.n_rows))


FORMULAS = {
    "hinge": losses.Hinge(),
    "squared hinge": losses.SquaredHinge(),
    "insensitive": losses.EpsilonInsensitive(0.3),
    "absolute": losses.EpsilonInsensitive(0.0),
    "squared insensitive": losses.SquaredEpsilonInsensitive(0.3),
}


@pytest.mark.parametrize("name", FORMULAS)
@given(seed=seeds)
def test_losses_and_slopes_are_those_of_the_formulas(name, seed):
    loss = LOSSES[name]
    block = block_of(rows(loss, seed))
    target, score = block.y[:, 0], 2 * np.random.default_rng(seed).normal(size=7)
    residual = loss.residual(block, score)
    np.testing.assert_allclose(loss.value(residual), 0.7 * FORMULAS[name].value(target, score))
    slope = -loss.beta(block, loss.dual_variable(residual)) / block.weight
    np.testing.assert_allclose(slope, 0.7 * FORMULAS[name].slope(target, score))


@pytest.mark.parametrize("name", FORMULAS)
@given(seed=seeds, proximity=st.floats(0.01, 10))
def test_dual_variables_maximise_what_they_should(name, seed, proximity):
    loss = LOSSES[name]
    rng = np.random.default_rng(seed)
    residual, centre = 2 * rng.normal(size=7), np.clip(rng.normal(size=7), loss.low, loss.high)
    found = loss.dual_variable(residual, centre, proximity)
    value = loss.gain(residual, found) - 0.5 * proximity * (found - centre) ** 2
    for other in np.linspace(max(loss.low, -3), min(loss.high, 3), 301):
        rival = loss.gain(residual, np.full(7, other)) - 0.5 * proximity * (other - centre) ** 2
        assert (value >= rival - 1e-12).all()
    assert (found >= loss.low).all()
    assert (found <= loss.high).all()


@pytest.mark.parametrize("name", FORMULAS)
@given(seed=seeds)
def test_balanced_dual_variables_sum_to_zero_and_pass_no_bound(name, seed):
    loss = LOSSES[name]
    design = rows(loss, seed)
    block = block_of(design)
    start = loss.dual_variable(2 * np.random.default_rng(seed).normal(size=7), 0.1, 0.5)
    found = design.collect(loss.balanced(design.with_vectors(gamma=start)))
    sums = loss.beta(block, start).sum()
    assert abs(loss.beta(block, found).sum()) <= 1e-12 * (1 + block.weight @ np.abs(start))
    assert (found >= loss.low).all()
    assert (found <= loss.high).all()
    if sums == 0:
        np.testing.assert_array_equal(found, start)


@pytest.mark.parametrize("name", FORMULAS)
@given(seed=seeds)
def test_the_best_level_is_best(name, seed):
    loss = LOSSES[name]
    design = rows(loss, seed)
    block = block_of(design)
    sign = block.vectors["sign"] if loss.classifies else np.ones(7)
    residual = 2 * np.random.default_rng(seed).normal(size=7)  # target − score

    def total(level):
        return block.weight @ loss.value(sign * (residual - level))

    best = minimize_scalar(total, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10})
    levels = [level_of(dual_box(design, loss), residual, 0.0, 1.0)]
    if loss.ridge:
        levels.append(SmoothedProblem(design, loss, True).level_step(sign * residual))
    for level in levels:
        assert total(level) <= best.fun + 1e-7
        assert total(level) <= total(level * 0.999) + 1e-12  # of several, that next to 0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["more columns", "more rows", "sparse", "hardly any entries", "conjugate"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_interior_point_has_no_duality_gap(name, kind, fit_intercept):
    box, rng = dual_box(rows(LOSSES[name], n=60), LOSSES[name]), np.random.default_rng(1)
    x = rng.normal(size=(60, 50 if kind == "more columns" else 20))
    if kind in ("sparse", "hardly any entries", "conjugate"):
        x = sparse.csr_array(x * (rng.uniform(size=x.shape) < (0.05 if kind == "hardly any entries" else 0.5)))
    equations = ConjugateEquations(x, np.inf) if kind == "conjugate" else NormalEquations(x)
    beta, coef, level, _ = InteriorPoint(x, box, fit_intercept, equations).solve(1e-8, 0.0, 600)
    assert ((beta >= box.low) & (beta <= box.high)).all()
    assert not fit_intercept or abs(beta.sum()) <= 1e-9
    pull, e = beta @ x, box.target - x @ coef - level
    outside = e - np.clip(e, -box.epsilon, box.epsilon)
    limit = np.where(outside > 0, box.high, box.low)
    size = outside**2 / (2 * box.soft) if LOSSES[name].ridge else np.abs(limit * outside)
    loss = np.where(limit == 0, 0.0, size)
    objective = 0.5 * coef @ coef + loss.sum()
    gain = box.target @ beta - box.epsilon * np.abs(beta).sum() - 0.5 * np.sum(box.soft * beta**2)
    assert objective - gain + 0.5 * pull @ pull <= 2e-8 * objective


def test_roots_are_found_where_functions_are_flat_steep_or_far():
    assert root_of_increasing(lambda x: (x - 1234.5, 1.0), 1.0) == pytest.approx(1234.5, rel=1e-12)
    assert root_of_increasing(lambda x: (x**3 + 8, 3 * x**2), 1.0) == pytest.approx(-2.0, rel=1e-9)
    assert root_of_increasing(lambda x: (np.arctan(x - 40), 1 / (1 + (x - 40) ** 2)), 1.0) == pytest.approx(
        40, rel=1e-9
    )
    assert root_of_increasing(lambda x: (max(x - 3, 0) - 1e-9, float(x > 3)), 1.0) == pytest.approx(3.0, rel=1e-8)
    assert root_of_increasing(lambda x: (-1.0, 0.0), 1.0) == 0.0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("free", [3, 40])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_and_their_matrix_give_the_same_step(fit_intercept, free, kind):
    rng = np.random.default_rng(free)
    d = 30
    x, weight = rng.normal(size=(60, d)), np.zeros(60)
    weight[rng.permutation(60)[:free]] = rng.uniform(0.5, 2.0, free)
    augmented = np.column_stack([x, np.ones(60)])
    matrix = MatrixCurvature(augmented.T @ (weight[:, None] * augmented))
    design = InMemory(kind(x), np.zeros((60, 1)), vectors={"stiffness": weight})
    rows = RowCurvature(design, weight.sum(), free)
    slope = rng.normal(size=d + 1) * np.append(np.ones(d), fit_intercept)
    assert rows.mass == pytest.approx(matrix.mass)
    np.testing.assert_allclose(rows.offset, matrix.offset)
    exact, _ = matrix.step(slope, fit_intercept, 0.0)
    hessian = matrix.gram + np.diag(np.append(np.ones(d), 0.0))
    if fit_intercept:
        np.testing.assert_allclose(hessian @ exact, -slope, atol=1e-9)
    else:
        np.testing.assert_allclose(hessian[:-1, :-1] @ exact[:-1], -slope[:-1], atol=1e-9)
        assert exact[-1] == 0.0
    for exactly in (rows._with_rows, rows._with_columns):
        np.testing.assert_allclose(exactly(slope, fit_intercept), exact, atol=1e-9)
    # Conjugate gradients stop where a tenth is left, in the metric of the diagonal.
    for step in (
        rows.step(slope, fit_intercept, 0.0)[0],
        rows._by_conjugate_gradients(slope, fit_intercept, 0.0, 1e9)[0],
    ):
        left = (hessian @ step + slope)[:-1] if fit_intercept else hessian[:-1, :-1] @ step[:-1] + slope[:-1]
        assert np.linalg.norm(left) < 0.3 * np.linalg.norm(slope)
        if fit_intercept:
            assert abs((hessian @ step + slope)[-1]) < 1e-9


@given(seed=seeds, n=st.integers(2, 20), classes=st.integers(2, 5))
def test_dual_variables_of_classes_balance_within_their_bounds(seed, n, classes):
    rng = np.random.default_rng(seed)
    alpha = -rng.uniform(size=(n, classes)) * (rng.uniform(size=(n, classes)) < 0.6)
    codes = rng.integers(0, classes, n)
    here = np.arange(n)
    alpha[here, codes] = 0.0
    alpha[here, codes] = -alpha.sum(axis=1)
    design = InMemory(np.zeros((n, 1)), codes[:, None], vectors={"gamma": alpha})
    found = design.collect(ClassLoss(classes, 1.0).balanced(design))
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-12)
    others = np.ones_like(alpha, dtype=bool)
    others[here, codes] = False
    assert (found[others] <= 1e-15).all()
    assert (found[here, codes] <= alpha[here, codes] + 1e-12).all()


@given(seed=seeds, classes=st.integers(2, 5), proximity=st.floats(0.05, 10))
def test_dual_variables_of_classes_are_the_nearest_allowed_ones(seed, classes, proximity):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, 6)
    own = codes[:, None] == np.arange(classes)
    residual, centre = rng.normal(size=(6, classes)), rng.normal(size=(6, classes))
    found = ClassLoss(classes, 0.8).dual_variable(residual, own, centre, proximity)
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-12)
    assert (found <= 0.8 * own + 1e-12).all()
    # Conditions of optimality: a slope common to the free classes, and no larger one at an end.
    slope = residual - proximity * (found - centre)
    for row, free in zip(slope, found < 0.8 * own - 1e-9, strict=True):
        assert np.ptp(row[free]) < 1e-9
        assert (row[~free] >= row[free].min() - 1e-9).all()
