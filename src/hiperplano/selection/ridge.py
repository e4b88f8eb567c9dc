"""Ridge regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.parameters import flag
from hiperplano.data.validate import target_names
from hiperplano.messages import Message
from hiperplano.models.base import LinearClassifier, all_or_nothing, publish
from hiperplano.models.least_squares import LeastSquares
from hiperplano.models.least_squares_classifier import signed_classes
from hiperplano.selection.ridge_search import Choice, ClassPenaltySearch, PenaltySearch
from hiperplano.selection.routing import route, routing_of
from hiperplano.selection.splits import targets_given
from hiperplano.solvers.least_squares.choice import solve_least_squares
from hiperplano.solvers.statistics import NonFiniteRows, count_rows


class RidgeCV(PenaltySearch, LeastSquares):
    """Ridge regression with the penalty chosen from `alphas`, at about the cost of one fit.

    Without `cv`, every row is predicted from all others, exactly: residuals and leverages for all penalties follow from
    one factorisation. With folds, sums over each fold are computed in one pass and shared.

    Parameters
    ----------
    alphas : array-like of float, default=(0.1, 1.0, 10.0)
        Penalties to try, each 0 or more.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    scoring : str or callable, optional
        Any of scikit-learn's scorers, larger is better. By default the negative mean squared error of
        leave-one-out, or the mean of the folds' R².
    cv : int, splitter or iterable of (train, test), optional
        Leave-one-out if None.
    gcv_mode : {None, "auto", "svd", "eigen"}, default=None
        No effect: the factorisation for leave-one-out is chosen by the shape of the rows.
    store_cv_results : bool, default=False
        Keep leave-one-out's squared errors (or, with `scoring`, predictions) in `cv_results_`.
    alpha_per_target : bool, default=False
        Choose a penalty for each target separately; leave-one-out only.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (targets,)
        The penalty with the best score.
    best_score_ : float or ndarray of shape (targets,)
        Its score.
    scores_ : ndarray of shape (alphas,) or (alphas, targets)
        The score of every penalty.
    cv_results_ : ndarray of shape (n, alphas) or (n, targets, alphas)
        Squared errors, times the rows' weights, or predictions of leave-one-out, if `store_cv_results`.
    coef_, intercept_, rank_, solver_, solution_, n_iter_, n_features_in_, feature_names_in_
        As in `Ridge`, for the fit to all rows with the chosen penalty.

    Notes
    -----
    Sample weights count in scores as in fits: a test row of weight 2 is two test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> RidgeCV(alphas=[0.1, 1, 10, 100]).fit(X, y).alpha_
    10.0
    """

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.
        params : dict
            `groups` of the rows, for splitters that take them; with scikit-learn's metadata routing, whatever the
            splitter and the scorer asked for.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return self._fit(X, y, sample_weight, params)

    @all_or_nothing
    def _fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        flag(self, "fit_intercept")
        design = validate(self, X, y, sample_weight, finite=False)
        if not self._sums_first(design):
            refuse_out_of_range(design)
        self._target_names_ = target_names(y)
        targets = targets_given(X, y)
        try:
            choice = self._choose(design, count_rows(X), targets, route(self, sample_weight, params))
        except NonFiniteRows:
            refuse_out_of_range(design)
            raise
        self._fit_design(design, choice.chosen, choice.sums)
        self._flatten(design)
        self.solution_ = replace(self.solution_, remarks=self.solution_.remarks + at_the_border(choice))
        return self

    def get_metadata_routing(self) -> Any:
        """What is passed on to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            Scikit-learn's.
        """
        return routing_of(self)


class RidgeClassifierCV(ClassPenaltySearch, LinearClassifier):
    """`RidgeClassifier` with the penalty chosen from `alphas`, at about the cost of one fit.

    Parameters
    ----------
    alphas : array-like of float, default=(0.1, 1.0, 10.0)
        Penalties to try, each 0 or more.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    scoring : str or callable, optional
        Any of scikit-learn's scorers, larger is better. By default the negative mean squared error of leave-one-out on
        targets of −1 and +1, or the mean of the folds' accuracies.
    cv : int, splitter or iterable of (train, test), optional
        Leave-one-out if None.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total, sample weights included.
    store_cv_results : bool, default=False
        Keep leave-one-out's squared errors (or, with `scoring`, predictions) in `cv_results_`.

    Attributes
    ----------
    alpha_, best_score_, scores_, cv_results_
        As in `RidgeCV`.
    coef_, intercept_, classes_, solution_, n_iter_, n_features_in_, feature_names_in_
        As in `RidgeClassifier`, for the fit to all rows with the chosen penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import RidgeClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> RidgeClassifierCV(alphas=[0.1, 1, 10, 100]).fit(X, y).alpha_
    0.1
    """

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        class_weight: Any = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,), or of 0 and 1 of shape (n, labels)
            Labels of any kind, or which of several labels a row has.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.
        params : dict
            `groups` of the rows, for splitters that take them; with scikit-learn's metadata routing, whatever the
            splitter and the scorer asked for.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return self._fit(X, y, sample_weight, params)

    @all_or_nothing
    def _fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        fit_intercept = flag(self, "fit_intercept")
        self.classes_, design = signed_classes(self, X, y, sample_weight)
        targets = targets_given(X, y)
        choice = self._choose(design, count_rows(X), targets, route(self, sample_weight, params))
        solution = solve_least_squares(design, alpha=choice.chosen, fit_intercept=fit_intercept, sums=choice.sums)
        solution = replace(solution, remarks=solution.remarks + at_the_border(choice))
        publish(self, solution, design.dtype, one_target=False)
        return self

    @by_rows
    def predict(self, X: Any) -> Array:
        """The class with the largest score; for several labels, those whose score is positive.

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

    def get_metadata_routing(self) -> Any:
        """What is passed on to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            Scikit-learn's.
        """
        return routing_of(self)


def at_the_border(choice: Choice) -> str:
    """Sentence for the status if a penalty outside the given range may be better."""
    alphas, chosen, _ = choice
    smallest, largest = float(alphas.min()), float(alphas.max())
    low, high = smallest in chosen and smallest > 0, largest in chosen and largest > 0  # there is no penalty below 0
    if smallest == largest or not (low or high):
        return ""
    if low and high:
        return Message(
            " The best penalty, {smallest:g} and {largest:g}, is the smallest and largest of those tried: try others "
            "beyond it.",
            smallest=smallest,
            largest=largest,
        )
    if low:
        return Message(
            " The best penalty, {alpha:g}, is the smallest of those tried: try others beyond it.", alpha=smallest
        )
    return Message(" The best penalty, {alpha:g}, is the largest of those tried: try others beyond it.", alpha=largest)
