"""Confidence intervals and tests from the profile of Firth's likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri

from hiperplano.data.design import Array
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.parallel.threads import ordered_map, worker_count
from hiperplano.errors import NotAvailable
from hiperplano.messages import Message
from hiperplano.solvers.likelihood.firth import LONGEST_STEP, Curvature, Evaluation, FirthLikelihood, FirthSolution

_STEPS = 30  # most Newton steps; a search that has not converged by then uses bisection
_HALVINGS = 20
# Table sizes, in numbers, between which threads work on coefficients instead of blocks of rows.
_THREADED = (10**5, 2**18)
_SLOW = 0.1  # if a step leaves a larger share of the distance, the curvature is recomputed
_NEAR = 1e-5  # distance in standard errors from which one last step is accurate to about its square
_ASTRAY = 1.0  # if the other coefficients can still gain more than this, they are updated first
_BRANCHES = 3  # how often an end is abandoned for a higher maximum,
_SHARES = (1.0, 0.3)  # which is searched for from these shares of the other coefficients,
_HIGHER = 1e-7  # and must be higher by this much


def firth_intervals(solution: FirthSolution, level: float, determined: Array) -> tuple[Array, Array]:
    """Interval ends and p-values of all coefficients, the intercept first; cached for each level.

    Coefficients that the rows do not determine have NaN.
    """
    if level not in solution.profiles:
        if solution.problem is None:
            known = ", ".join(f"{one:g}" for one in sorted(solution.profiles))
            raise NotAvailable(
                "The intervals of Firth's likelihood at level={level:g} need the rows of the fit, which a saved "
                "model does not keep{known}. Pass the rows: inference(model, X, y, level={level:g}); or call "
                "summary({level:g}) before saving, which is then kept.",
                level=level,
                known=Message(" (it knows those at {levels})", levels=known) if known else "",
            )
        directions = solution.scale.matrix() @ solution.problem.basis
        ends, p = np.full((len(directions), 2), np.nan), np.full(len(directions), np.nan)
        ends[determined], p[determined] = profile(solution.problem, solution.theta, directions[determined], level)
        solution.profiles[level] = ends, p
    return solution.profiles[level]


def profile(problem: FirthLikelihood, theta: Array, directions: Array, level: float) -> tuple[Array, Array]:
    """For every direction (a coefficient), the ends of its interval, and the p-value of the hypothesis that it is 0.

    An end is where the profile likelihood, maximised over all other coefficients, has dropped by half the quantile of
    χ².

    Parameters
    ----------
    theta : ndarray of shape (k,)
        Parameters at the maximum of the likelihood.
    directions : ndarray of shape (coefficients, k)
        The coefficients are directions·θ.
    level : float
        Level of the intervals.

    Returns
    -------
    ends : ndarray of shape (coefficients, 2)
    p : ndarray of shape (coefficients,)
    """
    drop = 0.5 * float(chdtri(1, 1.0 - level))
    with one_blas_thread():
        top = _Maximum.of(problem, theta)

        def of(fixed: Array) -> tuple[float, float, float]:
            one = _CoefficientProfile(problem, top, fixed)
            return one.end(-1.0, drop), one.end(+1.0, drop), float(chdtrc(1, 2.0 * one.loss_at(0.0)))

        # Many blocks of rows keep all threads busy; with few numbers, threads would wait for each other.
        n_cells = problem.design.n_rows * len(theta)
        workers = worker_count() if _THREADED[0] < n_cells < _THREADED[1] else 1
        rows = np.array(ordered_map(of, directions, workers)).reshape(-1, 3)
    return rows[:, :2], rows[:, 2]


class _Maximum(NamedTuple):
    """The maximum, where all searches start, and the difference of its information and curvature."""

    theta: Array
    here: Evaluation
    logdet: Array | float

    @classmethod
    def of(cls, problem: FirthLikelihood, theta: Array) -> _Maximum:
        here = problem.evaluate(theta)
        return cls(theta, here, problem.logdet_hessian(theta, here) if problem.has_logdet_hessian else 0.0)


class _ProfilePoint(NamedTuple):
    """A point of the profile: the other coefficients are refitted, and the likelihood is lower by `lost`."""

    theta: Array
    coefficient: float
    lost: float
    winding: bool  # whether the curvature changed along the way, as with several maxima


class _CoefficientProfile:
    """Profile of one coefficient: it moves away from its estimate, and all others are refitted."""

    def __init__(self, problem: FirthLikelihood, top: _Maximum, fixed: Array) -> None:
        self.problem, self.top, self.fixed = problem, top, fixed
        self.span = qr(fixed[:, None])[0][:, 1:]
        self.estimate = float(fixed @ top.theta)
        self.start = _Response.of(top.here, top.logdet, fixed, self.span, top.here.value)
        self.error = float(1.0 / np.sqrt(self.start.curvature))

    def loss_at(self, value: float) -> float:
        """Decrease of the likelihood if the coefficient is fixed at `value`."""
        held = self._held(value)
        if held is not None:
            return max(held.lost, 0.0)
        _, found = self.problem.maximise(self._on_parabola(value), self.span, tol=1e-9, max_steps=200)
        return max(self.top.here.value + found.state.value * self.problem.total, 0.0)

    def end(self, side: float, drop: float) -> float:
        """Where the decrease reaches `drop`, on one side; infinite if it never does."""
        found = self._follow(self.top.theta, side, drop)
        if found is None or (found.coefficient - self.estimate) * side <= 0:
            return self._bisected(side, drop)
        for _ in range(_BRANCHES if found.winding else 0):  # search for a higher maximum at the same value
            others = [self._held(found.coefficient, share) for share in _SHARES]
            higher = [other for other in others if other is not None and other.lost < drop - _HIGHER]
            further = self._follow(min(higher, key=lambda other: other.lost).theta, side, drop) if higher else None
            if further is None or (further.coefficient - found.coefficient) * side <= 0:
                break
            found = further
        return found.coefficient

    def _on_parabola(self, value: float, share: float = 1.0) -> Array:
        """Parameters at `value` if the likelihood were a parabola.

        The components that do not change the coefficient are multiplied by `share`.
        """
        there = self.top.theta + (value - self.estimate) * self.start.along
        return np.asarray(there - (1.0 - share) * (self.span @ (self.span.T @ there)))

    def _held(self, value: float, share: float = 1.0) -> _ProfilePoint | None:
        return self._follow(self._on_parabola(value, share), 0.0, 0.0)

    def _follow(self, theta: Array, side: float, drop: float) -> _ProfilePoint | None:
        """Newton's method on the coefficient and all others together; None if it does not converge.

        The others follow the coefficient's move without converging first: their remaining gain is known to second
        order. With side = 0 the coefficient is fixed. If the likelihood has several maxima, short steps stay near the
        one where the search began.
        """
        best, logdet, before = self.top.here.value, self.top.logdet, np.inf
        here = self.top.here if theta is self.top.theta else self.problem.evaluate(theta)
        for _ in range(_STEPS):
            answer = _Response.of(here, logdet, self.fixed, self.span, best)
            if self._left(answer, side, drop) > _SLOW * before and self.problem.has_logdet_hessian:
                logdet = self.problem.logdet_hessian(theta, here)
                answer = _Response.of(here, logdet, self.fixed, self.span, best)
            before, move = self._left(answer, side, drop), answer.move(side, drop)
            if before <= _NEAR**2:
                there = theta + answer.across + move * answer.along
                return _ProfilePoint(
                    there, float(self.fixed @ theta) + move, answer.lost, logdet is not self.top.logdet
                )
            lost = best - here.value
            if side and answer.gain < _ASTRAY:
                step, most = answer.across + move * answer.along, 2.0 * max(lost, drop) + 0.1
            else:
                step, most = answer.across, lost + 1e-9
            length = min(1.0, LONGEST_STEP / float(np.abs(step).max()))
            for _ in range(_HALVINGS):
                there, new = theta + length * step, self.problem.evaluate(theta + length * step)
                if best - new.value <= most:
                    break
                length /= 2
            else:
                return None
            theta, here = there, new
        return None

    def _left(self, answer: _Response, side: float, drop: float) -> float:
        """Squared distance to the solution, in standard errors."""
        return answer.gain + (answer.move(side, drop) / self.error) ** 2

    def _bisected(self, side: float, drop: float) -> float:
        """Bisection for the end between two values, one of which is inside the interval."""
        near, far = 0.0, 2.0  # in standard errors, so that units do not matter

        def value(distance: float) -> float:
            return self.estimate + side * distance * self.error

        for _ in range(30):
            if self.loss_at(value(far)) > drop:
                return value(brentq(lambda t: self.loss_at(value(t)) - drop, near, far, xtol=1e-11, rtol=1e-11))
            near, far = far, 3.0 * far
        return side * float("inf")


class _Response(NamedTuple):
    """Response of all other coefficients to a move τ of one, the step across + τ·along.

    It also holds the local shape of the profile.

    Attributes
    ----------
    gain : float
        Twice the gain of the likelihood by the step `across`.
    lost : float
        Difference of the maximum and the profile.
    slope, curvature : float
        Derivatives of the profile; the curvature is positive if it is concave.
    """

    across: Array
    along: Array
    gain: float
    lost: float
    slope: float
    curvature: float

    @classmethod
    def of(cls, here: Evaluation, logdet: Array | float, fixed: Array, span: Array, best: float) -> _Response:
        curvature = Curvature(here.information, logdet)
        whole = curvature.whole
        unit = fixed / (fixed @ fixed)
        part = span.T @ here.score
        right = np.column_stack([part, span.T @ (whole @ unit)])
        newton, follow = curvature.across(span).solve(right).T
        along, gain = unit - span @ follow, float(part @ newton)
        lost = best - here.value - 0.5 * gain
        return cls(span @ newton, along, gain, lost, float(along @ here.score), float(along @ whole @ along))

    def move(self, side: float, drop: float) -> float:
        """τ that brings the loss to `drop`.

        It is found by linear extrapolation of the square root of the loss, or by a parabola.
        """
        if side == 0:
            return 0.0
        outward = side * self.slope
        if self.lost > 0.05 * drop and outward < 0:
            root = np.sqrt(2.0 * self.lost)
            return float(side * root * (np.sqrt(2.0 * drop) - root) / -outward)
        bent = abs(self.curvature)
        return float(side * (outward + np.sqrt(max(outward**2 + 2.0 * bent * (drop - self.lost), 0.0))) / bent)
