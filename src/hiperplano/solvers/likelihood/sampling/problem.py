"""The likelihood of a sample, and its solution: where a minimisation over all rows begins."""

from __future__ import annotations

from hiperplano.data.design import Design
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.newton import Minimum


def on_sample(problem: Likelihood, sample: Design) -> Likelihood:
    """The problem on a sample; its ridge keeps coefficients finite of columns that the sample hardly shows."""
    return Likelihood(sample, problem.scale, problem.n_scores, problem.strength, extra=1.0 / sample.n_rows)


def solution_of_sample(part: Likelihood) -> Minimum:
    """Its minimum, as closely as a sample tells that of all rows."""
    return part.newton(None, tol=1e-3, max_steps=20, settled=5e-2)
