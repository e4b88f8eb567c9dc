"""Logistic and softmax regression."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.labels import class_totals, encode_labels, label_weight
from hiperplano.data.parameters import flag, number, one_of, whole
from hiperplano.errors import InvalidParameter, InvalidTarget, NotAvailable, SeparationWarning
from hiperplano.messages import Message
from hiperplano.models.base import LinearClassifier, all_or_nothing, publish, users_level, warn_of_the_end
from hiperplano.solvers.likelihood.firth import fit_firth
from hiperplano.solvers.likelihood.fit import SOLVERS, fit_likelihood
from hiperplano.solvers.likelihood.likelihood import Likelihood, with_class_targets
from hiperplano.solvers.likelihood.solution import LogisticSolution, separation_remedy
from hiperplano.solvers.separation.certificates import QuasiSeparable, Separable
from hiperplano.solvers.separation.search import separate
from hiperplano.solvers.separation.unbounded_columns import unbounded_columns
from hiperplano.solvers.statistics import NonFiniteRows
from hiperplano.stats.logistic.odds import OddsSummary
from hiperplano.stats.logistic.summary import summarise
from hiperplano.stats.summary import coefficient_names

_PROGRAM_CELLS = 10**6
_LARGE = 2**20  # numbers: from here on NaN is not looked for in a pass of its own


def class_chances(scores: Array) -> Array:
    """Probabilities of the classes, from log-odds."""
    return np.stack([expit(-scores), expit(scores)], axis=1) if scores.ndim == 1 else softmax(scores, axis=1)


class LogisticClassifier(LinearClassifier):
    """What logistic models share: probabilities, and the table of coefficients."""

    fit_intercept: bool

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of shape (n, classes).

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Probabilities, in the order of `classes_`.
        """
        return class_chances(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities, accurate even where these underflow.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Logarithms of probabilities, in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
        return np.asarray(log_softmax(scores, axis=1))

    def summary(self, level: float = 0.95) -> OddsSummary:
        """Coefficients with their standard errors, odds ratios, and how good the fit is.

        Parameters
        ----------
        level : float, default=0.95
            Of the confidence intervals.

        Returns
        -------
        OddsSummary
            For more than two classes, one block for each class but the first, compared with that one.
        """
        check_is_fitted(self)
        if not hasattr(self, "solution_"):
            raise NotAvailable(
                "the coefficients were read from a document, not fitted: they have no standard errors. Fit the model, "
                "or load one that save wrote."
            )
        return summarise(self, level)


class LogisticRegression(LogisticClassifier):
    """Logistic regression, and softmax regression for more than two classes.

    Minimises C·Σᵢ wᵢ·loss(yᵢ, xᵢ·coef + intercept) + ½·‖coef‖²; the intercept is never penalised. In the notation
    of a mean loss with strength λ, C = 1/(λ·n).

    Columns are standardised internally, so their units and offsets do not slow the fit. The method is chosen by the
    shape of the data, and `solution_` says which it was and how it ended.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, above 0; `np.inf` for plain maximum likelihood.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total.
    firth : bool, default=False
        Firth's bias-reduced likelihood, for two classes: finite also for separated classes, and less biased in
        small samples. Its penalty, ½·log det of the information, takes the place of C's, and Newton is its solver.
    solver : {"auto", "newton", "lbfgs", "gradient"}, default="auto"
        "newton" uses full Hessians, "lbfgs" starts from the solution of a sample and is preconditioned by its Hessian,
        "gradient" takes plain gradient steps with a dynamic rate, for teaching. "auto" takes one of the first two.
    tol : float, default=1e-8
        Largest entry of the gradient of the mean loss (standardised columns) at which to stop.
    max_iter : int, default=1000
        Most steps.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (classes, d)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts; 0 if `fit_intercept` is False.
    classes_ : ndarray
        Labels of the classes, sorted.
    solution_ : LogisticSolution
        How the fit ended: `status`, `method`, `passes`, `gradient_norm`, `converged`.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        If the rows came with names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)  # columns need no scaling
    >>> model.solution_.converged
    True
    >>> round(model.score(X, y), 3)
    0.958
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        class_weight: Any = None,
        firth: bool = False,
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.firth = firth
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.firth
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design brings its targets and weights along.
        y : array-like of shape (n,)
            Labels of any kind.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        with one_blas_thread():  # once for all passes
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        control = self._control()
        C = number(self, "C", low=0.0, open_low=True, infinite=True)
        design = validate(self, X, y, sample_weight, numeric_target=False, finite=False)
        large = design.n_rows * design.n_columns > _LARGE and not self.firth
        if not large:
            refuse_out_of_range(design)
        classes, coded = code_classes(design, self.class_weight)
        if flag(self, "firth"):
            if len(classes) > 2:
                raise InvalidParameter(
                    "LogisticRegression: firth=True with {n_classes} classes. Only binary classification is "
                    "supported by Firth's likelihood; the type of the target is multiclass. Set firth=False, or "
                    "compare two classes at a time.",
                    n_classes=len(classes),
                )
            if control.pop("solver") not in ("auto", "newton"):
                raise InvalidParameter(
                    "LogisticRegression: firth=True with solver={solver!r}. Firth's likelihood is maximised by "
                    "Newton's method. Set solver='auto'.",
                    solver=self.solver,
                )
            solution: Any = fit_firth(coded, start=self._start(classes), **control)
        else:
            control["n_scores"] = 1 if len(classes) == 2 else len(classes)
            control["strength"] = 1.0 / (C * coded.total_weight)
            control["start"] = self._start(classes)
            try:
                solution = fit_likelihood(coded, check_finite=large, **control)
            except NonFiniteRows:
                refuse_out_of_range(design)
                solution = fit_likelihood(coded, **control)  # only sums of finite numbers were not
        self.classes_ = classes
        no_end = solution.unbounded or (solution.strength == 0 and not solution.converged and not self.firth)
        publish(self, solution, design.dtype, one_target=False, warn=not no_end)
        if no_end:
            warn_of_separation(self, coded, solution)
        return self

    def _control(self) -> dict[str, Any]:
        return {
            "fit_intercept": flag(self, "fit_intercept"),
            "solver": one_of(self, "solver", SOLVERS),
            "tol": number(self, "tol", low=0.0, open_low=True),
            "max_iter": whole(self, "max_iter", low=1),
        }

    def _start(self, classes: Array) -> tuple[Array, Array] | None:
        """The last fit's coefficients, if wanted and of the same shape."""
        if not flag(self, "warm_start") or not hasattr(self, "coef_"):
            return None
        same = np.array_equal(classes, self.classes_) and self.coef_.shape[1] == self.n_features_in_
        return (self.coef_.astype(np.float64), self.intercept_.astype(np.float64)) if same else None


def code_classes(design: Design, class_weight: Any) -> tuple[Array, Design]:
    """The classes, and the rows that count with targets as the likelihood takes them.

    Parameters
    ----------
    design : Design
        With labels of any kind for its target.

    Returns
    -------
    classes : ndarray
    coded : Design
        Its target is −1 and +1 for two classes, otherwise the numbers of the classes; every weight is above 0.
    """
    classes, codes = encode_labels(design)
    weight = label_weight(design, class_weight)
    if class_weight is not None:
        totals = class_totals(design.with_vectors(weight=weight), codes, len(classes))
        if not totals.all():
            empty = classes.tolist()[int(np.flatnonzero(totals == 0)[0])]
            raise InvalidTarget(
                "all rows of class {empty!r} have weight 0; every class needs a row that counts. Give some of its "
                "rows a positive weight, or leave the class out.",
                empty=empty,
            )
    return classes, with_class_targets(design, codes, len(classes), weight)


def warn_of_separation(model: Any, design: Design, solution: LogisticSolution) -> None:
    """Name the columns that separate the classes, if they do; a fit that merely stopped early is not that.

    Parameters
    ----------
    design : Design
        As `code_classes` gives it.
    """
    problem = Likelihood(design, solution.scale, len(solution.coef), 0.0)
    found = unbounded_columns(problem, solution.parameters)
    if found is None and len(model.classes_) == 2 and design.n_rows * design.n_columns <= _PROGRAM_CELLS:
        found = _by_program(design, model.fit_intercept)
    if found is None:
        warn_of_the_end(model, solution)
        return
    columns, complete = found
    names = coefficient_names(model, False)
    listed = ", ".join(repr(names[j]) for j in columns[:6])
    message = Message(
        "{model}: the classes are {kind} by {columns}, so the likelihood has no maximum and coefficients would grow "
        "without bound; they were stopped. {remedy}",
        model=type(model).__name__,
        kind=Message("separated") if complete else Message("separated in part (quasi-completely)"),
        columns=listed if len(columns) <= 6 else Message("{names} and others", names=listed),
        remedy=separation_remedy(len(solution.coef)),
    )
    warnings.warn(message, SeparationWarning, stacklevel=users_level())


def _by_program(design: Design, fit_intercept: bool) -> tuple[Array, bool] | None:
    """The separating columns of a table small enough to ask about all its rows, and whether all are separated."""
    try:
        certificate = separate(design, fit_intercept)
    except NotAvailable:  # too close to tell
        return None
    if isinstance(certificate, Separable | QuasiSeparable):
        return np.array(certificate.columns), isinstance(certificate, Separable)
    return None
