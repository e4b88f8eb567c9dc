"""Columns that nearly depend on each other, brought to coordinates in which they do not.

A Hessian squares the condition of the columns: from 3·10⁶ on it cannot tell a direction along which rows hardly vary
from one along which they do not vary at all. The rows themselves can, up to 10¹⁰.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.orthogonal import merge_triangles, triangle_of
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.metric import SINGULAR, at_unit_diagonal

_EPS = float(np.finfo(float).eps)
_THERE = 1e-10  # length of a direction, columns at unit length, from which on it is more than rounding


def hides_directions(problem: Likelihood, hessian: Array) -> bool:
    """Whether rows vary along a direction that the Hessian is blind to."""
    unit, root = at_unit_diagonal(_of_one_contrast(problem, hessian))
    values, vectors = eigh(unit)
    blind = root[:, None] * vectors[:, values <= SINGULAR * values[-1]]
    (squares,) = problem.design.fold(lambda block: (block.weights @ np.square(_rows(problem, block) @ blind),))
    return bool((np.sqrt(squares / problem.total) > _noise(problem, blind)).any())


def untangle(problem: Likelihood) -> tuple[InMemory, Array]:
    """The rows in orthonormal columns, and the matrix from scaled columns to them, of shape (d, r)."""
    design, level = problem.design, int(problem.coordinates.level)

    def statistic(block: Block) -> Sums:
        return (triangle_of(np.sqrt(block.weights)[:, None] * _rows(problem, block)),)

    (upper,) = design.fold(statistic, merge_triangles)
    _, values, right = np.linalg.svd(upper[level:, level:] / np.sqrt(problem.total), full_matrices=False)
    basis = right.T
    first = np.zeros((level, basis.shape[1]))
    there = values > _noise(problem, np.vstack([first, basis])) * values.max(initial=0.0)
    turn = basis[:, there] / values[there]
    out = np.empty((design.n_rows, turn.shape[1]))
    design.map_rows(lambda block: _rows(problem, block)[:, level:] @ turn, out)
    return InMemory(out, design.y, design.weight), turn


def _of_one_contrast(problem: Likelihood, hessian: Array) -> Array:
    """The part of one score, or of the difference of two: all of them are blind to the same."""
    size = problem.coordinates.size
    if problem.n_scores == 1:
        return hessian
    first, second = slice(0, size), slice(size, 2 * size)
    return np.asarray(hessian[first, first] + hessian[second, second] - hessian[first, second] - hessian[second, first])


def _rows(problem: Likelihood, block: Block) -> Array:
    return problem.coordinates.rows(block.counted())


def _noise(problem: Likelihood, directions: Array) -> Array:
    """What rounding makes of directions, in columns: that of the sums, and that of the numbers as they were given."""
    coordinates = problem.coordinates
    blur = np.concatenate([np.zeros(int(coordinates.level)), 2 * _EPS * np.abs(coordinates.shift) * coordinates.scale])
    return np.asarray(np.maximum(_THERE, np.sqrt(np.square(blur) @ np.square(directions))))
