"""Logistic and softmax regression."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from hiperplano.data import Design, validate
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.labels import labels_without_weight
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.parameters import (
    flag,
    number,
    one_of_ours,
    whole,
)
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable, SeparationWarning
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing, publish, users_level, warn_of_the_end
from hiperplano.models.logistic_classifier import (
    SCIKIT_LEARN_SOLVERS,
    CallbackSupport,
    FitProgress,
    LogisticClassifier,
    accept_scikit_learns,
    code_classes,
    refuse_l1_share,
    with_callbacks,
)
from hiperplano.solvers.likelihood.firth import fit_firth
from hiperplano.solvers.likelihood.fit import SOLVERS, fit_likelihood
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.solution import LogisticSolution, separation_remedy
from hiperplano.solvers.separation.certificates import QuasiSeparable, Separable
from hiperplano.solvers.separation.search import program_work, separate
from hiperplano.solvers.separation.unbounded_columns import Growth, unbounded_columns
from hiperplano.solvers.statistics import NonFiniteRows
from hiperplano.stats.summary import coefficient_names

# Sizes up to which a linear program on all rows takes less time than a fit without end.
_PROGRAM_CELLS, _PROGRAM_WORK = 1e6, 5e6


class LogisticRegression(CallbackSupport, LogisticClassifier):
    """Logistic regression, and softmax regression for more than two classes.

    Minimises C·Σᵢ wᵢ·loss(yᵢ, xᵢ·coef + intercept) + ½·‖coef‖²; the intercept is never penalised. In the notation
    of a mean loss with strength λ, C = 1/(λ·n).

    Columns are standardised internally, so their units and offsets do not slow the fit. The method is chosen by the
    shape of the data, and `solution_` names it and says how it ended.

    Parameters
    ----------
    penalty : {"l2", None}, default="l2"
        None is the same as C=np.inf. Penalties with an L1 part are not available.
    C : float, default=1.0
        Inverse strength of the penalty, above 0; `np.inf` for plain maximum likelihood.
    l1_ratio : float or None, default=0.0
        Share of L1 in the penalty: 0 or None.
    dual : bool, default=False
        No effect; kept for compatibility with scikit-learn.
    tol : float, default=1e-8
        Largest entry of the gradient of the mean loss (standardised columns) at which to stop. With 1e-4, which takes
        about a quarter less time, coefficients have about five digits instead of nine.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    intercept_scaling : float, default=1
        No effect: the intercept is never penalised.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total.
    random_state : int, RandomState or None, default=None
        No effect: fits are deterministic.
    solver : {"auto", "newton", "lbfgs", "gradient"}, default="auto"
        "newton" uses full Hessians, "lbfgs" starts from the solution of a sample and is preconditioned by its Hessian,
        "gradient" makes plain gradient steps with a dynamic rate, for teaching. "auto" uses one of the first two.
        Scikit-learn's "newton-cholesky" means "newton", its "newton-cg", "liblinear", "sag" and "saga" mean "auto".
    max_iter : int, default=1000
        Most steps.
    verbose : int, default=0
        No effect: `solution_` says how the fit went.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    n_jobs : int or None, default=None
        No effect: the number of threads depends on the rows.
    firth : bool, default=False
        Firth's bias-reduced likelihood, for two classes: it is finite also for separated classes, and less biased in
        small samples. Its penalty, ½·log det of the information, replaces that of C, and its solver is always Newton.

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
    n_iter_ : ndarray of shape (1,)
        Number of iterations.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

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
        penalty: str | None = "l2",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-8,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 1000,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        firth: bool = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.firth = firth

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.firth
        return tags

    @all_or_nothing
    @with_callbacks  # type: ignore[untyped-decorator]  # of scikit-learn, which has no types
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
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
        if self.penalty is None:
            if C not in (1.0, np.inf):
                warnings.warn(
                    Message(
                        "LogisticRegression: C={C:g} with penalty=None. Setting penalty=None will ignore the C: leave "
                        "out one of the two.",
                        C=C,
                    ),
                    UserWarning,
                    stacklevel=users_level(),
                )
            C = np.inf
        design = validate(self, X, y, sample_weight, numeric_target=False, finite=False)
        if self.firth:
            refuse_out_of_range(design)  # other fits read every number when they estimate column scales
        classes, coded = code_classes(design, self.class_weight, labels_without_weight(X, y, sample_weight))
        start = self._start(classes)  # of the last fit, whose classes are compared
        self.classes_ = classes
        progress = FitProgress.of(self, X, y, sample_weight, control["max_iter"])
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
            solution: Any = fit_firth(coded, start=start, **control)
        else:
            control["n_scores"] = 1 if len(classes) == 2 else len(classes)
            control["strength"] = 1.0 / (C * coded.total_weight)
            control["start"], control["watch"] = start, progress
            try:
                solution = fit_likelihood(coded, check_finite=True, **control)
            except NonFiniteRows:
                refuse_out_of_range(design)
                solution = fit_likelihood(coded, **control)  # only the sums of finite numbers overflowed
        no_end = solution.unbounded or (solution.strength == 0 and not solution.converged and not self.firth)
        publish(self, solution, design.dtype, one_target=False, warn=not no_end)
        self.n_iter_ = np.array([solution.n_iter])
        if no_end:
            warn_of_separation(self, coded, solution)
        if progress is not None:
            progress.close()
        return self

    def _likelihood(self, X: Any, y: Any, sample_weight: Any) -> tuple[Likelihood, dict[str, Any]]:
        """The objective of a fit, in small steps that can be monitored, and its control."""
        control = self._control()
        design = validate(self, X, y, sample_weight, numeric_target=False)
        classes, coded = code_classes(design, self.class_weight, labels_without_weight(X, y, sample_weight))
        C = np.inf if self.penalty is None else number(self, "C", low=0.0, open_low=True, infinite=True)
        scale = ColumnScale.exact(coded, control["fit_intercept"])
        n_scores = 1 if len(classes) == 2 else len(classes)
        return Likelihood(coded, scale, n_scores, 1.0 / (C * coded.total_weight)), control

    def _control(self) -> dict[str, Any]:
        refuse_l1_share(self, self.l1_ratio)
        accept_scikit_learns(self)
        return {
            "fit_intercept": flag(self, "fit_intercept"),
            "solver": one_of_ours(self, "solver", SOLVERS, SCIKIT_LEARN_SOLVERS),
            "tol": number(self, "tol", low=0.0),
            "max_iter": whole(self, "max_iter"),
        }

    def _start(self, classes: Array) -> tuple[Array, Array] | None:
        """The last fit's coefficients, for a warm start with the same shape."""
        if not flag(self, "warm_start") or not hasattr(self, "coef_"):
            return None
        same = np.array_equal(classes, self.classes_) and self.coef_.shape[1] == self.n_features_in_
        if not same:
            return None
        start = self._dense_coef().astype(np.float64), np.asarray(self.intercept_, dtype=np.float64)
        if not all(np.isfinite(part).all() for part in start):
            raise InvalidData(
                "LogisticRegression: warm_start=True, but coef_ or intercept_ holds NaN or infinity; a fit must start "
                "from finite numbers. Set warm_start=False, or fit a clone."
            )
        return start


def warn_of_separation(model: Any, design: Design, solution: LogisticSolution) -> None:
    """Warn about the columns that separate the classes, if they do; a fit that only stopped early is another case.

    Parameters
    ----------
    design : Design
        Design as returned by `code_classes`.
    """
    problem = Likelihood(design, solution.scale, len(solution.coef), 0.0)
    found = unbounded_columns(problem, solution.parameters)
    small = design.n_rows * design.n_columns <= _PROGRAM_CELLS
    small = small and program_work(design.n_rows, design.n_columns + 1) <= _PROGRAM_WORK
    if found is None and len(model.classes_) == 2 and small:
        found = _by_program(design, model.fit_intercept)
    if found is None:
        warn_of_the_end(model, solution)
        return
    names = coefficient_names(model, False)
    listed = ", ".join(repr(names[j]) for j in found.columns[:6])
    message = Message(
        "{model}: the classes are {kind} by {columns}, so the likelihood has no maximum and coefficients would grow "
        "without bound; they were stopped. {remedy}",
        model=type(model).__name__,
        kind=_kind_of_separation(found),
        columns=listed if len(found.columns) <= 6 else Message("{names} and others", names=listed),
        remedy=separation_remedy(len(solution.coef)),
    )
    warnings.warn(message, SeparationWarning, stacklevel=users_level())


def _kind_of_separation(found: Growth) -> Message:
    if not found.proved:
        return Message("probably separated, at least in part,")
    return Message("separated") if found.complete else Message("separated in part (quasi-completely)")


def _by_program(design: Design, fit_intercept: bool) -> Growth | None:
    """The separating columns of a small table, and whether all rows are separated.

    A linear program on all rows finds them.
    """
    try:
        certificate = separate(design, fit_intercept)
    except NotAvailable:  # too close to decide
        return None
    if isinstance(certificate, Separable | QuasiSeparable):
        return Growth(np.array(certificate.columns), isinstance(certificate, Separable))
    return None
