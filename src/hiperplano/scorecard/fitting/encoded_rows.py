"""The rows for the fit of the coefficients: WoE instead of values, and whether each row is an event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import validate_data

from hiperplano.data.design import Array, Block, Design
from hiperplano.data.validate import wrap
from hiperplano.data.views.transformed import Transformed
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.binning.prebinning.target import refuse_missing
from hiperplano.features.binning.reading import as_array
from hiperplano.scorecard.monitoring.development import Development
from hiperplano.scorecard.points import points_of_woe
from hiperplano.scorecard.scaling import PointScale


def encoded_rows(encoder: WoEEncoder, X: Any, event: Array | None, weight: Array | None, flat: bool = False) -> Design:
    """Rows of WoE with the target 1 for an event and 0 otherwise.

    Parameters
    ----------
    X : table, array or Design
        Rows. A design holds the events as its target, and the weights; its WoE is computed block by block in every
        pass.
    event : ndarray of int of shape (n,) or None
        Events, for a table or array.
    flat : bool
        Whether to set every WoE to 0, for a scorecard without an effect.
    """
    if isinstance(X, Design):
        encoded = encoder._encoded(X)
        if flat:
            codes = (replace(code, encoding=np.zeros_like(code.encoding)) for code in encoded.codes)
            encoded = replace(encoded, codes=tuple(codes))
        return Transformed(X.weighted_rows(), encoded, encoded.width)
    assert event is not None
    woe = np.asarray(encoder.transform(X), dtype=np.float64)
    return wrap(np.zeros_like(woe) if flat else woe, event, weight).weighted_rows()


@dataclass(frozen=True)
class IsEvent:
    """1 for each row whose label is the event, otherwise 0."""

    reads_rows = False
    event: Any

    def __call__(self, block: Block) -> Array:
        return np.asarray(block.y[:, 0] == self.event, dtype=np.int64)


def signs(block: Block) -> Array:
    """+1 for an event and −1 otherwise."""
    return np.where(block.y[:, 0] == 1, 1.0, -1.0)


def developed(rows: Design, score: Scored) -> Development:
    """Statistics of the training rows that a scorecard stores.

    A few numbers per row are loaded into memory for that.
    """
    points, log_odds = rows.collect(rows.map(score)).T
    event = rows.collect(rows.vector("y")).ravel() == 1
    weight = rows.collect(rows.vector("weight")) if rows.has_weight else None
    return Development.of(points, expit(log_odds), event, weight)


@dataclass(frozen=True)
class Scored:
    """The points and the log-odds of each row of WoE.

    Attributes
    ----------
    coef : ndarray of shape (variables,)
    intercept, base : float
        Intercept of the log-odds, and separate base points.
    scale, spread, rounded
        As in `points_of_woe`.
    """

    coef: Array
    intercept: float
    base: float
    scale: PointScale
    spread: bool
    rounded: bool

    def __call__(self, block: Block) -> Array:
        woe = block.dense()
        points = points_of_woe(woe, self.coef, self.intercept, self.scale, self.spread, self.rounded) + self.base
        return np.stack([points, self.intercept + woe @ self.coef], axis=1)


def checked_labels(card: Any, y: Any) -> Array:
    """The validated target of rows in memory; `card` is the estimator that is being fitted."""
    # NumPy would turn a missing value among strings into the string "nan".
    y = as_array(y) if isinstance(y, list) else y
    try:
        return np.asarray(validate_data(card, X="no_validation", y=y))
    except (ValueError, TypeError):
        if y is not None:
            refuse_missing(np.asarray(y).ravel())  # raises an error with the number of missing labels
        raise
