"""The parameter gamma of kernels: a positive number, or a rule that a machine applies to its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidParameter
from hiperplano.kernels.algebra import Kernel

RULES = ("scale", "auto")


def check_gamma(kernel: Any) -> None:
    """Raise an error for a gamma that is neither a positive number nor a rule."""
    gamma = kernel.gamma
    if isinstance(gamma, str) and gamma in RULES:
        return
    if isinstance(gamma, str):
        raise InvalidParameter(
            "{kernel}: gamma={gamma!r}; gamma must be a positive number, 'scale' or 'auto'. Choose one of them.",
            kernel=type(kernel).__name__,
            gamma=gamma,
        )
    check_number(type(kernel).__name__, "gamma", gamma, 0.0, np.inf, open_low=True)


def width(kernel: Any) -> float:
    """The number gamma, which must not be a rule any more."""
    if isinstance(kernel.gamma, str):
        raise InvalidParameter(
            "{kernel}: gamma={gamma!r} depends on the rows of a fit, and there is none here. Set a number, or take "
            "resolve_kernel(kernel, X).",
            kernel=type(kernel).__name__,
            gamma=kernel.gamma,
        )
    return float(kernel.gamma)


def shown_gamma(kernel: Any) -> str:
    """Gamma as a factor in a formula."""
    if isinstance(kernel.gamma, str):
        return "γ·"
    return "" if kernel.gamma == 1 else f"{kernel.gamma:g}·"


def gamma_for(rule: str, X: Any, weight: Array | None = None) -> float:
    """scikit-learn's rules: 1/(columns·variance of the numbers) for "scale", 1/columns for "auto".

    With weights, a row of weight 2 counts twice in the variance.
    """
    d = X.shape[1]
    if rule == "auto":
        return 1.0 / d
    mean = X.mean(dtype=np.float64)
    if weight is not None:
        share = weight / (weight.sum() * d)
        mean = share @ X.sum(axis=1, dtype=np.float64)
        squares = X.multiply(X).sum(axis=1) if issparse(X) else np.square(X - mean).sum(axis=1, dtype=np.float64)
        variance = float(share @ squares) - (mean**2 if issparse(X) else 0.0)
    elif issparse(X):
        variance = float(X.multiply(X).mean(dtype=np.float64) - mean**2)
    else:
        variance = float(np.var(X, dtype=np.float64))
    return 1.0 / (d * variance) if variance > 0 else 1.0


def with_widths(kernel: Kernel, X: Any, weight: Array | None = None) -> Kernel:
    """The kernel with every rule for gamma, also in nested kernels, replaced by its number for these rows."""
    changed: dict[str, Any] = {}
    for name, value in kernel.get_params(deep=False).items():
        if isinstance(value, Kernel):
            inner = with_widths(value, X, weight)
            if inner is not value:
                changed[name] = inner
        elif name == "gamma" and isinstance(value, str):
            changed[name] = gamma_for(value, X, weight)
    return replace(kernel, **changed) if changed else kernel  # type: ignore[type-var]
