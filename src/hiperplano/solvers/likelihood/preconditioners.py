"""Preconditioners that a minimisation can buy, the cheapest first; `solvers/cost.py` says when."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.messages import Message
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.lbfgs import Preconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision, rounding
from hiperplano.solvers.likelihood.sampling.problem import on_sample, solution_of_sample
from hiperplano.solvers.likelihood.sampling.sample import FEWEST, MOST_PARAMETERS, is_uneven, sample_by_length

_NEWTON_STEPS = 6  # that the solution of a sample takes
_BLOCK_ROWS = 15  # for each column, that blocks of the Hessian are measured on
_LEAST_CURVATURE = 1e-6  # of a class that has hardly any rows
WORTH = 0.5  # of the cost of a better one, that a preconditioner may cost


class Purchase(NamedTuple):
    """Where to go on, and with which preconditioner.

    Value and gradient there, if they came with the preconditioner; and what that is the inverse of, if it is not
    diagonal: the Hessian of shape (1, scores·size, scores·size), or its blocks of shape (scores, size, size).
    """

    theta: Array
    precondition: Preconditioner
    found: tuple[float, Array] | None = None
    curvature: Array | None = None


class Offer(ABC):
    """A preconditioner that can be bought.

    Attributes
    ----------
    method : Message
        What L-BFGS with it is called.
    cost : float
        As in `Costs`.
    first_cost : float
        Before the first step: a sample is then solved for a start, too.
    again : bool
        Whether it is worth buying again further on.
    pace : float
        As in `Budget`.
    """

    method: Message
    cost: float
    first_cost: float
    again = False
    pace = np.inf

    @abstractmethod
    def buy(self, theta: Array, first: bool) -> Purchase:
        """The preconditioner for steps from here.

        Parameters
        ----------
        theta : ndarray of shape (scores, size)
        first : bool
            Whether no step has been made.
        """


def offers(problem: Likelihood, passes: SinglePrecision, samples: list[Design]) -> list[Offer]:
    """What suits the shape of the data, from the cheapest to the best.

    Parameters
    ----------
    passes : SinglePrecision
        Over the rows of the problem.
    samples : list of Design
        None or one; an offer that is bought takes it out of the list.
    """
    costs = Costs.of(problem.design, problem.n_scores)
    found: list[Offer] = []
    if problem.scale.size * problem.n_scores <= MOST_PARAMETERS:
        found.append(_AllRows(problem, passes, costs))
        if samples:
            found.append(_Sample(problem, samples))
    if problem.n_scores > 1 and problem.n_scores * problem.scale.size**2 <= MOST_PARAMETERS**2:
        found.append(_ClassBlocks(problem))
    kept: list[Offer] = []
    for each in found:  # the best first
        if not kept or each.cost <= WORTH * kept[-1].cost:
            kept.append(each)
    return kept[::-1]


class _AllRows(Offer):
    """The Hessian of all rows, at the point that was reached."""

    method = Message("L-BFGS preconditioned by the Hessian of all rows")
    again = True

    def __init__(self, problem: Likelihood, passes: SinglePrecision, costs: Costs) -> None:
        self._problem, self._passes = problem, passes
        self._rounded = True  # whether products in float32 may tell it
        self.cost = self.first_cost = costs.rounded_hessian if passes.rounds_hessians else costs.hessian

    def buy(self, theta: Array, first: bool) -> Purchase:
        rounded = self._passes.hessian(theta) if self._rounded else None
        if rounded is not None:
            solver = SymmetricSolver(rounded)
            if solver.reciprocal > rounding(len(rounded)):
                return Purchase(theta, solver.precondition, None, rounded[None])
            self._rounded = False  # columns depend on each other as much at the next point
        value, gradient, hessian = self._problem.evaluate_with_hessian(theta)
        return Purchase(theta, SymmetricSolver(hessian).precondition, (value, gradient), hessian[None])


class _Sample(Offer):
    """The Hessian of a sample of the rows; before the first step the solution of the sample, too."""

    def __init__(self, problem: Likelihood, samples: list[Design]) -> None:
        self._problem, self._samples = problem, samples
        n_rows = samples[0].n_rows
        self.method = Message("L-BFGS preconditioned by the Hessian of a sample of {n} rows", n=n_rows)
        self.cost = Costs.of(problem.design, problem.n_scores, n_rows).hessian
        self.first_cost = _NEWTON_STEPS * self.cost
        # Eigenvalues of its Hessian times the inverse of that of all rows lie within (1 ± √(parameters/rows))².
        self.pace = 0.5 * float(np.log(n_rows / (problem.n_scores * problem.scale.size)))

    def buy(self, theta: Array, first: bool) -> Purchase:
        part = self._part()
        if first:
            found = solution_of_sample(part)
            theta, hessian = found.state.theta, found.hessian
        else:
            hessian = part.evaluate_with_hessian(theta)[2]
        problem = self._problem
        problem.passes += part.passes * part.design.n_rows / problem.design.n_rows
        return Purchase(theta, SymmetricSolver(hessian).precondition, None, hessian[None])

    def _part(self) -> Likelihood:
        sample = self._samples.pop()
        problem = self._problem
        if is_uneven(problem.scale, sample):
            size = sample.n_rows
            del sample  # before another is made
            sample = sample_by_length(problem, size)
        return on_sample(problem, sample)


class _ClassBlocks(Offer):
    """The blocks on the diagonal of the Hessian of a sample, one for each class."""

    method = Message("L-BFGS preconditioned by one Hessian for each class")

    def __init__(self, problem: Likelihood) -> None:
        self._problem = problem
        self._size = min(problem.design.n_rows, max(FEWEST, _BLOCK_ROWS * problem.scale.size))
        costs = Costs.of(problem.design, problem.n_scores, self._size)
        self.cost = self.first_cost = costs.class_blocks

    def buy(self, theta: Array, first: bool) -> Purchase:
        sample = on_sample(self._problem, self._problem.design.sample(self._size))
        self._problem.passes += self._size / self._problem.design.n_rows
        blocks = sample.class_hessians(theta, np.float32)
        size = blocks.shape[1]
        at = np.arange(size)
        blocks[:, at, at] *= 1.0 + rounding(size)
        solvers = [SymmetricSolver(block) for block in blocks]
        if min(each.reciprocal for each in solvers) <= rounding(size):
            blocks = sample.class_hessians(theta)
            solvers = [SymmetricSolver(block) for block in blocks]
        return Purchase(theta, by_class(self._problem, solvers), None, blocks)


def at_discriminant(problem: Likelihood) -> Purchase:
    """The linear discriminant of several classes as a start, with their curvature at the prior as a preconditioner."""
    theta, value, gradient, moments = problem.discriminant()
    curvature = np.maximum(problem.class_shares * (1.0 - problem.class_shares), _LEAST_CURVATURE)
    blocks = curvature[:, None, None] * moments
    at = np.arange(problem.scale.size)
    blocks[:, at, at] += problem.penalty.strength
    return Purchase(theta, by_class(problem, map(SymmetricSolver, blocks)), (value, gradient), blocks)


def repenalised(problem: Likelihood, purchase: Purchase, change: Array) -> Purchase:
    """The same curvature of the loss with another penalty: that of the problem, whose strengths have changed."""
    if purchase.curvature is None:
        return purchase._replace(precondition=problem.diagonal_preconditioner())
    blocks = purchase.curvature.copy()
    at = np.arange(blocks.shape[1])
    blocks[:, at, at] += np.tile(change, len(at) // len(change))
    solvers = map(SymmetricSolver, blocks)
    precondition = next(solvers).precondition if len(blocks) == 1 else by_class(problem, solvers)
    return purchase._replace(precondition=precondition, curvature=blocks)


def by_class(problem: Likelihood, solvers: Iterable[SymmetricSolver]) -> Preconditioner:
    """The inverses of the Hessian's blocks on the diagonal, class by class; steps add nothing to all classes alike.

    The whole Hessian of k classes costs as much as thousands of gradients. Its blocks cost k Gram matrices, and what
    they leave out is corrected by a few steps of L-BFGS.

    Parameters
    ----------
    solvers : iterable of SymmetricSolver
        Of the blocks.
    """

    @cache
    def halves() -> Array:  # a better preconditioner may come before the first step
        return np.stack([solver.half_inverse() for solver in solvers])

    def precondition(vector: Array) -> Array:
        left = problem.balanced(vector)[:, None, :] @ halves()
        return problem.balanced((halves() @ left.transpose(0, 2, 1))[:, :, 0])

    return precondition
