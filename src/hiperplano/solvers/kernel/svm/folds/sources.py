"""Kernel values shared by the folds: how they are stored, and for how many kernels at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hiperplano.kernels import Function, Kernel, KernelMatrix, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.solvers.kernel.svm.decomposition import NEGLIGIBLE
from hiperplano.solvers.kernel.svm.fit import Control, fits_float32, gram_sources
from hiperplano.solvers.kernel.svm.folds.refined_gram import REFINED_BYTES, RefinedGram
from hiperplano.solvers.kernel.svm.gram_rows import SMALL, ComputedGram, GramRows, HeldGram
from hiperplano.solvers.kernel.svm.rows_asked import dense_gram

Sources = tuple[GramRows, GramRows | None]
"""Kernel values in float64 and, optionally, in float32."""


def shared_sources(kernel: Kernel, x: Any, control: Control, few: bool, largest: float) -> Sources:
    """Kernel values as in `gram_sources`, but held in memory if possible, since all folds need all of them.

    They are computed in float64 and rounded to float32, which halves the memory to read. If the dual variables may be
    so large that rounding matters, the rounding errors are stored, too. Machines with few rows use the values without
    rounding.

    Parameters
    ----------
    few : bool
        Whether all machines have few rows.
    largest : float
        Largest possible norm of the dual variables.
    """
    n, n_bytes = x.shape[0], control.n_bytes
    if isinstance(kernel, Precomputed | Function) or n <= SMALL or 4 * n**2 > n_bytes:
        return gram_sources(kernel, x, n_bytes)
    exact = KernelMatrix(kernel, dense_if_small(x), dtype=np.float64)
    if few and 8 * n**2 <= n_bytes:
        return HeldGram(dense_gram(exact)), None
    if not fits_float32(exact.diagonal):
        return ComputedGram(exact, exact.diagonal), None
    size = largest * float(exact.diagonal.max())
    refined = kernel.positive_definite and REFINED_BYTES * n**2 <= n_bytes
    if refined and RefinedGram.resolution * size <= NEGLIGIBLE * control.tol < np.finfo(np.float32).eps * size:
        values = RefinedGram(exact)
        return values, values.held
    held = HeldGram(exact.dense(np.empty((n, n), dtype=np.float32)))
    return ComputedGram(exact, exact.diagonal), held


def are_held(kernel: Kernel, n: int, n_bytes: int) -> bool:
    """Whether the values are held in memory; a cache can serve only one thread at a time."""
    each = 8 if isinstance(kernel, Function) else 4
    return isinstance(kernel, Precomputed) or n <= SMALL or each * n**2 <= n_bytes


class Shelf:
    """Values of several kernels, computed on first use and kept for a limited number of kernels at a time.

    Parameters
    ----------
    make : callable
        Takes the number of a kernel, and returns its values.
    room : int
        Most kernels whose values are kept at a time.
    """

    def __init__(self, make: Callable[[int], Sources], room: int) -> None:
        self._make, self._room = make, room
        self._changed = threading.Condition()
        self._made: dict[int, Sources] = {}
        self._users: Counter[int] = Counter()

    @contextmanager
    def lent(self, which: int) -> Iterator[Sources]:
        """The values of a kernel, which are kept as long as they are in use."""
        with self._changed:
            while len(self._others_used(which)) >= self._room:
                self._changed.wait()
            self._users[which] += 1
            if which not in self._made:
                used = self._others_used(which)
                self._made = {key: values for key, values in self._made.items() if key in used}
                self._made[which] = self._make(which)
            values = self._made[which]
        try:
            yield values
        finally:
            with self._changed:
                self._users[which] -= 1
                self._changed.notify_all()

    def _others_used(self, which: int) -> set[int]:
        return {key for key, count in self._users.items() if count and key != which}
