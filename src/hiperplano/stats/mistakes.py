"""How many mistakes a perceptron can make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import BaseEstimator

from hiperplano.data import validate
from hiperplano.data.design import Array
from hiperplano.data.labels import encode_labels
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget
from hiperplano.solvers.nearest_point import nearest_point

_TOL = 1e-10
_STEPS_PER_COLUMN = 50
_THINNEST = 1e-10  # margins below this share of the radius are not told from 0


@dataclass(frozen=True)
class MistakeBound:
    """The perceptron's bound (R/γ)², and the plane that proves γ.

    With an intercept, rows are taken with a constant column of 1, as the perceptron takes them.

    Attributes
    ----------
    radius : float
        R: length of the longest row.
    margin : float
        γ: distance of the nearest row from the plane, all rows being on their side; no plane through the origin has
        a larger one, up to a share of 1e-10.
    bound : float
        (R/γ)²: most mistakes, in any order and any number of passes.
    coef : ndarray of shape (d,)
        Of the plane, of length 1 together with the intercept.
    intercept : float

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
        return (
            f"A perceptron makes at most {int(self.bound * (1 + 1e-9))} mistakes on these rows, whatever their order: "
            f"they lie within R = {self.radius:.6g} of the origin, and {self.margin:.6g} or more from a plane."
        )


def mistake_bound(X: Any, y: Any, fit_intercept: bool = True) -> MistakeBound:
    """The most mistakes that a perceptron can make on separable rows: (R/γ)², by Novikoff's theorem.

    R = max ‖x‖ and γ = max over planes of min y·(w·x)/‖w‖, found as the point of the convex hull of the y·x that
    is nearest to the origin. With an intercept x stands for (x, 1).

    Parameters
    ----------
    X : array-like, CSR matrix or table of shape (n, d)
    y : array-like of shape (n,)
        Labels of two classes; the second in sorted order is the positive one.
    fit_intercept : bool, default=True
        That of the perceptron.

    Returns
    -------
    MistakeBound

    Examples
    --------
    >>> from hiperplano import mistake_bound
    >>> found = mistake_bound([[3.0, 4.0], [-3.0, 4.0]], ["yes", "no"], fit_intercept=False)
    >>> found.radius, round(found.margin, 9), round(found.bound, 6), found.coef.round(9) + 0
    (5.0, 3.0, 2.777778, array([1., 0.]))
    """
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InvalidParameter(
            f"mistake_bound: fit_intercept={fit_intercept!r}; it must be True or False. Set one of them."
        )
    design = validate(BaseEstimator(), X, y, numeric_target=False)
    classes, codes = encode_labels(design)
    if len(classes) > 2:
        raise InvalidTarget(
            f"y holds {len(classes)} classes; the bound is one of two classes. Compare one class with the rest, for "
            "example with y == label."
        )
    signs = np.where(codes == 1, 1.0, -1.0)
    points = _signed(design.x, signs, bool(fit_intercept))
    squares = points.multiply(points).sum(axis=1) if issparse(points) else np.sum(points**2, axis=1)
    radius = float(np.sqrt(np.max(squares)))
    found = nearest_point(points, _TOL, _STEPS_PER_COLUMN * (min(points.shape) + 1))
    if not found.low > _THINNEST * radius:
        where = "" if fit_intercept else " that goes through the origin"
        raise InvalidData(
            f"No plane{where} separates the rows of {classes.tolist()[0]!r} from those of {classes.tolist()[1]!r} (the "
            f"best margin found is {max(found.low, 0.0):.2g}, with rows of length {radius:.3g}); only separable rows "
            "have a bound. Ask hiperplano.separability for a proof, and use Perceptron(average=True) or pocket=True."
        )
    plane = found.point / found.length
    coef, intercept = (plane[:-1], float(plane[-1])) if fit_intercept else (plane, 0.0)
    return MistakeBound(radius, found.low, (radius / found.low) ** 2, coef, intercept)


def _signed(x: Any, signs: Array, fit_intercept: bool) -> Any:
    """y·x, or y·(x, 1)."""
    if not issparse(x):
        x = np.asarray(x, dtype=np.float64)
        return (np.column_stack([x, np.ones(len(x))]) if fit_intercept else x) * signs[:, None]
    signed = csr_array(x.multiply(signs[:, None]), dtype=np.float64)
    return csr_array(hstack([signed, signs[:, None]], format="csr")) if fit_intercept else signed
