"""Separability of two classes: a proof either way, from linear programs over few of the rows.

A program on some rows either shows that these rows already overlap, which settles the question for all rows, or gives a
plane. One pass over all rows then finds those on its wrong side. The worst of them join the program, until none is
left. So the full program is solved only if the answer depends on every row.

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
from typing import Any

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Design
from hiperplano.errors import NotAvailable
from hiperplano.solvers.least_squares.choice import solve_least_squares
from hiperplano.solvers.separation.certificates import (
    ZERO,
    Certificate,
    Overlapping,
    QuasiSeparable,
    Separable,
    weighted_sums,
)
from hiperplano.solvers.separation.planes import (
    n_coordinates,
    resolution,
    rows_at,
    signed_products,
    signed_rows,
    signed_scores,
    targets,
    to_data_units,
)
from hiperplano.solvers.separation.programs import Partition, partition, row_space, sparser_direction

_FIRST = 4  # rows of each class to start from, per coordinate of the plane
_MORE = 2  # rows to add in each round, per coordinate of the plane
_FEWEST = 64
_WIDE = 1000  # number of columns from which programs are slow, so that a least-squares plane is tried first
_MOST_CELLS = 2**27  # most numbers in a program


def program_work(n_rows: int, n_coordinates: int) -> float:
    """Cost of the programs for one question: the typical number of rows they hold, times coordinates².

    About 2e8 takes a second, and several programs may be needed.
    """
    held = 2 * max(_FEWEST, _FIRST * n_coordinates)
    return min(n_rows, held) * float(n_coordinates) ** 2


def separate(design: Design, fit_intercept: bool = True, names: Sequence[str] | None = None) -> Certificate:
    """A certificate that the rows are separable, quasi-separable or overlapping.

    Parameters
    ----------
    design : Design
        Rows with a target of −1 and +1, both present. Rows of weight 0 are ignored; other weights have no effect.
    fit_intercept : bool
        False to consider only planes through the origin.
    names : sequence of str, optional
        Names of the columns, for messages.

    Returns
    -------
    Separable, QuasiSeparable or Overlapping
        Its `holds(design)` is true, and its `separated` says whether the logistic likelihood has no maximum.
    """
    design = design.weighted_rows().with_vectors(weight=None)  # weights do not affect separability
    names = names or [f"x{j}" for j in range(design.n_columns)]
    scale = ColumnScale.exact(design, fit_intercept)
    plane = _wide_screen(design, scale, names) if design.n_columns > _WIDE else None
    if plane is not None:
        return plane
    proof = _certificate(design, scale, *_working_set(design, scale), names)
    if proof is None or not proof.holds(design):
        raise NotAvailable(
            "separability: the classes come closer than the rounding of the numbers in X, so no proof holds "
            "either way. Columns that vary little around a large mean lose their digits: subtract their means "
            "first."
        )
    return proof


def _wide_screen(design: Design, scale: ColumnScale, names: Sequence[str]) -> Separable | None:
    """The least-squares plane, if it separates the classes, which is likely with more columns than rows."""
    positive = targets(design) > 0
    n_positive = np.count_nonzero(positive)
    balance = np.where(positive, design.n_rows / n_positive, design.n_rows / (design.n_rows - n_positive))
    solution = solve_least_squares(
        design.with_vectors(weight=balance),
        alpha=np.zeros(1),
        fit_intercept=scale.fit_intercept,
        positive=False,
        solver="auto",
        tol=1e-6,
        max_iter=None,
    )
    return _separable(design, solution.coef[0], float(solution.intercept[0]), scale, names, 0)


def _working_set(design: Design, scale: ColumnScale) -> tuple[Array, Partition]:
    """The rows whose program settles the question for all rows, and the solution of that program."""
    random, size = np.random.default_rng(0), n_coordinates(scale)
    y = targets(design)
    sides = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
    first, most = max(_FEWEST, _FIRST * size), max(_FEWEST, _MORE * size)
    chosen = [side if len(side) <= first else random.choice(side, first, False) for side in sides]
    working = np.sort(np.concatenate(chosen))
    maybe_separable = True
    while True:
        _refuse_huge(len(working), size)
        z = signed_rows(rows_at(design, working), scale)
        split = partition(z, scale.fit_intercept, maybe_separable)
        maybe_separable = not split.bound.any()
        against = _contradictions(design, scale, split)
        against[working] = 0.0
        added = [_largest(against, side, most) for side in sides]
        if not sum(map(len, added)):
            return working, _sparser(design, scale, z, split)
        working = np.sort(np.concatenate([working, *added]))


def _sparser(design: Design, scale: ColumnScale, z: Array, split: Partition) -> Partition:
    """The same partition with a direction of fewer columns, if that also holds for all rows."""
    if not split.direction.any():
        return split
    still = row_space(z[split.bound])[1]
    direction = sparser_direction(z[~split.bound], still, scale.fit_intercept, split.direction)
    other = replace(split, direction=direction)
    same = np.array_equal(direction, split.direction)
    return split if same or _contradictions(design, scale, other).any() else other


def _contradictions(design: Design, scale: ColumnScale, split: Partition) -> Array:
    """How much every row contradicts the solution of the program; 0 if it does not.

    A row contradicts it if it is on the wrong side of the direction, or if it is on the plane but not in the span of
    the bound rows.
    """
    n_free = split.free.shape[1]
    if not n_free:  # the bound rows span everything
        return np.zeros(design.n_rows)
    # A row in the span of the bound rows has score 0 in all free directions. Any other row almost surely has a nonzero
    # score in a random combination of them.
    mixture = split.free @ np.random.default_rng(n_free).normal(size=n_free)
    if not split.direction.any():
        (loose,) = signed_products(design, scale, mixture[:, None]).T
        return _beyond(np.abs(loose), scale, mixture)
    score, loose = signed_products(design, scale, np.column_stack([split.direction, mixture])).T
    zero = resolution(scale, to_data_units(scale, split.direction)[0], ZERO)
    if not split.bound.any():
        return np.where(score > zero, 0.0, 1.0 + zero - score)
    wrong = np.where(score < -zero, 1.0 - score, 0.0)
    on_plane = np.abs(score) <= zero
    share = _beyond(np.abs(loose), scale, mixture)
    return np.where(on_plane, share / max(float(share.max()), 1.0), wrong)


def _beyond(size: Array, scale: ColumnScale, direction: Array) -> Array:
    return np.where(size > resolution(scale, to_data_units(scale, direction)[0], ZERO), size, 0.0)


def _largest(values: Array, among: Array, most: int) -> Array:
    """The rows of `among` with the largest positive values, at most `most`."""
    found = among[values[among] > 0]
    if len(found) <= most:
        return found
    return found[np.argpartition(values[found], -most)[-most:]]


def _certificate(
    design: Design, scale: ColumnScale, working: Array, split: Partition, names: Sequence[str]
) -> Certificate | None:
    """The solution of a program as a certificate in the units of the data.

    Return None if rounding errors of the data hide it.
    """
    coef, intercept = to_data_units(scale, split.direction)
    if not split.bound.any():
        return _separable(design, coef, intercept, scale, names, len(working))
    weights = split.weight[split.bound]
    kept = weights > 0
    rows, weights = rows_at(design, working[split.bound][kept]), weights[kept]
    positive = targets(rows) > 0
    if scale.fit_intercept:
        weights = weights / np.where(positive, weights[positive].sum(), weights[~positive].sum())
    else:
        weights = weights / weights.sum()
    meeting = weighted_sums(rows, weights)[0]
    common = {
        "rows": rows.row_numbers(),
        "weights": weights,
        "point": meeting,
        "fit_intercept": scale.fit_intercept,
        "n_examined": len(working),
    }
    if not split.direction.any():
        return Overlapping(**common)
    score, rounding = signed_scores(design, coef, intercept)
    zero = rounding + resolution(scale, coef, ZERO)
    return QuasiSeparable(
        coef=coef, intercept=intercept, n_separated=int((score > zero).sum()), **_used(coef, names), **common
    )


def _used(coef: Array, names: Sequence[str]) -> dict[str, Any]:
    """Positions and names of the columns with a coefficient."""
    columns = tuple(map(int, np.flatnonzero(coef)))
    return {"columns": columns, "names": tuple(str(names[j]) for j in columns)}


def _separable(
    design: Design, coef: Array, intercept: float, scale: ColumnScale, names: Sequence[str], n_examined: int
) -> Separable | None:
    """The plane, moved to the middle between the classes and scaled to a smallest score of 1.

    Return None if it does not separate.
    """
    score, _ = signed_scores(design, coef, intercept)
    positive = targets(design) > 0
    if scale.fit_intercept and positive.any() and not positive.all():
        intercept -= float(score[positive].min() - score[~positive].min()) / 2
    score, rounding = signed_scores(design, coef, intercept)
    least = float(score.min())
    if not (score > rounding).all():
        return None
    coef = coef / least
    return Separable(
        coef=coef,
        intercept=intercept / least,
        margin=1.0 / float(np.linalg.norm(coef)),
        fit_intercept=scale.fit_intercept,
        n_examined=n_examined,
        **_used(coef, names),
    )


def _refuse_huge(n_rows: int, n_coordinates: int) -> None:
    if n_rows * n_coordinates > _MOST_CELLS:
        raise NotAvailable(
            "separability: the question comes down to a program of {n_rows} rows and {n_coordinates} columns, "
            "which is too large to solve here. Ask about fewer columns; a fit with a penalty (a finite C) needs "
            "no answer.",
            n_rows=n_rows,
            n_coordinates=n_coordinates,
        )
