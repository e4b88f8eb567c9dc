"""Kernel ridge regression with a kernel that has few features.

With F = S·Φ, the weighted features, S·K·S = F·Fᵀ, and the Woodbury identity avoids the Gram matrix:

    u = (F·Fᵀ + α)⁻¹·S·y = (I − F·(Fᵀ·F + α)⁻¹·Fᵀ)·S·y / α.

Predictions depend only on the part of u in the span of the features. The other part grows like 1/α, and its rounding
errors exceed the first part if the penalty is tiny. It is then left out: with F = U·diag(s)·Vᵀ,

    u = U·diag(1/(s² + α))·Uᵀ·S·y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, svd

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.exact import relative_residual
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution


def solve_in_features(problem: RidgeProblem, features: Array, tol: float) -> KernelSolution:
    """Solve with the features of all rows.

    Parameters
    ----------
    features : ndarray of shape (n, features)
    tol : float
        Largest relative residual; where rounding leaves a larger one, u is restricted to the span of the features.
    """
    root, right = problem.gram.root, problem.targets
    rows = features if problem.gram.weight is None else root[:, None] * features
    inner = rows
    if problem.fit_intercept:  # centred rows and targets give the same u without an intercept
        inner, right = _centred(rows, root), _centred(right, root)
    systems = _Systems(rows, inner)
    u, residual, shortest = np.empty(right.shape), 0.0, False
    for mine, part in problem.by_penalty():
        alpha = float(part.alpha[0])
        found, left = systems.by_cholesky(right[:, mine], alpha)
        if not left <= tol:
            found, left = systems.by_singular_values(right[:, mine], alpha)
            shortest = True
        u[:, mine], residual = found, max(residual, left)
    coef, intercept = rows.T @ u, np.zeros(len(problem.alpha))
    if problem.fit_intercept:
        intercept = root @ (problem.targets - rows @ coef) / (root @ root)
    objective = np.square(right - inner @ coef).sum(axis=0) + problem.alpha * np.square(coef).sum(axis=0)
    return problem.solution(
        u,
        intercept,
        method=Message("singular value decomposition of the features of the kernel")
        if shortest
        else Message("Cholesky factorisation in the features of the kernel"),
        objective=float(objective.sum()),
        gap=residual,
        converged=True,
        status=_status(features.shape[1], residual, shortest),
    )


def _centred(columns: Array, root: Array) -> Array:
    """Columns less their projection on the root of the weights."""
    return np.asarray(columns - np.multiply.outer(root, root @ columns / (root @ root)))


@dataclass(frozen=True)
class _Systems:
    """(F·Fᵀ + α)·u = right for several penalties.

    Attributes
    ----------
    rows, inner : ndarray of shape (n, features)
        F, before and after centring. Residuals use both, since predictions are made with features that are not centred:
        rounding errors of Σ √w·u, which is 0, are then part of the residual.
    """

    rows: Array
    inner: Array

    @cached_property
    def products(self) -> Array:
        """FᵀF."""
        return np.asarray(self.inner.T @ self.inner)

    @cached_property
    def basis(self) -> tuple[Array, Array]:
        """U and s², without those that are only rounding errors."""
        vectors, sizes, _ = svd(self.inner, full_matrices=False, check_finite=False)
        squares = np.square(sizes)
        there = squares > np.finfo(float).eps * len(vectors) * squares[0]
        return vectors[:, there], squares[there]

    def by_cholesky(self, right: Array, alpha: float) -> tuple[Array, float]:
        """u by the Woodbury identity, with one step of iterative refinement, and its relative residual."""
        found, left = np.zeros(right.shape), right
        with np.errstate(all="ignore"):  # a residual that is not finite is too large
            try:
                factor = cho_factor(self.products + alpha * np.eye(len(self.products)), lower=True, check_finite=False)
            except LinAlgError:
                return found, np.inf
            for _ in range(2):
                inside = cho_solve(factor, self.inner.T @ left, check_finite=False)
                found = found + (left - self.inner @ inside) / alpha
                left = right - self._image(found, alpha)
            return found, relative_residual(left, right)

    def by_singular_values(self, right: Array, alpha: float) -> tuple[Array, float]:
        """u in the span of the features, and the relative residual of its equations there."""
        vectors, squares = self.basis
        inside = vectors.T @ right
        found = vectors @ (inside / (squares[:, None] + alpha))
        return found, relative_residual(inside - vectors.T @ self._image(found, alpha), inside)

    def _image(self, u: Array, alpha: float) -> Array:
        """(F·Fᵀ + α)·u."""
        return np.asarray(self.inner @ (self.rows.T @ u) + alpha * u)


def _status(count: int, residual: float, shortest: bool) -> Message:
    if not shortest:
        return Message(
            "Solved by a Cholesky factorisation in the {r} features of the kernel; relative residual {residual:.1e}.",
            r=count,
            residual=residual,
        )
    return Message(
        "Solved by a singular value decomposition of the {r} features of the kernel; relative residual "
        "{residual:.1e}. The penalty is so small that float64 does not hold the dual coefficients: the shortest that "
        "give the same predictions were taken.",
        r=count,
        residual=residual,
    )
