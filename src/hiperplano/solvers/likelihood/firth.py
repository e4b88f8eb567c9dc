"""Firth's bias-reduced logistic regression: log-likelihood plus ½·log det of the information."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from hiperplano.data.dense import DenseDesign
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.threads import one_blas_thread
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.maximum import LogisticSolution

_HALVINGS = 40
_FLAT = 1e-15
_DEPENDENT = 1e-14  # mean square, as a share of the largest, of a direction in which rows do not vary


@dataclass(frozen=True)
class FirthSolution(LogisticSolution):
    """A Firth fit; it keeps its rows, which the profile of the likelihood needs.

    Attributes
    ----------
    penalised_loglik : float
        Log-likelihood plus ½·log det of the information, in the units of the data.
    """

    problem: FirthLikelihood = field(kw_only=True, repr=False)
    theta: Array = field(kw_only=True, repr=False)
    penalised_loglik: float = field(kw_only=True)

    @property
    def at_maximum(self) -> bool:
        return False


class Look(NamedTuple):
    """Penalised log-likelihood, its modified score, and the information at a point, over all rows."""

    value: float
    score: Array
    information: Array


class FirthLikelihood:
    """l(θ) + ½·log det I(θ); the score adds h·(½ − p) to every residual, h the leverage.

    The likelihood is the same in any coordinates. So rows are taken in those where their second moments are the
    identity: nearly dependent columns are then as easy as any, and exactly dependent ones leave fewer coordinates.

    Attributes
    ----------
    basis : ndarray of shape (size, k)
        From these coordinates θ to scaled parameters.
    """

    def __init__(self, design: Design, coordinates: Coordinates) -> None:
        _, _, hessian = Likelihood(design, coordinates, 1, 0.0).evaluate_with_hessian(np.zeros((1, coordinates.size)))
        values, vectors = np.linalg.eigh(4.0 * hessian)
        kept = values > _DEPENDENT * values[-1]
        self._root = np.sqrt(values[kept])
        self.basis = vectors[:, kept] / self._root
        k = len(self._root)
        rows = design.map_rows(lambda block: coordinates.rows(block) @ self.basis, np.empty((design.n_rows, k)))
        self.design = DenseDesign(rows, design.y, design.weight)
        self.likelihood = Likelihood(self.design, Coordinates(np.zeros(k), np.ones(k), False, False), 1, 0.0)

    def point(self, parameters: Array) -> Array:
        """θ of scaled parameters."""
        return np.asarray((parameters @ self.basis) * self._root**2)

    def log_volume(self) -> float:
        """What these coordinates add to ½·log det of the information in scaled ones."""
        return -float(np.log(self._root).sum())

    def look(self, theta: Array) -> Look:
        total = self.likelihood.total
        value, gradient, hessian = self.likelihood.evaluate_with_hessian(theta[None])
        information = total * hessian
        upper, failed = lapack.dpotrf(information, lower=0, clean=1)
        if failed:
            return Look(-np.inf, -total * gradient[0], information)
        loss = self.likelihood.loss

        def statistic(block: Block) -> Sums:
            rows = block.dense()
            y, score = block.y[:, 0], rows @ theta
            half = lapack.dtrtrs(upper, rows.T, trans=1)[0]
            curvature = loss.curvature(y, score)
            leverage = curvature * np.square(half).sum(axis=0)
            if block.weight is not None:
                leverage *= block.weight
            # ½ − p, for the class +1
            return (rows.T @ (leverage * 0.5 * -np.tanh(score / 2)),)

        (extra,) = self.design.fold(statistic)
        bonus = float(np.log(upper.diagonal()).sum())
        return Look(-total * value + bonus, extra - total * gradient[0], information)

    def maximise(self, theta: Array, fixed: Array | None, tol: float, max_steps: int) -> tuple[Array, Look, int, bool]:
        """Newton steps with the information; with `fixed`, only along directions that do not change fixed·θ."""
        here = self.look(theta)
        standing, before = False, np.inf  # whether the last step gained nothing, and the score before it
        for step in range(max_steps):
            direction = np.linalg.solve(here.information, here.score)
            residual = here.score
            if fixed is not None:
                along = np.linalg.solve(here.information, fixed)
                share = float(fixed @ direction) / float(fixed @ along)
                direction, residual = direction - share * along, residual - share * fixed
            largest = float(np.abs(residual).max()) / self.likelihood.total
            settled = float(np.abs(direction).max()) <= 1e-9 * max(1.0, float(np.abs(theta).max()))
            if largest <= tol and (settled or (standing and largest > 0.5 * before)):
                return theta, here, step, True
            length = min(1.0, 5.0 / max(float(np.abs(direction).max()), 1e-300))
            for _ in range(_HALVINGS):
                there = self.look(theta + length * direction)
                if there.value >= here.value - 1e-13 * max(1.0, abs(here.value)):
                    break
                length /= 2
            else:
                return theta, here, step, largest <= tol
            before = largest
            standing = there.value - here.value <= _FLAT * max(1.0, abs(here.value))
            theta, here = theta + length * direction, there
        return theta, here, max_steps, False


def fit_firth(
    design: Design, *, fit_intercept: bool, tol: float, max_iter: int, start: tuple[Array, Array] | None = None
) -> FirthSolution:
    """Maximise Firth's likelihood for a target of −1 and +1."""
    with one_blas_thread():
        coordinates = Coordinates.of(design, design, fit_intercept)
        problem = FirthLikelihood(design, coordinates)
        first = np.zeros(coordinates.size) if start is None else coordinates.parameters(*start)[0]
        theta, end, steps, converged = problem.maximise(problem.point(first), None, tol, max_iter)
        plain = Likelihood(design, coordinates, 1, 0.0)
        point = problem.basis @ theta
        value, _, hessian = plain.evaluate_with_hessian(point[None])
    coef, intercept = coordinates.coefficients(point[None])
    left = float(np.abs(end.score).max()) / plain.total
    status = (
        f"Converged by Newton on Firth's likelihood in {steps} steps; the largest score entry is {left:.1e}."
        if converged
        else f"Stopped after {steps} steps on Firth's likelihood: the largest score entry is {left:.1e}, above "
        f"tol={tol:g}. Raise max_iter, or leave out columns that depend on others."
    )
    return FirthSolution(
        coef=coef,
        intercept=intercept,
        method="Newton on Firth's likelihood",
        n_iter=steps,
        objective=-end.value / plain.total,
        gap=left,
        converged=converged,
        status=status,
        gradient_norm=left,
        passes=plain.passes + problem.likelihood.passes,
        strength=0.0,
        deviance=2.0 * plain.total * value,
        null_deviance=2.0 * plain.total * plain.prior_loss(),
        coordinates=coordinates,
        total=plain.total,
        hessian=hessian,
        problem=problem,
        theta=theta,
        penalised_loglik=end.value - problem.log_volume() - float(np.log(coordinates.scale).sum()),
    )
