"""The sample that a fit starts from."""

import weakref

import numpy as np

from hiperplano.data.validate import design as make_design
from hiperplano.solvers.likelihood import maximum
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.sample import some_rows


def test_an_even_sample_is_let_go_before_a_telling_one_is_drawn(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    X[::400, 2] *= 1e3  # rows that decide the Hessian
    rows = make_design(X, np.where(rng.random(2000) < 0.5, 1.0, -1.0), None)
    problem = Likelihood(rows, Coordinates.of(rows, rows, level=True), 1, 1e-3)
    samples = [some_rows(rows, 500)]
    first, seen = weakref.ref(samples[0]), []
    draw = maximum.sample_of

    def watched(*arguments):
        seen.append(first() is None)
        return draw(*arguments)

    monkeypatch.setattr(maximum, "sample_of", watched)
    maximum._from_sample(problem, samples)
    assert seen == [True]
