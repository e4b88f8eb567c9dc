"""Choose the rows to hold out, by the content of each row and not by its position.

Equal rows go to the same side. So no row is judged by a model that learnt from its copy, a weight of 2 counts as two
rows, and neither the order of the rows nor their storage format matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.block import Array, Block
from hiperplano.data.in_memory import InMemory

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, with no regular bit pattern
_HALF = np.uint64(32)


def hold_out(memory: InMemory, groups: Array, share: float, seed: int) -> Array:
    """Return a mask of the rows to hold out, of shape (n,); the model learns from the others.

    In every group, rows with about a `share` of the group's weight are held out: at least one row, and never all of
    them. A group whose rows are all equal is not split.

    Parameters
    ----------
    groups : ndarray of shape (n,)
        Group number of each row (its class).
    """
    factors = np.random.default_rng(0).integers(2**63, size=memory.n_columns, dtype=np.uint64) | np.uint64(1)
    contents = memory.collect(memory.map(_RowHash(factors)))
    contents = _mixed(contents ^ _mixed(np.full(1, seed + 1, dtype=np.uint64)))
    weight = np.ones(memory.n_rows) if memory.weight is None else memory.weight
    held = np.zeros(memory.n_rows, dtype=bool)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        kinds, kind = np.unique(contents[rows], return_inverse=True)  # np.unique sorts by hash, which is a random order
        if len(kinds) < 2:
            continue
        mass = np.bincount(kind, weights=weight[rows])
        chosen = np.cumsum(mass) - 0.5 * mass < share * mass.sum()
        chosen[0], chosen[-1] = True, False
        held[rows] = chosen[kind]
    return held


@dataclass(frozen=True)
class _RowHash:
    """Hash of every row, from its values, column numbers and target.

    Zeros contribute nothing, so dense and sparse rows agree.
    """

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
    """View float64 numbers as integers, with −0 as 0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(numbers: Array) -> Array:
    """Mix bits so that every bit of the result depends on all bits of the input; 0 stays 0."""
    for _ in range(2):
        numbers = (numbers ^ (numbers >> _HALF)) * _MULTIPLIER
    return np.asarray(numbers ^ (numbers >> _HALF))
