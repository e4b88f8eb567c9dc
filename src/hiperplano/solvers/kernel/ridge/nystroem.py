"""Kernel ridge regression in the span of a few rows, the centres, for hundreds of thousands of rows.

f(x) = Σⱼ βⱼ·k(x, cⱼ) minimises the same criterion among fewer functions. Randomly pivoted Cholesky of a sample of them
gives all that is needed: its pivots are the centres; its triangle L, with L·Lᵀ the matrix of the centres, whitens them;
and its factor, whose rows are the whitened features of the sample, is the preconditioner, as good for a tiny penalty as
for a large one. (In the manner of Falkon, Rudi, Carratino and Rosasco 2017.)
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import iadd

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from hiperplano.data.design import Array
from hiperplano.data.threads import in_threads, ordered_reduce, worker_count
from hiperplano.kernels import KernelMatrix
from hiperplano.linalg.conjugate_gradient import conjugate_gradients
from hiperplano.linalg.products import columns_dot
from hiperplano.messages import Message
from hiperplano.solvers.kernel.memory import memory_limit
from hiperplano.solvers.kernel.pivoted_cholesky import LowRank, pivoted_cholesky
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_SAMPLE = 10  # rows for each centre: the preconditioned matrix then has a condition of about 4
_BLOCK = 2048
_COST_ROWS = 200


def default_centres(n: int) -> int:
    """How many centres to take: a multiple of √n, so that the error of approximation falls as that of the fit."""
    return int(min(n, max(300, 4 * np.sqrt(n))))


def solve_nystroem(
    problem: RidgeProblem, n_centres: int, tol: float, max_iter: int | None, seed: int, note: Message | str = ""
) -> KernelSolution:
    """Minimise among functions in the span of the centres, to a relative residual of `tol` of the normal equations.

    Parameters
    ----------
    n_centres : int
        Fewer are taken if those determine all others.
    seed : int
        For the sample and the pivots.
    note : Message
        What to say of the choice of this solver.
    """
    features = WhitenedFeatures.of(problem, n_centres, seed)
    right = features.transpose_dot(np.square(problem.root)[:, None] * problem.y)
    weight = np.square(problem.root)[:, None]
    solved = conjugate_gradients(
        lambda directions, which: (
            features.normal(directions, weight) + features.penalty(problem.alpha[which]) * directions
        ),
        right,
        precondition=features.preconditioner(problem),
        rtol=tol,
        max_iter=max_iter if max_iter is not None else 1000,
    )
    coef, intercept = features.in_centres(solved.x)
    residual = float(solved.residuals.max())
    objective, cost = _cost(problem, features, solved.x, seed)
    return KernelSolution(
        coef=coef,
        intercept=intercept,
        method=Message("Nyström approximation"),
        n_iter=solved.n_iter,
        objective=objective,
        gap=residual,
        converged=residual <= tol,
        status=note + _status(problem, len(features.centres), residual, solved.n_iter, tol, cost),
        kernel=str(problem.kernel),
        rows=features.centres,
        approximation_cost=cost[1],
    )


@dataclass(frozen=True)
class WhitenedFeatures:
    """ψ(x) = L⁻¹·k(C, x), and a last feature of ones for the intercept: products of ψ approximate the kernel.

    Attributes
    ----------
    matrix : KernelMatrix
        k of all rows and the centres.
    held : list of ndarray or None
        Its blocks of rows, where they fit in memory.
    triangle : ndarray of shape (r, r)
        L.
    centres : ndarray of int of shape (r,)
        Rows of the fit.
    sample, sampled : ndarray of shape (q, r), of int of shape (q,)
        ψ of some rows, and their numbers.
    """

    matrix: KernelMatrix
    held: list[Array] | None
    triangle: Array
    centres: Array
    sample: Array
    sampled: Array
    intercept: bool

    @classmethod
    def of(cls, problem: RidgeProblem, n_centres: int, seed: int) -> WhitenedFeatures:
        """Choose centres among a sample of the rows, and compute the kernel of all rows with them."""
        n, rng = problem.n_rows, np.random.default_rng(seed)
        size = min(n, _SAMPLE * n_centres)
        sampled = np.sort(rng.choice(n, size, replace=False)) if size < n else np.arange(n)
        low = _pivots(problem.matrix, sampled, n_centres, seed)
        centres = sampled[low.pivots]
        matrix = problem.matrix.part(columns=centres)
        held = None
        if 8 * n * len(centres) <= memory_limit():
            held = in_threads(lambda rows: matrix.rows(rows), _blocks(n), n * len(centres))
        triangle = np.tril(low.factor[low.pivots])
        return cls(matrix, held, triangle, centres, low.factor, sampled, problem.fit_intercept)

    def _block(self, number: int, rows: slice) -> Array:
        return self.matrix.rows(rows) if self.held is None else self.held[number]

    def normal(self, directions: Array, weight: Array) -> Array:
        """Ψᵀ·W·Ψ·directions, in one pass over the rows."""
        beta, constant = self._to_centres(directions)

        def block(place: tuple[int, slice]) -> Array:
            values = self._block(*place)
            scores = (values @ beta + constant) * weight[place[1]]
            return np.vstack([values.T @ scores, scores.sum(axis=0)])

        return self._whitened(self._summed(block))

    def transpose_dot(self, right: Array) -> Array:
        """Ψᵀ·right."""

        def block(place: tuple[int, slice]) -> Array:
            values = right[place[1]]
            return np.vstack([self._block(*place).T @ values, values.sum(axis=0)])

        return self._whitened(self._summed(block))

    def dot(self, directions: Array) -> Array:
        """Ψ·directions."""
        beta, constant = self._to_centres(directions)
        found = np.empty((self.matrix.shape[0], directions.shape[1]))

        def block(place: tuple[int, slice]) -> None:
            found[place[1]] = self._block(*place) @ beta + constant

        in_threads(block, list(enumerate(_blocks(len(found)))), found.size * len(self.centres))
        return found

    def penalty(self, alpha: Array) -> Array:
        """α of every feature, of shape (features, targets): 0 for the intercept."""
        found = np.repeat(alpha[None], len(self.centres) + self.intercept, axis=0)
        if self.intercept:
            found[-1] = 0.0
        return found

    def preconditioner(self, problem: RidgeProblem) -> _SampleInverse:
        """The inverse of the normal equations of the sample, scaled to all rows."""
        rows = self.sample if not self.intercept else np.column_stack([self.sample, np.ones(len(self.sample))])
        weighted = rows * problem.root[self.sampled, None]
        gram = columns_dot(weighted, weighted) * (problem.n_rows / len(rows))
        factors = {}
        for alpha in np.unique(problem.alpha).tolist():
            matrix = gram.copy()
            # Without a penalty, what rounding leaves of the smallest directions must not decide.
            floor = np.finfo(float).eps * len(gram) * float(gram.diagonal().max(initial=0.0))
            matrix[np.diag_indices(len(gram))] += self.penalty(np.array([alpha]))[:, 0] + floor
            factors[alpha] = cho_factor(matrix, lower=True, check_finite=False)
        return _SampleInverse(factors, problem.alpha)

    def in_centres(self, solved: Array) -> tuple[Array, Array]:
        """Coefficients of the centres, of shape (targets, r), and intercepts."""
        beta, constant = self._to_centres(solved)
        return beta.T, np.broadcast_to(constant, (solved.shape[1],)).copy()

    def _to_centres(self, directions: Array) -> tuple[Array, Array]:
        count = len(self.centres)
        beta = solve_triangular(self.triangle, directions[:count], lower=True, trans=1, check_finite=False)
        return beta, directions[count] if self.intercept else np.zeros(directions.shape[1])

    def _summed(self, block: object) -> Array:
        places = list(enumerate(_blocks(self.matrix.shape[0])))
        return ordered_reduce(block, places, iadd, worker_count())  # type: ignore[arg-type]

    def _whitened(self, sums: Array) -> Array:
        inner = solve_triangular(self.triangle, sums[:-1], lower=True, check_finite=False)
        return np.vstack([inner, sums[-1:]]) if self.intercept else np.asarray(inner)


@dataclass(frozen=True)
class _SampleInverse:
    """Solves with the Cholesky factor that belongs to the penalty of each column."""

    factors: dict[float, tuple[Array, bool]]
    alpha: Array

    def __call__(self, residuals: Array, which: Array) -> Array:
        found = np.empty_like(residuals)
        for alpha, factor in self.factors.items():
            mine = self.alpha[which] == alpha
            if mine.any():
                found[:, mine] = cho_solve(factor, residuals[:, mine], check_finite=False)
        return found


def _pivots(matrix: KernelMatrix, sampled: Array, n_centres: int, seed: int) -> LowRank:
    rows = matrix.part(rows=sampled)
    diagonal = matrix.diagonal[sampled]
    return pivoted_cholesky(
        lambda which: rows.part(columns=sampled[which]).dense(), diagonal, n_centres, 1e-14 * diagonal.sum(), seed
    )


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def _cost(
    problem: RidgeProblem, features: WhitenedFeatures, solved: Array, seed: int
) -> tuple[float, tuple[float, float]]:
    """The objective P, and between which shares of it the exact minimum is estimated to lie lower.

    With a = w·(y − f)/α and g = Σᵢ aᵢ·k(·, xᵢ) − f, the gradient at f is −2α·g. The criterion is strongly convex: the
    exact minimum is at most α‖g‖² lower; a step along g alone lowers it by α‖g‖²·α‖g‖²/(α‖g‖² + Σ w·g(x)²). As g is
    orthogonal to the span, ‖g‖² = Σᵢ aᵢ·g(xᵢ). Both sums are estimated from a few rows.
    """
    weight, fitted = np.square(problem.root)[:, None], features.dot(solved)
    residual = problem.y - fitted
    squares = np.einsum("ij,ij->j", solved[: len(features.centres)], solved[: len(features.centres)])
    objective = np.einsum("ij,ij->j", weight * residual, residual) + problem.alpha * squares
    if not (problem.alpha > 0).all() or not (objective > 0).all():
        return float(objective.sum()), (0.0, 1.0)
    a = weight * residual / problem.alpha
    n, rng = problem.n_rows, np.random.default_rng(seed)
    rows = np.sort(rng.choice(n, min(n, _COST_ROWS), replace=False))
    constant = features.in_centres(solved)[1]
    g = problem.matrix.part(rows=rows).dot(a) - (fitted[rows] - constant)
    share = n / len(rows)
    square = np.maximum(problem.alpha * share * np.einsum("ij,ij->j", a[rows], g), 0.0)
    spread = share * np.einsum("ij,ij->j", weight[rows] * g, g)
    low = square * np.divide(square, square + spread, out=np.zeros_like(square), where=square > 0)
    bounds = np.minimum(1.0, np.vstack([low, square]) / objective).max(axis=1)
    return float(objective.sum()), (float(bounds[0]), float(bounds[1]))


def _status(
    problem: RidgeProblem, n_centres: int, residual: float, steps: int, tol: float, cost: tuple[float, float]
) -> Message:
    text = Message(
        "{n} rows fitted in the span of {centres} of them; relative residual {residual:.1e} after {steps} steps. The "
        "objective of the exact fit is lower by an estimated {low:.2g}% to {high:.2g}%.",
        n=problem.n_rows,
        centres=n_centres,
        residual=residual,
        steps=steps,
        low=100 * cost[0],
        high=100 * cost[1],
    )
    if residual <= tol:
        return text
    return text + Message(" The residual is above tol={tol:g}: raise max_iter, alpha, or tol.", tol=tol)
