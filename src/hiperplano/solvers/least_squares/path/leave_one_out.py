"""Leave-one-out errors of ridge regression for any number of penalties, from one or a few factorisations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from scipy.linalg import svd

from hiperplano.data.design import Array, Block, Design, Rows, RowVector, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.triangular import EPS, reciprocal
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.least_squares.path.few_rows import LEAST_EIGENVALUE, FewRows, rows_to_multiply
from hiperplano.solvers.least_squares.path.penalty_factors import PenaltyFactors
from hiperplano.solvers.least_squares.path.ridge_path import RidgePath, ridge_path, unlike_columns, wide_path
from hiperplano.solvers.least_squares.path.tridiagonal_columns import TridiagonalColumns

_CRUCIAL = 1e-4  # 1 − leverage below which (y − fit)/(1 − leverage) has too few digits
_MOST_REFITS = 64  # rows that are left out by another fit, at most
_FEW_PRODUCTS = 2**21  # multiplications up to which the matrix of shares is not compressed to low rank


@dataclass(frozen=True)
class LeaveOneOut:
    """y minus its prediction from all other rows, (y − fit)/(1 − leverage), for every penalty.

    Attributes
    ----------
    leverage, fit : ndarray of shape (r, k) and (r, targets, k)
        Factors of the squared coordinates and of the coordinates of a row.
    spread : ndarray of shape (k, alphas) or None
        Second factor of both. Since neighbouring penalties hardly differ, k may be small.
    lost : ndarray of shape (r, alphas) or None
        Given if the coordinates are complete: 1 − leverage and residuals are then computed without a subtraction.
    """

    path: RidgePath
    leverage: Array
    fit: Array
    spread: Array | None
    lost: Array | None

    @classmethod
    def of(cls, path: RidgePath, alphas: Array, n_rows: int) -> LeaveOneOut:
        """For penalties of shape (alphas,) and `n_rows` rows."""
        shares = path.shares(alphas)
        thin, spread = _thin(shares) if n_rows * shares.size > _FEW_PRODUCTS else (shares, None)
        lost = path.lost(alphas) if path.complete else None
        return cls(path, thin, path.right[:, :, None] * thin[:, None, :], spread, lost)

    def errors(self, block: Block) -> tuple[Array, Array]:
        """Errors of shape (m, targets, alphas), and one minus the largest leverage of each row, of shape (m,).

        If the latter is small, it has lost digits to cancellation. A row vector "coordinates" replaces the computed u.
        """
        path = self.path
        u = block.vectors.get("coordinates")
        if u is None:
            rows = np.subtract(block.dense(), path.mean)
            rows *= path.scale
            u = np.asarray(rows @ path.basis)
        if self.lost is not None:
            remaining = np.square(u) @ self.lost
            remaining = remaining if block.weight is None else remaining * block.weight[:, None]
            unfitted = _times(u, path.right[:, :, None] * self.lost[:, None, :])
            with np.errstate(divide="ignore", invalid="ignore"):  # without a penalty, 0/0 is possible
                return unfitted / remaining[:, None, :], np.ones(len(block))
        leverage, fit = np.square(u) @ self.leverage, _times(u, self.fit)
        if self.spread is not None:
            leverage, fit = leverage @ self.spread, fit @ self.spread
        return _left_out(path, block, leverage, fit)


@dataclass(frozen=True)
class LeaveOneOutByFactors:
    """The same from a Cholesky factor for each penalty, or one tridiagonal form for all."""

    factors: PenaltyFactors | TridiagonalColumns

    def errors(self, block: Block) -> tuple[Array, Array]:
        """As `LeaveOneOut.errors`."""
        return _left_out(self.factors, block, *self.factors.leverages_and_fits(block))


def _left_out(
    source: RidgePath | PenaltyFactors | TridiagonalColumns, block: Block, leverage: Array, fit: Array
) -> tuple[Array, Array]:
    """Leave-one-out errors, and one minus the largest leverage of each row.

    Arguments are overwritten, since new arrays of this size would cost more than the computation.
    """
    if source.fit_intercept:
        leverage += 1.0 / source.total
    if block.weight is not None:
        leverage *= block.weight[:, None]
    leverage -= 1.0
    fit -= (block.y - source.target_mean)[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # rows with a leverage of almost 1 are refitted
        fit /= leverage[:, None, :]
    return fit, -leverage.max(axis=1, initial=-np.inf)


@dataclass(frozen=True)
class _SquaredErrors:
    """Σ w·error² of rows whose leverage is not almost 1. Keeps one minus the largest leverage of every row."""

    left_out: LeaveOneOut | LeaveOneOutByFactors

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        xp = block.xp
        errors, remaining = self.left_out.errors(block)
        crucial = remaining < _CRUCIAL
        if crucial.any():
            errors[crucial] = 0.0
        xp.square(errors, out=errors)
        sums = errors.sum(axis=0) if block.weight is None else xp.tensordot(block.weight, errors, axes=1)
        return (sums,), {"remaining": remaining}


@dataclass(frozen=True)
class _Errors:
    """Errors of every row, of shape (m, targets·alphas)."""

    left_out: LeaveOneOut | LeaveOneOutByFactors

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        errors, remaining = self.left_out.errors(block)
        return (), {"errors": errors.reshape(len(block), -1), "remaining": remaining}


def _times(u: Array, parts: Array) -> Array:
    """u·parts, of shape (m, targets, k) for parts of shape (r, targets, k)."""
    r, targets, k = parts.shape
    return np.asarray((u @ parts.reshape(r, targets * k)).reshape(len(u), targets, k))


def _thin(shares: Array) -> tuple[Array, Array | None]:
    """Two thin matrices with this product, since neighbouring penalties hardly differ; itself if the rank is high."""
    left, size, right = svd(shares, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(size > 4 * EPS * size.max(initial=0.0)))
    if rank * sum(shares.shape) >= shares.size:
        return shares, None
    return left[:, :rank] * size[:rank], right[:rank]


def leave_one_out(
    design: Design, fit_intercept: bool, sums: NormalEquations | CentredRows, alphas: Array
) -> LeaveOneOutPath | FewRows:
    """Factor the products of columns, or those of rows if there are no more rows than columns (plus an intercept).

    In the latter case leverages are almost 1 with a small penalty. Products of rows give 1 − leverage without
    cancellation.

    Parameters
    ----------
    alphas : ndarray of shape (alphas,)
        All penalties for which errors may be requested.
    """
    if isinstance(sums, NormalEquations):
        if design.n_rows - int(fit_intercept) > design.n_columns or not float(alphas.min()) > 0:
            return _of_many_rows(design, fit_intercept, sums, alphas)
        sums = rows_to_multiply(design, fit_intercept)
    few = FewRows.of(sums, fit_intercept, alphas)
    if few is not None:
        return few
    path, coordinates = wide_path(design, fit_intercept, float(alphas.min()), None if sums.is_sparse else sums)
    return LeaveOneOutPath(design.with_vectors(coordinates=coordinates), path)


def _of_many_rows(
    design: Design, fit_intercept: bool, plain: NormalEquations, alphas: Array
) -> LeaveOneOutPath | FewRows:
    """The fastest method that is accurate enough; a singular value decomposition always is.

    With penalties, products of rows are also possible if there are hardly more rows than columns.
    """
    costs, n_alphas = Costs.of(design, 1), len(alphas)
    ways: list[tuple[float, Callable[[], LeaveOneOutPath | FewRows | None]]] = []

    def by_factors() -> LeaveOneOutPath | None:
        factors = PenaltyFactors.of(design, plain, alphas, fit_intercept)
        return None if factors is None else LeaveOneOutPath(design, factors)

    def by_tridiagonal() -> LeaveOneOutPath | None:
        columns = TridiagonalColumns.of(plain, alphas, fit_intercept)
        return None if columns is None else LeaveOneOutPath(design, columns)

    ways.append((costs.leverages_by_factors(n_alphas), by_factors))
    if not costs.prefer_factors(n_alphas):
        ways.append((costs.leverages_by_tridiagonal(n_alphas), by_tridiagonal))
    if isinstance(design, InMemory) and _rows_have_digits(plain, alphas):

        def by_rows() -> FewRows | None:
            return FewRows.of(rows_to_multiply(design, fit_intercept), fit_intercept, alphas)

        ways.append((costs.inverses_of_rows(n_alphas), by_rows))
    most = costs.leverages_by_decomposition(unlike_columns(reciprocal(plain.scale)))
    for cost, way in sorted(ways, key=itemgetter(0)):
        found = way() if cost < most else None
        if found is not None:
            return found
    return LeaveOneOutPath(design, ridge_path(design, fit_intercept=fit_intercept, plain=plain))


def _rows_have_digits(plain: NormalEquations, alphas: Array) -> bool:
    """Whether X·Xᵀ of more rows than columns may be accurate enough with the smallest penalty.

    Its smallest eigenvalue is 0. The largest is that of XᵀX, which is at least the norm of any column of XᵀX.
    """
    length = reciprocal(plain.scale)
    longest = int(length.argmax())
    largest = float(length[longest] * np.linalg.norm(length * plain.gram[longest]))
    return float(alphas.min()) > LEAST_EIGENVALUE * largest


@dataclass(frozen=True)
class LeaveOneOutPath:
    """A design, its path or the factors for its penalties, and, if needed, the coordinates of its rows."""

    design: Design
    path: RidgePath | PenaltyFactors | TridiagonalColumns

    def mean_squared_errors(self, alphas: Array) -> Array:
        """Weighted means of squared errors, of shape (alphas, targets)."""
        (sums,), kept = self.design.fold_and_map(_SquaredErrors(self._left_out(alphas)))
        rows, errors, weight = self._crucial(kept["remaining"], alphas)
        if len(rows):
            sums = sums + np.tensordot(weight, np.square(errors), axes=1)
        return np.asarray(sums.T / self.design.total_weight)

    def errors(self, alphas: Array) -> Array:
        """Errors of every row, of shape (n, targets, alphas)."""
        _, kept = self.design.fold_and_map(_Errors(self._left_out(alphas)))
        all_errors = self.design.collect(kept["errors"]).reshape(self.design.n_rows, -1, len(alphas))
        rows, errors, _ = self._crucial(kept["remaining"], alphas)
        if len(rows):
            all_errors = all_errors.copy()
            all_errors[rows] = errors
        return all_errors

    def _left_out(self, alphas: Array) -> LeaveOneOut | LeaveOneOutByFactors:
        if isinstance(self.path, RidgePath):
            return LeaveOneOut.of(self.path, alphas, self.design.n_rows)
        return LeaveOneOutByFactors(self.path.only(alphas))

    def _crucial(self, remaining: RowVector, alphas: Array) -> tuple[Array, Array, Array]:
        """Rows with a leverage of almost 1: their numbers, errors and weights.

        If there are hardly more rows than columns, many rows may have one. Complete coordinates then give their errors
        without cancellation. Otherwise the rows with the largest leverages are left out one by one, each by another
        factorisation.
        """
        left = self.design.collect(remaining)
        crucial = left < _CRUCIAL
        numbers = np.flatnonzero(crucial)
        if not len(numbers):
            return numbers, np.zeros((0, self.design.n_targets, len(alphas))), np.zeros(0)
        fit_intercept = self.path.fit_intercept
        hardly_more = isinstance(self.design, InMemory) and self.design.n_rows <= 2 * self.design.n_columns
        if hardly_more and len(numbers) > 1:
            path, coordinates = wide_path(self.design, fit_intercept, float(alphas.min()), completed=True)
            rows = self.design.with_vectors(coordinates=coordinates).gather(crucial)
            left_out: LeaveOneOut | LeaveOneOutByFactors = LeaveOneOut.of(path, alphas, self.design.n_rows)
        else:
            rows, left_out = self.design.gather(crucial), self._left_out(alphas)
        _, kept = rows.fold_and_map(_Errors(left_out))
        errors = rows.collect(kept["errors"]).reshape(len(numbers), -1, len(alphas)).copy()
        weight = rows.collect(rows.vector("weight")) if rows.has_weight else np.ones(len(numbers))
        if hardly_more and len(numbers) > 1:
            return numbers, errors, weight
        x, y = rows.collect(rows.map(Block.dense)), rows.collect(rows.vector("y"))
        for k in np.lexsort((numbers, left[numbers]))[:_MOST_REFITS]:
            path = ridge_path(self._without(int(numbers[k])), fit_intercept=fit_intercept, least=float(alphas.min()))
            predicted = path.target_mean + path.coefficients(alphas) @ (x[k] - path.mean)
            errors[k] = (y[k] - predicted).T
        return numbers, errors, weight

    def _without(self, row: int) -> Design:
        """The design with no weight on one row."""
        design = self.design
        weight = np.ones(design.n_rows)
        if design.has_weight:
            weight = design.collect(design.vector("weight")).copy()
        weight[row] = 0.0
        return design.with_vectors(weight=weight)
