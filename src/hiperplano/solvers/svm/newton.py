"""Newton's method for smooth piecewise quadratic losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from hiperplano.data.design import Array
from hiperplano.solvers.svm.curvature import Curvature
from hiperplano.solvers.svm.duality_gap import Budget
from hiperplano.solvers.svm.smoothed import Evaluation, SmoothedProblem

SHORT = 1e-10  # a line search that ends below this share of the step has failed
PATIENCE = 25  # give up after so many steps in which neither the remaining error nor the expected gain has halved
_FALLEN = 0.1  # a Hessian is used again as long as a step leaves less than this share of the gradient


def minimise(
    problem: SmoothedProblem,
    start: Evaluation,
    allowed: Callable[[Evaluation], float],
    budget: Budget,
    curvature: Curvature | None = None,
    fewest: int = 0,
) -> tuple[Evaluation, bool]:
    """Newton steps until the remaining decrease of the objective is at most `allowed`.

    Parameters
    ----------
    start : Evaluation
        Evaluation of the problem at the start.
    allowed : callable, evaluation -> float
        Largest remaining decrease.
    budget : Budget
    curvature : Curvature, optional
        Curvature of similar rows, used instead of that of these rows as long as steps converge fast.
    fewest : int
        Least number of steps, unless the gradient is 0.

    Returns
    -------
    found : Evaluation
        The last evaluation.
    solved : bool
        False if the budget was spent or steps stalled before.
    """
    now, least, smallest, since = start, np.inf, np.inf, 0
    while now.remaining(curvature) > (allowed(now) if fewest <= 0 else 0.0):
        fewest -= 1
        if budget.left <= 0:
            return now, False
        if now.curvature is None and curvature is None:
            now = problem.evaluate(now.plane)
            budget.take()
            continue
        step, taken = _step(problem, now, curvature or now.curvature, allowed(now))  # type: ignore[arg-type]
        budget.take(taken)
        gain = -float(now.slope @ step)
        new, share = _line_search(problem, now, step, budget, curved=curvature is None)
        if curvature is not None and new.mismatch > _FALLEN * now.mismatch:
            curvature = None
        now = new
        remaining = now.remaining(curvature)
        # While rows become free one by one, the remaining decrease stays the same, but the gain of steps shrinks.
        since = 0 if remaining < 0.5 * least or gain < 0.5 * smallest else since + 1
        least = remaining if remaining < 0.5 * least else least
        smallest = gain if gain < 0.5 * smallest else smallest
        if share < SHORT or since > PATIENCE:
            return now, remaining <= allowed(now)
    return now, True


def _step(problem: SmoothedProblem, now: Evaluation, curvature: Curvature, allowed: float) -> tuple[Array, float]:
    """A Newton step, and its cost in passes."""
    if problem.loss.n_scores == 1 and problem.fit_intercept and curvature.mass <= 0 and now.slope[-1] != 0:
        # If no row is free, only the level moves, until some rows are.
        step = np.zeros_like(now.slope)
        step[-1] = problem.level_step(now.residual)
        return np.asarray(step), 0.0
    return curvature.step(now.slope, problem.fit_intercept, float(np.sqrt(allowed)))


def _line_search(
    problem: SmoothedProblem, start: Evaluation, step: Array, budget: Budget, curved: bool
) -> tuple[Evaluation, float]:
    """The evaluation after the full step, or at the minimum along it, and the share of the step that was taken."""
    before = float(start.slope @ step)
    if not before < 0:  # the slope is a rounding error
        return start, 0.0
    end = problem.evaluate(start.plane.moved(step), curved=curved)
    budget.take()
    after = float(end.slope @ step)
    if abs(after) <= 0.5 * abs(before):
        return end, 1.0
    if not np.isfinite(after):
        return start, 0.0

    known = {0.0: before, 1.0: after}

    def slope(share: float) -> float:
        if share not in known:
            known[share] = problem.slope_along(start, end, step, share)
        return known[share]

    near, far = (0.0, 1.0) if after > 0 else (1.0, 2.0)
    while slope(far) < 0:
        near, far = far, 2.0 * far
    share = float(brentq(slope, near, far, xtol=1e-12, rtol=1e-2))
    budget.take()
    return problem.evaluate(start.plane.moved(step, share), curved=curved), share
