"""Preconditioners for L-BFGS on a likelihood, each with its cost.

A minimisation that computes one "buys" an `Offer`, and gets a `Purchase`; `solvers/cost.py` says when that pays.
"""

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
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision, rounding
from hiperplano.solvers.likelihood.sampling.problem import on_sample, solution_of_sample
from hiperplano.solvers.likelihood.sampling.sample import (
    FEWEST,
    MOST_PARAMETERS,
    is_uneven,
    sample_by_length,
    sample_pace,
)

_NEWTON_STEPS = 6  # steps of Newton's method that solve a sample
_BLOCK_ROWS = 15  # rows for each column, in the sample from which diagonal blocks of the Hessian are computed
_LEAST_CURVATURE = 1e-6  # least curvature of a class, for classes with hardly any rows
_CLEAR = 2.0  # least eigenvalue of a float32 Hessian that is no rounding error, as a multiple of `rounding`
WORTH = 0.5  # a preconditioner is offered if it costs at most this share of a better one


class ClassBlocks(NamedTuple):
    """Diagonal blocks of the Hessian of several classes: that of class k is `scale[k] * matrices[group[k]]`.

    Attributes
    ----------
    matrices : ndarray of shape (groups, size, size)
    group : ndarray of shape (classes,)
    scale : ndarray of shape (classes,)
    """

    matrices: Array
    group: Array
    scale: Array


class Purchase(NamedTuple):
    """A preconditioner, and the point to continue from.

    Attributes
    ----------
    theta : ndarray of shape (scores, size)
        The point.
    precondition : callable
        Applies an approximate inverse of the Hessian.
    found : tuple of float and ndarray, or None
        Value and gradient at the point, if they were computed with the preconditioner.
    curvature : ndarray of shape (scores·size, scores·size), ClassBlocks or None
        The Hessian, or its diagonal blocks. None if the preconditioner is diagonal.
    """

    theta: Array
    precondition: Preconditioner
    found: tuple[float, Array] | None = None
    curvature: Array | ClassBlocks | None = None


class Offer(ABC):
    """A preconditioner that can be computed.

    Attributes
    ----------
    method : Message
        Name of L-BFGS with this preconditioner.
    cost : float
        Cost in nanoseconds, as in `Costs`.
    first_cost : float
        Cost before the first step, where a sample is also solved for a starting point.
    again : bool
        Whether it may be computed again at a later point.
    pace : float
        Best rate of convergence, as in `Budget`.
    """

    method: Message
    cost: float
    first_cost: float
    again = False
    pace = np.inf

    @abstractmethod
    def buy(self, theta: Array, first: bool) -> Purchase:
        """Compute the preconditioner.

        Parameters
        ----------
        theta : ndarray of shape (scores, size)
            Current point.
        first : bool
            Whether no step has been taken.
        """


def offers(problem: Likelihood, passes: SinglePrecision, samples: list[Design]) -> list[Offer]:
    """Preconditioners for data of this shape, from the cheapest to the best.

    Parameters
    ----------
    problem : Likelihood
    passes : SinglePrecision
        Passes over the rows of the problem.
    samples : list of Design
        Empty, or with one sample, which is removed when it is used.
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
    """The Hessian of all rows at the current point."""

    method = Message("L-BFGS preconditioned by the Hessian of all rows")
    again = True

    def __init__(self, problem: Likelihood, passes: SinglePrecision, costs: Costs) -> None:
        self._problem, self._passes = problem, passes
        self._rounded = True  # whether float32 may be accurate enough
        self.cost = self.first_cost = costs.rounded_hessian if passes.rounds_hessians else costs.hessian

    def buy(self, theta: Array, first: bool) -> Purchase:
        rounded = self._passes.hessian(theta) if self._rounded else None
        if rounded is not None:
            solver = SymmetricSolver(rounded)
            if solver.least > _CLEAR * rounding(len(rounded)):
                return Purchase(theta, solver.precondition, None, rounded)
            self._rounded = False  # columns will be as correlated at the next point
        value, gradient, hessian = self._problem.evaluate_with_hessian(theta)
        return Purchase(theta, SymmetricSolver(hessian).precondition, (value, gradient), hessian)


class _Sample(Offer):
    """The Hessian of a sample of the rows; before the first step, at the solution of the sample."""

    def __init__(self, problem: Likelihood, samples: list[Design]) -> None:
        self._problem, self._samples = problem, samples
        n_rows = samples[0].n_rows
        self.method = Message("L-BFGS preconditioned by the Hessian of a sample of {n} rows", n=n_rows)
        costs = Costs.of(problem.design, problem.n_scores, n_rows)
        self.cost, self.first_cost = costs.hessian, _NEWTON_STEPS * costs.hessian
        self.pace = sample_pace(costs)

    def buy(self, theta: Array, first: bool) -> Purchase:
        part = self._part()
        if first:
            found = solution_of_sample(part)
            theta, hessian = found.state.theta, found.hessian
        else:
            hessian = part.evaluate_with_hessian(theta)[2]
        problem = self._problem
        problem.passes += part.passes * part.design.n_rows / problem.design.n_rows
        return Purchase(theta, SymmetricSolver(hessian).precondition, None, hessian)

    def _part(self) -> Likelihood:
        sample = self._samples.pop()
        problem = self._problem
        if is_uneven(problem.scale, sample):
            size = sample.n_rows
            del sample  # free it before another is drawn
            sample = sample_by_length(problem, size)
        return on_sample(problem, sample)


class _ClassBlocks(Offer):
    """The diagonal blocks of the Hessian of a sample, one for each class."""

    method = Message("L-BFGS preconditioned by one Hessian for each class")

    def __init__(self, problem: Likelihood) -> None:
        self._problem = problem
        self._size = min(problem.design.n_rows, max(FEWEST, _BLOCK_ROWS * problem.scale.size))
        costs = Costs.of(problem.design, problem.n_scores, self._size)
        self.cost = self.first_cost = costs.class_blocks

    def buy(self, theta: Array, first: bool) -> Purchase:
        sample = on_sample(self._problem, self._problem.design.sample(self._size))
        self._problem.passes += self._size / self._problem.design.n_rows
        matrices = sample.class_hessians(theta, np.float32)
        size = matrices.shape[1]
        _add_to_diagonal(matrices, rounding(size) * np.diagonal(matrices, axis1=1, axis2=2))
        solvers = [SymmetricSolver(matrix) for matrix in matrices]
        if min(each.least for each in solvers) <= _CLEAR * rounding(size):
            matrices = sample.class_hessians(theta)
            solvers = [SymmetricSolver(matrix) for matrix in matrices]
        blocks = ClassBlocks(matrices, np.arange(len(matrices)), np.ones(len(matrices)))
        return Purchase(theta, by_class(self._problem, blocks, solvers), None, blocks)


def at_discriminant(problem: Likelihood) -> Purchase:
    """The linear discriminant of several classes as a start, with the Hessian's blocks at the prior.

    These differ only by a factor, but for the penalty. Classes whose factors differ by less than 2 share a block.
    """
    theta, value, gradient, moments = problem.discriminant()
    curvature = np.maximum(problem.class_shares * (1.0 - problem.class_shares), _LEAST_CURVATURE)
    levels, group = np.unique(np.round(np.log2(curvature)), return_inverse=True)
    matrices = 2.0 ** levels[:, None, None] * moments
    _add_to_diagonal(matrices, problem.penalty.strength)
    blocks = ClassBlocks(matrices, group, curvature / 2.0 ** levels[group])
    return Purchase(theta, by_class(problem, blocks, map(SymmetricSolver, matrices)), (value, gradient), blocks)


def repenalised(problem: Likelihood, purchase: Purchase, change: Array) -> Purchase:
    """The preconditioner for the same Hessian of the loss and the problem's new penalty.

    Parameters
    ----------
    change : ndarray of shape (size,)
        New minus old strength for each parameter of a score.
    """
    curvature = purchase.curvature
    if curvature is None:
        return purchase._replace(precondition=DiagonalPreconditioner(problem))
    if isinstance(curvature, ClassBlocks):
        matrices = curvature.matrices.copy()
        _add_to_diagonal(matrices, change)
        blocks = curvature._replace(matrices=matrices)
        precondition = by_class(problem, blocks, map(SymmetricSolver, matrices))
        return purchase._replace(precondition=precondition, curvature=blocks)
    hessian = curvature.copy()
    _add_to_diagonal(hessian[None], np.tile(change, problem.n_scores))
    return purchase._replace(precondition=SymmetricSolver(hessian).precondition, curvature=hessian)


def _add_to_diagonal(matrices: Array, terms: Array) -> None:
    at = np.arange(matrices.shape[1])
    matrices[:, at, at] += terms


def by_class(problem: Likelihood, blocks: ClassBlocks, solvers: Iterable[SymmetricSolver]) -> Preconditioner:
    """Preconditioner by the diagonal blocks of the Hessian.

    The full Hessian of k classes has about k²/2 different blocks, and its factorisation costs k³ times that of one
    block. A few steps of L-BFGS correct what the diagonal blocks leave out. Results sum to zero over the classes.

    Parameters
    ----------
    blocks : ClassBlocks
    solvers : iterable of SymmetricSolver
        Solvers for the matrices of the blocks.
    """
    shared = len(blocks.matrices) < len(blocks.group)
    members = [np.flatnonzero(blocks.group == each) for each in range(len(blocks.matrices))] if shared else []

    @cache
    def halves() -> Array:  # only when needed: another preconditioner may replace this one before the first step
        return np.stack([solver.half_inverse() for solver in solvers])

    def precondition(vector: Array) -> Array:
        vector, found = problem.balanced(vector), np.empty_like(vector)
        if shared:
            for half, rows in zip(halves(), members, strict=True):
                found[rows] = vector[rows] @ half @ half.T
        else:  # all classes in two calls
            np.matmul(halves(), (vector[:, None, :] @ halves()).transpose(0, 2, 1), out=found[:, :, None])
        return problem.balanced(found / blocks.scale[:, None])

    return precondition
