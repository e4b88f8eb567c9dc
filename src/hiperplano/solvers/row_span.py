"""Few rows with many columns: the same problem in the span of the rows, where it has no more parameters than rows.

The loss depends on coefficients through their products with rows, and the penalty is smallest without a part that
is orthogonal to all of them. So nothing is lost: it is the kernel trick with the linear kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.row_span import RowSpan

if TYPE_CHECKING:
    from hiperplano.solvers.objective import Objective

_FEWER = 2.0  # times as many stored numbers as products of rows, so that a pass costs less afterwards
_MOST_ROWS = 12_000  # whose products take 1.1 GiB


def is_wide(problem: Objective) -> bool:
    """Whether passes in the span of the rows cost less."""
    n, stored = problem.design.n_rows, problem.design.density * problem.design.n_columns
    return n <= _MOST_ROWS and _FEWER * n <= stored


Problem = TypeVar("Problem", bound="Objective")


class InRowSpan(Generic[Problem]):
    """A problem in coordinates of the span of its rows.

    Parameters
    ----------
    problem : Objective
        Whose rows fit in memory.

    Attributes
    ----------
    problem : Objective
        The same with fewer parameters: rows are centred if there is an intercept.
    """

    def __init__(self, problem: Problem) -> None:
        self._scale = problem.scale
        here = problem.design.sample(problem.design.n_rows)
        self._span = RowSpan(np.ascontiguousarray(here.dense() - self._scale.shift))
        weight = here.collect(here.vector("weight")) if here.has_weight else None
        rows = InMemory(self._span.coordinates, here.collect(here.vector("y")), weight)
        self.problem = problem.with_rows(rows, ColumnScale.exact(rows, self._scale.fit_intercept))

    def reduce(self, theta: Array) -> Array:
        """Parameters of the span with the same scores."""
        coef, intercept = self._scale.coefficients(theta)
        return self.problem.scale.parameters(self._span.project(coef), intercept + coef @ self._scale.shift)

    def expand(self, theta: Array) -> Array:
        """Parameters of all columns, from those of the span."""
        v, level = self.problem.scale.coefficients(theta)
        coef = self._span.coefficients(v)
        return self._scale.parameters(coef, level - coef @ self._scale.shift)
