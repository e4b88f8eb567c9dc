"""Least squares from one pass, and from more only where the numbers ask for it.

The centred Gram matrix of the columns, scaled to unit length, is summed in one pass and factored. Its
condition number tells how many digits the answer has. If they are not enough, the same factor serves to
refine the answer with residuals in doubled precision; if the Gram matrix itself is too far gone, an orthogonal
factorisation over blocks takes its place; if columns depend on each other, the shortest solution is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Design
from hiperplano.linalg.minimum_norm import minimum_norm
from hiperplano.linalg.orthogonal import Directions, dependent_columns, directions
from hiperplano.linalg.triangular import MAX_GRAM_CONDITION, Columns, Factor, cholesky, from_triangle
from hiperplano.solvers.least_squares.exact import ExactProducts
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.orthogonal import triangles
from hiperplano.solvers.least_squares.refine import by_factor, by_triangle, refine
from hiperplano.solvers.least_squares.residuals import residual_squares
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, columns_at_rest, penalised_sum
from hiperplano.solvers.statistics import Moments, moments

EPS = float(np.finfo(float).eps)
_ENOUGH = 1e-12  # relative error of the normal equations' answer up to which it is left as it is
_SEEN = 1e-10  # share of the target's squares from which on residuals are more than rounding
_SEMINORMAL = 1e6  # condition up to which a triangle solves corrections without another factorisation


class Factorised(NamedTuple):
    """UᵀU of the scaled columns with their penalty, U⁻ᵀ·cross, and where they come from.

    Attributes
    ----------
    bare : ndarray of shape (d, d) or None
        The triangle of the same columns without the penalty; None if only their Gram matrix was factored.
    """

    factor: Factor
    right: Array
    bare: Array | None

    @property
    def squared(self) -> bool:
        """Whether the Gram matrix was factored, which squares the condition of the columns."""
        return self.bare is None


@dataclass(frozen=True)
class _Answer:
    """For some targets that share one penalty."""

    coef: Array
    method: str
    n_iter: int
    digits: float
    gap: float
    rank: int
    factor: Factor
    dependent: Array
    intercept: Array | None = None
    columns: Columns | None = None


def least_squares(
    design: Design,
    *,
    alpha: Array,
    fit_intercept: bool = True,
    positive: bool = False,
    orthogonal: bool = False,
    sums: Moments | None = None,
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖², for every target.

    Parameters
    ----------
    alpha : ndarray of shape (targets,)
    positive : bool
        Only coefficients of 0 or more.
    orthogonal : bool
        Go to the orthogonal factorisation at once.
    sums : Moments, optional
        Of the rows, if they are known.
    """
    with one_blas_thread():
        sums = moments(design, centred=fit_intercept) if sums is None else sums
        plain = NormalEquations.of(sums, fit_intercept)
        coef = np.empty((design.n_targets, design.n_columns))
        intercept = np.empty(design.n_targets)
        strengths = set(alpha.tolist())
        worst: _Answer | None = None
        for strength in strengths:
            which = np.flatnonzero(alpha == strength)
            answer = _solve(design, plain, which, strength, fit_intercept, positive, orthogonal)
            coef[which] = answer.coef
            worst = answer if worst is None or answer.digits < worst.digits else worst
            centre = plain.target_mean[which] - answer.coef @ plain.mean
            intercept[which] = centre if answer.intercept is None else answer.intercept
        rss = residual_squares(design, plain, coef, fit_intercept)
    answer = worst or answer
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method=answer.method,
        n_iter=answer.n_iter,
        objective=penalised_sum(rss, alpha, coef),
        gap=answer.gap,
        converged=True,
        status=_sentence(answer, design.n_columns),
        rank=answer.rank,
        condition=answer.factor.condition,
        digits=answer.digits,
        rss=rss,
        tss=plain.squares * plain.target_unit**2,
        mean=plain.mean,
        scale=plain.scale,
        total=plain.total,
        alpha=alpha,
        dependent=tuple(map(int, answer.dependent)),
        factor=answer.factor if len(strengths) == 1 else None,
        columns=answer.columns if len(strengths) == 1 else None,
    )


def factorise(design: Design, equations: NormalEquations, alpha: float, level: bool, orthogonal: bool) -> Factorised:
    """The triangle of the scaled columns, and the targets turned with them: from the Gram matrix if that will do."""
    factor = None if orthogonal else cholesky(equations.gram, equations.scale)
    if factor is not None and factor.condition <= MAX_GRAM_CONDITION:
        return Factorised(factor, factor.forward(equations.cross), bare=None)
    d = design.n_columns
    right = (design.y - equations.target_mean) / equations.target_unit
    bare, upper = triangles(design, equations, alpha, level, right)
    return Factorised(from_triangle(upper[:d, :d], equations.scale), upper[:d, d:], bare[:d, :d])


def _solve(
    design: Design, plain: NormalEquations, which: Array, alpha: float, level: bool, positive: bool, orthogonal: bool
) -> _Answer:
    """The targets in `which`, and what their standard errors will need."""
    equations = plain.penalised(alpha)
    factored = factorise(design, equations, alpha, level, orthogonal)
    found = None
    if not factored.squared:
        # A penalty too small to be seen beside rounding leaves the shortest solution, its limit.
        blur = plain.blur if not alpha else np.zeros_like(plain.blur)
        found = directions(factored.factor.upper, factored.factor.scale, blur)
    if positive:
        answer = _nonnegative(factored, found, which, plain.target_unit[which])
    elif found is not None and found.null.size:
        answer = _minimum_norm(factored, found, which, plain.target_unit[which])
    else:
        answer = _unique(design, plain, equations, factored, which, alpha, level)
    if factored.bare is None or not alpha:
        return answer  # a factor of a Gram matrix tells the columns without the penalty, too
    there = directions(factored.bare, equations.scale, plain.blur)
    return replace(answer, columns=there.columns(equations.scale))


def _unique(
    design: Design,
    plain: NormalEquations,
    equations: NormalEquations,
    factored: Factorised,
    which: Array,
    alpha: float,
    level: bool,
) -> _Answer:
    """By the cheapest method that is accurate enough."""
    factor, squared = factored.factor, factored.squared
    constant = np.flatnonzero(plain.scale == 0)
    rank = design.n_columns - len(constant)
    z = factor.backward(factored.right[:, which])
    coef = _in_units(z, factor, plain.target_unit[which])
    if squared:
        rounding = EPS * factor.condition**2 * plain.cancelled
        error = rounding * _cancellation(plain, which, coef)
        if error > _ENOUGH:
            noise = _noise(plain, equations.cross[:, which], z, which, design.n_rows)
            error = rounding * _cancellation(plain, which, coef, noise)
        if error <= _ENOUGH:
            gap = _relative(equations.cross[:, which] - equations.gram @ z, equations.cross[:, which])
            return _Answer(coef, "normal equations", 1, _digits(error), gap, rank, factor, constant)
    if factor.condition <= _SEMINORMAL:
        solve = by_factor(design, factor, equations, level)
    else:
        solve = by_triangle(design, factor, equations, alpha, level)
    exact = ExactProducts(design)
    refined = [
        refine(design, equations, exact, solve, start, target, alpha, level)
        for start, target in zip(coef, which, strict=True)
    ]
    error = max(one.error for one in refined)
    return _Answer(
        np.stack([one.coef for one in refined]),
        "normal equations, refined" if squared else "orthogonal factorisation, refined",
        max(one.steps for one in refined),
        _digits(max(error, EPS * factor.condition)),  # the data themselves are rounded
        error,
        rank,
        factor,
        constant,
        np.array([one.intercept for one in refined]),
    )


def _minimum_norm(factored: Factorised, found: Directions, which: Array, unit: Array) -> _Answer:
    factor, right = factored.factor, factored.right[:, which]
    varying = factor.scale > 0
    coef = np.zeros((right.shape[1], len(varying)))
    coef[:, varying] = minimum_norm(
        found.values, found.basis, found.left.T @ right[varying], 1.0 / factor.scale[varying]
    )
    digits = _digits(EPS * found.condition)
    method, rank = "minimum-norm solution", len(found.values)
    return _Answer(coef * unit[:, None], method, 1, digits, EPS, rank, factor, dependent_columns(factor.scale, found))


def _nonnegative(factored: Factorised, found: Directions | None, which: Array, unit: Array) -> _Answer:
    """min ‖U·z − right‖ over z ≥ 0: the triangle stands for all rows."""
    factor, right = factored.factor, factored.right[:, which]
    most = 30 * len(factor.scale)
    z = np.column_stack([nnls(factor.upper, column, maxiter=most)[0] for column in right.T])
    slope = factor.upper.T @ (right - factor.upper @ z)  # at the optimum ≤ 0, and 0 where z > 0
    gap = _relative(np.where(z > 0, slope, np.maximum(slope, 0.0)), right)
    rank, condition = int(np.count_nonzero(factor.scale)), factor.condition
    if found is not None and found.null.size:
        rank, condition = len(found.values), found.condition
    digits = _digits(EPS * min(condition, 1e100) ** 2)
    dependent = dependent_columns(factor.scale, found)
    return _Answer(_in_units(z, factor, unit), "active set, coefficients ≥ 0", 1, digits, gap, rank, factor, dependent)


def _cancellation(plain: NormalEquations, which: Array, coef: Array, noise: Array | float = 0.0) -> float:
    """How much larger than the intercept the terms are whose difference it is.

    An intercept that is lost in the noise of the target is measured by that: no digit of it means anything.
    """
    terms = np.abs(plain.target_mean[which]) + np.abs(coef) @ np.abs(plain.mean)
    size = np.maximum(np.abs(plain.target_mean[which] - coef @ plain.mean), noise)
    return float(np.max(terms / np.where(size > 0, size, np.maximum(terms, 1e-300)), initial=1.0))


def _noise(plain: NormalEquations, cross: Array, z: Array, which: Array, n_rows: int) -> Array:
    """The least standard error that an intercept can have: that of a mean of the residuals."""
    left = plain.squares[which] - np.sum(cross * z, axis=0)
    left = np.where(left > _SEEN * plain.squares[which], left, 0.0)  # otherwise rounding
    return np.asarray(np.sqrt(left / plain.total / n_rows) * plain.target_unit[which])


def _in_units(z: Array, factor: Factor, unit: Array) -> Array:
    return np.asarray((factor.scale[:, None] * z).T * unit[:, None])


def _relative(part: Array, whole: Array) -> float:
    return float(np.linalg.norm(part)) / max(float(np.linalg.norm(whole)), 1e-300)


def _digits(error: float) -> float:
    return float(np.clip(-np.log10(max(error, EPS)), 0.0, 15.0)) + 0.0  # not −0


def _sentence(answer: _Answer, n_columns: int) -> str:
    constant = int(np.count_nonzero(answer.factor.scale == 0))
    varying = n_columns - constant
    text = f"Solved by {answer.method}"
    if answer.rank < varying and answer.method == "minimum-norm solution":
        text = (
            f"The columns are linearly dependent (rank {answer.rank} of {varying}): the shortest of all best "
            "fits was taken; predictions are unique, coefficients are not"
        )
    elif answer.rank < varying:
        text += f"; the columns are linearly dependent (rank {answer.rank} of {varying}): others may fit as well"
    text += f"; about {answer.digits:.0f} digits of the coefficients can be trusted."
    return text + columns_at_rest(constant, n_columns)
