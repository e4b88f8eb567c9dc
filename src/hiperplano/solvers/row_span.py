"""Few rows with many columns: the same problem in the span of the rows, with no more parameters than rows.

The loss depends on the coefficients only through their products with rows, and the penalty is smallest if the
coefficients have no component orthogonal to the rows. So the minimum is unchanged: this is the kernel trick with the
linear kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.row_span import RowSpan
from hiperplano.solvers.cost import Costs

if TYPE_CHECKING:
    from hiperplano.solvers.objective import Objective

_FEWER = 2.0  # a pass over the rows must cost this multiple of a pass in the span
_MOST_ROWS = 12_000  # most rows, whose Gram matrix takes 1.1 GiB


def is_wide(design: Design, n_scores: int) -> bool:
    """Whether passes in the span of the rows are cheaper."""
    n = design.n_rows
    if n > _MOST_ROWS or n >= design.n_columns:
        return False
    return _FEWER * Costs(n, n, 1.0, n_scores).gradient_work <= Costs.of(design, n_scores).gradient_work


class SpannedRows:
    """Few rows in coordinates of their span, which preserve the norm of coefficients.

    Parameters
    ----------
    design : Design
        Design whose rows fit in memory.
    shift : ndarray of shape (d,)
        Subtracted from every row first; 0 without an intercept.
    vectors : tuple of str
        Names of row vectors to keep, besides target and weight.

    Attributes
    ----------
    design : InMemory
        The coordinates.
    """

    def __init__(self, design: Design, shift: Array, vectors: tuple[str, ...] = ()) -> None:
        here = design.sample(design.n_rows)
        self._shift, self._span = shift, RowSpan(here.arrays()[0] if here.is_sparse else here.dense(), shift)
        weight = here.collect(here.vector("weight")) if here.has_weight else None
        rows = InMemory(self._span.coordinates, here.collect(here.vector("y")), weight)
        self.design = rows.with_vectors(**{name: here.collect(here.vector(name)) for name in vectors})

    def reduce(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Coefficients of shape (k, rank) and intercepts with the same scores, from those of all columns."""
        return self._span.project(coef), intercept + coef @ self._shift

    def expand(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Coefficients of all columns and intercepts, from those of the span."""
        coef = self._span.coefficients(coef)
        return coef, intercept - coef @ self._shift


Problem = TypeVar("Problem", bound="Objective")


class InRowSpan(Generic[Problem]):
    """A problem in coordinates of the span of its rows.

    Parameters
    ----------
    problem : Objective
        Problem whose rows fit in memory.

    Attributes
    ----------
    problem : Objective
        The same problem with fewer parameters; rows are centred if there is an intercept.
    """

    def __init__(self, problem: Problem) -> None:
        self._scale = problem.scale
        self._rows = SpannedRows(problem.design, problem.scale.shift)
        rows = self._rows.design
        self.problem = problem.with_rows(rows, ColumnScale.exact(rows, self._scale.fit_intercept))

    def reduce(self, theta: Array) -> Array:
        """Parameters of the span with the same scores."""
        return self.problem.scale.parameters(*self._rows.reduce(*self._scale.coefficients(theta)))

    def expand(self, theta: Array) -> Array:
        """Parameters of all columns, from those of the span."""
        return self._scale.parameters(*self._rows.expand(*self.problem.scale.coefficients(theta)))
