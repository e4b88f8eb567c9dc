"""The normal equations in coordinates where their size says nothing about the units of the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.design import Array
from hiperplano.linalg.triangular import inverse_root
from hiperplano.solvers.statistics import Moments


@dataclass(frozen=True)
class NormalEquations:
    """gram·z = cross, with columns centred and brought to unit length; coef = scale·z.

    Attributes
    ----------
    gram : ndarray of shape (d, d)
        Correlations, where there is an intercept.
    cross : ndarray of shape (d, targets)
    squares : ndarray of shape (targets,)
        Sums of squares of the targets.
    scale : ndarray of shape (d,)
        One over the length of each centred column; 0 if it is constant.
    mean, target_mean : ndarray of shape (d,) and (targets,)
        Zeros without intercept.
    total : float
        Sum of the weights.
    rounding : ndarray of shape (d,)
        Rounding of the data themselves, relative to the spread of their column.
    cancelled : float
        How much larger a sum of squares was than what centring left of it, at most: digits lost that way.
    """

    gram: Array
    cross: Array
    squares: Array
    scale: Array
    mean: Array
    target_mean: Array
    total: float
    rounding: Array
    cancelled: float

    @classmethod
    def of(cls, sums: Moments, fit_intercept: bool) -> NormalEquations:
        """From second moments.

        Parameters
        ----------
        sums : Moments
        fit_intercept : bool

        Returns
        -------
        NormalEquations
        """
        d = sums.raw.shape[0] - 1 - sums.n_targets
        scatter = sums.scatter(centred=fit_intercept)
        scale = inverse_root(scatter.diagonal()[:d])
        mean = sums.mean if fit_intercept else np.zeros(len(scatter))
        offset = np.abs(mean[:d]) * scale * np.sqrt(sums.total)
        before, after = sums.raw.diagonal()[1:], scatter.diagonal()
        varying = after > 0
        return cls(
            gram=scatter[:d, :d] * scale[:, None] * scale,
            cross=scatter[:d, d:] * scale[:, None],
            squares=after[d:].copy(),
            scale=scale,
            mean=mean[:d],
            target_mean=mean[d:],
            total=sums.total,
            rounding=np.finfo(float).eps * np.maximum(offset, scale > 0),
            cancelled=float(np.max(before[varying] / after[varying], initial=1.0)),
        )

    def penalised(self, alpha: float) -> NormalEquations:
        """The same with alpha·‖coef‖² added, and again columns of unit length."""
        shrink = 1.0 / np.hypot(1.0, np.sqrt(alpha) * self.scale)  # the diagonal of gram is 1, or scale is 0
        gram = self.gram * shrink[:, None] * shrink
        np.fill_diagonal(gram, 1.0)  # also for a constant column: its coefficient is then 0
        return replace(self, gram=gram, cross=self.cross * shrink[:, None], scale=self.scale * shrink)
