"""Decomposition method for the dual problems of kernel machines: one working set of variables after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.gradient import Gradient
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, CachedGram, GramRows, WorkingGram, kept_bytes, sum_of_rows
from hiperplano.solvers.kernel.svm.newton import LEAST_RIDGE, MOST_RIDGE, newton_steps
from hiperplano.solvers.kernel.svm.separable import separable_steps
from hiperplano.solvers.kernel.svm.small.loops import POLISHED
from hiperplano.solvers.kernel.svm.smo.loops import smo

_NEW = 512  # least number of violating rows added to a working set
_SHARE = 0.15  # a working set is solved until its violation is below this share of that of all rows
_MARGIN = 30.0  # scores switch to float64 once the violation is below this multiple of the error of float32
NEGLIGIBLE = 0.05  # largest error of float32, as a share of tol, for which scores may stay in float32
# Largest error of a working set's gradient in float32, as a share of the violation aimed at.
_LARGEST_GRADIENT_ERROR = 0.25
_MOST_ALTERNATIONS = 20  # most alternations of SMO and Newton's method in one working set
MOST_IDLE_ROUNDS = 10  # consecutive rounds without progress, after which a fit is given up
_PROGRESS_SHARE = 0.99  # a slow round must reduce the relative gap below this share to count as progress
STEPS_PER_ROW = 4  # SMO steps per row that take the time of a Newton step without its factorisation
_NEWTON_PER_STEP = 20.0  # multiplications of a factorisation that take the time of an SMO step, per variable


@dataclass(frozen=True)
class Minimum:
    """The end point of a fit.

    Attributes
    ----------
    beta, gradient : ndarray of shape (n,)
        The gradient is Kβ − t. In rows that cannot affect the solution it may be that of an earlier β, unless the
        initial gradient was given.
    intercept : float
    violation : float
        Largest violation of the optimality conditions by a pair of rows.
    steps, rounds : int
        Number of SMO steps and of working sets.
    rounding : float
        Bound on the part of the violation that is due to rounding of kernel values and their sums.
    unbounded : bool
        Whether the problem has no solution: C is infinite, and no function fits the rows without loss.
    """

    beta: Array
    gradient: Array
    intercept: float
    violation: float
    steps: int
    rounds: int
    rounding: float = 0.0
    unbounded: bool = False


def minimise(
    problem: DualProblem,
    rows: GramRows,
    *,
    coarse: GramRows | None = None,
    tol: float,
    max_steps: int,
    n_bytes: int,
    progress: Callable[[int, int, float], None] | None = None,
    known: Array | None = None,
) -> Minimum:
    """Minimise a dual problem until no pair of rows violates the optimality conditions by more than `tol`.

    Each round solves the problem in a working set, which holds the free variables and the rows that violate most, with
    its Gram matrix in memory. Then one product updates the gradient of all rows.

    Parameters
    ----------
    rows : GramRows
        Kernel values in float64.
    coarse : GramRows, optional
        Kernel values in float32, for working sets and, until rounding errors matter, for the gradient. Convergence is
        judged with `rows`, unless rounding to float32 is negligible.
    n_bytes : int
        Memory for the Gram matrix of a working set and the caches of `rows` and `coarse`. The cache of `coarse` is
        released if working sets need the memory.
    progress : callable, optional
        Called with round, steps and violation.
    known : ndarray of shape (n,), optional
        Kβ − t at the start; modified in place. If given, the gradient at the end is exact in every row.
    """
    n, steps, beta = rows.n, 0, problem.start.copy()
    # Sources of kernel values for the working sets and for the gradient.
    source = judge = rows if coarse is None else coarse
    gradient = Gradient(problem, judge, beta, known)
    if n > SMALL:
        steps, beta, values = separable_steps(problem, judge, beta, gradient.values, tol, max_steps)
        gradient.renew(values)
    working = WorkingGram(source, _most_rows(n_bytes, rows, coarse, source))
    rng = np.random.default_rng(0)
    rounds, idle, value, gap, crawling = 0, 0, np.inf, np.inf, False
    while True:
        up, down = gradient.slopes(beta)
        largest, least = float(up.max()), float(down.min())
        violation = max(0.0, largest - least)
        if progress is not None:
            progress(rounds, steps, violation)
        rough = 0.0 if judge is rows else _rounding_of_float32(beta, rows)
        negligible = judge.rounded and rough <= NEGLIGIBLE * tol
        near = violation <= max(tol, _MARGIN * rough) or steps >= max_steps
        if judge is not rows and (idle > MOST_IDLE_ROUNDS or (near and not negligible)):
            judge, idle = rows, 0
            gradient.judge_by(rows, beta, _MARGIN * rough)
            continue
        before, value = value, min(value, problem.value(beta, gradient.values))
        apart = problem.gap(beta, gradient.values, 0.5 * (largest + least))
        apart /= max(apart + abs(value), np.finfo(float).tiny)
        idle = idle + 1 if value >= before or (crawling and apart > _PROGRESS_SHARE * gap) else 0
        gap = min(gap, apart)
        blur = score_rounding(beta, rows.diagonal)
        unbounded = violation > tol and problem.is_unbounded(beta, gradient.values, rows.diagonal)
        aim = tol - 2.0 * rough if negligible else tol
        settled = violation <= aim or (up - blur).max() <= (down + blur).min()
        if settled or unbounded or steps >= max_steps or idle > MOST_IDLE_ROUNDS:
            rounding = rough + float(blur[up.argmax()] + blur[down.argmin()])
            return Minimum(
                beta, gradient.values, 0.5 * (largest + least), violation, steps, rounds, rounding, unbounded
            )  # fmt: skip
        if isinstance(coarse, CachedGram) and len(coarse.held) and problem.free(beta).sum() + _NEW > working.limit:
            coarse.release()
            working = WorkingGram(source, _most_rows(n_bytes, rows, coarse, source))
        chosen = np.arange(n) if n <= SMALL else _working_set(problem, beta, up, down, working.limit, rng)
        chosen = np.arange(n) if len(chosen) > source.large else chosen
        share = aim if len(chosen) == n else max(0.9 * aim, _SHARE * violation)
        chosen, gram = working.of(chosen)
        made, part, slopes, crawling = _solve_part(
            problem.part(chosen),
            gram,
            rows.diagonal[chosen],
            beta[chosen],
            gradient.values[chosen],
            share,
            max_steps - steps,
        )
        steps, rounds = steps + made, rounds + 1
        if len(chosen) < n or source is not judge:
            gradient.add(chosen, beta, part - beta[chosen], slopes, source)
        else:  # recomputed, because the loop's gradient has accumulated rounding errors
            values = np.empty(n)
            values[chosen] = sum_of_rows(gram, np.flatnonzero(part), part[part != 0.0])
            gradient.renew(values - problem.target)
        beta[chosen] = part
        del gram  # frees its memory before the next one is made
        if judge is rows and np.abs(slopes - gradient.values[chosen]).max() > _LARGEST_GRADIENT_ERROR * share:
            source = rows
            working = WorkingGram(source, _most_rows(n_bytes, rows, coarse, source))


def _most_rows(n_bytes: int, rows: GramRows, coarse: GramRows | None, source: GramRows) -> int:
    """Largest size of a working set, with its Gram matrix in float64, or else in float32."""
    return int(np.sqrt((n_bytes - kept_bytes(rows) - kept_bytes(coarse)) / (8 if source is rows else 4)))


def score_rounding(beta: Array, diagonal: Array) -> Array:
    """Lower bound of the rounding error of every score Σⱼ Kᵢⱼ·βⱼ."""
    sizes = np.sqrt(np.abs(diagonal))
    return np.asarray(np.finfo(float).eps * np.linalg.norm(sizes * beta) * sizes)


def _rounding_of_float32(beta: Array, rows: GramRows) -> float:
    """Effect on a score of rounding kernel values to float32."""
    return float(np.finfo(np.float32).eps * np.linalg.norm(beta) * rows.diagonal.max())


def _working_set(
    problem: DualProblem, beta: Array, up: Array, down: Array, capacity: int, rng: np.random.Generator
) -> Array:
    """The free variables and those that violate most, half of which should grow and half of which should fall.

    If there is no room for all free variables, some are drawn at random. Such sets need a tenth of the rounds of sets
    chosen by violation or in turn.
    """
    n = len(beta)
    free = np.flatnonzero(problem.free(beta))
    half = max(_NEW, min(len(free) // 2, capacity // 2)) // 2
    crowded = len(free) + 2 * half > capacity
    spread = 1e-3 * (up.max() - down.min()) * rng.permutation(n) / n if crowded else 0.0
    growing = np.argpartition(-(up + spread), half)[:half]
    falling = np.argpartition(down - spread, half)[:half]
    chosen = np.zeros(n, dtype=bool)
    chosen[growing[up[growing] > down.min()]] = True
    chosen[falling[down[falling] < up.max()]] = True
    room, free = capacity - int(chosen.sum()), free[~chosen[free]]
    if len(free) > room:
        free = rng.choice(free, room, replace=False)
    chosen[free] = True
    return np.flatnonzero(chosen)


def _solve_part(
    part: DualProblem, gram: Array, diagonal: Array, beta: Array, gradient: Array, tol: float, max_steps: int
) -> tuple[int, Array, Array, bool]:
    """Run SMO, with Newton steps once a factorisation costs no more than the SMO steps so far.

    Returns the steps, the variables, their gradient, and whether there were too many alternations: the whole problem
    should then be checked, since it may have no solution.
    """
    steps, ridge = 0, LEAST_RIDGE
    for _ in range(_MOST_ALTERNATIONS):
        before = beta.copy(), gradient.copy()
        factored = part.free(beta).sum() ** 3 / 3 / _NEWTON_PER_STEP / len(beta)
        budget = int(max(2000, STEPS_PER_ROW * len(beta) + factored))
        made, largest, least = smo(
            gram, diagonal, gradient, beta, part.low, part.high, part.width, tol, min(budget, max_steps - steps)
        )
        steps += made
        if largest - least <= tol or steps >= max_steps:
            break
        beta, gradient, settled = newton_steps(part, gram[: len(beta), : len(beta)], beta, gradient, ridge)
        ridge = max(LEAST_RIDGE, ridge / 10) if settled else min(1e3 * ridge, MOST_RIDGE)
        if part.change(before, (beta, gradient)) >= 0:  # the decrease is below the rounding error
            break
    else:
        return steps, beta, gradient, True
    if len(beta) <= POLISHED:  # a last Newton step to full precision costs almost nothing
        beta, gradient, _ = newton_steps(part, gram[: len(beta), : len(beta)], beta, gradient, LEAST_RIDGE)
    return steps, beta, gradient, False
