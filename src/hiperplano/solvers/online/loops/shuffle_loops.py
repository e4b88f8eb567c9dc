"""Compiled shuffling with local memory access, and sort keys of rows."""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import loop, part, row_dot


@part
def _draw(seed):  # type: ignore[no-untyped-def]
    """The next state of a 64-bit xorshift generator (never 0)."""
    seed ^= seed >> np.uint64(12)
    seed ^= seed << np.uint64(25)
    seed ^= seed >> np.uint64(27)
    return seed


@part
def _below(seed, bound):  # type: ignore[no-untyped-def]
    """A number in 0 … bound − 1 from the upper half of a state.

    It is unsigned, so that it indexes arrays without a sign check.
    """
    upper = (seed * np.uint64(2685821657736338717)) >> np.uint64(32)
    return (upper * np.uint64(bound)) >> np.uint64(32)


@part
def _seed_of_pass(seed, number):  # type: ignore[no-untyped-def]
    """Derive the 64-bit seed of a pass.

    Each bit depends on all bits of the input (SplitMix64: Steele, Lea and Flood 2014).
    """
    state = seed + number * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) | np.uint64(1)


@loop
def shuffle_in_pools(orders, block, pool, seed, first_pass):  # type: ignore[no-untyped-def]
    """Fill each of `orders` with a permutation of 0 … n − 1.

    Blocks are in random order, and the rows of `pool` blocks at a time are shuffled.

    Rows of a block lie side by side in memory, so a pool is read from a few places only. With one pool this is a plain
    shuffle of all rows. Each pool is shuffled inside out (Fisher-Yates): a new row takes the place of a random row,
    which moves to the end.

    Parameters
    ----------
    orders : int of shape (passes, n), filled
    seed, first_pass : uint64
        The order of a pass depends on the seed and on the number of the pass.
    """
    n, one = orders.shape[1], np.uint64(1)
    for number in range(len(orders)):
        order, state = orders[number], _seed_of_pass(seed, first_pass + np.uint64(number))
        blocks = np.arange((n + block - 1) // block)
        for i in range(len(blocks) - 1, 0, -1):
            state = _draw(state)
            j = _below(state, i + 1)
            blocks[i], blocks[j] = blocks[j], blocks[i]
        end = first = np.uint64(0)
        for k in range(len(blocks)):
            if k % pool == 0:
                first = end
            start = blocks[k] * block
            for row in range(start, min(start + block, n)):
                state = _draw(state)
                j = first + _below(state, end - first + one)
                order[end] = order[j]
                order[j] = row
                end += one


@loop
def project(x, indices, indptr, direction, key):  # type: ignore[no-untyped-def]
    """key[i] = x[i]·direction, summed in the same order for every row, so that equal rows get bitwise equal keys.

    Parameters
    ----------
    direction : float64 of shape (columns,) or longer
    key : float64 of shape (rows,), filled
    """
    for i in range(len(key)):
        key[i] = row_dot(x, indices, indptr, i, direction)
