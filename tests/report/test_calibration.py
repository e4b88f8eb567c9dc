"""Calibration in bands: intervals against statsmodels, scores against scikit-learn."""

import numpy as np
from sklearn.metrics import brier_score_loss, log_loss
from statsmodels.stats.proportion import proportion_confint

from hiperplano.report.sections.calibration import calibrate


def test_bands_have_wilsons_intervals():
    # Ten bands of twelve rows, each with another share of positives, none and all among them.
    probability = np.repeat(np.linspace(0.05, 0.95, 10), 12)
    hits = np.array([0, 1, 2, 3, 5, 6, 8, 9, 11, 12])
    positive = np.concatenate([np.arange(12) < count for count in hits])
    found = calibrate(positive, probability)
    np.testing.assert_allclose(found.predicted, np.linspace(0.05, 0.95, 10))
    np.testing.assert_allclose(found.observed, hits / 12)
    low, high = proportion_confint(hits, 12, method="wilson")
    np.testing.assert_allclose(found.low, low, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.high, high, rtol=1e-12)
    np.testing.assert_allclose(found.brier, brier_score_loss(positive, probability), rtol=1e-12)
    np.testing.assert_allclose(found.log_loss, log_loss(positive, probability), rtol=1e-12)
