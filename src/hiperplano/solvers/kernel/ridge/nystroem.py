"""Kernel ridge regression by the Nyström approximation, for hundreds of thousands of rows.

f(x) = Σⱼ βⱼ·k(x, cⱼ) minimises the same criterion over functions in the span of a few rows, the centres cⱼ. This is
ridge regression on whitened features, solved by conjugate gradients with a preconditioner from a sample of the rows.
The method is close to Falkon (Rudi, Carratino, Rosasco 2017).
"""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages import Message
from hiperplano.solvers.kernel.refinement import REACH, Refined, refined_gradients
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.ridge.whitened_features import WhitenedFeatures
from hiperplano.solvers.kernel.solution import KernelSolution

_STEPS = 1000  # default of `max_iter`
_COST_ROWS = 500  # sampled rows from which the cost of the approximation is estimated


def default_centres(n: int) -> int:
    """Number of centres: a multiple of √n, so that the approximation error decreases like the statistical error."""
    return int(min(n, max(300, 4 * np.sqrt(n))))


def solve_nystroem(
    problem: RidgeProblem, n_centres: int, tol: float, max_iter: int | None, seed: int, note: Message | str = ""
) -> KernelSolution:
    """Minimise over the span of the centres, to a relative residual of `tol` of the normal equations.

    Parameters
    ----------
    n_centres : int
        Number of centres; fewer are used if they span all others.
    seed : int
        Seed of the centres and samples.
    note : Message
        Message that explains the choice of this solver.
    """
    rng = np.random.default_rng(seed)
    features = WhitenedFeatures.of(problem, n_centres, rng)
    found, residual = _refined(features, rng, tol, max_iter)
    beta, intercept = features.to_centres(found.x)
    objective, cost = _cost(features, found.x, residual, rng)
    return KernelSolution(
        coef=beta.T,
        intercept=intercept,
        method=Message("Nyström approximation"),
        n_iter=found.n_iter,
        objective=objective,
        gap=found.residual,
        converged=found.residual <= tol,
        status=note + _status(problem, len(beta), found.residual, found.n_iter, tol, cost),
        kernel=str(problem.gram.kernel),
        rows=features.span.centres,
        approximation_cost=cost[1],
    )


def _refined(
    features: WhitenedFeatures, rng: np.random.Generator, tol: float, max_iter: int | None
) -> tuple[Refined, Array]:
    """Make steps in float32, then in float64 if rounding stops them.

    The residuals of all rows are returned with the solution.

    The first right-hand side may be rounded, too: its error is part of the first residual, which is exact.
    """
    alpha, right = features.problem.alpha, features.rough_right()
    start, size = (np.zeros(right.shape), right), np.linalg.norm(right, axis=0)
    precondition, n_iter = features.preconditioner(rng), 0
    last = np.full(right.shape, np.nan), np.empty(0)
    for double in (False, True):
        steps = features.in_double() if double else features

        def product(directions: Array, which: Array, steps: WhitenedFeatures = steps) -> Array:
            return steps.normal(directions) + features.penalty(alpha[which]) * directions

        def remainder(solved: Array, which: Array) -> Array:
            nonlocal last
            residuals, sums = features.residual_sums(solved, which)
            last = solved, residuals
            return sums - features.penalty(alpha[which]) * solved

        found = refined_gradients(
            product,
            remainder,
            start=start,
            size=size,
            precondition=precondition,
            tol=tol,
            reach=REACH[np.dtype(steps.rough.dtype)],
            max_iter=(_STEPS if max_iter is None else max_iter) - n_iter,
        )
        n_iter += found.n_iter
        if found.residual <= tol or n_iter >= (_STEPS if max_iter is None else max_iter):
            break
        start = found.x, remainder(found.x, np.arange(len(alpha)))
    if not np.array_equal(last[0], found.x):  # some targets converged before others
        remainder(found.x, np.arange(len(alpha)))
    return found._replace(n_iter=n_iter), last[1]


def _cost(
    features: WhitenedFeatures, solved: Array, residual: Array, rng: np.random.Generator
) -> tuple[float, tuple[float, float]]:
    """The objective P, and two shares of it between which the exact minimum is estimated to lie lower.

    With a = w·(y − f)/α and g = Σᵢ aᵢ·k(·, xᵢ) − f, the gradient at f is −2α·g. The criterion is strongly convex, so
    the exact minimum is at most α‖g‖² lower. A step along g alone lowers it by α‖g‖²·α‖g‖²/(α‖g‖² + Σ w·g(x)²). As g is
    orthogonal to the span, ‖g‖² = Σᵢ aᵢ·g(xᵢ). Both sums are estimated from a few rows, drawn with probabilities
    proportional to |aᵢ|. The shares are widened by two standard errors of ‖g‖².
    """
    problem, inner = features.problem, solved[: len(features.span.centres)]
    weight, n = np.square(problem.gram.root)[:, None], problem.n_rows
    objective = np.einsum("ij,ij->j", weight * residual, residual) + problem.alpha * np.square(inner).sum(axis=0)
    if not (problem.alpha > 0).all() or not (objective > 0).all():
        return float(objective.sum()), (0.0, 1.0)
    a = weight * residual / problem.alpha
    chance = np.linalg.norm(a / np.linalg.norm(a, axis=0), axis=1) + 1.0 / n
    chance /= chance.sum()
    rows = np.sort(rng.choice(n, _COST_ROWS, p=chance))
    share = 1.0 / (_COST_ROWS * chance[rows])[:, None]
    f = features.matrix.part(rows).dot(features.to_centres(solved)[0])
    g = problem.gram.matrix.part(rows).dot(a) - f
    terms = problem.alpha * share * a[rows] * g
    square, doubt = terms.sum(axis=0), 2.0 * np.sqrt(_COST_ROWS) * terms.std(axis=0)
    least = np.maximum(square - doubt, 0.0)
    spread = np.sum(share * weight[rows] * g**2, axis=0)
    low = least * np.divide(least, least + spread, out=np.zeros_like(least), where=least > 0)
    bounds = np.clip(np.vstack([low, square + doubt]) / objective, 0.0, 1.0).max(axis=1)
    return float(objective.sum()), (float(bounds[0]), float(bounds[1]))


def _status(
    problem: RidgeProblem, n_centres: int, residual: float, steps: int, tol: float, cost: tuple[float, float]
) -> Message:
    text = Message(
        "{n} rows fitted in the span of {centres} of them; relative residual {residual:.1e} after {steps} steps. The "
        "objective of the exact fit is lower by an estimated {low:.1%} to {high:.1%}.",
        n=problem.n_rows,
        centres=n_centres,
        residual=residual,
        steps=steps,
        low=cost[0],
        high=cost[1],
    )
    if residual <= tol:
        return text
    return text + Message(" The residual is above tol={tol:g}: raise max_iter, alpha, or tol.", tol=tol)
