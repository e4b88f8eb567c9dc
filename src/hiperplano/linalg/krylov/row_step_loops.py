"""Compiled conjugate gradients in the span of sparse rows, for one target or for four at a time.

A stored number is read once for four targets, which takes half the time of one target after the other. One target is
worth a loop of its own: on small tables, calls of SciPy's products took most of the time, on others sums of vectors a
third.
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.loops.compiled import loop
from hiperplano.data.loops.sparse_products import sparse_dot


@loop
def preconditioned(preconditioner, residual, scaled, square):  # type: ignore[no-untyped-def]
    """Preconditioned residuals, and their products with the residuals.

    Parameters
    ----------
    preconditioner : tuple
        Inverse squared norms of the rows, these times √weight, of shape (n,) each, and the sum of the products of the
        latter and √weight: residuals are projected to those that sum to zero.
    """
    inverse, lifted, size = preconditioner
    level = np.zeros(4)
    square[:] = 0.0
    for i in range(len(residual)):
        for t in range(4):
            level[t] += lifted[i] * residual[i, t]
    for i in range(len(residual)):
        for t in range(4):
            scaled[i, t] = inverse[i] * residual[i, t] - level[t] / size * lifted[i]
            square[t] += residual[i, t] * scaled[i, t]


@loop
def four_targets(x, centre, preconditioner, alpha, state, goal, steps, ratios, done, stop):  # type: ignore[no-untyped-def]
    """Steps for (x·xᵀ + alpha)·shares = right with centred rows, until every residual is short enough.

    Parameters
    ----------
    x : tuple of data, indices and indptr of the rows, and the number of columns
    centre : tuple
        √weight of the rows, products of the stored rows with the mean, of shape (n,) each, and the squared mean.
    preconditioner : tuple
        As in `preconditioned`.
    state : tuple; updated
        Shares, residuals and directions, of shape (n, 4) each, and residuals times preconditioned residuals, of shape
        (4,).
    goal : float64 of shape (4,)
        Squared norms of the residuals to reach.
    steps, ratios : float64 of shape (most, 4); filled
        Step lengths, and ratios of consecutive values of `square`; 0 after a target is solved.
    done, stop : int
        Number of steps made before, and after which to return.

    Returns
    -------
    int
        Number of steps made.
    """
    data, indices, indptr, n_columns = x
    root, along, mean_square = centre
    shares, residual, direction, square = state
    n = len(root)
    sums, image, scaled = np.empty((n_columns, 4)), np.empty((n, 4)), np.empty((n, 4))
    level, inner, curvature, length, after = np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    while done < stop:
        length[:] = 0.0
        for i in range(n):
            for t in range(4):
                length[t] += residual[i, t] * residual[i, t]
        if (length <= goal).all():
            break
        sums[:] = 0.0
        level[:], inner[:] = 0.0, 0.0
        for i in range(n):
            first, second, third, fourth = direction[i, 0], direction[i, 1], direction[i, 2], direction[i, 3]
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                column, value = np.uint64(indices[k]), data[k]
                sums[column, 0] += value * first
                sums[column, 1] += value * second
                sums[column, 2] += value * third
                sums[column, 3] += value * fourth
            for t in range(4):
                level[t] += root[i] * direction[i, t]
                inner[t] += along[i] * direction[i, t]
        curvature[:] = 0.0
        for i in range(n):
            first = second = third = fourth = 0.0
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                column, value = np.uint64(indices[k]), data[k]
                first += value * sums[column, 0]
                second += value * sums[column, 1]
                third += value * sums[column, 2]
                fourth += value * sums[column, 3]
            image[i, 0], image[i, 1], image[i, 2], image[i, 3] = first, second, third, fourth
            for t in range(4):
                centred = level[t] * along[i] + (inner[t] - level[t] * mean_square) * root[i]
                image[i, t] += alpha * direction[i, t] - centred
                curvature[t] += direction[i, t] * image[i, t]
        for t in range(4):  # without curvature, only rounding errors are left in this direction
            moves = length[t] > goal[t] and curvature[t] > 0.0
            steps[done, t] = square[t] / curvature[t] if moves else 0.0
        for i in range(n):
            for t in range(4):
                shares[i, t] += steps[done, t] * direction[i, t]
                residual[i, t] -= steps[done, t] * image[i, t]
        preconditioned(preconditioner, residual, scaled, after)
        for t in range(4):
            ratios[done, t] = after[t] / square[t] if steps[done, t] > 0.0 else 0.0
            square[t] = after[t]
        for i in range(n):
            for t in range(4):
                direction[i, t] = scaled[i, t] + ratios[done, t] * direction[i, t]
        if not (steps[done] > 0.0).any():
            break
        done += 1
    return done


@loop
def one_target(x, centre, preconditioner, alpha, state, goal, steps, ratios, done, stop):  # type: ignore[no-untyped-def]
    """The same for one target.

    Parameters
    ----------
    x, centre, preconditioner, alpha, done, stop
        As in `four_targets`.
    state : tuple; updated
        Shares, the residual and the direction, of shape (n,) each. Before the first step, the direction is 0.
    goal : float
        Squared norm of the residual to reach.
    steps, ratios : float64 of shape (most,); filled
        Step lengths, and ratios of consecutive products of residual and preconditioned residual.

    Returns
    -------
    int
        Number of steps made.
    """
    data, indices, indptr, n_columns = x
    root, along, mean_square = centre
    inverse, lifted, size = preconditioner
    shares, residual, direction = state
    n = len(root)
    sums, image = np.empty(n_columns), np.empty(n)
    length, square, level = 0.0, 0.0, 0.0
    for i in range(n):
        length += residual[i] * residual[i]
        level += lifted[i] * residual[i]
        square += inverse[i] * residual[i] * residual[i]
    square -= level * level / size
    while done < stop and length > goal:
        ratio = ratios[done - 1] if done > 0 else 0.0
        sums[:] = 0.0
        total, inner = 0.0, 0.0
        for i in range(n):
            ahead = inverse[i] * residual[i] - level / size * lifted[i] + ratio * direction[i]
            direction[i] = ahead
            for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                sums[np.uint64(indices[k])] += data[k] * ahead
            total += root[i] * ahead
            inner += along[i] * ahead
        curvature = 0.0
        for i in range(n):
            product = sparse_dot(data, indices, np.uint64(indptr[i]), np.uint64(indptr[i + 1]), sums)
            product += alpha * direction[i] - total * along[i] - (inner - total * mean_square) * root[i]
            image[i] = product
            curvature += direction[i] * product
        if curvature <= 0.0:
            break  # only rounding errors are left in this direction
        step = square / curvature
        before, length, level, square = square, 0.0, 0.0, 0.0
        for i in range(n):
            shares[i] += step * direction[i]
            residual[i] -= step * image[i]
            length += residual[i] * residual[i]
            level += lifted[i] * residual[i]
            square += inverse[i] * residual[i] * residual[i]
        square -= level * level / size
        steps[done], ratios[done] = step, square / before
        done += 1
    return done
