"""Displays in the style of scikit-learn's; matplotlib is imported when the first one is drawn."""

from hiperplano.plot.coefficients import CoefficientDisplay
from hiperplano.plot.credit.binning import BinningDisplay
from hiperplano.plot.divergence import DivergenceDisplay
from hiperplano.plot.gains import GainsDisplay
from hiperplano.plot.ks import KSDisplay
from hiperplano.plot.margin import MarginDisplay
from hiperplano.plot.path import PathDisplay
from hiperplano.plot.regions import RegionsDisplay
from hiperplano.plot.replay import ReplayDisplay
from hiperplano.plot.residuals import ResidualDisplay

__all__ = [
    "BinningDisplay",
    "CoefficientDisplay",
    "DivergenceDisplay",
    "GainsDisplay",
    "KSDisplay",
    "MarginDisplay",
    "PathDisplay",
    "RegionsDisplay",
    "ReplayDisplay",
    "ResidualDisplay",
]
