"""Least-squares classifiers: each class is a target of −1 and +1, or of 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.labels import encode_labels, label_weight, labels_without_weight
from hiperplano.data.parameters import FLAG, SEED, accept, flag, number, one_of_ours, whole
from hiperplano.errors import InvalidTarget
from hiperplano.models.base import LinearClassifier, all_or_nothing, publish
from hiperplano.models.least_squares import SCIKIT_LEARN_SOLVERS, alphas_of_targets
from hiperplano.solvers.least_squares.choice import SOLVERS, solve_least_squares, suited_solver


class LeastSquaresClassifier(LinearClassifier):
    """Least squares on 1-of-K coded classes; the class with the largest score is predicted.

    A fast baseline, and a starting point for better classifiers. Its scores are not probabilities, and points
    far on the correct side of the plane influence it as much as points on the wrong side.

    Parameters
    ----------
    alpha : float, default=0.0
        Strength of the penalty alpha·‖coef‖², as in `Ridge`.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total, sample weights included.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (classes, d)
        For two classes, of the difference between the second's score and the first's.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts; 0 if `fit_intercept` is False.
    classes_ : ndarray
        Labels of the classes, sorted.
    solution_, n_iter_, n_features_in_, feature_names_in_
        As in `LinearRegression`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import LeastSquaresClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LeastSquaresClassifier().fit(X, y).score(X, y), 2)
    0.85
    """

    def __init__(self, alpha: float = 0.0, *, fit_intercept: bool = True, class_weight: Any = None) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the scores of the classes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,)
            Labels of any kind; not with a design, which brings its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = validate(self, X, y, sample_weight, numeric_target=False)
        self.classes_, design = coded_classes(self, design, labels_without_weight(X, y, sample_weight), _OneOfK)
        solution = solve_least_squares(
            design,
            alpha=np.full(design.n_targets, number(self, "alpha", low=0.0)),
            fit_intercept=flag(self, "fit_intercept"),
        )
        publish(self, solution, design.dtype, one_target=False)
        return self


class RidgeClassifier(LinearClassifier):
    """Ridge regression on classes coded as −1 and +1; the class with the largest score is predicted.

    Minimises Σᵢ wᵢ·(tᵢ − xᵢ·coef − intercept)² + alpha·‖coef‖² for every class, t being 1 for its rows and −1 for
    others; for two classes only for the second. Scores are not probabilities.

    Parameters
    ----------
    alpha : float or array-like of shape (targets,), default=1.0
        Strength of the penalty, 0 or more.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    copy_X : bool, default=True
        No effect: X is never written to.
    max_iter, tol, solver, positive
        As in `Ridge`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total, sample weights included.
    random_state : int, RandomState or None, default=None
        No effect: fits are deterministic.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (classes, d)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts; 0 if `fit_intercept` is False.
    classes_ : ndarray
        Labels of the classes, sorted; numbers of the columns, if y has several.
    solution_, solver_, n_iter_, n_features_in_, feature_names_in_
        As in `Ridge`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import RidgeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(RidgeClassifier().fit(X, y).score(X, y), 2)
    0.96
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-10,
        class_weight: Any = None,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the scores of the classes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,), or of 0 and 1 of shape (n, labels)
            Labels of any kind, or which of several labels a row has.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        accept(self, copy_X=FLAG, random_state=SEED)
        solver = one_of_ours(self, "solver", SOLVERS, SCIKIT_LEARN_SOLVERS)
        self.classes_, design = signed_classes(self, X, y, sample_weight)
        alphas = alphas_of_targets(self, design.n_targets)
        solution = solve_least_squares(
            design,
            alpha=alphas,
            fit_intercept=flag(self, "fit_intercept"),
            positive=flag(self, "positive"),
            solver=solver,
            tol=number(self, "tol", low=0.0),
            max_iter=whole(self, "max_iter", low=1, optional=True),
        )
        publish(self, solution, design.dtype, one_target=False)
        self.solver_ = suited_solver(design, solver, alphas, self.fit_intercept, self.positive)
        self.n_iter_ = np.full(design.n_targets, solution.n_iter)
        return self

    @by_rows
    def predict(self, X: Any) -> Array:
        """The class with the largest score; for several labels, those with a positive score.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,) or (n, labels)
            The predicted labels.
        """
        check_is_fitted(self)
        return super().predict(X) if not self._several_labels_ else (self._scores(X) > 0).astype(int)


def signed_classes(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Design]:
    """The classes, and rows with a target of −1 and +1 for each class; for two classes only for the second."""
    model._several_labels_ = X.n_targets > 1 if isinstance(X, Design) else _has_several_columns(y)
    if not model._several_labels_:
        design = validate(model, X, y, sample_weight, numeric_target=False)
        return coded_classes(model, design, labels_without_weight(X, y, sample_weight), _SignOfK)
    design = validate(model, X, y, sample_weight)
    if design.fold(_OtherNumbers())[0].all():
        raise InvalidTarget(
            "{model}: y has {n} columns with other numbers than 0 and 1, or −1 and 1; several columns say which of "
            "several labels a row has. Use Ridge for numbers, or one column of classes.",
            model=type(model).__name__,
            n=design.n_targets,
        )
    return np.arange(design.n_targets), design.with_vectors(y=design.map(_Signs()))


def _has_several_columns(y: Any) -> bool:
    try:
        shape = np.asarray(y).shape
    except ValueError:  # rows of unequal length, rejected with the other targets
        return False
    return len(shape) == 2 and shape[1] > 1


def coded_classes(model: Any, design: Design, others: Array | None, code: Any) -> tuple[Array, Design]:
    """The classes, and the rows of nonzero weight with numeric targets, by a code such as `_OneOfK`."""
    classes, codes = encode_labels(design, others)
    coded = design.with_vectors(code=codes).map(code(len(classes)))
    weight = label_weight(design, model.class_weight, classes)
    return classes, design.with_vectors(y=coded, weight=weight).weighted_rows()


@dataclass(frozen=True)
class _OneOfK:
    """1 in the column of a row's class and 0 in others; for two classes one column of ∓1."""

    reads_rows = False
    n_classes: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        code = block.vectors["code"]
        if self.n_classes == 2:
            return xp.where(code == 1, 1.0, -1.0)[:, None]
        return xp.eye(self.n_classes)[code]


class _SignOfK(_OneOfK):
    """The same with −1 instead of 0."""

    def __call__(self, block: Block) -> Array:
        found = super().__call__(block)
        return found if self.n_classes == 2 else 2.0 * found - 1.0


@dataclass(frozen=True)
class _OtherNumbers:
    """Number of targets that are neither 0 nor 1, and number that are neither −1 nor 1."""

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        other = [xp.sum((block.y != low) & (block.y != 1)) for low in (0, -1)]
        return (xp.asarray(other, dtype=xp.float64),)


@dataclass(frozen=True)
class _Signs:
    """−1 and +1 for absent and present labels of a row."""

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.where(block.y > 0, 1.0, -1.0)
