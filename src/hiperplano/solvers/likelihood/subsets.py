"""Logistic regression on subsets of the columns, with score tests of the other columns, or coefficients of one sign.

A pass computes the gradient and the Hessian for all columns, including those whose coefficient is fixed at 0. So one
pass at the end of a fit gives Rao's score test of each excluded column and Wald's test of each included one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import lsq_linear

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.preconditioned_lbfgs import SETTLED
from hiperplano.solvers.newton import newton

_TOL, _MOST_STEPS = 1e-8, 100
# An excluded column is a linear combination of the included ones if they leave less than this share of its curvature.
_DEPENDENT = 1e-9
_RIDGE = 1e-10  # added to the Hessian's diagonal before Cholesky, as a share of its largest entry


@dataclass(frozen=True)
class SubsetFit:
    """Maximum of the likelihood on a subset of the columns.

    Attributes
    ----------
    columns : ndarray of bool of shape (d,)
        Included columns.
    theta : ndarray of shape (1, size)
        Standardised parameters; 0 for excluded columns.
    deviance : float
        Minus twice the log-likelihood.
    wald : ndarray of shape (d,)
        (coefficient / standard error)² of included columns, NaN for excluded ones.
    score : ndarray of shape (d,)
        Rao's statistic for the hypothesis that an excluded column has no effect; 0 if it is a linear combination of
        included columns. NaN for included columns.
    slope : ndarray of shape (d,)
        Gradient of the mean loss. An excluded column with a negative entry would enter with a positive coefficient.
    """

    columns: Array
    theta: Array
    deviance: float
    wald: Array
    score: Array
    slope: Array


class Subsets:
    """Fits of logistic regression without a penalty on subsets of the columns.

    Parameters
    ----------
    design : Design
        Targets are −1 and +1.
    """

    def __init__(self, design: Design) -> None:
        self.problem = Likelihood(design, ColumnScale.exact(design, True), 1, 0.0)

    def fit(self, columns: Array, start: SubsetFit | None = None) -> SubsetFit:
        """Maximise the likelihood.

        Parameters
        ----------
        columns : ndarray of bool of shape (d,)
            Columns to include.
        start : SubsetFit, optional
            Fit to start from; the prior by default.
        """
        problem = self.problem
        inside = np.concatenate([[True], columns])
        theta = problem.prior()[0] if start is None else start.theta[0]
        part = _Part(problem, inside)
        end = newton(part, theta[inside], _TOL, _MOST_STEPS, SETTLED, bounded=False)
        found = part.whole(end.state.theta)
        value, gradient, hessian = problem.evaluate_with_hessian(found)
        wald, score = np.full(problem.scale.size, np.nan), np.full(problem.scale.size, np.nan)
        inner = SymmetricSolver(hessian[np.ix_(inside, inside)])
        spread = inner.solve(np.eye(inside.sum())).diagonal() / problem.total
        wald[inside] = found[0, inside] ** 2 / np.maximum(spread, 1e-300)
        across, own = hessian[np.ix_(inside, ~inside)], hessian.diagonal()[~inside]
        left = own - np.einsum("ij,ij->j", across, inner.solve(across))
        slope = gradient[0, ~inside]
        fresh = left > _DEPENDENT * own
        score[~inside] = np.where(fresh, problem.total * slope**2 / np.where(fresh, left, 1.0), 0.0)
        return SubsetFit(columns, found, 2.0 * problem.total * value, wald[1:], score[1:], gradient[0, 1:])

    def of_one_sign(self, columns: Array, sign: int) -> Array:
        """Maximise the likelihood under the constraint that no coefficient has the opposite of `sign`.

        Each step minimises the quadratic model of the loss under the constraint, and is shortened until the loss falls.

        Parameters
        ----------
        columns : ndarray of bool of shape (d,)
            Columns to include.
        sign : {1, −1}

        Returns
        -------
        ndarray of bool of shape (d,)
            Columns with a nonzero coefficient.
        """
        problem = self.problem
        inside = np.concatenate([[True], columns])
        part = _Part(problem, inside)
        theta = problem.prior()[0, inside]
        low = np.where(np.arange(len(theta)) == 0, -np.inf, 0.0 if sign > 0 else -np.inf)
        high = np.where(np.arange(len(theta)) == 0, np.inf, np.inf if sign > 0 else 0.0)
        value, gradient, hessian = part.evaluate_with_hessian(theta)
        for _ in range(_MOST_STEPS):
            target = _minimum_in_box(theta, gradient, hessian, low, high)
            step = target - theta
            if np.abs(step).max() <= SETTLED:
                theta = target
                break
            length, downhill = 1.0, float(gradient @ step)
            while part.evaluate(theta + length * step)[0] > value + 1e-4 * length * downhill and length > 1e-10:
                length *= 0.5
            theta = theta + length * step
            value, gradient, hessian = part.evaluate_with_hessian(theta)
        kept = np.zeros(len(columns), dtype=bool)
        kept[columns] = np.sign(theta[1:]) == sign
        return kept


class _Part:
    """The likelihood as a function of some parameters; the others are 0."""

    def __init__(self, problem: Likelihood, inside: Array) -> None:
        self.problem, self.inside = problem, inside

    def whole(self, theta: Array) -> Array:
        full = np.zeros((1, len(self.inside)))
        full[0, self.inside] = theta
        return full

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        value, gradient = self.problem.evaluate(self.whole(theta))
        return value, gradient[0, self.inside]

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        value, gradient, hessian = self.problem.evaluate_with_hessian(self.whole(theta))
        return value, gradient[0, self.inside], hessian[np.ix_(self.inside, self.inside)]


def _minimum_in_box(theta: Array, gradient: Array, hessian: Array, low: Array, high: Array) -> Array:
    """argmin of ½(z − θ)ᵀH(z − θ) + gᵀ(z − θ) over low ≤ z ≤ high, by an active set method."""
    size = hessian.diagonal().max()
    upper = cholesky(hessian + np.diag(np.full(len(theta), _RIDGE * size)))
    right = upper @ theta - np.linalg.solve(upper.T, gradient)
    return np.asarray(lsq_linear(upper, right, (low, high), method="bvls").x)
