"""The result of kernel ridge or kernel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, field

from hiperplano.data.design import Array
from hiperplano.solvers.solution import Solution


@dataclass(frozen=True, repr=False)
class KernelSolution(Solution):
    """A fit in the span of kernel functions: f(x) = Σᵢ coefᵢ·k(x, xᵢ) + intercept.

    Attributes
    ----------
    coef, intercept : ndarray of shape (targets, rows) and (targets,)
        Coefficients of the training rows, or of the centres, and intercepts.
    gap : float
        Norm of the residual, relative to that of the right-hand side; the largest of all targets.
    kernel : str
        Formula of the kernel.
    rows : ndarray of int or None
        Numbers of the training rows that are centres; None if all are.
    approximation_cost : float or None
        Of an approximate solver: estimated excess of its objective over that of the exact fit, relative to it. Apart
        from the sampling error, it is an upper bound.
    """

    kernel: str
    rows: Array | None = field(default=None, repr=False)
    approximation_cost: float | None = None
