"""Linear supervised models: fast, accurate, and explicit about how a fit ended."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiperplano.datasets.credit import load_credit_line
    from hiperplano.datasets.credit_default import load_credit_default
    from hiperplano.decision.bayes import bayes_error
    from hiperplano.decision.costs import bayes_decision, prior_decision
    from hiperplano.decision.geometry import margin, project, signed_distance
    from hiperplano.decision.votes import ambiguous, votes
    from hiperplano.metrics.area import auc_interval
    from hiperplano.metrics.costs import binary_costs, savings_interval, savings_score
    from hiperplano.metrics.divergence import (
        information_value,
        js_divergence,
        kl_divergence,
        population_stability_index,
    )
    from hiperplano.metrics.kolmogorov_smirnov import ks_test
    from hiperplano.metrics.ranking import confusion_at, gini_score, ks_score, ranking_scores
    from hiperplano.models.discriminant import LinearDiscriminantAnalysis
    from hiperplano.models.hard_margin import HardMarginSVC
    from hiperplano.models.kernel.one_class import OneClassSVM
    from hiperplano.models.kernel.ridge import KernelRidge
    from hiperplano.models.kernel.svc import SVC
    from hiperplano.models.kernel.svr import SVR
    from hiperplano.models.least_squares import LeastSquaresClassifier, LinearRegression, Ridge
    from hiperplano.models.logistic import LogisticRegression
    from hiperplano.models.online.passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
    from hiperplano.models.online.pegasos import Pegasos
    from hiperplano.models.online.perceptron import Perceptron
    from hiperplano.models.online.replay import Step, replay
    from hiperplano.models.online.sgd import SGDClassifier, SGDRegressor
    from hiperplano.models.quadratic import QuadraticDiscriminantAnalysis
    from hiperplano.models.saving import load, save
    from hiperplano.models.svm import LinearSVC, LinearSVR
    from hiperplano.plot.coefficients import CoefficientDisplay
    from hiperplano.plot.divergence import DivergenceDisplay
    from hiperplano.plot.gains import GainsDisplay
    from hiperplano.plot.ks import KSDisplay
    from hiperplano.plot.margin import MarginDisplay
    from hiperplano.plot.path import PathDisplay
    from hiperplano.plot.regions import RegionsDisplay
    from hiperplano.plot.replay import ReplayDisplay
    from hiperplano.plot.residuals import ResidualDisplay
    from hiperplano.report.page import write_report
    from hiperplano.selection.cost_sensitive import CostSensitiveClassifier
    from hiperplano.selection.logistic import LogisticRegressionCV
    from hiperplano.selection.ridge import RidgeCV
    from hiperplano.solvers.separation.certificates import Overlapping, QuasiSeparable, Separable
    from hiperplano.stats.canonical import CanonicalAxes
    from hiperplano.stats.covariance import inference
    from hiperplano.stats.diagnose import Diagnosis, diagnose
    from hiperplano.stats.logistic.covariance import likelihood_ratio
    from hiperplano.stats.logistic.odds import OddsSummary
    from hiperplano.stats.mistakes import MistakeBound, mistake_bound
    from hiperplano.stats.separability import separability
    from hiperplano.stats.summary import Summary

__version__ = "0.1.0"

_HOME = {
    "CanonicalAxes": "stats.canonical",
    "CoefficientDisplay": "plot.coefficients",
    "CostSensitiveClassifier": "selection.cost_sensitive",
    "Diagnosis": "stats.diagnose",
    "DivergenceDisplay": "plot.divergence",
    "GainsDisplay": "plot.gains",
    "HardMarginSVC": "models.hard_margin",
    "KSDisplay": "plot.ks",
    "KernelRidge": "models.kernel.ridge",
    "LeastSquaresClassifier": "models.least_squares",
    "LinearDiscriminantAnalysis": "models.discriminant",
    "LinearRegression": "models.least_squares",
    "LinearSVC": "models.svm",
    "LinearSVR": "models.svm",
    "LogisticRegression": "models.logistic",
    "LogisticRegressionCV": "selection.logistic",
    "MarginDisplay": "plot.margin",
    "MistakeBound": "stats.mistakes",
    "OddsSummary": "stats.logistic.odds",
    "Overlapping": "solvers.separation.certificates",
    "PassiveAggressiveClassifier": "models.online.passive_aggressive",
    "PassiveAggressiveRegressor": "models.online.passive_aggressive",
    "PathDisplay": "plot.path",
    "Pegasos": "models.online.pegasos",
    "Perceptron": "models.online.perceptron",
    "QuadraticDiscriminantAnalysis": "models.quadratic",
    "QuasiSeparable": "solvers.separation.certificates",
    "RegionsDisplay": "plot.regions",
    "ReplayDisplay": "plot.replay",
    "ResidualDisplay": "plot.residuals",
    "Ridge": "models.least_squares",
    "RidgeCV": "selection.ridge",
    "SVC": "models.kernel.svc",
    "SVR": "models.kernel.svr",
    "OneClassSVM": "models.kernel.one_class",
    "SGDClassifier": "models.online.sgd",
    "SGDRegressor": "models.online.sgd",
    "Separable": "solvers.separation.certificates",
    "Step": "models.online.replay",
    "Summary": "stats.summary",
    "ambiguous": "decision.votes",
    "auc_interval": "metrics.area",
    "bayes_decision": "decision.costs",
    "bayes_error": "decision.bayes",
    "binary_costs": "metrics.costs",
    "confusion_at": "metrics.ranking",
    "diagnose": "stats.diagnose",
    "gini_score": "metrics.ranking",
    "inference": "stats.covariance",
    "information_value": "metrics.divergence",
    "js_divergence": "metrics.divergence",
    "kl_divergence": "metrics.divergence",
    "ks_score": "metrics.ranking",
    "ks_test": "metrics.kolmogorov_smirnov",
    "likelihood_ratio": "stats.logistic.covariance",
    "load": "models.saving",
    "load_credit_default": "datasets.credit_default",
    "load_credit_line": "datasets.credit",
    "margin": "decision.geometry",
    "mistake_bound": "stats.mistakes",
    "population_stability_index": "metrics.divergence",
    "prior_decision": "decision.costs",
    "project": "decision.geometry",
    "ranking_scores": "metrics.ranking",
    "replay": "models.online.replay",
    "save": "models.saving",
    "savings_interval": "metrics.costs",
    "savings_score": "metrics.costs",
    "separability": "stats.separability",
    "signed_distance": "decision.geometry",
    "votes": "decision.votes",
    "write_report": "report.page",
}

__all__ = [
    "SVC",
    "SVR",
    "CanonicalAxes",
    "CoefficientDisplay",
    "CostSensitiveClassifier",
    "Diagnosis",
    "DivergenceDisplay",
    "GainsDisplay",
    "HardMarginSVC",
    "KSDisplay",
    "KernelRidge",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MarginDisplay",
    "MistakeBound",
    "OddsSummary",
    "OneClassSVM",
    "Overlapping",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "PathDisplay",
    "Pegasos",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "QuasiSeparable",
    "RegionsDisplay",
    "ReplayDisplay",
    "ResidualDisplay",
    "Ridge",
    "RidgeCV",
    "SGDClassifier",
    "SGDRegressor",
    "Separable",
    "Step",
    "Summary",
    "ambiguous",
    "auc_interval",
    "bayes_decision",
    "bayes_error",
    "binary_costs",
    "confusion_at",
    "diagnose",
    "gini_score",
    "inference",
    "information_value",
    "js_divergence",
    "kl_divergence",
    "ks_score",
    "ks_test",
    "likelihood_ratio",
    "load",
    "load_credit_default",
    "load_credit_line",
    "margin",
    "mistake_bound",
    "population_stability_index",
    "prior_decision",
    "project",
    "ranking_scores",
    "replay",
    "save",
    "savings_interval",
    "savings_score",
    "separability",
    "signed_distance",
    "votes",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that `import hiperplano` costs nothing."""
    if name in _HOME:
        value = getattr(import_module(f"hiperplano.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    # With these two Python asks whether a similar name was meant.
    raise AttributeError(f"module 'hiperplano' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
