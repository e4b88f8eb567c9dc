"""Linear supervised models: fast, exact, and honest about how a fit ended."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiperplano.models.least_squares import LeastSquaresClassifier, LinearRegression, Ridge

__version__ = "0.1.0"

_HOME = {
    "LeastSquaresClassifier": "models.least_squares",
    "LinearRegression": "models.least_squares",
    "Ridge": "models.least_squares",
}

__all__ = [
    "LeastSquaresClassifier",
    "LinearRegression",
    "Ridge",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that `import hiperplano` costs nothing."""
    if name in _HOME:
        value = getattr(import_module(f"hiperplano.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hiperplano' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
