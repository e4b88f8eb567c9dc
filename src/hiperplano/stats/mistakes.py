"""Novikoff's bound on the mistakes of a perceptron."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from hiperplano.data import validate
from hiperplano.data.design import Array, Block, Sums, maximum
from hiperplano.data.labels import encode_labels
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.messages import Message
from hiperplano.solvers.likelihood.likelihood import with_class_targets
from hiperplano.solvers.nearest_point import Lowest, nearest_point

_TOL = 1e-10
_STEPS_PER_COLUMN = 50
_THINNEST = 1e-10  # margins below this share of the radius count as 0


@dataclass(frozen=True)
class MistakeBound:
    """The perceptron's bound (R/γ)², and the plane that proves γ.

    With an intercept, rows get a constant column of 1, as in the perceptron.

    Attributes
    ----------
    radius : float
        R: largest norm of a row.
    margin : float
        γ: distance of the nearest row from the plane, with all rows on their side. No plane through the origin has a
        larger one, up to a relative error of 1e-10.
    bound : float
        (R/γ)²: upper bound of the mistakes, in any order and any number of passes.
    coef : ndarray of shape (d,)
        Coefficients of the plane; their norm, together with the intercept, is 1.
    intercept : float
        Intercept of the plane; 0 without an intercept.

    Examples
    --------
    >>> from hiperplano import mistake_bound
    >>> found = mistake_bound([[3.0, 4.0], [-3.0, 4.0]], ["yes", "no"], fit_intercept=False)
    >>> print(str(found).split(":")[0])
    A perceptron makes at most 2 mistakes on these rows, whatever their order
    """

    radius: float
    margin: float
    bound: float
    coef: Array = field(repr=False)
    intercept: float = field(repr=False)

    def __str__(self) -> str:
        return Message(
            "A perceptron makes at most {n} mistakes on these rows, whatever their order: they lie within R = "
            "{radius:.6g} of the origin, and {margin:.6g} or more from a plane.",
            n=int(self.bound * (1 + 1e-9)),
            radius=self.radius,
            margin=self.margin,
        )


def mistake_bound(X: Any, y: Any = None, fit_intercept: bool = True) -> MistakeBound:
    """Upper bound of the mistakes of a perceptron on separable rows: (R/γ)², by Novikoff's theorem.

    R = max ‖x‖ and γ = max over planes of min y·(w·x)/‖w‖, found as the point of the convex hull of the y·x that
    is nearest to the origin. With an intercept x stands for (x, 1).

    Parameters
    ----------
    X : array-like, CSR matrix or table of shape (n, d), or Design
        Rows; a design contains its targets and weights.
    y : array-like of shape (n,)
        Labels of two classes; the second in sorted order is the positive one.
    fit_intercept : bool, default=True
        Whether the perceptron has an intercept.

    Returns
    -------
    MistakeBound
        R, γ, (R/γ)² and the plane.

    Examples
    --------
    >>> from hiperplano import mistake_bound
    >>> found = mistake_bound([[3.0, 4.0], [-3.0, 4.0]], ["yes", "no"], fit_intercept=False)
    >>> found.radius, round(found.margin, 9), round(found.bound, 6), found.coef.round(9) + 0
    (5.0, 3.0, 2.777778, array([1., 0.]))
    """
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InvalidParameter(
            "mistake_bound: fit_intercept={fit_intercept!r}; it must be True or False. Set one of them.",
            fit_intercept=fit_intercept,
        )
    design = validate(BaseEstimator(), X, y, numeric_target=False)
    classes, codes = encode_labels(design)
    if len(classes) > 2:
        raise InvalidTarget(
            "y holds {n_classes} classes; the bound is one of two classes. Compare one class with the rest, for "
            "example with y == label.",
            n_classes=len(classes),
        )
    fit_intercept = bool(fit_intercept)
    coded = with_class_targets(design, codes, 2, None).with_vectors(position=np.arange(design.n_rows))

    def lowest(direction: Array | None) -> Lowest:
        height, corner, position = coded.fold(_LowestPoint(direction, fit_intercept), _lower)
        return Lowest((int(position[0]),), corner, float(height[0]))

    (longest,) = coded.fold(_LongestSquare(), maximum)
    radius = float(np.sqrt(longest[0] + fit_intercept))
    steps = _STEPS_PER_COLUMN * (min(design.n_rows, design.n_columns + fit_intercept) + 1)
    found = nearest_point(lowest, lowest(None), radius, _TOL, steps)
    if not found.low > _THINNEST * radius:
        where = "" if fit_intercept else Message(" that goes through the origin")
        raise InvalidData(
            "No plane{where} separates the rows of {first!r} from those of {second!r} (the best margin found is "
            "{margin:.2g}, with rows of length {radius:.3g}); only separable rows have a bound. Ask "
            "hiperplano.separability for a proof, and use Perceptron(average=True) or pocket=True.",
            where=where,
            first=classes.tolist()[0],
            second=classes.tolist()[1],
            margin=max(found.low, 0.0),
            radius=radius,
        )
    plane = found.point / found.length
    coef, intercept = (plane[:-1], float(plane[-1])) if fit_intercept else (plane, 0.0)
    return MistakeBound(radius, found.low, (radius / found.low) ** 2, coef, intercept)


@dataclass(frozen=True)
class _LongestSquare:
    """The largest ‖x‖²."""

    def __call__(self, block: Block) -> Sums:
        return (block.row_squares().max(initial=0.0)[None],)


@dataclass(frozen=True)
class _LowestPoint:
    """The lowest of the points y·x, or y·(x, 1), along a direction: its height, the point, and its position.

    Without a direction, the point of smallest norm.
    """

    direction: Array | None
    fit_intercept: bool

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        y, first = block.y[:, 0], int(self.fit_intercept)
        if not len(y):
            return np.full(1, xp.inf), xp.zeros(block.n_columns + first), xp.zeros(1, dtype=np.intp)
        if self.direction is None:
            height = block.row_squares()
        else:
            height = y * (block.dot(self.direction[: block.n_columns]) + self.direction[block.n_columns :].sum())
        at = int(xp.argmin(height))
        corner = y[at] * np.append(block.take(np.array([at])).dense()[0].astype(xp.float64), xp.ones(first))
        return height[at : at + 1].copy(), corner, block.vectors["position"][at : at + 1]


def _lower(left: Sums, right: Sums) -> Sums:
    return left if left[0][0] <= right[0][0] else right
