"""Some of the rows, for a first solution and for the metric of all."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Block, Design
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.statistics import NonFiniteRows

MOST_PARAMETERS = 4_000  # a Hessian of 128 MiB
FEWEST = 4_000
_PER_PARAMETER, _SHARE, _CELLS = 30, 8, 2**23  # rows for each parameter, one row of so many, and not more than that
_SPREAD_CELLS = 2**21
_UNEVEN = 10.0  # largest squared length of a row over the mean of all, beyond which rows are drawn by it


def sample_of(design: Design, rows: Array | slice, weight: Array | None = None) -> Design:
    """Some rows as a design of their own, with their own weights or those given."""
    if weight is None and design.weight is not None:
        weight = design.weight[rows]
    return type(design)(design.take(rows), design.y[rows], weight)


def some_rows(design: Design, size: int) -> Design:
    """So many rows by chance, or all if there are no more."""
    rows = np.random.default_rng(0).choice(design.n_rows, min(size, design.n_rows), replace=False, shuffle=False)
    return sample_of(design, np.sort(rows))


def first_sample(design: Design, n_scores: int) -> Design | None:
    """Rows for a first solution, or None where that would not save a pass."""
    parameters = n_scores * (design.n_columns + 1)
    size = max(FEWEST, _PER_PARAMETER * parameters, design.n_rows // _SHARE)
    size = min(size, max(FEWEST, _CELLS // (design.n_columns + 1)))
    return None if parameters > MOST_PARAMETERS or 3 * size > design.n_rows else some_rows(design, size)


def for_spread(design: Design) -> Design:
    """All rows, or so many that they tell the spread of columns well enough for a scale."""
    if not isinstance(design.x, np.ndarray):  # few rows would show few of the columns
        return design
    return sample_of(design, slice(None, None, max(1, design.n_rows * design.n_columns // _SPREAD_CELLS)))


def telling_rows(problem: Likelihood, sample: Design) -> tuple[Array, Array] | None:
    """None, or where some rows weigh much more in the Hessian than others, rows with those among them, and weights.

    Rows far out and rows of rare categories decide the Hessian. So they are drawn by their squared length in scaled
    coordinates, and weighted by the inverse of their chance.
    """
    design = problem.design
    lengths = _squared_lengths(problem, sample)
    if lengths.max() <= _UNEVEN * lengths.mean():
        return None
    lengths = _squared_lengths(problem, design)
    problem.passes += 1
    if not np.isfinite(lengths.sum()):
        if problem.watchful:
            raise NonFiniteRows
        return None  # finite rows, so far out that their squares are not
    chance = np.minimum(1.0, sample.n_rows * (0.5 / design.n_rows + 0.5 * lengths / lengths.sum()))
    drawn = np.flatnonzero(np.random.default_rng(0).random(design.n_rows) < chance)
    weight = np.ones(len(drawn)) if design.weight is None else design.weight[drawn]
    return drawn, weight / chance[drawn]


def _squared_lengths(problem: Likelihood, design: Design) -> Array:
    """‖(x − shift)·scale‖² of every row."""
    shift, scale = problem.coordinates.shift, problem.coordinates.scale
    expanded = problem.coordinates.tame and not problem.coordinates.centring
    squared_scale, twice, constant = scale**2, 2.0 * shift * scale**2, np.sum(np.square(shift * scale))

    def lengths(block: Block) -> Array:
        if isinstance(block.x, np.ndarray) and not expanded:
            return np.asarray(np.square((block.x - shift) * scale).sum(axis=1))
        # ‖x·s‖² − 2·x·(shift·s²) + ‖shift·s‖², without making the rows dense, or a copy of them
        if isinstance(block.x, np.ndarray):
            inner = np.einsum("ij,ij,j->i", block.x, block.x, squared_scale)
        else:
            inner = block.x.multiply(block.x) @ squared_scale
        inner -= block.x @ twice
        inner += constant
        return np.asarray(np.maximum(inner, 0.0))

    return design.map_rows(lengths, np.empty(design.n_rows))
