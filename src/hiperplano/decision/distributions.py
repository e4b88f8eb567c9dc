"""The Bayes error of distributions other than Gaussian: a sum over outcomes, or a mean over draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from hiperplano.data.design import Array
from hiperplano.errors import InvalidParameter

_ROUNDED = 1e-6


def checked_table(distributions: Any) -> Array | None:
    """A table of p(x given class), one row for each class; None if it is not numeric."""
    try:
        table = np.asarray(distributions, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if table.ndim != 2 or not table.size or not (table >= 0).all() or (abs(table.sum(axis=1) - 1) > _ROUNDED).any():
        raise InvalidParameter(
            "bayes_error: without covariances a table needs one row for each class, of probabilities of the same "
            "outcomes that sum to 1; this one has the shape {shape}. Divide each row by its sum, or pass covariances.",
            shape=table.shape,
        )
    return table


def error_of_table(table: Array, shares: Array, risk: Array) -> float:
    """Σ over outcomes x of min_j Σ_k π_k·p(x given k)·C[j, k].

    Parameters
    ----------
    table : ndarray of shape (components, outcomes)
    shares : ndarray of shape (components,)
    risk : ndarray of shape (decisions, components)
    """
    return float((risk @ (shares[:, None] * table)).min(axis=0).sum())


def log_densities(distributions: Sequence[Any]) -> list[Any]:
    """The function log p of each distribution: densities for all, or probabilities for all."""
    for name in ("logpdf", "logpmf"):
        if all(hasattr(one, name) and hasattr(one, "rvs") for one in distributions):
            return [getattr(one, name) for one in distributions]
    raise InvalidParameter(
        "bayes_error: {kinds}; every class needs an object with rvs(size, random_state) and logpdf, or logpmf for all "
        "of them, as frozen distributions of scipy.stats have. Pass such objects, or means and covariances.",
        kinds=", ".join(dict.fromkeys(type(one).__name__ for one in distributions)),
    )


def simulated_error(
    distributions: Sequence[Any], shares: Array, risk: Array, n_draws: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The mean over draws x of the cost of the best decision given x, and its standard error.

    Each component is sampled in proportion to its share, so that the shares add no noise.
    """
    logs = log_densities(distributions)
    value = variance = 0.0
    for distribution, share in zip(distributions, shares.tolist(), strict=True):
        if share == 0.0:
            continue
        size = max(2, round(share * n_draws))
        x = distribution.rvs(size=size, random_state=rng)
        with np.errstate(divide="ignore"):
            joint = np.stack([np.reshape(log(x), size) + np.log(pi) for log, pi in zip(logs, shares, strict=True)])
        posterior = np.exp(joint - logsumexp(joint, axis=0))
        costs = (risk @ posterior).min(axis=0)
        value += share * float(costs.mean())
        variance += share**2 * float(costs.var(ddof=1)) / size
    return value, float(np.sqrt(variance))
