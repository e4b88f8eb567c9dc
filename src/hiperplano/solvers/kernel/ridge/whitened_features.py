"""Whitened Nyström features, whose inner products approximate a kernel, and sums over all rows with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import iadd

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import ordered_reduce, worker_count
from hiperplano.kernels import KernelMatrix
from hiperplano.linalg.memory import memory_limit
from hiperplano.linalg.normal_loops import add_normal_product
from hiperplano.linalg.products import columns_dot
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.span import Span, drawn_rows

_SAMPLE = 10  # sampled rows per centre for the preconditioner; its condition number is then about 4
_CELLS = 2**18  # numbers in a block of rows, which should stay in a core's cache between its two products
_HELD_CELLS = 2**23  # numbers in a block of rows kept in memory, where each row is read once
_FEW = 4  # up to this number of targets, BLAS is limited by memory bandwidth: a compiled loop reads the rows once


@dataclass(frozen=True)
class WhitenedFeatures:
    """Features of the span of the centres, followed by a constant feature for the intercept.

    Sums over the rows use blocks in float32, which are held if they fit in memory. Exact sums use blocks in float64,
    which are recomputed. (`in_double` replaces the blocks in float32 by ones in float64.)

    Attributes
    ----------
    problem : RidgeProblem
    span : Span
        Of the centres.
    matrix, rough : KernelMatrix
        Kernel values of all rows with the centres, in float64 and in the precision of the steps.
    held : ndarray of shape (n, r) or None
        The values of `rough`, if they are held.
    """

    problem: RidgeProblem
    span: Span
    matrix: KernelMatrix
    rough: KernelMatrix
    held: Array | None

    @classmethod
    def of(cls, problem: RidgeProblem, n_centres: int, rng: np.random.Generator) -> WhitenedFeatures:
        """Draw the centres, and compute the kernel values of all rows with them."""
        span = Span.of(problem.gram.matrix, drawn_rows(problem.n_rows, n_centres, rng))
        return cls(problem, span, problem.gram.matrix.part(columns=span.centres), *_rough(problem, span, np.float32))

    def in_double(self) -> WhitenedFeatures:
        """The same features with all sums in float64, for centres that float32 cannot distinguish."""
        return WhitenedFeatures(self.problem, self.span, self.matrix, *_rough(self.problem, self.span, np.float64))

    def normal(self, directions: Array) -> Array:
        """Ψᵀ·W·Ψ·directions, in the precision of `rough`."""
        size = _sizes(directions)
        beta, constant = (part.astype(self.rough.dtype) for part in self.to_centres(directions / size))
        weight = np.square(self.problem.gram.root).astype(self.rough.dtype)
        few, turned = directions.shape[1] <= _FEW, np.ascontiguousarray(beta.T)

        def block(rows: slice) -> Array:
            values = self._values(rows)
            if few:
                found = np.zeros((len(turned), len(beta) + 1))
                add_normal_product(values, weight[rows], turned, constant, found)
                return found.T
            scores = (values @ beta + constant) * weight[rows, None]
            return np.vstack([values.T @ scores, scores.sum(axis=0)]).astype(np.float64)

        held = few and self.held is not None
        return self._whitened(self._summed(block, _HELD_CELLS if held else _CELLS)) * size

    def rough_right(self) -> Array:
        """Ψᵀ·W·y, in the precision of `rough`."""
        right = np.square(self.problem.gram.root)[:, None] * self.problem.y
        size = _sizes(right)
        right = right / size

        def block(rows: slice) -> Array:
            scores = right[rows]
            sums = self._values(rows).T @ scores.astype(self.rough.dtype)
            return np.vstack([sums, scores.sum(axis=0)]).astype(np.float64)

        return self._whitened(self._summed(block)) * size

    def _values(self, rows: slice) -> Array:
        """A block of rows of `rough`."""
        return self.rough.rows(rows) if self.held is None else self.held[rows]

    def residual_sums(self, solved: Array, targets: Array | slice = slice(None)) -> tuple[Array, Array]:
        """y − Ψ·solved of every row, and Ψᵀ·W times that, in float64, for some of the targets."""
        beta, constant = self.to_centres(solved)
        y = self.problem.y[:, targets]
        weight, residuals = np.square(self.problem.gram.root)[:, None], np.empty(y.shape)

        def block(rows: slice) -> Array:
            values = self.matrix.rows(rows)
            residuals[rows] = y[rows] - (values @ beta + constant)
            scores = residuals[rows] * weight[rows]
            return np.vstack([values.T @ scores, scores.sum(axis=0)])

        sums = self._whitened(self._summed(block))
        return residuals, sums

    def penalty(self, alpha: Array) -> Array:
        """α of every feature, of shape (features, targets): 0 for the intercept."""
        found = np.repeat(alpha[None], len(self.span.centres) + self.problem.fit_intercept, axis=0)
        if self.problem.fit_intercept:
            found[-1] = 0.0
        return found

    def preconditioner(self, rng: np.random.Generator) -> SampleInverse:
        """The inverse of the normal equations of a sample of the rows, scaled to all rows.

        It works for tiny and large penalties.
        """
        n = self.problem.n_rows
        size = min(n, _SAMPLE * len(self.span.centres))
        rows = np.sort(rng.choice(n, size, replace=False)) if size < n else np.arange(n)
        features = self.span.features(self.matrix.part(rows).dense())
        if self.problem.fit_intercept:
            features = np.column_stack([features, np.ones(size)])
        features *= self.problem.gram.root[rows, None]
        gram = columns_dot(features, features) * (n / size)
        # Without a penalty, directions that are only rounding errors must not dominate.
        floor = np.finfo(float).eps * len(gram) * float(gram.diagonal().max(initial=1.0))
        factors = {}
        for alpha in np.unique(self.problem.alpha).tolist():
            penalty = self.penalty(np.array([alpha]))[:, 0]
            factors[alpha] = cho_factor(gram + np.diag(penalty + floor), lower=True, check_finite=False)
        return SampleInverse(factors, self.problem.alpha)

    def to_centres(self, directions: Array) -> tuple[Array, Array]:
        """Coefficients of the centres, of shape (r, targets), and intercepts."""
        count = len(self.span.centres)
        beta = self.span.to_centres(directions[:count])
        return beta, directions[count] if self.problem.fit_intercept else np.zeros(directions.shape[1])

    def _summed(self, block: Callable[[slice], Array], cells: int = _CELLS) -> Array:
        return ordered_reduce(block, _blocks(self.matrix.shape, cells), iadd, worker_count())

    def _whitened(self, sums: Array) -> Array:
        inner = self.span.whitened(sums[:-1])
        return np.vstack([inner, sums[-1:]]) if self.problem.fit_intercept else inner


@dataclass(frozen=True)
class SampleInverse:
    """Solve with the Cholesky factor that belongs to the penalty of each column."""

    factors: dict[float, tuple[Array, bool]]
    alpha: Array

    def __call__(self, residuals: Array, which: Array) -> Array:
        found = np.empty_like(residuals)
        for alpha, factor in self.factors.items():
            mine = self.alpha[which] == alpha
            if mine.any():
                found[:, mine] = cho_solve(factor, residuals[:, mine], check_finite=False)
        return found


def _sizes(columns: Array) -> Array:
    """The largest absolute value of every column, which may exceed the range of float32."""
    return np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)


def _rough(problem: RidgeProblem, span: Span, dtype: type) -> tuple[KernelMatrix, Array | None]:
    """Kernel values of all rows with the centres, also as an array if that fits in memory."""
    rough = problem.gram.matrix_in(dtype).part(columns=span.centres)
    cells = rough.shape[0] * rough.shape[1]
    return rough, rough.dense() if np.dtype(dtype).itemsize * cells <= memory_limit() else None


def _blocks(shape: tuple[int, int], cells: int) -> list[slice]:
    size = max(1, cells // max(1, shape[1]))
    return [slice(start, min(start + size, shape[0])) for start in range(0, shape[0], size)]
