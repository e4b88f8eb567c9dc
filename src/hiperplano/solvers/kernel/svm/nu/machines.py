"""All machines of a model with a parameter nu: small ones in compiled calls, large ones by decomposition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads, ordered_map, worker_count
from hiperplano.kernels import Function, Kernel, Precomputed
from hiperplano.solvers.kernel.svm.decomposition import Minimum
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, asked_gram, held_gram
from hiperplano.solvers.kernel.svm.gram_rows import SMALL
from hiperplano.solvers.kernel.svm.nu.problem import NuProblem
from hiperplano.solvers.kernel.svm.nu.small_loops import CLOSER, solve_nu_pairs, solve_nu_small
from hiperplano.solvers.kernel.svm.nu.solve import NuMinimum, solve_nu
from hiperplano.solvers.kernel.svm.pairs.loops import Ends
from hiperplano.solvers.kernel.svm.pairs.problems import ClassPairs
from hiperplano.solvers.kernel.svm.rows_asked import RowsAsked
from hiperplano.solvers.kernel.svm.solution import Machines

_CHUNKS = 4  # groups of small machines for each thread


@dataclass(frozen=True)
class NuMachines:
    """Machines of pairs of classes, and their margins.

    Attributes
    ----------
    machines : Machines
    margin : ndarray of shape (machines,)
        ρ: each is the machine with C = 1/ρ, for weights with a mean of 1 over its rows.
    clear : ndarray of bool of shape (machines,)
        Whether ρ is positive, and large compared with the violation of the optimality conditions.
    """

    machines: Machines
    margin: Array
    clear: Array


def solve_nu_regression(
    target: Array, bound: Array, share: float, kernel: Kernel, x: Any, control: Control
) -> tuple[Machines, float]:
    """Solve a regression; return the machine and its ε. `x` is the Gram matrix if the kernel is precomputed."""
    problem, n = NuProblem.regression(target, bound, share), len(target)
    if n <= SMALL:
        return _solve_small(problem, asked_gram(kernel, x, share, np.zeros(0, dtype=np.intp)), control)
    found = solve_nu(problem, kernel, x, control)
    dual, minimum = found.as_regression(target, bound)
    return Machines.of([dual], [minimum], [np.arange(n)], n), found.width


def _solve_small(problem: NuProblem, gram: RowsAsked, control: Control) -> tuple[Machines, float]:
    """Solve a regression with few rows."""

    def scores(rows: Array, factors: Array) -> Array:
        gram.require(rows)
        return np.asarray(factors @ gram.values[rows])

    sides, steps = problem.start_by_target(scores), 0
    while True:
        end, beta, width, _, gradient = solve_nu_small(
            gram.values, gram.there, gram.diagonal, problem.target, problem.bounds, sides, False, control.tol,
            control.max_steps - steps,
        )  # fmt: skip
        steps += end.steps
        if control.progress is not None:
            control.progress(1, steps, end.violation)
        if gram.is_whole or end.violation <= control.tol or steps >= control.max_steps:
            return Machines.alone(beta, end._replace(steps=steps)), width
        up, down = problem.slopes(sides, gradient)
        worst = np.maximum(up - down.min(axis=1, keepdims=True), up.max(axis=1, keepdims=True) - down)
        gram.add(worst.max(axis=0))


def solve_nu_classes(pairs: ClassPairs, share: float, kernel: Kernel, x: Any, control: Control) -> NuMachines:
    """Solve the problems of all pairs of classes, several at a time. `pairs.bound` holds the weights of rows."""
    n, count = len(pairs.codes), len(pairs.sizes)
    beta, ends, margin, clear = np.zeros((n, count)), Ends.none(count), np.zeros(count), np.zeros(count, dtype=bool)
    small = pairs.sizes <= SMALL
    given = isinstance(kernel, Precomputed | Function) and (8 * n**2 <= control.n_bytes)
    held = n <= SMALL or given or (8 * n**2 <= control.n_bytes and np.square(pairs.sizes[small]).sum() > 0.5 * n**2)
    chosen = np.flatnonzero(small) if held else np.zeros(0, dtype=np.intp)
    if len(chosen):
        gram = held_gram(kernel, x).gram

        def solve_some(part: Array) -> None:
            solve_nu_pairs(
                gram, pairs.borders, pairs.positive, pairs.negative, pairs.bound, share, beta, ends, margin, clear,
                part, control.tol, control.max_steps,
            )  # fmt: skip

        parts = np.array_split(chosen, min(_CHUNKS * worker_count(), len(chosen)))
        in_threads(solve_some, parts, int(np.square(pairs.sizes[chosen]).sum()))
    machines = Machines(beta, *ends, np.zeros(count, dtype=bool))
    if control.progress is not None:
        for machine in chosen.tolist():
            control.progress(1, int(machines.steps[machine]), float(machines.violation[machine]))
    left = [] if len(chosen) == count else np.setdiff1d(np.arange(count), chosen).tolist()
    part = replace(control, n_bytes=control.n_bytes // worker_count())

    def solve_one(machine: int) -> tuple[NuMinimum, DualProblem, Minimum]:
        return _solve_one(pairs, machine, share, kernel, x, part)

    for machine, (found, problem, minimum) in zip(left, ordered_map(solve_one, left, worker_count()), strict=True):
        machines.put(machine, problem, minimum, pairs.rows(machine))
        margin[machine], clear[machine] = found.margin, found.has_margin
    return NuMachines(machines, margin, clear)


def _solve_one(
    pairs: ClassPairs, machine: int, share: float, kernel: Kernel, x: Any, control: Control
) -> tuple[NuMinimum, DualProblem, Minimum]:
    """Solve one machine with a Gram matrix of its own."""
    own, sign = pairs.rows(machine), pairs.problem(machine).target
    part = x[own][:, own] if isinstance(kernel, Precomputed) else x[own]
    bound = pairs.bound[own] / pairs.bound[own].mean()  # their scale cancels in f/ρ, but changes the meaning of `tol`
    problem = NuProblem.classification(sign, bound, share)
    found = solve_nu(problem, kernel, part, control)
    if not found.has_margin:
        found = solve_nu(problem, kernel, part, replace(control, tol=CLOSER * control.tol), found)
    return found, *found.as_classification(sign, bound)
