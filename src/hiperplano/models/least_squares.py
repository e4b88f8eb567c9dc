"""Least squares and ridge regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.parameters import (
    FLAG,
    JOBS,
    SEED,
    accept,
    check_number,
    flag,
    number,
    one_of_ours,
    whole,
)
from hiperplano.data.validate import target_names
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.linalg.triangular import reciprocal
from hiperplano.models.base import LinearModel, all_or_nothing, publish
from hiperplano.solvers.least_squares.choice import SOLVERS, solve_least_squares, suited_solver, sums_first
from hiperplano.solvers.least_squares.normal import NormalEquations
from hiperplano.solvers.statistics import NonFiniteRows
from hiperplano.stats.least_squares import Sample, summarise
from hiperplano.stats.summary import Summary

SCIKIT_LEARN_SOLVERS = {
    "cholesky": "gram",
    "svd": "qr",
    "lsqr": "auto",
    "sparse_cg": "auto",
    "sag": "auto",
    "saga": "auto",
    "lbfgs": "auto",
}


class LeastSquares(MultiOutputMixin, RegressorMixin, LinearModel):
    """Shared code of least-squares regressors, except the choice of the penalty."""

    fit_intercept: bool
    # Parameters of some subclasses, fixed for the others.
    positive: bool = False
    solver: str = "auto"
    tol: float = 1e-10
    max_iter: int | None = None
    copy_X: bool = True
    n_jobs: int | None = None
    random_state: Any = None

    @by_rows
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
            Level of the confidence intervals.

        Returns
        -------
        Summary
            A table: print it, show it in a notebook, or take `to_pandas()` / `to_polars()` or its arrays.
        """
        check_is_fitted(self)
        return summarise(self, level)

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> Design:
        """The design; the check for invalid numbers is left to the first sum over the rows, if there is one."""
        accept(self, copy_X=FLAG, n_jobs=JOBS, random_state=SEED)
        design = validate(self, X, y, sample_weight, finite=False)
        if not sums_first(design, self._solver()):
            refuse_out_of_range(design)
        self._target_names_ = target_names(y)
        return design

    def _fit_design(self, design: Design, alphas: Array, sums: NormalEquations | CentredRows | None = None) -> Self:
        """Solve with one penalty for each target, and set the fitted attributes; `sums` may be given."""
        try:
            solution = solve_least_squares(
                design,
                alpha=alphas,
                fit_intercept=flag(self, "fit_intercept"),
                positive=flag(self, "positive"),
                solver=self._solver(),
                tol=number(self, "tol", low=0.0),
                max_iter=whole(self, "max_iter", low=1, optional=True),
                sums=sums,
            )
        except NonFiniteRows:
            refuse_out_of_range(design)
            raise
        publish(self, solution, design.dtype, design.one_target)
        self.rank_ = solution.rank
        self.solver_ = suited_solver(design, self._solver(), alphas, self.fit_intercept, self.positive)
        self._sample_ = Sample.of(design)
        return self

    def _solver(self) -> str:
        return one_of_ours(self, "solver", SOLVERS, SCIKIT_LEARN_SOLVERS)

    def _flatten(self, design: Design) -> None:
        """A target of shape (n, 1) has `coef_` of shape (d,) in scikit-learn's ridge models."""
        if design.n_targets == 1:
            self.coef_ = self.coef_.reshape(-1)


class LinearRegression(LeastSquares):
    """Least squares: minimise Σᵢ wᵢ·(yᵢ − xᵢ·coef − intercept)².

    Columns may have any scale and offset: they are centred and scaled to unit norm internally. One pass over the rows
    is enough for well-conditioned columns. Otherwise, the solution is refined with residuals in doubled precision, and
    `solution_` says how it was found and how many digits are reliable. If columns are linearly dependent, the
    minimum-norm solution is used ("cg": the minimum norm for standardised columns).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    copy_X : bool, default=True
        No effect: X is never written to.
    tol : float, default=1e-10
        Relative norm of the gradient to reach by conjugate gradients.
    n_jobs : int or None, default=None
        No effect: the number of threads depends on the rows.
    positive : bool, default=False
        Constrain the coefficients to be non-negative.
    solver : {"auto", "gram", "qr", "cg"}, default="auto"
        "gram" solves the normal equations (and falls back to "qr" where they are not accurate enough), "qr" factors the
        rows, "cg" uses conjugate gradients, for so many columns that their Gram matrix does not fit in memory.
    max_iter : int, optional
        For "cg": most steps; by default ten for each column, or for each row if these are fewer.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
        Coefficients.
    intercept_ : float or ndarray of shape (targets,)
        Intercepts; 0 if `fit_intercept` is False.
    rank_ : int
        Number of independent columns, without the intercept; after "cg", of columns that vary.
    singular_ : ndarray of shape (min(n, d),)
        Singular values of the centred columns, largest first; not after "cg".
    solver_ : str
        The solver that was used: "gram", "qr", "cg", or "rows" if there are too few rows for the columns.
    solution_ : LeastSquaresSolution
        How the fit ended: `status`, `method`, `digits`, `condition`, `gap`.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

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
    >>> print(model.solution_.method, "to more than 10 digits:", bool(model.solution_.digits > 10))
    normal equations to more than 10 digits: True
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        positive: bool = False,
        solver: str = "auto",
        max_iter: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.solver = solver
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = self._validated(X, y, sample_weight)
        return self._fit_design(design, np.zeros(design.n_targets))

    @property
    def singular_(self) -> Array:
        """Singular values of the centred columns, largest first."""
        check_is_fitted(self)
        solution = self.solution_
        if solution.factor is None and solution.columns is None:
            raise NotAvailable(
                "LinearRegression: {solver!r} does not factor the columns, so there are no singular values. Set "
                "solver='qr'.",
                solver=self.solver_,
            )
        rows, scale = (
            (solution.factor.upper, solution.factor.scale)
            if solution.columns is None
            else (solution.columns.rows, solution.columns.scale)
        )
        return np.linalg.svd(rows * reciprocal(scale), compute_uv=False)


class Ridge(LeastSquares):
    """Least squares with a penalty: minimise Σᵢ wᵢ·(yᵢ − xᵢ·coef − intercept)² + alpha·‖coef‖².

    The intercept is not penalised. In the notation of a mean loss with strength λ, alpha = λ·n.

    Parameters
    ----------
    alpha : float or array-like of shape (targets,), default=1.0
        Strength of the penalty, 0 or more.
    fit_intercept, copy_X, max_iter, tol, positive
        As in `LinearRegression`.
    solver : {"auto", "gram", "qr", "cg"}, default="auto"
        As in `LinearRegression`, but "auto" takes conjugate gradients also for dense rows of more than 512 columns,
        where these are faster; standard errors then need "gram". Scikit-learn's "cholesky" means "gram", its "svd"
        "qr", its other names "auto".
    random_state : int, RandomState or None, default=None
        No effect: fits are deterministic.

    Attributes
    ----------
    coef_, intercept_, rank_, solver_, solution_, n_features_in_, feature_names_in_
        As in `LinearRegression`.
    n_iter_ : ndarray of shape (targets,)
        Number of iterations.

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
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-10,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = self._validated(X, y, sample_weight)
        self._fit_design(design, alphas_of_targets(self, design.n_targets))
        self._flatten(design)
        self.n_iter_ = np.full(design.n_targets, self.solution_.n_iter)
        return self


def alphas_of_targets(model: Any, n_targets: int) -> Array:
    """The model's `alpha` as one number for each target."""
    if np.ndim(model.alpha) == 0:
        return np.full(n_targets, number(model, "alpha", low=0.0))
    name, given = type(model).__name__, np.asarray(model.alpha).tolist()
    values = [check_number(name, f"alpha[{k}]", value, 0.0, np.inf) for k, value in enumerate(given)]
    if len(values) != n_targets:
        raise InvalidParameter(
            "{model}: alpha holds {n_values} numbers for {n_targets} targets; it must be one number, or one for "
            "each target. Correct alpha or y. (Number of targets and number of penalties do not correspond: "
            "{n_values} != {n_targets})",
            model=name,
            n_values=len(values),
            n_targets=n_targets,
        )
    return np.array(values)
