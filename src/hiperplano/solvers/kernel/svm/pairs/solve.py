"""All machines of a classifier: small ones in a compiled loop, large ones by decomposition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads, ordered_map, worker_count
from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.solvers.kernel.svm.decomposition import STEPS_PER_ROW, Minimum
from hiperplano.solvers.kernel.svm.fit import (
    SMO_FIRST,
    Control,
    held_gram,
    solve_by_planes,
    solve_by_smo,
    solve_dual,
    solve_with,
)
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, ComputedGram, HeldGram
from hiperplano.solvers.kernel.svm.pairs.problems import ClassPairs
from hiperplano.solvers.kernel.svm.planes.solve import Planes
from hiperplano.solvers.kernel.svm.small.loops import solve_machines
from hiperplano.solvers.kernel.svm.solution import PLANES, Machines

_MANY = 10  # machines, of five classes or more, of which the first is solved to see whether SMO takes few steps
CHUNKS = 4  # groups of small machines for each thread


def solve_pairs(pairs: ClassPairs, kernel: Kernel, x: Any, control: Control) -> Machines:
    """Solve the problems of all pairs of classes, several at a time."""
    finite = np.isfinite(pairs.bound).all()
    planes = Planes.of(kernel, x, int(pairs.sizes.min()), control.max_steps) if finite else None
    if planes is not None:
        return solve_by_planes(
            lambda allowed: _solve_by_smo(pairs, kernel, x, allowed),
            lambda first: _solve_planes(pairs, planes, control.tol, first),
            int(pairs.sizes.max()),
            control,
            smo_first=pairs.sizes.max() <= SMO_FIRST or _takes_few_steps(pairs, kernel, x, control),
        )
    return _solve_by_smo(pairs, kernel, x, control)


def _takes_few_steps(pairs: ClassPairs, kernel: Kernel, x: Any, control: Control) -> bool:
    """Whether SMO solves the first of many machines in a step for each row; it is then tried on the others, too."""
    if len(pairs.sizes) < _MANY or pairs.sizes.max() > 2 * SMO_FIRST:
        return False
    rows = pairs.rows(0)
    few = replace(control, max_steps=len(rows), progress=None)
    return bool(solve_by_smo(pairs.problem(0), kernel, x[rows], few).violation[0] <= control.tol)


def _solve_by_smo(pairs: ClassPairs, kernel: Kernel, x: Any, control: Control) -> Machines:
    n, sizes = len(pairs.codes), pairs.sizes
    if len(sizes) == 1:
        return solve_by_smo(pairs.problem(0), kernel, x, control)
    small = sizes <= SMALL
    given = isinstance(kernel, Precomputed) or (isinstance(kernel, Function) and 8 * n**2 <= control.n_bytes)
    # The whole matrix costs half its size by symmetry; compute it if that is less than the parts of the small machines.
    held = n <= SMALL or (8 * n**2 <= control.n_bytes and np.square(sizes[small]).sum() > 0.5 * n**2)
    if not given and not held:
        return _one_by_one(pairs, kernel, x, control)
    shared = held_gram(kernel, x)
    machines = _solve_small(pairs, shared.gram, np.flatnonzero(small), control)
    hard = np.flatnonzero(~small | (machines.violation > control.tol) & (machines.steps < control.max_steps))
    share = replace(control, n_bytes=control.n_bytes // worker_count())

    def solve(machine: int) -> Minimum:
        rows = pairs.rows(machine)
        if len(rows) > SMALL and not given:
            return solve_dual(pairs.problem(machine), kernel, x[rows], share)
        begun = machines.beta[rows, machine]
        problem = pairs.from_point(machine, begun) if begun.any() else pairs.problem(machine)
        return solve_with(problem, HeldGram(shared.block(rows)), None, share)

    left = [int(machine) for machine in hard]
    for machine, found in zip(left, ordered_map(solve, left, worker_count()), strict=True):
        machines.put(machine, pairs.problem(machine), found, pairs.rows(machine))
    return machines


def _solve_planes(pairs: ClassPairs, planes: Planes, tol: float, first: Machines | None) -> Machines | None:
    """Solve machines as planes in the features of their kernel; None if one of them was not found.

    Parameters
    ----------
    first : Machines or None
        Results of SMO; those within `tol` are kept.
    """
    each = range(len(pairs.sizes)) if first is None else np.flatnonzero(first.violation > tol).tolist()
    problems, members = [pairs.problem(k) for k in each], [pairs.rows(k) for k in each]
    found = ordered_map(
        lambda place: planes.solve(problems[place], members[place], tol), range(len(each)), worker_count()
    )
    solved = [one for one in found if one is not None]
    if len(solved) < len(problems):
        return None
    if first is None:
        return Machines.of(problems, solved, members, len(pairs.codes), PLANES)
    for machine, problem, plane, rows in zip(each, problems, solved, members, strict=True):
        first.put(machine, problem, plane, rows)
    return first


def _solve_small(pairs: ClassPairs, gram: Array, chosen: Array, control: Control) -> Machines:
    """SMO for machines with few rows, in threads; some may remain unfinished."""
    problems, (rows, machine), places = pairs.problems(), pairs.members, pairs.places
    flat, gradient, found = problems.start, np.empty(len(rows)), Machines.none(len(pairs.codes), len(pairs.sizes))
    if pairs.start is not None:
        for k in chosen.tolist():
            flat[places[k] : places[k + 1]] = pairs.problem(k).start
    ends, diagonal = np.zeros((len(pairs.sizes), 7)), gram.diagonal()[rows]
    copied = np.repeat((pairs.sizes == len(gram)).astype(np.uint8), pairs.sizes)

    def solve(part: Array) -> None:
        solve_machines(
            gram, pairs.machine_slices, places, copied, diagonal, problems.target, problems.low, problems.high,
            0.0, 0.0, flat, gradient, ends, part, control.tol, control.max_steps, STEPS_PER_ROW,
        )  # fmt: skip

    parts = np.array_split(chosen, max(1, min(CHUNKS * worker_count(), len(chosen))))
    cells = int(np.square(pairs.sizes[chosen]).sum())
    in_threads(solve, parts, cells) if len(parts) > 1 else solve(chosen)
    found.beta[rows, machine] = flat
    found.put_ends(chosen, ends)
    if control.progress is not None:
        for k in chosen.tolist():
            control.progress(1, int(found.steps[k]), float(found.violation[k]))
    return found


def _one_by_one(pairs: ClassPairs, kernel: Kernel, x: Any, control: Control) -> Machines:
    """Solve machines with one Gram matrix each, where the matrix of all rows is too large."""
    matrix = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
    computed = ComputedGram(matrix, matrix.diagonal)
    share = replace(control, n_bytes=control.n_bytes // worker_count())
    each = range(len(pairs.sizes))
    problems, members = [pairs.problem(k) for k in each], [pairs.rows(k) for k in each]

    def solve(machine: int) -> Minimum:
        problem, rows = problems[machine], members[machine]
        if len(rows) > SMALL:
            return solve_dual(problem, kernel, x[rows], share)
        return solve_with(problem, HeldGram(computed.block(rows)), None, share)

    return Machines.of(problems, ordered_map(solve, each, worker_count()), members, len(pairs.codes))
