"""Metrics of a model on given rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.costs import class_numbers, realised_costs
from hiperplano.report.subject import Sample, prepare_subject

_ = translator("terminal")

METRICS = {
    "classification": ("loss", "accuracy", "auc", "ks", "cost"),
    "regression": ("rmse", "r2", "mae"),
}
LOWER_IS_BETTER = ("loss", "cost", "rmse", "mae")


def metric_label(name: str) -> str:
    """What a measure is called."""
    return {
        "loss": _("log loss"),
        "accuracy": _("accuracy"),
        "auc": "AUC",
        "ks": "KS",
        "cost": _("mean cost"),
        "rmse": "RMSE",
        "r2": "R²",
        "mae": "MAE",
    }[name]


def evaluate_model(
    model: Any, rows: Array, y: Array, positive: Any = None, costs: Array | None = None
) -> dict[str, float]:
    """The measures of a classifier or a regressor on rows as it takes them."""
    return evaluate_sample(prepare_subject(model, rows, y, None, None, positive, None).validation, costs)


def evaluate_sample(sample: Sample, costs: Array | None = None) -> dict[str, float]:
    """The measures of a model on rows; those that have no meaning are left out."""
    if sample.classes is None:
        return _of_numbers(np.ravel(sample.predicted), sample.y)
    found = {"accuracy": float(np.mean(sample.right))}
    if sample.probabilities is not None:
        own = np.take_along_axis(sample.probabilities, sample.codes[:, None], axis=1)
        found["loss"] = float(-np.mean(np.log(np.maximum(own, np.finfo(np.float64).tiny))))
    if len(sample.classes) == 2 and not np.isnan(sample.ranking.auc):
        found |= {"auc": sample.ranking.auc, "ks": sample.ranking.ks}
    if costs is not None:
        decided = class_numbers(sample.predicted, sample.classes)
        found["cost"] = float(np.mean(realised_costs(sample.codes, decided, costs)))
    return {name: found[name] for name in METRICS["classification"] if name in found}


def _of_numbers(predicted: Array, y: Array) -> dict[str, float]:
    error = predicted - y
    spread = float(np.sum((y - y.mean()) ** 2))
    squares = float(np.sum(error**2))
    return {
        "rmse": float(np.sqrt(squares / len(y))),
        "r2": 1.0 - squares / spread if spread > 0 else float("nan"),
        "mae": float(np.mean(np.abs(error))),
    }
