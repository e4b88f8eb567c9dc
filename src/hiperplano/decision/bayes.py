"""The Bayes error: the expected cost of the best possible rule for known distributions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import logsumexp, ndtr

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.decision.distributions import checked_table, error_of_table, simulated_error
from hiperplano.errors import InvalidParameter
from hiperplano.metrics.costs import check_costs

_REACH = 9.0  # standard deviations beyond which a Gaussian has a probability below 1e-18
_GRID = 64  # grid points per component; between two of them, decisions are assumed to change at most once
_BISECTIONS = 60
_BATCH = 2**16


@dataclass(frozen=True)
class BayesError:
    """The least expected cost of any rule.

    Attributes
    ----------
    value : float
        The expected cost; the probability of error if every mistake costs one.
    error : float
        Bound estimated by integration, or standard error of the Monte Carlo mean.
    method : str
        "integration in 1 dimension", "integration in 2 dimensions", "sum over n outcomes" or "Monte Carlo, n draws".
    """

    value: float
    error: float
    method: str

    def __float__(self) -> float:
        return self.value


def bayes_error(
    distributions: Any,
    covariances: Any = None,
    priors: Any = None,
    *,
    costs: Any = None,
    labels: Any = None,
    n_draws: int = 200_000,
    random_state: Any = 0,
) -> BayesError:
    """∫ min_j Σ_k π_k·p_k(x)·C[j, k] dx for known distributions of the classes.

    With covariances they are Gaussian. Components with a common covariance are first projected to the span of their
    means, which loses nothing. Problems of one or two dimensions are integrated numerically, others by Monte Carlo: the
    mean over draws x of the cost of the best decision given x. A table of probabilities of outcomes is summed, and any
    other distributions that can be drawn from are simulated.

    Parameters
    ----------
    distributions : array-like of shape (components, d), (components,) or (components, outcomes), or list of objects
        With covariances, the means of Gaussian components. Without: a table of p(x given component), each row of which
        sums to 1; or objects with `rvs(size, random_state)` and `logpdf`, or `logpmf` for all, such as frozen
        distributions of `scipy.stats`.
    covariances : array-like of shape (d, d), (components, d, d), or, for one dimension, of numbers, optional
        One covariance for all, or one for each Gaussian component.
    priors : array-like of shape (components,), optional
        Prior probabilities; equal by default.
    costs : array-like of shape (decisions, classes), optional
        As in `bayes_decision`; every mistake costs one by default, and the value is a probability of error.
    labels : array-like of int of shape (components,), optional
        The class of each component, from 0 on; a class of its own for each by default.
    n_draws : int, default=200_000
        Number of draws of the Monte Carlo mean.
    random_state : int, Generator or None, default=0
        Seed or generator of the Monte Carlo draws.

    Returns
    -------
    BayesError
        `value`, its error, and the method.

    Examples
    --------
    Two standard Gaussians at distance 2: Φ(−1).

    >>> from hiperplano import bayes_error
    >>> round(bayes_error([0.0, 2.0], 1.0).value, 6)
    0.158655

    A word is in 4 of 10 unwanted messages and in 1 of 10 others; half of all are unwanted.

    >>> round(bayes_error([[0.6, 0.4], [0.9, 0.1]]).value, 3)
    0.35
    """
    if covariances is None:
        table = checked_table(distributions)
        shares = _checked_priors(priors, len(distributions))
    else:
        centres, spreads = _checked_gaussians(distributions, covariances)
        shares = _checked_priors(priors, len(centres))
    member = _membership(labels, len(shares))
    check_number("bayes_error", "n_draws", n_draws, 2, np.inf)
    matrix = check_costs(costs, member.shape[0])
    if matrix.ndim != 2:
        raise InvalidParameter(
            "bayes_error: costs holds a matrix for each row; there are no rows here. Pass one matrix."
        )
    risk = matrix @ member  # cost of each decision for a row of each component
    rng = np.random.default_rng(random_state)
    if covariances is None:
        if table is not None:
            return BayesError(error_of_table(table, shares, risk), 0.0, f"sum over {table.shape[1]} outcomes")
        found = simulated_error(distributions, shares, risk, int(n_draws), rng)
        return BayesError(*found, f"Monte Carlo, {int(n_draws)} draws")
    centres, spreads = _projected(centres, spreads)
    if centres.shape[1] == 0:  # all components are equal
        return BayesError(float((risk @ shares).min()), 0.0, "components are equal")
    if centres.shape[1] == 1:
        value = _error_on_line(centres[:, 0], np.sqrt(spreads[:, 0, 0]), shares, risk)
        return BayesError(value, 1e-12 * float(np.abs(risk).max()), "integration in 1 dimension")
    if centres.shape[1] == 2:
        return _error_in_plane(centres, spreads, shares, risk)
    return _monte_carlo(centres, spreads, shares, risk, int(n_draws), rng)


def _checked_gaussians(means: Any, covariances: Any) -> tuple[Array, Array]:
    centres = np.asarray(means, dtype=np.float64)
    centres = centres[:, None] if centres.ndim == 1 else centres
    k, d = centres.shape
    spreads = np.asarray(covariances, dtype=np.float64)
    if d == 1 and spreads.ndim < 2:
        spreads = spreads.reshape(-1, 1, 1)
    if spreads.shape not in ((d, d), (1, d, d), (k, d, d)):
        raise InvalidParameter(
            "bayes_error: means has shape {shape} and covariances {other}; covariances must be one ({d}, {d}) "
            "matrix, or one for each of the {k} components. Arrange them so.",
            shape=centres.shape,
            other=spreads.shape,
            d=d,
            k=k,
        )
    spreads = np.broadcast_to(spreads, (k, d, d))
    symmetric = np.allclose(spreads, np.swapaxes(spreads, 1, 2))
    if not symmetric or not np.isfinite(spreads).all() or (np.linalg.eigvalsh(spreads) <= 0).any():
        raise InvalidParameter(
            "bayes_error: a covariance is not symmetric and positive definite; a Gaussian needs one that is. Check it."
        )
    return centres, spreads


def _checked_priors(priors: Any, k: int) -> Array:
    shares = np.full(k, 1.0 / k) if priors is None else np.asarray(priors, dtype=np.float64)
    if shares.shape != (k,) or not (shares >= 0).all() or not np.isclose(shares.sum(), 1.0):
        raise InvalidParameter(
            "bayes_error: priors={priors!r}; priors must be {k} numbers of 0 or more that sum to 1. Divide them "
            "by their sum.",
            priors=priors,
            k=k,
        )
    return shares


def _membership(labels: Any, components: int) -> Array:
    """Of shape (classes, components): 1 if a component belongs to a class."""
    codes = np.arange(components) if labels is None else np.asarray(labels)
    numbered = codes.shape == (components,) and codes.dtype.kind in "iu"
    if not numbered or set(codes.tolist()) != set(range(codes.max() + 1)):
        raise InvalidParameter(
            "bayes_error: labels={labels!r}; labels must give each of the {components} components the number of "
            "its class, 0, 1, … without gaps. Renumber the classes.",
            labels=labels,
            components=components,
        )
    return np.asarray(codes[None, :] == np.arange(codes.max() + 1)[:, None], dtype=np.float64)


def _projected(centres: Array, spreads: Array) -> tuple[Array, Array]:
    """Projection to the span of the means, for components with a common covariance; unchanged otherwise."""
    if not np.allclose(spreads, spreads[0], rtol=1e-14, atol=0.0):
        return centres, spreads
    white = np.linalg.solve(np.linalg.cholesky(spreads[0]), (centres - centres[0]).T).T
    values, basis = np.linalg.svd(white, full_matrices=False)[1:]
    basis = basis[values > 1e-12 * max(1.0, values.max(initial=0.0))]
    return white @ basis.T, np.broadcast_to(np.eye(len(basis)), (len(white), len(basis), len(basis)))


def _error_on_line(centres: Array, spreads: Array, shares: Array, risk: Array) -> float:
    """Integrate on a line.

    Between the points where the best decision changes, the integral is a sum of normal probabilities.
    """
    used = shares > 0
    centres, spreads, shares, risk = centres[used], spreads[used], shares[used], risk[:, used]
    log_shares = np.log(shares)

    def decide(x: Array) -> Array:
        logs = log_shares - np.log(spreads) - 0.5 * ((x[:, None] - centres) / spreads) ** 2
        return np.asarray((np.exp(logs - logs.max(axis=1, keepdims=True)) @ risk.T).argmin(axis=1))

    steps = np.linspace(-_REACH, _REACH, _GRID)
    grid = np.unique((centres[:, None] + spreads[:, None] * steps).ravel())
    chosen = decide(grid)
    changes = np.flatnonzero(chosen[1:] != chosen[:-1])
    low, high = grid[changes], grid[changes + 1]
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        same = decide(middle) == chosen[changes] if len(middle) else np.array([], dtype=bool)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    edges = np.concatenate([[-np.inf], (low + high) / 2, [np.inf]])
    decisions = np.concatenate([chosen[:1], chosen[changes + 1]])
    mass = np.diff(ndtr((edges[:, None] - centres) / spreads), axis=0)
    return float(np.sum(mass * shares * risk[decisions]))


def _error_in_plane(centres: Array, spreads: Array, shares: Array, risk: Array) -> BayesError:
    """Integrate in a plane: adaptive quadrature along the first coordinate, and along the second as on a line."""
    first = np.sqrt(spreads[:, 0, 0])
    slope = spreads[:, 0, 1] / spreads[:, 0, 0]
    left_over = np.sqrt(spreads[:, 1, 1] - slope * spreads[:, 0, 1])

    def slice_at(x: float) -> float:
        away = (x - centres[:, 0]) / first
        density = shares * np.exp(-0.5 * away**2) / (first * np.sqrt(2 * np.pi))
        total = density.sum()
        if total < 1e-300:
            return 0.0
        return float(
            total * _error_on_line(centres[:, 1] + slope * (x - centres[:, 0]), left_over, density / total, risk)
        )

    marks = np.unique(
        (centres[:, :1] + first[:, None] * np.array([-_REACH, -4.0, -2.0, 0.0, 2.0, 4.0, _REACH])).ravel()
    )
    parts = [quad(slice_at, a, b, epsabs=1e-9, epsrel=1e-9, limit=100) for a, b in pairwise(marks)]
    value, error = np.sum([part[:2] for part in parts], axis=0)
    return BayesError(float(value), float(error) + 1e-12, "integration in 2 dimensions")


def _monte_carlo(
    centres: Array, spreads: Array, shares: Array, risk: Array, n: int, rng: np.random.Generator
) -> BayesError:
    roots = np.linalg.cholesky(spreads)
    half_logs = np.log(np.einsum("kjj->kj", roots)).sum(axis=1)
    inverse = np.linalg.inv(roots)
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares)
    total = squares = 0.0
    for first in range(0, n, _BATCH):
        m = min(_BATCH, n - first)
        source = rng.choice(len(shares), size=m, p=shares)
        x = centres[source] + np.einsum("nij,nj->ni", roots[source], rng.normal(size=(m, centres.shape[1])))
        logs = np.empty((m, len(shares)))
        for k in range(len(shares)):
            logs[:, k] = log_shares[k] - half_logs[k] - 0.5 * np.sum(((x - centres[k]) @ inverse[k].T) ** 2, axis=1)
        posterior = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        cost = (posterior @ risk.T).min(axis=1)
        total += float(cost.sum())
        squares += float(cost @ cost)
    mean = total / n
    spread = max(squares / n - mean**2, 0.0)
    return BayesError(mean, float(np.sqrt(spread / (n - 1))), f"Monte Carlo, {n} draws")
