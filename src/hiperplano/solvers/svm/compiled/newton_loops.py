"""Compiled Newton's method on an augmented Lagrangian: `augmented_lagrangian` for small tables in memory.

Numba compiles a function again as a part of each function that calls it. To keep the first fit short,
`augmented_newton` is therefore long, and what it calls calls only short functions. Counters that are passed on start as
np.int64(0): a literal 0 would have a type of its own, for which the called function would be compiled once more.
"""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import loop, part, subroutine
from hiperplano.solvers.svm.augmented_lagrangian import ROUNDS_PATIENCE, SHRINK
from hiperplano.solvers.svm.compiled.box_loops import balance, follow, gain, is_free, loss
from hiperplano.solvers.svm.compiled.step_loops import add_rows, conjugate_step, newton_step
from hiperplano.solvers.svm.newton import PATIENCE, SHORT
from hiperplano.solvers.svm.smoothed import ROUNDING


@part
def _copy(source, to):  # type: ignore[no-untyped-def]
    for i in range(len(to)):
        to[i] = source[i]


@part
def _half_square(vector):  # type: ignore[no-untyped-def]
    """½‖vector‖² without the last entry, which belongs to the level."""
    total = 0.0
    for j in range(len(vector) - 1):
        total += vector[j] * vector[j]
    return 0.5 * total


@part
def _dot(left, right):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(len(right)):
        total += left[j] * right[j]
    return total


@subroutine
def _set_residuals(x, target, coef, e):  # type: ignore[no-untyped-def]
    """e = target − score, four rows at a time, to reuse loaded coefficients."""
    n, d, i = x.shape[0], x.shape[1], 0
    level = coef[d]
    while i + 4 <= n:
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            first += x[i, j] * coef[j]
            second += x[i + 1, j] * coef[j]
            third += x[i + 2, j] * coef[j]
            fourth += x[i + 3, j] * coef[j]
        e[i], e[i + 1] = target[i] - (first + level), target[i + 1] - (second + level)
        e[i + 2], e[i + 3] = target[i + 2] - (third + level), target[i + 3] - (fourth + level)
        i += 4
    while i < n:
        score = 0.0
        for j in range(d):
            score += x[i, j] * coef[j]
        e[i] = target[i] - (score + level)
        i += 1


@subroutine
def _set_dual_variables(box, e, centre, near, beta):  # type: ignore[no-untyped-def]
    for i in range(len(e)):
        beta[i] = follow(e[i], centre[i], near / box.weight[i], box.low[i], box.high[i], box.soft[i], box.epsilon)


@subroutine
def _sum_rows(x, box, coef, e, beta, fit_intercept, which, weight, grad):  # type: ignore[no-untyped-def]
    """Losses and slack, Σ(loss − gain); the gradient is written to `grad`. `which` and `weight` are buffers."""
    d, squared = x.shape[1], box.soft[0] > 0.0
    losses, slack, total, size, m = 0.0, 0.0, 0.0, 0.0, np.int64(0)
    # Two loops without branches: one loop with them took 1.25 times as long (2,000 rows of 8 columns).
    for i in range(len(e)):
        value = loss(e[i], box.low[i], box.high[i], box.soft[i], box.epsilon, squared)
        losses += value
        slack += value - gain(e[i], beta[i], box.soft[i], box.epsilon)
        total += beta[i]
        size += abs(beta[i])
    for i in range(len(e)):
        which[m], weight[m] = i, -beta[i]
        m += beta[i] != 0.0
    for j in range(d):
        grad[j] = coef[j]
    add_rows(x, which, m, weight, grad)
    grad[d] = -total if fit_intercept and abs(total) > ROUNDING * size else 0.0
    return losses, slack


@subroutine
def _find_free_rows(x, box, beta, near, free, stiffness, offset):  # type: ignore[no-untyped-def]
    """Write the free rows, their stiffness and weighted mean. Returns their number, and the sum of the stiffness."""
    mass, m = 0.0, np.int64(0)
    for j in range(len(offset)):
        offset[j] = 0.0
    for i in range(len(beta)):
        if is_free(beta[i], box.low[i], box.high[i], box.epsilon):
            stiffness[m] = 1.0 / (box.soft[i] + near / box.weight[i])
            free[m] = i
            mass += stiffness[m]
            m += 1
    add_rows(x, free, m, stiffness, offset)
    if mass > 0.0:
        for j in range(len(offset)):
            offset[j] /= mass
    return m, mass


@part
def _remaining_decrease(grad, offset, mass):  # type: ignore[no-untyped-def]
    """Approximate remaining decrease of the smoothed objective.

    It is the mismatch, plus the cost of balancing the dual variables by a shift of those of free rows.
    """
    remaining, excess = _half_square(grad), grad[-1]
    if excess != 0.0:
        remaining += 0.5 * excess * excess * (1.0 / mass + _dot(offset, offset)) if mass > 0.0 else np.inf
    return remaining


@subroutine
def _least_share(box, coef, e, end_e, step, before, after, centre, near):  # type: ignore[no-untyped-def]
    """Share of a step that lowers the slope of the objective along it to a fifth, or less (Illinois method).

    The slope after a share of the step follows from the residuals at both ends. If it is still negative at the end,
    the step is doubled until it is not.
    """
    near_share, far_share, at_near, at_far, share, side = 0.0, 1.0, before, after, 1.0, 0
    for _ in range(200):
        growing = at_far < 0.0
        if growing:
            near_share, at_near, far_share = far_share, at_far, 2.0 * far_share
            if far_share > 1e30:
                return near_share
        share = far_share if growing else (near_share * at_far - far_share * at_near) / (at_far - at_near)
        slope = 0.0
        for j in range(len(step) - 1):
            slope += (coef[j] + share * step[j]) * step[j]
        for i in range(len(e)):
            change = e[i] - end_e[i]
            there = e[i] - share * change
            proximity = near / box.weight[i]
            slope -= change * follow(there, centre[i], proximity, box.low[i], box.high[i], box.soft[i], box.epsilon)
        if growing:
            at_far = slope
        elif abs(slope) <= 0.2 * abs(before) or far_share - near_share <= 0.01 * far_share:
            return share
        elif slope < 0.0:
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


@loop
def augmented_newton(x, box, control, start, centre, width, products):  # type: ignore[no-untyped-def]
    """Minimise ½‖coef‖² + Σ losses up to a gap of tol·objective + floor.

    Parameters
    ----------
    x : float64 of shape (n, d), contiguous
    start : float64 of shape (d + 1,), coefficients and level to start from
    centre : float64 of shape (n,), dual variables to start from; overwritten
    width : float
        Width of the smoothing in the first round, in units of the scores; 0 for squared losses.
    products : int or None
        Cost of a factorisation, in products with the free rows, before which conjugate gradients are tried. None to
        factor at once: conjugate gradients are then not compiled.

    Returns
    -------
    coef, beta, objective, gap, passes
    """
    n, d = x.shape
    fit_intercept, tol, floor = control.fit_intercept, control.tol, control.floor
    # A plane, its residuals, dual variables and gradient; the same at the end of a step; and for the best plane.
    coef, e, beta, grad = np.empty(d + 1), np.empty(n), np.empty(n), np.empty(d + 1)
    end_coef, end_e, end_beta, end_grad = np.empty(d + 1), np.empty(n), np.empty(n), np.empty(d + 1)
    best_coef, best_e, best_beta = np.empty(d + 1), np.empty(n), np.empty(n)
    step, offset = np.empty(d + 1), np.empty(d)
    free, stiffness = np.empty(n, dtype=np.int64), np.empty(n)
    _copy(start, coef)
    _set_residuals(x, box.target, coef, e)
    used, share, shrink, last = 1, 1.0 if width > 0.0 else 0.5, SHRINK, width
    least, rounds, known, conjugate = np.inf, 0, False, True
    while True:
        near = width / control.bound
        _set_dual_variables(box, e, centre, near, beta)
        losses, slack = _sum_rows(x, box, coef, e, beta, fit_intercept, free, stiffness, grad)
        fewest, most = 1 if width > 0.0 else 0, control.most - used
        smallest, smallest_gain, since, passes, solved = np.inf, np.inf, 0, 0, False
        while True:  # Newton steps until the remaining decrease is small enough
            m, mass = _find_free_rows(x, box, beta, near, free, stiffness, offset)
            remaining = _remaining_decrease(grad, offset, mass)
            allowed = share * _allowed(slack, _half_square(coef) + losses, tol, floor, near > 0.0)
            solved = remaining <= (allowed if fewest <= 0 else 0.0)
            if solved or passes >= most:
                break
            fewest -= 1
            if mass <= 0.0 and grad[d] != 0.0:  # if no row is free, only the level moves, until some rows are
                for j in range(d):
                    step[j] = 0.0
                step[d] = -control.unit if grad[d] > 0.0 else control.unit
            else:
                stepped = False
                if products is not None and conjugate:
                    enough = 0.1 * np.sqrt(allowed)
                    stepped = conjugate_step(
                        x, free, m, stiffness, offset, mass, grad, fit_intercept, enough, products, step
                    )
                    conjugate = stepped
                if not stepped:
                    newton_step(x, free, m, stiffness, offset, mass, grad, fit_intercept, step)
            before = _dot(grad, step)
            if not before < 0.0:  # the slope is a rounding error
                solved = remaining <= allowed
                break
            # While rows become free one by one, the remaining decrease stays the same, but the gain of steps shrinks.
            since += 1
            if remaining < 0.5 * smallest:
                smallest, since = remaining, 0
            if -before < 0.5 * smallest_gain:
                smallest_gain, since = -before, 0
            if since > PATIENCE:
                break
            moved = 1.0
            for attempt in range(2):  # the whole step, and the result of a line search if that is too long or short
                for j in range(d + 1):
                    end_coef[j] = coef[j] + moved * step[j]
                _set_residuals(x, box.target, end_coef, end_e)
                _set_dual_variables(box, end_e, centre, near, end_beta)
                sums = _sum_rows(x, box, end_coef, end_e, end_beta, fit_intercept, free, stiffness, end_grad)
                passes += 1
                after = _dot(end_grad, step)
                if attempt == 1 or abs(after) <= 0.5 * abs(before) or not np.isfinite(after):
                    break
                moved = _least_share(box, coef, e, end_e, step, before, after, centre, near)
            if not np.isfinite(after) or moved < SHORT:
                break
            losses, slack = sums
            coef, end_coef, e, end_e = end_coef, coef, end_e, e
            beta, end_beta, grad, end_grad = end_beta, beta, end_grad, grad
        used += passes
        remaining += slack
        wanted = tol * (_half_square(coef) + losses) + floor
        rounds = 0 if remaining < 0.8 * least else rounds + 1
        if remaining < least or not known:
            _copy(coef, best_coef)
            _copy(e, best_e)
            _copy(beta, best_beta)
            least = remaining
        ended = used >= control.most or rounds > ROUNDS_PATIENCE or (width == 0.0 and not solved)
        if remaining <= wanted or ended or width == 0.0:
            _copy(best_beta, end_beta)
            if fit_intercept:
                balance(box, end_beta)
            losses, slack = _sum_rows(x, box, best_coef, best_e, end_beta, fit_intercept, free, stiffness, end_grad)
            gap = slack + _half_square(end_grad)
            used += 1
            if gap <= wanted or ended:
                objective = _half_square(best_coef) + losses
                return best_coef, end_beta, objective, gap if np.isfinite(gap) else np.inf, used
        if width == 0.0:
            share *= 0.1
        elif solved:
            _copy(beta, centre)
            known = True
            width, last = width / shrink, width
        elif known:  # the width shrank too fast: go back half the way, and shrink it more slowly
            back = width > 0.9 * last
            width, shrink = np.sqrt(width * last), np.sqrt(shrink)
            width *= SHRINK if back else 1.0
        else:
            width *= SHRINK**2
