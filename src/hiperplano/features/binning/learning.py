"""Learning the bins of a column: from rows to pre-bins, and from these to the best bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.errors import InvalidParameter
from hiperplano.features.binning.bins import Bins, CategoryBins, NumericBins
from hiperplano.features.binning.columns import Plan, plan_of_numbers
from hiperplano.features.binning.pieces import Pieces, edge_pieces, interval_bins, pieces_of
from hiperplano.features.binning.prebinning.prebins import (
    category_order,
    equal_ends,
    quantile_ends,
    tree_ends,
    weights_of,
)
from hiperplano.features.binning.prebinning.rare import rare_categories
from hiperplano.features.binning.prebinning.sketch import Sketch, sketch_columns
from hiperplano.features.binning.prebinning.target import Target, bin_sums, target_vectors
from hiperplano.features.binning.reading import as_numbers
from hiperplano.features.binning.search.candidates import Limits
from hiperplano.features.binning.search.partition import Partition, search
from hiperplano.features.scanning.scan import kinds_of
from hiperplano.messages import Message


@dataclass(frozen=True)
class Learned:
    """The bins of a column, the pre-bins they consist of, and how they were found."""

    bins: Bins
    pieces: Pieces
    trend: str | None
    status: str


def learn_columns(
    rules: Sequence[Any], design: Design, plans: Sequence[Plan], target: Target, vector: str = ""
) -> list[Learned]:
    """The bins of every column of a design, in one pass over its rows, or two if cut-offs are given.

    Parameters
    ----------
    rules : sequence of OptimalBinning
        Binning parameters of each column.
    design : Design
        Design with the row vector of `target_vectors`.
    plans : sequence of Plan
        Meaning of the numbers of each column.
    vector : str
        Name of a row vector to bin instead of the design's columns.
    """
    n = target.n_classes
    found: list[Sketch | None] = [None] * len(plans)
    if any(_edges_given(rule, plan) is None for rule, plan in zip(rules, plans, strict=True)):
        special, limits = tuple(plan.special_numbers for plan in plans), tuple(plan.limit for plan in plans)
        found = list(sketch_columns(design, special, limits, n, vector))
    pieces = [
        None if one is None else pieces_of(one, plan.categories_in(one)) for one, plan in zip(found, plans, strict=True)
    ]
    edges = [_edges(*each, target) for each in zip(rules, plans, pieces, strict=True)]
    counted = tuple(column for column, bins in enumerate(edges) if bins is not None)
    if counted:
        bins = tuple(bins for bins in edges if bins is not None)
        for column, cut, sums in zip(counted, bins, design.fold(bin_sums(counted, bins, n, vector)), strict=True):
            pieces[column] = edge_pieces(cut, sums)
    return [_learn(rule, piece, plan, target) for rule, piece, plan in zip(rules, pieces, plans, strict=True) if piece]


def learn_design(rules: Sequence[Any], design: Design, kind: str) -> tuple[list[Learned], Target]:
    """The bins of every column of a design, all in one pass.

    Parameters
    ----------
    rules : sequence of OptimalBinning
    kind : str
        Kind of the target, one of `TARGETS`.
    """
    forms = zip(rules, *kinds_of(design), strict=True)
    design = design.weighted_rows()
    target, vectors = target_vectors(design, kind)
    plans = [plan_of_numbers(rule.kind, kind, rule.special_codes, categories) for rule, kind, categories in forms]
    return learn_columns(rules, design.with_vectors(**vectors), plans, target), target


def _edges_given(rule: Any, plan: Plan) -> NumericBins | None:
    """The pre-bins, if the user gave them."""
    if plan.kind == "categorical" or isinstance(rule.prebins, str) or rule.cuts is not None:
        return None
    return replace(_no_cuts(plan), cuts=_ascending(rule.prebins, "prebins", plan.kind))


def _edges(rule: Any, plan: Plan, pieces: Pieces | None, target: Target) -> NumericBins | None:
    """Required cut-offs: given pre-bins; or manual bins, with pre-bins at which to split them later."""
    if pieces is None or plan.kind == "categorical" or rule.cuts is None:
        return _edges_given(rule, plan)
    found = interval_bins(pieces, _prebin_ends(rule, pieces, target), _no_cuts(plan)).cuts if len(pieces.low) else ()
    return replace(_no_cuts(plan), cuts=tuple(sorted({*found, *_ascending(rule.cuts, "cuts", plan.kind)})))


def _prebin_ends(rule: Any, pieces: Pieces, target: Target) -> tuple[int, ...]:
    if not isinstance(rule.prebins, str):
        return tuple(range(1, len(pieces.low) + 1))
    ends = tree_ends if rule.prebins == "tree" else quantile_ends
    return tuple(ends(pieces, target.n_classes, rule.max_prebins).tolist())


def _learn(rule: Any, pieces: Pieces, plan: Plan, target: Target) -> Learned:
    given = Message("The bins were given.")
    nothing = Message("The column has no values; there is nothing to cut.")
    if plan.kind == "categorical":
        if rule.cuts is not None:
            return Learned(CategoryBins(_groups(rule.cuts), plan.special, plan.special_names), pieces, None, given)
        if not pieces.categories:
            return Learned(CategoryBins((), plan.special, plan.special_names), pieces, None, nothing)
        return _group_categories(rule, pieces, plan, target)
    bins = _no_cuts(plan)
    if rule.cuts is not None:
        return Learned(replace(bins, cuts=_ascending(rule.cuts, "cuts", plan.kind)), pieces, None, given)
    if not len(pieces.low):
        return Learned(bins, pieces, None, nothing)
    prebins = pieces.joined(_prebin_ends(rule, pieces, target))
    found = _search(rule, prebins.sums, pieces.totals(), target, rule.trend)
    return Learned(interval_bins(prebins, found.ends, bins), prebins, found.trend, found.status)


def _group_categories(rule: Any, pieces: Pieces, plan: Plan, target: Target) -> Learned:
    """Order categories by their rates, and join them like intervals."""
    totals, n = pieces.totals(), target.n_classes
    pooled = (
        rare_categories(pieces.sums, totals, n)
        if rule.rare == "auto"
        else weights_of(pieces.sums, n) < _least_weight(rule.rare, totals, n)
    )
    groups, sums = category_order(pieces.sums, n, pooled)
    ends = equal_ends(sums, n, rule.max_prebins)
    found = _search(rule, np.add.reduceat(sums, [0, *ends[:-1]], axis=0), totals, target, None)
    stops = [0, *(int(ends[end - 1]) for end in found.ends)]
    members = [sorted(np.concatenate(groups[start:stop]).tolist()) for start, stop in pairwise(stops)]
    assert pieces.categories is not None
    named = tuple(tuple(pieces.categories[place] for place in group) for group in members)
    status = found.status
    if len(groups) == 1 < len(pieces.categories):
        status = Message(
            "All {n} categories are rare, and share one bin. Lower rare, or set it to 0, to tell them apart.",
            n=len(pieces.categories),
        )
    elif pooled.sum() > 1:
        status = found.status + Message(" {n} rare categories were pooled first.", n=int(pooled.sum()))
    return Learned(CategoryBins(named, plan.special, plan.special_names), pieces, None, status)


def _search(rule: Any, sums: Array, totals: Array, target: Target, trend: str | None) -> Partition:
    n = target.n_classes
    limits = Limits(
        max_bins=rule.max_bins,
        min_weight=_least_weight(rule.min_bin_size, totals, n),
        min_events=float(rule.min_events),
        min_nonevents=float(rule.min_nonevents),
        min_difference=float(rule.min_difference),
        max_p_value=rule.max_p_value,
        trend=trend,
    )
    criterion = rule.criterion if rule.criterion != "auto" else "iv" if n else "squared_error"
    if (criterion == "squared_error") != (n == 0) or (criterion == "ks" and n != 2):
        raise InvalidParameter(
            "criterion={criterion!r} does not fit a {kind} target. Leave it 'auto', or set target.",
            criterion=criterion,
            kind=target.kind,
        )
    return search(sums, totals, criterion, limits, n, float(rule.smoothing))


def _least_weight(value: float, totals: Array, n_classes: int) -> float:
    """A least weight given as a share of all rows (below 1), or as a number of rows."""
    if value >= 1:
        return float(value)
    return float(value * (totals.sum() if n_classes else totals[0]) * (1 - 1e-12))  # 0.07·100 is slightly more than 7


def _no_cuts(plan: Plan) -> NumericBins:
    return NumericBins((), plan.special, plan.special_names, plan.kind)


def _ascending(cuts: Any, name: str, kind: str) -> tuple[float, ...]:
    """Cut-offs given by the user, as numbers; dates may be text such as 2020-03-01."""
    given = np.asarray(cuts, dtype="datetime64[us]" if kind == "date" else None)
    listed = as_numbers(given if len(given) else np.empty(0), name)
    if not np.isfinite(listed).all() or (np.diff(listed) <= 0).any():
        raise InvalidParameter(
            "{name}={cuts!r}; cut-offs must be finite and ascend. Sort them, and leave out infinity: the outer bins "
            "reach there by themselves.",
            name=name,
            cuts=listed.tolist(),
        )
    return tuple(listed.tolist())


def _groups(cuts: Any) -> tuple[tuple[Any, ...], ...]:
    """Groups of categories given by the user."""
    groups = [list(group) if isinstance(group, list | tuple | set | np.ndarray) else [group] for group in cuts]
    seen: set[Any] = set()
    for value in (value for group in groups for value in group):
        if value in seen:
            raise InvalidParameter(
                "cuts names the category {value!r} twice; each belongs to one group. Leave one out.", value=value
            )
        seen.add(value)
    return tuple(tuple(group) for group in groups)
