"""Least squares by conjugate gradients, for many columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.linalg.conjugate_gradient import (
    MOST_RESTARTS,
    ConjugateGradientResult,
    conjugate_gradient,
    largest_eigenvalue,
    steps_for_condition,
    steps_for_unrelated_columns,
)
from hiperplano.linalg.triangular import EPS, reciprocal
from hiperplano.messages import Message
from hiperplano.solvers.least_squares.refinement.gradient import Centre, Gradients
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, penalised_sum
from hiperplano.solvers.least_squares.sparse_factor import ColumnPreconditioner
from hiperplano.solvers.solution import digits_of
from hiperplano.solvers.statistics import centred_product, refuse_out_of_range

_FAR = 1e6  # beyond this many standard deviations, the rounding of a mean is corrected for
_FEW_ENTRIES = 2**24  # sparse float32 rows of up to this many stored numbers are copied to float64 (128 MB)
# `expected_steps` estimates the condition number from a sample:
_SHOWN_COLUMNS, _SHOWN_ROWS = 16, 256  # columns and (at least) rows of the sample
_NEIGHBOURS = 4  # columns are taken in runs of this many: neighbouring columns are often correlated
_SHOWN_ENTRIES = 16  # sparse rows are sampled until a column has about this many stored numbers
_FEW_ROWS = 32  # rows of a first, cheaper sample, which shows the mean variance of the columns
# Largest eigenvalues that may be outliers: each costs one step instead of a larger condition number. Without them,
# 3,000×500 columns with three common directions and alpha = 1e4 were factored, which took a third longer.
_APART = 2


def conjugate_least_squares(
    design: Design,
    *,
    alpha: Array,
    fit_intercept: bool = True,
    tol: float = 1e-10,
    max_iter: int = 1000,
    trial: bool = False,
    all_digits: bool = False,
    preconditioner: ColumnPreconditioner | None = None,
    columns: ColumnScale | None = None,
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² with one pass over the rows for each step.

    Columns are implicitly centred and scaled to unit length, without a copy. If the solution is not unique, the one of
    minimum norm in these units is found.

    Parameters
    ----------
    alpha : ndarray of shape (targets,)
    tol : float
        Norm of the scaled gradient at the solution, relative to that at 0.
    max_iter : int
        Most steps for each target.
    trial : bool, default=False
        Whether to give up early if `max_iter` steps will not be enough, so that another method can be used.
    all_digits : bool, default=False
        Whether the gradient must be small relative to the scaled coefficients, too. These are then as accurate as those
        of a factorisation, even if columns are strongly correlated.
    preconditioner : ColumnPreconditioner, optional
        Preconditioner for the scaled columns.
    columns : ColumnScale, optional
        Means and lengths of all columns, if they are known.
    """
    if isinstance(design, InMemory) and design.is_sparse:
        design = design.in_doubles(_FEW_ENTRIES)
    with one_blas_thread():
        with np.errstate(all="ignore"):  # of rows that were not validated: the moments reveal it
            columns, total = columns or ColumnScale.exact(design, fit_intercept), design.total_weight
            refuse_out_of_range(design, total * (np.square(columns.shift) + np.square(1.0 / columns.scale)))
        mean, d = columns.shift, design.n_columns
        length = np.where(columns.constant, 0.0, np.sqrt(total) / columns.scale)
        if isinstance(design, InMemory) and alpha.max() < np.square(length.max(initial=0.0)):  # steps are not few
            design = design.by_row_length()
        target_mean = np.zeros(design.n_targets)
        if fit_intercept:
            target_mean = design.fold(_TargetSums())[0] / total
        offset = max(1.0, float(np.max(np.abs(mean * columns.scale)[length > 0], initial=0.0)))
        drift = np.zeros(d)
        if offset > _FAR:
            drift = design.fold(_ColumnSums(mean))[0] / total
        # Smaller gradients are rounding errors of products with rows that are not centred.
        noise = EPS * (1.0 if columns.centre_rows else offset)
        centre = Centre(mean, columns.centre_rows)
        ends = [
            _Normal(design, centre, drift, target_mean, length, t, float(alpha[t]), fit_intercept).solve(
                tol, max_iter, noise, trial, all_digits, preconditioner
            )
            for t in range(design.n_targets)
        ]
        coef = np.stack([end.coef for end in ends])
    steps, gap = sum(end.steps for end in ends), max(end.gap for end in ends)
    rss, tss = np.array([end.rss for end in ends]), np.array([end.tss for end in ends])
    varying = int(np.count_nonzero(length))
    rank = min(design.n_rows - int(fit_intercept), varying)
    many = rank < varying and not bool((alpha > 0).all())
    return LeastSquaresSolution(
        coef=coef,
        intercept=target_mean - coef @ mean,
        method=Message("conjugate gradients"),
        n_iter=steps,
        objective=penalised_sum(rss, alpha, coef),
        gap=gap,
        converged=gap <= tol,
        rank=rank,
        condition=max(end.condition for end in ends),
        digits=digits_of(max(end.error for end in ends)),
        rss=rss,
        tss=tss,
        mean=mean,
        scale=reciprocal(length),
        total=total,
        alpha=alpha,
        dependent=np.arange(d) if many else np.flatnonzero(length == 0),
        verdict=_status(steps, gap, tol, max(end.steps for end in ends) >= max_iter, many),
        tells_digits=False,
    )


def expected_steps(design: InMemory, alpha: float, fit_intercept: bool, tol: float, most: float) -> float:
    """Expected number of steps for one target with a penalty, from the eigenvalues of a sample of rows and columns.

    The spread of the eigenvalues depends on the number of rows for each column. It is corrected as for uncorrelated
    columns, by the law of Marchenko and Pastur.

    Parameters
    ----------
    most : float
        Largest number of steps that is of interest. A first, smaller sample shows whether even columns that are
        uncorrelated, but for a few common factors, would need more with the same sums of squares.
    """
    n, d = design.n_rows, design.n_columns
    whole = np.sqrt(d / n)
    sample = design.sample(max(_SHOWN_ROWS, int(_SHOWN_ENTRIES / max(design.density, 1.0 / n))))
    with np.errstate(all="ignore"):  # of rows that were not validated
        few = sample if design.is_sparse else sample.sample(_FEW_ROWS)
        columns = ColumnScale.exact(few, fit_intercept)
        sum_of_squares = design.total_weight * float(np.where(columns.constant, 0.0, columns.scale**-2.0).sum())
        shares = np.ones(1) if design.is_sparse else _shares_left(few.dense() - columns.shift)
        least = min(
            j + steps_for_unrelated_columns(n, d, share * sum_of_squares, alpha, tol) for j, share in enumerate(shares)
        )
    if not least <= most:
        return least
    run = np.arange(min(d, _NEIGHBOURS))
    starts = np.arange(0, d - len(run) + 1, max(len(run), d // (_SHOWN_COLUMNS // _NEIGHBOURS)))
    which, m = np.add.outer(starts, run).ravel(), sample.n_rows
    x = np.asarray(sample.collect(sample.map(_SomeColumns(which))), dtype=np.float64)
    weight = sample.collect(sample.vector("weight")) if sample.has_weight else np.ones(m)
    with np.errstate(all="ignore"):  # of rows that were not validated
        x = x - weight @ x / weight.sum() if fit_intercept else x
        products = x.T @ (x * (weight * n / m)[:, None])
        squares = products.diagonal() + alpha
        products = products / np.sqrt(np.multiply.outer(squares, squares))
    if not np.isfinite(products).all():
        return np.inf
    found, middle = np.maximum(np.linalg.eigvalsh(products), 0.0), len(which) // 2
    shown = np.sqrt(len(which) / m)
    found[:middle] *= np.square((1.0 - whole) / (1.0 - shown))
    found[middle:] *= np.square((1.0 + whole) / (1.0 + shown))
    share = alpha / float(squares.max())  # of the penalty, in columns at unit length
    return min(j + steps_for_condition((found[-1 - j] + share) / (found[0] + share), tol) for j in range(_APART + 1))


def _shares_left(rows: Array) -> Array:
    """Share of the sum of squares that the largest principal components of some rows leave, for up to `_APART` of them.

    One step of conjugate gradients is enough for each of these components.
    """
    values = np.linalg.eigvalsh(rows @ rows.T)[::-1] if np.isfinite(rows).all() else np.ones(1)
    left = 1.0 - np.cumsum(values[:_APART]) / max(values.sum(), np.finfo(float).tiny)
    return np.append(1.0, np.maximum(left, 0.0))


@dataclass(frozen=True)
class _SomeColumns:
    """Some columns, given by their numbers, as a dense array."""

    stays_sparse = True
    which: Array

    def __call__(self, block: Block) -> Array:
        return block.columns(self.which).dense()


def _status(steps: int, gap: float, tol: float, exhausted: bool, many: bool) -> Message:
    if gap > tol:
        fields = {"steps": steps, "gap": gap, "tol": tol}
        if exhausted:
            return Message(
                "Conjugate gradients stopped after {steps} steps with a relative gradient of {gap:.1e}, above "
                "tol={tol:g}. Raise max_iter, or tol if that is accurate enough, or add a penalty (alpha).",
                **fields,
            )
        return Message(
            "Conjugate gradients stopped after {steps} steps with a relative gradient of {gap:.1e}, above tol={tol:g}. "
            "Rounding allows no more. Raise tol if that is accurate enough, or add a penalty (alpha).",
            **fields,
        )
    solved = Message(
        "Solved by conjugate gradients in {steps} steps; the relative gradient is {gap:.1e}", steps=steps, gap=gap
    )
    if many:
        solved += Message(
            "; many coefficients fit equally well, and the minimum-norm ones for standardised columns were taken"
        )
    return solved + "."


class _End(NamedTuple):
    """Solution for one target; `error` is the expected relative error of the scaled coefficients.

    `rss` and `tss` are Σ w·r² for the solution and for coefficients of 0.
    """

    coef: Array
    gap: float
    steps: int
    condition: float
    error: float
    rss: float
    tss: float


@dataclass(frozen=True)
class _TargetSums:
    """Σ w·y."""

    reads_rows = False

    def __call__(self, block: Block) -> Sums:
        return (block.xp.sum(block.weighted(block.y), axis=0),)


@dataclass(frozen=True)
class _ColumnSums:
    """Σ w·(x − mean)."""

    stays_sparse = True
    mean: Array

    def __call__(self, block: Block) -> Sums:
        return (centred_product(block, self.mean, block.weights),)


@dataclass(frozen=True)
class _Product:
    """Xᵀ·W·X·direction and Σ w·x·direction for centred columns, which every step needs."""

    stays_sparse = True
    centre: Centre
    direction: Array

    def __call__(self, block: Block) -> Sums:
        rows, mean = self.centre.rows(block)
        inner, level = rows.normal_dot(block.weight, self.direction, float(mean @ self.direction))
        inner -= level * mean
        return inner, np.array([level])


class _Normal:
    """D·(XᵀWX + alpha)·D of centred columns as an operator, with its right-hand side for one target.

    `drift` are the means of the centred columns, which are rounding errors.
    """

    def __init__(
        self,
        design: Design,
        centre: Centre,
        drift: Array,
        target_mean: Array,
        length: Array,
        target: int,
        alpha: float,
        fit_intercept: bool,
    ) -> None:
        self.design, self.centre, self.drift, self.alpha = design, centre, drift, alpha
        self.targets, self.level = np.array([target]), target_mean[[target]]
        self.fit_intercept = fit_intercept
        self.scale = np.where(length > 0, reciprocal(np.hypot(length, np.sqrt(alpha))), 0.0)

    def _scaled_gradient(self, coef: Array) -> tuple[Array, float]:
        """The descent direction at `coef`, and the sum of squares there, with the best intercept if there is one."""
        inner, level, squares = self.design.fold(Gradients(self.centre, self.targets, self.level, coef[:, None]))
        if self.fit_intercept:
            squares = squares - level**2 / self.design.total_weight
        return self.scale * (inner[:, 0] - self.drift * level - self.alpha * coef), float(squares[0])

    def __call__(self, z: Array) -> Array:
        direction = self.scale * z
        inner, level = self.design.fold(_Product(self.centre, direction))
        inner += self.alpha * direction - self.drift * level
        inner *= self.scale
        return inner

    def solve(
        self,
        tol: float,
        max_iter: int,
        noise: float,
        trial: bool,
        all_digits: bool,
        preconditioner: ColumnPreconditioner | None,
    ) -> _End:
        z = np.zeros(self.design.n_columns)
        left, tss = self._scaled_gradient(z)
        start = float(np.linalg.norm(left))
        gap, rss, steps = (1.0, tss, 0) if start else (0.0, tss, 0)
        longest = ConjugateGradientResult(z, [], [])
        for _ in range(MOST_RESTARTS):
            if gap <= tol or steps >= max_iter:
                break
            found = conjugate_gradient(
                self,
                left,
                atol=0.8 * tol * start,
                xtol=tol if all_digits and not steps else np.inf,
                max_iter=max_iter - steps,
                preconditioner=preconditioner,
                trial=trial and not steps,
            )
            longest = longest if len(longest.steps) > len(found.steps) else found
            steps += len(found.steps)
            if found.given_up:
                break
            z = z + found.x
            left, rss = self._scaled_gradient(self.scale * z)
            gap = float(np.linalg.norm(left)) / start
        smallest, largest = longest.eigenvalue_range()
        if preconditioner is None:
            off = max(gap, noise) * start / smallest
        else:  # another round would change the solution as much
            off = float(np.linalg.norm(preconditioner(left))) * largest / smallest
            smallest, largest = 1.0 / largest_eigenvalue(preconditioner, z), largest_eigenvalue(self, z)
        error = off / float(np.linalg.norm(z)) if z.any() else 0.0
        return _End(self.scale * z, gap, steps, float(np.sqrt(largest / smallest)), error, rss, tss)
