"""A certificate that a likelihood has its maximum where its gradient nearly vanishes: no plane separates rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.conjugate_gradient import conjugate_gradient
from hiperplano.solvers.lbfgs import State
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.sampling.sample import SquaredLengths

_MOST_PRODUCTS = 100  # with the Hessian: the matrix, and its eigenvalues, cost more where there are many parameters
_SEEN = 1e-4  # share of what a random vector has of one direction on average: one of ten thousand has less
_SURE = 10.0  # times the least curvature needed, since conjugate gradients see it a little too large


def is_bounded(problem: Likelihood, state: State) -> bool:
    """Whether curvature rules out a direction along which the likelihood grows without end; False leaves it open.

    Along such a direction u no row v comes closer to another class: m = (u_own − u_k)·v ≥ 0 for all classes k. Then the
    mean of Σ p·m is −gradient·u, and that of Σ p·m² an upper bound of uᵀ·Hessian·u, so that this is at most
    2·‖u‖²·‖gradient‖·max‖v‖. The Hessian's least eigenvalue comes from conjugate gradients with a random right side.
    """
    design, scale, shape = problem.design, problem.scale, state.theta.shape
    longest = float(np.sqrt(1.0 + design.collect(design.map(SquaredLengths(scale))).max()))
    needed = _SURE * 2.0 * longest * float(np.linalg.norm(state.gradient))
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
        rtol=_SEEN / np.sqrt(right.size),
        max_iter=_MOST_PRODUCTS,
        preconditioner=partial(np.multiply, 1.0 / curvature.diagonal.ravel()),
    )
    least = found.eigenvalue_range()[0] * float(diagonal.min())
    return len(found.steps) < _MOST_PRODUCTS and least > needed
