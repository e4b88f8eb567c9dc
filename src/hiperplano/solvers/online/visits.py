"""In which order examples are visited, and how often.

A row of weight 3 is visited three times in a pass, as three equal rows would be; of weight 2.5 three times, the last
time with a step of half the length. Rows of weight 0 are not visited.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.online.learner import NO_SHARE, Rows

_CACHED = 2**22  # bytes of rows that stay in a core's cache: their order costs nothing
_BLOCK = 2**15  # bytes side by side, where they do not
_POOL = 16  # blocks
MOST_VISITS = 10**8


class Visits:
    """The visits of a pass.

    Parameters
    ----------
    rows : Rows
    weight : ndarray of shape (n,) or None
    mark : ndarray of shape (n,)
        Target of each row, as numbers.
    seed : int or None
        None keeps the order of the rows. Otherwise every pass has its own order, which depends on the seed and the
        number of the pass only; and, if the rows fit into a core's cache, not on how they are arranged.
    factor : ndarray of shape (n,), optional
        By what to multiply the weight of each visit, without changing how many there are.
    """

    def __init__(
        self, rows: Rows, weight: Array | None, mark: Array, seed: int | None, factor: Array | None = None
    ) -> None:
        n_rows = len(mark)
        self.seed = seed
        self.base: Array | None = None
        self.share = NO_SHARE
        size = rows.x.nbytes + rows.indices.nbytes
        if seed is not None and size <= _CACHED:
            self.base = _by_content(rows, mark)
        if weight is not None:
            self._repeat(weight)
        if factor is not None:
            own = factor if self.base is None else factor[self.base]
            self.share = self.share * own if len(self.share) else own
        self.count = n_rows if self.base is None else len(self.base)
        self.total = float(self.count if weight is None else weight.sum())
        whole = size <= _CACHED
        self.block = max(1, self.count if whole else _BLOCK * self.count // max(size, 1))
        self._still: Array | None = None

    def _repeat(self, weight: Array) -> None:
        rows = np.arange(len(weight)) if self.base is None else self.base
        weight = weight[rows]
        times = np.ceil(weight)
        part = weight - np.floor(weight)
        last = np.cumsum(times)[part > 0].astype(np.intp) - 1
        self.base = np.repeat(rows, times.astype(np.intp))
        if len(last):
            self.share = np.ones(len(self.base))
            self.share[last] = part[part > 0]

    def of_pass(self, number: int) -> tuple[Array, Array]:
        """Rows in the order of their visits, and the weight of each visit (empty for all 1)."""
        if self.seed is None:
            if self._still is None:
                self._still = np.arange(self.count) if self.base is None else self.base
            return self._still, self.share
        order = self._shuffled(np.random.SeedSequence((self.seed, number)))
        rows = order if self.base is None else self.base[order]
        return rows, self.share[order] if len(self.share) else self.share

    def _shuffled(self, seed: np.random.SeedSequence) -> Array:
        if self.block >= self.count:  # one block: no compiled loop is needed, nor waited for at the first fit
            return np.random.Generator(np.random.SFC64(seed)).permutation(self.count)
        from hiperplano.solvers.online.order_loops import shuffle_in_pools

        order = np.empty(self.count, dtype=np.intp)
        shuffle_in_pools(order, self.block, _POOL, seed.generate_state(1, np.uint64)[0] | np.uint64(1))
        return order


def _by_content(rows: Rows, mark: Array) -> Array:
    """Numbers of the rows, sorted by a projection of row and target.

    Equal rows get equal keys to the bit wherever they lie: sums are taken row by row.
    """
    n_columns = rows.x.shape[1] if rows.x.ndim == 2 else int(rows.indices.max(initial=-1)) + 1
    direction = np.random.default_rng(0).normal(size=n_columns)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite are refused elsewhere
        if rows.x.ndim == 2:
            key = np.add.reduce(rows.x * direction, axis=1)
        else:
            key = np.zeros(len(mark))
            filled = np.diff(rows.indptr) > 0
            if filled.any():
                key[filled] = np.add.reduceat(rows.x * direction[rows.indices], rows.indptr[:-1][filled])
        return np.lexsort((mark, key))
