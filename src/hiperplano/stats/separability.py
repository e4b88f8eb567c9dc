"""Separability of two classes: the public function; the work is done in `solvers.separation.search`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hiperplano.data import validate
from hiperplano.data.cluster.calls import takes_dask
from hiperplano.data.labels import encode_labels
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.solvers.likelihood.likelihood import with_class_targets
from hiperplano.solvers.separation.certificates import Overlapping, QuasiSeparable, Separable
from hiperplano.solvers.separation.search import separate
from hiperplano.stats.summary import coefficient_names

__all__ = ["Overlapping", "QuasiSeparable", "Separable", "separability"]


@takes_dask
def separability(X: Any, y: Any = None, fit_intercept: bool = True) -> Separable | QuasiSeparable | Overlapping:
    """Whether a plane separates two classes, with a proof either way.

    With y = ±1 and score = x·coef + intercept:

    - `Separable`: some plane has y·score > 0 for every row;
    - `QuasiSeparable`: none has, but some plane has y·score ≥ 0 for every row and y·score > 0 for some;
    - `Overlapping`: neither.

    Only overlapping classes have a maximum-likelihood logistic regression with finite coefficients. Classes whose
    convex hulls share a point are never separable; if they only touch, they are quasi-separable.

    Parameters
    ----------
    X : array-like, CSR matrix or table of shape (n, d), or Design
        Rows; a design contains its targets and weights.
    y : array-like of shape (n,)
        Labels of two classes; the second in sorted order is the positive one.
    fit_intercept : bool, default=True
        False allows only planes through the origin.

    Returns
    -------
    Separable, QuasiSeparable or Overlapping
        Print it for a statement. `verify(X, y)` checks the proof without trusting the search. Scores and distances
        under 1e-9 of the spread of the columns count as zero, except that a `Separable` plane has all its rows
        beyond the rounding errors of their scores.

    Examples
    --------
    >>> from hiperplano import separability
    >>> X, y = [[1.0, 5.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.5]], ["no", "no", "yes", "yes"]
    >>> found = separability(X, y)
    >>> type(found).__name__, found.names, round(found.margin, 3), found.verify(X, y)
    ('Separable', ('x0',), 0.5, True)
    >>> print(separability(X, y, fit_intercept=False).margin < 0.5)
    True
    >>> print(separability([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]))
    Overlapping with an intercept: weights on 4 rows give both classes the same weighted sum: no plane separates them.
    """
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InvalidParameter(
            "separability: fit_intercept={fit_intercept!r}; it must be True or False. Set one of them.",
            fit_intercept=fit_intercept,
        )
    columns = BaseEstimator()
    design = validate(columns, X, y, numeric_target=False)
    classes, codes = encode_labels(design)
    if len(classes) > 2:
        shown = ", ".join(repr(label) for label in classes[:5].tolist())
        raise InvalidTarget(
            "y holds {n_classes} classes ({labels}); separability is a question about 2. Compare one class "
            "with the rest, for example with y == label, or keep the rows of two.",
            n_classes=len(classes),
            labels=shown + (", …" if len(classes) > 5 else ""),
        )
    coded = with_class_targets(design, codes, 2, None)
    found = separate(coded, bool(fit_intercept), coefficient_names(columns, fit_intercept=False))
    return replace(found, classes=tuple(classes.tolist()))  # type: ignore[return-value]
