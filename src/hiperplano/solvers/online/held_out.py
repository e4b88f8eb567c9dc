"""Which rows to hold out: a draw by the content of rows, not by their position.

Equal rows go to the same side. So no row is judged by its own copy, a weight of 2 is two rows here too, and neither the
order of the rows nor how they are stored matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.in_memory import InMemory

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, without pattern in its bits
_HALF = np.uint64(32)


def hold_out(memory: InMemory, groups: Array, share: float, seed: int) -> Array:
    """Which rows to hold out, of shape (n,); the model learns from the others.

    Of the weight of every group a `share` is held out, as nearly as whole rows allow, but at least one row; and at
    least one is left. A group whose rows are all alike stays whole.

    Parameters
    ----------
    groups : ndarray of shape (n,)
        Of which group each row is: the number of its class.
    """
    factors = np.random.default_rng(0).integers(2**63, size=memory.n_columns, dtype=np.uint64) | np.uint64(1)
    contents = memory.collect(memory.map(_RowHash(factors)))
    contents = _mixed(contents ^ _mixed(np.full(1, seed + 1, dtype=np.uint64)))
    weight = np.ones(memory.n_rows) if memory.weight is None else memory.weight
    held = np.zeros(memory.n_rows, dtype=bool)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        kinds, kind = np.unique(contents[rows], return_inverse=True)  # sorted by a random number
        if len(kinds) < 2:
            continue
        mass = np.bincount(kind, weights=weight[rows])
        chosen = np.cumsum(mass) - 0.5 * mass < share * mass.sum()
        chosen[0], chosen[-1] = True, False
        held[rows] = chosen[kind]
    return held


@dataclass(frozen=True)
class _RowHash:
    """A number for every row that depends on its values, columns and target only; zeros add nothing to it."""

    factors: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        found = xp.zeros(len(block), dtype=np.uint64)
        if block.y.dtype.kind == "f":
            found += _mixed(_bits(block.y[:, 0]))
        if not block.is_sparse:
            return xp.asarray(found + xp.add.reduce(_mixed(_bits(block.x) * self.factors), axis=1))
        terms = _mixed(_bits(block.x.data) * self.factors[block.x.indices])
        filled = np.diff(block.x.indptr) > 0
        if filled.any():
            found[filled] += xp.add.reduceat(terms, block.x.indptr[:-1][filled])
        return found


def _bits(values: Array) -> Array:
    """float64 numbers as whole ones; −0 as 0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(numbers: Array) -> Array:
    """Every bit of the result depends on all bits; 0 stays 0."""
    for _ in range(2):
        numbers = (numbers ^ (numbers >> _HALF)) * _MULTIPLIER
    return np.asarray(numbers ^ (numbers >> _HALF))
