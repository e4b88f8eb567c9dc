"""Passes of online learners with a kernel: the loops of linear learners, applied to rows of the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.loops.arrays import NO_INDEX, frozen
from hiperplano.kernels import Kernel, KernelMatrix, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.losses import scalar
from hiperplano.solvers.kernel.online.span_learner import SpanLearner
from hiperplano.solvers.kernel.svm.gram_rows import CachedGram
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.passes import RowByRow
from hiperplano.solvers.online.sampling_order import SamplingOrder

_AHEAD = 256  # upcoming visits whose rows of the Gram matrix are computed in one batch if they are likely to be needed


class KernelRows:
    """Rows of a Gram matrix: all rows of a precomputed one, otherwise a cache of the rows last used.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        The Gram matrix itself if the kernel is precomputed.
    n_bytes : int
        Size of the cache of rows of the Gram matrix.
    fewest : int
        Least number of rows in the cache, whatever their size.

    Attributes
    ----------
    held : ndarray of shape (slots, n)
    slot_of : ndarray of int of shape (n,)
        Slot of each row; −1 if it is not cached.
    lengths : ndarray of shape (n,)
        k(x, x) of every row.
    """

    def __init__(self, kernel: Kernel, rows: Any, n_bytes: int, fewest: int = 1) -> None:
        n = rows.shape[0]
        self._cache: CachedGram | None = None
        if isinstance(kernel, Precomputed):
            gram = np.ascontiguousarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64)
            self.held, self.slot_of, self.lengths = gram, np.arange(n), gram.diagonal()
            return
        matrix = KernelMatrix(kernel, dense_if_small(rows), dtype=np.float64)
        self._cache = CachedGram(matrix, matrix.diagonal, max(n_bytes, 8 * n * fewest))
        self.held, self.slot_of, self.lengths = self._cache.held, self._cache.slot_of, matrix.diagonal

    def hold(self, rows: Array) -> None:
        """Load these distinct rows into the cache; only the first ones if there is no room for all."""
        if self._cache is not None:
            _, first = np.unique(rows, return_index=True)
            self._cache.hold(rows[np.sort(first)[: len(self.held)]])


class KernelPlane(RowByRow):
    """One plane in the span of the rows.

    Parameters
    ----------
    rows : KernelRows
        The rows that the learner already has, followed by those to visit.
    target : ndarray of shape (n,)
        ±1 for each of these rows.
    plane : int
        The plane of the learner that is trained.
    budget : int or None
        Largest number of rows with a nonzero coefficient.
    """

    def __init__(
        self,
        rows: KernelRows,
        target: Array,
        order: SamplingOrder,
        learner: SpanLearner,
        plane: int = 0,
        budget: int | None = None,
    ) -> None:
        super().__init__(target, order, learner)
        self.planes, self.counts = plane, learner.states[plane]
        self._rows, self._budget = rows, budget
        self._n_rows, self._old = learner.n_rows, len(target) - order.n_rows
        self._entered = np.zeros(len(target))  # the step at which each row got its coefficient
        self._nowhere = frozen(np.full(len(target), -1))

    def begin(self, number: int) -> None:
        super().begin(number)
        self.order = frozen(self.order + self._old) if self._old else self.order

    def row(self, visit: int) -> int | None:
        return int(self.order[visit]) - self._old

    def advance(self, start: int, stop: int, rule: Array) -> int:
        size, strict = max(1, int(rule[at.BATCH])), self._budget is not None
        while start < stop:
            # A limited number of support rows is enforced after every step: the loop stops before each step, as if no
            # row were cached.
            start = self._walk(start, stop, rule, self._nowhere if strict else frozen(self._rows.slot_of))
            if start == stop or self.counts[at.NOT_FINITE]:
                break
            end = min(start + size, stop)
            self._rows.hold(self.order[start:end] if strict or size > 1 else self._needed(start, rule))
            if strict:
                new = self.order[start:end]
                start = self._walk(start, end, rule, frozen(self._rows.slot_of))
                self._forget(new, rule)
        return start

    def _walk(self, start: int, stop: int, rule: Array, slots: Array) -> int:
        from hiperplano.solvers.online.loops.batch_loops import walk_batches
        from hiperplano.solvers.online.loops.example_loops import walk

        learner, k = self.learner, self.planes
        rows = frozen(self._rows.held)[None], slots, NO_INDEX
        visits = (*rows, self.target, self.order, self.visit_weight, start, stop, rule)
        planes = learner.weights[k], learner.sums[k], learner.states[k]
        if rule[at.BATCH] == 1.0 and rule[at.PROJECT] == 0.0:
            return int(walk(*visits, *planes))
        return int(walk_batches(*visits, *planes, np.empty(int(rule[at.BATCH]))))

    def _needed(self, start: int, rule: Array) -> Array:
        """The row of a visit, and those of the next visits that would cause a step by the current scores."""
        rows = self.order[start : start + _AHEAD]
        state, weights = self.counts, self.learner.weights[self.planes]
        scores = state[at.SCALE] * weights[self._n_rows + rows] + state[at.INTERCEPT]
        right = 0.0 if rule[at.LOSS] == scalar.PERCEPTRON else 1.0
        needed = self.target[rows] * scores <= right
        needed[0] = True
        return np.asarray(rows[needed])

    def _forget(self, new: Array, rule: Array) -> None:
        """Remove the rows whose terms αᵢ·(φ(xᵢ), 1) are shortest, the oldest first among equals.

        New rows are removed last.
        """
        state, n, weights = self.counts, self._n_rows, self.learner.weights[self.planes]
        fresh = new[(self._entered[new] == 0.0) & (weights[new] != 0.0)]
        self._entered[fresh] = state[at.STEP]
        support = np.flatnonzero(weights[:n])
        excess = len(support) - (self._budget or 0)
        if excess <= 0:
            return
        with_intercept = bool(rule[at.FIT_INTERCEPT])
        squares = np.square(weights[support]) * (self._rows.lengths[support] + with_intercept)
        for row in support[np.lexsort((self._entered[support], squares, np.isin(support, new)))[:excess]]:
            self._rows.hold(np.array([row]))
            change = weights[row]
            weights[n:] -= change * self._rows.held[self._rows.slot_of[row]]
            weights[row] = self._entered[row] = 0.0
            if with_intercept:
                state[at.INTERCEPT] -= state[at.SCALE] * change
        if rule[at.PROJECT]:
            self.learner.measure()
