"""Metrics of scores and decisions that complement scikit-learn's."""

from hiperplano.metrics.area import AUCInterval, auc_interval
from hiperplano.metrics.costs import SavingsInterval, binary_costs, savings_interval, savings_score
from hiperplano.metrics.divergence import (
    information_value,
    js_divergence,
    kl_divergence,
    population_stability_index,
)
from hiperplano.metrics.kolmogorov_smirnov import KSTest, ks_test
from hiperplano.metrics.ranking import (
    ConfusionCurve,
    RankingScores,
    confusion_at,
    gini_score,
    ks_score,
    ranking_scores,
)
from hiperplano.metrics.scorers import SCORERS, get_scorer, savings_scorer

__all__ = [
    "SCORERS",
    "AUCInterval",
    "ConfusionCurve",
    "KSTest",
    "RankingScores",
    "SavingsInterval",
    "auc_interval",
    "binary_costs",
    "confusion_at",
    "get_scorer",
    "gini_score",
    "information_value",
    "js_divergence",
    "kl_divergence",
    "ks_score",
    "ks_test",
    "population_stability_index",
    "ranking_scores",
    "savings_interval",
    "savings_score",
    "savings_scorer",
]
