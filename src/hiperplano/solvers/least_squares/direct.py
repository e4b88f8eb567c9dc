"""Least squares by one pass, and more passes only if accuracy requires them.

The Gram matrix of the centred columns, scaled to unit length, is summed in one pass and factored. Its condition number
shows how many digits the solution has. If they are not enough, the solution is refined with the same factor and
residuals in doubled precision. If the Gram matrix is too inaccurate, an orthogonal factorisation over blocks replaces
it. If columns are linearly dependent, the minimum-norm solution is taken.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.linalg.dependent.rows import MOST_LOST_BY_PIVOTS
from hiperplano.linalg.minimum_norm import minimum_norm
from hiperplano.linalg.orthogonal import Directions, all_present, dependent_columns, directions
from hiperplano.linalg.triangular import EPS, MAX_GRAM_CONDITION, Columns, Factor
from hiperplano.messages import Message
from hiperplano.solvers.least_squares.dependent import by_independent_columns
from hiperplano.solvers.least_squares.normal import NormalEquations, normal_equations, residual_squares
from hiperplano.solvers.least_squares.orthogonal import Factorised, factor_of_gram, factor_of_rows
from hiperplano.solvers.least_squares.refinement.doubled import Refinement
from hiperplano.solvers.least_squares.refinement.gradient import Refined, refine_by_gradients
from hiperplano.solvers.least_squares.single import equations_in_single, factor_in_single, suits_single
from hiperplano.solvers.least_squares.solution import MOST_FACTORED_PENALISED, LeastSquaresSolution, penalised_sum
from hiperplano.solvers.solution import digits_of

_ENOUGH = 1e-12  # relative error up to which a solution of the normal equations is not refined
_ENOUGH_PENALISED = 1e-10  # the same with a penalty, whose bias is far larger, or for an intercept within its noise
_HIDDEN = 0.1  # an error below this share of the rounding error of coefficients is not refined
_SEEN = 1e-10  # squared residuals below this share of the squared target are rounding errors

Targets = Array | slice
"""Numbers of some targets, or a slice of them."""


class _Answer(NamedTuple):
    """Solution for the targets with one penalty; `status` is its first clause, before that on the digits."""

    coef: Array
    method: Message
    n_iter: int
    digits: float
    gap: float
    rank: int
    factor: Factor
    dependent: Array
    status: Message
    intercept: Array | None = None
    columns: Columns | None = None


def least_squares(
    design: Design,
    *,
    alpha: Array,
    fit_intercept: bool = True,
    positive: bool = False,
    orthogonal: bool = False,
    inaccurate_factor: bool = False,
    sums: NormalEquations | None = None,
) -> LeastSquaresSolution:
    """Minimise Σ w·(y − x·coef − intercept)² + alpha·‖coef‖², for every target.

    Parameters
    ----------
    alpha : ndarray of shape (targets,)
    positive : bool
        Constrain the coefficients to be non-negative.
    orthogonal : bool
        Use the orthogonal factorisation at once.
    inaccurate_factor : bool
        Whether products of columns may be computed in float32, and many strongly correlated columns with a penalty
        solved by their Gram matrix. Refinement restores the digits of the coefficients, but not of standard errors.
    sums : NormalEquations, optional
        Normal equations of the rows without a penalty, if they are known.
    """
    with one_blas_thread():
        if inaccurate_factor and sums is None and not positive and suits_single(design, alpha, fit_intercept):
            found = _in_single(design, alpha, fit_intercept)
            if found is not None:
                return found
        plain = normal_equations(design, fit_intercept) if sums is None else sums
        coef = np.empty((design.n_targets, design.n_columns))
        intercept = np.empty(design.n_targets)
        worst: _Answer | None = None
        strengths = set(alpha.tolist())
        refined = inaccurate_factor and not positive and design.n_columns > MOST_FACTORED_PENALISED
        for strength in strengths:
            which = slice(None) if len(strengths) == 1 else np.flatnonzero(alpha == strength)
            answer = _solve(design, plain, which, strength, fit_intercept, positive, orthogonal, refined)
            coef[which] = answer.coef
            worst = answer if worst is None or answer.digits < worst.digits else worst
            intercept[which] = _centre(plain, which, answer.coef) if answer.intercept is None else answer.intercept
        rss = residual_squares(design, plain, coef, fit_intercept)
    return _solution(plain, worst or answer, alpha, coef, intercept, rss)


def _solution(
    plain: NormalEquations,
    answer: _Answer,
    alpha: Array,
    coef: Array,
    intercept: Array,
    rss: Array,
) -> LeastSquaresSolution:
    """The solution for all targets; `answer` is the least accurate of their answers."""
    one_penalty = len(set(alpha.tolist())) == 1
    return LeastSquaresSolution(
        coef=coef,
        intercept=intercept,
        method=answer.method,
        n_iter=answer.n_iter,
        objective=penalised_sum(rss, alpha, coef),
        gap=answer.gap,
        converged=True,
        verdict=answer.status,
        rank=answer.rank,
        condition=answer.factor.condition,
        digits=answer.digits,
        rss=rss,
        tss=plain.squares,
        mean=plain.mean,
        scale=plain.scale,
        total=plain.total,
        alpha=alpha,
        dependent=answer.dependent,
        factor=answer.factor if one_penalty else None,
        columns=answer.columns if one_penalty else None,
    )


def _solve(
    design: Design,
    plain: NormalEquations,
    which: Targets,
    alpha: float,
    fit_intercept: bool,
    positive: bool,
    orthogonal: bool,
    refined: bool,
) -> _Answer:
    """Solution for the targets in `which`, with what standard errors will need.

    If `refined`, a Gram matrix with a penalty may be too inaccurate for standard errors.
    """
    equations = plain.penalised(alpha)
    most = _ENOUGH_PENALISED / EPS if refined and alpha else MAX_GRAM_CONDITION
    factored = None if orthogonal else factor_of_gram(equations, most)
    if factored is not None and factored.factor.condition > MAX_GRAM_CONDITION:
        corrected = _by_gradients(design, plain, equations, factored.factor, which, alpha, fit_intercept)
        if corrected is not None:
            return _refined(*corrected, _NORMAL_REFINED, factored.factor, np.flatnonzero(plain.scale == 0))
        factored = None
    if factored is None and not (orthogonal or positive or alpha):
        shortest = _by_independent_columns(design, equations, which)
        if shortest is not None:
            return shortest
    factored = factored or factor_of_rows(design, equations, alpha, fit_intercept)
    found = None
    if not factored.squared:
        # If the penalty is smaller than rounding errors, take its limit, the minimum-norm solution.
        rounding = plain.rounding if not alpha else np.zeros_like(plain.rounding)
        if not all_present(factored.factor.condition, rounding):
            found = directions(factored.factor.upper, factored.factor.scale, rounding)
    right = factored.right[:, which]
    if positive:
        answer = _nonnegative(factored.factor, right, found)
    elif found is not None and found.null.size:
        answer = _minimum_norm(factored.factor, right, found)
    else:
        answer = _unique(design, plain, equations, factored, which, alpha, fit_intercept)
    if factored.bare is None or not alpha:
        return answer  # the factor of a Gram matrix also determines the columns without the penalty
    present = directions(factored.bare, equations.scale, plain.rounding)
    return answer._replace(columns=present.columns(equations.scale))


def _unique(
    design: Design,
    plain: NormalEquations,
    equations: NormalEquations,
    factored: Factorised,
    which: Targets,
    alpha: float,
    fit_intercept: bool,
) -> _Answer:
    """Unique solution, by the cheapest method that is accurate enough."""
    factor = factored.factor
    constant = np.flatnonzero(plain.scale == 0)
    rank = design.n_columns - len(constant)
    z = factor.backward(factored.right[:, which])
    coef = (factor.scale[:, None] * z).T
    if factored.squared:
        rounding = EPS * factor.condition**2 * plain.cancelled
        intercept = _centre(plain, which, coef)
        error = rounding * _cancellation(plain, which, coef, intercept)
        cross, enough = equations.cross[:, which], _enough_penalised(design) if alpha else _ENOUGH
        if error > enough:
            noise = _noise(plain, cross, z, which, design.n_rows)
            error = rounding * _cancellation(plain, which, coef, intercept, noise)
            # An intercept that is a difference of large terms needs only the digits above its standard error.
            hidden = bool((rounding * _terms(plain, which, coef) <= _ENOUGH_PENALISED * noise).all())
            enough = _ENOUGH_PENALISED if hidden and rounding <= enough else enough
        if error <= enough:
            gap = _relative(cross - equations.gram @ z, cross)
            return _Answer(coef, _NORMAL, 1, digits_of(error), gap, rank, factor, constant, _BY_NORMAL, intercept)
        found = _by_gradients(design, plain, equations, factor, which, alpha, fit_intercept) if alpha else None
        if found is not None:
            return _refined(*found, _NORMAL_REFINED, factor, constant)
    numbers = np.arange(design.n_targets)[which]
    refinement = Refinement.of(design, equations, factor, alpha, fit_intercept)
    refined = [refinement.refine(start, int(target)) for start, target in zip(coef, numbers, strict=True)]
    error = max(one.error for one in refined)
    method = _NORMAL_REFINED if factored.squared else Message("orthogonal factorisation, refined")
    return _Answer(
        np.stack([one.coef for one in refined]),
        method,
        max(one.steps for one in refined),
        digits_of(max(error, EPS * factor.condition)),  # the data themselves are rounded
        error,
        rank,
        factor,
        constant,
        _solved_by(method),
        np.array([one.intercept for one in refined]),
    )


def _in_single(design: Design, alpha: Array, fit_intercept: bool) -> LeastSquaresSolution | None:
    """Solution by products in float32 and refinement; None if that is not accurate enough."""
    plain = equations_in_single(design, fit_intercept)
    if plain is None:
        return None
    equations, all_targets = plain.penalised(alpha[0]), slice(None)
    factor = factor_in_single(equations)
    if factor is None:
        return None
    found = _by_gradients(design, plain, equations, factor, all_targets, alpha[0], fit_intercept)
    if found is None:
        return None
    refined, error = found
    answer = _refined(
        refined, error, Message("normal equations in float32, refined"), factor, np.zeros(0, dtype=np.intp)
    )
    return _solution(plain, answer, alpha, refined.coef, refined.intercept, refined.rss)


def _by_gradients(
    design: Design,
    plain: NormalEquations,
    equations: NormalEquations,
    factor: Factor,
    which: Targets,
    alpha: float,
    fit_intercept: bool,
) -> tuple[Refined, float] | None:
    """Solution refined by gradients in float64, and its error; None if that requires doubled precision.

    Its error is about the rounding error times the condition number of the columns, which is not squared.
    """
    enough = _enough_penalised(design)
    refined = refine_by_gradients(design, equations, factor, which, alpha, fit_intercept, enough)
    if refined is None:
        return None
    noise = np.sqrt(refined.rss / plain.total / design.n_rows)
    cancelled = _cancellation(plain, which, refined.coef, _centre(plain, which, refined.coef), noise)
    error = max(refined.error, EPS * factor.condition * cancelled)
    return (refined, error) if error <= enough else None


def _enough_penalised(design: Design) -> float:
    """Relative error up to which a penalised solution is not refined.

    Coefficients have the dtype of the rows: those of float32 rows are rounded by more than this.
    """
    return max(_ENOUGH_PENALISED, _HIDDEN * float(np.finfo(design.dtype).eps))


def _refined(refined: Refined, error: float, method: Message, factor: Factor, constant: Array) -> _Answer:
    rank = refined.coef.shape[1] - len(constant)
    return _Answer(
        refined.coef,
        method,
        refined.steps,
        digits_of(error),
        error,
        rank,
        factor,
        constant,
        _solved_by(method),
        refined.intercept,
    )


def _minimum_norm(factor: Factor, right: Array, found: Directions) -> _Answer:
    varying = factor.scale > 0
    length = 1.0 / factor.scale[varying]
    coef = np.zeros((right.shape[1], len(varying)))
    coef[:, varying] = minimum_norm(found.values, found.basis, found.left.T @ right[varying], length)
    dependent = dependent_columns(factor.scale, found)
    return _dependent(coef, len(found.values), EPS * found.condition, factor, dependent)


def _by_independent_columns(design: Design, equations: NormalEquations, which: Targets) -> _Answer | None:
    """The same from products of columns; None if they are independent, or nearly so, or if passes must read files."""
    if not isinstance(design, InMemory):
        return None
    most = MOST_LOST_BY_PIVOTS if design.is_sparse else _ENOUGH
    found = by_independent_columns(design, equations, which, most)
    if found is None:
        return None
    # Not triangular, but a singular factor cannot be used for solves anyway: only its products and singular values are.
    factor = Factor(found.rows, equations.scale, found.condition)
    return _dependent(found.coef, found.rank, found.error, factor, found.dependent)


def _dependent(coef: Array, rank: int, error: float, factor: Factor, dependent: Array) -> _Answer:
    """Answer for linearly dependent columns."""
    status = Message(
        "The columns are linearly dependent (rank {rank} of {n}): the minimum-norm solution was taken; predictions "
        "are unique, coefficients are not",
        rank=rank,
        n=int(np.count_nonzero(factor.scale)),
    )
    return _Answer(coef, Message("minimum-norm solution"), 1, digits_of(error), EPS, rank, factor, dependent, status)


def _nonnegative(factor: Factor, right: Array, found: Directions | None) -> _Answer:
    """min ‖U·z − right‖ over z ≥ 0, where the triangular factor replaces all rows."""
    most = 30 * len(factor.scale)
    z = np.column_stack([nnls(factor.upper, column, maxiter=most)[0] for column in right.T])
    slope = factor.upper.T @ (right - factor.upper @ z)  # at the optimum ≤ 0, and 0 where z > 0
    gap = _relative(np.where(z > 0, slope, np.maximum(slope, 0.0)), right)
    varying = int(np.count_nonzero(factor.scale))
    rank, condition, method = varying, factor.condition, Message("active set, coefficients ≥ 0")
    status = _solved_by(method)
    if found is not None and found.null.size:
        rank, condition = len(found.values), found.condition
        status += Message(
            "; the columns are linearly dependent (rank {rank} of {n}): others may fit as well", rank=rank, n=varying
        )
    digits = digits_of(EPS * min(condition, 1.0 / EPS) ** 2)
    coef, dependent = (factor.scale[:, None] * z).T, dependent_columns(factor.scale, found)
    return _Answer(coef, method, 1, digits, gap, rank, factor, dependent, status)


def _centre(plain: NormalEquations, which: Targets, coef: Array) -> Array:
    """Intercepts of planes through the means."""
    return np.asarray(plain.target_mean[which] - coef @ plain.mean)


def _cancellation(
    plain: NormalEquations, which: Targets, coef: Array, intercept: Array, noise: Array | float = 0.0
) -> float:
    """Ratio of the terms whose difference is the intercept to the intercept.

    If the intercept is smaller than the noise of the target, the noise replaces it: its digits are then meaningless.
    """
    size = np.maximum(np.abs(intercept), noise)
    return float((_terms(plain, which, coef) / np.where(size > 0, size, np.inf)).max(initial=1.0))


def _terms(plain: NormalEquations, which: Targets, coef: Array) -> Array:
    """Size of the terms whose difference is the intercept."""
    return np.asarray(np.abs(plain.target_mean[which]) + np.abs(coef) @ np.abs(plain.mean))


def _noise(plain: NormalEquations, cross: Array, z: Array, which: Targets, n_rows: int) -> Array:
    """Smallest possible standard error of an intercept: that of the mean of the residuals."""
    left = plain.squares[which] - np.sum(cross * z, axis=0)
    left = np.where(left > _SEEN * plain.squares[which], left, 0.0)  # otherwise rounding
    return np.sqrt(left / plain.total / n_rows)


def _relative(part: Array, whole: Array) -> float:
    return math.sqrt(np.vdot(part, part)) / (math.sqrt(np.vdot(whole, whole)) or 1.0)


def _solved_by(method: Message) -> Message:
    return Message("Solved by {method}", method=method)


_NORMAL, _NORMAL_REFINED = Message("normal equations"), Message("normal equations, refined")
_BY_NORMAL = _solved_by(_NORMAL)
