"""Negative log-likelihood of logistic and softmax regression, with starting points and preconditioners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.special import xlogy

from hiperplano.data.block import row_scores, row_sums
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, RowVector, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.losses import Logistic, Softmax, Squared
from hiperplano.solvers.lbfgs import Preconditioner, State
from hiperplano.solvers.likelihood.passes.curvature_sums import (
    ClassBlockSums,
    CurvatureProducts,
    CurvatureSums,
    curved_change,
    probabilities,
)
from hiperplano.solvers.newton import Minimum, newton
from hiperplano.solvers.objective import Objective, weighted_gram
from hiperplano.solvers.truncated_newton import Curvature

LEAST_CURVATURE = 1e-12  # least diagonal entry of the Hessian
# Largest share of the variance that counts as explained by the classes when the linear discriminant is computed:
# classes that are better separated are not Gaussian.
_EXPLAINED = 0.9
_LEAST_PRIOR_CURVATURE = 1e-6  # for classes with hardly any rows


class Discriminant(NamedTuple):
    """A starting point, value and gradient there, and the mean of [1, z]·[1, z]ᵀ over all rows."""

    theta: Array
    value: float
    gradient: Array
    moments: Array


class Likelihood(Objective):
    """Mean logistic or softmax loss with its penalty.

    Parameters
    ----------
    design : Design
        Targets are −1 and +1 for one score, and class numbers for several.
    n_scores : int
        1 for two classes, otherwise the number of classes.
    scale, strength, extra, check_finite
        As in `Objective`.

    Attributes
    ----------
    watch : callable or None
        Called with the state after every step of a solver.
    """

    def __init__(
        self,
        design: Design,
        scale: ColumnScale,
        n_scores: int,
        strength: float,
        extra: float = 0.0,
        check_finite: bool = False,
    ) -> None:
        loss = Logistic() if n_scores == 1 else Softmax()
        super().__init__(design, loss, scale, n_scores, strength, extra, check_finite)
        self.watch: Callable[[State], None] | None = None

    def with_rows(self, design: Design, scale: ColumnScale) -> Self:
        return type(self)(design, scale, self.n_scores, self.strength)

    @cached_property
    def class_shares(self) -> Array:
        """Share of each class in the sum of weights; for one score, that of the class +1."""
        weights = self.design.fold(ClassWeights(self.n_scores))[0]
        return weights[-1:] / self.total if self.n_scores == 1 else weights / self.total

    def prior(self) -> Array:
        """Parameters that predict the class shares for every row; zeros without an intercept."""
        theta = np.zeros(self.shape)
        if self.scale.fit_intercept:
            share = np.clip(self.class_shares, 1e-12, 1 - 1e-12)
            level = np.log(share / (1 - share)) if self.n_scores == 1 else np.log(share)
            theta[:, 0] = level if self.n_scores == 1 else level - level.mean()
        return theta

    def prior_loss(self) -> float:
        """Mean loss at the prior: that of an intercept alone, or of equal probabilities without an intercept."""
        if not self.scale.fit_intercept:
            return float(np.log(max(2, self.n_scores)))
        share = self.class_shares
        return -float(np.sum(xlogy(share, share) + (xlogy(1 - share, 1 - share) if self.n_scores == 1 else 0.0)))

    def newton(
        self,
        theta: Array | None,
        tol: float,
        max_steps: int,
        settled: float,
        watch: Callable[[State], None] | None = None,
    ) -> Minimum:
        """Newton's method.

        Parameters
        ----------
        theta : ndarray of shape (scores, size) or None
            Where to start. None starts at the prior; for two classes with an intercept, the first step then leads to
            the linear discriminant.
        tol, max_steps, settled, watch
            As in `hiperplano.solvers.newton`.
        """
        prior = theta is None and self.n_scores == 1 and self.scale.fit_intercept
        prior = prior and 0.0 < self.class_shares[0] < 1.0  # a single class has no discriminant
        return newton(
            self,
            self.prior() if theta is None else theta,
            tol,
            max_steps,
            settled,
            bounded=self.strength > 0,
            first_step=(lambda gradient, step: self.step_to_discriminant(gradient, step)[0]) if prior else None,
            watch=watch or self.watch,
        )

    def step_to_discriminant(self, gradient: Array, direction: Array) -> tuple[Array, float]:
        """Change Newton's first step from the prior into a step to the linear discriminant, which is closer to the end.

        At the prior, the Hessian is that of least squares times p·(1 − p), so that Newton's step solves least squares,
        and −gradientᵀ·step is its R². Division by 1 − R² replaces the covariance of all rows by that within classes.
        The intercept becomes that of Gaussian classes.

        Returns
        -------
        step : ndarray of shape (1, size)
        variance : float
            Variance of the scores after the step.
        """
        share = float(self.class_shares[0])
        if not 0.0 < share < 1.0:  # a class without weight has no discriminant
            return direction, 0.0
        explained = min(-float(np.vdot(gradient, direction)), _EXPLAINED)
        direction = direction / (1.0 - explained)
        direction[0, 0] -= (0.5 - share) * explained / (share * (1.0 - share) * (1.0 - explained))
        return direction, explained / (share * (1.0 - share) * (1.0 - explained) ** 2)

    def discriminant(self) -> Discriminant:
        """The linear discriminant of several classes, or the prior if its objective is lower.

        The gradient at the prior contains the class means, and the Hessian of least squares the covariance of the rows.
        They determine the parameters of Gaussian classes with a common covariance. The first call takes three passes,
        later ones, after a change of the penalty, take one.
        """
        prior, share, at_prior, moments = self.prior(), self.class_shares, self.at_prior, self._moments
        apart = -at_prior[1][:, 1:] / np.maximum(share, 1e-12)[:, None]  # class means relative to the overall mean
        mean = moments[0, 1:]
        within = moments[1:, 1:] - np.outer(mean, mean) - _EXPLAINED * (apart * share[:, None]).T @ apart
        # The curvature of a class's loss is about its share of the rows, on average 1/n_scores. The penalty, which adds
        # to that curvature, is divided by it here.
        within.flat[:: len(within) + 1] += self.n_scores * self.penalty.strength[1:]
        coef = SymmetricSolver(within).solve(apart.T).T
        level = prior[:, 0] - 0.5 * np.einsum("kj,kj->k", coef, apart) - coef @ mean
        theta = self.balanced(np.column_stack([level, coef]))
        there = self.evaluate(theta)
        theta, (value, gradient) = (theta, there) if there[0] < at_prior[0] else (prior, at_prior)
        return Discriminant(theta, value, gradient, moments)

    @cached_property
    def at_prior(self) -> tuple[float, Array]:
        """Value and gradient at the prior, which do not depend on the penalty."""
        return self.evaluate(self.prior())

    @cached_property
    def _moments(self) -> Array:
        """The mean of [1, z]·[1, z]ᵀ over all rows."""
        self.passes += 1
        if self._few_rows is not None:
            block, rows = self._few_rows
            return weighted_gram(rows, block.weights[:, None, None]) / self.total
        squares = Objective(self.design, Squared(), self.scale, 1, 0.0, check_finite=self.check_finite)
        return squares.evaluate_with_hessian(np.zeros((1, self.scale.size)))[2]

    @property
    def chance_at_prior(self) -> Array:
        """Probability of each class at the prior, of shape (scores,); for one score, that of the class +1."""
        k = self.n_scores
        return self.class_shares if self.scale.fit_intercept else np.full(k, 1.0 / max(2, k))

    @property
    def curvature_at_prior(self) -> Array:
        """Curvature of the mean loss along each standardised column at the prior, of shape (scores,)."""
        chance = self.chance_at_prior
        return np.maximum(chance * (1 - chance), _LEAST_PRIOR_CURVATURE)

    def curvature_along(self, step: Array, rows: InMemory) -> float:
        """Curvature along a step from the prior, stepᵀ·Hessian·step, estimated from some of the rows."""
        change = rows.collect(rows.map(self.scale.scores(step)))
        curved = (change * curved_change(self.chance_at_prior[None], change)).sum(axis=1)
        return float(np.average(curved, weights=rows.weight)) + float(np.sum(self.penalty.strength * step**2))

    def diagonal(self, share: float) -> Array:
        """The Hessian's diagonal if the loss has this share of its curvature at the prior, of shape (scores, size).

        It is adjusted for the number of columns for each row.
        """
        curvature = share * self.curvature_at_prior[:, None] + self.penalty.strength
        # With few rows, columns are correlated by chance, and the curvature along the gradient grows with the number of
        # columns for each row.
        loss = 1.0 - float(np.mean(self.penalty.strength / curvature))
        return np.asarray(curvature * (1.0 + loss * self.design.n_columns / self.design.n_rows))

    def curvature_at(self, theta: Array) -> Curvature:
        """The Hessian at a point, without forming it. Takes a pass, and one per product."""
        self.passes += 1
        sums = self._curvature_sums(theta) if self._few_rows is None else self._curvature_of_few(theta)
        return self.curvature(theta, *sums)

    def curvature(self, theta: Array, diagonal: Array, sums: Preconditioner) -> Curvature:
        """The same from the Hessian of the summed loss: its diagonal, which may be broadcast, and products with it."""
        curved = self.penalty.curvature(theta)
        diagonal = np.maximum(diagonal / self.total + curved, LEAST_CURVATURE)
        inverse = 1.0 / diagonal

        def product(vector: Array) -> Array:
            self.passes += 1
            return np.asarray(sums(vector) / self.total + curved * vector)

        def precondition(vector: Array) -> Array:
            # Only the penalty has curvature along steps that add the same to all classes, so that conjugate gradients
            # would converge slowly. Gradients sum to zero over the classes, but not if they were rounded to float32.
            return self.balanced(self.balanced(vector) * inverse)

        return Curvature(diagonal, product, precondition)

    def _curvature_sums(self, theta: Array) -> tuple[Array, Preconditioner]:
        """Diagonal of the Hessian of the summed loss, and products with it, by sums over blocks of rows."""
        sums, kept = self.design.fold_and_map(CurvatureSums(self.scale.scores(theta)))
        rows = self.design.with_vectors(**kept)

        def products(vector: Array) -> Array:
            return self.scale.gradient(*rows.fold(CurvatureProducts(self.scale.scores(vector))))

        return self._diagonal(*sums), products

    def _curvature_of_few(self, theta: Array) -> tuple[Array, Preconditioner]:
        """The same if there is a single block of rows, whose matrix [1, z] is kept."""
        assert self._few_rows is not None
        block, rows = self._few_rows
        chance = probabilities(row_scores(rows, theta))
        diagonal = block.weighted(chance * (1.0 - chance)).T @ np.square(rows)

        def products(vector: Array) -> Array:
            return row_sums(block.weighted(curved_change(chance, row_scores(rows, vector))), rows)

        return diagonal, products

    def _diagonal(self, totals: Array, sums: Array, squares: Array) -> Array:
        sums, squares = sums.T, squares.T
        shift = self.scale.shift
        spread = (squares - 2 * shift * sums + shift**2 * totals[:, None]) * self.scale.scale**2
        spread[:, self.scale.constant] = 0.0
        first = [totals[:, None]] if self.scale.fit_intercept else []
        return np.hstack([*first, np.maximum(spread, 0.0)])

    def class_hessians(self, theta: Array, dtype: type = np.float64) -> Array:
        """The diagonal blocks of the Hessian, one for each class, of shape (classes, size, size).

        Parameters
        ----------
        dtype : type
            Precision of the products of rows.
        """
        (blocks,) = self.design.fold(ClassBlockSums(self.scale, theta, self.total, dtype))
        at = np.arange(self.scale.size)
        blocks[:, at, at] += self.penalty.strength
        return blocks


def with_class_targets(design: Design, codes: RowVector, n_classes: int, weight: RowVector | None) -> Design:
    """The rows with nonzero weight, with targets coded for the likelihood.

    Parameters
    ----------
    codes : RowVector of int
        Class number of each row.
    n_classes : int
        With two classes, targets are −1 and +1, otherwise class numbers.
    weight : RowVector or None
        Weight of each row.
    """
    coded = design.with_vectors(code=codes)
    target = coded.map(_ClassTarget(n_classes == 2))
    return coded.with_vectors(y=target, weight=weight, code=None).weighted_rows()


@dataclass(frozen=True)
class _ClassTarget:
    """−1 and +1 for two classes, otherwise class numbers."""

    reads_rows = False
    two: bool

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        code = block.vectors["code"].astype(xp.float64)
        return 2.0 * code - 1.0 if self.two else code


@dataclass(frozen=True)
class ClassWeights:
    """Σ w of each class; for one score, of the classes −1 and +1."""

    reads_rows = False
    n_scores: int

    def __call__(self, block: Block) -> Sums:
        y = block.y[:, 0]
        codes = y > 0 if self.n_scores == 1 else y.astype(np.intp)
        return (np.bincount(codes, block.weights, max(2, self.n_scores)),)
