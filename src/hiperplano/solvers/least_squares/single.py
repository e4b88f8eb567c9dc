"""Normal equations with products in float32, which take half the time of float64.

Refinement by gradients in float64 restores the digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.triangular import Factor, cholesky
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import Moments, MomentSums, digits_lost, sampled_shift

_EPS = float(np.finfo(np.float32).eps)
_SAMPLE_ROWS = 2  # rows for each column, in a sample that tells whether float32 is accurate enough
# Bound of the share of an error that a refinement step may leave: float32 rounding × condition number². Steps mostly
# leave a tenth of it or less; if one leaves more than `SLOW`, the solution is left to products in float64.
_MOST_LOST = 0.3
_LEAST, _MOST = 1e-24, 1e36  # sums of squares between these bounds neither underflow nor overflow in float32


def suits_single(design: Design, alpha: Array, fit_intercept: bool) -> bool:
    """Whether products of columns in float32 are expected to be faster, and accurate enough.

    Fits without a penalty use float64, since their standard errors must be accurate. For float64 rows, a sample is
    tested first, since products in float32 that turn out to be too inaccurate would have to be repeated.
    """
    if not isinstance(design, InMemory) or design.is_sparse or not (alpha[0] > 0 and bool((alpha == alpha[0]).all())):
        return False
    costs = Costs.of(design, design.n_targets)
    if design.dtype == np.float32:
        return costs.saved_by_rounding > 0
    size = _SAMPLE_ROWS * design.n_columns
    if not costs.worth_a_look(costs.saved_by_rounding, Costs.of(design, 1, size).rounded_hessian):
        return False
    sample = design.some_rows(size)
    plain, share = equations_in_single(sample, fit_intercept), sample.n_rows / design.n_rows
    return plain is not None and factor_in_single(plain.penalised(share * alpha[0])) is not None


def equations_in_single(design: Design, fit_intercept: bool) -> NormalEquations | None:
    """The normal equations without a penalty; None if float32 underflows or overflows, or if there is a NaN."""
    n_sums = design.n_columns + design.n_targets
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        shift = sampled_shift(design, sparse=False) if fit_intercept else np.zeros(n_sums)
        shift[: design.n_columns] = shift[: design.n_columns].astype(np.float32)  # as it is subtracted from the rows
        (raw,) = design.fold(MomentSums(shift, sparse=False, n_groups=0, dtype=np.float32))
        squares = raw.diagonal()[1 : design.n_columns + 1]
        if not ((squares > _LEAST).all() and raw.diagonal().max() < _MOST) or (fit_intercept and digits_lost(raw)):
            return None
    ends = np.concatenate([[0], np.arange(design.n_columns + 1, len(raw))])
    raw[np.ix_(ends, ends)] = design.fold(_TargetMoments(shift[design.n_columns :]))[0]  # these cost nothing
    return NormalEquations.of(Moments(raw, design.n_targets, shift), fit_intercept)


@dataclass(frozen=True)
class _TargetMoments:
    """Σ w·v·vᵀ of v = [1, y − shift]."""

    reads_rows = False
    shift: Array

    def __call__(self, block: Block) -> Sums:
        small = np.column_stack([np.ones(len(block)), block.y - self.shift])
        return (small.T @ block.weighted(small),)


def factor_in_single(equations: NormalEquations) -> Factor | None:
    """Factor of such equations with their penalty; None if it is too inaccurate for refinement."""
    factor = cholesky(equations.gram, equations.scale, _EPS)
    if factor is None or not _EPS * factor.condition**2 * equations.cancelled <= _MOST_LOST:
        return None
    return factor
