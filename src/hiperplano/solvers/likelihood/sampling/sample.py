"""A sample of the rows, for a first solution and for a preconditioner of the whole problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.solvers.objective import Objective
from hiperplano.solvers.statistics import SPARSE_PRODUCTS, NonFiniteRows

MOST_PARAMETERS = 4_000  # a Hessian of 128 MiB
FEWEST = 4_000
_PER_PARAMETER, _SHARE, _CELLS = 30, 8, 2**23  # rows for each parameter, one row of so many, and not more than that
_UNEVEN = 10.0  # largest squared length of a row over the mean of all, beyond which rows are drawn by it


def first_sample(design: Design, n_scores: int) -> InMemory | None:
    """Rows for a first solution, or None where that would not save a pass."""
    size = sample_size(design, n_scores)
    return None if size is None else design.sample(size)


def sample_size(design: Design, n_scores: int) -> int | None:
    """How many rows `first_sample` draws."""
    parameters = n_scores * (design.n_columns + 1)
    size = max(FEWEST, _PER_PARAMETER * parameters, design.n_rows // _SHARE)
    cells = 1 + design.n_columns * (design.density if design.density < SPARSE_PRODUCTS else 1.0)  # of a row
    size = min(size, max(FEWEST, int(_CELLS / cells)))
    return None if parameters > MOST_PARAMETERS or 3 * size > design.n_rows else size


def is_uneven(scale: ColumnScale, sample: Design) -> bool:
    """Whether some rows are so long, in standardised columns, that they decide the Hessian."""
    lengths = sample.collect(sample.map(SquaredLengths(scale)))
    return bool(lengths.max() > _UNEVEN * lengths.mean())


def sample_by_length(problem: Objective, size: int) -> InMemory:
    """About `size` rows, the long ones among them.

    Rows far out and rows of rare categories decide the Hessian. So rows are drawn by their squared length in
    standardised columns, and weighted by the inverse of their chance.
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
    """‖z‖² of every row, in standardised columns."""

    scale: ColumnScale

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        shift, scale = self.scale.shift, self.scale.scale
        if self.scale.centre_rows:
            return xp.asarray(xp.square((block.dense() - shift) * scale).sum(axis=1))
        # ‖x·s‖² − 2·x·(shift·s²) + ‖shift·s‖², without making the rows dense, or a copy of them
        inner = block.weighted_row_squares(scale**2)
        inner -= block.dot(2.0 * shift * scale**2)
        inner += xp.sum(xp.square(shift * scale))
        return xp.asarray(xp.maximum(inner, 0.0))


@dataclass(frozen=True)
class _SummedLengths:
    """Σ of the squared lengths, which are kept."""

    lengths: SquaredLengths

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        length = self.lengths(block)
        return (length.sum()[None],), {"length": length}


@dataclass(frozen=True)
class _Chance:
    """By which a row is drawn: half evenly, half by its squared length."""

    size: int
    evenly: float
    by_length: float

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.minimum(1.0, self.size * (self.evenly + self.by_length * block.vectors["length"]))


@dataclass(frozen=True)
class _InverseChance:
    """The weight of a row that was drawn."""

    reads_rows = False
    chance: _Chance

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.weights / self.chance(block))


@dataclass(frozen=True)
class _Drawn:
    """Whether a row is drawn."""

    reads_rows = False
    chance: _Chance

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.vectors["uniform"] < self.chance(block))
