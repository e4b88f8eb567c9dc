"""The metrics by which training and validation are compared."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import f1_score

from hiperplano.report.subject import Sample


def regression_metrics(sample: Sample) -> dict[str, float]:
    """R², root mean squared error, mean absolute error, mean error."""
    error = sample.y - np.ravel(sample.predicted).astype(np.float64)
    spread = float(np.square(sample.y - sample.y.mean()).sum())
    lost = float(np.square(error).sum())
    return {
        "r2": 1.0 - lost / spread if spread > 0 else float("nan"),
        "rmse": float(np.sqrt(np.mean(np.square(error)))),
        "mae": float(np.abs(error).mean()),
        "bias": float(error.mean()),
    }


def class_metrics(sample: Sample) -> dict[str, float]:
    """Accuracy, and F1 as the mean over classes."""
    return {
        "accuracy": accuracy(sample),
        "f1": float(f1_score(sample.y, sample.predicted, labels=sample.classes, average="macro", zero_division=0.0)),
    }


def accuracy(sample: Sample) -> float:
    """Share of the rows that get their class."""
    return float(np.mean(sample.right))
