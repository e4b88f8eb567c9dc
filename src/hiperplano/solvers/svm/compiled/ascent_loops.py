"""Compiled dual coordinate ascent: each step changes one dual variable, and reads only its row.

Rows whose dual variables stay at a bound are skipped until a check of all rows restores them (shrinking). An intercept
without a penalty requires Σβ = 0. This constraint is treated by an augmented Lagrangian, whose multiplier is the level.

`dual_ascent` is long, and calls short functions, since that compiles in less time (`newton_loops`).
"""

from __future__ import annotations

import numpy as np

from hiperplano.solvers.rows_loops import fetch_row, loop, part, row_add, row_dot, row_square, subroutine
from hiperplano.solvers.svm.compiled.box_loops import balance, best_level, gain, is_free, loss
from hiperplano.solvers.svm.compiled.costs import FEWEST_PASSES
from hiperplano.solvers.svm.compiled.problem import Box
from hiperplano.solvers.svm.dual_loops import AHEAD, shuffle
from hiperplano.solvers.svm.duality_gap import NEXT_CHECK, STILL

_OVER_RELAXATION = 1.3  # factor on a step that ends between the bounds, in passes after a slow one:
_SLOW = 0.5  # one that left more than this share of the slack, Σ(loss − gain)
_FIRST_LOOK = 20  # with a plain loss, the duality gap is also computed after so many passes,
_LATER = 1.5  # and after each further growth of their number by this factor
_WINDOW = 8  # convergence is extrapolated from so many last passes
_DOUBTED = 500  # from so many passes on, it is also extrapolated from the last half of all passes
# The number of free rows has settled if it is at least this share of that after half of the passes, or less.
_SETTLED = 0.9
_PATIENCE = 10  # the ascent ends after so many computed gaps between which no dual variable has moved
# The level is treated as a column, with a squared length as a share of a typical row's:
_LEVEL_SQUARE = 0.1  # at most this, since rows should hardly notice it;
_LEVEL_OF_ALL = 10.0  # (over the number of rows) Σβ should fall to a tenth in a pass
# Share of the mean row's square. 1.0 takes a seventh more passes on random rows, 0.1 takes 1.6 times as many on texts.
_LEVEL_OF_MEAN = 0.3
_MEAN_ROWS = 1000  # rows from which the length of the mean row is estimated


@part
def _cannot_move(beta, slope, low, high, epsilon, beyond):  # type: ignore[no-untyped-def]
    """Whether a dual variable is at a bound or kink, and its slope points there by more than `beyond`."""
    up = slope - epsilon if beta >= 0.0 else slope + epsilon
    down = epsilon - slope if beta > 0.0 else -slope - epsilon
    return (beta >= high or up < -beyond) and (beta <= low or down < -beyond)


@part
def _best_value(beta, slope, stiffness, low, high, epsilon):  # type: ignore[no-untyped-def]
    """argmax over low ≤ b ≤ high of slope·(b − beta) − ½·stiffness·(b − beta)² − ε·|b|."""
    middle, width = beta + slope / stiffness, epsilon / stiffness
    if abs(middle) <= width:
        return 0.0
    return min(max(middle - width if middle > 0.0 else middle + width, low), high)


@subroutine
def _side_by_side(box, beta):  # type: ignore[no-untyped-def]
    """The box, the dual variables and a buffer as columns of one table, and that table.

    All numbers of a row are then adjacent in memory, which matters since rows are visited in random order.
    """
    n = len(beta)
    table = np.empty((n, 8))
    for i in range(n):
        table[i, 0], table[i, 1], table[i, 2], table[i, 3] = box.target[i], box.low[i], box.high[i], box.soft[i]
        table[i, 4], table[i, 5] = box.weight[i], beta[i]
    columns = Box(table[:, 0], table[:, 1], table[:, 2], table[:, 3], table[:, 4], box.epsilon)
    return columns, table[:, 5], table[:, 6], table


@subroutine
def _one_pass(x, indices, indptr, table, box, square, pull, coef, beta, order, size, beyond, total, used, relaxation):  # type: ignore[no-untyped-def]
    """Visit the rows order[:size] in random order, and maximise over the dual variable of each.

    The function is Σ(target·β − ε|β| − ½·soft·β²) − ½‖Σβ·x‖² − level₀·Σβ − ½·pull·(Σβ)². `coef` is Σβ·x, followed by
    the level, level₀ + pull·Σβ, which changes with every dual variable.

    Returns
    -------
    size : number of rows that are still visited
    largest : largest violation of the optimality conditions
    losses, slack : Σ loss and Σ(loss − gain) of the rows, each at the time of its visit
    total : Σβ
    n_free : number of free rows; rows that are not visited are at a bound
    """
    shuffle(order, size, used + 1)
    d, squared = len(coef) - 1, box.soft[0] > 0.0
    largest, losses, slack, n_free, k = 0.0, 0.0, 0.0, 0, 0
    while k < size:
        i = order[k]
        if k + AHEAD < size:
            fetch_row(x, indices, indptr, order[k + AHEAD])
            fetch_row(table, indices, indptr, order[k + AHEAD])
        old, low, high, soft = beta[i], box.low[i], box.high[i], box.soft[i]
        e = box.target[i] - row_dot(x, indices, indptr, i, coef) - coef[d]
        value = loss(e, low, high, soft, box.epsilon, squared)
        losses += value
        slack += value - gain(e, old, soft, box.epsilon)
        slope = e - soft * old
        if _cannot_move(old, slope, low, high, box.epsilon, beyond):
            size -= 1
            order[k], order[size] = order[size], order[k]
            continue
        k += 1
        # The stiffness of an empty row may be 0; its dual variable then goes to the bound on the residual's side.
        stiffness = max(square[i] + pull + soft, 1e-300)
        new = _best_value(old, slope, stiffness, low, high, box.epsilon)
        if is_free(new, low, high, box.epsilon):
            n_free += 1
            new = min(max(old + relaxation * (new - old), low), high)
        step = new - old
        if step != 0.0:
            beta[i] = old + step
            row_add(x, indices, indptr, i, step, coef)
            total += step
            coef[d] += pull * step
            largest = max(largest, min(abs(slope) + box.epsilon, abs(step) * stiffness))
    return size, largest, losses, slack, total, n_free


@subroutine
def _set_residuals(x, indices, indptr, target, coef, e):  # type: ignore[no-untyped-def]
    """e = target − x·coef, without the level."""
    for i in range(len(e)):
        e[i] = target[i] - row_dot(x, indices, indptr, i, coef)


@subroutine
def _gap(x, indices, indptr, box, coef, level, beta, e, proved, moved):  # type: ignore[no-untyped-def]
    """The objective, and the gap that the dual variables `proved` give.

    `e` are the residuals without the level, which is subtracted. `moved` is Σβ·x − coef, and is updated for `proved`.
    """
    objective, gap, squared = 0.0, 0.0, box.soft[0] > 0.0
    for i in range(len(beta)):
        e[i] -= level
        value = loss(e[i], box.low[i], box.high[i], box.soft[i], box.epsilon, squared)
        objective += value
        gap += value - gain(e[i], proved[i], box.soft[i], box.epsilon)
        if proved[i] != beta[i]:
            row_add(x, indices, indptr, i, proved[i] - beta[i], moved)
    for j in range(len(moved)):
        objective += 0.5 * coef[j] * coef[j]
        gap += 0.5 * moved[j] * moved[j]
    return objective, gap if np.isfinite(gap) else np.inf


@loop
def certificate(x, indices, indptr, box, control, coef, beta, mismatch):  # type: ignore[no-untyped-def]
    """Coefficients with their best level, balanced dual variables near `beta`, the objective and the gap.

    `mismatch`, of shape (d,), is Σβ·x − coef, and is overwritten.
    """
    n, d = len(beta), len(coef) - 1
    e, proved, level = np.empty(n), np.empty(n), 0.0
    _set_residuals(x, indices, indptr, box.target, coef, e)
    for i in range(n):
        proved[i] = beta[i]
    if control.fit_intercept:
        level = best_level(box, e, coef[d], control.unit)
        balance(box, proved)
    objective, gap = _gap(x, indices, indptr, box, coef, level, beta, e, proved, mismatch)
    coef[d] = level
    return coef, proved, objective, gap


@subroutine
def _restore_rows(box, level, beta, e, beyond, order):  # type: ignore[no-untyped-def]
    """Put rows whose dual variables can move first, and return their number.

    `e` are the residuals of a check, and `level` is the change of the level since then.
    """
    size, last = 0, len(order)
    for i in range(len(beta)):
        slope = e[i] - level - box.soft[i] * beta[i]
        if _cannot_move(beta[i], slope, box.low[i], box.high[i], box.epsilon, beyond):
            last -= 1
            order[last] = i
        else:
            order[size] = i
            size += 1
    return size


@part
def _is_hopeless(history, used, work, share, wanted, affordable, early):  # type: ignore[no-untyped-def]
    """Whether the affordable passes are spent, and the remaining work is expected to be larger.

    If only a part of them is spent, the expected remaining work must be larger by the inverse of that part. `work` is
    in passes over all rows; a pass over the rows that are still visited is a `share` of one.
    """
    if work < max(early * affordable, min(affordable, FEWEST_PASSES)):
        return False
    window = min(used - 1, _WINDOW)
    if window < 1:
        return True
    shrunk = np.log(max(history[(used - window) % _WINDOW_SIZE], 1e-300) / max(history[used % _WINDOW_SIZE], 1e-300))
    left = np.log(max(history[used % _WINDOW_SIZE] / wanted, 1.0))
    return left * window * share * min(work, affordable) > shrunk * affordable * affordable


_WINDOW_SIZE = _WINDOW + 1


@subroutine
def _typical_stiffness(square, soft, least):  # type: ignore[no-untyped-def]
    """Harmonic mean of the stiffness of rows, since short rows have the largest dual variables."""
    total = 0.0
    for i in range(len(square)):
        total += 1.0 / (square[i] + soft[i] + least)
    return len(square) / total


@subroutine
def _mean_square(x, indices, indptr, square, sums):  # type: ignore[no-untyped-def]
    """Squared length of the mean row, estimated from some rows; `sums`, of shape (d,), is overwritten."""
    n, own, total, size = len(square), 0.0, 0.0, 0
    for j in range(len(sums)):
        sums[j] = 0.0
    for i in range(0, n, n // _MEAN_ROWS | 1):  # an odd distance, since rows may alternate
        row_add(x, indices, indptr, i, 1.0, sums)
        own += square[i]
        size += 1
    for j in range(len(sums)):
        total += sums[j] * sums[j]
    return max(0.0, total - own) / max(1.0, size * (size - 1.0))  # without bias


@loop
def dual_ascent(x, indices, indptr, given, control, affordable, early, enough, coef, start):  # type: ignore[no-untyped-def]
    """Maximise over the dual variables up to a gap of tol·objective + floor, or until it takes too long.

    Parameters
    ----------
    given : Box
    control : Control
    affordable : float
        Passes over all rows after which the ascent ends, unless it is expected to converge within as many more.
    early : float
        Share of these passes after which it ends if far more are expected to be needed.
    enough : float64 of shape (m,)
        Replaces the affordable passes if k < m rows are free and their number has settled: another method, which then
        takes over, costs less.
    coef : float64 of shape (d + 1,)
        Σβ·x, followed by the level; overwritten with the last values.
    start : float64 of shape (n,)
        Dual variables to start from; overwritten with the last ones.

    Returns
    -------
    coef, beta, objective, gap, passes
        The result with the smallest computed gap, and the number of passes.
    """
    n, d = len(start), len(coef) - 1
    box, beta, square, table = _side_by_side(given, start)
    order, e, proved, moved = np.arange(n), np.empty(n), np.empty(n), np.empty(d)
    found, best = np.empty(d + 1), np.empty(n)
    history = np.zeros(_WINDOW_SIZE)
    weight, total, mean, fresh = 0.0, 0.0, 0.0, True
    for i in range(n):
        square[i] = row_square(x, indices, indptr, i)
        weight += box.weight[i]
        mean += box.weight[i] * box.target[i]
        total += beta[i]
        fresh = fresh and beta[i] == 0.0
    if fresh and control.fit_intercept:  # for one class against many others, the level is far from 0
        coef[d] = mean / weight
    # The level follows Σβ like the coefficient of a column that is short beside the rows, so that it hardly affects
    # their steps. But all dual variables together can move it by a unit of the scores. They move the scores themselves
    # by the square of the mean row, which is not 0 for sparse rows: the level must not be slower than that.
    slowest, pull = control.softness / weight, 0.0
    if control.fit_intercept:
        stiffness = _typical_stiffness(square, box.soft, slowest)
        together = _LEVEL_OF_ALL / n * stiffness + _LEVEL_OF_MEAN * _mean_square(x, indices, indptr, square, moved)
        pull = min(_LEVEL_SQUARE * stiffness, together) + slowest
    size, beyond, used, still, trigger, look = n, np.inf, np.int64(0), 0, np.inf, float(_FIRST_LOOK)
    least, objective_there, work = np.inf, 0.0, 0.0
    relaxation, before = 1.0, np.inf
    # The number of free rows after so many passes, and after half of these; the slack, and the work.
    looked, n_before, n_looked, slack_looked, work_looked = np.int64(1), n, n, np.inf, 0.0
    while True:
        work += size / n
        size, beyond, losses, slack, total, n_free = _one_pass(
            x, indices, indptr, table, box, square, pull, coef, beta, order, size, beyond, total, used, relaxation
        )
        used += 1
        # Over-relaxation leaves about 0.4 of the slack in a pass at best: rows that are nearly orthogonal converge
        # faster without it. After an over-relaxed ascent on a squared loss, Newton's method took up to 1.6 times as
        # long where classes are separated.
        relaxation = _OVER_RELAXATION if slack > _SLOW * before and box.soft[0] == 0.0 else 1.0
        before = slack
        coef[d] += pull * total
        squares = 0.0
        for j in range(d):
            squares += coef[j] * coef[j]
        wanted = control.tol * (0.5 * squares + losses) + control.floor
        history[used % _WINDOW_SIZE] = slack
        rests = beyond <= STILL * control.unit
        stalls = False
        if used >= 2 * looked:
            if used >= _DOUBTED and affordable < np.inf:
                shrunk, left = np.log(slack_looked / max(slack, 1e-300)), np.log(max(slack / wanted, 1.0))
                stalls = left * (work - work_looked) > shrunk * (affordable - work)
            looked, n_before, n_looked, slack_looked, work_looked = used, n_looked, n_free, slack, work
        settles = n_free < len(enough) and n_free >= _SETTLED * n_before
        limits = (enough[n_free], 1.0) if settles else (affordable, early)
        ended = used + 1 >= control.most or stalls
        ended = ended or _is_hopeless(history, used, work, size / n, wanted, *limits)
        # A level that has not converged adds to the slack of a plain loss, but not to the gap at the best level.
        due = used >= look and box.soft[0] == 0.0
        if ended or rests or due or slack <= min(2.0 * wanted, trigger):
            look = max(look, _LATER * used)
            for j in range(d):
                moved[j] = 0.0
            _set_residuals(x, indices, indptr, given.target, coef, e)
            for i in range(n):
                proved[i] = beta[i]
            level = 0.0
            if control.fit_intercept:
                level = best_level(given, e, coef[d], control.unit)
                balance(given, proved)
            objective, gap = _gap(x, indices, indptr, given, coef, level, beta, e, proved, moved)
            used, work = used + 1, work + 1.0
            history[used % _WINDOW_SIZE] = slack
            if gap <= least:
                least, objective_there = gap, objective
                for j in range(d):
                    found[j] = coef[j]
                found[d] = level
                for i in range(n):
                    best[i] = proved[i]
            still = still + 1 if rests else 0
            if least <= control.tol * objective_there + control.floor or ended or still > _PATIENCE:
                for i in range(n):
                    start[i] = beta[i]
                return found, best, objective_there, least, used
            # The gap is about proportional to the slack: the next check is made when that should be small enough.
            trigger = slack * max(NEXT_CHECK, (control.tol * objective + control.floor) / gap)
            if rests and control.fit_intercept:  # no dual variable moves, so the level must be set
                coef[d] = level + pull * total
                trigger = np.inf
            size = _restore_rows(given, coef[d] - level, beta, e, beyond, order)
