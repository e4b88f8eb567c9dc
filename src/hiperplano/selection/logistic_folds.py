"""Folds of a logistic cross-validation: their training and test rows, and the log loss of all penalties in one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from hiperplano.data import Design
from hiperplano.data.design import Array, Block, Sums
from hiperplano.errors import InvalidParameter
from hiperplano.losses import Logistic, Softmax
from hiperplano.messages import Message
from hiperplano.selection.splits import no_folds
from hiperplano.solvers.objective import one_or_all


def fold_rows(cv: Any, design: Design, y: Any, extra: dict[str, Any]) -> list[tuple[Array, Array]]:
    """Positions of the training and test rows of every split, among the rows with nonzero weight.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        A splitter divides the rows with nonzero weight; positions in a list refer to all given rows.
    design : Design
        The rows with nonzero weight, with labels.
    y : array-like of shape (n,) or None
        The given labels, including those of rows of weight 0; None with a design.
    extra : dict
        Arguments for the splitter, such as the groups of all given rows.
    """
    numbers, labels = design.row_numbers(), design.collect(design.vector("y"))[:, 0]
    listed = not (cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "split"))
    place = np.full(len(np.asarray(y)) if listed and y is not None else design.n_rows, -1)
    place[numbers if listed else slice(None)] = np.arange(design.n_rows)

    def counting(rows: Any) -> Array:
        found = place[_positions(rows, len(place))]
        return np.asarray(found[found >= 0])

    extra = {name: _counted(value, numbers) for name, value in extra.items()}
    try:
        splits = list(check_cv(cv, labels, classifier=True).split(numbers[:, None], labels, **extra))
    except (ValueError, TypeError) as problem:
        raise no_folds("LogisticRegressionCV", cv, len(labels), problem) from problem
    return [(counting(train), counting(test)) for train, test in splits]


def _counted(values: Any, numbers: Array) -> Any:
    """Entries for the rows with nonzero weight, from an argument with one entry for each given row."""
    long = hasattr(values, "__len__") and not isinstance(values, str) and len(values) > len(numbers)
    return np.asarray(values)[numbers] if long else values


def count_rows(splits: list[Array], n_rows: int) -> Array:
    """How often each row is in each split, of shape (n, splits); bootstrap samples use some rows twice."""
    counts = [np.bincount(rows, minlength=n_rows) for rows in splits]
    return np.stack(counts, axis=1).astype(np.min_scalar_type(max(int(count.max()) for count in counts)))


def _positions(rows: Any, n_rows: int) -> Array:
    """Positions of rows given as positions or as a mask."""
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    if not len(rows) or rows.min() < -n_rows or rows.max() >= n_rows:
        limits = Message(" from {first} to {last}", first=rows.min(), last=rows.max()) if len(rows) else ""
        raise InvalidParameter(
            "LogisticRegressionCV: cv gives {n} rows{limits} of a table of {n_rows}; every split needs rows to "
            "train and to test on, by their positions. Check the splitter.",
            n=len(rows),
            limits=limits,
            n_rows=n_rows,
        )
    return np.asarray(np.where(rows < 0, rows + n_rows, rows))


@dataclass(frozen=True)
class TrainingWeight:
    """The weight of a row in the training set of a split; 0 if it is not in that set."""

    split: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return block.weighted(block.vectors["trained"][:, self.split].astype(xp.float64))


@dataclass(frozen=True)
class IsTested:
    """Whether a row is in the test set of a split."""

    split: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.vectors["tested"][:, self.split] > 0)


@dataclass(frozen=True)
class _LogLosses:
    """Σ w·loss, of shape (splits, Cs), and Σ w, over the test rows of every split."""

    stays_sparse = True
    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        n_Cs, n_splits, k, d = self.coef.shape
        sums, totals = xp.zeros((n_splits, n_Cs)), xp.zeros(n_splits)
        loss: Any = Logistic() if k == 1 else Softmax()
        for split in range(n_splits):
            part = block.take(block.vectors["tested"][:, split] > 0)
            weight = part.weighted(part.vectors["tested"][:, split].astype(xp.float64))
            score = part.dot(self.coef[:, split].reshape(-1, d).T) + self.intercept[:, split].ravel()
            for position in range(n_Cs):
                own = one_or_all(score[:, position * k : (position + 1) * k])
                sums[split, position] = weight @ loss.value(part.y[:, 0], own)
            totals[split] = weight.sum()
        return sums, totals


def log_loss_scores(design: Design, coef: Array, intercept: Array) -> Array:
    """Negative mean log loss of every split's test rows, of shape (splits, Cs)."""
    sums, totals = design.fold(_LogLosses(coef, intercept))
    return np.asarray(-sums / totals[:, None])
