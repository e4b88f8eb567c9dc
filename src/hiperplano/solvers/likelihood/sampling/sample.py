"""Draw a sample of the rows, for a starting point and a preconditioner."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.objective import Objective
from hiperplano.solvers.statistics import SPARSE_PRODUCTS, NonFiniteRows

MOST_PARAMETERS = 4_000  # most parameters for which a Hessian is computed, which takes 128 MB
FEWEST = 4_000  # least number of rows in a sample
# A sample has at least 30 rows for each parameter and an eighth of all rows, but at most 2²³ numbers.
_PER_PARAMETER, _SHARE, _CELLS = 30, 8, 2**23
# Of two classes: Newton steps that solve a sample; without one, passes before the Hessian; and the logarithms of the
# factors by which all passes, and a pass with a Hessian from near the solution, shrink the gradient.
_SAMPLE_STEPS, _FIRST_PASSES, _DIGITS, NEWTON_PACE = 4.0, 2.0, 18.0, 5.0
_UNEVEN = 10.0  # if the largest squared length of a row exceeds this multiple of the mean, rows are drawn by length


def first_sample(design: Design, n_scores: int) -> InMemory | None:
    """A sample for a starting point; None if there are too many parameters, or too few rows to save passes."""
    size = sample_size(design, n_scores)
    return None if size is None else design.sample(size)


def starting_sample(design: Design, n_scores: int) -> InMemory | None:
    """The same for a single fit; None, too, if a Hessian of all rows is expected to take less time."""
    size = sample_size(design, n_scores)
    if size is None or (n_scores == 1 and isinstance(design, InMemory) and _all_rows_are_faster(design, size)):
        return None
    return design.sample(size)


def _all_rows_are_faster(design: InMemory, size: int) -> bool:
    """Whether two classes take less time with a Hessian of all rows than with the solution of a sample.

    The Hessian of the sample leaves a larger share of the gradient in each pass; but no pass is needed to get near the
    solution, which is about as accurate as a step with that Hessian.
    """
    every, part = Costs.of(design, 1), Costs.of(design, 1, size)
    passes = _DIGITS / sample_pace(part)
    by_sample = _SAMPLE_STEPS * part.hessian + (passes - 1.0) * every.gradient
    single = not design.is_sparse and every.passes_to_single(design.dtype == np.float32, cast=True) < math.inf
    hessian = every.rounded_hessian if single else every.hessian
    return hessian + (_FIRST_PASSES + _DIGITS / NEWTON_PACE) * every.gradient < by_sample


def sample_pace(costs: Costs) -> float:
    """Logarithm of the factor by which a pass with the Hessian of a sample of this shape shrinks the gradient.

    Eigenvalues of that Hessian, relative to that of all rows, lie within (1 ± √(parameters/rows))².
    """
    return 0.5 * math.log(costs.n_rows / (costs.n_scores * costs.n_columns))


def sample_size(design: Design, n_scores: int) -> int | None:
    """Number of rows that `first_sample` draws, or None."""
    parameters = n_scores * (design.n_columns + 1)
    size = max(FEWEST, _PER_PARAMETER * parameters, design.n_rows // _SHARE)
    cells = 1 + design.n_columns * (design.density if design.density < SPARSE_PRODUCTS else 1.0)  # numbers in a row
    size = min(size, max(FEWEST, int(_CELLS / cells)))
    return None if parameters > MOST_PARAMETERS or 3 * size > design.n_rows else size


def is_uneven(scale: ColumnScale, sample: Design) -> bool:
    """Whether some rows are so long, in standardised columns, that they dominate the Hessian."""
    lengths = sample.collect(sample.map(SquaredLengths(scale)))
    return bool(lengths.max() > _UNEVEN * lengths.mean())


def sample_by_length(problem: Objective, size: int) -> InMemory:
    """Draw about `size` rows, with larger probabilities for long rows.

    Outliers and rows of rare categories dominate the Hessian. So probabilities depend on the squared length of rows in
    standardised columns, and the weights are divided by these probabilities.
    """
    design = problem.design
    (total,), kept = design.fold_and_map(_SummedLengths(SquaredLengths(problem.scale)))
    problem.passes += 1
    if problem.check_finite and not np.isfinite(total[0]):
        raise NonFiniteRows
    drawn = design.with_vectors(length=kept["length"], uniform=np.random.default_rng(0).random(design.n_rows))
    chance = _Chance(size, 0.5 / design.n_rows, 0.5 / float(total[0]))
    drawn = drawn.with_vectors(weight=drawn.map(_InverseChance(chance)))
    return drawn.gather(drawn.map(_Drawn(chance)))


@dataclass(frozen=True)
class SquaredLengths:
    """‖z‖² of each row, in standardised columns."""

    stays_sparse = True  # sparse rows are never centred
    scale: ColumnScale

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        shift, scale = self.scale.shift, self.scale.scale
        if self.scale.centre_rows:
            return xp.asarray(xp.square((block.dense() - shift) * scale).sum(axis=1))
        # ‖x·s‖² − 2·x·(shift·s²) + ‖shift·s‖², without a dense matrix or a copy of the rows
        inner = block.weighted_row_squares(scale**2)
        inner -= block.dot(2.0 * shift * scale**2)
        inner += xp.sum(xp.square(shift * scale))
        return xp.asarray(xp.maximum(inner, 0.0))


@dataclass(frozen=True)
class _SummedLengths:
    """Sum of the squared lengths. Keeps the length of each row."""

    lengths: SquaredLengths

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        length = self.lengths(block)
        return (length.sum()[None],), {"length": length}


@dataclass(frozen=True)
class _Chance:
    """Probability of a row: one half is the same for all, the other is proportional to its squared length."""

    size: int
    evenly: float
    by_length: float

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.minimum(1.0, self.size * (self.evenly + self.by_length * block.vectors["length"]))


@dataclass(frozen=True)
class _InverseChance:
    """Weight of a row in the sample: its weight divided by its probability."""

    reads_rows = False
    chance: _Chance

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.weights / self.chance(block))


@dataclass(frozen=True)
class _Drawn:
    """Whether a row is in the sample."""

    reads_rows = False
    chance: _Chance

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.vectors["uniform"] < self.chance(block))
