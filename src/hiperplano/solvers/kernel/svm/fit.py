"""Solution of a dual problem from rows and a kernel: choice of how the Gram matrix is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.design import Array
from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.solvers.kernel.svm.decomposition import STEPS_PER_ROW, Minimum, minimise
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.gram_rows import (
    SMALL,
    CachedGram,
    ComputedGram,
    GramRows,
    HeldGram,
    kept_bytes,
)
from hiperplano.solvers.kernel.svm.planes.solve import Planes
from hiperplano.solvers.kernel.svm.rows_asked import RowsAsked, dense_gram
from hiperplano.solvers.kernel.svm.small.loops import End
from hiperplano.solvers.kernel.svm.small.solve import solve_few
from hiperplano.solvers.kernel.svm.solution import PLANES, Machines

_ASKED = 0.25  # largest expected share of support vectors for which only parts of a small Gram matrix are computed
_FEWEST = 300  # up to so many rows, the whole Gram matrix costs no more than parts of it
_SMO_FIRST = 256  # up to so many rows, SMO is tried before a plane in the features of the kernel
_STEPS_IN_VAIN = 100  # SMO steps for each row, where rounding keeps any solver from reaching `tol`
_FEW = 0.2  # least share of the rows that a cache must hold: a smaller one is seldom hit


@dataclass(frozen=True)
class Control:
    """When to stop, and with how much memory.

    Attributes
    ----------
    tol : float
        Largest violation of the optimality conditions.
    max_steps : int
        Most steps of a machine.
    n_bytes : int
        For kernel values that are kept.
    progress : callable, optional
        Called with round, steps and violation.
    """

    tol: float
    max_steps: int
    n_bytes: int
    progress: Callable[[int, int, float], None] | None = None


def solve_machine(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Machines:
    """Solve the dual problem of a model's only machine on rows, of which a precomputed kernel takes the Gram matrix."""
    n = x.shape[0]
    planes = Planes.of(kernel, x, n, control.max_steps)
    if planes is not None:
        return solve_by_planes(
            lambda allowed: _solve_by_smo(problem, kernel, x, allowed),
            lambda: _solve_plane(problem, planes, control.tol),
            n,
            control,
        )
    return _solve_by_smo(problem, kernel, x, control)


def solve_by_planes(
    smo: Callable[[Control], Machines], planes: Callable[[], Machines | None], n_rows: int, control: Control
) -> Machines:
    """Machines of a kernel with few features: by SMO where that takes a few steps, or else as planes in the features.

    Parameters
    ----------
    smo, planes : callable
        The two ways; the second may lead to nothing.
    n_rows : int
        Of the largest machine.
    """
    if n_rows <= _SMO_FIRST:
        first = smo(replace(control, max_steps=STEPS_PER_ROW * n_rows))
        if (first.violation <= control.tol).all():
            return first
    found = planes()
    if found is None:
        return smo(control)
    if control.progress is not None:
        control.progress(1, int(found.steps.sum()), float(found.violation.max()))
    if (found.violation <= control.tol).all():
        return found
    # Dual variables have too few digits for this plane, and SMO will not end either; what it finds soon may be closer.
    other = smo(replace(control, max_steps=min(control.max_steps, _STEPS_IN_VAIN * n_rows)))
    return min(found, other, key=lambda machines: float(machines.violation.max()))


def _solve_plane(problem: DualProblem, planes: Planes, tol: float) -> Machines | None:
    found, n = planes.solve(problem, slice(None), tol), len(problem.start)
    return None if found is None else Machines.of([problem], [found], [np.arange(n)], n, PLANES)


def _solve_by_smo(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Machines:
    n = x.shape[0]
    if n > SMALL:
        found = solve_with(problem, *gram_sources(kernel, x, control.n_bytes), control)
        return Machines.of([problem], [found], [np.arange(n)], n)
    begun = np.flatnonzero(problem.start)
    return solve_asked(problem, asked_gram(kernel, x, len(begun) / n or 1.0, begun), control)


def solve_asked(problem: DualProblem, gram: RowsAsked, control: Control) -> Machines:
    """Solve the problem of few rows, with those of the Gram matrix where it starts, and others as they are needed."""
    n, steps, beta = len(problem.start), 0, problem.start
    while True:
        left, now = control.max_steps - steps, replace(problem, start=beta)
        end, beta, gradient = solve_few(now, gram.values, gram.diagonal, control.tol, left, gram.there)
        steps += end.steps
        end = end._replace(steps=steps)
        if control.progress is not None:
            control.progress(1, steps, end.violation)
        if _is_done(end, control):
            return Machines.alone(beta, end)
        if gram.is_whole:
            found = _finished(problem, HeldGram(gram.values), control, end, beta, gradient)
            return Machines.of([problem], [found], [np.arange(n)], n)
        up, down = problem.slopes(beta, gradient)
        gram.add(np.maximum(up - down.min(), up.max() - down))


def asked_gram(kernel: Kernel, x: Any, share: float, begun: Array) -> RowsAsked:
    """The Gram matrix of few rows: some of its rows where a small share of support vectors is expected, or all.

    Parameters
    ----------
    begun : ndarray of int
        Rows that are needed in any case.
    """
    if isinstance(kernel, Precomputed | Function) or share > _ASKED or x.shape[0] <= _FEWEST:
        return RowsAsked.whole(held_gram(kernel, x).gram)
    return RowsAsked.begun(KernelMatrix(kernel, dense_if_small(x), dtype=np.float64), begun)


def solve_held(problem: DualProblem, rows: HeldGram, control: Control) -> Minimum:
    """Solve the problem of few rows in one compiled call, and by working sets what it leaves to do."""
    end, beta, gradient = solve_few(problem, rows.gram, rows.diagonal, control.tol, control.max_steps)
    if _is_done(end, control):
        return Minimum(beta, gradient, end.intercept, end.violation, end.steps, 1, end.rounding)
    return _finished(problem, rows, control, end, beta, gradient)


def _is_done(end: End, control: Control) -> bool:
    return end.violation <= control.tol or end.steps >= control.max_steps


def _finished(
    problem: DualProblem, rows: HeldGram, control: Control, end: End, beta: Array, gradient: Array
) -> Minimum:
    """What the compiled call has left to do."""
    left = replace(control, max_steps=control.max_steps - end.steps)
    found = solve_with(replace(problem, start=beta), rows, None, left, gradient)
    return replace(found, steps=found.steps + end.steps, rounds=found.rounds + 1)


def solve_dual(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Minimum:
    """Solve the dual problem of one of several machines."""
    return solve_with(problem, *gram_sources(kernel, x, control.n_bytes), control)


def solve_with(
    problem: DualProblem, rows: GramRows, coarse: GramRows | None, control: Control, gradient: Array | None = None
) -> Minimum:
    """The same with a given source of kernel values, and maybe the gradient at the start (and, then, at the end)."""
    return minimise(
        problem,
        rows,
        coarse=coarse,
        tol=control.tol,
        max_steps=control.max_steps,
        n_bytes=max(control.n_bytes, kept_bytes(rows) + kept_bytes(coarse) + 8 * SMALL**2),
        progress=control.progress,
        known=gradient,
    )


def gram_sources(kernel: Kernel, x: Any, n_bytes: int) -> tuple[GramRows, GramRows | None]:
    """Kernel values in float64 and, where they are cheap enough to compute twice, in float32 with a cache.

    Small matrices are held, and so are those of a user's function, which may be slow. A cache gets half of the memory,
    and working sets the other half; where it would hold few of the rows, they get all of it.
    """
    n, slow = x.shape[0], isinstance(kernel, Function)
    if isinstance(kernel, Precomputed) or n <= SMALL or (slow and 8 * n**2 <= n_bytes):
        return held_gram(kernel, x), None
    x = dense_if_small(x)
    exact = KernelMatrix(kernel, x, dtype=np.float64)
    if slow:
        return CachedGram(exact, exact.diagonal, n_bytes // 2), None
    single = KernelMatrix(kernel, x, dtype=np.float32, centre=exact.centre)
    few = n_bytes // 2 < _FEW * 4 * n**2
    coarse = ComputedGram(single, exact.diagonal) if few else CachedGram(single, exact.diagonal, n_bytes // 2)
    return ComputedGram(exact, exact.diagonal), coarse


def held_gram(kernel: Kernel, x: Any) -> HeldGram:
    """The whole Gram matrix in float64."""
    if isinstance(kernel, Precomputed):
        return HeldGram(np.ascontiguousarray(x.toarray() if issparse(x) else x, dtype=np.float64))
    return HeldGram(dense_gram(KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)))
