"""Conjugate gradients in the span of centred rows, for least squares on fewer rows than columns."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.conjugate_gradient import (
    MOST_RESTARTS,
    SOON,
    ConjugateGradientResult,
    conjugate_gradient,
    largest_eigenvalue,
    steps_for_unrelated_columns,
)
from hiperplano.linalg.krylov.long_columns import LongColumns, long_columns, step_with_long_columns
from hiperplano.linalg.refined_products import SingleRows
from hiperplano.linalg.triangular import EPS

_SINGLE = 1e-5  # relative residual at which conjugate gradients in float32 are restarted from one in float64
_MOST_STEPS = 2**16  # of four targets, before they are restarted from the true residuals: their steps are recorded
_WORTH_FACTORING = 50  # steps that must be allowed for long columns to be factored
_OF_FOUR = 2.0  # cost of a step on sparse rows for four targets, in steps for one; 1.6 to 2 were measured


class RowSteps(NamedTuple):
    """Coefficients of shape (targets, d), and how accurate they are.

    Attributes
    ----------
    n_iter : int
        Steps; one for several targets counts once.
    gap : float
        Norm of the residual, relative to that of the target.
    condition : float
        Condition number of the preconditioned system; of x·xᵀ + alpha if long columns are factored.
    error : float
        Expected relative error of the coefficients.
    """

    coef: Array
    n_iter: int
    gap: float
    condition: float
    error: float


def solve_by_row_steps(
    rows: CentredRows, alpha: Array, fit_intercept: bool, tol: float, max_iter: int, single: SingleRows | None = None
) -> RowSteps | None:
    """(x·xᵀ + alpha)·shares = y by conjugate gradients; None if `max_iter` steps are not enough, or will not be.

    Steps stay in the span of the rows, which contains the minimum-norm solution. If float32 rows are given, steps use
    them, and are restarted from residuals in float64. On sparse rows, four targets with the same penalty share their
    steps.

    Parameters
    ----------
    max_iter : int
        Most steps, if targets are solved one by one and no long columns are factored.
    """
    if max_iter < 1 or not (rows.is_sparse or _usual_steps(rows, alpha, tol) <= max_iter):
        return None
    which = long_columns(rows, float(alpha.min())) if max_iter >= _WORTH_FACTORING else np.empty(0, dtype=np.intp)
    if len(which):
        max_iter = int(max_iter / step_with_long_columns(rows))
    shared = rows.is_sparse and not len(which) and len(alpha) > 1 and bool((alpha == alpha[0]).all())
    ends: list[RowSteps] = []
    start, left, system = 0, float(max_iter), None
    while start < len(alpha):
        strength = float(alpha[start])
        if system is None or system.alpha != strength:
            system = _RowSystem(rows, strength, fit_intercept, single, which)
        four = shared and start + 1 < len(alpha)
        solve, width, cost = (_four_targets, 4, _OF_FOUR) if four else (_one_target, 1, 1.0)
        found = solve(system, rows.right[:, start : start + width], tol, int(left / cost), trial=not ends)
        if found is None:
            return None
        ends.append(found)
        start, left = start + len(found.coef), left - cost * found.n_iter
    return RowSteps(
        np.concatenate([end.coef for end in ends]),
        sum(end.n_iter for end in ends),
        max(EPS, *(end.gap for end in ends)),
        max(end.condition for end in ends),
        max(end.error for end in ends),
    )


class _RowSystem:
    """x·xᵀ + alpha of centred rows as an operator on dual coefficients, called `shares`.

    With an intercept, they must sum to zero.
    """

    def __init__(
        self, rows: CentredRows, alpha: float, fit_intercept: bool, single: SingleRows | None, which: Array
    ) -> None:
        self.rows, self.alpha, self.single = rows, alpha, single
        squares = rows.stored_squares + alpha
        self.inverse = 1.0 / np.where(squares > 0, squares, squares.mean() or 1.0)
        self._scaled = LongColumns(rows, which, alpha) if len(which) else partial(np.multiply, self.inverse)
        self._level = rows.root[:, 0] * float(fit_intercept)
        self.lifted = np.asarray(self._scaled(self._level))
        self.size = float(self.lifted @ self._level) or 1.0

    @property
    def is_compiled(self) -> bool:
        """Whether compiled loops make the steps."""
        return self.rows.is_sparse and not isinstance(self._scaled, LongColumns)

    def product(self, shares: Array) -> Array:
        """Apply the operator, in float32 if float32 rows are available."""
        rows = self.rows if self.single is None else self.single
        return np.asarray(rows.square_product(shares) + self.alpha * shares)

    def precondition(self, residual: Array) -> Array:
        """Diagonal preconditioner from the squared norms of the stored rows, projected to zero-sum vectors.

        If a few columns are long, their products are factored, and the diagonal is of the others.
        """
        level = float(self.lifted @ residual) / self.size
        return np.asarray(self._scaled(residual) - level * self.lifted)

    def condition(self, smallest: float, largest: float, shares: Array) -> float:
        """The condition number, from the extreme eigenvalues of the preconditioned system.

        Parameters
        ----------
        shares : ndarray of shape (n,)
            Any vector, from which the power method starts if long columns are factored.
        """
        if not isinstance(self._scaled, LongColumns):
            return largest / smallest
        return largest_eigenvalue(self.product, shares) / (smallest * self._scaled.smallest)

    def error(self, residual: Array, smallest: float, coef: Array) -> float:
        """Largest relative error of coefficients that leave this residual.

        An error e of the dual coefficients changes the coefficients by xᵀ·e, and, if no eigenvalue of x·xᵀ exceeds S,
        |xᵀ·e|² ≤ S/(S + alpha)·eᵀ·(x·xᵀ + alpha)·e. Their sum takes the place of S.

        Parameters
        ----------
        smallest : float
            Smallest eigenvalue of the preconditioned system.
        """
        share = 1.0 / (1.0 + self.alpha / (self.rows.sum_of_squares or 1.0))
        square = share * max(float(residual @ self.precondition(residual)), 0.0)
        return float(np.sqrt(square / smallest)) / (float(np.linalg.norm(coef)) or 1.0)


def _one_target(system: _RowSystem, right: Array, tol: float, max_iter: int, trial: bool) -> RowSteps | None:
    """Solve for one target, of shape (n, 1); None after too many steps."""
    rows, size = system.rows, float(np.linalg.norm(right))
    coef, left, shares = np.zeros((1, len(rows.length))), right, np.zeros_like(right)
    n_iter, condition = 0, 1.0
    for _ in range(MOST_RESTARTS):
        found = _one_solution(system, left[:, 0], 0.5 * tol * size, max_iter - n_iter, trial and not n_iter)
        if found.given_up:
            return None
        n_iter += len(found.steps)
        shares[:, 0] += found.x
        coef += rows.combined(found.x[:, None])  # sums of all shares would cancel more
        left = right - rows.scores(coef) - system.alpha * shares
        reached = float(np.linalg.norm(left)) / (size or 1.0)
        smallest, largest = found.eigenvalue_range()
        condition = max(condition, system.condition(smallest, largest, shares[:, 0]))
        if reached <= tol:
            return RowSteps(coef, n_iter, reached, condition, system.error(left[:, 0], smallest, coef))
    return None


def _one_solution(system: _RowSystem, right: Array, atol: float, max_iter: int, trial: bool) -> ConjugateGradientResult:
    """The shares for one target, of shape (n,), up to a residual of norm `atol`.

    Parameters
    ----------
    trial : bool
        As in `conjugate_gradient`; on sparse rows it is checked once.
    """
    if not system.is_compiled:
        return conjugate_gradient(
            system.product,
            right,
            atol=atol,
            rtol=0.0 if system.single is None else _SINGLE,
            max_iter=max_iter,
            preconditioner=system.precondition,
            trial=trial,
        )
    from hiperplano.linalg.krylov.row_step_loops import one_target

    rows, preconditioner = system.rows, (system.inverse, system.lifted, system.size)
    state = np.zeros_like(right), right.copy(), np.zeros_like(right)
    most = min(max_iter, _MOST_STEPS)
    steps, ratios = np.zeros((2, max(most, 1)))
    made = 0
    for stop in (max(1, max_iter // SOON), most) if trial else (most,):
        made = one_target(
            rows.loop_arrays, rows.centre, preconditioner, system.alpha, state, atol**2, steps, ratios, made, stop
        )
        found = ConjugateGradientResult(state[0], steps[:made].tolist(), ratios[:made].tolist())
        if trial and made == stop < max_iter:
            length = float(state[1] @ state[1])
            if length * found.pace() ** (max_iter - made) > atol**2:
                return found._replace(given_up=True)
    return found


def _four_targets(system: _RowSystem, right: Array, tol: float, max_iter: int, trial: bool) -> RowSteps | None:
    """Solve for up to four targets on sparse rows, of shape (n, targets), at once; None after too many steps."""
    rows, n_targets = system.rows, right.shape[1]
    right = np.hstack([right, np.zeros((len(right), 4 - n_targets))])
    size, coef, shares = np.linalg.norm(right, axis=0), np.zeros((4, len(rows.length))), np.zeros_like(right)
    left, n_iter, condition = right, 0, 1.0
    for _ in range(MOST_RESTARTS):
        goal, trial = np.square(0.5 * tol * size), trial and not n_iter
        change, found = _four_solutions(system, left, goal, min(max_iter - n_iter, _MOST_STEPS), trial)
        if any(each.given_up for each in found):
            return None
        n_iter += max(len(each.steps) for each in found)
        shares += change
        coef += rows.combined(change)
        left = right - rows.scores(coef) - system.alpha * shares
        reached = float((np.linalg.norm(left, axis=0) / np.where(size > 0, size, 1.0)).max())
        ranges = [each.eigenvalue_range() for each in found]
        condition = max(condition, *(largest / smallest for smallest, largest in ranges))
        if reached <= tol:
            smallest = min(smallest for smallest, _ in ranges[:n_targets])
            error = max(system.error(left[:, t], smallest, coef[t]) for t in range(n_targets))
            return RowSteps(coef[:n_targets], n_iter, reached, condition, error)
    return None


def _four_solutions(
    system: _RowSystem, right: Array, goal: Array, max_iter: int, trial: bool
) -> tuple[Array, list[ConjugateGradientResult]]:
    """Solutions of shape (n, 4), and the steps to each of them.

    Parameters
    ----------
    goal : ndarray of shape (4,)
        Squared norms of the residuals to reach.
    trial : bool
        As in `conjugate_gradient`; checked once.
    """
    from hiperplano.linalg.krylov.row_step_loops import four_targets, preconditioned

    rows, preconditioner = system.rows, (system.inverse, system.lifted, system.size)
    x, residual, direction, square = np.zeros_like(right), right.copy(), np.empty_like(right), np.empty(4)
    preconditioned(preconditioner, residual, direction, square)
    steps, ratios = np.zeros((2, max(max_iter, 1), 4))
    made = 0
    for stop in (max(1, max_iter // SOON), max_iter) if trial else (max_iter,):
        state = (x, residual, direction, square)
        made = four_targets(
            rows.loop_arrays, rows.centre, preconditioner, system.alpha, state, goal, steps, ratios, made, stop
        )
        found = []
        for t in range(4):
            moved = np.flatnonzero(steps[:made, t])
            found.append(ConjugateGradientResult(x[:, t], steps[moved, t].tolist(), ratios[moved, t].tolist()))
        if trial and made == stop < max_iter:
            paces = np.array([each.pace() if each.steps else 0.0 for each in found])
            lengths = np.einsum("ij,ij->j", residual, residual)
            if (lengths * paces ** (max_iter - made) > goal).any():
                return x, [each._replace(given_up=True) for each in found]
    return x, found


def _usual_steps(rows: CentredRows, alpha: Array, tol: float) -> float:
    """Typical number of steps for all targets on dense rows."""
    (n, d), squares = rows.x.shape, rows.sum_of_squares
    return sum(steps_for_unrelated_columns(n, d, squares, strength, tol) for strength in alpha.tolist())
