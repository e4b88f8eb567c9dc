"""Shrinkage of class covariances towards a simpler form, by a given share or by that of Ledoit and Wolf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.linalg.triangular import inverse_root
from hiperplano.solvers.discriminant.class_moments import ClassMoments, class_sums, deviations


def class_covariances(sums: ClassMoments) -> Array:
    """Covariances of shape (classes, d, d), from the moments of each class."""
    return np.asarray(sums.scatter / sums.weight[:, None, None])


def shrunk_covariance(covariances: Array, share: float) -> Array:
    """(1 − share)·C + share·(mean variance)·I, for each class or for one."""
    d = covariances.shape[-1]
    mean_variance = np.trace(covariances, axis1=-2, axis2=-1) / d
    return np.asarray((1.0 - share) * covariances + share * mean_variance[..., None, None] * np.eye(d))


def ledoit_wolf(design: Design, sums: ClassMoments, covariances: Array) -> tuple[Array, Array]:
    """Shrink each class's correlations by the share that minimises their expected squared error.

    With z the rows of a class at unit variance and S their second moments, the share is
    min(b, d)/d, b = (Σ w·‖z‖⁴/n − ‖S‖²)/n and d = ‖S − m·I‖², m the mean of S's diagonal, n = Σ w: all sums over
    rows, so that a weight of 2 counts a row twice.

    Parameters
    ----------
    design : Design
        With a row vector "code".
    covariances : ndarray of shape (classes, d, d)

    Returns
    -------
    shrunk : ndarray of shape (classes, d, d)
    share : ndarray of shape (classes,)
    """
    spread = np.sqrt(np.einsum("kjj->kj", covariances))
    scale = inverse_root(spread**2)
    fourth = design.fold(_FourthMoments(sums.means, scale))[0]
    spread[spread == 0] = 1.0  # constant columns keep their units
    d = covariances.shape[-1]
    shrunk, shares = np.empty_like(covariances), np.empty(len(covariances))
    for k, covariance in enumerate(covariances):
        unit = covariance * scale[k][:, None] * scale[k]
        size = float(np.sum(unit**2))
        mean = float(np.trace(unit)) / d
        noise = (float(fourth[k]) / sums.weight[k] - size) / sums.weight[k]
        distance = size - d * mean**2
        # If a class already has the simpler form, all shares give the same result.
        shares[k] = 0.0 if d == 1 or noise <= 0.0 or distance <= 0.0 else min(noise, distance) / distance
        target = shrunk_covariance(unit, float(shares[k]))
        shrunk[k] = target * spread[k][:, None] * spread[k]
    return shrunk, shares


@dataclass(frozen=True)
class _FourthMoments:
    """Σ w·‖z‖⁴ for each class, z = (x − mean)·scale with the mean and scale of its class."""

    means: Array
    scale: Array

    def __call__(self, block: Block) -> Sums:
        rows = deviations(block, self.means)
        rows *= self.scale[block.vectors["code"]]
        fourth = np.einsum("ij,ij->i", rows, rows) ** 2
        return (class_sums(block, len(self.means), fourth),)
