"""The likelihood of a sample, and its solution, from which a minimisation over all rows starts."""

from __future__ import annotations

from hiperplano.data.design import Design
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.newton import Minimum


def on_sample(problem: Likelihood, sample: Design) -> Likelihood:
    """The problem for a sample, with a small ridge, since columns may hardly vary in the sample."""
    return Likelihood(sample, problem.scale, problem.n_scores, problem.strength, extra=1.0 / sample.n_rows)


def solution_of_sample(part: Likelihood) -> Minimum:
    """The minimum for a sample, only as accurate as it approximates that for all rows."""
    return part.newton(None, tol=1e-3, max_steps=20, settled=5e-2)
