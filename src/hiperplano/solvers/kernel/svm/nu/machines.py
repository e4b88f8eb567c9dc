"""All machines of a model with a parameter nu.

Those of a kernel with few features are solved as planes; of others, small ones in compiled calls, and large ones by
decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads, ordered_map, worker_count
from hiperplano.kernels import Function, Kernel, Precomputed
from hiperplano.messages import Message
from hiperplano.solvers.kernel.svm.fit import SMO_FIRST, Control, asked_gram, held_gram, solve_by_planes
from hiperplano.solvers.kernel.svm.gram_rows import SMALL
from hiperplano.solvers.kernel.svm.nu.plane import solve_nu_plane
from hiperplano.solvers.kernel.svm.nu.problem import NuProblem
from hiperplano.solvers.kernel.svm.nu.small_loops import CLOSER, solve_nu_machines
from hiperplano.solvers.kernel.svm.nu.solve import NuMinimum, solve_nu
from hiperplano.solvers.kernel.svm.pairs.problems import ClassPairs
from hiperplano.solvers.kernel.svm.pairs.solve import CHUNKS
from hiperplano.solvers.kernel.svm.planes.solve import Planes
from hiperplano.solvers.kernel.svm.rows_asked import RowsAsked
from hiperplano.solvers.kernel.svm.small.loops import End
from hiperplano.solvers.kernel.svm.solution import PLANES, SMO, Machines

_SMO_FIRST = 2 * SMO_FIRST  # the same for pairs of classes, which often take less than a step for each row


@dataclass(frozen=True)
class NuMachines:
    """Machines of pairs of classes, or of a regression, and their margins.

    Attributes
    ----------
    machines : Machines
    margin : ndarray of shape (machines,)
        ρ: each is the machine with C = 1/ρ, for weights with a mean of 1 over its rows. In regression, ε.
    clear : ndarray of bool of shape (machines,)
        Whether ρ is positive, and large compared with the violation of the optimality conditions.
    """

    machines: Machines
    margin: Array
    clear: Array

    @classmethod
    def of_regression(cls, machines: Machines, width: float) -> Self:
        """The machine of a regression with its ε."""
        return cls(machines, np.array([width]), np.ones(1, dtype=bool))

    @classmethod
    def none(cls, pairs: ClassPairs) -> Self:
        """Machines of pairs of classes that are yet to be solved."""
        count = len(pairs.sizes)
        return cls(Machines.none(len(pairs.codes), count), np.zeros(count), np.zeros(count, dtype=bool))

    @property
    def violation(self) -> Array:
        return self.machines.violation

    @property
    def steps(self) -> Array:
        return self.machines.steps

    def put(self, machine: int, found: NuMinimum, pairs: ClassPairs) -> None:
        """Set the machine of a pair of classes."""
        own, sign, bound = _own_rows(pairs, machine)
        self.machines.put(machine, *found.as_classification(sign, bound), own)
        self.margin[machine], self.clear[machine] = found.margin, found.has_margin


def solve_nu_regression(
    target: Array, bound: Array, share: float, kernel: Kernel, x: Any, control: Control
) -> NuMachines:
    """Solve a regression. `x` is the Gram matrix if the kernel is precomputed."""
    problem, n = NuProblem.regression(target, bound, share), len(target)

    def converted(found: NuMinimum, method: Message) -> NuMachines:
        dual, minimum = found.as_regression(target, bound)
        return NuMachines.of_regression(Machines.of([dual], [minimum], [np.arange(n)], n, method), found.width)

    def by_smo(allowed: Control) -> NuMachines:
        if n <= SMALL:
            gram = asked_gram(kernel, x, np.zeros(0, dtype=np.intp))
            return NuMachines.of_regression(*_solve_small(problem, gram, allowed))
        return converted(solve_nu(problem, kernel, x, allowed), SMO)

    planes = Planes.of(kernel, x, n, control.max_steps)
    if planes is None:
        return by_smo(control)
    features = planes.features
    return solve_by_planes(
        by_smo,
        lambda _: converted(solve_nu_plane(problem, features, control.tol), PLANES),
        n,
        control,
        smo_first=n <= SMO_FIRST,
    )


def _solve_small(problem: NuProblem, gram: RowsAsked, control: Control) -> tuple[Machines, float]:
    """Solve a regression with few rows."""

    def scores(rows: Array, factors: Array) -> Array:
        gram.require(rows)
        return np.asarray(factors @ gram.values[rows])

    n, steps, sides = len(problem.target), 0, np.ascontiguousarray(problem.start_by_target(scores))
    bounds, beta, gradient, ends = problem.bounds.reshape(-1), np.empty(n), np.empty(n), np.empty((1, 9))
    while True:
        solve_nu_machines(
            gram.values, np.array([[0, n, 0]]), np.array([0, n]), gram.there, gram.diagonal, problem.target, bounds,
            sides.reshape(-1), False, 0.0, beta, gradient, ends, np.zeros(1, int), control.tol,
            control.max_steps - steps,
        )  # fmt: skip
        end, width = End.of(ends[0, :7]), float(ends[0, 7])
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
    found, largest = NuMachines.none(pairs), int(pairs.sizes.max())
    left = np.arange(len(pairs.sizes))
    planes = Planes.of(kernel, x, int(pairs.sizes.min()), control.max_steps)
    if planes is not None:
        if largest <= _SMO_FIRST:
            _solve_by_smo(found, left, pairs, share, kernel, x, control.for_few_steps(largest))
            left = left[found.violation > control.tol]
        if not len(left):
            return found
        _solve_planes(found, left, pairs, share, planes.features, control)
        left, control = left[~found.clear[left]], control.in_vain(largest)
        if not len(left):
            return replace(found, machines=replace(found.machines, method=PLANES))
    _solve_by_smo(found, left, pairs, share, kernel, x, control)
    return found


def _solve_planes(
    found: NuMachines, each: Array, pairs: ClassPairs, share: float, features: Array, control: Control
) -> None:
    """Solve some of the machines as planes, and put the results into `found`."""

    def solve(machine: int) -> NuMinimum:
        return solve_nu_plane(_problem(pairs, machine, share), features[pairs.rows(machine)], control.tol)

    for machine, one in zip(each.tolist(), ordered_map(solve, each.tolist(), worker_count()), strict=True):
        found.put(machine, one, pairs)
        if control.progress is not None:
            control.progress(1, one.steps, one.violation)


def _solve_by_smo(
    found: NuMachines, each: Array, pairs: ClassPairs, share: float, kernel: Kernel, x: Any, control: Control
) -> None:
    """Solve some of the machines, and put the results into `found`."""
    n, machines = len(pairs.codes), found.machines
    machines.steps[each] = 0  # those of an earlier trial
    small = each[pairs.sizes[each] <= SMALL]
    given = isinstance(kernel, Precomputed | Function) and (8 * n**2 <= control.n_bytes)
    cells = int(np.square(pairs.sizes[small]).sum())
    if not (n <= SMALL or given or (8 * n**2 <= control.n_bytes and cells > 0.5 * n**2)):
        small = small[:0]
    if len(small):
        _solve_small_pairs(found, small, pairs, share, held_gram(kernel, x).gram, control)
    if control.progress is not None:
        for machine in small.tolist():
            control.progress(1, int(machines.steps[machine]), float(machines.violation[machine]))
    left = [] if len(small) == len(each) else np.setdiff1d(each, small).tolist()
    part = replace(control, n_bytes=control.n_bytes // worker_count())

    def solve(machine: int) -> NuMinimum:
        return _solve_one(pairs, machine, share, kernel, x, part)

    for machine, one in zip(left, ordered_map(solve, left, worker_count()), strict=True):
        found.put(machine, one, pairs)


def _solve_small_pairs(
    found: NuMachines, small: Array, pairs: ClassPairs, share: float, gram: Array, control: Control
) -> None:
    """Solve some small machines in compiled calls, in threads, and put the results into `found`."""
    (rows, machine), places, sizes = pairs.members, pairs.places, pairs.sizes
    sign, weight = np.repeat(pairs.slice_signs, pairs.slice_sizes), pairs.bound[rows]
    mean = np.add.reduceat(weight, places[:-1]) / sizes
    sides, bounds = np.zeros((2, 2 * len(rows)))
    # Both sides of a machine follow each other; each row has a bound on one of them.
    shift = np.where(pairs.slice_signs > 0, 0, np.repeat(sizes, 2)) + np.repeat(places[:-1], 2)
    bounds[np.arange(len(rows)) + np.repeat(shift, pairs.slice_sizes)] = weight / np.repeat(mean, sizes)
    there, diagonal = np.repeat((sizes == len(gram)).astype(np.uint8), sizes), gram.diagonal()[rows]
    beta, gradient, ends = np.empty(len(rows)), np.empty(len(rows)), np.empty((len(sizes), 9))

    def solve(part: Array) -> None:
        solve_nu_machines(
            gram, pairs.machine_slices, places, there, diagonal, sign, bounds, sides, True, share, beta, gradient, ends,
            part, control.tol, control.max_steps,
        )  # fmt: skip

    in_threads(
        solve, np.array_split(small, min(CHUNKS * worker_count(), len(small))), int(np.square(sizes[small]).sum())
    )
    solved = np.zeros(len(sizes), dtype=bool)
    solved[small] = True
    own = np.repeat(solved, sizes)
    found.machines.beta[rows[own], machine[own]] = beta[own]
    found.machines.put_ends(small, ends[:, :7])
    found.margin[small], found.clear[small] = ends[small, 7], ends[small, 8]


def _own_rows(pairs: ClassPairs, machine: int) -> tuple[Array, Array, Array]:
    """Rows of a machine, their signs and bounds. The unit of the bounds cancels in f/ρ, but affects `tol`."""
    own = pairs.rows(machine)
    return own, pairs.problem(machine).target, pairs.bound[own] / pairs.bound[own].mean()


def _problem(pairs: ClassPairs, machine: int, share: float) -> NuProblem:
    _, sign, bound = _own_rows(pairs, machine)
    return NuProblem.classification(sign, bound, share)


def _solve_one(pairs: ClassPairs, machine: int, share: float, kernel: Kernel, x: Any, control: Control) -> NuMinimum:
    """Solve one machine by SMO with a Gram matrix of its own."""
    own, problem = pairs.rows(machine), _problem(pairs, machine, share)
    part = x[own][:, own] if isinstance(kernel, Precomputed) else x[own]
    found = solve_nu(problem, kernel, part, control)
    if not found.has_margin:
        found = solve_nu(problem, kernel, part, replace(control, tol=CLOSER * control.tol), found)
    return found
