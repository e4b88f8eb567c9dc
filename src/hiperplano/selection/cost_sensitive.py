"""A classifier that decides by expected cost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from hiperplano.data.design import Array
from hiperplano.data.parameters import one_of
from hiperplano.data.validate import check_weight
from hiperplano.decision.costs import bayes_decision, best_cutoff
from hiperplano.decision.votes import binary_scores
from hiperplano.errors import InvalidParameter, InvalidTarget, NotAvailable
from hiperplano.metrics.costs import check_costs, class_numbers, constant_costs, realised_costs
from hiperplano.models.discriminant import LinearDiscriminantAnalysis
from hiperplano.selection.splits import no_folds


def _estimator_has(method: str) -> Any:
    def check(self: Any) -> bool:
        # The AttributeError of the estimator says what is missing.
        getattr(getattr(self, "estimator_", self._inner()), method)
        return True

    return check


class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Wrap any classifier to decide for the least expected cost: argmin_j Σ_k p(k | x)·C[j, k].

    Parameters
    ----------
    estimator : classifier, optional
        `LinearDiscriminantAnalysis` by default. `threshold="bayes"` needs `predict_proba`; for "tuned",
        `decision_function` is enough.
    costs : array-like of shape (decisions, classes), optional
        costs[j, k] is the cost of deciding class j where class k is true, classes in sorted order; an additional row
        holds the costs of not deciding. By default every mistake costs one.
    threshold : {"bayes", "tuned"}, default="bayes"
        "bayes" trusts the probabilities and minimises the expected cost of every row. "tuned", for two classes, uses
        the cut-off with the least cost on out-of-fold scores, which does not rely on calibrated probabilities.
    cv : int, splitter or iterable, optional
        Folds for "tuned"; five stratified folds by default.
    reject_label : label, default=-1
        Output of `predict` if not deciding costs least.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, fitted on all rows.
    classes_ : ndarray of shape (classes,)
        Labels of the classes, sorted.
    costs_ : ndarray of shape (decisions, classes)
        The costs used by `predict` if it is given none: `costs`, or the mean costs over the rows of each true class.
    cutoff_ : float
        If tuned: scores above it are decided for the second class.
    cutoff_cost_ : float
        If tuned: the mean cost per row on out-of-fold scores.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    Notes
    -----
    Costs that differ from row to row have shape (n, decisions, classes) and are passed to `fit`, `predict` and
    `score`; through scikit-learn's tools by metadata routing, after `set_fit_request(costs=True)` and
    `set_score_request(costs=True)`. `hiperplano.metrics.binary_costs` builds them.

    Examples
    --------
    A default costs the amount lent, a refused good client a tenth of it.

    >>> import numpy as np
    >>> from hiperplano import CostSensitiveClassifier, LinearDiscriminantAnalysis, binary_costs, savings_score
    >>> rng = np.random.default_rng(0)
    >>> amount = rng.uniform(1, 20, 500)
    >>> y = (rng.random(500) < 0.2).astype(int)
    >>> X = rng.normal(size=(500, 3)) + y[:, None]
    >>> costs = binary_costs(false_negative=amount, false_positive=amount / 10)
    >>> plain = LinearDiscriminantAnalysis()
    >>> model = CostSensitiveClassifier(plain).fit(X, y, costs=costs)
    >>> round(savings_score(y, plain.fit(X, y).predict(X), costs), 2)
    -0.22
    >>> round(savings_score(y, model.predict(X, costs=costs), costs), 2)
    0.54
    """

    estimator_: Any
    classes_: Array
    costs_: Array

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: Any = None,
        threshold: str = "bayes",
        cv: Any = None,
        reject_label: Any = -1,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.threshold = threshold
        self.cv = cv
        self.reject_label = reject_label

    def _inner(self) -> Any:
        return LinearDiscriminantAnalysis() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class and self.threshold != "tuned"
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Weights and costs for this object, weights and all else for the estimator.

        Returns
        -------
        MetadataRouter
            Scikit-learn's routing object.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self._inner(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None, **params: Any) -> Self:
        """Fit the estimator, and choose the cut-off.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows, as the estimator takes them.
        y : array-like of shape (n,)
            Labels of any kind.
        sample_weight : array-like of shape (n,), optional
            For the estimator and for the costs of a tuned cut-off.
        costs : array-like of shape (decisions, classes) or (n, decisions, classes), optional
            Instead of the parameter `costs`.
        params : dict
            Further arguments by name, for the estimator's `fit` by metadata routing.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        tuned = one_of(self, "threshold", ("bayes", "tuned")) == "tuned"
        inner = self._routed(sample_weight, costs, params)
        if not (issparse(y) or isinstance(y, np.matrix)) and np.asarray(y).shape[1:] == (1,):
            y = column_or_1d(y, warn=True)  # once, since splitters do not accept a column vector
        fitted = clone(self._inner()).fit(X, y, **inner)
        classes = np.asarray(fitted.classes_)
        codes = class_numbers(np.asarray(y).ravel(), classes)
        matrix = check_costs(self.costs if costs is None else costs, len(classes), len(codes))
        weight = check_weight(sample_weight, len(codes))
        self._check_decisions(matrix, classes, tuned, fitted)
        cutoff = self._tuned(X, classes[codes], codes, matrix, weight, inner) if tuned else None
        self.estimator_, self.classes_ = fitted, classes
        self.costs_ = matrix if matrix.ndim == 2 else _mean_costs(codes, matrix, weight, len(classes))
        for name in ("cutoff_", "cutoff_cost_"):
            self.__dict__.pop(name, None)
        if cutoff is not None:
            self.cutoff_, self.cutoff_cost_ = cutoff
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _routed(self, sample_weight: Any, costs: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Arguments for the estimator's `fit`."""
        if get_config()["enable_metadata_routing"]:
            given = {"sample_weight": sample_weight, "costs": costs} | params
            routed = process_routing(self, "fit", **{name: value for name, value in given.items() if value is not None})
            return dict(routed["estimator"]["fit"])
        if params:
            raise InvalidParameter(
                "CostSensitiveClassifier: fit got {names}; further arguments need metadata routing. Call "
                "sklearn.set_config(enable_metadata_routing=True) and request them on the estimator.",
                names=", ".join(sorted(params)),
            )
        if sample_weight is None:
            return {}
        if not has_fit_parameter(self._inner(), "sample_weight"):
            raise InvalidParameter(
                "CostSensitiveClassifier: {name} takes no sample_weight, so weights would count for the costs "
                "only. Leave them out, or choose another estimator.",
                name=type(self._inner()).__name__,
            )
        return {"sample_weight": sample_weight}

    def _check_decisions(self, costs: Array, classes: Array, tuned: bool, fitted: Any) -> None:
        extra = costs.shape[-2] - len(classes)
        if extra > 1:
            raise InvalidParameter(
                "CostSensitiveClassifier: costs has {extra} rows more than the {n_classes} classes; predict knows "
                "one label for not deciding. Use bayes_decision for more decisions.",
                extra=extra,
                n_classes=len(classes),
            )
        if extra and (classes == self.reject_label).any():
            raise InvalidParameter(
                "CostSensitiveClassifier: reject_label={reject_label!r} is a class; rows that are not decided need "
                "a label of their own. Set another reject_label.",
                reject_label=self.reject_label,
            )
        if tuned and (len(classes) != 2 or extra):
            raise InvalidParameter(
                "CostSensitiveClassifier: threshold='tuned' with {n_classes} classes and {n_decisions} decisions; "
                "one cut-off separates two. Only binary classification is supported then: set threshold='bayes'.",
                n_classes=len(classes),
                n_decisions=len(classes) + extra,
            )
        if not tuned and not hasattr(fitted, "predict_proba"):
            raise NotAvailable(
                "CostSensitiveClassifier: {fitted} has no predict_proba, which Bayes' rule needs. Set "
                "threshold='tuned', or wrap it in sklearn.calibration.CalibratedClassifierCV.",
                fitted=type(fitted).__name__,
            )

    def _tuned(
        self, X: Any, y: Any, codes: Array, costs: Array, weight: Array | None, inner: dict[str, Any]
    ) -> tuple[float, float]:
        """The cut-off with the least cost on out-of-fold scores, and the mean cost."""
        estimator = self._inner()
        scored = hasattr(estimator, "decision_function")
        method = "decision_function" if scored else "predict_proba"
        try:
            splits = list(check_cv(self.cv, codes, classifier=True).split(X, codes))
        except (ValueError, TypeError) as problem:
            raise no_folds("CostSensitiveClassifier", self.cv, len(codes), problem) from problem
        scores = cross_val_predict(estimator, X, y, cv=splits, method=method, params=inner or None)
        scores = scores if scored else scores[:, 1] - 0.5
        by_decision = constant_costs(codes, costs)
        if weight is not None:
            by_decision = by_decision * weight[:, None]
        cutoff, cost = best_cutoff(scores, by_decision[:, 0], by_decision[:, 1])
        return cutoff, cost / (len(codes) if weight is None else float(weight.sum()))

    def predict(self, X: Any, costs: Any = None) -> Array:
        """The class of least expected cost, or `reject_label`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to decide.
        costs : array-like of shape (n, decisions, classes), optional
            Costs of these rows; `costs_` by default.

        Returns
        -------
        ndarray of shape (n,)
            Labels of the decided classes.
        """
        check_is_fitted(self)
        return self._labels()[self._decisions(X, costs)]

    def _labels(self) -> Array:
        if len(self.costs_) == len(self.classes_):
            return self.classes_
        reject = np.asarray([self.reject_label])
        same_kind = np.result_type(self.classes_, reject).kind == self.classes_.dtype.kind == reject.dtype.kind
        kind = np.result_type(self.classes_, reject) if same_kind else object
        return np.concatenate([self.classes_.astype(kind), reject.astype(kind)])

    def _decisions(self, X: Any, costs: Any) -> Array:
        if self.threshold == "tuned":
            if costs is not None:
                raise InvalidParameter(
                    "CostSensitiveClassifier: costs passed to predict with threshold='tuned'; the cut-off is the "
                    "same for all rows. Leave them out, or set threshold='bayes'."
                )
            return (binary_scores(self.estimator_, X) > self.cutoff_).astype(np.intp)
        chosen = self.costs_ if costs is None else costs
        if np.shape(chosen)[-2:] != self.costs_.shape:
            raise InvalidParameter(
                "CostSensitiveClassifier: costs has shape {found}; the fit knew {shape} decisions and classes. "
                "Pass costs of the same decisions.",
                found=np.shape(chosen),
                shape=self.costs_.shape,
            )
        return bayes_decision(self.estimator_.predict_proba(X), chosen)

    def score(self, X: Any, y: Any, sample_weight: Any = None, costs: Any = None) -> float:
        """−(mean cost of the decisions): larger is better.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to decide.
        y : array-like of shape (n,)
            Their true classes.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, 0 or more; rows of equal weight by default.
        costs : array-like of shape (decisions, classes) or (n, decisions, classes), optional
            Costs by which decisions are made (unless tuned) and evaluated; `costs_` by default.

        Returns
        -------
        float
            0 for decisions without cost, negative otherwise.
        """
        check_is_fitted(self)
        codes = class_numbers(np.asarray(y).ravel(), self.classes_)
        decided = self._decisions(X, None if self.threshold == "tuned" else costs)
        matrix = check_costs(self.costs_ if costs is None else costs, len(self.classes_), len(codes))
        weight = check_weight(sample_weight, len(codes))
        return -float(np.average(realised_costs(codes, decided, matrix), weights=weight))

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, as the estimator gives them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities, as the estimator gives them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Logarithms of probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_log_proba(X))

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores, as the estimator gives them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            Scores of the rows.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))


def _mean_costs(codes: Array, costs: Array, weight: Array | None, n_classes: int) -> Array:
    """For each true class, the mean costs of the decisions over its rows."""
    share = np.ones(len(codes)) if weight is None else weight
    own = constant_costs(codes, costs)
    totals = np.bincount(codes, weights=share, minlength=n_classes)
    if not totals.all():
        raise InvalidTarget("CostSensitiveClassifier: a class has weight 0, so its costs have no mean. Leave it out.")
    sums = np.stack([np.bincount(codes, weights=share * column, minlength=n_classes) for column in own.T])
    return np.asarray(sums / totals)
