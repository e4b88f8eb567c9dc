"""Kernel ridge regression by conjugate gradients, preconditioned by randomly pivoted Cholesky.

The steps use the Gram matrix in float32. It is kept in memory if it fits, and otherwise recomputed in every step. The
solution is refined with residuals in float64 until these are small enough. If the penalty is so small that rounding in
float32 stops all progress, the steps are made in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from hiperplano.data.design import Array
from hiperplano.linalg.krylov.lanczos import KrylovSpace
from hiperplano.linalg.memory import memory_limit
from hiperplano.messages import Message
from hiperplano.solvers.kernel.pivoted_cholesky import pivoted_cholesky
from hiperplano.solvers.kernel.refinement import REACH, refined_gradients
from hiperplano.solvers.kernel.ridge.exact import solve_exactly
from hiperplano.solvers.kernel.ridge.preconditioner import LowRankInverse
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.ridge.single import solve_in_single
from hiperplano.solvers.kernel.solution import KernelSolution

_STEPS_OF_CHOLESKY = 60  # a Cholesky factorisation in float32 costs as much as n / 60 steps
_STEPS_OF_SIDES = 6  # or as n / (6·k) steps with k > 10 right-hand sides
_HELD = {
    np.dtype(np.float32): Message("held in float32"),
    np.dtype(np.float64): Message("held in float64"),
    None: Message("never formed"),
}


def largest_rank(n: int) -> int:
    """Largest rank of the preconditioner: its columns then cost as much as a dozen steps."""
    return int(min(n, 5 * np.sqrt(n)))


def steps_of_cholesky(problem: RidgeProblem) -> int:
    """Number of steps that cost as much as a factorisation."""
    return problem.n_rows // max(_STEPS_OF_CHOLESKY, _STEPS_OF_SIDES * problem.right.shape[1])


def tiles_fit(n: int, dtype: type) -> bool:
    """Whether the lower half of the Gram matrix fits in memory."""
    return n * n // 2 * np.dtype(dtype).itemsize <= memory_limit()


def solve_conjugate(
    problem: RidgeProblem, tol: float, max_iter: int | None, seed: int, otherwise_exact: bool = False
) -> KernelSolution:
    """Solve to a relative residual of `tol`.

    Parameters
    ----------
    max_iter : int or None
        Most steps in total; None stands for ten times the number of rows.
    seed : int
        Seed of the pivots of the preconditioner.
    otherwise_exact : bool
        Whether to switch to a factorisation when that is faster.
    """
    n = problem.n_rows
    trace = float(problem.gram.diagonal().sum())
    low = pivoted_cholesky(problem.gram.columns, problem.gram.diagonal(), largest_rank(n), 1e-12 * trace, seed)
    penalties, kind = np.unique(problem.shift, return_inverse=True)
    lows = LowRankInverse.of_all_rows(low.factor, penalties)
    budget = steps_of_cholesky(problem) if otherwise_exact and tiles_fit(n, np.float64) else None
    steps = max_iter if max_iter is not None else 10 * n
    found = _corrected(problem, lambda residuals, which: lows(residuals, kind[which]), tol, steps, budget)
    if budget is not None and found.residual > tol:
        note = Message(
            "Conjugate gradients came to a residual of {residual:.1e} in {steps} steps, too slowly. ",
            residual=found.residual,
            steps=found.n_iter,
        )
        return solve_in_single(problem, tol, note) or solve_exactly(problem, note)
    return problem.solution(
        *problem.with_intercepts(found.u),
        method=Message("conjugate gradients"),
        n_iter=found.n_iter,
        gap=found.residual,
        converged=found.residual <= tol,
        status=_status(n, found, len(low.pivots), tol, found.n_iter >= steps),
    )


def finish_conjugate(problem: RidgeProblem, spaces: list[KrylovSpace], tol: float) -> KernelSolution | None:
    """Solve to a relative residual of `tol`, preconditioned by the Krylov space of each right-hand side.

    Return None where a factorisation is faster.
    """
    right, shift, dtype, budget = problem.right, problem.shift, np.dtype(np.float32), steps_of_cholesky(problem)
    trace = float(problem.gram.diagonal().sum())
    rest = [max(0.0, trace - each.bands[0].sum()) / max(1, len(right) - len(each.basis)) for each in spaces]

    def precondition(residuals: Array, which: Array) -> Array:
        solved = np.empty_like(residuals)
        for place, k in enumerate(which.tolist()):
            solved[:, place] = spaces[k].precondition(residuals[:, place], shift[k], rest[k])
        return solved

    try:
        start = np.column_stack([each.solve(*of) for each, *of in zip(spaces, right.T, shift, strict=True)])
        found = refined_gradients(
            partial(_shifted, _approximate(problem, dtype)[0], shift),
            partial(_remainder, problem),
            start=(start, right - problem.gram.product(start, shift)),
            size=np.linalg.norm(right, axis=0),
            precondition=precondition,
            tol=tol,
            reach=REACH[dtype],
            max_iter=2 * budget,
            budget=budget,
        )
    except LinAlgError:
        return None
    if not found.residual <= tol:
        return None
    before = max(len(each.basis) for each in spaces)
    return problem.solution(
        *problem.with_intercepts(found.x),
        method=Message("conjugate gradients"),
        n_iter=before + found.n_iter,
        gap=found.residual,
        converged=True,
        status=Message(
            "Conjugate gradients for {n} rows: {before} steps together with the folds and {steps} more; relative "
            "residual {residual:.1e}.",
            n=problem.n_rows,
            before=before,
            steps=found.n_iter,
            residual=found.residual,
        ),
    )


class _Progress(NamedTuple):
    u: Array
    residual: float
    n_iter: int
    held: Message


def _corrected(
    problem: RidgeProblem,
    precondition: Callable[[Array, Array], Array],
    tol: float,
    max_iter: int,
    budget: int | None,
) -> _Progress:
    """Make steps in float32. If rounding stops them and no factorisation is to follow, continue in float64."""
    right, shift = problem.right, problem.shift
    u, left, n_iter = np.zeros(right.shape), right, 0
    for dtype, reach in REACH.items():
        product, held = _approximate(problem, dtype)
        found = refined_gradients(
            partial(_shifted, product, shift),
            partial(_remainder, problem),
            start=(u, left),
            size=np.linalg.norm(right, axis=0),
            precondition=precondition,
            tol=tol,
            reach=reach,
            max_iter=max_iter - n_iter,
            budget=budget,
        )
        u, n_iter = found.x, n_iter + found.n_iter
        if found.residual <= tol or n_iter >= max_iter or budget is not None or not tiles_fit(len(u), np.float64):
            break
        left = right - problem.gram.product(u, shift)
    return _Progress(u, found.residual, n_iter, held)


def _shifted(product: Callable[[Array], Array], shift: Array, directions: Array, which: Array) -> Array:
    return product(directions) + shift[which] * directions


def _remainder(problem: RidgeProblem, answers: Array, which: Array) -> Array:
    """Residuals of some right-hand sides, in float64."""
    return np.asarray(problem.right[:, which] - problem.gram.product(answers, problem.shift[which]))


def _approximate(problem: RidgeProblem, dtype: np.dtype[Any]) -> tuple[Callable[[Array], Array], Message]:
    """Product with S·K·S as the steps use it, and a message on how the matrix is stored."""
    if problem.gram.held is not None:
        tiles = problem.gram.held.single if dtype == np.float32 else problem.gram.held
        return tiles.dot, _HELD[dtype]
    if tiles_fit(problem.n_rows, dtype.type):
        return problem.gram.tiles(dtype).dot, _HELD[dtype]
    root = problem.gram.root.astype(dtype)[:, None]
    matrix = problem.gram.matrix_in(dtype)
    return lambda right: root * matrix.dot(root * right.astype(dtype)), _HELD[None]


def _status(n: int, found: _Progress, rank: int, tol: float, all_steps: bool) -> Message:
    text = Message(
        "Conjugate gradients for {n} rows, with {rank} pivots as a preconditioner and the Gram matrix {held}: relative "
        "residual {residual:.1e} after {steps} steps.",
        n=n,
        rank=rank,
        held=found.held,
        residual=found.residual,
        steps=found.n_iter,
    )
    if found.residual <= tol:
        return text
    reason = Message("max_iter steps were made") if all_steps else Message("rounding stopped all progress")
    return text + Message(
        " This is above tol={tol:g}: {reason}. Raise alpha, or tol if that is accurate enough; for a penalty this "
        "small solver='cholesky' is more accurate where it fits in memory.",
        tol=tol,
        reason=reason,
    )
