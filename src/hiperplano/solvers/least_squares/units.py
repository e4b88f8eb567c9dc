"""Targets and weights in units whose squares are representable, and a solution brought back from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.solvers.least_squares.solution import LeastSquaresSolution, penalised_sum

_SAFE = 2.0**200  # squares of such numbers, or of their inverses, times a weight, stay inside float64
_SAFE_WEIGHT = 2.0**100  # weights are brought no further than here: a penalty is divided by the same


@dataclass(frozen=True)
class Units:
    """Powers of two by which targets, of shape (targets,), and weights were divided."""

    target: Array
    weight: float

    @classmethod
    def of(cls, design: Design) -> Units:
        size = np.abs(design.y).max(axis=0)
        extreme = (size > _SAFE) | ((size < 1.0 / _SAFE) & (size > 0))
        target = np.ldexp(1.0, np.where(extreme, np.frexp(size)[1] - 1, 0)) if extreme.any() else np.ones_like(size)
        return cls(target, 1.0 if design.weight is None else _weight_unit(float(design.weight.max())))

    @property
    def plain(self) -> bool:
        return self.weight == 1.0 and bool((self.target == 1.0).all())

    def apply(self, design: Design) -> Design:
        weight = None if design.weight is None else design.weight / self.weight
        return design.with_target(design.y / self.target, weight)

    def undo(self, solution: LeastSquaresSolution) -> LeastSquaresSolution:
        """The same solution in the units of the data; sums of squares beyond float64 become infinite."""
        with np.errstate(over="ignore", under="ignore"):
            rss, tss = (sums * self.target * self.target * self.weight for sums in (solution.rss, solution.tss))
            coef, alpha = solution.coef * self.target[:, None], solution.alpha * self.weight
            factor, columns, root = solution.factor, solution.columns, np.sqrt(self.weight)
            return replace(
                solution,
                coef=coef,
                intercept=solution.intercept * self.target,
                objective=penalised_sum(rss, alpha, coef),
                rss=rss,
                tss=tss,
                scale=solution.scale / root,
                total=solution.total * self.weight,
                alpha=alpha,
                factor=None if factor is None else replace(factor, scale=factor.scale / root),
                columns=None if columns is None else replace(columns, scale=columns.scale / root),
            )


def _weight_unit(size: float) -> float:
    """A power of four that brings the largest weight to a safe size; one if it is."""
    exponent = math.frexp(size)[1]
    beyond = exponent - int(np.clip(exponent, -math.log2(_SAFE_WEIGHT), math.log2(_SAFE_WEIGHT)))
    return math.ldexp(1.0, beyond // 2 * 2)


def with_safe_weights(design: Design, alphas: Array) -> tuple[Design, Array]:
    """The same problem with weights, and penalties, divided by a power of two where weights are extreme."""
    unit = 1.0 if design.weight is None else _weight_unit(float(design.weight.max()))
    if design.weight is None or unit == 1.0:
        return design, alphas
    return design.with_target(design.y, design.weight / unit), alphas / unit


def without_ignored_targets(design: Design) -> Design:
    """Zeros for the targets of rows without weight, so that no number there can matter."""
    if design.weight is None or design.weight.all():
        return design
    return design.with_target(np.where(design.weight[:, None] > 0, design.y, 0.0), design.weight)
