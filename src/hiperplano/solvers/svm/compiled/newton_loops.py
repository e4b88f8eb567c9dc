"""Compiled Newton's method on an augmented Lagrangian: `augmented_lagrangian` for small tables in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.rows_loops import loop, part, subroutine
from hiperplano.solvers.svm.augmented_lagrangian import ROUNDS_PATIENCE, SHRINK
from hiperplano.solvers.svm.compiled.box_loops import balance, follow, gain, is_free, loss
from hiperplano.solvers.svm.compiled.step_loops import add_rows, conjugate_step, newton_step, row_products
from hiperplano.solvers.svm.newton import PATIENCE, SHORT
from hiperplano.solvers.svm.smoothed import ROUNDING


class Point(NamedTuple):
    """A plane and its evaluation; entries of `numbers` are named below."""

    coef: Array  # (d,), and the level after it: (d + 1,)
    e: Array  # (n,): target − score
    beta: Array  # (n,)
    grad: Array  # (d + 1,)
    numbers: Array


LOSS, SLACK, REMAINING, MASS, FREE = range(5)


@subroutine
def _new_point(n, d):  # type: ignore[no-untyped-def]
    return Point(np.zeros(d + 1), np.empty(n), np.empty(n), np.empty(d + 1), np.zeros(5))


@subroutine
def _copy(source, to):  # type: ignore[no-untyped-def]
    for j in range(len(to.coef)):
        to.coef[j], to.grad[j] = source.coef[j], source.grad[j]
    for i in range(len(to.e)):
        to.e[i], to.beta[i] = source.e[i], source.beta[i]
    for k in range(len(to.numbers)):
        to.numbers[k] = source.numbers[k]


@part
def _half_square(vector):  # type: ignore[no-untyped-def]
    """½‖vector‖² without the last entry, which belongs to the level."""
    total = 0.0
    for j in range(len(vector) - 1):
        total += vector[j] * vector[j]
    return 0.5 * total


@part
def _objective(point):  # type: ignore[no-untyped-def]
    return _half_square(point.coef) + point.numbers[LOSS]


@part
def _dot(left, right):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(left)):
        total += left[j] * right[j]
    return total


@subroutine
def _set_residuals(x, box, point):  # type: ignore[no-untyped-def]
    """target − score."""
    d = x.shape[1]
    row_products(x, point.coef[:d], point.e)
    for i in range(len(point.e)):
        point.e[i] = box.target[i] - (point.e[i] + point.coef[d])


@subroutine
def _sum_rows(x, box, point, work, given, centre, near, fit_intercept):  # type: ignore[no-untyped-def]
    """Compute the dual variables from the residuals (unless `given`), the losses and the gradient."""
    d = x.shape[1]
    losses, slack, total, size, m = 0.0, 0.0, 0.0, 0.0, 0
    # Three loops without branches: one loop with them took 1.25 times as long (2,000 rows of 8 columns).
    if not given:
        for i in range(len(point.e)):
            point.beta[i] = follow(box, i, point.e[i], centre[i], near)
    for i in range(len(point.e)):
        e, beta = point.e[i], point.beta[i]
        value = loss(box, i, e)
        losses += value
        slack += value - gain(box, i, e, beta)
        total += beta
        size += abs(beta)
    for i in range(len(point.e)):
        work.free[m], work.stiffness[m] = i, -point.beta[i]
        m += point.beta[i] != 0.0
    for j in range(d):
        point.grad[j] = point.coef[j]
    add_rows(x, work.free[:m], work.stiffness, point.grad)
    point.numbers[LOSS], point.numbers[SLACK] = losses, slack
    point.grad[d] = -total if fit_intercept and abs(total) > ROUNDING * size else 0.0


@part
def _move(start, step, share, end):  # type: ignore[no-untyped-def]
    for j in range(len(step)):
        end.coef[j] = start.coef[j] + share * step[j]


@subroutine
def _look_at_free_rows(x, box, point, near, free, stiffness, offset):  # type: ignore[no-untyped-def]
    """Find the free rows, their mean and mass, and the approximate remaining decrease of the smoothed objective.

    The latter is the mismatch, plus the cost of balancing the dual variables by a shift of those of free rows.
    """
    d = x.shape[1]
    mass, m = 0.0, 0
    for j in range(d):
        offset[j] = 0.0
    for i in range(len(point.beta)):
        if is_free(box, i, point.beta[i]):
            stiffness[m] = 1.0 / (box.soft[i] + near / box.weight[i])
            free[m] = i
            mass += stiffness[m]
            m += 1
    add_rows(x, free[:m], stiffness, offset)
    if mass > 0.0:
        for j in range(d):
            offset[j] /= mass
    remaining, excess = _half_square(point.grad), point.grad[d]
    if excess != 0.0:
        remaining += 0.5 * excess**2 * (1.0 / mass + _dot(offset, offset)) if mass > 0.0 else np.inf
    point.numbers[REMAINING], point.numbers[MASS], point.numbers[FREE] = remaining, mass, m


@subroutine
def _slope_along(box, start, end, step, share, centre, near):  # type: ignore[no-untyped-def]
    """Directional derivative along a step, after a share of it, from the residuals at both ends."""
    slope = 0.0
    for j in range(len(step) - 1):
        slope += (start.coef[j] + share * step[j]) * step[j]
    for i in range(len(start.e)):
        change = start.e[i] - end.e[i]
        slope -= follow(box, i, start.e[i] - share * change, centre[i], near) * change
    return slope


@subroutine
def _least_share(box, start, end, step, before, after, centre, near):  # type: ignore[no-untyped-def]
    """Share of a step that lowers the slope of the objective along it to a fifth, or less (Illinois method)."""
    near_share, far_share, at_near, at_far = 0.0, 1.0, before, after
    while at_far < 0.0:
        near_share, at_near, far_share = far_share, at_far, 2.0 * far_share
        at_far = _slope_along(box, start, end, step, far_share, centre, near)
        if far_share > 1e30:
            return near_share
    share, side = far_share, 0
    for _ in range(100):
        share = (near_share * at_far - far_share * at_near) / (at_far - at_near)
        slope = _slope_along(box, start, end, step, share, centre, near)
        if abs(slope) <= 0.2 * abs(before) or far_share - near_share <= 0.01 * far_share:
            break
        if slope < 0.0:
            near_share, at_near = share, slope
            at_far *= 0.5 if side == -1 else 1.0
            side = -1
        else:
            far_share, at_far = share, slope
            at_near *= 0.5 if side == 1 else 1.0
            side = 1
    return share


@part
def _allowed(slack, objective, tol, floor, smoothed):  # type: ignore[no-untyped-def]
    """Largest remaining decrease at the end of a round: a share of the slack, or of the tolerance."""
    wanted = tol * objective + floor
    if not smoothed:
        return wanted
    return 0.1 * slack if slack > 0.7 * wanted else 0.3 * wanted


@subroutine
def _minimise(x, box, now, end, work, centre, near, control, share, fewest, most, products):  # type: ignore[no-untyped-def]
    """Newton steps until the remaining decrease is small enough.

    Returns
    -------
    used : number of passes
    solved : whether it is small enough
    products : as given, or 0 once conjugate gradients have taken as long as a factorisation
    """
    least, smallest, since, used = np.inf, np.inf, 0, 0
    smoothed = near > 0.0
    while True:
        _look_at_free_rows(x, box, now, near, work.free, work.stiffness, work.offset)
        remaining, mass, n_free = now.numbers[REMAINING], now.numbers[MASS], int(now.numbers[FREE])
        allowed = share * _allowed(now.numbers[SLACK], _objective(now), control.tol, control.floor, smoothed)
        if remaining <= (allowed if fewest <= 0 else 0.0):
            return used, True, products
        fewest -= 1
        if used >= most:
            return used, False, products
        step = work.step
        if mass <= 0.0 and now.grad[-1] != 0.0:  # if no row is free, only the level moves, until some rows are
            for j in range(len(step)):
                step[j] = 0.0
            step[-1] = -control.unit if now.grad[-1] > 0.0 else control.unit
        else:
            free, rows = work.free[:n_free], work.rows[:n_free]
            slope = (work.stiffness, work.offset, mass, now.grad, control.fit_intercept)
            if products and not conjugate_step(x, free, *slope, 0.1 * np.sqrt(allowed), products, step):
                products = 0
            if not products:
                newton_step(x, free, rows, *slope, step)
        before = _dot(now.grad, step)
        if not before < 0.0:  # the slope is a rounding error
            return used, remaining <= allowed, products
        # While rows become free one by one, the remaining decrease stays the same, but the gain of steps shrinks.
        since += 1
        if remaining < 0.5 * least:
            least, since = remaining, 0
        if -before < 0.5 * smallest:
            smallest, since = -before, 0
        if since > PATIENCE:
            return used, False, products
        _move(now, step, 1.0, end)
        _set_residuals(x, box, end)
        _sum_rows(x, box, end, work, False, centre, near, control.fit_intercept)
        used += 1
        after = _dot(end.grad, step)
        if not np.isfinite(after):
            return used, False, products
        if abs(after) > 0.5 * abs(before):
            part_of_it = _least_share(box, now, end, step, before, after, centre, near)
            _move(now, step, part_of_it, end)
            _set_residuals(x, box, end)
            _sum_rows(x, box, end, work, False, centre, near, control.fit_intercept)
            used += 1
            if part_of_it < SHORT:
                return used, False, products
        _copy(end, now)


@subroutine
def _certify(x, box, now, proof, work, fit_intercept):  # type: ignore[no-untyped-def]
    """The gap of a plane with balanced dual variables, which are written to `proof`."""
    _copy(now, proof)
    if fit_intercept:
        balance(box, proof.beta)
    _sum_rows(x, box, proof, work, True, proof.beta, 0.0, fit_intercept)
    gap = proof.numbers[SLACK] + _half_square(proof.grad)
    return gap if np.isfinite(gap) else np.inf


class Work(NamedTuple):
    """Numbers of the free rows, a buffer for these rows, their stiffness and mean, and a step."""

    free: Array
    rows: Array
    stiffness: Array
    offset: Array
    step: Array


@loop
def augmented_newton(x, box, control, coef, centre, width, products):  # type: ignore[no-untyped-def]
    """Minimise ½‖coef‖² + Σ losses up to a gap of tol·objective + floor.

    Parameters
    ----------
    x : float64 of shape (n, d), contiguous
    coef : float64 of shape (d + 1,), coefficients and level to start from
    centre : float64 of shape (n,), dual variables to start from; overwritten
    width : float
        Width of the smoothing in the first round, in units of the scores; 0 for squared losses.
    products : int
        Cost of a factorisation, in products with the free rows, before which conjugate gradients are tried; 0 to factor
        at once.

    Returns
    -------
    coef, beta, objective, gap, passes
    """
    n, d = x.shape
    now, end, best = _new_point(n, d), _new_point(n, d), _new_point(n, d)
    work = Work(np.empty(n, dtype=np.int64), np.empty((n, d)), np.empty(n), np.zeros(d), np.zeros(d + 1))
    for j in range(d + 1):
        now.coef[j] = coef[j]
    _set_residuals(x, box, now)
    used, share, shrink, last = 1, 1.0 if width > 0.0 else 0.5, SHRINK, width
    least, since, known = np.inf, 0, False
    while True:
        near = width / control.bound
        _sum_rows(x, box, now, work, False, centre, near, control.fit_intercept)
        fewest, most = 1 if width > 0.0 else 0, control.most - used
        passes, solved, products = _minimise(
            x, box, now, end, work, centre, near, control, share, fewest, most, products
        )
        used += passes
        remaining, objective = now.numbers[SLACK] + now.numbers[REMAINING], _objective(now)
        wanted = control.tol * objective + control.floor
        since = 0 if remaining < 0.8 * least else since + 1
        if remaining < least or not known:
            _copy(now, best)
            least = remaining
        ended = used >= control.most or since > ROUNDS_PATIENCE or (width == 0.0 and not solved)
        if remaining <= wanted or ended or width == 0.0:
            gap = _certify(x, box, best, end, work, control.fit_intercept)
            used += 1
            if gap <= wanted or ended:
                return end.coef, end.beta, _objective(end), gap, used
        if width == 0.0:
            share *= 0.1
        elif solved:
            for i in range(n):
                centre[i] = now.beta[i]
            known = True
            width, last = width / shrink, width
        elif known:  # the width shrank too fast: go back half the way, and shrink it more slowly
            back = width > 0.9 * last
            width, shrink = np.sqrt(width * last), np.sqrt(shrink)
            width *= SHRINK if back else 1.0
        else:
            width *= SHRINK**2
