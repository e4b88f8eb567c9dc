"""Linear supervised models: fast, exact, and honest about how a fit ended."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiperplano.datasets.credit import load_credit_line
    from hiperplano.decision.geometry import margin, project, signed_distance
    from hiperplano.evidence.covariance import inference
    from hiperplano.evidence.diagnose import Diagnosis, diagnose
    from hiperplano.evidence.logistic_covariance import likelihood_ratio
    from hiperplano.evidence.odds import OddsSummary
    from hiperplano.evidence.separability import Overlapping, QuasiSeparable, Separable, separability
    from hiperplano.evidence.summary import Summary
    from hiperplano.models.hard_margin import HardMarginSVC
    from hiperplano.models.least_squares import LeastSquaresClassifier, LinearRegression, Ridge
    from hiperplano.models.logistic import LogisticRegression
    from hiperplano.models.svm import LinearSVC, LinearSVR
    from hiperplano.selection.logistic import LogisticRegressionCV
    from hiperplano.selection.ridge import RidgeCV

__version__ = "0.1.0"

_HOME = {
    "Diagnosis": "evidence.diagnose",
    "HardMarginSVC": "models.hard_margin",
    "LeastSquaresClassifier": "models.least_squares",
    "LinearRegression": "models.least_squares",
    "LinearSVC": "models.svm",
    "LinearSVR": "models.svm",
    "LogisticRegression": "models.logistic",
    "LogisticRegressionCV": "selection.logistic",
    "OddsSummary": "evidence.odds",
    "Overlapping": "evidence.separability",
    "QuasiSeparable": "evidence.separability",
    "Ridge": "models.least_squares",
    "RidgeCV": "selection.ridge",
    "Separable": "evidence.separability",
    "Summary": "evidence.summary",
    "diagnose": "evidence.diagnose",
    "inference": "evidence.covariance",
    "likelihood_ratio": "evidence.logistic_covariance",
    "load_credit_line": "datasets.credit",
    "margin": "decision.geometry",
    "project": "decision.geometry",
    "separability": "evidence.separability",
    "signed_distance": "decision.geometry",
}

__all__ = [
    "Diagnosis",
    "HardMarginSVC",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "OddsSummary",
    "Overlapping",
    "QuasiSeparable",
    "Ridge",
    "RidgeCV",
    "Separable",
    "Summary",
    "diagnose",
    "inference",
    "likelihood_ratio",
    "load_credit_line",
    "margin",
    "project",
    "separability",
    "signed_distance",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that `import hiperplano` costs nothing."""
    if name in _HOME:
        value = getattr(import_module(f"hiperplano.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hiperplano' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
