"""Least squares by conjugate gradients: for so many columns that their Gram matrix cannot be held."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.threads import one_blas_thread
from hiperplano.solvers.normal import inverse_root
from hiperplano.solvers.residuals import summed_residual_squares
from hiperplano.solvers.solution import LeastSquaresSolution

_ROUNDS = 4  # restarts from the residual of the rows, which the recursion drifts away from


def conjugate_least_squares(
    design: Design, *, alpha: Array, fit_intercept: bool = True, tol: float = 1e-10, max_iter: int = 1000
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² with one pass over the rows for each step.

    Columns are centred and scaled by the way, without a copy: gradients of centred columns are differences
    of sums.

    Parameters
    ----------
    tol : float
        Length of the scaled gradient to reach, relative to its length at 0.
    """
    with one_blas_thread():
        mean, squares, target_mean, total = _column_sums(design, fit_intercept)
        coef = np.zeros((design.n_targets, design.n_columns))
        gap, steps = 0.0, 0
        for target in range(design.n_targets):
            operator = _Normal(design, mean, squares, target_mean[target], target, float(alpha[target]), total)
            coef[target], missing, count = operator.solve(tol, max_iter)
            gap, steps = max(gap, missing), steps + count
        intercept = target_mean - coef @ mean
        rss = summed_residual_squares(design, mean, target_mean, coef, intercept)
        tss = summed_residual_squares(design, mean, target_mean, np.zeros_like(coef), target_mean)
    good = gap <= tol
    ending = (
        f"Solved by conjugate gradients in {steps} steps; the relative gradient is {gap:.1e}."
        if good
        else f"Conjugate gradients stopped after {steps} steps with a relative gradient of {gap:.1e}, above "
        f"tol={tol:g}. Raise max_iter, or tol if that is accurate enough, or add a penalty (alpha)."
    )
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method="conjugate gradients",
        n_iter=steps,
        objective=float(np.sum(rss + alpha * np.sum(coef**2, axis=1))),
        gap=gap,
        converged=good,
        status=ending,
        rank=min(design.n_rows, design.n_columns),
        condition=float("nan"),
        digits=float(np.clip(-np.log10(max(gap, 1e-15)), 0.0, 15.0)),
        rss=rss,
        tss=tss,
        mean=mean,
        total=total,
        alpha=alpha,
    )


def _column_sums(design: Design, fit_intercept: bool) -> tuple[Array, Array, Array, float]:
    """Means of columns and targets, sums of squares of the columns about them, and the total weight."""

    def statistic(block: Block) -> Sums:
        weight = np.ones(len(block)) if block.weight is None else block.weight
        squared = block.x.multiply(block.x) if hasattr(block.x, "multiply") else np.square(block.x)
        return (
            np.asarray(block.x.T @ weight, dtype=np.float64),
            np.asarray(squared.T @ weight, dtype=np.float64),
            weight @ block.y,
            np.atleast_1d(weight.sum()),
        )

    sums, squares, targets, total = design.fold(statistic)
    if not fit_intercept:
        return np.zeros_like(sums), squares, np.zeros_like(targets), float(total[0])
    mean = sums / total[0]
    return mean, np.maximum(squares - sums * mean, 0.0), targets / total[0], float(total[0])


class _Normal:
    """D·(XᵀWX − total·mean·meanᵀ + alpha)·D as an operator, and its right-hand side."""

    def __init__(
        self, design: Design, mean: Array, squares: Array, target_mean: float, target: int, alpha: float, total: float
    ) -> None:
        self.design, self.mean, self.alpha = design, mean, alpha
        self.target_mean, self.target = target_mean, target
        self.scale = inverse_root(squares + alpha)

    def _pass(self, coef: Array, with_target: bool) -> Array:
        """Xᵀ·W·(y·[with_target] − x·coef) about the means: the negative gradient, without the penalty."""
        offset = float(self.mean @ coef)

        def statistic(block: Block) -> Sums:
            r = offset - block.x @ coef
            if with_target:
                r += block.y[:, self.target] - self.target_mean
            r = r if block.weight is None else r * block.weight
            return np.asarray(block.x.T @ r, dtype=np.float64), np.atleast_1d(r.sum())

        inner, level = self.design.fold(statistic)
        return np.asarray(inner - self.mean * level[0])

    def __call__(self, z: Array) -> Array:
        coef = self.scale * np.asarray(z).ravel()
        return np.asarray(self.scale * (self.alpha * coef - self._pass(coef, with_target=False)))

    def solve(self, tol: float, max_iter: int) -> tuple[Array, float, int]:
        z = np.zeros(self.design.n_columns)
        operator = LinearOperator((len(z), len(z)), matvec=self.__call__, dtype=np.float64)
        steps = 0

        def count(_: Array) -> None:
            nonlocal steps
            steps += 1

        start = 0.0
        missing = 0.0
        for _ in range(_ROUNDS):
            coef = self.scale * z
            left = self.scale * (self._pass(coef, with_target=True) - self.alpha * coef)
            length = float(np.linalg.norm(left))
            start = start or length
            missing = length / start if start else 0.0
            if missing <= tol or steps >= max_iter:
                break
            change, _info = cg(operator, left, rtol=0.3 * tol / missing, maxiter=max_iter - steps, callback=count)
            z = z + change
        return self.scale * z, missing, steps
