"""Linear discriminants: the axes of W⁻¹F, and the scores of classes that share a covariance."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.linalg.triangular import reciprocal
from hiperplano.messages import Message
from hiperplano.solvers.discriminant.class_moments import EPS, class_moments
from hiperplano.solvers.discriminant.shrinkage import class_covariances, ledoit_wolf, shrunk_covariance
from hiperplano.solvers.discriminant.whitening import Whitening, whiten_covariance, whiten_few_rows, whiten_rows
from hiperplano.solvers.solution import Outcome, digits_of, smallest_digits, trusted_digits

Shrinkage = Literal["auto"] | float | None
_RESOLVED = EPS**0.5  # axes whose singular value is below this share of the first separate nothing visible


@dataclass(frozen=True)
class DiscriminantSolution(Outcome):
    """A linear discriminant and its axes.

    Attributes
    ----------
    rank : int
        Number of independent directions in which rows vary within classes.
    condition : float
        Condition number of the columns at unit variance within classes.
    digits : float
        Reliable decimal digits of the coefficients.
    ignored : int
        Number of directions without variance within classes along which the class means differ. They separate the
        sample without error, and are not used in the scores.
    shrinkage : ndarray of shape (classes,)
        Shrinkage of each class's covariance towards a simpler form, as a share.
    weight : ndarray of shape (classes,)
        Total weight of each class.
    means : ndarray of shape (classes, d)
    priors : ndarray of shape (classes,)
    centre : ndarray of shape (d,)
        Mean of the class means, weighted by the priors.
    eigenvalues : ndarray of shape (axes,)
        Eigenvalues of W⁻¹F (variance between over within classes), the largest first.
    scalings : ndarray of shape (d, axes)
        The axes, with unit variance within classes.
    whitening : Whitening
        Whitening of the covariance within classes.
    """

    rank: int
    condition: float
    digits: float
    ignored: int
    shrinkage: Array = field(repr=False)
    weight: Array = field(repr=False)
    means: Array = field(repr=False)
    priors: Array = field(repr=False)
    centre: Array = field(repr=False)
    eigenvalues: Array = field(repr=False)
    scalings: Array = field(repr=False)
    whitening: Whitening = field(repr=False)

    @cached_property
    def status(self) -> str:  # type: ignore[override]  # computed on demand, which saves a tenth of small fits
        """How the fit ended."""
        smallest = smallest_digits(self.digits, self.coef * reciprocal(self.whitening.scale))
        return _status(self.whitening, self.ignored, self.digits, smallest)

    @property
    def covariance(self) -> Array:
        """Covariance within classes, of shape (d, d)."""
        return np.asarray(self.whitening.root.T @ self.whitening.root)


def linear_discriminant(
    design: Design,
    n_classes: int,
    *,
    priors: Array | None,
    shrinkage: Shrinkage,
    unbiased: bool,
    covariances: Array | None = None,
) -> DiscriminantSolution:
    """Scores log π + m·Σ⁻¹·x − m·Σ⁻¹·m/2 of classes with means m, one covariance Σ and priors π.

    Parameters
    ----------
    design : Design
        With a row vector "code", the number of the class of each row.
    priors : ndarray of shape (classes,), optional
        Prior probabilities; shares of the sample by default.
    unbiased : bool
        Divide the scatter within classes by n − classes instead of n.
    covariances : ndarray of shape (classes, d, d), optional
        Covariances of the classes; computed from the rows by default.
    """
    with one_blas_thread():
        whitening, means, weight, shares = _within(design, n_classes, priors, shrinkage, covariances)
        total = float(weight.sum())
        if unbiased:
            whitening = whitening.inflate(total / (total - n_classes))
        priors = weight / total if priors is None else priors
        centre = priors @ means
        whitened = (means - centre) @ whitening.matrix
        coef, intercept = _scores(whitened, whitening, means, priors, centre)
        eigenvalues, scalings = _axes(whitened, whitening, priors)
        ignored = _ignored(means - centre, means, whitening)
    if unbiased:
        # Converts ratios of scatters into ratios of covariances.
        eigenvalues = eigenvalues * (total / (total - n_classes))
    digits = digits_of(whitening.error)
    return DiscriminantSolution(
        coef=coef,
        intercept=intercept,
        method=whitening.method,
        n_iter=1,
        objective=float(np.prod(1.0 / (1.0 + eigenvalues))),
        gap=whitening.error,
        converged=True,
        rank=whitening.rank,
        condition=whitening.condition,
        digits=digits,
        ignored=ignored,
        shrinkage=shares,
        weight=weight,
        means=means,
        priors=priors,
        centre=centre,
        eigenvalues=eigenvalues,
        scalings=scalings,
        whitening=whitening,
    )


def _within(
    design: Design, n_classes: int, priors: Array | None, shrinkage: Shrinkage, covariances: Array | None
) -> tuple[Whitening, Array, Array, Array]:
    """The covariance within classes, their means and weights, and the shrinkage of their covariances."""
    if covariances is not None:
        sums = class_moments(design, n_classes, separate=False)
        mixed = np.tensordot(sums.weight / sums.total if priors is None else priors, covariances, axes=1)
        return whiten_covariance(mixed), sums.means, sums.weight, np.zeros(n_classes)
    if shrinkage is None:
        unshrunk = np.zeros(n_classes)
        if design.n_rows - n_classes < design.n_columns:  # deviations from class means are dependent
            return *whiten_few_rows(design, n_classes), unshrunk
        sums = class_moments(design, n_classes, separate=False)
        return whiten_rows(design, sums), sums.means, sums.weight, unshrunk
    separate = shrinkage == "auto" or priors is not None
    sums = class_moments(design, n_classes, separate=separate)
    weight = sums.weight
    if not separate:
        pooled = sums.scatter / sums.total
        covariance, shares = shrunk_covariance(pooled, float(shrinkage)), np.full(n_classes, float(shrinkage))
        return whiten_covariance(covariance), sums.means, weight, shares
    each = class_covariances(sums)
    if shrinkage == "auto":
        each, shares = ledoit_wolf(design, sums, each)
    else:
        each, shares = shrunk_covariance(each, shrinkage), np.full(n_classes, shrinkage)
    mixed = np.tensordot(weight / sums.total if priors is None else priors, each, axes=1)
    return whiten_covariance(mixed), sums.means, weight, shares


def _scores(whitened: Array, whitening: Whitening, means: Array, priors: Array, centre: Array) -> tuple[Array, Array]:
    """Coefficients and intercepts: relative to the centre for each class, or of the difference of two classes."""
    log_prior = np.log(priors)
    if len(means) == 2:
        coef = (whitened[1] - whitened[0]) @ whitening.matrix.T
        middle = (means[0] + means[1]) / 2
        return coef[None, :], np.atleast_1d(log_prior[1] - log_prior[0] - coef @ middle)
    coef = whitened @ whitening.matrix.T
    return coef, log_prior - 0.5 * np.einsum("ij,ij->i", whitened, whitened) - coef @ centre


def _axes(whitened: Array, whitening: Whitening, priors: Array) -> tuple[Array, Array]:
    """Eigenvalues and axes of the variance between whitened means.

    The last class is on the positive side of each axis.
    """
    _, values, basis = np.linalg.svd(np.sqrt(priors)[:, None] * whitened, full_matrices=False)
    values, basis = values[: len(priors) - 1], basis[: len(priors) - 1]
    kept = values > _RESOLVED * values.max(initial=0.0)
    values, basis = values[kept], basis[kept]
    basis = basis * np.where(basis @ whitened[-1] < 0, -1.0, 1.0)[:, None]
    return values**2, whitening.matrix @ basis.T


def _ignored(between: Array, means: Array, whitening: Whitening) -> int:
    """Number of directions along which the class means differ, but no class varies."""
    if whitening.full:
        return 0
    size = np.abs(means).max(axis=0)
    flat = whitening.scale == 0
    columns = int(np.sum(np.ptp(means[:, flat], axis=0) > 64 * EPS * size[flat]))
    at_unit = between * whitening.scale
    inside = (between @ whitening.matrix) @ (whitening.root * whitening.scale)
    left = np.linalg.svd(at_unit - inside, compute_uv=False)
    rounding = 1e3 * EPS * max(float(np.abs(at_unit).max(initial=0.0)), float((size * whitening.scale).max()), 1.0)
    return columns + int(np.sum(left > rounding * whitening.condition))


def _status(whitening: Whitening, ignored: int, digits: float, smallest: float) -> Message:
    text = Message("Solved from {method}", method=whitening.method)
    if not whitening.full:
        text += Message(
            "; classes vary in {rank} of {d} directions only, and the minimum-norm coefficients on these were taken",
            rank=whitening.rank,
            d=len(whitening.scale),
        )
    if ignored:
        text += Message(
            "; directions in which rows of the same class are equal but class means differ ({n}) separate this sample "
            "without error, and were left out",
            n=ignored,
        )
    return text + trusted_digits(digits, smallest)
