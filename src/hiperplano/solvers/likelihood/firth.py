"""Firth's bias-reduced logistic regression: log-likelihood plus ½·log det of the information."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, lapack

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.losses import Logistic
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.maximum import LogisticSolution

FARTHEST = 5.0  # of a step, in coordinates where rows have unit spread
_LOSS = Logistic()
_HALVINGS = 40
_FLAT = 1e-15
_SLOW = 0.1  # share of the gain expected before that is still expected after a step
_BENDABLE = 128
_STEEP = 0.1  # least curvature, as a share of the information, that a step counts on where there is none
_DEPENDENT = 1e-14  # mean square, as a share of the largest, of a direction in which rows do not vary


@dataclass(frozen=True)
class FirthSolution(LogisticSolution):
    """A Firth fit. In memory it keeps its rows, which the profile of the likelihood needs; in files it does not.

    Attributes
    ----------
    penalised_loglik : float
        Log-likelihood plus ½·log det of the information, in the units of the data.
    problem : FirthLikelihood or None
        None in a solution that comes from a file or from another process.
    profiles : dict
        Ends of intervals and p-values of all coefficients, by level: those that were asked for.
    """

    problem: FirthLikelihood | None = field(kw_only=True, repr=False)
    theta: Array = field(kw_only=True, repr=False)
    penalised_loglik: float = field(kw_only=True)
    profiles: dict[float, tuple[Array, Array]] = field(kw_only=True, repr=False, default_factory=dict)

    @property
    def at_maximum(self) -> bool:
        return False

    def __getstate__(self) -> dict[str, Any]:
        """What is written to files: no rows, which may be many, and confidential."""
        return {**self.__dict__, "problem": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> FirthSolution:
        """A copy in memory keeps the rows, and shares them."""
        copied = {name: deepcopy(value, memo) for name, value in self.__getstate__().items()}
        return FirthSolution(**{**copied, "problem": self.problem})


class Look(NamedTuple):
    """Penalised log-likelihood, its modified score, and the information with its triangular factor at a point."""

    value: float
    score: Array
    information: Array
    upper: Array


class FirthLikelihood:
    """l(θ) + ½·log det I(θ); the score adds h·(½ − p) to every residual, h the leverage.

    The likelihood is the same in any coordinates. So rows are taken in those where their second moments are the
    identity: nearly dependent columns are then as easy as any, and exactly dependent ones leave fewer coordinates.

    Attributes
    ----------
    basis : ndarray of shape (size, k)
        From these coordinates θ to scaled parameters.
    design : InMemory
        Rows in these coordinates.
    total : float
        Sum of the weights.
    passes : int
        Over the rows so far.
    """

    def __init__(self, design: Design, coordinates: Coordinates) -> None:
        _, _, hessian = Likelihood(design, coordinates, 1, 0.0).evaluate_with_hessian(np.zeros((1, coordinates.size)))
        values, vectors = np.linalg.eigh(4.0 * hessian)
        kept = values > _DEPENDENT * values[-1]
        kept[: -design.n_rows] = False  # rows span no more than their number; what seems to be more is rounding
        self._root = np.sqrt(values[kept])
        self.basis = vectors[:, kept] / self._root
        k = len(self._root)
        rows = design.map_rows(lambda block: coordinates.rows(block) @ self.basis, np.empty((design.n_rows, k)))
        self.design = InMemory(rows, design.y, design.weight)
        self.total = design.total_weight
        self.passes = 2

    def point(self, parameters: Array) -> Array:
        """θ of scaled parameters."""
        return np.asarray((parameters @ self.basis) * self._root**2)

    def log_volume(self) -> float:
        """What these coordinates add to ½·log det of the information in scaled ones."""
        return -float(np.log(self._root).sum())

    def look(self, theta: Array) -> Look:
        def sums(block: Block) -> Sums:
            rows, y, weight = block.x, block.y[:, 0], 1.0 if block.weight is None else block.weight
            score = rows @ theta
            half = rows * np.sqrt(_LOSS.curvature(y, score) * weight)[:, None]
            slope = _LOSS.slope(y, score) * weight
            return np.atleast_1d(np.sum(_LOSS.value(y, score) * weight)), slope @ rows, half.T @ half

        self.passes += 2
        loss, gradient, information = self.design.fold(sums)
        upper, failed = lapack.dpotrf(information, lower=0, clean=1)
        if failed:
            return Look(-np.inf, -gradient, information, upper)

        def leverages(block: Block) -> Sums:
            score = block.x @ theta
            # ½ − p, for the class +1
            return (self._leverage(block, score, _half(block.x, upper)) * -0.5 * np.tanh(score / 2) @ block.x,)

        (extra,) = self.design.fold(leverages)
        bonus = float(np.log(upper.diagonal()).sum())
        return Look(bonus - float(loss[0]), extra - gradient, information, upper)

    def bend(self, theta: Array, here: Look) -> Array:
        """Second derivatives of −½·log det I(θ): added to the information they give the whole curvature.

        With v the curvature of the loss, z a row after which I is the identity, and t = tanh(score/2), so that
        v′ = −v·t and v″ = v·(3t² − 1)/2, they are −½·Σᵢ v″ᵢ·‖zᵢ‖²·xᵢxᵢᵀ + ½·Σₐ≤ᵦ mₐᵦ·TₐᵦTₐᵦᵀ, where
        Tₐᵦ = Σᵢ v′ᵢ·zᵢₐ·zᵢᵦ·xᵢ and m is 1 on the diagonal and 2 beside it.
        """
        k = len(theta)
        left, right = np.triu_indices(k)

        def statistic(block: Block) -> Sums:
            score = block.x @ theta
            half = np.ascontiguousarray(_half(block.x, here.upper))
            tilt = np.tanh(score / 2)
            leverage = self._leverage(block, score, half)
            straight = block.x * (leverage * (3.0 * tilt**2 - 1.0) / 2.0)[:, None]
            weight = _LOSS.curvature(block.y[:, 0], score) * (1.0 if block.weight is None else block.weight)
            sloped = block.x * (weight * -tilt)[:, None]
            third = np.concatenate([(half[a:] * half[a]) @ sloped for a in range(k)])
            return block.x.T @ straight, third

        self.passes += 1
        straight, third = self.design.fold(statistic)
        third *= np.where(left == right, 1.0, np.sqrt(2.0))[:, None]
        return np.asarray(0.5 * (third.T @ third - straight))

    @staticmethod
    def _leverage(block: Block, score: Array, half: Array) -> Array:
        leverage = _LOSS.curvature(block.y[:, 0], score) * np.square(half).sum(axis=0)
        return np.asarray(leverage if block.weight is None else leverage * block.weight)

    def maximise(self, theta: Array, span: Array | None, tol: float, max_steps: int) -> tuple[Array, Look, int, bool]:
        """Newton steps; with `span`, only along its columns.

        The information stands for the curvature, until steps gain too slowly: then what it lacks is added.
        """
        here = self.look(theta)
        bend: Array | float = 0.0
        standing, before = False, np.inf  # whether the last step gained nothing, and the score before it
        whole, expected = False, np.inf  # whether the last step was a whole one, and the gain expected before it
        for step in range(max_steps):
            direction, residual = _newton(here, bend, span)
            if whole and residual @ direction > _SLOW * expected and self.bendable:
                bend = self.bend(theta, here)
                direction, residual = _newton(here, bend, span)
            expected = float(residual @ direction)
            largest = float(np.abs(residual).max(initial=0.0)) / self.total
            settled = float(np.abs(direction).max()) <= 1e-9 * max(1.0, float(np.abs(theta).max()))
            if largest <= tol and (settled or (standing and largest > 0.5 * before)):
                return theta, here, step, True
            length = min(1.0, FARTHEST / max(float(np.abs(direction).max()), 1e-300))
            whole = length == 1.0
            for _ in range(_HALVINGS):
                there = self.look(theta + length * direction)
                if there.value >= here.value - 1e-13 * max(1.0, abs(here.value)):
                    break
                length, whole = length / 2, False
            else:
                return theta, here, step, largest <= tol
            before = largest
            standing = there.value - here.value <= _FLAT * max(1.0, abs(here.value))
            theta, here = theta + length * direction, there
        return theta, here, max_steps, False

    @property
    def bendable(self) -> bool:
        """Whether there are few enough coordinates for `bend`, whose cost grows with their third power."""
        return len(self._root) <= _BENDABLE


class Curvature(NamedTuple):
    """Curvature of Firth's likelihood at a point: the information, and `bend` where that is known from nearby."""

    information: Array
    bend: Array | float

    @property
    def whole(self) -> Array:
        return self.information + self.bend

    def across(self, span: Array) -> Curvature:
        """Within the columns of `span`."""
        return Curvature(
            span.T @ self.information @ span, span.T @ self.whole @ span - span.T @ self.information @ span
        )

    def solve(self, right: Array) -> Array:
        """What a Newton step takes: the inverse times `right`; upwards also where the likelihood is not concave."""
        if self.information.shape[0] == 0:
            return np.zeros_like(right)
        upper, failed = lapack.dpotrf(self.whole, lower=0)
        if not failed:
            return np.asarray(lapack.dpotrs(upper, right, lower=0)[0])
        values, vectors = eigh(self.whole, self.information)
        return np.asarray(vectors @ ((vectors.T @ right).T / np.maximum(np.abs(values), _STEEP)).T)


def _newton(here: Look, bend: Array | float, span: Array | None) -> tuple[Array, Array]:
    """The Newton step, and the part of the score that it answers to."""
    curvature = Curvature(here.information, bend)
    if span is None:
        return curvature.solve(here.score), here.score
    part = span.T @ here.score
    return span @ curvature.across(span).solve(part), span @ part


def _half(rows: Array, upper: Array) -> Array:
    """Rows, as columns, after which the information is the identity."""
    return np.asarray(lapack.dtrtrs(upper, rows.T, trans=1)[0])


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
        passes=plain.passes + problem.passes,
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
