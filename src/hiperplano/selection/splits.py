"""The splits of a cross-validation, as positions in a design."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from hiperplano.data.design import Array, Design
from hiperplano.errors import InvalidParameter

Split = tuple[Array, Array]


def row_splits(model: Any, design: Design, n_rows: int, y: Any, extra: dict[str, Any]) -> list[Split]:
    """The (train, test) pairs of a model's `cv` for the input table.

    Parameters
    ----------
    model : estimator
        Estimator with a parameter `cv`.
    design : Design
        The rows of the table with nonzero weight.
    n_rows : int
        Number of rows of the table.
    y : array-like
        Target of the table, for splitters that use it.
    extra : dict
        Arguments for the splitter, such as groups.

    Returns
    -------
    list of tuple of ndarray of int
        Positions in the design.
    """
    name, place = type(model).__name__, np.full(n_rows, -1)
    place[design.row_numbers()] = np.arange(design.n_rows)
    try:
        splitter = check_cv(model.cv, y, classifier=is_classifier(model))
        splits = [
            (place[np.asarray(train)], place[np.asarray(test)])
            for train, test in splitter.split(np.empty((n_rows, 1)), y, **extra)
        ]
    except (ValueError, TypeError, IndexError) as problem:
        raise no_folds(name, model.cv, n_rows, problem) from problem
    splits = [(train[train >= 0], test[test >= 0]) for train, test in splits]
    for number, (train, test) in enumerate(splits):
        if not (len(train) and len(test)):
            raise InvalidParameter(
                "{model}: fold {number} has {train} rows to train and {test} to test on with a weight above 0; "
                "both need at least one. Use fewer folds, or shuffled ones.",
                model=name,
                number=number,
                train=len(train),
                test=len(test),
            )
    return splits


def targets_given(X: Any, y: Any) -> Any:
    """Targets of all given rows, including those of weight 0, in the form that a splitter expects."""
    if not isinstance(X, Design):
        return y
    found = X.collect(X.vector("y"))
    return found[:, 0] if found.shape[1] == 1 else found


def no_folds(model: str, cv: Any, n_rows: int, problem: Exception) -> InvalidParameter:
    """The error for a `cv` that cannot divide the rows."""
    return InvalidParameter(
        "{model}: cv={cv!r} gives no folds of {n} rows ({problem}); cv must be None, a number of folds from 2 "
        "to that of the rows, a splitter, or pairs of train and test rows. Set one of them.",
        model=model,
        cv=cv,
        n=n_rows,
        problem=str(problem),
    )
