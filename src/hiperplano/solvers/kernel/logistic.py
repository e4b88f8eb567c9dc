"""Kernel logistic and softmax regression: linear logistic regression on orthonormal features of the centres' span."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.data.validate import wrap
from hiperplano.kernels import Kernel, KernelMatrix
from hiperplano.kernels.dimension import few_features
from hiperplano.messages import Message
from hiperplano.solvers.kernel.ridge.nystroem import default_centres
from hiperplano.solvers.kernel.solution import KernelSolution
from hiperplano.solvers.kernel.span import Span, drawn_rows, spanning_rows
from hiperplano.solvers.likelihood.fit import fit_likelihood

_EXACT = 3000  # up to this number of rows, every row is a centre
_CENTRES = 1000  # least number of centres of more rows
_COST_ROWS = 200  # sampled rows from which the cost of the approximation is estimated


def solve_kernel_logistic(
    kernel: Kernel,
    coded: InMemory,
    rows: Any,
    *,
    n_scores: int,
    C: float,
    n_centres: int | None,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
    seed: int,
) -> KernelSolution:
    """Minimise C·Σ w·loss + ½‖f‖² over functions f in the span of the centres.

    In orthonormal features of the span, this is a linear logistic regression, and it is solved as such. If all rows are
    centres, it is the minimum over all functions.

    Parameters
    ----------
    coded : InMemory
        Design with targets coded as the likelihood needs them, and weights.
    rows : ndarray or csr_array of shape (n, d)
    n_scores : int
        1 for two classes, otherwise the number of classes.
    n_centres : int or None
        Number of rows to draw as centres; None for all rows if they are few or the kernel has few features, otherwise
        for a multiple of √n.
    """
    rng, matrix, n = np.random.default_rng(seed), KernelMatrix(kernel, rows, dtype=np.float64), rows.shape[0]
    few = few_features(kernel, rows, n) if n_centres is None else None
    if few is not None:
        n_centres, candidates = n, spanning_rows(few)
    else:
        n_centres = n_centres or (n if n <= _EXACT else max(_CENTRES, default_centres(n)))
        candidates = drawn_rows(n, n_centres, rng)
    span = Span.of(matrix, candidates)
    features = span.features(matrix.part(columns=span.centres).dense())
    _, y, weight = coded.arrays()
    design: Design = wrap(features, y, weight)
    found = fit_likelihood(
        design,
        n_scores=n_scores,
        strength=1.0 / (C * design.total_weight),
        fit_intercept=fit_intercept,
        tol=tol,
        max_iter=max_iter,
        keep_hessian=False,
    )
    note, cost = Message("Every row is a centre: the fit is exact. "), None
    if n_centres < n:
        cost = _cost(matrix, features, found.coef, found.intercept, y, weight, C, rng)
        note = Message(
            "{n} rows fitted in the span of {centres} of them; the objective of the exact fit is lower by at most an "
            "estimated {cost:.1%}. ",
            n=n,
            centres=len(span.centres),
            cost=cost,
        )
    return KernelSolution(
        coef=span.to_centres(found.coef.T).T,
        intercept=found.intercept,
        method=found.method,
        n_iter=found.n_iter,
        objective=found.objective,
        gap=found.gap,
        converged=found.converged,
        status=note + found.status,
        kernel=str(kernel),
        rows=span.centres,
        approximation_cost=cost,
    )


def _cost(
    matrix: KernelMatrix, features: Array, theta: Array, b: Array, y: Array, w: Array | None, C: float, rng: Any
) -> float:
    """Estimate from a few rows how far the exact minimum lies below the objective P, relative to P.

    With aᵢ = −C·wᵢ·slope and g = Σᵢ aᵢ·k(·, xᵢ) − f, the gradient is −g, so the minimum is at most ½‖g‖² lower. As g is
    orthogonal to the span, ‖g‖² = Σᵢ aᵢ·g(xᵢ).
    """
    weight = C * (np.ones(len(y)) if w is None else w)[:, None]
    inner, y = features @ theta.T, y[:, 0]
    scores = inner + b
    if len(theta) == 1:
        losses = np.logaddexp(0.0, -y * scores[:, 0])
        a = weight * (y * expit(-y * scores[:, 0]))[:, None]
    else:
        chance, codes = softmax(scores, axis=1), y.astype(int)
        own = np.arange(len(y)), codes
        losses = -np.log(np.maximum(chance[own], np.finfo(float).tiny))
        a = -weight * chance
        a[own] += weight[:, 0]
    objective = float(weight[:, 0] @ losses + 0.5 * np.square(theta).sum())
    rows = np.sort(rng.choice(len(y), min(len(y), _COST_ROWS), replace=False))
    g = matrix.part(rows).dot(a) - inner[rows]
    square = max(float(np.sum(a[rows] * g)), 0.0) * len(y) / len(rows)
    return min(1.0, 0.5 * square / objective)
