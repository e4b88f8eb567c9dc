"""Metrics of a model on rows that are read in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.cli.workflow.model_registry import CLASSIFICATION
from hiperplano.features.encoders import label_of
from hiperplano.features.scanning.rows import ScannedRows
from hiperplano.features.target import Target
from hiperplano.metrics.area import auc_interval


def measures(model: Any, rows: ScannedRows, target: Target) -> dict[str, float]:
    """Metrics of all rows, from one score or number for each."""
    y = rows.collect(rows.vector("y"))[:, 0]
    if target.task != CLASSIFICATION:
        error = np.ravel(model.predict(rows)) - y
        squares, spread = float(np.sum(error**2)), float(np.sum((y - y.mean()) ** 2))
        return {
            "rmse": float(np.sqrt(squares / len(y))),
            "r2": 1.0 - squares / spread if spread else float("nan"),
            "mae": float(np.mean(np.abs(error))),
        }
    classes = model.classes_
    codes = np.searchsorted(classes, y)
    found: dict[str, float] = {}
    if not hasattr(model, "predict_proba"):
        return {"accuracy": float(np.mean(model.predict(rows) == y))}
    shares = model.predict_proba(rows)
    if len(classes) == 2:
        positive = int(label_of(classes.tolist()[0]) != label_of(target.positive))
        area = auc_interval(codes == positive, shares[:, positive])
        found = {
            "base_rate": float(np.mean(codes == positive)),
            "auc": area.auc,
            "auc_low": area.low,
            "auc_high": area.high,
            "gini": 2 * area.auc - 1,
        }
    own = np.take_along_axis(shares, codes[:, None], axis=1)
    found["loss"] = float(-np.mean(np.log(np.maximum(own, np.finfo(np.float64).tiny))))
    return found | {"accuracy": float(np.mean(shares.argmax(axis=1) == codes))}
