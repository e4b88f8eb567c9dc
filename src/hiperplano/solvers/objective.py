"""Mean loss of linear scores with an L2 penalty: value, gradient and Hessian, one pass each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from hiperplano.data.block import matrix_product, row_scores, row_sums, scratch
from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Design, Sums, maximum
from hiperplano.data.in_memory import InMemory
from hiperplano.losses.softmax import shares
from hiperplano.penalties import L2
from hiperplano.solvers.row_span import InRowSpan, is_wide
from hiperplano.solvers.statistics import SPARSE_PRODUCTS, NonFiniteRows, sparse_products_pay

_DENSE_CELLS = 2**17  # most numbers of sparse rows for which a dense copy is kept
_GRAM_NUMBERS = 500_000  # most numbers in the products of probabilities and rows that are stored at once
_IMPLAUSIBLE = 1e90  # a larger gradient of standardised columns comes from NaN, infinity or a number out of range


class Loss(Protocol):
    """Interface of a smooth loss of targets and scores; several scores have shape (n, scores)."""

    def value(self, y: Array, score: Array) -> Array: ...
    def slope(self, y: Array, score: Array) -> Array: ...
    def curvature(self, y: Array, score: Array) -> Array: ...


class Objective:
    """Σ w·loss/Σw + ½·strength·‖coef‖² as a function of standardised parameters of shape (scores, size).

    Parameters
    ----------
    design : Design
        Rows with targets coded for the loss.
    scale : ColumnScale
        Standardisation of the parameters.
    n_scores : int
        1, or the number of classes for a loss that depends only on differences of scores.
    strength : float
        Penalty λ relative to the mean loss, for coefficients in the units of the data.
    extra : float
        A small ridge on all standardised coefficients, which keeps the solution for a sample finite.
    check_finite : bool
        Whether to raise `NonFiniteRows` if sums contain NaN or infinity, for rows that are not validated.

    Attributes
    ----------
    total : float
        Sum of the weights.
    penalty : L2
        On standardised parameters.
    passes : float
        Number of passes over the rows so far.
    """

    def __init__(
        self,
        design: Design,
        loss: Any,
        scale: ColumnScale,
        n_scores: int,
        strength: float,
        extra: float = 0.0,
        check_finite: bool = False,
    ) -> None:
        self.design, self.loss, self.scale, self.n_scores, self._extra = design, loss, scale, n_scores, extra
        self.check_finite = check_finite
        self.total = design.total_weight
        self.penalise(strength)
        self.passes: float = 0
        self._origin = scale.origin

    def penalise(self, strength: float) -> None:
        """Change the penalty, keeping what is cached of the rows and of their span."""
        self.strength = strength
        inner = self.scale.penalty(strength) + self._extra
        self.penalty = L2(np.concatenate([np.zeros(int(self.scale.fit_intercept)), inner]))
        if self.has_row_span:
            self.in_row_span.problem.penalise(strength)

    def with_rows(self, design: Design, scale: ColumnScale) -> Self:
        """The same objective for other rows."""
        return type(self)(design, self.loss, scale, self.n_scores, self.strength)

    @cached_property
    def in_row_span(self) -> InRowSpan[Self]:
        """The same problem in the span of its rows, for fewer rows than columns."""
        return InRowSpan(self)

    @property
    def has_row_span(self) -> bool:
        """Whether `in_row_span` was computed."""
        return "in_row_span" in self.__dict__

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_scores, self.scale.size

    def balanced(self, theta: Array) -> Array:
        """The same model with the parameters of the classes summing to zero.

        The data do not determine this sum, and the penalty is smallest at zero. Setting it exactly avoids rounding
        errors.
        """
        return theta - theta.sum(axis=0) / self.n_scores if self.n_scores > 1 else theta

    @cached_property
    def _few_rows(self) -> tuple[Block, Array] | None:
        """The only block of rows and its dense matrix [1, z], which would otherwise be recomputed in every pass.

        Return None if there are several blocks, if the rows stay sparse, or if most passes are in the span of the rows.
        """
        design = self.design
        if not isinstance(design, InMemory) or design.density < SPARSE_PRODUCTS or is_wide(design, self.n_scores):
            return None
        if design.is_sparse and design.n_rows * design.n_columns > _DENSE_CELLS:
            return None
        block = design.only_block()
        return None if block is None else (block, self.scale.rows(block, kept=True))

    def evaluate(self, theta: Array) -> tuple[float, Array]:
        """Value and gradient."""
        self.passes += 1
        if self._few_rows is not None:
            value, gradient, _ = slope_sums(self.loss, *self._few_rows, theta)
        else:
            value, sums, totals = self.design.fold(GradientSums(self.loss, self.scale.scores(theta)))
            gradient = self.scale.gradient(sums, totals)
        gradient = self.checked(gradient) / self.total
        penalty, slope = self.penalty.value_and_slope(theta)
        return float(value[0]) / self.total + penalty, gradient + slope

    def evaluate_with_hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """Value, gradient and the whole Hessian, of shape (scores·size, scores·size)."""
        self.passes += 1
        if self._few_rows is not None:
            sums, gradient, hessian = loss_sums(self.loss, *self._few_rows, theta)
            value = float(sums[0])
        else:
            value, gradient, hessian = self._of_one_score(theta) if self.n_scores == 1 else self._of_scores(theta)
        hessian /= self.total
        hessian.flat[:: len(hessian) + 1] += self.penalty.curvature(theta).ravel()
        penalty, slope = self.penalty.value_and_slope(theta)
        return (
            value / self.total + penalty,
            self.checked(gradient) / self.total + slope,
            fix_common_direction(hessian, self.n_scores),
        )

    def _of_one_score(self, theta: Array) -> tuple[float, Array, Array]:
        """Hessian sums for one score.

        The columns' shift and scale are applied after summation, which saves passes over each block.
        """
        scale, origin = self.scale, self._origin
        value, slope, curvature, slopes, curvatures, products = self.design.fold(
            HessianSums(self.loss, scale.scores(theta), origin, self.design.density)
        )
        gradient = (slopes - slope * (scale.shift - origin)) * scale.scale
        gradient[scale.constant] = 0.0
        gradient = np.concatenate([slope, gradient]) if scale.fit_intercept else gradient
        return float(value[0]), gradient[None], scale.products(float(curvature[0]), curvatures, products, origin)

    def _of_scores(self, theta: Array) -> tuple[float, Array, Array]:
        value, gradient, hessian = self.design.fold(ClassHessianSums(self.loss, self.scale, theta))
        return float(value[0]), gradient, hessian

    def largest_change(self, before: Array, after: Array) -> float:
        """Largest change of any row's score between two points."""
        self.passes += 1
        (largest,) = self.design.fold(LargestChange(self.scale.scores(before), self.scale.scores(after)), maximum)
        return float(largest[0])

    def checked(self, sums: Array) -> Array:
        """Return sums over rows, in standardised columns; raise `NonFiniteRows` if they show NaN or infinity."""
        if self.check_finite and not (np.abs(sums) < _IMPLAUSIBLE).all():
            raise NonFiniteRows
        return sums


@dataclass(frozen=True)
class GradientSums:
    """Σ loss, Σ slope·x of shape (d, scores), and Σ slope."""

    stays_sparse = True
    loss: Any
    scores: LinearScores

    def __call__(self, block: Block) -> Sums:
        rows = self.scores.rows(block)
        value, slope = total_and_slope(self.loss, block.y[:, 0], one_or_all(self.scores.of(rows)), block.weight)
        slope = slope.reshape(len(block), -1)
        ones = block.xp.ones(len(block))
        products = block.transpose_dot(slope) if block.is_sparse else row_sums(slope, rows).T
        return block.xp.asarray([value]), products, ones @ slope


@dataclass(frozen=True)
class HessianSums:
    """Σ loss, Σ slope, Σ curvature, Σ slope·u, Σ curvature·u and Σ curvature·u·uᵀ of one score, u = x − origin."""

    sums_squares = True
    loss: Any
    scores: LinearScores
    origin: Array
    density: float

    @property
    def stays_sparse(self) -> bool:
        """Whether products use only the stored entries of sparse rows.

        Above a certain density, dense products are faster.
        """
        return sparse_products_pay(self.density, len(self.origin)) and not self.origin.any()

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        x, y = self.scores.rows(block), block.y[:, 0]
        score = self.scores.of(x)[:, 0]
        value, slope, curvature = total_slope_and_curvature(self.loss, y, score, block.weight)
        totals = xp.asarray([value]), slope.sum()[None], curvature.sum()[None]
        if self.stays_sparse:
            both = block.transpose_dot(xp.stack([slope, curvature], axis=1))
            return *totals, both[:, 0], both[:, 1], block.weighted_products(curvature)
        if block.is_sparse or (self.scores.shift is None and self.origin.any()):
            x = xp.subtract(block.dense(), self.origin, out=scratch("centred", block.x.shape, block.x))
        rows = xp.multiply(x, xp.sqrt(curvature)[:, None], out=scratch("weighted", block.x.shape, block.x))
        slopes, curvatures = row_sums(xp.stack([slope, curvature]).T, x)  # both from one read of the rows
        return *totals, slopes, curvatures, matrix_product(rows.T, rows)


@dataclass(frozen=True)
class ClassHessianSums:
    """Σ loss, Σ slope ⊗ v of shape (scores, size) and Σ curvature ⊗ v·vᵀ, for v = [1, z]."""

    loss: Any
    scale: ColumnScale
    theta: Array

    def __call__(self, block: Block) -> Sums:
        return loss_sums(self.loss, block, self.scale.rows(block), self.theta)


@dataclass(frozen=True)
class LargestChange:
    """The largest difference of two sets of scores."""

    before: LinearScores
    after: LinearScores

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        return (xp.abs(self.after(block) - self.before(block)).max(initial=0.0)[None],)


def loss_sums(loss: Any, block: Block, rows: Array, theta: Array) -> Sums:
    """Σ loss, Σ slope ⊗ row and Σ curvature ⊗ row·rowᵀ, for transformed rows of a block.

    Parameters
    ----------
    block : Block
        Block that holds the targets and weights.
    rows : ndarray of shape (m, size)
    theta : ndarray of shape (scores, size)

    Returns
    -------
    value : ndarray of shape (1,)
    gradient : ndarray of shape (scores, size)
    hessian : ndarray of shape (scores·size, scores·size)
    """
    if len(theta) == 1:
        score = matrix_product(theta[0], rows.T)
        total, slope, curvature = total_slope_and_curvature(loss, block.y[:, 0], score, block.weight)
        return np.array([total]), matrix_product(slope, rows)[None], weighted_gram(rows, curvature[:, None, None])
    value, gradient, score = slope_sums(loss, block, rows, theta)
    return value, gradient, softmax_gram(rows, shares(score), block.weight)


def slope_sums(loss: Any, block: Block, rows: Array, theta: Array) -> tuple[Array, Array, Array]:
    """The first two of `loss_sums`, and the scores of the rows."""
    score = one_or_all(row_scores(rows, theta))
    value, slope = total_and_slope(loss, block.y[:, 0], score, block.weight)
    return np.array([value]), row_sums(slope.reshape(len(block), -1), rows), score


def one_or_all(score: Array) -> Array:
    """Scores in the shape that losses expect: (m,) if there is one for each row."""
    return score[:, 0] if score.shape[1] == 1 else score


def value_and_slope(loss: Any, y: Array, score: Array) -> tuple[Array, Array]:
    """Value and slope of a loss, in one call if the loss offers that."""
    both = getattr(loss, "value_and_slope", None)
    return (loss.value(y, score), loss.slope(y, score)) if both is None else both(y, score)


def total_and_slope(loss: Any, y: Array, score: Array, weight: Array | None) -> tuple[float, Array]:
    """Weighted sum of a loss, and weighted slopes."""
    total = getattr(loss, "total_and_slope", None)
    if weight is None and total is not None:
        found: tuple[float, Array] = total(y, score)
        return found
    value, slope = value_and_slope(loss, y, score)
    if weight is not None:
        value = value * weight
        slope = slope * (weight if slope.ndim == 1 else weight[:, None])
    return float(value.sum()), slope


def total_slope_and_curvature(loss: Any, y: Array, score: Array, weight: Array | None) -> tuple[float, Array, Array]:
    """`total_and_slope`, and weighted curvatures, in one call if the loss offers that."""
    of_all = getattr(loss, "total_slope_and_curvature", None)
    if of_all is not None:
        found: tuple[float, Array, Array] = of_all(y, score, weight)
        return found
    curvature = loss.curvature(y, score)
    return *total_and_slope(loss, y, score, weight), curvature if weight is None else curvature * weight


def weighted_gram(rows: Array, curvature: Array) -> Array:
    """Σᵢ curvatureᵢ ⊗ rowᵢ·rowᵢᵀ, of shape (k·size, k·size).

    Parameters
    ----------
    rows : ndarray of shape (m, size)
    curvature : ndarray of shape (m, k, k)
    """
    k, size = curvature.shape[1], rows.shape[1]
    if k == 1:
        rows = np.multiply(rows, np.sqrt(curvature[:, :, 0]), out=scratch("weighted", rows.shape, rows))
        return matrix_product(rows.T, rows)
    out = np.empty((k, size, k, size))
    for a in range(k):
        for b in range(a, k):
            out[a, :, b, :] = rows.T @ (rows * curvature[:, a, b, None])
            out[b, :, a, :] = out[a, :, b, :].T
    return out.reshape(k * size, k * size)


def softmax_gram(rows: Array, p: Array, weight: Array | None) -> Array:
    """Σᵢ (diag(pᵢ) − pᵢ·pᵢᵀ) ⊗ rowᵢ·rowᵢᵀ times the weights: the Hessian of `Softmax`, in one large product.

    Parameters
    ----------
    rows : ndarray of shape (m, size)
    p : ndarray of shape (m, k)
        Probabilities of the classes.
    weight : ndarray of shape (m,) or None
    """
    (m, k), size = p.shape, rows.shape[1]
    out = np.zeros((k * size, k * size))
    root = np.ones((m, 1)) if weight is None else np.sqrt(weight)[:, None]
    weighted, step = root * p, max(1, _GRAM_NUMBERS // (k * size))
    for start in range(0, m, step):
        part = slice(start, start + step)
        products = scratch("products", (len(rows[part]), k, size))
        np.multiply(weighted[part, :, None], rows[part, None, :], out=products)
        flat = products.reshape(-1, k * size)
        out -= matrix_product(flat.T, flat)
    # Computed separately, since 1 − p must not be a difference of two sums over all rows.
    own = root * np.sqrt(p * (1.0 - p))
    for a in range(k):
        block = slice(a * size, (a + 1) * size)
        scaled = np.multiply(rows, own[:, a, None], out=scratch("weighted", rows.shape, rows))
        out[block, block] = matrix_product(scaled.T, scaled)
    return out


def fix_common_direction(hessian: Array, n_scores: int) -> Array:
    """Add curvature along the direction that the data leave free: the same change for all classes.

    Differences of classes are unaffected.

    Each column is scaled by its own curvature, since a penalty makes that of columns with small values larger than all
    others.
    """
    if n_scores > 1:
        columns = np.arange(len(hessian) // n_scores)
        by_class = hessian.reshape(n_scores, len(columns), n_scores, len(columns))
        trace = hessian.diagonal().reshape(n_scores, -1).sum(axis=0)
        by_class[:, columns, :, columns] += (trace / n_scores**2)[:, None, None]
    return hessian
