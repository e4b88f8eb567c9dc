"""Firth's bias-reduced logistic regression: log-likelihood plus ½·log det of the information."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, lapack

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.losses import Logistic
from hiperplano.messages import Message
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.orthogonal_rows import TransformedSums, with_transformed_rows
from hiperplano.solvers.likelihood.solution import LogisticSolution
from hiperplano.solvers.newton import Minimum, newton

LONGEST_STEP = 5.0  # largest change of a parameter in one step, in coordinates where rows have second moments of 1
_LOSS = Logistic()
_SLOW = 0.1  # convergence is slow if a step leaves more than this share of the expected gain
_SETTLED = 1e-9  # largest last step, relative to the largest parameter or 1
_MOST_COORDINATES = 128  # most coordinates for which `logdet_hessian` is computed
_LEAST_CURVATURE = 0.1  # curvature assumed where the likelihood is not concave, as a share of the information
_DEPENDENT = 1e-14  # largest mean square of rows along a direction in which they do not vary, as a share of the largest


@dataclass(frozen=True)
class FirthSolution(LogisticSolution):
    """A Firth fit. It keeps the rows in memory, for profile likelihoods, but does not write them to files.

    Attributes
    ----------
    penalised_loglik : float
        Log-likelihood plus ½·log det of the information, in the units of the data.
    problem : FirthLikelihood or None
        The likelihood with its rows; None in a solution that was loaded from a file or sent by another process.
    theta : ndarray of shape (k,)
        The maximum, in the coordinates of `problem`.
    profiles : dict
        Limits of confidence intervals and p-values of all coefficients, by level, for the levels requested so far.
    """

    problem: FirthLikelihood | None = field(kw_only=True, repr=False)
    theta: Array = field(kw_only=True, repr=False)
    penalised_loglik: float = field(kw_only=True)
    profiles: dict[float, tuple[Array, Array]] = field(kw_only=True, repr=False, default_factory=dict)

    @property
    def at_maximum(self) -> bool:
        return False

    def __getstate__(self) -> dict[str, Any]:
        """The state without the rows, which may be large and confidential."""
        return super().__getstate__() | {"problem": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> FirthSolution:
        """Copy all but the rows, which are shared."""
        copied = {name: deepcopy(value, memo) for name, value in vars(self).items() if name != "problem"}
        return FirthSolution(**copied, problem=self.problem)


class Evaluation(NamedTuple):
    """Penalised log-likelihood, its gradient (the modified score), the information, and its Cholesky factor."""

    value: float
    score: Array
    information: Array
    upper: Array


class FirthLikelihood:
    """l(θ) + ½·log det I(θ). Its score adds h·(½ − p) to every residual, where h is the leverage.

    Up to a constant, the likelihood does not depend on the coordinates. Here rows are transformed to second moments
    equal to the identity matrix. Nearly dependent columns then cause no difficulty, and linearly dependent ones lead to
    fewer coordinates.

    Parameters
    ----------
    design : Design
        Targets are −1 and +1.
    scale : ColumnScale

    Attributes
    ----------
    basis : ndarray of shape (size, k)
        Maps the coordinates θ to standardised parameters.
    design : Design
        The design, with transformed rows as a row vector.
    total : float
        Sum of the weights.
    passes : int
        Number of passes over the rows so far.
    """

    def __init__(self, design: Design, scale: ColumnScale) -> None:
        _, _, hessian = Likelihood(design, scale, 1, 0.0).evaluate_with_hessian(np.zeros((1, scale.size)))
        values, vectors = np.linalg.eigh(4.0 * hessian)
        kept = values > _DEPENDENT * values[-1]
        kept[: -design.n_rows] = False  # the rank is at most the number of rows; the rest is rounding error
        self._root = np.sqrt(values[kept])
        self.basis = vectors[:, kept] / self._root
        self.design = with_transformed_rows(design, scale, self.basis)
        self.total = design.total_weight
        self.passes = 2

    def point(self, parameters: Array) -> Array:
        """Coordinates θ of standardised parameters."""
        return np.asarray((parameters @ self.basis) * self._root**2)

    def log_volume(self) -> float:
        """½·log det of the information in these coordinates minus that in standardised ones."""
        return -float(np.log(self._root).sum())

    def evaluate(self, theta: Array) -> Evaluation:
        """Value, modified score and information, in two passes."""
        self.passes += 2
        loss, gradient, information = self.design.fold(TransformedSums(_LOSS, theta[None]))
        upper, failed = lapack.dpotrf(information, lower=0, clean=1)
        if failed:
            return Evaluation(-np.inf, -gradient[0], information, upper)
        (extra,) = self.design.fold(_LeverageScore(theta, upper))
        bonus = float(np.log(upper.diagonal()).sum())
        return Evaluation(bonus - float(loss[0]), extra - gradient[0], information, upper)

    def logdet_hessian(self, theta: Array, here: Evaluation) -> Array:
        """Hessian of −½·log det I(θ). Its sum with the information is the Hessian of the negative likelihood.

        Let v be the curvature of the loss, z a row in coordinates where I is the identity, and t = tanh(score/2), so
        that v′ = −v·t and v″ = v·(3t² − 1)/2. The Hessian is −½·Σᵢ v″ᵢ·‖zᵢ‖²·xᵢxᵢᵀ + ½·Σₐ≤ᵦ mₐᵦ·TₐᵦTₐᵦᵀ, where
        Tₐᵦ = Σᵢ v′ᵢ·zᵢₐ·zᵢᵦ·xᵢ, and m is 1 if a = b and 2 otherwise.
        """
        left, right = np.triu_indices(len(theta))
        self.passes += 1
        second, third = self.design.fold(_LogdetSums(theta, here.upper))
        third *= np.where(left == right, 1.0, np.sqrt(2.0))[:, None]
        return np.asarray(0.5 * (third.T @ third - second))

    @property
    def has_logdet_hessian(self) -> bool:
        """Whether there are few enough coordinates for `logdet_hessian`, whose cost grows with their third power."""
        return len(self._root) <= _MOST_COORDINATES

    def maximise(self, theta: Array, span: Array | None, tol: float, max_steps: int) -> tuple[Array, Minimum]:
        """Maximise by Newton's method, over all θ or over a subspace through the start.

        Parameters
        ----------
        theta : ndarray of shape (k,)
            Where to start.
        span : ndarray of shape (k, r) or None
            Basis of the subspace, in columns.
        tol : float
            Largest entry of the score, divided by the sum of the weights.
        max_steps : int

        Returns
        -------
        theta : ndarray of shape (k,)
            The maximum.
        end : Minimum
            The minimum of −value/total, in the coordinates of `span`.
        """
        problem = _NegativeFirth(self, theta, span)
        start = np.zeros(len(theta) if span is None else span.shape[1])
        end = newton(problem, start, tol, max_steps, _SETTLED, longest=LONGEST_STEP)
        return problem.point(end.state.theta), end


class _NegativeFirth:
    """−(l + ½·log det I)/Σw relative to a point, along the columns of a matrix if one is given, for `newton`.

    The information is used as the Hessian. If convergence is slow, `logdet_hessian` is added.
    """

    def __init__(self, problem: FirthLikelihood, origin: Array, span: Array | None) -> None:
        self._problem, self._origin, self._span = problem, origin, span
        self._logdet: Array | float = 0.0
        self._gain = np.inf

    def point(self, theta: Array) -> Array:
        """θ in all coordinates."""
        return self._origin + (theta if self._span is None else self._span @ theta)

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        point, total = self.point(theta), self._problem.total
        here = self._problem.evaluate(point)
        score = here.score if self._span is None else self._span.T @ here.score
        if not np.isfinite(here.value):
            return np.inf, -score / total, self._curvature(here).information / total
        curvature = self._curvature(here)
        gain = float(score @ curvature.solve(score))
        if gain > _SLOW * self._gain and self._problem.has_logdet_hessian:
            self._logdet = self._problem.logdet_hessian(point, here)
            curvature = self._curvature(here)
        self._gain = gain
        return -here.value / total, -score / total, curvature.positive / total

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        return self.evaluate_with_hessian(theta)[:2]

    def _curvature(self, here: Evaluation) -> Curvature:
        curvature = Curvature(here.information, self._logdet)
        return curvature if self._span is None else curvature.across(self._span)


class Curvature(NamedTuple):
    """Negative Hessian of Firth's likelihood at a point: the information, plus `logdet_hessian` if that is known."""

    information: Array
    logdet: Array | float

    @property
    def whole(self) -> Array:
        return self.information + self.logdet

    def across(self, span: Array) -> Curvature:
        """The curvature along the columns of `span`."""
        information = span.T @ self.information @ span
        return Curvature(information, span.T @ self.whole @ span - information)

    @property
    def positive(self) -> Array:
        """The whole, or, if it is not positive definite, a similar matrix whose Newton steps are ascent directions."""
        whole = self.whole
        if not lapack.dpotrf(whole, lower=0)[1]:
            return whole
        try:
            values, vectors = eigh(whole, self.information)
        except np.linalg.LinAlgError:  # the information is singular up to rounding; any way out will do
            values, vectors = eigh(whole)
            sizes = np.abs(values)
            return np.asarray((vectors * np.maximum(sizes, _LEAST_CURVATURE * sizes.max(initial=0.0))) @ vectors.T)
        half = (self.information @ vectors) * np.sqrt(np.maximum(np.abs(values), _LEAST_CURVATURE))
        return np.asarray(half @ half.T)

    def solve(self, right: Array) -> Array:
        """The inverse of `positive` times `right`, as for a Newton step."""
        if self.information.shape[0] == 0:
            return np.zeros_like(right)
        return np.asarray(lapack.dposv(self.positive, right, lower=0)[1])


@dataclass(frozen=True)
class _Leverages:
    """Rows, as columns, in coordinates where the information is the identity; scores; and leverages."""

    theta: Array
    upper: Array

    def __call__(self, block: Block) -> tuple[Array, Array, Array]:
        xp = block.xp
        rows = block.vectors["row_in_basis"]
        half = xp.asarray(lapack.dtrtrs(self.upper, rows.T, trans=1)[0])
        score = rows @ self.theta
        leverage = _LOSS.curvature(block.y[:, 0], score) * xp.square(half).sum(axis=0)
        return half, score, block.weighted(leverage)


@dataclass(frozen=True)
class _LeverageScore:
    """Σ h·(½ − p)·x, where p is the probability of the class +1."""

    theta: Array
    upper: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        _, score, leverage = _Leverages(self.theta, self.upper)(block)
        return (leverage * -0.5 * xp.tanh(score / 2) @ block.vectors["row_in_basis"],)


@dataclass(frozen=True)
class _LogdetSums:
    """Σ v″·‖z‖²·x·xᵀ and the Tₐᵦ of `logdet_hessian`."""

    theta: Array
    upper: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        half, score, leverage = _Leverages(self.theta, self.upper)(block)
        rows, tilt, half = block.vectors["row_in_basis"], xp.tanh(score / 2), np.ascontiguousarray(half)
        second = rows * (leverage * (3.0 * tilt**2 - 1.0) / 2.0)[:, None]
        sloped = rows * (block.weighted(_LOSS.curvature(block.y[:, 0], score)) * -tilt)[:, None]
        third = np.concatenate([(half[a:] * half[a]) @ sloped for a in range(len(half))])
        return rows.T @ second, third


def fit_firth(
    design: Design, *, fit_intercept: bool, tol: float, max_iter: int, start: tuple[Array, Array] | None = None
) -> FirthSolution:
    """Maximise Firth's likelihood.

    Parameters
    ----------
    design : Design
        Targets are −1 and +1.
    fit_intercept : bool
    tol : float
        Largest entry of the score, divided by the sum of the weights.
    max_iter : int
        Most steps.
    start : tuple of ndarray, optional
        Coefficients and intercepts to start from; zeros by default.
    """
    with one_blas_thread():
        scale = ColumnScale.exact(design, fit_intercept)
        problem = FirthLikelihood(design, scale)
        first = np.zeros(scale.size) if start is None else scale.parameters(*start)[0]
        theta, end = problem.maximise(problem.point(first), None, tol, max_iter)
        plain = Likelihood(design, scale, 1, 0.0)
        point = problem.basis @ theta
        value, _, hessian = plain.evaluate_with_hessian(point[None])
    coef, intercept = scale.coefficients(point[None])
    steps, left = end.state.steps, end.state.largest
    converged = left <= tol
    if converged:
        status = Message(
            "Converged by Newton on Firth's likelihood in {steps} steps; the largest score entry is {left:.1e}.",
            steps=steps,
            left=left,
        )
    else:
        status = Message(
            "Stopped after {steps} steps on Firth's likelihood: the largest score entry is {left:.1e}, above "
            "tol={tol:g}. Raise max_iter, or leave out columns that depend on others.",
            steps=steps,
            left=left,
            tol=tol,
        )
    loglik = -end.state.value * plain.total
    return FirthSolution(
        coef=coef,
        intercept=intercept,
        method=Message("Newton on Firth's likelihood"),
        n_iter=steps,
        objective=end.state.value,
        gap=left,
        converged=converged,
        status=status,
        gradient_norm=left,
        passes=plain.passes + problem.passes,
        strength=0.0,
        deviance=2.0 * plain.total * value,
        null_deviance=2.0 * plain.total * plain.prior_loss(),
        scale=scale,
        total=plain.total,
        hessian=hessian,
        problem=problem,
        theta=theta,
        penalised_loglik=loglik - problem.log_volume() - float(np.log(scale.scale).sum()),
    )
