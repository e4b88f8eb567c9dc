"""Online learners as their textbooks print them: one row after the other, in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from tools.attack.references import Sample, compared, rounding

_MOST_VISITS = 8  # of one row in a pass; a heavier one takes longer steps
_CLOSE = 1e-11  # scores this near to a kink, beside the terms they are made of, may fall on either side of it


def visits(weight: Any) -> list[tuple[int, float]]:
    """(row, weight of the visit): one for each whole unit of weight, from 1 to 8, each with an equal part of it."""
    found = []
    for row, total in enumerate(weight.tolist()):
        times = min(max(int(total), 1), _MOST_VISITS)
        found += [(row, total / times)] * times
    return found


def walk(sample: Sample, targets: Any, passes: int, move: Any, kink: Any) -> tuple[Any, Any] | None:
    """(w, b) after some passes of w ← shrink·w + step·x, b ← b + step; None if a score came too close to a kink.

    Parameters
    ----------
    move : callable
        (target, score, ‖x‖², weight, t) → (shrink, step).
    kink : float or None
        The value of target·score at which the rule changes.
    """
    w, b, t = np.zeros(sample.X.shape[1]), 0.0, 1
    for _ in range(passes):
        for row, weight in visits(sample.weight):
            x, y = sample.X[row], float(targets[row])
            terms = w * x
            score = float(np.sum(terms) + b)
            size = float(np.sum(np.abs(terms)) + abs(b))
            if kink is not None and size > 0 and abs(y * score - kink) <= _CLOSE * max(size, abs(kink)):
                return None
            shrink, step = move(y, score, float(x @ x), weight, t)
            w, b, t = shrink * w + step * x, b + step, t + 1
    return w, b


def compare_walk(model: Any, sample: Sample, targets: Any, move: Any, kink: float | None) -> str:
    """A fit without shuffling and with all passes made, beside the plain walk."""
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    if coef.dtype != np.float64 or sample.weight.max() > 1e12 or sample.weight.min() < 1e-6:
        return ""
    for plane, target in enumerate(targets.T):
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            found = walk(sample, target, model.max_iter, move, kink)
        if found is None or not np.isfinite(found[0]).all():
            continue
        size = max(float(np.abs(found[0]).max()), abs(found[1]), 1e-300)
        both = np.append(coef[plane], intercept[plane])
        wrong = compared(both, np.append(*found), 0.0, size)
        if wrong:
            return f"plane {plane}: {wrong}"
    return ""


__all__ = ["compare_walk", "rounding", "visits", "walk"]
