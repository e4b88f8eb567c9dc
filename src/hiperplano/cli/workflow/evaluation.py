"""Metrics of a model on given rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.area import interval_of
from hiperplano.metrics.costs import class_numbers, realised_costs
from hiperplano.metrics.divergence import population_stability_index
from hiperplano.report.subject import Sample, Subject, prepare_subject

_ = translator("terminal")

METRICS = {
    "classification": ("auc", "ks", "loss", "accuracy", "cost"),
    "regression": ("rmse", "r2", "mae"),
}
"""By which models are compared."""
_SHOWN = ("base_rate", "auc", "auc_low", "auc_high", "gini", "ks", "loss", "accuracy", "cutoff", "cost")
LOWER_IS_BETTER = ("loss", "cost", "rmse", "mae")


def metric_label(name: str) -> str:
    """What a measure is called."""
    return {
        "base_rate": _("base rate"),
        "gini": "Gini",
        "cutoff": _("cut-off"),
        "loss": _("log loss"),
        "accuracy": _("accuracy"),
        "auc": "AUC",
        "ks": "KS",
        "cost": _("mean cost"),
        "psi": _("PSI of the score"),
        "rmse": "RMSE",
        "r2": "R²",
        "mae": _("mean absolute error"),
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
    if len(sample.classes) == 2:
        found["base_rate"] = float(np.mean(sample.is_positive))
        found |= _ranking(sample)
    if costs is not None:
        decided = class_numbers(sample.predicted, sample.classes)
        found["cost"] = float(np.mean(realised_costs(sample.codes, decided, costs)))
    return {name: found[name] for name in _SHOWN if name in found}


def _ranking(sample: Sample) -> dict[str, float]:
    """How well two classes are ordered, where both are there."""
    auc = sample.ranking.auc
    if np.isnan(auc):
        return {}
    found = {"auc": auc, "gini": 2 * auc - 1, "ks": sample.ranking.ks}
    if min(map(len, sample.sorted_scores)) >= 2:
        area = interval_of(sample.sorted_scores)
        found |= {"auc_low": area.low, "auc_high": area.high}
    return found


def _of_numbers(predicted: Array, y: Array) -> dict[str, float]:
    error = predicted - y
    spread = float(np.sum((y - y.mean()) ** 2))
    squares = float(np.sum(error**2))
    return {
        "rmse": float(np.sqrt(squares / len(y))),
        "r2": 1.0 - squares / spread if spread > 0 else float("nan"),
        "mae": float(np.mean(np.abs(error))),
    }


def score_stability(subject: Subject, edges: list[float], counts: list[int]) -> dict[str, float]:
    """The population stability index of scores against the bands of a fit; nothing where these are not known.

    Parameters
    ----------
    edges, counts : list
        Bands of the training rows' scores, and how many rows lay in each.
    """
    if not counts or subject.task == "many classes":
        return {}
    sample = subject.validation
    values = np.ravel(sample.predicted).astype(np.float64) if subject.task == "regression" else sample.score
    here = np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(counts))
    return {"psi": float(population_stability_index(np.array(counts), here, bins=None, smoothing=0.5))}
