"""Test that a likelihood has a finite maximum near a point with a tiny gradient: no plane separates the classes."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.sampling.sample import SquaredLengths

_MOST_PRODUCTS = 100  # most products with the Hessian
# Relative residual of conjugate gradients, as a share of 1/√size. Only one random vector in ten thousand has a smaller
# component along a given direction.
_RESIDUAL = 1e-4
_SAFETY = 10.0  # safety factor, since conjugate gradients overestimate the smallest eigenvalue a little


def is_bounded(problem: Likelihood, state: State) -> bool:
    """Whether the curvature rules out a direction along which the likelihood grows without bound.

    Along such a direction u, the margin of a row v to another class k does not shrink: m = (u_own − u_k)·v ≥ 0. The
    mean of Σ p·m is −gradient·u, and the mean of Σ p·m² is an upper bound of uᵀ·Hessian·u. So uᵀ·Hessian·u is at most
    2·‖u‖²·‖gradient‖·max‖v‖. No such direction exists if the smallest eigenvalue of the Hessian is larger; it is
    estimated by conjugate gradients with a random right-hand side.

    Returns
    -------
    bool
        False if nothing is proved.
    """
    design, scale, shape = problem.design, problem.scale, state.theta.shape
    longest = float(np.sqrt(1.0 + design.collect(design.map(SquaredLengths(scale))).max()))
    needed = _SAFETY * 2.0 * longest * float(np.linalg.norm(state.gradient))
    curvature = problem.curvature_at(state.theta)
    right = np.random.default_rng(0).normal(size=shape)
    right[:, scale.fit_intercept :][:, scale.constant] = 0.0
    diagonal = np.delete(curvature.diagonal, np.flatnonzero(scale.constant) + scale.fit_intercept, axis=1)
    if float(diagonal.min()) <= needed:
        return False

    def product(vector: Array) -> Array:
        return curvature.product(vector.reshape(shape)).ravel()

    found = conjugate_gradient(
        product,
        problem.balanced(right * np.sqrt(curvature.diagonal)).ravel(),
        atol=0.0,
        rtol=_RESIDUAL / np.sqrt(right.size),
        max_iter=_MOST_PRODUCTS,
        preconditioner=lambda vector: curvature.precondition(vector.reshape(shape)).ravel(),
    )
    least = found.eigenvalue_range()[0] * float(diagonal.min())
    return len(found.steps) < _MOST_PRODUCTS and least > needed
