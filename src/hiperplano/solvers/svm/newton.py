"""Newton's method for smooth piecewise quadratic losses of a plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from hiperplano.data.design import Array
from hiperplano.solvers.svm.curvature import Curvature
from hiperplano.solvers.svm.plane import Smoothed, View
from hiperplano.solvers.svm.proof import Budget

_SHORT = 1e-10  # steps cut below this share lead nowhere
_PATIENCE = 25  # steps in which what is left should have halved
_FALLEN = 0.1  # an old curvature serves as long as each step leaves less than this of the mismatch


def minimise(
    problem: Smoothed,
    view: View,
    allowed: Callable[[View], float],
    budget: Budget,
    curvature: Curvature | None = None,
    fewest: int = 0,
) -> tuple[View, bool]:
    """Newton steps until what is left to gain is allowed to be left; False if they got stuck before.

    Parameters
    ----------
    allowed : callable, View -> float
        In units of the objective.
    curvature : Curvature, optional
        Of similar rows: it serves instead of these rows' own as long as it serves well.
    fewest : int
        Steps to take in any case, if there is any slope.
    """
    least, since = np.inf, 0
    while view.left(curvature) > (allowed(view) if fewest <= 0 else 0.0):
        fewest -= 1
        if budget.left <= 0:
            return view, False
        if view.curvature is None and curvature is None:
            view = problem.view(view.plane)
            budget.take()
            continue
        step = _step(problem, view, curvature or view.curvature, allowed(view))
        new, share = _searched(problem, view, step, budget, curved=curvature is None)
        if curvature is not None and new.mismatch > _FALLEN * view.mismatch:
            curvature = None
        view = new
        left = view.left(curvature)
        least, since = (left, 0) if left < 0.5 * least else (least, since + 1)
        if share < _SHORT or since > _PATIENCE:
            return view, left <= allowed(view)
    return view, True


def _step(problem: Any, view: Any, curvature: Any, allowed: float) -> Array:
    if isinstance(problem, Smoothed) and problem.fit_intercept and curvature.mass <= 0 and view.slope[-1] != 0:
        # No row is free: the level moves alone, to where some are.
        step = np.zeros_like(view.slope)
        step[-1] = problem.level_change(view)
        return np.asarray(step)
    return np.asarray(curvature.step(view.slope, problem.fit_intercept, float(np.sqrt(allowed))))


def _searched(problem: Smoothed, view: View, step: Array, budget: Budget, curved: bool) -> tuple[View, float]:
    """The view at the end of a step, or where the objective is least along it, and the share of the step."""
    start = float(view.slope @ step)
    if not start < 0:  # rounding is all that is left of the slope
        return view, 0.0
    new = problem.view(view.plane.moved(step), curved=curved)
    budget.take()
    end = float(new.slope @ step)
    if abs(end) <= 0.5 * abs(start):
        return new, 1.0
    if not np.isfinite(end):
        return view, 0.0
    change = view.residual - new.residual

    def steepness(share: float) -> float:
        return problem.steepness(view, step, change, share)

    near, far = (0.0, 1.0) if end > 0 else (1.0, 2.0)
    while steepness(far) < 0:
        near, far = far, 2.0 * far
    # Sums added in another order may put the root at an end.
    share = near if steepness(near) >= 0 else float(brentq(steepness, near, far, xtol=1e-12, rtol=1e-2))
    if share == 0.0:
        return view, 0.0
    budget.take()
    return problem.view(view.plane.moved(step, share), curved=curved), share
