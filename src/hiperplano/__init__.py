"""Linear supervised models: fast, exact, and honest about how a fit ended."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiperplano.datasets.credit import load_credit_line
    from hiperplano.evidence.covariance import inference
    from hiperplano.evidence.diagnose import Diagnosis, diagnose
    from hiperplano.evidence.logistic_covariance import likelihood_ratio
    from hiperplano.evidence.mistakes import MistakeBound, mistake_bound
    from hiperplano.evidence.odds import OddsSummary
    from hiperplano.evidence.separability import separability
    from hiperplano.evidence.summary import Summary
    from hiperplano.models.least_squares import LeastSquaresClassifier, LinearRegression, Ridge
    from hiperplano.models.logistic import LogisticRegression
    from hiperplano.models.passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor
    from hiperplano.models.pegasos import Pegasos
    from hiperplano.models.perceptron import Perceptron
    from hiperplano.models.replay import Step, replay
    from hiperplano.models.stochastic import SGDClassifier, SGDRegressor
    from hiperplano.selection.logistic import LogisticRegressionCV
    from hiperplano.selection.ridge import RidgeCV
    from hiperplano.solvers.certificates import Overlapping, QuasiSeparable, Separable

__version__ = "0.1.0"

_HOME = {
    "Diagnosis": "evidence.diagnose",
    "LeastSquaresClassifier": "models.least_squares",
    "LinearRegression": "models.least_squares",
    "LogisticRegression": "models.logistic",
    "LogisticRegressionCV": "selection.logistic",
    "MistakeBound": "evidence.mistakes",
    "OddsSummary": "evidence.odds",
    "Overlapping": "solvers.certificates",
    "PassiveAggressiveClassifier": "models.passive_aggressive",
    "PassiveAggressiveRegressor": "models.passive_aggressive",
    "Pegasos": "models.pegasos",
    "Perceptron": "models.perceptron",
    "QuasiSeparable": "solvers.certificates",
    "Ridge": "models.least_squares",
    "RidgeCV": "selection.ridge",
    "SGDClassifier": "models.stochastic",
    "SGDRegressor": "models.stochastic",
    "Separable": "solvers.certificates",
    "Step": "models.replay",
    "Summary": "evidence.summary",
    "diagnose": "evidence.diagnose",
    "inference": "evidence.covariance",
    "likelihood_ratio": "evidence.logistic_covariance",
    "load_credit_line": "datasets.credit",
    "mistake_bound": "evidence.mistakes",
    "replay": "models.replay",
    "separability": "evidence.separability",
}

__all__ = [
    "Diagnosis",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MistakeBound",
    "OddsSummary",
    "Overlapping",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Pegasos",
    "Perceptron",
    "QuasiSeparable",
    "Ridge",
    "RidgeCV",
    "SGDClassifier",
    "SGDRegressor",
    "Separable",
    "Step",
    "Summary",
    "diagnose",
    "inference",
    "likelihood_ratio",
    "load_credit_line",
    "mistake_bound",
    "replay",
    "separability",
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
