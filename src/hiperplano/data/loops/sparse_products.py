"""Compiled sums over CSR rows: moments of columns, Gram matrices, and products with XᵀX."""

from __future__ import annotations

import numpy as np

from hiperplano.data.loops.compiled import gathering, loop


@gathering
def sparse_dot(data, indices, first, last, right):  # type: ignore[no-untyped-def]
    """Σ data·right[indices] over the entries from `first` to before `last`, which are unsigned.

    Four sums, since each addition waits for the previous one.
    """
    one = two = three = four = 0.0
    k = first
    while k + np.uint64(4) <= last:
        one += data[k] * right[np.uint64(indices[k])]
        two += data[k + np.uint64(1)] * right[np.uint64(indices[k + np.uint64(1)])]
        three += data[k + np.uint64(2)] * right[np.uint64(indices[k + np.uint64(2)])]
        four += data[k + np.uint64(3)] * right[np.uint64(indices[k + np.uint64(3)])]
        k += np.uint64(4)
    while k < last:
        one += data[k] * right[np.uint64(indices[k])]
        k += np.uint64(1)
    return (one + two) + (three + four)


@loop
def add_moments(data, indices, indptr, right, sums, squares):  # type: ignore[no-untyped-def]
    """sums += Σᵢ rightᵢ·xᵢ and squares += Σᵢ rightᵢ·xᵢ², in one pass."""
    for i in range(len(indptr) - 1):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value, column = np.float64(data[k]), np.uint64(indices[k])
            part = right[i] * value
            sums[column] += part
            squares[column] += part * value


@loop
def add_products(data, indices, indptr, weights, out):  # type: ignore[no-untyped-def]
    """out += Σᵢ weightsᵢ·xᵢ·xᵢᵀ, above the diagonal and on it; column numbers of a row are sorted."""
    for i in range(len(indptr) - 1):
        last = indptr[i + 1]
        for j in range(indptr[i], last):
            scaled = weights[i] * data[j]
            row = out[np.uint64(indices[j])]
            for k in range(j, last):
                row[np.uint64(indices[k])] += scaled * data[k]


@loop
def add_row_products(data, indices, indptr, ends, out):  # type: ignore[no-untyped-def]
    """out += X·Xᵀ, on and below the diagonal, for CSR rows in which no column is stored twice.

    Each stored number joins a list of those of its column, and is multiplied with all that came before it. So the
    rows need not be transposed first, and each row of `out` stays in the cache while it is computed.

    Parameters
    ----------
    ends : int of shape (columns + 1,), zeros; filled with the ends of the lists
    """
    for k in range(len(indices)):
        ends[np.uint64(indices[k]) + np.uint64(1)] += 1
    for j in range(1, len(ends)):
        ends[j] += ends[j - 1]
    first = ends.copy()
    rows, values = np.empty(len(data), dtype=np.int32), np.empty(len(data))
    for i in range(len(indptr) - 1):
        here = out[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column, value = np.uint64(indices[k]), np.float64(data[k])
            last = np.uint64(ends[column])
            rows[last], values[last] = i, value
            ends[column] += 1
            for before in range(np.uint64(first[column]), last + np.uint64(1)):
                here[np.uint64(rows[before])] += value * values[before]


@loop
def add_normal_product(data, indices, indptr, weights, right, offset, out):  # type: ignore[no-untyped-def]
    """out += Σᵢ weightsᵢ·(xᵢ·right − offset)·xᵢ, reading every row once.

    Returns the sum of weightsᵢ·(xᵢ·right − offset).

    Parameters
    ----------
    weights : float64 of shape (n,); empty for all 1
    """
    total = 0.0
    for i in range(len(indptr) - 1):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        score = sparse_dot(data, indices, first, last, right) - offset
        if len(weights):
            score *= weights[i]
        total += score
        for j in range(first, last):
            out[np.uint64(indices[j])] += score * data[j]
    return total


@loop
def add_normal_product_of_entries(data, indices, rows, weights, right, scores, out):  # type: ignore[no-untyped-def]
    """The same entry by entry, for rows so short that the processor mispredicts where they end.

    Parameters
    ----------
    rows : int of shape (entries,), the row of each
    scores : float64 of shape (n,), −offset; filled
    """
    for k in range(len(data)):
        scores[np.uint64(rows[k])] += data[k] * right[np.uint64(indices[k])]
    if len(weights):
        for i in range(len(scores)):
            scores[i] *= weights[i]
    for k in range(len(data)):
        out[np.uint64(indices[k])] += scores[np.uint64(rows[k])] * data[k]
    total = 0.0
    for i in range(len(scores)):
        total += scores[i]
    return total
