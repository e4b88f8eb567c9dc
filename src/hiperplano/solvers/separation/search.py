"""Is there a plane between two classes? A proof either way, from linear programs over few of the rows.

A program over some rows either shows that these rows already meet, which settles it for all, or gives a plane.
One pass over all rows then finds those on its wrong side; the worst join the program, until none is left. So the
full program is solved only if the answer hangs on every row.

With z = y·(x, 1), or y·x through the origin, exactly one of three holds (the theorems of Gordan and Stiemke):

- some v has z·v > 0 for all rows: separable;
- some v has z·v ≥ 0 for all rows and > 0 for some, none for all; then Σ λ·z = 0 for some λ ≥ 0, λ ≠ 0, which is a
  common point of the convex hulls: quasi-separable;
- z·v ≥ 0 for all rows only if z·v = 0 for all; then there are such λ whose rows span all rows: overlapping. Only
  now a logistic likelihood has a maximum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.errors import NotAvailable
from hiperplano.solvers.least_squares.choice import solve_least_squares
from hiperplano.solvers.separation.certificates import ZERO, Certificate, Overlapping, QuasiSeparable, Separable
from hiperplano.solvers.separation.frame import Frame, signed_products, signed_scores
from hiperplano.solvers.separation.programs import Partition, partition, row_space, sparser_direction

_FIRST = 4  # rows of each class to start from, and
_MORE = 2  # to add in each round, for each coordinate of the plane
_FEWEST = 64
_WIDE = 1000  # columns from which programs are slow, so that a least-squares plane is tried before
_MOST_CELLS = 2**27  # of a program


def separate(design: Design, fit_intercept: bool = True, names: Sequence[str] | None = None) -> Certificate:
    """A certificate that the rows are separable, quasi-separable or overlapping.

    Parameters
    ----------
    design : Design
        With one target of −1 and +1, both present. Rows of weight 0 do not count; other weights make no difference.
    names : sequence of str, optional
        Of the columns, for messages.

    Returns
    -------
    Separable, QuasiSeparable or Overlapping
        Its `holds(design)` is true, and its `separated` says whether the logistic likelihood has no maximum.
    """
    if design.weight is not None and not design.weight.all():
        counted = np.flatnonzero(design.weight)
        found = separate(type(design)(design.take(counted), design.y[counted]), fit_intercept, names)
        return replace(found, rows=counted[found.rows]) if isinstance(found, Overlapping | QuasiSeparable) else found
    names = names or [f"x{j}" for j in range(design.n_columns)]
    frame = Frame.of(design, fit_intercept)
    plane = _wide_screen(design, frame, names) if design.n_columns > _WIDE else None
    if plane is not None:
        return plane
    proof = _certificate(design, frame, *_grow(design, frame), names)
    if proof is None or not proof.holds(design):
        raise NotAvailable(
            "separability: the classes come closer than the rounding of the numbers in X, so no proof holds either "
            "way. Columns that vary little around a large mean lose their digits: subtract their means first."
        )
    return proof


def _wide_screen(design: Design, frame: Frame, names: Sequence[str]) -> Separable | None:
    """The least-squares plane, if it happens to separate: likely with more columns than rows."""
    counts = np.bincount((design.y[:, 0] > 0).astype(int), minlength=2)
    balance = np.where(design.y[:, 0] > 0, design.n_rows / counts[1], design.n_rows / counts[0])
    solution = solve_least_squares(
        design.with_target(design.y, balance),
        alpha=np.zeros(1),
        fit_intercept=frame.level,
        positive=False,
        solver="auto",
        tol=1e-6,
        max_iter=None,
    )
    return _separable(design, solution.coef[0], float(solution.intercept[0]), frame, names, 0)


def _grow(design: Design, frame: Frame) -> tuple[Array, Partition]:
    """Rows whose program settles the question for all rows, and its answer."""
    random = np.random.default_rng(0)
    sides = [np.flatnonzero(design.y[:, 0] > 0), np.flatnonzero(design.y[:, 0] < 0)]
    first = max(_FEWEST, _FIRST * frame.size)
    working = np.sort(
        np.concatenate([side if len(side) <= first else random.choice(side, first, False) for side in sides])
    )
    maybe_separable = True
    while True:
        _refuse_huge(len(working), frame.size)
        split = partition(frame.signed_rows(design, working), frame.level, maybe_separable)
        maybe_separable = not split.bound.any()
        against = _contradictions(design, frame, split)
        against[working] = 0.0
        most = max(_FEWEST, _MORE * frame.size)
        added = [_largest(against, side, most) for side in sides]
        if not sum(map(len, added)):
            return working, _sparser(design, frame, working, split)
        working = np.sort(np.concatenate([working, *added]))


def _sparser(design: Design, frame: Frame, working: Array, split: Partition) -> Partition:
    """The same split, by fewer columns if they do for all rows."""
    if not split.direction.any():
        return split
    z = frame.signed_rows(design, working)
    still = row_space(z[split.bound])[1]
    other = replace(split, direction=sparser_direction(z[~split.bound], still, frame.level, split.direction))
    same = np.array_equal(other.direction, split.direction)
    return split if same or _contradictions(design, frame, other).any() else other


def _contradictions(design: Design, frame: Frame, split: Partition) -> Array:
    """How badly every row speaks against the answer of the program: 0 if not at all.

    A row does so on the wrong side of the direction; and on the plane, unless the bound rows hold it there.
    """
    n_free = split.free.shape[1]
    if not n_free:  # the bound rows span everything
        return np.zeros(design.n_rows)
    # A row in the span of the bound rows has no score in any free direction; one outside has one, almost
    # surely, in a random mixture of them.
    mixture = split.free @ np.random.default_rng(n_free).normal(size=n_free)
    if not split.direction.any():
        (loose,) = signed_products(design, frame, mixture[:, None]).T
        return _beyond(np.abs(loose), frame, mixture)
    score, loose = signed_products(design, frame, np.column_stack([split.direction, mixture])).T
    zero = frame.resolution(frame.plane(split.direction)[0], ZERO)
    if not split.bound.any():
        return np.where(score > zero, 0.0, 1.0 + zero - score)
    wrong = np.where(score < -zero, 1.0 - score, 0.0)
    on_plane = np.abs(score) <= zero
    share = _beyond(np.abs(loose), frame, mixture)
    return np.where(on_plane, share / max(float(share.max()), 1.0), wrong)


def _beyond(size: Array, frame: Frame, direction: Array) -> Array:
    return np.where(size > frame.resolution(frame.plane(direction)[0], ZERO), size, 0.0)


def _largest(values: Array, among: Array, most: int) -> Array:
    """Those of the rows `among` with the largest positive values, at most `most`."""
    found = among[values[among] > 0]
    if len(found) <= most:
        return found
    return found[np.argpartition(values[found], -most)[-most:]]


def _certificate(
    design: Design, frame: Frame, working: Array, split: Partition, names: Sequence[str]
) -> Certificate | None:
    """The answer of a program in the units of the data; None if it drowns in their rounding."""
    coef, intercept = frame.plane(split.direction)
    if not split.bound.any():
        return _separable(design, coef, intercept, frame, names, len(working))
    rows, weights = working[split.bound], split.weight[split.bound]
    positive = design.y[rows, 0] > 0
    kept = weights > 0
    rows, weights, positive = rows[kept], weights[kept], positive[kept]
    if frame.level:
        weights = weights / np.where(positive, weights[positive].sum(), weights[~positive].sum())
    else:
        weights = weights / weights.sum()
    meeting = np.asarray(weights[positive] @ design.take(rows[positive]))
    if not split.direction.any():
        return Overlapping(
            rows=rows, weights=weights, point=meeting, fit_intercept=frame.level, n_examined=len(working)
        )
    score, rounding = signed_scores(design, coef, intercept)
    zero = rounding + frame.resolution(coef, ZERO)
    columns = tuple(map(int, np.flatnonzero(coef)))
    return QuasiSeparable(
        coef=coef,
        intercept=intercept,
        n_separated=int((score > zero).sum()),
        columns=columns,
        names=tuple(str(names[j]) for j in columns),
        rows=rows,
        weights=weights,
        point=meeting,
        fit_intercept=frame.level,
        n_examined=len(working),
    )


def _separable(
    design: Design, coef: Array, intercept: float, frame: Frame, names: Sequence[str], n_examined: int
) -> Separable | None:
    """The plane, moved to the middle between the classes, with a smallest score of 1; None if it does not separate."""
    score, _ = signed_scores(design, coef, intercept)
    positive = design.y[:, 0] > 0
    if frame.level and positive.any() and not positive.all():
        intercept -= float(score[positive].min() - score[~positive].min()) / 2
    score, rounding = signed_scores(design, coef, intercept)
    least = float(score.min())
    if not (score > rounding).all():
        return None
    coef = coef / least
    length = hypot(*coef.tolist())
    columns = tuple(map(int, np.flatnonzero(coef)))
    return Separable(
        coef=coef,
        intercept=intercept / least,
        margin=1.0 / length,
        columns=columns,
        names=tuple(str(names[j]) for j in columns),
        fit_intercept=frame.level,
        n_examined=n_examined,
    )


def _refuse_huge(n_rows: int, n_coordinates: int) -> None:
    if n_rows * n_coordinates > _MOST_CELLS:
        raise NotAvailable(
            f"separability: the question comes down to a program of {n_rows} rows and {n_coordinates} columns, which "
            "is too large to solve here. Ask about fewer columns; a fit with a penalty (a finite C) needs no answer."
        )
