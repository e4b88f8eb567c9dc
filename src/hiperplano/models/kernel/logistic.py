"""Kernel logistic regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.parameters import flag, number, whole
from hiperplano.errors import InvalidData
from hiperplano.kernels import Precomputed, is_valid_gram
from hiperplano.models.base import ClassProbabilities, all_or_nothing, decided_classes, warn_of_the_end
from hiperplano.models.kernel.base import KernelModel, refuse_infinite, seed_of
from hiperplano.models.logistic_classifier import code_classes
from hiperplano.solvers.kernel.logistic import solve_kernel_logistic

_CHECKED = 500  # rows on which a kernel is checked for positive definiteness


class KernelLogisticRegression(ClassProbabilities, ClassifierMixin, KernelModel):
    """Kernel logistic regression: minimise C·Σᵢ wᵢ·loss(yᵢ, f(xᵢ) + intercept) + ½‖f‖².

    The loss is the logistic one for two classes, that of softmax for more, so scores are log-odds and `predict_proba`
    gives the probabilities that the fit maximises. Unlike those of a support vector machine they need no calibration
    afterwards.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty, more than 0; 1/(λn) where λ is a penalty on the mean loss.
    kernel : str, callable or Kernel, default="rbf"
        A name as in scikit-learn ("linear", "poly", "rbf", "laplacian", "cosine", "chi2", "precomputed"), a kernel of
        `hiperplano.kernels`, a function of two arrays of rows to a matrix, or of two rows to a number.
    gamma : float, "scale", "auto" or None, default="scale"
        Parameter of named kernels. "scale" is 1/(columns·variance of the values); "auto" and None are 1/columns.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1.0
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Further arguments for a kernel that is a function.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    n_components : int, optional
        Rows that serve as centres. By default all, which is exact, up to 3,000 rows, and for a linear kernel, or a
        polynomial one on few columns, with any number of rows; otherwise a multiple of √n.
    tol : float, default=1e-8
        As in `LogisticRegression`.
    max_iter : int, default=1000
        Most steps of the solver.
    random_state : int, RandomState or None, default=0
        Seed of the choice of centres.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        Labels, sorted.
    dual_coef_ : ndarray of shape (centres,) or (centres, classes)
        Coefficients of the rows of `X_fit_`.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts of the scores.
    X_fit_ : ndarray or CSR matrix of shape (centres, d)
        The centres.
    kernel_ : Kernel
        The kernel with its numbers.
    solution_ : KernelSolution
        How the fit ended.
    n_iter_ : int
        Steps of the solver.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from hiperplano import KernelLogisticRegression
    >>> X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    >>> model = KernelLogisticRegression(C=10.0).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.predict_proba([[0.0, 0.0]]).round(1)
    array([[0., 1.]])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        n_components: int | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the dual coefficients.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,)
            Labels of any kind.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        C = number(self, "C", low=0.0, open_low=True)
        tol, max_iter = number(self, "tol", low=0.0, open_low=True), whole(self, "max_iter", low=1)
        checked = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False))
        self.classes_, coded = code_classes(checked, self.class_weight)
        design = self._in_memory(coded)
        rows = self._rows_of(design)
        seen, _, weight = checked.arrays()  # without class weights, which say nothing about the location of the rows
        self.kernel_ = self._settled_kernel(rows if self._is_precomputed() else seen, weight)
        if not (self.kernel_.positive_definite or isinstance(self.kernel_, Precomputed)):
            self._refuse_indefinite(rows)
        solution = solve_kernel_logistic(
            self.kernel_,
            design,
            rows,
            n_scores=1 if len(self.classes_) == 2 else len(self.classes_),
            C=C,
            n_centres=whole(self, "n_components", low=1, optional=True),
            fit_intercept=flag(self, "fit_intercept"),
            tol=tol,
            max_iter=max_iter or 1,
            seed=seed_of(self.random_state),
        )
        refuse_infinite(self, self.kernel_, solution.coef)
        self.solution_, self.n_iter_, self.intercept_ = solution, solution.n_iter, solution.intercept
        self.dual_coef_ = solution.coef[0] if len(solution.coef) == 1 else np.ascontiguousarray(solution.coef.T)
        self._keep_rows(rows, solution.rows)
        if not solution.converged:
            warn_of_the_end(self, solution)
        return self

    def _refuse_indefinite(self, rows: Any) -> None:
        """Raise an error if a kernel is not positive definite on these rows, since no minimum exists then."""
        few = rows[:_CHECKED]
        found = is_valid_gram(self.kernel_(few))
        if not found:
            raise InvalidData(
                "KernelLogisticRegression: the kernel {kernel} cannot be used. {status} Choose a positive definite "
                "kernel.",
                kernel=str(self.kernel_),
                status=found.status,
            )

    @by_rows
    def decision_function(self, X: Any) -> Array:
        """Scores: log-odds of the second class, of shape (n,), for two classes; otherwise (n, classes).

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            Scores.
        """
        sums = self._kernel_sums(X)
        return np.asarray(sums + (self.intercept_[0] if sums.ndim == 1 else self.intercept_))

    @by_rows
    def predict(self, X: Any) -> Array:
        """The class with the largest score; a tie gives the first.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            The predicted labels.
        """
        which = decided_classes(self.decision_function(X))
        return np.asarray(self.classes_[which])
