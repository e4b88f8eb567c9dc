"""Ridge coefficients and leverages for any number of penalties from one factorisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import svd
from scipy.linalg.lapack import dgejsv

from hiperplano.data.design import Array, Block, Design
from hiperplano.solvers.least_squares.direct import factorise
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.wide import centred_rows
from hiperplano.solvers.statistics import Moments, moments

_EPS = float(np.finfo(float).eps)
_ALIKE = 1e3  # lengths of columns that a plain decomposition takes together
_CRUCIAL = 1e-4  # one minus a leverage, below which a row is left out by leaving it out
_SOLVABLE = 1e8  # condition of the columns up to which their triangle is inverted


@dataclass(frozen=True)
class RidgePath:
    """Centred rows in coordinates where every penalty is diagonal.

    A row has coordinates u = (x − mean)·scale·basis, columns of u being orthonormal; with penalty alpha its fit
    is Σₖ uₖ·shareₖ·rightₖ and its leverage total⁻¹ + Σₖ uₖ²·shareₖ, where shareₖ = σₖ²/(σₖ² + alpha).

    Attributes
    ----------
    basis : ndarray of shape (d, r)
    values : ndarray of shape (r,)
        Singular values σ of the centred rows, in the units of the data.
    right : ndarray of shape (r, targets)
    complete : bool
        Whether the coordinates span all that centred rows can be: then only the penalty leaves residuals.
    own : ndarray of shape (n, r) or None
        Coordinates of the rows of the design, where they are known better than from `basis`.
    """

    mean: Array
    target_mean: Array
    scale: Array
    basis: Array
    values: Array
    right: Array
    total: float
    level: bool
    complete: bool = False
    own: Array | None = None

    def shares(self, alphas: Array) -> Array:
        """σ²/(σ² + alpha), of shape (r, alphas)."""
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + alphas / self.values[:, None] ** 2))

    def coefficients(self, alphas: Array) -> Array:
        """Of shape (alphas, targets, d)."""
        kept = self.shares(alphas).T[:, :, None] * self.right
        return np.swapaxes(self.scale[:, None] * (self.basis @ kept), 1, 2)

    def intercepts(self, coef: Array) -> Array:
        """For coefficients of shape (…, targets, d)."""
        return np.asarray(self.target_mean - coef @ self.mean)

    def coordinates(self, block: Block) -> Array:
        """u for the rows of a block of the design."""
        if self.own is not None:
            return self.own[block.rows]
        rows = np.subtract(block.dense(), self.mean)
        rows *= self.scale
        return np.asarray(rows @ self.basis)

    def leave_one_out(self, alphas: Array, crucial: dict[int, float]) -> Callable[[Block], Array]:
        """y minus its prediction by all other rows, for the rows of a block: shape (m, targets, alphas).

        Rows that nearly decide their own fit are put down in `crucial`, with what remains of 1 after their leverage:
        it has lost as many digits as it has zeros (see `error_without`).
        """
        thin, wide = _thin(self.shares(alphas))
        turned = self.right[:, :, None] * thin[:, None, :]
        lost = self._lost(alphas) if self.complete else None

        def of(block: Block) -> Array:
            u = self.coordinates(block)
            squares = np.square(u)
            leverage, fit = squares @ thin, np.tensordot(u, turned, 1)
            if wide is not None:
                leverage, fit = leverage @ wide, fit @ wide
            if self.level:
                leverage += 1.0 / self.total
            # In place: new arrays of this size cost more than what is done with them.
            fit -= (block.y - self.target_mean)[:, :, None]
            if block.weight is not None:
                leverage *= block.weight[:, None]
            leverage -= 1.0
            if lost is not None:
                # Rows of the fit lie in the span of u: what is not fitted is known without a difference.
                inside = np.ones(len(block), dtype=bool) if block.weight is None else block.weight > 0
                remaining = squares[inside] @ lost
                if block.weight is not None:
                    remaining *= block.weight[inside, None]
                fit[inside] = -np.tensordot(u[inside], self.right[:, :, None] * lost[:, None, :], 1)
                leverage[inside] = -remaining
            else:
                remaining = -leverage.max(axis=1)
                near = np.flatnonzero(remaining < _CRUCIAL)
                crucial.update(zip((block.rows.start + near).tolist(), remaining[near].tolist(), strict=True))
            fit /= leverage[:, None, :]
            return fit

        return of

    def _lost(self, alphas: Array) -> Array:
        """alpha/(σ² + alpha) = 1 − share, without the subtraction."""
        with np.errstate(over="ignore"):
            ratio = alphas / self.values[:, None] ** 2
            return np.where(np.isinf(ratio), 1.0, ratio / (1.0 + ratio))


def _thin(shares: Array) -> tuple[Array, Array | None]:
    """Two thin matrices with this product, as neighbouring penalties hardly differ; itself where none are thin."""
    left, size, right = svd(shares, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(size > 4 * _EPS * size.max(initial=0.0)))
    if rank * sum(shares.shape) >= shares.size:
        return shares, None
    return left[:, :rank] * size[:rank], right[:rank]


def ridge_path(design: Design, *, fit_intercept: bool, sums: Moments | None = None) -> RidgePath:
    """Factor the rows of a design, from moments if they were already gathered."""
    if design.n_rows <= design.n_columns:
        return _wide_path(design, fit_intercept)
    sums = moments(design, centred=fit_intercept) if sums is None else sums
    plain = NormalEquations.of(sums, fit_intercept)
    equations = plain.penalised(0.0)
    factor, right, _ = factorise(design, equations, 0.0, fit_intercept, orthogonal=False)
    varying = equations.scale > 0
    upper = factor.upper[np.ix_(varying, varying)]
    scale = equations.scale[varying]
    if not varying.any():
        upper, scale = np.ones((1, 1)), np.ones(1)
        basis, values, turned = np.zeros((1, 0)), np.zeros(0), np.zeros((0, design.n_targets))
    else:
        # One-sided Jacobi: relative accuracy of every singular value, whatever the scales of the columns.
        size, left, other, work, _, _ = dgejsv(upper / scale, joba=0, jobu=0, jobv=0)
        values = size * (work[0] / work[1])
        solvable = factor.condition <= _SOLVABLE
        # Columns that do not depend on each other all count, however short some are beside others.
        kept = values > (0.0 if solvable else _EPS * len(values) * values.max())
        values, left, other = values[kept], left[:, kept], other[:, kept]
        basis = np.linalg.solve(upper, left) if solvable else other / values / scale[:, None]
        turned = left.T @ (right[varying] * plain.target_unit)
    full = np.zeros((design.n_columns, basis.shape[1]))
    full[varying] = basis if varying.any() else 0.0
    return RidgePath(plain.mean, plain.target_mean, equations.scale, full, values, turned, plain.total, fit_intercept)


def error_without(design: Design, row: int, alphas: Array, fit_intercept: bool) -> Array:
    """y of a row minus its prediction by a fit to all others, of shape (targets, alphas)."""
    others = np.delete(np.arange(design.n_rows), row)
    weight = None if design.weight is None else design.weight[others]
    path = ridge_path(type(design)(design.take(others), design.y[others], weight), fit_intercept=fit_intercept)
    apart = design.block(slice(row, row + 1)).dense()[0] - path.mean
    return np.asarray((design.y[row] - path.target_mean - path.coefficients(alphas) @ apart).T)


def _wide_path(design: Design, level: bool) -> RidgePath:
    """For rows no more than columns: from the singular value decomposition of the rows themselves."""
    rows = centred_rows(design, level)
    left, values, basis = _decomposed(rows.x, rows.length)
    rank = len(values)
    basis = basis / values
    complete = rank == len(rows.x) - level
    plain = RidgePath(
        rows.mean,
        rows.target_mean,
        np.ones(design.n_columns),
        basis,
        values,
        left.T @ rows.right,
        rows.total,
        level,
        complete,
    )
    # The decomposition knows the coordinates of its rows better than products with its basis would.
    weight = np.ones(design.n_rows) if design.weight is None else design.weight
    own = design.map_rows(plain.coordinates, np.empty((design.n_rows, rank)))
    own[weight > 0] = left / np.sqrt(weight[weight > 0])[:, None]
    return replace(plain, own=own)


def _decomposed(x: Array, length: Array) -> tuple[Array, Array, Array]:
    """Left vectors, singular values and right vectors of x·length, where columns of x have unit length.

    How many there are is told by x, in which units do not matter. Where lengths lie far apart, Jacobi's method with
    rows and columns pivoted keeps the digits of short columns beside long ones.
    """
    longest = float(length.max(initial=0.0)) or 1.0
    scaled = x * (length / longest)
    if longest <= _ALIKE * length[length > 0].min(initial=longest):
        left, values, right = svd(scaled, full_matrices=False, check_finite=False)
        rank = int(np.count_nonzero(values > _EPS * max(x.shape) * values.max(initial=0.0)))
        return left[:, :rank], values[:rank] * longest, right[:rank].T
    size = svd(x, compute_uv=False, check_finite=False)
    values, right, left, work, _, _ = dgejsv(scaled.T, joba=2, jobu=0, jobv=0)
    values = values * (work[0] / work[1])
    rank = int(np.count_nonzero((size > _EPS * max(x.shape) * size.max()) & (values > 0)))
    return left[:, :rank], values[:rank] * longest, right[:, :rank]
