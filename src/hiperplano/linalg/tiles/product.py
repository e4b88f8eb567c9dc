"""Products of a symmetric matrix whose lower half is given tile by tile.

Every tile is processed by one thread, and sums are made in a fixed order, so results do not depend on the number of
threads, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import ordered_reduce, worker_count
from hiperplano.linalg.tiles.loops import add_both_products

_TILE = 1024  # rows and columns of a tile, large enough for BLAS to read it at memory speed
_LARGE = 2**18  # entries above which a second thread is worthwhile
_FEW = 12  # up to this number of columns, BLAS is limited by memory bandwidth


def cuts(n: int, borders: Array | None = None) -> list[slice]:
    """Slices of the rows: they end at the borders, from 0 to n, and are at most one tile long."""
    found = []
    for start, stop in pairwise([0, n] if borders is None else borders.tolist()):
        step = _TILE if borders is None else -(-(stop - start) // -(-(stop - start) // _TILE))
        found += [slice(each, min(each + step, stop)) for each in range(start, stop, step)]
    return found


def symmetric_product(
    parts: list[slice],
    tile: Callable[[int, int, slice], Array],
    right: Array,
    there: Array | None = None,
    asked: Array | None = None,
) -> Array:
    """matrix·right, for a symmetric matrix whose tiles on and below the diagonal are requested one by one.

    The products of tiles have the precision of `right`; they are added in float64.

    Parameters
    ----------
    parts : list of slice
        Slices of the rows, as from `cuts`.
    tile : callable
        Returns rows of a tile, from the numbers of its two slices (the first not smaller than the second) and the rows
        in the first.
    right : ndarray of shape (n,) or (n, k)
    there : ndarray of bool of shape (cuts, k), optional
        Slices in which each column is nonzero.
    asked : ndarray of bool of shape (cuts, k), optional
        Slices in which the product is needed; by default those of `there`. It is 0 elsewhere.
    """
    n, k = len(right), 1 if right.ndim == 1 else right.shape[1]
    there = np.ones((len(parts), k), dtype=bool) if there is None else there
    wanted = there if asked is None else asked
    chosen = [[(there[i] & there[j]).nonzero()[0] for j in range(i + 1)] for i in range(len(parts))]
    columns = right.reshape(n, k)
    turned = np.ascontiguousarray(columns.T)

    def thin_panel(piece: tuple[int, slice]) -> Array:
        i, rows = piece
        found = np.zeros((k, rows.stop))
        for j, mine in enumerate(chosen[i]):
            add_both_products(tile(i, j, rows), turned, found, mine, rows.start, parts[j].start, i != j)
        return found

    def panel(i: int) -> Array:
        found = np.zeros((parts[i].stop, k))
        for j in range(i + 1):
            values = tile(i, j, parts[i])
            mine = run((wanted[i] & there[j]).nonzero()[0])
            found[parts[i], mine] += values @ columns[parts[j], mine]
            if i != j:
                mine = run((wanted[j] & there[i]).nonzero()[0])
                found[parts[j], mine] += values.T @ columns[parts[i], mine]
        return found

    order = range(len(parts) - 1, -1, -1)  # the longest panels first, to balance the threads
    workers = worker_count() if n * n >= _LARGE else 1
    if k <= _FEW and asked is None:
        # The shortest panel is split in two, for the same reason.
        pieces = [(i, parts[i]) for i in order[:-1]] + [(0, half) for half in _halves(parts[0])]
        return ordered_reduce(thin_panel, pieces, _add_columns, workers).T.reshape(right.shape)
    return ordered_reduce(panel, order, _add_rows, workers).reshape(right.shape)


def _halves(part: slice) -> tuple[slice, slice]:
    """Both halves of a slice, the second half first."""
    middle = (part.start + part.stop) // 2
    return slice(middle, part.stop), slice(part.start, middle)


def _add_columns(total: Array, shorter: Array) -> Array:
    total[:, : shorter.shape[1]] += shorter
    return total


def _add_rows(total: Array, shorter: Array) -> Array:
    total[: len(shorter)] += shorter
    return total


def run(rows: Array) -> Array | slice:
    """Consecutive numbers as a slice, which is copied several times faster."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows
