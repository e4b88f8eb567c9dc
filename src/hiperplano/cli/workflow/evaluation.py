"""Metrics of a model on given rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.costs import class_numbers, realised_costs
from hiperplano.report.metrics import regression_metrics, stability
from hiperplano.report.sample import Sample
from hiperplano.report.subject import Subject, prepare_subject

_ = translator("terminal")

METRICS = {
    "classification": ("auc", "ks", "loss", "accuracy", "cost"),
    "regression": ("rmse", "r2", "mae"),
}
"""Metrics by which models are compared."""
_SHOWN = ("base_rate", "auc", "auc_low", "auc_high", "gini", "ks", "loss", "accuracy", "cutoff", "cost")
LOWER_IS_BETTER = ("loss", "cost", "rmse", "mae")


def metric_label(name: str) -> str:
    """Label of a metric."""
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
    """The metrics of a classifier or a regressor on rows in its own coding."""
    return evaluate_sample(prepare_subject(model, rows, y, None, None, positive, None).validation, costs)


def evaluate_sample(sample: Sample, costs: Array | None = None) -> dict[str, float]:
    """The metrics of a model on rows; meaningless ones are omitted."""
    if sample.classes is None:
        return {name: regression_metrics(sample)[name] for name in METRICS["regression"]}
    found = {"accuracy": sample.mean(sample.right)}
    if sample.probabilities is not None:
        own = np.take_along_axis(sample.probabilities, sample.codes[:, None], axis=1)
        found["loss"] = -sample.mean(np.log(np.maximum(own[:, 0], np.finfo(np.float64).tiny)))
    if len(sample.classes) == 2:
        found["base_rate"] = sample.mean(sample.is_positive)
        found |= _ranking(sample)
    if costs is not None:
        decided = class_numbers(sample.predicted, sample.classes)
        found["cost"] = sample.mean(realised_costs(sample.codes, decided, costs))
    return {name: found[name] for name in _SHOWN if name in found}


def _ranking(sample: Sample) -> dict[str, float]:
    """Ranking metrics of two classes, if both are present."""
    auc = sample.ranking.auc
    if np.isnan(auc):
        return {}
    found = {"auc": auc, "gini": 2 * auc - 1, "ks": sample.ranking.ks}
    if sample.area is not None:
        found |= {"auc_low": sample.area.low, "auc_high": sample.area.high}
    return found


def score_stability(subject: Subject, edges: list[float], counts: list[float]) -> dict[str, float]:
    """The population stability index of scores relative to the bands of the fit; empty if these are unknown.

    Parameters
    ----------
    edges, counts : list
        Bands of the training rows' scores, and the number of rows in each.
    """
    if not counts or subject.task == "many classes":
        return {}
    sample = subject.validation
    values = np.ravel(sample.predicted).astype(np.float64) if subject.task == "regression" else sample.score
    here = sample.effective_counts(np.searchsorted(edges, values, side="right"), len(counts))
    return {"psi": stability(np.array(counts), here)}
