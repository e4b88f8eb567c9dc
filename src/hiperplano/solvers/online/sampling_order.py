"""The order in which examples are visited in a pass, and how often.

A row of weight 3 is visited three times in a pass, as three equal rows would be. What a weight is more than a whole
number lengthens the steps: of weight 2.5 there are two visits, with steps 1.25 times as long; of a weight below 1 there
is one, with a shorter step. More than eight visits are not made: a row of weight 800 is visited eight times, with steps
a hundred times as long. So weights cost no more time than the rows that they stand for, and at most that of eight.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hiperplano.data.block import Array
from hiperplano.data.loops.arrays import RowArrays, frozen
from hiperplano.solvers.online.learner import NO_WEIGHTS

_CACHED = 2**22  # bytes of rows that stay in a core's cache: their order costs nothing
_BLOCK = 2**15  # bytes side by side, where they do not
_POOL = 16  # blocks
_MOST_VISITS = 8
KEPT_VISITS = 2**17  # of all passes, for the next plane: every class is told from the rest in the same orders


class SamplingOrder:
    """The visits of each pass.

    Parameters
    ----------
    weight : ndarray of shape (n,) or None
        Visits of each row in a pass; None for one.
    target : ndarray of shape (n,)
        As numbers; rows with equal columns are distinguished by it.
    seed : int or None
        None keeps the order of the rows. Otherwise every pass has its own order, which depends on the seed and the
        number of the pass only; and, if the rows fit into a core's cache, not on how they are arranged.
    factor : ndarray of shape (n,), optional
        By what to multiply the weight of each visit, without changing how many there are.

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
        in_cache = size <= _CACHED
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
        self._block = max(1, self.count if in_cache else _BLOCK * self.count // max(size, 1))
        self._passes: dict[tuple[int, int], tuple[Array, Array]] = {}  # by first and number

    def _repeat(self, weight: Array) -> None:
        rows = np.arange(len(weight)) if self._base is None else self._base
        weight = weight[rows]
        times = np.clip(weight, 1.0, _MOST_VISITS).astype(np.intp)
        self._base = np.repeat(rows, times)
        if (weight != times).any():
            self._visit_weight = np.repeat(weight / times, times)

    def of_pass(self, number: int) -> tuple[Array, Array]:
        """The visits of one pass: rows and weights as `of_passes` gives them, each of shape (count,)."""
        rows, visit_weight = self.of_passes(number, 1)
        return rows[0], visit_weight[0]

    def of_passes(self, first: int, many: int) -> tuple[Array, Array]:
        """The visits of passes one after the other.

        Parameters
        ----------
        first : int
            Number of the first of them, from 1.
        many : int

        Returns
        -------
        rows : ndarray of int, of shape (many, count), or (1, count) if all passes have the same
            In the order of their visits; not to be written to.
        visit_weight : ndarray of float, of the same shape, or (1, 0) if all are 1
            Weight of each visit.
        """
        which = (0, 1) if self._seed is None else (first, many)
        visits = self._passes.get(which)
        if visits is None:
            visits = self._visits(*which)
            kept = sum(made for _, made in list(self._passes)) * self.count  # a copy: planes are learnt in threads
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
        shuffle_in_pools(order, self._block, _POOL, np.uint64(seed), np.uint64(first))
        return order


def _by_content(arrays: RowArrays, target: Array) -> Array:
    """Numbers of the rows, sorted by a projection of row and target.

    Equal rows get equal keys to the bit wherever they lie: sums are taken row by row.
    """
    from hiperplano.solvers.online.loops.shuffle_loops import project

    x = arrays.x
    n_columns = x.shape[1] if x.ndim == 2 else int(arrays.indices.max(initial=0)) + 1
    key = np.empty(len(target))
    project(*arrays, _directions(1 << max(n_columns - 1, 0).bit_length()), key)
    order = np.argsort(key)
    along = key[order]
    equal = np.flatnonzero(~(along[1:] > along[:-1]))  # NaN, too
    if len(equal):
        tied = np.zeros(len(order), dtype=bool)
        tied[equal] = tied[equal + 1] = True
        among = np.sort(order[tied])  # their order must not depend on how they were sorted so far
        order[tied] = among[np.lexsort((target[among], key[among]))]
    return order


@lru_cache(maxsize=2)
def _directions(size: int) -> Array:
    """The same numbers at every call; a longer array begins with the shorter ones."""
    return frozen(np.random.default_rng(0).normal(size=size))
