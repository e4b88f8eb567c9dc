"""Small data sets for pictures, and one picture of every kind."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.multiclass import OneVsRestClassifier

from hiperplano import (
    BinningDisplay,
    CoefficientDisplay,
    DivergenceDisplay,
    GainsDisplay,
    HardMarginSVC,
    KSDisplay,
    LeastSquaresClassifier,
    LinearRegression,
    MarginDisplay,
    OptimalBinning,
    PathDisplay,
    Perceptron,
    RegionsDisplay,
    ReplayDisplay,
    ResidualDisplay,
    RidgeCV,
)


def scored(n=200, seed=0):
    """Labels and scores that know something of them, some of them tied."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, np.round(rng.normal(size=n) + y, 1)


def regression(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.5, 1.0]
    return X, X @ [1.0, -1.0, 2.0, 0.0] + rng.normal(size=n)


def two_groups(apart=2.2):
    return make_blobs([20, 20], centers=[[-apart, 0.0], [apart, 1.0]], cluster_std=0.8, random_state=3)


def three_groups():
    return make_blobs([40, 60, 50], centers=[[-2, -1], [2, -1], [0, 2]], cluster_std=0.9, random_state=1)


def ks(ax):
    return KSDisplay.from_predictions(*scored(), ax=ax)


def gains(ax):
    return GainsDisplay.from_predictions(*scored(), ax=ax)


def lift(ax):
    return GainsDisplay.from_predictions(*scored(), ax=ax, kind="lift")


def coefficients(ax):
    X, y = regression()
    return CoefficientDisplay.from_estimator(LinearRegression().fit(X, y), X, ax=ax)


def margin(ax):
    X, y = two_groups()
    return MarginDisplay.from_estimator(HardMarginSVC().fit(X, y), X, y, ax=ax)


def regions(ax):
    X, y = three_groups()
    model = OneVsRestClassifier(LeastSquaresClassifier()).fit(X, y)
    return RegionsDisplay.from_estimator(model, X, y, resolution=80, ax=ax)


def replay(ax):
    X, y = two_groups(1.6)
    return ReplayDisplay.from_estimator(Perceptron(tol=None, shuffle=False), X + 1.0, y, ax=ax)


def path(ax):
    X, y = regression()
    return PathDisplay.from_estimator(RidgeCV(alphas=np.logspace(-2, 4, 25)).fit(X, y), X, y, ax=ax)


def residuals(ax):
    X, y = regression()
    y[7] += 6.0
    return ResidualDisplay.from_estimator(LinearRegression().fit(X, y), X, y, ax=ax)


def divergence(ax):
    rng = np.random.default_rng(0)
    return DivergenceDisplay.from_predictions(rng.normal(size=500), rng.normal(0.5, 1.2, size=400), bins=6, ax=ax)


def binning(ax):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = rng.uniform(size=2000) < 1 / (1 + np.exp(1 - x))
    x[:80] = np.nan
    return BinningDisplay.from_estimator(OptimalBinning(max_bins=6).fit(x, y), ax=ax)


PANELS = {
    binning: 1,
    ks: 1,
    gains: 1,
    lift: 1,
    coefficients: 1,
    margin: 1,
    regions: 1,
    replay: 3,
    path: 2,
    residuals: 3,
    divergence: 1,
}
