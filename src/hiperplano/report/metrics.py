"""The metrics by which training and validation are compared."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import f1_score

from hiperplano.data.design import Array
from hiperplano.metrics.divergence import population_stability_index
from hiperplano.report.sample import Sample


def regression_metrics(sample: Sample) -> dict[str, float]:
    """R², root mean squared error, mean absolute error, mean error."""
    error = sample.y - np.ravel(sample.predicted).astype(np.float64)
    spread = sample.mean(np.square(sample.y - sample.mean(sample.y)))
    lost = sample.mean(np.square(error))
    return {
        "r2": 1.0 - lost / spread if spread > 0 else float("nan"),
        "rmse": float(np.sqrt(lost)),
        "mae": sample.mean(np.abs(error)),
        "bias": sample.mean(error),
    }


def class_metrics(sample: Sample) -> dict[str, float]:
    """Accuracy, and F1 as the mean over classes."""
    options = {"labels": sample.classes, "average": "macro", "zero_division": 0.0, "sample_weight": sample.weight}
    return {"accuracy": accuracy(sample), "f1": float(f1_score(sample.y, sample.predicted, **options))}


def stability(before: Array, after: Array) -> float:
    """The population stability index of counts, possibly fractional because of weights, in the same bands.

    Half a row is added to each band, so that an empty band does not make the index infinite.
    """
    shares = [(each + 0.5) / (each.sum() + 0.5 * len(each)) for each in (before, after)]
    return float(population_stability_index(*shares, bins=None))


def accuracy(sample: Sample) -> float:
    """Share of the rows that are classified correctly."""
    return sample.mean(sample.right)
