"""Calibration: predicted against observed probabilities, in bands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Figure
from hiperplano.report.charts.chart import Chart
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.number_format import decimal, percent

_ = translator("report")

_BANDS = 10


@dataclass(frozen=True)
class Calibration:
    """Bands of equal size of the predicted probability.

    Attributes
    ----------
    predicted, observed : ndarray of shape (bands,)
        Mean probability, and share of positives.
    low, high : ndarray of shape (bands,)
        Wilson's 95% interval of the observed share.
    brier, log_loss : float
        Mean squared error of the probabilities, and mean −log of that of the true class.
    """

    predicted: Array
    observed: Array
    low: Array
    high: Array
    brier: float
    log_loss: float


def calibrate(positive: Array, probability: Array, weight: Array | None = None) -> Calibration:
    """Cut into bands, and compare."""
    edges = np.unique(np.quantile(probability, np.arange(1, _BANDS) / _BANDS))
    band = np.searchsorted(edges, probability, side="right")
    w = np.ones(len(probability)) if weight is None else weight

    def total(values: Array) -> Array:
        """Sum of values in each band with rows."""
        return np.bincount(band, weights=values, minlength=len(edges) + 1)[there]

    there = np.bincount(band, minlength=len(edges) + 1) > 0
    predicted, observed = total(w * probability) / total(w), total(w * positive) / total(w)
    size = np.square(total(w)) / total(np.square(w))  # effective sample size of each band
    z = float(ndtri(0.975))
    middle = (observed + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(observed * (1 - observed) / size + z**2 / (4 * size**2))
    smallest = np.finfo(np.float64).eps
    own = np.where(positive, probability, 1.0 - probability).clip(min=smallest)
    brier = float(np.average((probability - positive) ** 2, weights=w))
    loss = float(-np.average(np.log(own), weights=w))
    return Calibration(predicted, observed, middle - half, middle + half, brier, loss)


def calibration_figure(found: Calibration, positive: str) -> Figure:
    """Observed share against predicted probability, with intervals."""
    low, high = padded_range(found.predicted, found.observed, found.low, found.high, zero=True)
    limits = (max(0.0, low), min(1.0, high))
    outside = int(np.sum((found.predicted < found.low) | (found.predicted > found.high)))
    chart = Chart(
        "calibration",
        _("Calibration"),
        _(
            "In {inside} of {bands} bands the predicted probability lies inside the interval of the observed share.",
            inside=len(found.predicted) - outside,
            bands=len(found.predicted),
        ),
        x=limits,
        y=limits,
        x_label=_("predicted probability of {label}", label=positive),
        y_label=_("observed share"),
        x_percent=True,
        y_percent=True,
    )
    chart.line(limits, limits, "chance", _("perfect"))
    chart.spans(found.low, found.high, found.predicted, "first", upright=True)
    chart.points(found.predicted, found.observed, "first", _("bands, with 95% intervals"), size=3.5)
    sentence = _(
        "Calibration: predicted and observed, in bands of equal size. Brier score {brier}, log loss {loss}; largest "
        "difference {most}.",
        brier=decimal(found.brier, 4).text,
        loss=decimal(found.log_loss, 4).text,
        most=percent(np.abs(found.predicted - found.observed).max()).text,
    )
    return Figure(chart.svg(), sentence)
