"""Scorecards: points for bins, from the fit to the cut-off and to monitoring."""

from hiperplano.scorecard.bootstrap import Bootstrap
from hiperplano.scorecard.monitoring.monitor import Monitoring, monitor
from hiperplano.scorecard.monitoring.trends import TrendStability, periods, trend_stability
from hiperplano.scorecard.reasons import Explanation, Reasons
from hiperplano.scorecard.rejects import InferredRows, fuzzy_augmentation, parcelling
from hiperplano.scorecard.rounding import RoundingEffect
from hiperplano.scorecard.scaling import PointScale
from hiperplano.scorecard.scorecard import Scorecard
from hiperplano.scorecard.stepwise import SelectionStep
from hiperplano.scorecard.strategy import Cutoff, ReferralBand, Strategy
from hiperplano.scorecard.table import Table

__all__ = [
    "Bootstrap",
    "Cutoff",
    "Explanation",
    "InferredRows",
    "Monitoring",
    "PointScale",
    "Reasons",
    "ReferralBand",
    "RoundingEffect",
    "Scorecard",
    "SelectionStep",
    "Strategy",
    "Table",
    "TrendStability",
    "fuzzy_augmentation",
    "monitor",
    "parcelling",
    "periods",
    "trend_stability",
]
