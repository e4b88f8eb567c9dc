"""Fits without a penalty to nearly dependent columns, which are orthogonalised and stored as a row vector.

A Hessian squares the condition number of the columns. Beyond a condition number of 3·10⁶, it cannot distinguish a
direction along which rows vary little from one along which they do not vary at all. The rows themselves can, up to
10¹⁰.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.orthogonal import merge_triangles, triangle_of
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.likelihood.dependent_columns import curvature_of_columns
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.newton import Minimum, newton
from hiperplano.solvers.objective import fix_common_direction, loss_sums

_EPS = float(np.finfo(float).eps)
_ROUNDING = 1e-10  # root mean square of rows along a direction (standardised columns) up to which it is rounding error


@dataclass(frozen=True)
class TransformedRows:
    """The rows [1, z]·basis of a block."""

    scale: ColumnScale
    basis: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(self.scale.rows(block) @ self.basis)


@dataclass(frozen=True)
class TransformedSums:
    """Σ loss, Σ slope ⊗ row and Σ curvature ⊗ row·rowᵀ over transformed rows."""

    loss: Any
    theta: Array

    def __call__(self, block: Block) -> Sums:
        return loss_sums(self.loss, block, block.vectors["row_in_basis"], self.theta)


def with_transformed_rows(design: Design, scale: ColumnScale, basis: Array) -> Design:
    """The design with a row vector "row_in_basis", which statistics use instead of the rows.

    Parameters
    ----------
    basis : ndarray of shape (size, k)
    """
    return design.with_vectors(row_in_basis=design.map(TransformedRows(scale, basis)))


class _TransformedLikelihood:
    """The mean loss, without a penalty, as a function of the parameters of transformed rows."""

    def __init__(self, problem: Likelihood, basis: Array) -> None:
        self._design = with_transformed_rows(problem.design, problem.scale, basis)
        self._problem = problem

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        self._problem.passes += 1
        value, gradient, hessian = self._design.fold(TransformedSums(self._problem.loss, theta))
        total = self._problem.total
        hessian /= total
        return float(value[0]) / total, gradient / total, fix_common_direction(hessian, len(theta))

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        return self.evaluate_with_hessian(theta)[:2]


def hides_directions(problem: Likelihood, hessian: Array) -> bool:
    """Whether rows vary along a direction in which the Hessian has no curvature up to rounding.

    Parameters
    ----------
    hessian : ndarray of shape (scores·size, scores·size)
        Hessian at the solution.
    """
    null = SymmetricSolver(curvature_of_columns(hessian, problem.n_scores)).null
    (squares,) = problem.design.fold(_SquaresAlong(problem.scale, null))
    return bool((np.sqrt(squares / problem.total) > _noise(problem.scale, null)).any())


def fit_independent(problem: Likelihood, before: Minimum, tol: float, max_steps: int, settled: float) -> Minimum:
    """Fit nearly dependent columns again, by Newton's method on orthogonalised columns.

    Parameters
    ----------
    problem : Likelihood
        Problem without a penalty.
    before : Minimum
        Minimum found with the original columns.
    tol, max_steps, settled
        As in `newton`.

    Returns
    -------
    Minimum
        Its Hessian is that of `before`: one in standardised parameters cannot be more accurate.
    """
    basis = _orthonormal_basis(problem)
    transformed = _TransformedLikelihood(problem, basis)
    start = np.zeros((problem.n_scores, basis.shape[1]))
    if problem.scale.fit_intercept:
        start[:, 0] = problem.prior()[:, 0]
    found = newton(transformed, start, tol, max_steps, settled, bounded=False)
    problem.passes += 3  # `hides_directions`, the triangular factor, and the transformed rows
    theta = found.state.theta @ basis.T
    value, _ = problem.evaluate(theta)
    # Parameters may be as large as 10⁹, and the gradient at their rounded values would show rounding errors. So it is
    # computed from the gradient of the transformed parameters.
    gradient = found.state.gradient @ np.linalg.pinv(basis)
    state = State(theta, value, gradient, steps=before.state.steps + found.state.steps)
    return Minimum(state, before.hessian, found.unbounded)


def _orthonormal_basis(problem: Likelihood) -> Array:
    """A basis, in columns, in which the rows [1, z] are uncorrelated, with mean squares of 1; the intercept first."""
    first = int(problem.scale.fit_intercept)
    (upper,) = problem.design.fold(_Triangle(problem.scale), merge_triangles)
    _, values, right = np.linalg.svd(upper[first:, first:] / np.sqrt(problem.total), full_matrices=False)
    slopes = np.vstack([np.zeros((first, len(values))), right.T])
    there = values > _noise(problem.scale, slopes) * values.max(initial=0.0)
    return np.hstack([np.eye(len(slopes), first), slopes[:, there] / values[there]])


@dataclass(frozen=True)
class _Triangle:
    """Triangular factor R of the weighted rows [1, z]."""

    scale: ColumnScale

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        return (triangle_of(xp.sqrt(block.weights)[:, None] * self.scale.rows(block)),)


@dataclass(frozen=True)
class _SquaresAlong:
    """Σ w·([1, z]·direction)² for each direction."""

    scale: ColumnScale
    directions: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        return (block.weights @ xp.square(self.scale.rows(block) @ self.directions),)


def _noise(scale: ColumnScale, directions: Array) -> Array:
    """Rounding error of rows along directions (in columns): that of sums, or that of the given numbers if larger."""
    blur = np.concatenate([np.zeros(int(scale.fit_intercept)), 2 * _EPS * np.abs(scale.shift) * scale.scale])
    return np.asarray(np.maximum(_ROUNDING, np.sqrt(np.square(blur) @ np.square(directions))))
