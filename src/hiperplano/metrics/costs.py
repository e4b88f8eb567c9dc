"""What decisions cost: cost matrices, realised costs, and savings against the best constant decision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number
from hiperplano.data.validate import check_weight
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget

_RESAMPLED_CELLS = 2**22  # most resampled counts held in memory


def binary_costs(
    *, false_negative: Any, false_positive: Any, true_negative: Any = 0.0, true_positive: Any = 0.0
) -> Array:
    """The cost matrix of two classes, C[predicted, true], the second of them the positive one.

    Parameters
    ----------
    false_negative, false_positive, true_negative, true_positive : float or array-like of shape (n,)
        Cost of each outcome; a gain is a negative cost. Arrays hold the costs of each example.

    Returns
    -------
    ndarray of shape (2, 2) or (n, 2, 2)
        Costs of the decisions in rows, of the true classes in columns.

    Examples
    --------
    A default costs the amount that was lent, a refused good client 20:

    >>> from hiperplano.metrics import binary_costs
    >>> binary_costs(false_negative=[1000.0, 250.0], false_positive=20.0)[0]
    array([[   0., 1000.],
           [  20.,    0.]])
    """
    parts = [np.asarray(value, dtype=np.float64) for value in (true_negative, false_negative)]
    parts += [np.asarray(value, dtype=np.float64) for value in (false_positive, true_positive)]
    cells = np.broadcast_arrays(*parts)
    return np.stack(cells, axis=-1).reshape(*cells[0].shape, 2, 2)


def check_costs(costs: Any, n_classes: int, n_rows: int | None = None) -> Array:
    """A cost matrix of shape (decisions, classes), or one for each row, of shape (n, decisions, classes).

    None stands for the 0-1 costs: every mistake costs one.

    Parameters
    ----------
    costs : array-like or None
        None: every mistake costs one.
    n_rows : int, optional
        Number of rows, if each may have its own matrix.
    """
    if costs is None:
        return 1.0 - np.eye(n_classes)
    matrix = np.asarray(costs, dtype=np.float64)
    shape = matrix.shape[-2:] if matrix.ndim in (2, 3) else ()
    if len(shape) != 2 or shape[1] != n_classes or shape[0] < n_classes:
        raise InvalidParameter(
            "costs has shape {shape}; it must be ({n_classes}, {n_classes}), costs[j, k] the cost of deciding "
            "class j where class k is true, with further rows for decisions like 'do not decide', or hold one "
            "such matrix for each row of data. Arrange costs so.",
            shape=matrix.shape,
            n_classes=n_classes,
        )
    if matrix.ndim == 3 and n_rows is not None and len(matrix) != n_rows:
        raise InvalidData(
            "costs holds matrices for {n} rows, the data {n_rows}; each row needs its own. Pass them in "
            "the order of the rows.",
            n=len(matrix),
            n_rows=n_rows,
        )
    if not np.isfinite(matrix).all():
        raise InvalidParameter("costs holds NaN or infinity; costs must be finite. Use a large number instead.")
    return matrix


def realised_costs(true: Array, decided: Array, costs: Array) -> Array:
    """The cost of each row's decision, of shape (n,); classes and decisions are given by number.

    Parameters
    ----------
    true : ndarray of shape (n,)
        Numbers of the true classes.
    decided : ndarray of shape (n,)
        Numbers of the decisions.
    costs : ndarray
        As `check_costs` returns it.
    """
    if costs.ndim == 2:
        return np.asarray(costs[decided, true])
    return np.asarray(costs[np.arange(len(true)), decided, true])


def constant_costs(true: Array, costs: Array) -> Array:
    """The cost of each row under each constant decision, of shape (n, decisions).

    Parameters
    ----------
    true : ndarray of shape (n,)
        Numbers of the true classes.
    costs : ndarray
        As `check_costs` returns it.
    """
    if costs.ndim == 2:
        return np.asarray(costs.T[true])
    return np.asarray(costs[np.arange(len(true)), :, true])


class SavingsInterval(NamedTuple):
    """Savings with their bootstrap interval.

    Attributes
    ----------
    savings : float
        `savings_score` of all rows.
    low, high : float
        Ends of the interval.
    """

    savings: float
    low: float
    high: float


def savings_score(y: Any, y_pred: Any, costs: Any = None, *, sample_weight: Any = None, labels: Any = None) -> float:
    """1 − cost of the decisions / cost of the best constant decision.

    It is 1 if decisions cost nothing, 0 if they are no better than a constant decision, and negative if they are worse.
    If the best constant decision costs nothing: 0 for decisions that cost nothing either, −inf otherwise (NaN if it
    brings a gain, since the ratio is then meaningless).

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    y_pred : array-like of shape (n,)
        Decided classes. A label that is not a class stands for the decision in the last row of `costs`, if that has one
        more row than there are classes.
    costs : array-like of shape (decisions, classes) or (n, decisions, classes), optional
        costs[j, k] is the cost of deciding j where k is true; by default every mistake costs one.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, 0 or more; rows of equal weight by default.
    labels : array-like, optional
        The classes in the order of `costs`; those found in `y`, sorted, by default.

    Returns
    -------
    float
        The share of the cost that is saved.

    Examples
    --------
    >>> from hiperplano.metrics import savings_score
    >>> savings_score([0, 0, 1, 1], [0, 1, 1, 1], [[0, 5], [1, 0]])
    0.5
    """
    own, constant = _cost_columns(y, y_pred, costs, sample_weight, labels)
    return float(_savings(np.atleast_1d(own.sum()), constant.sum(axis=0)[None, :])[0])


def savings_interval(
    y: Any,
    y_pred: Any,
    costs: Any = None,
    *,
    sample_weight: Any = None,
    labels: Any = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: Any = None,
) -> SavingsInterval:
    """`savings_score` with a bootstrap interval: rows are drawn with replacement, each with its weight.

    Parameters
    ----------
    y, y_pred, costs, sample_weight, labels
        As in `savings_score`.
    level : float, default=0.95
        Confidence level of the interval.
    n_resamples : int, default=2000
        Number of bootstrap samples.
    random_state : int, Generator or None, default=None
        Seed or generator of the bootstrap samples.

    Returns
    -------
    SavingsInterval
        `savings`, `low` and `high`.

    Examples
    --------
    >>> from hiperplano.metrics import savings_interval
    >>> found = savings_interval([0, 0, 1, 1] * 25, [0, 1, 1, 1] * 25, [[0, 5], [1, 0]], random_state=0)
    >>> found.low < found.savings < found.high
    True
    """
    check_number("savings_interval", "level", level, 0.0, 1.0, open_low=True)
    check_number("savings_interval", "n_resamples", n_resamples, 1, np.inf)
    own, constant = _cost_columns(y, y_pred, costs, sample_weight, labels)
    table = np.column_stack([own, constant])
    # Rows with equal costs are drawn together; with one matrix for all rows there are only a few kinds.
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    rng = np.random.default_rng(random_state)
    drawn = []
    step = max(1, _RESAMPLED_CELLS // len(kinds))
    for first in range(0, n_resamples, step):
        times = rng.multinomial(len(table), counts / len(table), size=min(step, n_resamples - first))
        sums = times @ kinds
        drawn.append(_savings(sums[:, 0], sums[:, 1:]))
    low, high = np.quantile(np.concatenate(drawn), [(1 - level) / 2, (1 + level) / 2])
    score = _savings(np.atleast_1d(own.sum()), constant.sum(axis=0)[None, :])[0]
    return SavingsInterval(float(score), float(low), float(high))


def _savings(own: Array, constant: Array) -> Array:
    best = constant.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1.0 - own / best
    nothing = np.where(own == 0, 0.0, np.where(own > 0, -np.inf, np.inf))
    return np.where(best > 0, share, np.where(best == 0, nothing, np.nan))


def _cost_columns(y: Any, y_pred: Any, costs: Any, sample_weight: Any, labels: Any) -> tuple[Array, Array]:
    """Weighted costs of the actual decisions, and of every constant decision."""
    y, y_pred = np.asarray(y), np.asarray(y_pred)
    if y.ndim != 1 or y.shape != y_pred.shape or not len(y):
        raise InvalidData(
            "y has shape {shape} and y_pred {other}; both must be vectors of the same length, of one row or "
            "more. Pass one class for each row.",
            shape=y.shape,
            other=y_pred.shape,
        )
    classes = np.unique(y) if labels is None else np.asarray(labels)
    true = class_numbers(y, classes)
    matrix = check_costs(costs, len(classes), len(y))
    decided = class_numbers(y_pred, classes, other=len(classes) if matrix.shape[-2] == len(classes) + 1 else None)
    weight = check_weight(sample_weight, len(y))
    own, constant = realised_costs(true, decided, matrix), constant_costs(true, matrix)
    if weight is not None:
        own, constant = own * weight, constant * weight[:, None]
    return own, constant


def class_numbers(labels: Array, classes: Array, other: int | None = None) -> Array:
    """The class number of each label; `other` for labels that are not a class.

    Without `other`, such labels are an error.

    Returns
    -------
    ndarray of int of shape (n,)
    """
    order = np.argsort(classes, kind="stable")
    if labels.dtype.kind != classes.dtype.kind and "O" in labels.dtype.kind + classes.dtype.kind:
        table = {label: number for number, label in enumerate(classes.tolist())}
        found = np.array([table.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    else:
        place = np.searchsorted(classes, labels, sorter=order).clip(max=len(classes) - 1)
        found = np.where(classes[order][place] == labels, order[place], -1)
    unknown = found < 0
    if unknown.any():
        if other is None:
            raise InvalidTarget(
                "{label!r} is not one of the classes {classes}; every label must be one. Pass all classes in labels, "
                "in the order of costs, or give costs a row for not deciding.",
                label=labels[unknown].tolist()[0],
                classes=classes.tolist()[:10],
            )
        found = np.where(unknown, other, found)
    return found
