"""Systems of the folds of a cross-validation: the system of all rows, restricted to the training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.design import Array
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem

TOL = 1e-6  # largest relative residual; R² is then exact to 2e-7 or better, since the errors of many rows cancel
NEAR = 1e-8  # relative residual to aim at where a step gains about one digit
MOST_STEPS = 40  # most steps of conjugate gradients with such a preconditioner
_GROUP = 128  # least mean size of the groups of rows, left out by the same folds, that get tiles of their own


@dataclass(frozen=True)
class FoldProblem:
    """The systems of some folds on the same rows.

    Rows that the same folds leave out are adjacent and have tiles of their own, so that products for a fold skip the
    tiles of the rows it leaves out.

    Attributes
    ----------
    problem : RidgeProblem
        The problem of all rows, in the order used here. Its own penalty is ignored.
    order : ndarray of int of shape (n,) or None
        The order of the rows used here; None for the given order.
    masks : ndarray of shape (n, folds)
        1 for training rows, 0 for others.
    right : ndarray of shape (n, sides)
        Right-hand sides for all rows: targets and, with an intercept, ones.
    """

    problem: RidgeProblem
    order: Array | None
    masks: Array
    right: Array

    @classmethod
    def of(cls, problem: RidgeProblem, train: list[Array], in_groups: bool) -> FoldProblem:
        """Build from the training rows of the folds.

        Parameters
        ----------
        in_groups : bool
            Whether to reorder the rows so that rows of the same folds are adjacent.
        """
        masks = np.zeros((problem.n_rows, len(train)))
        for fold, rows in enumerate(train):
            masks[rows, fold] = 1.0
        order, borders = _groups(masks) if in_groups else (None, None)
        if order is not None and borders is not None:
            masks = masks[order]
            problem = replace(problem, gram=problem.gram.in_order(order, borders), y=problem.y[order])
        right = problem.gram.root[:, None] * problem.y
        if problem.fit_intercept:
            right = np.column_stack([right, problem.gram.root])
        return cls(problem, order, masks, right)

    @property
    def n_folds(self) -> int:
        return self.masks.shape[1]

    def some(self, chosen: slice) -> FoldProblem:
        """The problem of some of the folds."""
        return replace(self, masks=self.masks[:, chosen])

    def in_place(self, values: Array) -> Array:
        """Values along the first axis, from the order used here to the given order."""
        if self.order is None:
            return values
        found = np.empty_like(values)
        found[self.order] = values
        return found

    def product(self, right: Array) -> Array:
        """S·K·S·right, in float64."""
        return self.problem.gram.product(right, np.zeros(1))

    def masked_product(self, masks: Array) -> Callable[[Array, bool], Array]:
        """Return a function that computes masked products S·K·S·right, with zeros outside the masks.

        Its second argument tells whether float32 is enough.
        """
        tiles = self.problem.gram.held
        if tiles is None:
            return lambda right, _: self.product(right.T).T * masks
        starts = [each.start for each in tiles.cuts]
        there = np.logical_or.reduceat(masks, starts, axis=1).T
        whole = np.array_equal(there, np.logical_and.reduceat(masks, starts, axis=1).T)

        def product(right: Array, single: bool) -> Array:
            image = (tiles.single if single else tiles).dot(right.T, there).T
            return image if whole else image * masks

        return product

    def product_of_left_out(self, right: Array, everywhere: Array) -> Array:
        """S·K·S·right at the rows that a fold leaves out.

        Values at its training rows are valid only where `everywhere` is True.

        Parameters
        ----------
        right : ndarray of shape (n, folds, alphas, sides)
            Must be 0 at the rows that the fold leaves out.
        everywhere : ndarray of bool of shape (folds, alphas)
            Systems for which all rows are computed.
        """
        n, _, alphas, sides = right.shape
        tiles = self.problem.gram.held
        if tiles is None:
            return self.product(right.reshape(n, -1)).reshape(right.shape)
        starts = [each.start for each in tiles.cuts]
        trained, left = (np.logical_or.reduceat(each, starts) for each in (self.masks > 0, self.masks == 0))
        asked = np.repeat((left[:, :, None] | everywhere).reshape(len(starts), -1), sides, axis=1)
        there = np.repeat(trained, alphas * sides, axis=1)
        return tiles.dot(right.reshape(n, -1), there, asked).reshape(right.shape)

    def part(self, fold: int) -> tuple[Array, Array]:
        """The training rows of a fold, and S·K·S restricted to them."""
        gram, rows = self.problem.gram, np.flatnonzero(self.masks[:, fold])
        return rows, gram.part(rows) if gram.held is None else gram.held.part(rows)

    def residuals(self, solved: Array, images: Array, alphas: Array) -> Array:
        """The largest relative residual of each fold and penalty, from solutions and their images."""
        right = self.masks[:, :, None, None] * self.right[:, None, None, :]
        left = right - self.masks[:, :, None, None] * images - alphas[:, None] * solved
        size = np.linalg.norm(right, axis=0)
        return np.asarray((np.linalg.norm(left, axis=0) / np.where(size > 0, size, 1.0)).max(axis=2))

    def predictions(self, solved: Array, images: Array) -> Array:
        """Predictions for all rows, from the solutions of all right-hand sides and their images.

        They have the shape (n, folds, alphas, targets).
        """
        targets = self.problem.y.shape[1]
        root = self.problem.gram.root
        sums, intercept = images[..., :targets], np.zeros(())
        if self.problem.fit_intercept:
            totals = np.einsum("n,nfas->fas", root, solved)
            intercept = totals[..., :targets] / totals[..., targets:]
            sums = sums - images[..., targets:] * intercept
        return np.asarray(sums / root[:, None, None, None] + intercept)


def _groups(masks: Array) -> tuple[Array | None, Array | None]:
    """An order in which rows of the same folds are adjacent, and where the groups begin.

    Return None for both if the groups are small.
    """
    patterns = np.packbits(masks.astype(bool), axis=1)
    _, group, sizes = np.unique(patterns, axis=0, return_inverse=True, return_counts=True)
    if len(masks) < _GROUP * len(sizes):
        return None, None
    order = np.argsort(group.ravel(), kind="stable")
    return order, np.concatenate([[0], np.cumsum(sizes)])
