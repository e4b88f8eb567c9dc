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
        `rows` are those of the fit, or the centres.
    gap : float
        Length of the residual of the equations, relative to their right side; the worst of all targets.
    kernel : str
        The formula.
    rows : ndarray of int or None
        Numbers of the rows of the fit that are centres; None if all are.
    approximation_cost : float or None
        Of an approximate solver: an estimate of how far its objective lies above that of the exact fit, relative to
        it. An upper bound but for the error of sampling.
    """

    kernel: str
    rows: Array | None = field(default=None, repr=False)
    approximation_cost: float | None = None
