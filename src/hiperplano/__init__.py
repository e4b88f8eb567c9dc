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
    from hiperplano.export.excel import to_excel
    from hiperplano.export.json.reading import from_json
    from hiperplano.export.json.writing import to_json
    from hiperplano.export.onnx.writing import to_onnx
    from hiperplano.export.pmml.writing import to_pmml
    from hiperplano.export.sql.verify import SqlCheck, verify_sql
    from hiperplano.export.sql.writing import to_sql
    from hiperplano.features.binning.encoder import WoEEncoder
    from hiperplano.features.binning.optimal import OptimalBinning
    from hiperplano.features.binning.table import BinTable
    from hiperplano.features.scanning.scan import scan
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
    from hiperplano.models.kernel.features import KernelFeatures
    from hiperplano.models.kernel.logistic import KernelLogisticRegression
    from hiperplano.models.kernel.nu_svc import NuSVC
    from hiperplano.models.kernel.nu_svr import NuSVR
    from hiperplano.models.kernel.one_class import OneClassSVM
    from hiperplano.models.kernel.perceptron import KernelPerceptron
    from hiperplano.models.kernel.ridge import KernelRidge
    from hiperplano.models.kernel.svc import SVC
    from hiperplano.models.kernel.svr import SVR
    from hiperplano.models.least_squares import LinearRegression, Ridge
    from hiperplano.models.least_squares_classifier import LeastSquaresClassifier, RidgeClassifier
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
    from hiperplano.plot.credit.binning import BinningDisplay
    from hiperplano.plot.divergence import DivergenceDisplay
    from hiperplano.plot.gains import GainsDisplay
    from hiperplano.plot.ks import KSDisplay
    from hiperplano.plot.margin import MarginDisplay
    from hiperplano.plot.path import PathDisplay
    from hiperplano.plot.regions import RegionsDisplay
    from hiperplano.plot.replay import ReplayDisplay
    from hiperplano.plot.residuals import ResidualDisplay
    from hiperplano.report.page import write_report
    from hiperplano.scorecard.monitoring.monitor import monitor
    from hiperplano.scorecard.scorecard import Scorecard
    from hiperplano.selection.cost_sensitive import CostSensitiveClassifier
    from hiperplano.selection.kernel_ridge import KernelRidgeCV
    from hiperplano.selection.logistic import LogisticRegressionCV
    from hiperplano.selection.ridge import RidgeClassifierCV, RidgeCV
    from hiperplano.selection.svc import SVCCV
    from hiperplano.solvers.separation.certificates import Overlapping, QuasiSeparable, Separable
    from hiperplano.stats.canonical import CanonicalAxes
    from hiperplano.stats.covariance import inference
    from hiperplano.stats.diagnose import Diagnosis, diagnose
    from hiperplano.stats.logistic.covariance import likelihood_ratio
    from hiperplano.stats.logistic.diagnose import LogisticDiagnosis
    from hiperplano.stats.logistic.odds import OddsSummary
    from hiperplano.stats.mistakes import MistakeBound, mistake_bound
    from hiperplano.stats.separability import separability
    from hiperplano.stats.summary import Summary

__version__ = "0.1.0"

_HOME = {
    "BinTable": "features.binning.table",
    "BinningDisplay": "plot.credit.binning",
    "CanonicalAxes": "stats.canonical",
    "CoefficientDisplay": "plot.coefficients",
    "CostSensitiveClassifier": "selection.cost_sensitive",
    "Diagnosis": "stats.diagnose",
    "DivergenceDisplay": "plot.divergence",
    "GainsDisplay": "plot.gains",
    "HardMarginSVC": "models.hard_margin",
    "KSDisplay": "plot.ks",
    "KernelFeatures": "models.kernel.features",
    "KernelLogisticRegression": "models.kernel.logistic",
    "KernelPerceptron": "models.kernel.perceptron",
    "KernelRidge": "models.kernel.ridge",
    "KernelRidgeCV": "selection.kernel_ridge",
    "LeastSquaresClassifier": "models.least_squares_classifier",
    "LinearDiscriminantAnalysis": "models.discriminant",
    "LinearRegression": "models.least_squares",
    "LinearSVC": "models.svm",
    "LinearSVR": "models.svm",
    "LogisticDiagnosis": "stats.logistic.diagnose",
    "LogisticRegression": "models.logistic",
    "LogisticRegressionCV": "selection.logistic",
    "MarginDisplay": "plot.margin",
    "MistakeBound": "stats.mistakes",
    "NuSVC": "models.kernel.nu_svc",
    "NuSVR": "models.kernel.nu_svr",
    "OddsSummary": "stats.logistic.odds",
    "OneClassSVM": "models.kernel.one_class",
    "OptimalBinning": "features.binning.optimal",
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
    "RidgeClassifier": "models.least_squares_classifier",
    "RidgeClassifierCV": "selection.ridge",
    "SGDClassifier": "models.online.sgd",
    "SGDRegressor": "models.online.sgd",
    "SVC": "models.kernel.svc",
    "SVCCV": "selection.svc",
    "SVR": "models.kernel.svr",
    "Scorecard": "scorecard.scorecard",
    "Separable": "solvers.separation.certificates",
    "SqlCheck": "export.sql.verify",
    "Step": "models.online.replay",
    "Summary": "stats.summary",
    "WoEEncoder": "features.binning.encoder",
    "ambiguous": "decision.votes",
    "auc_interval": "metrics.area",
    "bayes_decision": "decision.costs",
    "bayes_error": "decision.bayes",
    "binary_costs": "metrics.costs",
    "confusion_at": "metrics.ranking",
    "diagnose": "stats.diagnose",
    "from_json": "export.json.reading",
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
    "monitor": "scorecard.monitoring.monitor",
    "population_stability_index": "metrics.divergence",
    "prior_decision": "decision.costs",
    "project": "decision.geometry",
    "ranking_scores": "metrics.ranking",
    "replay": "models.online.replay",
    "save": "models.saving",
    "savings_interval": "metrics.costs",
    "savings_score": "metrics.costs",
    "scan": "features.scanning.scan",
    "separability": "stats.separability",
    "signed_distance": "decision.geometry",
    "to_excel": "export.excel",
    "to_json": "export.json.writing",
    "to_onnx": "export.onnx.writing",
    "to_pmml": "export.pmml.writing",
    "to_sql": "export.sql.writing",
    "verify_sql": "export.sql.verify",
    "votes": "decision.votes",
    "write_report": "report.page",
}

__all__ = [  # noqa: RUF022  as text is sorted: Ruff takes SVC for a constant
    "BinTable",
    "BinningDisplay",
    "CanonicalAxes",
    "CoefficientDisplay",
    "CostSensitiveClassifier",
    "Diagnosis",
    "DivergenceDisplay",
    "GainsDisplay",
    "HardMarginSVC",
    "KSDisplay",
    "KernelFeatures",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeCV",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticDiagnosis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MarginDisplay",
    "MistakeBound",
    "NuSVC",
    "NuSVR",
    "OddsSummary",
    "OneClassSVM",
    "OptimalBinning",
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
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDRegressor",
    "SVC",
    "SVCCV",
    "SVR",
    "Scorecard",
    "Separable",
    "SqlCheck",
    "Step",
    "Summary",
    "WoEEncoder",
    "ambiguous",
    "auc_interval",
    "bayes_decision",
    "bayes_error",
    "binary_costs",
    "confusion_at",
    "diagnose",
    "from_json",
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
    "monitor",
    "population_stability_index",
    "prior_decision",
    "project",
    "ranking_scores",
    "replay",
    "save",
    "savings_interval",
    "savings_score",
    "scan",
    "separability",
    "signed_distance",
    "to_excel",
    "to_json",
    "to_onnx",
    "to_pmml",
    "to_sql",
    "verify_sql",
    "votes",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import hiperplano` costs nothing."""
    if name in _HOME:
        value = getattr(import_module(f"hiperplano.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    # With these two arguments, Python suggests similar names.
    raise AttributeError(f"module 'hiperplano' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
