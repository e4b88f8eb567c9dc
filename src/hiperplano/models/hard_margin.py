"""The maximum-margin plane of separable classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from hiperplano.data import Design, validate
from hiperplano.data.design import Array
from hiperplano.data.labels import encode_labels
from hiperplano.data.parameters import flag, number, whole
from hiperplano.errors import InvalidTarget, NotSeparable
from hiperplano.messages import Message
from hiperplano.models.base import LinearClassifier, all_or_nothing, publish
from hiperplano.solvers.separation.certificates import Overlapping, QuasiSeparable
from hiperplano.solvers.separation.hard_margin import MarginSolution, RowIsAmong, widest_margin
from hiperplano.solvers.separation.search import separate
from hiperplano.solvers.svm.crammer_singer import SignOfClass


class HardMarginSVC(LinearClassifier):
    """The plane between two classes with the widest margin: minimise ½‖coef‖² with y·(x·coef + intercept) ≥ 1.

    It is the limit of `LinearSVC` for C → ∞ on separable classes. On others there is no such plane, and `fit` raises
    `NotSeparable`, which carries the proof.

    Parameters
    ----------
    fit_intercept : bool, default=True
        False looks for planes through the origin only.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=1000
        Most passes over the rows.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Intercepts; 0 if `fit_intercept` is False.
    classes_ : ndarray of shape (2,)
        Labels of the classes, sorted.
    margin_ : float
        Distance of the closest rows from the plane, 1/‖coef‖.
    support_ : ndarray of int
        The rows that hold the plane: those with a multiplier.
    support_vectors_ : ndarray or CSR array of shape (support vectors, d)
        The rows on the margin.
    dual_coef_ : ndarray of shape (1, support vectors)
        y times their multipliers: coef_ = dual_coef_ @ support_vectors_.
    solution_ : MarginSolution
        How the fit ended.
    n_iter_ : int
        Passes over the rows.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import HardMarginSVC
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [4.0, 4.0]])
    >>> model = HardMarginSVC().fit(X, ["no", "no", "yes", "yes"])
    >>> round(model.margin_, 4), model.support_.tolist()
    (1.118, [1, 2])
    """

    margin_: float
    support_: Array
    support_vectors_: Any
    dual_coef_: Array

    def __init__(self, *, fit_intercept: bool = True, tol: float = 1e-8, max_iter: int = 1000) -> None:
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the plane.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            A design brings its target along.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        fit_intercept = flag(self, "fit_intercept")
        control: dict[str, Any] = {
            "tol": number(self, "tol", low=0.0, open_low=True),
            "max_iter": whole(self, "max_iter", low=1),
        }
        design = validate(self, X, y, numeric_target=False)
        classes, codes = encode_labels(design)
        if len(classes) > 2:
            raise InvalidTarget(
                "Only binary classification is supported: y holds {n_classes} classes, and HardMarginSVC separates "
                "two. Use sklearn.multiclass.OneVsRestClassifier around it, or LinearSVC.",
                n_classes=len(classes),
            )
        design = design.with_vectors(code=codes)
        design = design.with_vectors(y=design.map(SignOfClass(1)))
        solution = widest_margin(design, fit_intercept=fit_intercept, **control)
        if solution.touching:
            _refuse(design, classes, fit_intercept)
        self.classes_ = classes
        publish(self, solution, design.dtype, one_target=False)
        self._publish_support(design, solution)
        return self

    def _publish_support(self, design: Design, solution: MarginSolution) -> None:
        self.margin_ = float(1.0 / np.linalg.norm(solution.coef))
        self.support_ = solution.rows
        design = design.with_vectors(row=design.row_numbers())
        support = design.gather(design.map(RowIsAmong(solution.rows)))
        self.support_vectors_ = support.as_held()
        self.dual_coef_ = (support.collect(support.vector("y"))[:, 0] * solution.multipliers)[None]


def _refuse(design: Design, classes: Array, fit_intercept: bool) -> None:
    proof = separate(design, fit_intercept)
    one, other = classes.tolist()
    where = "" if fit_intercept else Message(" through the origin")
    if not isinstance(proof, Overlapping | QuasiSeparable):
        raise InvalidTarget(
            "{proof} That is as near as rounding: the widest margin between {one!r} and {other!r} cannot be "
            "determined. Use LinearSVC with a large C.",
            proof=str(proof),
            one=one,
            other=other,
        )
    raise NotSeparable(
        Message(
            "No plane{where} has all rows of {one!r} and {other!r} on different sides: weights on {n} "
            "rows give both classes the same weighted sum (see `certificate` of this error). Use LinearSVC, which "
            "allows for rows on the wrong side.",
            where=where,
            one=one,
            other=other,
            n=len(proof.rows),
        ),
        replace(proof, classes=(one, other)),
    )
