"""Normal equations of float32 rows with products in float32, which take half the time of those in float64.

Gradients in float64 bring back the digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.triangular import Factor, cholesky
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import Moments, MomentSums, digits_lost, sampled_shift

_EPS = float(np.finfo(np.float32).eps)
_FEWEST_COLUMNS = 128  # products of fewer cost little more than the passes that refine
_MOST_LOST = 0.03  # rounding, times the squared condition of the columns: a step leaves no more of an error
_LEAST, _MOST = 1e-24, 1e36  # sums of squares whose terms are all ordinary numbers in float32


def suits_single(design: Design, alpha: Array) -> bool:
    """Whether rows are float32 and products the bulk of the work, and all targets have the same penalty.

    Standard errors without a penalty are to have all digits.
    """
    single = isinstance(design, InMemory) and not design.is_sparse and design.dtype == np.float32
    return single and design.n_columns >= _FEWEST_COLUMNS and alpha[0] > 0 and bool((alpha == alpha[0]).all())


def equations_in_single(design: Design, fit_intercept: bool) -> NormalEquations | None:
    """The normal equations without penalty; None where float32 does not hold them, or NaN shows."""
    n_sums = design.n_columns + design.n_targets
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        shift = sampled_shift(design, sparse=False) if fit_intercept else np.zeros(n_sums)
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
    """The factor of such equations with their penalty, if it is good for steps of refinement."""
    factor = cholesky(equations.gram, equations.scale, _EPS)
    if factor is None or not _EPS * factor.condition**2 * equations.cancelled <= _MOST_LOST:
        return None
    return factor
