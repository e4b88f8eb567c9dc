"""Without a penalty separated classes are recognised, always, and overlapping ones never called separated."""

import warnings

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from hiperplano import LogisticRegression
from hiperplano.errors import SeparationWarning
from hiperplano.solvers.separation import unbounded_columns

SOLVERS = ["auto", "newton", "lbfgs"]


def warned(X, y, **parameters):
    """The words of the SeparationWarning, or None; any other warning is an error."""
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        model = LogisticRegression(C=np.inf, **parameters).fit(X, y)
    assert [one.category for one in record] in ([], [SeparationWarning]), [str(one.message) for one in record]
    assert model.solution_.unbounded == bool(record)
    assert model.solution_.converged == (not record)
    assert np.isfinite(model.coef_).all()
    return str(record[0].message) if record else None


def separated(X, y, fit_intercept=True):
    """Konis' program for any number of classes: does Σ (score of the own class − score of another) gain somewhere?"""
    classes, codes = np.unique(y, return_inverse=True)
    rows = np.column_stack([np.ones(len(y)), X]) if fit_intercept else np.asarray(X)
    size = rows.shape[1]
    z = []
    for row, own in zip(rows, codes, strict=True):
        for other in range(len(classes)):
            if other != own:
                one = np.zeros((len(classes), size))
                one[own], one[other] = row, -row
                z.append(one.ravel())
    z = np.array(z)
    answer = linprog(-z.sum(axis=0), A_ub=-z, b_ub=np.zeros(len(z)), bounds=[(-1, 1)] * z.shape[1])
    return -answer.fun > 1e-7


@settings(max_examples=150)
@given(st.data())
def test_equals_the_plain_program(data):
    """Small whole numbers give every kind of touching, dependent and separated rows."""
    d, n = data.draw(st.integers(1, 3)), data.draw(st.integers(4, 25))
    classes = data.draw(st.integers(2, 3))
    fit_intercept = data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    found = warned(X, y, solver=data.draw(st.sampled_from(SOLVERS)), fit_intercept=fit_intercept)
    assert (found is not None) == separated(X, y, fit_intercept)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("margin", [0.0, 1e-3, 10.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_separable_with_any_margin_at_any_scale(solver, margin, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    score = X @ [1.0, -2.0, 0.5, 0.0] + 0.1
    X[:, :1] += np.sign(score)[:, None] * margin
    words = warned(X * scale, score > 0, solver=solver)
    assert "are separated by 'x0'" in words
    assert "'x3'" not in words or margin < 1
    assert words.endswith("Set firth=True, or a finite C.")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("members", [1, 4, 60])
def test_a_rare_category_in_many_rows(solver, sparse, members):
    rng = np.random.default_rng(members)
    n = 20_000
    X = np.column_stack([rng.normal(size=(n, 3)), np.exp(rng.normal(10, 1, n)), np.zeros((n, 2))])
    y = (X[:, 0] + rng.logistic(size=n) > 1.0).astype(int)
    X[rng.choice(n, members, replace=False), 4] = 1.0
    X[rng.choice(n, 500, replace=False), 5] = 1.0
    y[X[:, 4] == 1] = 1
    table = csr_array(X) if sparse else pandas.DataFrame(X, columns=["a", "b", "c", "income", "rare", "common"])
    words = warned(table, y, solver=solver)
    name = "'x4'" if sparse else "'rare'"
    assert f"separated in part (quasi-completely) by {name}, so" in words
    y[np.flatnonzero(X[:, 4])[0]] = 0  # one of several is enough to make it an estimate
    assert (warned(table, y, solver=solver) is None) == (members > 1)


def test_a_column_that_knows_the_answer():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 5))
    y = rng.integers(0, 2, 500)
    X[:, 3] = y + rng.uniform(0, 0.4, 500)
    assert "are separated by 'x3', so" in warned(X, y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_sectors_that_no_class_against_the_rest_can_show(solver):
    rng = np.random.default_rng(2)
    angle, radius = rng.uniform(0, 2 * np.pi, 600), rng.uniform(0.05, 3.0, 600)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    words = warned(X, (angle // (2 * np.pi / 3)).astype(int), solver=solver)
    assert "are separated by 'x0', 'x1', so" in words
    assert words.endswith("Set a finite C.")


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_category_that_one_of_three_classes_never_has(solver):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 3000)
    X = np.column_stack([rng.normal(size=(3000, 3)), (rng.random(3000) < 0.05) & (y > 0)]).astype(float)
    assert "separated in part (quasi-completely) by 'x3', so" in warned(X, y, solver=solver)


def test_more_columns_than_a_hessian_is_kept_for():
    rng = np.random.default_rng(4)
    n, levels = 9000, 600
    level = rng.integers(0, levels, n)
    X = np.zeros((n, levels))
    X[np.arange(n), level] = 1.0
    X[:, 0] = rng.normal(size=n)
    y = rng.integers(0, 2, n)
    y[np.unique(level, return_index=True)[1]] = 0  # every level has both classes
    y[np.unique(level[::-1], return_index=True)[1]] = 1
    for code in range(1, levels):
        members = np.flatnonzero(level == code)
        y[members[0]], y[members[-1]] = 0, 1
    assert warned(X, y) is None
    y[level == 7] = 1
    assert "separated in part (quasi-completely) by 'x7', so" in warned(X, y)
    assert "separated in part (quasi-completely) by 'x7', so" in warned(csr_array(X), y)


def test_fewer_rows_than_columns():
    rng = np.random.default_rng(5)
    assert "are separated by" in warned(rng.normal(size=(20, 50)), np.arange(20) % 2)


@pytest.mark.parametrize(("n", "d"), [(200, 350), (3_000, 20)])
def test_separated_rows_need_no_newton_steps(n, d, monkeypatch):
    """Once all rows are on the right side, no finite maximum exists. Hessians without an inverse would take longest."""
    monkeypatch.setattr("hiperplano.solvers.likelihood.fit.continued", None)  # Newton's method, to the end
    X = np.random.default_rng(5).normal(size=(n, d))
    with pytest.warns(SeparationWarning, match="are separated by"):
        model = LogisticRegression(C=np.inf, solver="lbfgs").fit(X, X[:, 0] > 0)
    assert "L-BFGS" in str(model.solution_.method)
    assert np.isnan(model.summary().p).all()


def test_gradient_steps_that_end_early_name_the_reason():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 2))
    with pytest.warns(SeparationWarning, match="are separated by 'x0', 'x1'"):
        LogisticRegression(C=np.inf, solver="gradient").fit(X, X.sum(axis=1) > 0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("strength", [1.0, 5.0, 20.0])
def test_strong_signals_are_not_separation(solver, strength):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(5000, 4))
    X[:10] *= 30.0  # rows whose probabilities are 1 to sixteen digits
    y = (strength * X @ [1.0, -1.0, 0.5, 0.0] + rng.logistic(size=5000) > 0).astype(int)
    assert warned(X, y, solver=solver) is None


def test_dependent_columns_are_not_separation():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 3))
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(300)])
    assert warned(X, (X[:, 0] + rng.logistic(size=300) > 0).astype(int)) is None


def test_the_two_ways_out():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    for parameters in ({"C": 10.0}, {"firth": True}):
        assert LogisticRegression(**parameters).fit(X, y).solution_.converged


def test_the_summary_of_a_separated_fit_claims_nothing():
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    found = model.summary()
    assert np.isnan(found.p).all()
    assert np.isnan(found.low).all()
    assert np.isnan(found.stats["lr_p"])
    assert "separated" in str(found)


@pytest.mark.parametrize(("n", "d", "classes", "kept"), [(683, 36, 19, 36), (900, 90, 3, 90), (1200, 60, 6, 12)])
def test_the_warning_solves_no_program_that_costs_more_than_the_fit(n, d, classes, kept, monkeypatch):
    """Many classes of many categories: such programs took minutes, and some did not end."""
    from hiperplano.solvers.separation import programs

    def small_only(cost, **program):
        shape = (program["A_eq"] if program.get("A_ub") is None else program["A_ub"]).shape
        assert max(shape) * min(shape) ** 2 < 1e8, shape
        return linprog(cost, **program)

    monkeypatch.setattr(programs, "linprog", small_only)
    rng = np.random.default_rng(classes)
    y = np.arange(n) % classes
    chances = rng.dirichlet(np.full(3, 0.7), size=(classes, d)).cumsum(axis=2)
    level = (rng.random((n, d, 1)) > chances[y]).sum(axis=2)
    X = np.hstack([level == 1, level == 2])[:, : 2 * kept].astype(float)
    words = warned(X, y)
    assert words is not None
    assert "separated" in words


@pytest.mark.parametrize("seed", range(24))
def test_the_point_itself_shows_whether_categories_are_separated(seed, monkeypatch):
    """For many parameters all free directions would take far longer than the fit: here none are computed."""
    monkeypatch.setattr(unbounded_columns, "_MOST_DIRECTIONS", 0)
    rng = np.random.default_rng(seed)
    n, classes, levels = rng.integers(30, 70), rng.integers(2, 5), rng.integers(3, 9)
    X = np.hstack([np.eye(levels)[rng.integers(0, levels, n)] for _ in range(3)])
    y = (2 * X @ rng.normal(size=(X.shape[1], classes)) + rng.gumbel(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    assert (warned(X, y) is not None) == separated(X, y)
