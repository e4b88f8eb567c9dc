"""The result of kernel support vector machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.kernel.svm.decomposition import Minimum
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.small.loops import End
from hiperplano.solvers.solution import Solution

SMO = Message("SMO with working sets")
PLANES = Message("the linear solver in the features of the kernel")


@dataclass(frozen=True, repr=False)
class SupportVectorSolution(Solution):
    """A fit with its certificate: no function has an objective below `dual_objective`.

    Attributes
    ----------
    coef, intercept : ndarray of shape (machines, support vectors) and (machines,)
        Dual coefficients β: scores are Σ β·k(x, support vector) + intercept.
    n_iter : int
        SMO steps, or passes over the features of a kernel with few features; summed over all machines.
    objective, dual_objective : float
        ½‖f‖² + Σ C·weight·loss, summed over the machines, and the lower bound given by the dual coefficients.
    gap : float
        (objective − dual_objective) / objective, the worst of all machines.
    violation : float
        Largest violation of the optimality conditions by a pair of rows, which `tol` bounds.
    rounding : float
        Bound on the part of the violation, and so of scores near the margin, that is due to rounding of kernel values
        and their sums.
    n_support, n_bound : int
        Support vectors, and those among them at the bound C·weight in some machine.
    kernel : str
        Formula of the kernel.
    """

    dual_objective: float
    violation: float
    rounding: float
    n_support: int
    n_bound: int
    kernel: str


@dataclass(frozen=True)
class Machines:
    """Results of the machines of a model, one entry for each.

    Attributes
    ----------
    beta : ndarray of shape (n, machines)
        Dual coefficients; 0 for rows outside a machine.
    steps, violation, intercept : ndarray of shape (machines,)
    lower, gap : ndarray of shape (machines,)
        The dual objective and the duality gap.
    n_bound : ndarray of shape (machines,)
        Support vectors at their bound.
    rounding : ndarray of shape (machines,)
        Bound on the part of the violation that is due to rounding of kernel values and their sums.
    unbounded : ndarray of bool of shape (machines,)
        Whether C is infinite and no function fits the rows without loss.
    method : Message
        Name of the algorithm that the steps belong to.
    """

    beta: Array
    steps: Array
    violation: Array
    intercept: Array
    lower: Array
    gap: Array
    n_bound: Array
    rounding: Array
    unbounded: Array
    method: Message = SMO

    @classmethod
    def none(cls, n_rows: int, count: int, method: Message = SMO) -> Self:
        """Machines that are yet to be solved: all dual coefficients are 0, and the violation is infinite."""
        intercept, lower, gap, rounding = np.zeros((4, count))
        steps, n_bound = np.zeros((2, count), dtype=np.int64)
        violation, unbounded = np.full(count, np.inf), np.zeros(count, dtype=bool)
        return cls(
            np.zeros((n_rows, count)), steps, violation, intercept, lower, gap, n_bound, rounding, unbounded, method
        )  # fmt: skip

    @classmethod
    def of(
        cls,
        problems: Sequence[DualProblem],
        found: Sequence[Minimum],
        members: Sequence[Array],
        n_rows: int,
        method: Message = SMO,
    ) -> Self:
        """Collect single solutions.

        Parameters
        ----------
        members : sequence of ndarray of int
            Rows of each problem.
        """
        machines = cls.none(n_rows, len(found), method)
        for place, (problem, end, rows) in enumerate(zip(problems, found, members, strict=True)):
            machines.put(place, problem, end, rows)
        return machines

    @classmethod
    def alone(cls, beta: Array, end: End) -> Self:
        """Results of a model with one machine of all rows, from its compiled loop."""
        steps, violation, intercept, lower, gap, n_bound, rounding = (np.array([figure]) for figure in end)
        unbounded = np.zeros(1, dtype=bool)
        return cls(beta[:, None], steps, violation, intercept, lower, gap, n_bound, rounding, unbounded)

    def put_ends(self, places: Array, ends: Array) -> None:
        """Set the figures of some machines, stored by a compiled loop as the rows of an array."""
        for values, figures in zip(
            (self.steps, self.violation, self.intercept, self.lower, self.gap, self.n_bound, self.rounding),
            ends.T,
            strict=True,
        ):
            values[places] = figures[places]

    def put(self, place: int, problem: DualProblem, end: Minimum, rows: Array) -> None:
        """Set one of the machines."""
        beta = end.beta
        self.beta[rows, place] = beta
        self.steps[place] += end.steps
        self.violation[place], self.intercept[place] = end.violation, end.intercept
        self.rounding[place], self.unbounded[place] = end.rounding, end.unbounded
        self.lower[place] = -problem.value(beta, end.gradient)
        self.gap[place] = problem.gap(beta, end.gradient, end.intercept)
        self.n_bound[place] = ((beta != 0) & ((beta <= problem.low) | (beta >= problem.high))).sum()


def verdict(machines: Machines, coef: Array, kernel: str, tol: float, max_steps: int) -> SupportVectorSolution:
    """The solution of all machines of a model, with its status message."""
    lower, gaps = machines.lower, machines.gap
    size = np.maximum(np.abs(lower + gaps), np.finfo(float).tiny)
    violation, steps, bound = float(machines.violation.max()), int(machines.steps.sum()), int(machines.n_bound.sum())
    gap = float((gaps / size).max())
    n_support = coef.shape[1]
    converged = violation <= tol
    if converged:
        status = Message(
            "Solved by {method} in {steps} steps with {n_support} support vectors; the largest violation of the "
            "optimality conditions is {violation:.1e}, the relative duality gap {gap:.1e}.",
            method=machines.method, steps=steps, n_support=n_support, violation=violation, gap=gap,
        )  # fmt: skip
    elif machines.unbounded.any():
        status = Message(
            "{method} ended after {steps} steps: C=inf allows no loss, and the dual coefficients prove that no "
            "function of this kernel, as far as float64 can tell, fits the rows without one. Take a finite C, or a "
            "kernel of more features.",
            method=machines.method, steps=steps,
        )  # fmt: skip
    else:
        reason = Message("rounding, or kernel values of very different sizes, stopped all progress")
        if machines.steps.max() >= max_steps:
            reason = Message("max_iter={max_steps} steps were made", max_steps=max_steps)
        status = Message(
            "{method} ended after {steps} steps with a violation of the optimality conditions of {violation:.1e}, "
            "above tol={tol:g}, and a relative duality gap of {gap:.1e}: {reason}. Standardise the columns "
            "(sklearn.preprocessing.StandardScaler), take a smaller C, or raise max_iter, or tol if that is accurate "
            "enough.",
            method=machines.method, steps=steps, violation=violation, tol=tol, gap=gap, reason=reason,
        )  # fmt: skip
    return SupportVectorSolution(
        coef=coef,
        intercept=machines.intercept,
        method=machines.method,
        n_iter=steps,
        objective=float((lower + gaps).sum()),
        gap=gap,
        converged=converged,
        status=status,
        dual_objective=float(lower.sum()),
        violation=violation,
        rounding=float(machines.rounding.max()),
        n_support=n_support,
        n_bound=bound,
        kernel=kernel,
    )
