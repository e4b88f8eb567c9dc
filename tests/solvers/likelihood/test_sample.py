"""The sample that a fit starts from."""

import weakref

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.validate import design as make_design
from hiperplano.solvers.likelihood import preconditioners
from hiperplano.solvers.likelihood.likelihood import Likelihood


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
