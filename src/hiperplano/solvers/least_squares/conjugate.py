"""Least squares by conjugate gradients: for so many columns that their Gram matrix cannot be held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.triangular import reciprocal
from hiperplano.solvers.least_squares.residuals import summed_residual_squares
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, columns_at_rest, penalised_sum
from hiperplano.solvers.spread import Spread, column_spread
from hiperplano.solvers.statistics import centred_product, centred_scores

_EPS = float(np.finfo(float).eps)
_ROUNDS = 4  # restarts from the residual of the rows, which the recursion drifts away from


def conjugate_least_squares(
    design: Design, *, alpha: Array, fit_intercept: bool = True, tol: float = 1e-10, max_iter: int = 1000
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² with one pass over the rows for each step.

    Columns are centred and brought to unit length by the way, without a copy. Where many coefficients fit equally
    well, the shortest in these units are found.

    Parameters
    ----------
    tol : float
        Length of the scaled gradient to reach, relative to its length at 0.
    """
    with one_blas_thread():
        columns = column_spread(design, fit_intercept)
        weight = np.ones(design.n_rows) if design.weight is None else design.weight
        target_mean = weight @ design.y / columns.total if fit_intercept else np.zeros(design.n_targets)
        ends = [
            _Normal(design, columns, float(target_mean[t]), t, float(alpha[t])).solve(tol, max_iter)
            for t in range(design.n_targets)
        ]
        coef = np.stack([end.coef for end in ends])
        intercept = target_mean - coef @ columns.mean
        best = None if fit_intercept else np.zeros(design.n_targets)
        rss = summed_residual_squares(design, columns.mean, target_mean, coef, best)
    steps, gap = sum(end.steps for end in ends), max(end.gap for end in ends)
    varying = int(np.count_nonzero(columns.length))
    rank = min(int(np.count_nonzero(weight)) - int(fit_intercept), varying)
    many = rank < varying and not bool((alpha > 0).all())
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method="conjugate gradients",
        n_iter=steps,
        objective=penalised_sum(rss, alpha, coef),
        gap=gap,
        converged=gap <= tol,
        status=_sentence(steps, gap, tol, max(end.steps for end in ends) >= max_iter, many)
        + columns_at_rest(design.n_columns - varying, design.n_columns),
        rank=rank,
        condition=max(end.condition for end in ends),
        digits=float(np.clip(-np.log10(max(_EPS, *(end.error for end in ends))), 0.0, 15.0)) + 0.0,
        rss=rss,
        tss=weight @ np.square(design.y - target_mean),
        mean=columns.mean,
        scale=reciprocal(columns.length),
        total=columns.total,
        alpha=alpha,
        dependent=tuple(range(design.n_columns)) if many else tuple(np.flatnonzero(columns.length == 0).tolist()),
    )


def _sentence(steps: int, gap: float, tol: float, exhausted: bool, many: bool) -> str:
    if gap > tol:
        reason = "Raise max_iter, or tol" if exhausted else "Rounding allows no more. Raise tol"
        return (
            f"Conjugate gradients stopped after {steps} steps with a relative gradient of {gap:.1e}, above "
            f"tol={tol:g}. {reason} if that is accurate enough, or add a penalty (alpha)."
        )
    choice = "; many coefficients fit equally well, and the shortest in units of the columns' spread were taken"
    return (
        f"Solved by conjugate gradients in {steps} steps; the relative gradient is {gap:.1e}{choice if many else ''}."
    )


class _End(NamedTuple):
    """One target's answer; `error` is the expected relative error of the scaled coefficients."""

    coef: Array
    gap: float
    steps: int
    condition: float
    error: float


class _Normal:
    """D·(XᵀWX + alpha)·D of centred columns as an operator, with its right-hand side for one target."""

    def __init__(self, design: Design, columns: Spread, target_mean: float, target: int, alpha: float) -> None:
        self.design, self.columns, self.alpha = design, columns, alpha
        self.target_mean, self.target = target_mean, target
        size = np.hypot(columns.length, np.sqrt(alpha))
        self.scale = np.where(columns.length > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)

    def _pass(self, coef: Array, with_target: bool) -> Array:
        """Xᵀ·W·(y·[with_target] − x·coef) about the means: the negative gradient, without the penalty."""
        columns = self.columns

        def statistic(block: Block) -> Sums:
            block = block.counted()
            r = -centred_scores(block, columns.mean, coef)
            if with_target:
                r += block.y[:, self.target] - self.target_mean
            r = r if block.weight is None else r * block.weight
            return centred_product(block, columns.mean, r), np.atleast_1d(r.sum())

        inner, level = self.design.fold(statistic)
        return np.asarray(inner - columns.drift * level[0])

    def __call__(self, z: Array) -> Array:
        coef = self.scale * z
        return np.asarray(self.scale * (self.alpha * coef - self._pass(coef, with_target=False)))

    def solve(self, tol: float, max_iter: int) -> _End:
        z = np.zeros(self.design.n_columns)
        start, gap, steps = 0.0, 0.0, 0
        run = _Run()
        for _ in range(_ROUNDS):
            coef = self.scale * z
            left = self.scale * (self._pass(coef, with_target=True) - self.alpha * coef)
            length = float(np.linalg.norm(left))
            start = start or length
            gap = length / start if start else 0.0
            if gap <= tol or steps >= max_iter:
                break
            again = _conjugate_gradients(self, left, 0.3 * tol * start, max_iter - steps)
            run = run if len(run.steps) > len(again.steps) else again
            steps += len(again.steps)
            z = z + again.z
        smallest, largest = run.extremes()
        reached = max(gap, _EPS * self.columns.offset)  # rounding of products hides a smaller gradient
        error = reached * start / (smallest * float(np.linalg.norm(z))) if z.any() else 0.0
        return _End(self.scale * z, gap, steps, float(np.sqrt(largest / smallest)), error)


@dataclass
class _Run:
    """Conjugate gradients from 0, and the step lengths and ratios that tell the operator's eigenvalues."""

    z: Array = field(default_factory=lambda: np.zeros(0))
    steps: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest eigenvalue that the steps have met (Lanczos)."""
        if not self.steps:
            return 1.0, 1.0
        steps, ratios = np.array(self.steps), np.array(self.ratios)
        diagonal = 1.0 / steps
        diagonal[1:] += ratios[:-1] / steps[:-1]
        values = eigvalsh_tridiagonal(diagonal, np.sqrt(ratios[:-1]) / steps[:-1])
        return max(float(values[0]), _EPS * float(values[-1])), float(values[-1])


def _conjugate_gradients(operator: _Normal, right: Array, goal: float, max_steps: int) -> _Run:
    """Solve operator·z = right until the residual is as short as `goal`."""
    run = _Run(np.zeros_like(right))
    r, direction = right.copy(), right.copy()
    square = float(r @ r)
    while len(run.steps) < max_steps and square > goal**2:
        image = operator(direction)
        curvature = float(direction @ image)
        if curvature <= 0:
            break  # rounding: nothing is left in this direction
        step = square / curvature
        run.z += step * direction
        r -= step * image
        before, square = square, float(r @ r)
        run.steps.append(step)
        run.ratios.append(square / before)
        direction = r + run.ratios[-1] * direction
    return run
