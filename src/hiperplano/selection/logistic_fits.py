"""Coefficients of logistic regression for every C and split, by the method that suits the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data import Design
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.selection.logistic_folds import TrainingWeight
from hiperplano.solvers.held_columns import HeldColumns
from hiperplano.solvers.likelihood.folds.likelihood_folds import fold_coefficients, share_passes
from hiperplano.solvers.likelihood.folds.penalty_path import PenaltyPath
from hiperplano.solvers.row_span import SpannedRows, is_wide


def fit_folds(
    design: Design, Cs: Array, n_classes: int, solver: str, control: dict[str, Any]
) -> tuple[Array, Array, Array, bool]:
    """Coefficients of every C and split, of shape (Cs, splits, scores, d), intercepts, steps.

    Also returns whether all converged.
    """
    columns = HeldColumns.of(design)
    if columns is not None:
        coef, intercept, steps, converged = fit_folds(columns.narrow(), Cs, n_classes, solver, control)
        return columns.widen(coef), intercept, steps, converged
    if is_wide(design, 1 if n_classes == 2 else n_classes):  # all folds share the span of the rows
        shift = ColumnScale.exact(design, control["fit_intercept"]).shift
        span = SpannedRows(design, shift, ("trained",))
        coef, intercept, steps, converged = fit_folds(span.design, Cs, n_classes, solver, control)
        flat, level = span.expand(coef.reshape(-1, coef.shape[3]), intercept.ravel())
        return flat.reshape(*coef.shape[:3], -1), level.reshape(intercept.shape), steps, converged
    n_splits = design.collect(design.vector("trained")).shape[1]
    if n_classes > 2:
        return _one_by_one(design, n_splits, Cs, n_classes, control | {"solver": solver})
    # Without a penalty, the minimum may be at infinity, and shared passes would stop before it.
    if np.isfinite(Cs).all() and not share_passes(design, n_splits):
        return _one_by_one(design, n_splits, Cs, 1, control | {"solver": "auto"})
    coef, intercept, steps, converged = fold_coefficients(design, Cs, **control)
    return coef[:, :, None, :], intercept[:, :, None], steps, converged


def _one_by_one(
    design: Design, n_splits: int, Cs: Array, n_scores: int, control: dict[str, Any]
) -> tuple[Array, Array, Array, bool]:
    """The same for each C and split separately."""
    coef = np.empty((len(Cs), n_splits, n_scores, design.n_columns))
    intercept = np.empty(coef.shape[:3])
    steps = np.empty(coef.shape[:2], dtype=int)
    converged = True
    for split in range(n_splits):
        part = design.with_vectors(weight=design.map(TrainingWeight(split))).weighted_rows()
        if not design.has_weight and part.total_weight == part.n_rows:  # every row counts once
            part = part.with_vectors(weight=None)
        path = PenaltyPath(part, n_scores, **control)
        for position in np.argsort(Cs):
            found = path.fit(1.0 / (Cs[position] * part.total_weight))
            coef[position, split], intercept[position, split] = found.coef, found.intercept
            steps[position, split] = found.n_iter
            converged &= found.converged
    return coef, intercept, steps, converged
