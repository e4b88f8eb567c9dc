"""Machines for pairs of classes, which share kernel values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.threads import ordered_map, worker_count
from hiperplano.kernels import Kernel, KernelMatrix, Precomputed
from hiperplano.solvers.kernel.svm.decomposition import Minimum
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import Control, gram_sources, solve_dual, solve_with
from hiperplano.solvers.kernel.svm.gram_rows import HeldGram


def solve_pairs(
    problems: Sequence[DualProblem], members: Sequence[Array], kernel: Kernel, x: Any, control: Control
) -> list[Minimum]:
    """Solve the problems of some of the rows each, several at a time.

    Where the Gram matrix of all rows fits into the memory for kernel values, it is computed once.

    Parameters
    ----------
    members : sequence of ndarray of int
        The rows of each problem.
    """
    if len(problems) == 1:
        return [solve_dual(problems[0], kernel, x, control)]
    each = list(zip(problems, members, strict=True))
    precomputed = isinstance(kernel, Precomputed)
    if precomputed or 8 * x.shape[0] ** 2 <= control.n_bytes:
        held = gram_sources(kernel, x, control.n_bytes)[0] if precomputed else _held(kernel, x)

        def solve(one: tuple[DualProblem, Array]) -> Minimum:
            return solve_with(one[0], HeldGram(held.block(one[1])), None, control)

        return ordered_map(solve, each, worker_count())
    workers = worker_count()
    share = replace(control, n_bytes=control.n_bytes // workers)
    return ordered_map(lambda one: solve_dual(one[0], kernel, x[one[1]], share), each, workers)


def _held(kernel: Kernel, x: Any) -> HeldGram:
    return HeldGram(KernelMatrix(kernel, x, dtype=np.float64).dense())
