"""Linear support vector machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from hiperplano.data import Design, validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.labels import class_totals, encode_labels, label_weight, labels_without_weight
from hiperplano.data.parameters import DUAL, REAL, SEED, VERBOSITY, accept, flag, number, one_of, refuse_l1, whole
from hiperplano.models.base import LinearClassifier, LinearModel, Scores, all_or_nothing, publish
from hiperplano.solvers.statistics import without_level
from hiperplano.solvers.svm.choice import SOLVERS, solve_svm
from hiperplano.solvers.svm.crammer_singer import SignOfClass, crammer_singer
from hiperplano.solvers.svm.dual_losses import DualLoss


class LinearSVC(LinearClassifier):
    """A linear support vector machine: minimise ½‖coef‖² + C·Σᵢ wᵢ·loss(yᵢ·(xᵢ·coef + intercept)).

    The loss is max(0, 1 − margin) or its square; the intercept is not penalised. Every fit ends with a duality gap:
    multipliers whose dual objective is within `tol` of the objective prove that no plane is better by more than that.

    Parameters
    ----------
    penalty : "l2", default="l2"
        The penalty; penalties with an L1 part are not available.
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        max(0, 1 − margin), or its square.
    dual : "auto" or bool, default="auto"
        No effect; `solver` says how to solve.
    tol : float, default=1e-4
        Duality gap to reach, relative to the objective.
    C : float, default=1.0
        Weight of the losses, more than 0. For a mean loss with penalty ½·λ·‖coef‖², C = 1/(λ·n).
    intercept_scaling : float, default=1
        No effect: the intercept is not penalised.
    verbose : int, default=0
        No effect: `solution_` says how the fit went.
    random_state : int, RandomState or None, default=None
        No effect: fits are deterministic.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, times C; "balanced" gives each class the same total.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        For more than two classes: one plane for each class against the rest, or all scores at once with the loss max(0,
        1 + largest score of another class − score of the correct one), whatever `loss` is. With two classes this equals
        "ovr" and the hinge with twice the C.
    solver : {"auto", "newton", "dual"}, default="auto"
        "newton" makes a few passes over the rows, and only rows near the margin enter its equations. "dual" is dual
        coordinate ascent, with many cheap passes. "auto" lets the ascent run until it has cost about half of Newton's
        method, and then continues with Newton's method if needed. Dense tables of more than two million entries begin
        with Newton's method, unless they have twice as many columns as rows, and so do smaller ones with the squared
        hinge that have more than eight times as many rows as columns.
    max_iter : int, optional
        Most passes over the rows, for each class. By default 1,000; on small tables more, which take a third of a
        second at most, for each class. Steps of Newton's method that take much longer than a pass count as
        several. A fit that reaches the limit warns, and `solution_.gap` bounds its distance from the optimum.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (classes, d)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts; 0 if `fit_intercept` is False.
    classes_ : ndarray
        Labels of the classes, sorted.
    solution_ : SvmSolution
        How the fit ended: `status`, `gap`, `objective`, `dual_objective`, `multipliers`.
    n_iter_ : int
        Passes over the rows; of the class that took most.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    Notes
    -----
    A score is not a probability. Put `sklearn.calibration.CalibratedClassifierCV` around the model if you need one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(loss="hinge").fit(X[50:], y[50:])
    >>> model.score(X[50:], y[50:])
    0.99
    >>> model.solution_.gap < 1e-4
    True
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        solver: str = "auto",
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the plane, or the planes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            A design brings its target along.
        y : array-like of shape (n,)
            Labels of any kind.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        refuse_l1(self)
        one_of(self, "penalty", ("l2",))
        strength = number(self, "C", low=0.0, open_low=True)
        squared = one_of(self, "loss", ("hinge", "squared_hinge")) == "squared_hinge"
        at_once = one_of(self, "multi_class", ("ovr", "crammer_singer")) == "crammer_singer"
        control = _control(self)
        design = validate(self, X, y, sample_weight, numeric_target=False)
        self.classes_, codes = encode_labels(design, labels_without_weight(X, y, sample_weight))
        weight = label_weight(design, self.class_weight, self.classes_)
        design = design.with_vectors(code=codes, weight=weight).weighted_rows()
        if at_once:
            solution = crammer_singer(design, len(self.classes_), strength=strength, **control)
        else:
            ones = [1] if len(self.classes_) == 2 else range(len(self.classes_))
            designs = [design.with_vectors(sign=design.map(SignOfClass(one))) for one in ones]
            solution = solve_svm(designs, DualLoss.hinge(strength, squared), **control)
        publish(self, solution.for_rows(design.row_numbers(), _row_count(X, y)), design.dtype, one_target=False)
        if len(self.classes_) > 2:
            self._lower_classes_without_rows(design)
        return self

    def _lower_classes_without_rows(self, design: Design) -> None:
        """Set the intercepts of planes of classes without rows below all scores of the rows.

        All rows are on the other side of such a plane, so every intercept of −1 or less is equally good. One above the
        scores of all other classes would make the class predicted.
        """
        totals = class_totals(design, design.vector("code"), len(self.classes_))
        if totals.all():
            return
        scores = design.collect(design.map(Scores(self.coef_.T, self.intercept_)))
        lowest = min(-1.0, float(scores[:, totals > 0].max(axis=1).min()) - 1.0)
        self.intercept_ = np.where(totals > 0, self.intercept_, lowest).astype(self.intercept_.dtype)


class LinearSVR(RegressorMixin, LinearModel):
    """Linear support vector regression: minimise ½‖coef‖² + C·Σᵢ wᵢ·max(0, |yᵢ − xᵢ·coef − intercept| − ε).

    Residuals inside a tube of half-width ε cost nothing. The intercept is not penalised, and every fit ends with a
    proved duality gap, as in `LinearSVC`.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube, in units of y, 0 or more.
    tol : float, default=1e-4
        Duality gap to reach, relative to the objective.
    C : float, default=1.0
        Weight of the losses, more than 0.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The excess over ε, or its square.
    fit_intercept, max_iter, solver
        As in `LinearSVC`.
    intercept_scaling, dual, verbose, random_state
        No effect, as in `LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Coefficients.
    intercept_ : float
        Intercepts; 0 if `fit_intercept` is False.
    solution_, n_iter_, n_features_in_, feature_names_in_
        As in `LinearSVC`.

    Examples
    --------
    Half of the rows off by 0.1 at most, an outlier, and a tube of ±0.2: the line is not moved by either.

    >>> import numpy as np
    >>> from hiperplano import LinearSVR
    >>> x = np.arange(20.0)
    >>> y = 2 * x + 1 + 0.1 * (-1) ** np.arange(20)
    >>> y[10] += 100
    >>> model = LinearSVR(C=10, epsilon=0.2).fit(x[:, None], y)
    >>> bool(abs(model.coef_[0] - 2) < 0.05)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int | None = None,
        solver: str = "auto",
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            A design brings its target along.
        y : array-like of shape (n,)
            Targets; not given with a design.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        strength = number(self, "C", low=0.0, open_low=True)
        epsilon = number(self, "epsilon", low=0.0)
        words = ("epsilon_insensitive", "squared_epsilon_insensitive")
        squared = one_of(self, "loss", words) == words[1]
        control = _control(self)
        design = validate(self, X, y, sample_weight, one_target=True)
        rows, level = without_level(design) if control["fit_intercept"] else (design, 0.0)
        solution = solve_svm([rows], DualLoss.epsilon_insensitive(epsilon, strength, squared), **control)
        solution = replace(solution, intercept=solution.intercept + level)
        publish(self, solution.for_rows(design.row_numbers(), _row_count(X, y)), design.dtype, one_target=True)
        return self

    @by_rows
    def predict(self, X: Any) -> Array:
        """Predicted targets, x·coef + intercept.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            The predicted targets.
        """
        return self._scores(X)


def _control(model: Any) -> dict[str, Any]:
    """Settings of all fits, besides the rows and their losses."""
    accept(model, dual=DUAL, intercept_scaling=REAL, verbose=VERBOSITY, random_state=SEED)
    return {
        "fit_intercept": flag(model, "fit_intercept"),
        "solver": one_of(model, "solver", SOLVERS),
        "tol": number(model, "tol", low=0.0, open_low=True),
        "max_iter": whole(model, "max_iter", optional=True),
    }


def _row_count(X: Any, y: Any) -> int:
    """Number of rows of the input table, including those of weight 0."""
    return int(X.n_rows) if isinstance(X, Design) else len(np.asarray(y))
