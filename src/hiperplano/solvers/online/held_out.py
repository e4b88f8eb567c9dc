"""Which rows to hold out: a draw by what rows contain, not by where they lie.

Equal rows go to the same side. So no row is judged by its own copy, a weight of 2 is two rows here too, and neither the
order of the rows nor how they are stored matters.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Design

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, without pattern in its bits
_HALF = np.uint64(32)


def hold_out(design: Design, groups: Array, share: float, seed: int) -> tuple[Array, Array]:
    """Numbers of the rows to learn from, and of those to judge by.

    Of the weight of every group a `share` is held out, as nearly as whole rows allow, but at least one row; and at
    least one is left. A group whose rows are all alike stays whole.
    """
    contents = _mixed(_contents(design) ^ _mixed(np.full(1, seed + 1, dtype=np.uint64)))
    weight = np.ones(design.n_rows) if design.weight is None else design.weight
    held = np.zeros(design.n_rows, dtype=bool)
    for group in np.unique(groups):
        rows = np.flatnonzero((groups == group) & (weight > 0))
        kinds, kind = np.unique(contents[rows], return_inverse=True)  # sorted by a random number
        if len(kinds) < 2:
            continue
        mass = np.bincount(kind, weights=weight[rows])
        chosen = np.cumsum(mass) - 0.5 * mass < share * mass.sum()
        chosen[0], chosen[-1] = True, False
        held[rows] = chosen[kind]
    return np.flatnonzero(~held), np.flatnonzero(held)


def _contents(design: Design) -> Array:
    """A number for every row that depends on its values, columns and target only; zeros add nothing to it."""
    factors = np.random.default_rng(0).integers(2**63, size=design.n_columns, dtype=np.uint64) | np.uint64(1)
    found = np.zeros(design.n_rows, dtype=np.uint64)
    if design.y.dtype.kind == "f":
        found += _mixed(_bits(design.y[:, 0]))
    for where in design.slices():
        block = design.block(where)
        if isinstance(block.x, np.ndarray):
            found[where] += np.add.reduce(_mixed(_bits(block.x) * factors), axis=1)
            continue
        terms = _mixed(_bits(block.x.data) * factors[block.x.indices])
        filled = np.diff(block.x.indptr) > 0
        if filled.any():
            found[where][filled] += np.add.reduceat(terms, block.x.indptr[:-1][filled])
    return found


def _bits(values: Array) -> Array:
    """float64 numbers as whole ones; −0 as 0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(numbers: Array) -> Array:
    """Every bit of the result depends on all bits; 0 stays 0."""
    for _ in range(2):
        numbers = (numbers ^ (numbers >> _HALF)) * _SPREAD
    return np.asarray(numbers ^ (numbers >> _HALF))
