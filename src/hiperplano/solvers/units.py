"""Targets and weights in units whose squares are representable, and a solution brought back from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.solvers.solution import LeastSquaresSolution, penalised_sum

_SAFE = 2.0**200  # products of four such numbers, or of their inverses, stay inside float64


@dataclass(frozen=True)
class Units:
    """Powers of two by which targets, of shape (targets,), and weights were divided."""

    target: Array
    weight: float

    @classmethod
    def of(cls, design: Design) -> Units:
        weight = 1.0 if design.weight is None else float(_power(design.weight.max(keepdims=True), 2)[0])
        return cls(_power(np.abs(design.y).max(axis=0), 1), weight)

    @property
    def plain(self) -> bool:
        return self.weight == 1.0 and bool((self.target == 1.0).all())

    def apply(self, design: Design) -> Design:
        weight = None if design.weight is None else design.weight / self.weight
        return design.with_target(design.y / self.target, weight)

    def undo(self, solution: LeastSquaresSolution) -> LeastSquaresSolution:
        """The same solution in the units of the data; sums of squares beyond float64 become infinite."""
        with np.errstate(over="ignore", under="ignore"):
            rss, tss = (sums * self.target**2 * self.weight for sums in (solution.rss, solution.tss))
            coef = solution.coef * self.target[:, None]
            alpha = solution.alpha * self.weight
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


def _power(size: Array, root: int) -> Array:
    """One where a size is safe, otherwise a power of two near it, with an exponent divisible by `root`."""
    extreme = (size > _SAFE) | ((size < 1.0 / _SAFE) & (size > 0))
    if not extreme.any():
        return np.ones_like(size)
    exponent = np.frexp(size)[1] // root * root
    return np.ldexp(1.0, np.where(extreme, np.minimum(exponent, 1022), 0))


def without_ignored_targets(design: Design) -> Design:
    """Zeros for the targets of rows without weight, so that no number there can matter."""
    if design.weight is None or design.weight.all():
        return design
    return design.with_target(np.where(design.weight[:, None] > 0, design.y, 0.0), design.weight)
