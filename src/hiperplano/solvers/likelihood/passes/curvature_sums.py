"""Sums over rows for the curvature of the likelihood: its diagonal, products with it, and the blocks of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from hiperplano.data.block import matrix_product, row_scores, row_sums, scratch
from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Rows, Sums
from hiperplano.losses.softmax import shares

_LEAST = 1e-36  # about the smallest number of float32 of which a hundredth is not subnormal


def probabilities(score: Array) -> Array:
    """Probabilities of all classes, or of the class +1, from scores of shape (m, scores)."""
    return shares(score) if score.shape[1] > 1 else np.asarray(expit(score))


def curved_change(chance: Array, change: Array) -> Array:
    """Curvature of the loss times changes of the scores: p·(change − Σ p·change), of shape (m, scores)."""
    each = chance * change
    if chance.shape[1] == 1:
        each -= chance * each
    else:
        each -= chance * each.sum(axis=1, keepdims=True)
    return each


def without_subnormals(values: Array) -> Array:
    """Values, usually in float32, of which the tiniest are set to 0.

    Rows of classes that are clearly separated have them. Products with subnormal numbers take up to thirty times as
    long.
    """
    values[np.abs(values) < _LEAST] = 0.0
    return values


@dataclass(frozen=True)
class CurvatureSums:
    """Σ c, Σ c·x and Σ c·x² for the curvatures c = p·(1 − p) of each score.

    Keeps c of each row for one score, and the probabilities p for several.
    """

    stays_sparse = True
    scores: LinearScores

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        chance = probabilities(self.scores(block))
        curvature = block.weighted(chance * (1.0 - chance))
        kept = {"curvature": curvature} if chance.shape[1] == 1 else {"chance": chance}
        if block.is_sparse and chance.shape[1] == 1:
            sums, squares = (each[:, None] for each in block.stored_moments(curvature[:, 0]))
        else:
            sums, squares = block.transpose_dot(curvature), block.squared().transpose_dot(curvature)
        return (curvature.sum(axis=0), sums, squares), kept


@dataclass(frozen=True)
class CurvatureProducts:
    """Σ x·u of shape (d, scores), and Σ u, where u is the curvature of the loss times the changes of the scores."""

    stays_sparse = True
    changes: LinearScores

    def __call__(self, block: Block) -> Sums:
        curvature = block.vectors.get("curvature")
        if curvature is not None and block.is_sparse:
            level = -float(self.changes.intercept[0])
            sums, total = block.normal_dot(curvature[:, 0], self.changes.coef[0], level)
            return sums[:, None], np.array([total])
        rows = self.changes.rows(block)
        change = self.changes.of(rows)
        if curvature is None:
            moved = block.weighted(curved_change(block.vectors["chance"], change))
        else:
            moved = curvature * change
        products = block.transpose_dot(moved) if block.is_sparse else row_sums(moved, rows).T
        return products, moved.sum(axis=0)


@dataclass(frozen=True)
class ClassBlockSums:
    """Σ p·(1 − p)·v·vᵀ of each class for v = [1, z], divided by the total weight, which may overflow float32."""

    scale: ColumnScale
    theta: Array
    total: float
    dtype: type

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        rows = self.scale.rows(block)
        chance = shares(row_scores(rows, self.theta))
        roots = without_subnormals(xp.sqrt(block.weighted(chance * (1.0 - chance)) / self.total).astype(self.dtype))
        rows = rows.astype(self.dtype, copy=False)
        out = xp.empty((len(self.theta), self.scale.size, self.scale.size))
        weighted = scratch("weighted", rows.shape, rows, self.dtype)
        for products, root in zip(out, roots.T, strict=True):
            xp.multiply(rows, root[:, None], out=weighted)
            products[...] = matrix_product(weighted.T, weighted)
        return (out,)
