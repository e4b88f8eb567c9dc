"""Quadratic discriminants: a separate Gaussian for each class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.linalg import svd

from hiperplano.data.design import Array, Block, Design
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.linalg.orthogonal import all_present, is_present, triangle_of
from hiperplano.linalg.triangular import MAX_GRAM_CONDITION, cholesky
from hiperplano.messages import Message
from hiperplano.solvers.discriminant.class_moments import EPS, ClassMoments, class_moments
from hiperplano.solvers.discriminant.linear import Shrinkage
from hiperplano.solvers.discriminant.row_directions import RowDirections, few_rows
from hiperplano.solvers.discriminant.shrinkage import class_covariances, ledoit_wolf, shrunk_covariance
from hiperplano.solvers.discriminant.whitening import (
    EXACT_SQUARE,
    Whitening,
    relative_rounding,
    rotated_rows,
    whiten_covariance,
    whiten_rows,
    whiten_with_ridge,
)
from hiperplano.solvers.solution import FitResult, digits_of

# Assumed standard deviation of a class along directions in which it does not vary, in units of the columns'.
_THICKNESS = 1e-4


@dataclass(frozen=True)
class QuadraticSolution(FitResult):
    """The Gaussians of the classes.

    Attributes
    ----------
    method : str
        Name of the method, in a few words.
    status : str
        How the fit ended and, if it failed, what to do.
    rank : int
        Number of independent directions in which the rows vary.
    condition : float
        Largest condition number of a class, with columns at unit variance.
    digits : float
        Reliable decimal digits.
    singular : ndarray of int
        Classes that do not vary in all directions in which the rows vary.
    shrinkage, weight : ndarray of shape (classes,)
    means : ndarray of shape (classes, d)
    priors : ndarray of shape (classes,)
    whitening : ndarray of shape (classes, d, rank)
    log_det : ndarray of shape (classes,)
        Logarithms of the covariances' determinants on the directions used.
    inner_covariances : ndarray of shape (classes, d, d), or (classes, k, k) in the k directions of a basis
    basis : ndarray of shape (d, k), optional
        Orthonormal basis of the rows' span, if there are fewer rows than columns.
    variance_beyond : float
        Variance of every class along all other directions.
    """

    method: str
    converged: bool
    status: str
    rank: int
    condition: float
    digits: float
    singular: Array
    shrinkage: Array = field(repr=False)
    weight: Array = field(repr=False)
    means: Array = field(repr=False)
    priors: Array = field(repr=False)
    whitening: Array = field(repr=False)
    log_det: Array = field(repr=False)
    inner_covariances: Array = field(repr=False)
    basis: Array | None = field(repr=False, default=None)
    variance_beyond: float = field(repr=False, default=0.0)

    @property
    def covariances(self) -> Array:
        """Covariances of the classes, of shape (classes, d, d)."""
        if self.basis is None:
            return self.inner_covariances
        d, k = self.basis.shape
        more = self.inner_covariances - self.variance_beyond * np.eye(k)
        return np.asarray(self.basis @ more @ self.basis.T + self.variance_beyond * np.eye(d))

    def scores(self) -> ClassScores:
        """Return a function for `Design.map` that computes log(prior · density) for the rows of a block."""
        return ClassScores(self.means, self.whitening, np.log(self.priors) - 0.5 * self.log_det)


@dataclass(frozen=True)
class ClassScores:
    """constant − ½·‖(x − mean)·whitening‖² for every row and class."""

    means: Array
    whitening: Array
    constant: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        rows = xp.asarray(block.dense(), dtype=xp.float64)
        out = xp.empty((len(rows), len(self.means)))
        for k, mean in enumerate(self.means):
            whitened = (rows - mean) @ self.whitening[k]
            out[:, k] = xp.einsum("ij,ij->i", whitened, whitened)
        out *= -0.5
        out += self.constant
        return xp.asarray(out)


def quadratic_discriminant(
    design: Design,
    n_classes: int,
    *,
    priors: Array | None,
    shrinkage: Shrinkage,
    ridge: float,
    unbiased: bool,
    covariances: Array | None = None,
) -> QuadraticSolution:
    """Estimate and factor the means and covariances of the classes.

    Parameters
    ----------
    design : Design
        With a row vector "code".
    priors : ndarray of shape (classes,), optional
        Prior probabilities; shares of the sample by default.
    ridge : float
        Share of the identity mixed into every covariance.
    unbiased : bool
        Divide the scatter of a class by its weight minus one.
    covariances : ndarray of shape (classes, d, d), optional
        Covariances of the classes; computed from the rows by default.
    """
    with one_blas_thread():
        few = few_rows(design, ridge, otherwise=unbiased or covariances is not None)
        span = RowDirections.of(design) if few else None
        design = design if span is None else span.design
        sums = class_moments(design, n_classes, separate=True)
        each = class_covariances(sums) if covariances is None else covariances
        shares = np.zeros(n_classes)
        plain = shrinkage is None and not ridge and covariances is None
        if shrinkage == "auto":
            each, shares = ledoit_wolf(design, sums, each)
        elif shrinkage is not None:
            each, shares = shrunk_covariance(each, shrinkage), np.full(n_classes, shrinkage)
        elif ridge:
            each, shares = (1.0 - ridge) * each + ridge * np.eye(design.n_columns), np.full(n_classes, ridge)
        if plain:
            whitenings = [whiten_rows(design, sums, only=k) for k in range(n_classes)]
        elif shrinkage is None and covariances is None:
            by_rows = [partial(whiten_with_ridge, design, sums, k, ridge) for k in range(n_classes)]
            whitenings = [whiten_covariance(one, rows) for one, rows in zip(each, by_rows, strict=True)]
        else:
            whitenings = [whiten_covariance(one) for one in each]
        if unbiased:
            more = sums.weight / np.maximum(sums.weight - 1.0, EPS)
            whitenings = [one.inflate(float(factor)) for one, factor in zip(whitenings, more, strict=True)]
            each = each * more[:, None, None]
        matrices, log_det, singular = _on_common_directions(whitenings, sums)
        found = _verdict(whitenings, matrices, log_det, singular, sums, each, priors, shares, span)
        return found if span is None else _in_all_columns(found, span, ridge)


def _in_all_columns(found: QuadraticSolution, span: RowDirections, ridge: float) -> QuadraticSolution:
    """Convert Gaussians in coordinates of the rows' span to Gaussians of the columns."""
    return replace(
        found,
        means=span.means,
        whitening=span.basis @ found.whitening,
        basis=span.basis,
        variance_beyond=ridge,
    )


def _on_common_directions(whitenings: list[Whitening], sums: ClassMoments) -> tuple[list[Array], Array, Array]:
    """Whitening and determinant of each class on the directions in which the rows vary at all.

    Columns that depend on others in the same way in every class do not distinguish classes: all densities live on the
    same subspace, and are compared there. A class that is flat within that subspace would have an infinite density on
    its part of it, and none elsewhere. A small thickness approximates this with finite scores.
    """
    if all(one.full for one in whitenings):
        log_det = np.array([one.log_det for one in whitenings])
        return [one.matrix for one in whitenings], log_det, np.array([], dtype=int)
    basis, spread = _directions_of_rows(whitenings, sums)
    matrices, log_det, singular = [], np.zeros(len(whitenings)), []
    rounding = relative_rounding(sums.means, 1.0 / spread)
    rounding = rounding if basis is None else np.abs(basis @ rounding)
    for k, one in enumerate(whitenings):
        rows = one.root / spread if basis is None else one.root / spread @ basis.T
        if len(rows) < rows.shape[1]:
            singular.append(k)
            inverse, log_det[k] = _with_thickness(rows)
        else:
            values, turn = np.linalg.svd(rows)[1:]
            if not is_present(values, turn, np.maximum(rounding, one.error)).all():
                singular.append(k)
                values = np.maximum(values, _THICKNESS)
            inverse, log_det[k] = turn.T / values, 2.0 * float(np.log(values).sum())
        matrices.append((inverse if basis is None else basis.T @ inverse) / spread[:, None])
    return matrices, log_det, np.array(singular, dtype=int)


def _with_thickness(rows: Array) -> tuple[Array, float]:
    """Σ^(−1/2) and log det Σ for Σ = rowsᵀ·rows with a small standard deviation in all other directions.

    Without a decomposition of Σ itself, since there are fewer rows than directions.
    """
    turned = rotated_rows(rows, 0, EXACT_SQUARE)
    if turned is None:
        values, turn = svd(rows, full_matrices=False, check_finite=False)[1:]
    else:
        values = np.linalg.norm(turned, axis=1)
        turn = turned / values[:, None]
    values = np.maximum(values, _THICKNESS)
    less = turn * np.sqrt(1.0 / _THICKNESS - 1.0 / values)[:, None]
    inverse = -(less.T @ less)
    inverse.flat[:: len(inverse) + 1] += 1.0 / _THICKNESS
    flat = len(inverse) - len(values)
    return inverse, 2.0 * float(np.log(values).sum() + flat * np.log(_THICKNESS))


def _directions_of_rows(whitenings: list[Whitening], sums: ClassMoments) -> tuple[Array | None, Array]:
    """An orthonormal basis of the directions in which rows vary within or between classes, as rows; None for all.

    It is for columns at unit variance, whose units are returned, too.
    """
    means = sums.means
    between = np.diff(means, axis=0)
    rows = np.vstack([*(one.root for one in whitenings), between])
    spread = np.sqrt(np.einsum("ij,ij->j", rows, rows))
    spread[spread <= 4 * EPS * np.abs(means).max(axis=0)] = np.inf
    unit = np.where(np.isinf(spread), 1.0, spread)
    rows = rows / spread
    rounding = relative_rounding(means, 1.0 / spread)
    if len(rows) >= rows.shape[1] and not np.isinf(spread).any():
        factor = cholesky(rows.T @ rows, 1.0 / spread)
        if factor is not None and factor.condition <= MAX_GRAM_CONDITION and all_present(factor.condition, rounding):
            return None, unit
    values, basis = np.linalg.svd(triangle_of(rows), full_matrices=False)[1:]
    return basis[is_present(values, basis, rounding)], unit


def _verdict(
    whitenings: list[Whitening],
    matrices: list[Array],
    log_det: Array,
    singular: Array,
    sums: ClassMoments,
    covariances: Array,
    priors: Array | None,
    shares: Array,
    span: RowDirections | None,
) -> QuadraticSolution:
    worst = max(whitenings, key=lambda one: one.error)
    error = worst.error
    # Coordinates have rounding errors relative to the norm of a row in all columns.
    if span is not None and not len(singular):
        error = max(error, EPS * max(float(np.trace(one)) for one in covariances) / float(shares[0]))
    digits = digits_of(error)
    rank, d = matrices[0].shape[1], covariances.shape[1] if span is None else len(span.basis)
    text = Message("Solved from {method}", method=worst.method)
    if rank < d:
        text += Message(
            "; rows vary in {rank} of {d} directions only, and densities are compared there", rank=rank, d=d
        )
    if len(singular):
        text += Message(
            "; {n} of {classes} classes do not vary in all directions in which rows do, and were given a standard "
            "deviation of {thickness:g} of the columns' along those",
            n=len(singular),
            classes=len(whitenings),
            thickness=_THICKNESS,
        )
    return QuadraticSolution(
        method=worst.method,
        converged=True,
        status=text + Message("; about {digits} digits can be trusted.", digits=int(digits)),
        rank=rank,
        condition=max(one.condition for one in whitenings),
        digits=digits,
        singular=singular,
        shrinkage=shares,
        weight=sums.weight,
        means=sums.means,
        priors=sums.weight / sums.total if priors is None else priors,
        whitening=np.stack(matrices),
        log_det=log_det,
        inner_covariances=covariances,
    )
