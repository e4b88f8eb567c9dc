"""Solution of a dual problem from rows and a kernel, including the choice of how the Gram matrix is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

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

_FEWEST = 300  # up to this number of rows, the whole Gram matrix costs no more than parts of it
SMO_FIRST = 256  # up to this number of rows, SMO is tried before a plane in the features of the kernel
_STEPS_IN_VAIN = 100  # limit of SMO steps per row, where rounding keeps any solver from reaching `tol`
_FEW = 0.2  # least share of the rows that a cache must hold; a smaller cache has few hits


@dataclass(frozen=True)
class Control:
    """Stopping criteria and memory limit.

    Attributes
    ----------
    tol : float
        Largest violation of the optimality conditions.
    max_steps : int
        Most SMO steps for one machine.
    n_bytes : int
        Memory for kernel values.
    progress : callable, optional
        Called with round, steps and violation.
    """

    tol: float
    max_steps: int
    n_bytes: int
    progress: Callable[[int, int, float], None] | None = None

    def for_few_steps(self, n_rows: int) -> Control:
        """The same for a trial of SMO, which solves machines that need few steps."""
        return replace(self, max_steps=STEPS_PER_ROW * n_rows)

    def in_vain(self, n_rows: int) -> Control:
        """The same with fewer steps, for machines that rounding keeps from reaching `tol`."""
        return replace(self, max_steps=min(self.max_steps, _STEPS_IN_VAIN * n_rows))


class _Solved(Protocol):
    """Results of machines, with the steps and the violation of each."""

    @property
    def steps(self) -> Array: ...

    @property
    def violation(self) -> Array: ...


_Result = TypeVar("_Result", bound=_Solved)


def solve_machine(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Machines:
    """Solve the dual problem of a model with one machine. `x` is the Gram matrix if the kernel is precomputed."""
    n = x.shape[0]
    planes = Planes.of(kernel, x, n, control.max_steps) if np.isfinite(problem.high).all() else None
    if planes is not None:
        return solve_by_planes(
            lambda allowed: solve_by_smo(problem, kernel, x, allowed),
            lambda _: _solve_plane(problem, planes, control.tol),
            n,
            control,
            smo_first=n <= SMO_FIRST,
        )
    return solve_by_smo(problem, kernel, x, control)


def solve_by_planes(
    smo: Callable[[Control], _Result],
    planes: Callable[[_Result | None], _Result | None],
    n_rows: int,
    control: Control,
    smo_first: bool,
) -> _Result:
    """Solve machines of a kernel with few features: by SMO those that take few steps, others as planes.

    Parameters
    ----------
    smo : callable
        SMO for all machines.
    planes : callable
        Solves the machines that SMO, if it was tried, left unsolved; returns None if a plane was not found.
    n_rows : int
        Number of rows of the largest machine.
    smo_first : bool
        Whether a few steps of SMO are tried first.
    """
    first = None
    if smo_first:
        first = smo(control.for_few_steps(n_rows))
        if (first.violation <= control.tol).all():
            return first
    found = planes(first)
    if found is not None:
        if control.progress is not None:
            control.progress(1, int(found.steps.sum()), float(found.violation.max()))
        if (found.violation <= control.tol).all():
            return found
    # The dual variables have too few digits for a plane, so SMO will not converge either; but a few of its steps may
    # come closer.
    other = smo(control.in_vain(n_rows))
    return other if found is None else min(found, other, key=lambda machines: float(machines.violation.max()))


def _solve_plane(problem: DualProblem, planes: Planes, tol: float) -> Machines | None:
    found, n = planes.solve(problem, slice(None), tol), len(problem.start)
    return None if found is None else Machines.of([problem], [found], [np.arange(n)], n, PLANES)


def solve_by_smo(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Machines:
    """Solve the dual problem of one machine by SMO."""
    n = x.shape[0]
    if n > SMALL:
        found = solve_with(problem, *gram_sources(kernel, x, control.n_bytes), control)
        return Machines.of([problem], [found], [np.arange(n)], n)
    return solve_asked(problem, RowsAsked.whole(held_gram(kernel, x).gram), control)


def solve_asked(problem: DualProblem, gram: RowsAsked, control: Control) -> Machines:
    """Solve the problem of a few rows. Rows of the Gram matrix that are not computed yet are computed on demand."""
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


def asked_gram(kernel: Kernel, x: Any, begun: Array) -> RowsAsked:
    """The Gram matrix of a few rows, with the given rows computed, and with others only where that may save time."""
    if isinstance(kernel, Precomputed | Function) or x.shape[0] <= _FEWEST:
        return RowsAsked.whole(held_gram(kernel, x).gram)
    return RowsAsked.begun(KernelMatrix(kernel, dense_if_small(x), dtype=np.float64), begun)


def solve_held(problem: DualProblem, rows: HeldGram, control: Control) -> Minimum:
    """Solve the problem of a few rows in one compiled call, and finish it with working sets if needed."""
    end, beta, gradient = solve_few(problem, rows.gram, rows.diagonal, control.tol, control.max_steps)
    if _is_done(end, control):
        return Minimum(beta, gradient, end.intercept, end.violation, end.steps, 1, end.rounding)
    return _finished(problem, rows, control, end, beta, gradient)


def _is_done(end: End, control: Control) -> bool:
    return end.violation <= control.tol or end.steps >= control.max_steps


def _finished(
    problem: DualProblem, rows: HeldGram, control: Control, end: End, beta: Array, gradient: Array
) -> Minimum:
    """Finish what the compiled call could not solve."""
    left = replace(control, max_steps=control.max_steps - end.steps)
    found = solve_with(replace(problem, start=beta), rows, None, left, gradient)
    return replace(found, steps=found.steps + end.steps, rounds=found.rounds + 1)


def solve_dual(problem: DualProblem, kernel: Kernel, x: Any, control: Control) -> Minimum:
    """Solve the dual problem of one of several machines."""
    return solve_with(problem, *gram_sources(kernel, x, control.n_bytes), control)


def solve_with(
    problem: DualProblem, rows: GramRows, coarse: GramRows | None, control: Control, gradient: Array | None = None
) -> Minimum:
    """The same with given sources of kernel values and, optionally, the initial gradient.

    In the latter case, the final gradient is complete.
    """
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
    """Kernel values in float64 and, if they are cheap enough to compute twice, in float32 with a cache.

    Small matrices are held in memory, as are those of a user's function, which may be slow. A cache gets half of the
    memory, and working sets the other half. If the cache would hold few rows, working sets get all of it.
    """
    n, slow = x.shape[0], isinstance(kernel, Function)
    if isinstance(kernel, Precomputed) or n <= SMALL or (slow and 8 * n**2 <= n_bytes):
        return held_gram(kernel, x), None
    x = dense_if_small(x)
    exact = KernelMatrix(kernel, x, dtype=np.float64)
    if slow or not fits_float32(exact.diagonal):
        return CachedGram(exact, exact.diagonal, n_bytes // 2), None
    single = KernelMatrix(kernel, x, dtype=np.float32, centre=exact.centre)
    few = n_bytes // 2 < _FEW * 4 * n**2
    coarse = ComputedGram(single, exact.diagonal) if few else CachedGram(single, exact.diagonal, n_bytes // 2)
    return ComputedGram(exact, exact.diagonal), coarse


def fits_float32(diagonal: Array) -> bool:
    """Whether kernel values, of which those of rows with themselves are given, and their sums fit in float32."""
    return bool(len(diagonal) * np.abs(diagonal).max(initial=0.0) < np.finfo(np.float32).max)


def held_gram(kernel: Kernel, x: Any) -> HeldGram:
    """The whole Gram matrix in float64."""
    if isinstance(kernel, Precomputed):
        return HeldGram(np.ascontiguousarray(x.toarray() if issparse(x) else x, dtype=np.float64))
    return HeldGram(dense_gram(KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)))
