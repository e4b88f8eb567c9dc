"""Machines for pairs of classes, which share kernel values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed
from hiperplano.solvers.kernel.svm.decomposition import SMALL, Minimum
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, dense_if_small, held_gram, solve_dual, solve_with
from hiperplano.solvers.kernel.svm.gram_rows import ComputedGram, HeldGram


def solve_pairs(
    problems: Sequence[DualProblem], members: Sequence[Array], kernel: Kernel, x: Any, control: Control
) -> list[Minimum]:
    """Solve the problems of some of the rows each, several at a time.

    Parameters
    ----------
    members : sequence of ndarray of int
        The rows of each problem.
    """
    if len(problems) == 1:
        return [solve_dual(problems[0], kernel, x, control)]
    workers = worker_count()
    shared = _shared(kernel, x, control.n_bytes)
    share = replace(control, n_bytes=control.n_bytes // workers)

    def solve(one: tuple[DualProblem, Array]) -> Minimum:
        problem, own = one
        if isinstance(shared, ComputedGram) and len(own) > SMALL:
            return solve_dual(problem, kernel, x[own], share)
        return solve_with(problem, HeldGram(shared.block(own)), None, share)

    return ordered_map(solve, list(zip(problems, members, strict=True)), workers)


def _shared(kernel: Kernel, x: Any, n_bytes: int) -> HeldGram | ComputedGram:
    """The Gram matrix of all rows: held if values are given or slow to compute, otherwise computed pair by pair, which
    is faster than filling memory with all of it."""
    if isinstance(kernel, Precomputed) or (isinstance(kernel, Function) and 8 * x.shape[0] ** 2 <= n_bytes):
        return held_gram(kernel, x)
    matrix = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
    return ComputedGram(matrix, matrix.diagonal)
