"""Least squares, ridge regression, and the least-squares classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.design import Array, Block
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.labels import encode_labels, label_weight
from hiperplano.data.parameters import check_number, flag, number, one_of, whole
from hiperplano.data.validate import target_names
from hiperplano.errors import InvalidParameter
from hiperplano.models.base import LinearClassifier, LinearModel, all_or_nothing, publish
from hiperplano.solvers.least_squares.choice import SOLVERS, solve_least_squares, sums_first
from hiperplano.solvers.statistics import Moments, NonFiniteRows
from hiperplano.stats.least_squares import Sample, summarise
from hiperplano.stats.summary import Summary


class LeastSquares(MultiOutputMixin, RegressorMixin, LinearModel):
    """What least-squares regressors share: all but how their penalty comes about."""

    fit_intercept: bool
    # Parameters of some of them, settled for the others.
    positive: bool = False
    solver: str = "auto"
    tol: float = 1e-10
    max_iter: int | None = None

    def predict(self, X: Any) -> Array:
        """Predicted targets, x·coef + intercept.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
            The predicted targets.
        """
        return self._scores(X)

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients with their standard errors, and how good the fit is.

        Parameters
        ----------
        level : float, default=0.95
            Of the confidence intervals.

        Returns
        -------
        Summary
            A table: print it, show it in a notebook, or take `to_pandas()` / `to_polars()` or its arrays.
        """
        check_is_fitted(self)
        return summarise(self, level)

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Design:
        """The design; numbers that must be refused are left to the first sum over the rows, if there is one."""
        design = validate(self, X, y, sample_weight, finite=False)
        if not sums_first(design, one_of(self, "solver", SOLVERS)):
            refuse_out_of_range(design)
        self._target_names_ = target_names(y)
        return design

    def _fit_design(self, design: Design, alphas: Array, sums: Moments | None = None) -> Self:
        """Solve with one penalty for each target, and publish; `sums` may have been gathered before."""
        try:
            solution = solve_least_squares(
                design,
                alpha=alphas,
                fit_intercept=flag(self, "fit_intercept"),
                positive=flag(self, "positive"),
                solver=one_of(self, "solver", SOLVERS),
                tol=number(self, "tol", low=0.0, open_low=True),
                max_iter=whole(self, "max_iter", low=1, optional=True),
                sums=sums,
            )
        except NonFiniteRows:
            refuse_out_of_range(design)
            raise
        publish(self, solution, design.dtype, design.one_target)
        self.rank_ = solution.rank
        self._sample_ = Sample.of(design)
        return self


class LinearRegression(LeastSquares):
    """Least squares: minimise Σᵢ wᵢ·(yᵢ − xᵢ·coef − intercept)².

    Columns of any scale and offset are handled: they are centred and scaled to unit length internally. One pass
    over the rows is enough for well-conditioned columns; where it is not, the solution is refined with residuals
    in doubled precision, and `solution_` says what was done and how many digits can be trusted. If columns
    are linearly dependent, the minimum-norm solution is taken ("cg": the minimum norm for standardised columns).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    positive : bool, default=False
        Constrain the coefficients to be non-negative.
    solver : {"auto", "gram", "qr", "cg"}, default="auto"
        "gram" solves the normal equations (and falls back to "qr" where they are not accurate enough), "qr" factors the
        rows, "cg" takes conjugate gradients, for so many columns that their Gram matrix does not fit memory.
    tol : float, default=1e-10
        For "cg": relative length of the gradient to reach.
    max_iter : int, optional
        For "cg": most steps; ten for each column by default.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
        Coefficients.
    intercept_ : float or ndarray of shape (targets,)
        Intercepts; 0 if `fit_intercept` is False.
    rank_ : int
        Independent columns, without the intercept.
    solution_ : LeastSquaresSolution
        How the fit ended: `status`, `method`, `digits`, `condition`, `gap`.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        If the rows came with names.

    Examples
    --------
    A credit line from income and debt ratio; the columns' scales differ by 10⁷ and need no preparation.

    >>> import numpy as np
    >>> from hiperplano import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> income, ratio = rng.normal(3e6, 1e6, 200), rng.normal(0.3, 0.1, 200)
    >>> line = 2 + 1e-6 * income + 5 * ratio
    >>> model = LinearRegression().fit(np.column_stack([income, ratio]), line)
    >>> round(float(model.coef_[1]), 10)
    5.0
    >>> print(model.solution_)
    Solved by normal equations; about 15 digits of the coefficients can be trusted.
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        positive: bool = False,
        solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design brings its targets and weights along.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which brings its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = self._validated(X, y, sample_weight)
        return self._fit_design(design, np.zeros(design.n_targets))


class Ridge(LeastSquares):
    """Least squares with a penalty: minimise Σᵢ wᵢ·(yᵢ − xᵢ·coef − intercept)² + alpha·‖coef‖².

    The intercept is not penalised. In the notation of a mean loss with strength λ, alpha = λ·n.

    Parameters
    ----------
    alpha : float or array-like of shape (targets,), default=1.0
        Strength of the penalty, 0 or more.
    fit_intercept, positive, solver, tol, max_iter
        As in `LinearRegression`.

    Attributes
    ----------
    coef_, intercept_, rank_, solution_, n_iter_, n_features_in_, feature_names_in_
        As in `LinearRegression`.

    Examples
    --------
    >>> from hiperplano import Ridge
    >>> model = Ridge(alpha=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> print(model.coef_.round(4), round(float(model.intercept_), 4))
    [0.6667] 0.3333
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        positive: bool = False,
        solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design brings its targets and weights along.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which brings its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = self._validated(X, y, sample_weight)
        return self._fit_design(design, self._alphas(design.n_targets))

    def _alphas(self, n_targets: int) -> Array:
        if np.ndim(self.alpha) == 0:
            return np.full(n_targets, number(self, "alpha", low=0.0))
        given = np.asarray(self.alpha).tolist()
        values = [check_number("Ridge", f"alpha[{k}]", value, 0.0, np.inf) for k, value in enumerate(given)]
        if len(values) != n_targets:
            raise InvalidParameter(
                "Ridge: alpha holds {n_values} numbers for {n_targets} targets; it must be one number, or one for "
                "each target. Correct alpha or y. (Number of targets and number of penalties do not correspond.)",
                n_values=len(values),
                n_targets=n_targets,
            )
        return np.array(values)


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
            Rows; a design brings its targets and weights along.
        y : array-like of shape (n,)
            Labels of any kind; not with a design, which brings its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = self._coded(validate(self, X, y, sample_weight, numeric_target=False))
        solution = solve_least_squares(
            design,
            alpha=np.full(design.n_targets, number(self, "alpha", low=0.0)),
            fit_intercept=flag(self, "fit_intercept"),
        )
        publish(self, solution, design.dtype, one_target=False)
        return self

    def _coded(self, design: Design) -> Design:
        """Replace labels by their 1-of-K code, or for two classes by its difference, ∓1."""
        self.classes_, codes = encode_labels(design)
        coded = design.with_vectors(code=codes).map(_OneOfK(len(self.classes_)))
        return design.with_vectors(y=coded, weight=label_weight(design, self.class_weight)).weighted_rows()


@dataclass(frozen=True)
class _OneOfK:
    """1 in the column of a row's class and 0 in others; for two classes one column of ∓1."""

    n_classes: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        code = block.vectors["code"]
        if self.n_classes == 2:
            return xp.where(code == 1, 1.0, -1.0)[:, None]
        return xp.eye(self.n_classes)[code]
