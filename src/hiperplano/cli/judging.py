"""How good a model is on given rows, in a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.language.catalogue import words
from hiperplano.metrics.costs import class_numbers, realised_costs
from hiperplano.metrics.ranking import ranking_scores

_ = words("terminal")

MEASURES = {
    "classification": ("loss", "accuracy", "auc", "ks", "cost"),
    "regression": ("rmse", "r2", "mae"),
}
SMALLER_IS_BETTER = ("loss", "cost", "rmse", "mae")


def measure_word(name: str) -> str:
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


def judge(model: Any, rows: Array, y: Array, positive: Any = None, costs: Array | None = None) -> dict[str, float]:
    """The measures of a classifier or a regressor on rows as it takes them; those that have no meaning are left out."""
    if not hasattr(model, "classes_"):
        return _of_numbers(np.asarray(model.predict(rows)), y)
    classes = np.asarray(model.classes_)
    true = class_numbers(y, classes)
    probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    if probabilities is not None and not hasattr(model, "estimator_"):
        decided = probabilities.argmax(axis=1)  # what these models predict; a tie gives the first class
    else:
        decided = class_numbers(np.asarray(model.predict(rows)), classes)
    found = {"accuracy": float(np.mean(true == decided))}
    if probabilities is not None:
        own = np.take_along_axis(probabilities, true[:, None], axis=1)
        found["loss"] = float(-np.mean(np.log(np.maximum(own, np.finfo(np.float64).tiny))))
    if len(classes) == 2 and len(np.unique(true)) == 2:
        which = 1 if positive is None else classes.tolist().index(positive)
        if probabilities is not None:
            score = probabilities[:, which]
        else:
            score = np.asarray(model.decision_function(rows)) * (1 if which else -1)
        ranking = ranking_scores(true == which, np.ascontiguousarray(score))
        found |= {"auc": ranking.auc, "ks": ranking.ks}
    if costs is not None:
        found["cost"] = float(np.mean(realised_costs(true, decided, costs)))
    return {name: found[name] for name in MEASURES["classification"] if name in found}


def _of_numbers(predicted: Array, y: Array) -> dict[str, float]:
    error = predicted - y
    spread = float(np.sum((y - y.mean()) ** 2))
    squares = float(np.sum(error**2))
    return {
        "rmse": float(np.sqrt(squares / len(y))),
        "r2": 1.0 - squares / spread if spread > 0 else float("nan"),
        "mae": float(np.mean(np.abs(error))),
    }
