"""The order in which examples are visited in a pass, and how often.

A row of weight 3 is visited three times in a pass, as three equal rows would be. The fractional part of a weight
lengthens the steps: a row of weight 2.5 has two visits, with steps 1.25 times as long. A row of weight below 1 has one
visit, with a shorter step. A row has at most eight visits: one of weight 800 is visited eight times, with steps a
hundred times as long. So weights cost no more time than the equivalent repeated rows, and at most eight times that of
unweighted rows.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.loops.arrays import RowArrays, frozen
from hiperplano.solvers.online.learner import NO_WEIGHTS

_CACHED_BYTES = 2**22  # bytes of rows that stay in a core's cache, where the order of visits does not affect the speed
_BLOCK_BYTES = 2**15  # bytes of adjacent rows in a block, for larger tables
_POOL_BLOCKS = 16  # blocks that are shuffled together
_MOST_VISITS = 8
KEPT_VISITS = 2**17  # most visits that are kept for the next plane: one-vs-rest planes use the same orders


class SamplingOrder:
    """The visits of each pass.

    Parameters
    ----------
    weight : ndarray of shape (n,) or None
        Visits of each row in a pass; None for one.
    target : ndarray of shape (n,)
        Numeric targets; they order rows with equal columns.
    seed : int or None
        None keeps the order of the rows. Otherwise every pass has its own order, which depends only on the seed and the
        number of the pass. If the rows fit into a core's cache, it does not depend on their arrangement either.
    factor : ndarray of shape (n,), optional
        Multiplies the weight of each visit, but does not change the number of visits.

    Attributes
    ----------
    n_rows : int
    count : int
        Visits in a pass.
    total : float
        Sum of the weights of the visits, without `factor`.
    """

    def __init__(
        self, arrays: RowArrays, weight: Array | None, target: Array, seed: int | None, factor: Array | None = None
    ) -> None:
        n_rows = len(target)
        self.arrays = arrays
        self._seed = None if seed is None else int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self._base: Array | None = None
        self._visit_weight = NO_WEIGHTS
        size = arrays.x.nbytes + arrays.indices.nbytes
        in_cache = size <= _CACHED_BYTES
        if seed is not None and in_cache:
            self._base = _by_content(arrays, target)
        if weight is not None:
            self._repeat(weight)
        if factor is not None:
            own = factor if self._base is None else factor[self._base]
            self._visit_weight = self._visit_weight * own if len(self._visit_weight) else own
        self.n_rows = n_rows
        self.count = n_rows if self._base is None else len(self._base)
        self.total = float(self.count if weight is None else weight.sum())
        self._block = max(1, self.count if in_cache else _BLOCK_BYTES * self.count // max(size, 1))
        # Keys: number of the first pass, and number of passes.
        self._passes: dict[tuple[int, int], tuple[Array, Array]] = {}

    def _repeat(self, weight: Array) -> None:
        rows = np.arange(len(weight)) if self._base is None else self._base
        weight = weight[rows]
        times = np.clip(weight, 1.0, _MOST_VISITS).astype(np.intp)
        self._base = np.repeat(rows, times)
        if (weight != times).any():
            self._visit_weight = np.repeat(weight / times, times)

    def of_pass(self, number: int) -> tuple[Array, Array]:
        """Rows and weights of the visits of one pass, as in `of_passes`, each of shape (count,)."""
        rows, visit_weight = self.of_passes(number, 1)
        return rows[0], visit_weight[0]

    def of_passes(self, first: int, many: int) -> tuple[Array, Array]:
        """The visits of consecutive passes.

        Parameters
        ----------
        first : int
            Number of the first pass, from 1.
        many : int

        Returns
        -------
        rows : ndarray of int, of shape (many, count), or (1, count) if all passes have the same order
            Rows in the order of their visits; read-only.
        visit_weight : ndarray of float, of the same shape, or (1, 0) if all are 1
            Weight of each visit.
        """
        which = (0, 1) if self._seed is None else (first, many)
        visits = self._passes.get(which)
        if visits is None:
            visits = self._visits(*which)
            # list() makes a copy, since planes are learnt in threads.
            kept = sum(made for _, made in list(self._passes)) * self.count
            if self._seed is None or kept + many * self.count <= KEPT_VISITS:
                self._passes[which] = visits
        return visits

    def _visits(self, first: int, many: int) -> tuple[Array, Array]:
        weight = self._visit_weight
        if self._seed is None:
            rows = np.arange(self.count) if self._base is None else self._base
            return frozen(rows[None]), weight[None]
        order = self._shuffled(self._seed, first, many)
        rows = order if self._base is None else self._base[order]
        return frozen(rows), weight[order] if len(weight) else weight[None]

    def _shuffled(self, seed: int, first: int, many: int) -> Array:
        from hiperplano.solvers.online.loops.shuffle_loops import shuffle_in_pools

        order = np.empty((many, self.count), dtype=np.intp)
        shuffle_in_pools(order, self._block, _POOL_BLOCKS, np.uint64(seed), np.uint64(first))
        return order


def _by_content(arrays: RowArrays, target: Array) -> Array:
    """Row numbers, sorted by a projection of the row and then by the target.

    Equal rows have bitwise equal keys wherever they are stored, because each row is summed separately.
    """
    from hiperplano.solvers.online.loops.shuffle_loops import project

    x = arrays.x
    n_columns = x.shape[1] if x.ndim == 2 else int(arrays.indices.max(initial=0)) + 1
    key = np.empty(len(target))
    project(*arrays, _directions(1 << max(n_columns - 1, 0).bit_length()), key)
    order = np.argsort(key)
    along = key[order]
    equal = np.flatnonzero(~(along[1:] > along[:-1]))  # also true of NaN
    if len(equal):
        tied = np.zeros(len(order), dtype=bool)
        tied[equal] = tied[equal + 1] = True
        among = np.sort(order[tied])  # sorted, so that ties do not depend on the order that argsort gave them
        order[tied] = among[np.lexsort((target[among], key[among]))]
    return order


@lru_cache(maxsize=2)
def _directions(size: int) -> Array:
    """Fixed pseudo-random numbers; a longer array begins with the shorter one."""
    return frozen(np.random.default_rng(0).normal(size=size))
