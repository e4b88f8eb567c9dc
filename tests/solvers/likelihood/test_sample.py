"""The sample that a fit starts from."""

import weakref

import numpy as np
import pytest

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.in_memory import InMemory
from hiperplano.data.validate import design as make_design
from hiperplano.solvers.likelihood import preconditioners
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.sampling.corrected import newton_by_sample
from hiperplano.solvers.likelihood.sampling.problem import on_sample, solution_of_sample
from hiperplano.solvers.likelihood.sampling.sample import starting_sample


def test_an_even_sample_is_let_go_before_a_telling_one_is_drawn(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[::400, 2] *= 1e3  # rows that decide the Hessian
    rows = make_design(X, np.where(rng.random(2000) < 0.5, 1.0, -1.0), None)
    problem = Likelihood(rows, ColumnScale.exact(rows, fit_intercept=True), 1, 1e-3)
    samples = [rows.sample(500)]
    first, seen = weakref.ref(samples[0]), []
    draw = preconditioners.sample_by_length

    def watched(*arguments):
        seen.append(first() is None)
        return draw(*arguments)

    monkeypatch.setattr(preconditioners, "sample_by_length", watched)
    preconditioners._Sample(problem, samples).buy(problem.prior(), first=True)
    assert seen == [True]


@pytest.mark.parametrize("n_scores", [1, 3])
def test_one_hessian_and_a_sample_need_three_passes(n_scores):
    """A step takes an error e to about e³, where one of Newton's takes it to e²."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60_000, 4))
    score = X @ rng.normal(size=(4, 3)) + rng.gumbel(size=(60_000, 3))
    y = np.where(score[:, 0] > score[:, 1], 1.0, -1.0) if n_scores == 1 else score.argmax(axis=1).astype(float)
    rows = make_design(X, y, None)
    problem = Likelihood(rows, ColumnScale.exact(rows, fit_intercept=True), n_scores, 1e-5)
    part = on_sample(problem, rows.sample(20_000))
    start = solution_of_sample(part).state.theta
    end = newton_by_sample(problem, part, start, 1e-8, 20)
    assert problem.passes == 3
    exact = problem.newton(start, 1e-13, 20, 1e-12)
    first = np.abs(start - exact.state.theta).max()
    assert np.abs(problem.balanced(end.state.theta - exact.state.theta)).max() < 1e-9 < 1e-4 < first
    before = problem.passes
    unseen = newton_by_sample(problem, part, start, 1e-8, 20, settled=1e-7)
    assert problem.passes == before + 2  # Newton's method, which follows, makes the third
    assert np.abs(problem.balanced(unseen.state.theta - exact.state.theta)).max() < 1e-7


def test_a_sample_unlike_all_rows_is_noticed():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4_000, 2))
    rows = make_design(X, np.where(X[:, 0] + rng.logistic(size=4_000) > 0, 1.0, -1.0), None)
    problem = Likelihood(rows, ColumnScale.exact(rows, fit_intercept=True), 1, 1e-4)
    other = make_design(-X[:500], rows.collect(rows.vector("y"))[:500, 0], None)
    part = on_sample(problem, other)
    assert newton_by_sample(problem, part, solution_of_sample(part).state.theta, 1e-8, 20) is None
    other = make_design(3.0 * X[:500], rows.collect(rows.vector("y"))[:500, 0], None)
    part = on_sample(problem, other)
    end = newton_by_sample(problem, part, solution_of_sample(part).state.theta, 1e-8, 20)
    assert end.state.stalled


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "drawn"), [(1_000_000, 20, True), (20_000, 6, True), (40_000, 100, False), (900, 5, False)]
)
def test_a_sample_is_drawn_where_all_rows_are_many_for_each_column(n_rows, n_columns, drawn):
    """Otherwise a Hessian of all rows costs less than the passes that a sample's Hessian takes longer."""
    X = np.broadcast_to(np.zeros(n_columns), (n_rows, n_columns))  # one row in memory
    rows = InMemory(X, np.ones((n_rows, 1)))
    assert (starting_sample(rows, 1) is not None) == drawn
