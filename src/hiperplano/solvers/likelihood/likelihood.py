"""Mean logistic or softmax loss with its penalty: value, gradient and Hessian, one pass each."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import softmax, xlogy

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.losses import Logistic, Softmax
from hiperplano.penalties import L2
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.metric import diagonal
from hiperplano.solvers.likelihood.quasi_newton import Metric
from hiperplano.solvers.statistics import NonFiniteRows


class Likelihood:
    """Σ w·loss/Σw + ½·strength·‖coef‖² as a function of scaled parameters of shape (scores, size).

    Parameters
    ----------
    design : Design
        Its target holds −1 and +1 for one score, and numbers of classes for several.
    n_scores : int
        1 for two classes, otherwise the number of classes.
    strength : float
        λ on the mean loss, on coefficients in the units of the data.
    extra : float
        A small ridge on all scaled coefficients, to keep a sample's solution finite.
    watchful : bool
        Whether to raise `NonFiniteRows` where sums show NaN or infinity: nobody has looked for them before.
    """

    def __init__(
        self,
        design: Design,
        coordinates: Coordinates,
        n_scores: int,
        strength: float,
        extra: float = 0.0,
        watchful: bool = False,
    ) -> None:
        self.watchful = watchful
        self.design, self.coordinates, self.n_scores = design, coordinates, n_scores
        self.total = design.total_weight
        self.loss: Logistic | Softmax = Logistic() if n_scores == 1 else Softmax()
        self.penalty = L2(strength)
        self.passes: float = 0
        self._weights = np.concatenate([np.zeros(int(coordinates.level)), coordinates.penalty(strength) + extra])

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_scores, self.coordinates.size

    @cached_property
    def class_shares(self) -> Array:
        """Shares of the classes by weight; for one score that of +1."""
        y, weight = self.design.y[:, 0], self.design.weight
        if self.n_scores == 1:
            positive = y > 0
            return np.atleast_1d((np.count_nonzero(positive) if weight is None else weight @ positive) / self.total)
        return np.bincount(y.astype(np.intp), weights=weight, minlength=self.n_scores) / self.total

    def prior(self) -> Array:
        """Parameters that predict the shares of the classes, whatever the row."""
        theta = np.zeros(self.shape)
        if self.coordinates.level:
            share = np.clip(self.class_shares, 1e-12, 1 - 1e-12)
            level = np.log(share / (1 - share)) if self.n_scores == 1 else np.log(share)
            theta[:, 0] = level if self.n_scores == 1 else level - level.mean()
        return theta

    def at_prior(self, theta: Array) -> bool:
        """Whether these are the parameters of two classes' shares."""
        if self.n_scores > 1 or not self.coordinates.level or theta[0, 1:].any():
            return False
        return bool(theta[0, 0] == self.prior()[0, 0])

    def prior_loss(self) -> float:
        """Mean loss of the best constant, or of even chances if there is no intercept."""
        if not self.coordinates.level:
            return float(np.log(max(2, self.n_scores)))
        share = self.class_shares
        return -float(np.sum(xlogy(share, share) + (xlogy(1 - share, 1 - share) if self.n_scores == 1 else 0.0)))

    def diagonal_metric(self) -> Metric:
        """One over the curvature at the prior, if columns at unit spread were uncorrelated."""
        share = self.class_shares if self.coordinates.level else np.full(self.n_scores, 1.0 / max(2, self.n_scores))
        plain = diagonal(np.maximum(share * (1 - share), 1e-6)[:, None] + self._weights)
        # Steps must not add the same to all classes: what only a weak penalty decides would be found last.
        return (lambda vector: self.balanced(plain(self.balanced(vector)))) if self.n_scores > 1 else plain

    def _shaped(self, block: Block, score: Array) -> tuple[Array, Array]:
        """Targets and scores as the loss takes them."""
        return block.y[:, 0], score[:, 0] if self.n_scores == 1 else score

    def balanced(self, theta: Array) -> Array:
        """The same model with classes' parameters adding up to zero.

        No data decide their sum, and a penalty is smallest there: it says so exactly where rounding only guesses.
        """
        return theta - theta.mean(axis=0) if self.n_scores > 1 else theta

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        scores = self.coordinates.scorer(theta)

        def statistic(block: Block) -> Sums:
            score, rows = scores(block)
            y, score = self._shaped(block, score)
            value, slope = self.loss.value_and_slope(y, score)
            slope = slope.reshape(len(block), -1)
            if block.weight is not None:
                value *= block.weight
                slope *= block.weight[:, None]
            return np.atleast_1d(value.sum()), np.asarray((slope.T @ rows).T), np.ones(len(block)) @ slope

        self.passes += 1
        value, sums, totals = self.design.fold(statistic)
        gradient = self._seen(self.coordinates.gradient(sums, totals)) / self.total
        return float(value[0]) / self.total + self.penalty_value(theta), gradient + self._weights * theta

    def movement(self, before: Array, after: Array) -> float:
        """The largest change of a score, over rows that count."""
        earlier, later = self.coordinates.scorer(before), self.coordinates.scorer(after)

        def statistic(block: Block) -> Sums:
            change = np.abs(later(block)[0] - earlier(block)[0])
            if block.weight is not None:
                change[block.weight == 0] = 0.0
            return (np.atleast_1d(change.max(initial=0.0)),)

        self.passes += 1
        (largest,) = self.design.fold(statistic, lambda left, right: (np.maximum(left[0], right[0]),))
        return float(largest[0])

    def penalty_value(self, theta: Array) -> float:
        """½·strength·‖coef‖², and the small ridge if there is one."""
        return 0.5 * float(np.sum(self._weights * theta**2))

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and the whole Hessian, of shape (scores·size, scores·size)."""
        self.passes += 1
        one = self.n_scores == 1 and self.coordinates.tame
        value, gradient, hessian = self._of_one_score(theta) if one else self._of_scores(theta)
        hessian /= self.total
        hessian.flat[:: len(hessian) + 1] += np.tile(self._weights, self.n_scores)
        return (
            value / self.total + self.penalty_value(theta),
            self._seen(gradient) / self.total + self._weights * theta,
            self._determined(hessian),
        )

    def _seen(self, sums: Array) -> Array:
        if self.watchful and not np.isfinite(sums).all():
            raise NonFiniteRows
        return sums

    def _of_one_score(self, theta: Array) -> tuple[float, Array, Array]:
        """Sums over the rows; shift and scale of columns are seen to afterwards, which saves walks over every block."""
        coordinates, scores = self.coordinates, self.coordinates.scorer(theta)
        shift, zero = coordinates.shift, np.zeros_like(coordinates.shift)
        origin = shift if coordinates.near_origin else zero

        def statistic(block: Block) -> Sums:
            score = scores(block)[0][:, 0]
            y, x = block.y[:, 0], block.dense() if origin is shift else np.subtract(block.dense(), shift)
            value, slope = self.loss.value_and_slope(y, score)
            curvature = self.loss.curvature(y, score)
            if block.weight is not None:
                value *= block.weight
                slope *= block.weight
                curvature *= block.weight
            rows = x * np.sqrt(curvature)[:, None]
            totals = np.array([value.sum(), slope.sum(), curvature.sum()])
            return totals, slope @ x, curvature @ x, rows.T @ rows

        (value, *totals), slopes, curvatures, products = self.design.fold(statistic)
        gradient = (slopes - totals[0] * origin) * coordinates.scale
        gradient[coordinates.constant] = 0.0
        gradient = np.concatenate([totals[:1], gradient]) if coordinates.level else gradient
        return float(value), gradient[None], coordinates.products(totals[1], curvatures, products, origin)

    def _of_scores(self, theta: Array) -> tuple[float, Array, Array]:
        """Sums over the rows in scaled coordinates."""
        k = self.n_scores

        def statistic(block: Block) -> Sums:
            rows = self.coordinates.rows(block)
            y, score = self._shaped(block, rows @ theta.T)
            weight = block.weights
            value = self.loss.value(y, score)
            slope = self.loss.slope(y, score).reshape(len(block), -1)
            gradient = (slope * weight[:, None]).T @ rows
            curvature = self.loss.curvature(y, score).reshape(len(block), k, k) * weight[:, None, None]
            return np.atleast_1d(weight @ value), gradient, outer(rows, curvature)

        value, gradient, hessian = self.design.fold(statistic)
        return float(value[0]), gradient, hessian

    def class_blocks(self, theta: Array) -> Array:
        """The Hessian's blocks on the diagonal, one for each class: of shape (classes, size, size)."""

        def statistic(block: Block) -> Sums:
            rows = self.coordinates.rows(block)
            chance = softmax(rows @ theta.T, axis=1)
            weight = chance * (1.0 - chance)
            if block.weight is not None:
                weight *= block.weight[:, None]
            weighted = (rows * one[:, None] for one in np.sqrt(weight).T)
            return (np.stack([each.T @ each for each in weighted]),)

        (blocks,) = self.design.fold(statistic)
        blocks /= self.total
        at = np.arange(self.coordinates.size)
        blocks[:, at, at] += self._weights
        return blocks

    def _determined(self, hessian: Array) -> Array:
        """Fix what no data fix: adding the same to all classes. Differences between classes are not touched.

        Each column by its own curvature: a penalty makes that of a column of small numbers larger than all others'.
        """
        k, size = self.shape
        if k > 1:
            for j in range(size):
                at = j + size * np.arange(k)
                own = np.ix_(at, at)
                hessian[own] += np.trace(hessian[own]) / k**2
        return hessian


def outer(rows: Array, curvature: Array) -> Array:
    """Σᵢ curvatureᵢ ⊗ rowᵢ·rowᵢᵀ, of shape (k·size, k·size)."""
    k, size = curvature.shape[1], rows.shape[1]
    if k == 1:
        rows = rows * np.sqrt(curvature[:, :, 0])
        return np.asarray(rows.T @ rows)
    out = np.empty((k, size, k, size))
    for a in range(k):
        for b in range(a, k):
            out[a, :, b, :] = rows.T @ (rows * curvature[:, a, b, None])
            out[b, :, a, :] = out[a, :, b, :].T
    return out.reshape(k * size, k * size)
