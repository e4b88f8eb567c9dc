"""Kernel support vector regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.parameters import number
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.support import SupportVectorModel, row_count, weights_of
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.fit import solve_machine


class SVR(RegressorMixin, SupportVectorModel):
    """Support vector regression with a kernel: minimise ½‖f‖² + C·Σᵢ wᵢ·max(0, |yᵢ − f(xᵢ) − b| − ε).

    Residuals inside a tube of half-width ε cost nothing; only rows on or outside it are support vectors. Every row has
    one dual variable, whose sign says on which side of the tube it is.

    Parameters
    ----------
    kernel, degree, gamma, coef0, shrinking, cache_size, verbose, max_iter, warm_start
        As in `SVC`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of y, as in scikit-learn.
    C : float, default=1.0
        Weight of the losses, more than 0.
    epsilon : float, default=0.1
        Half the width of the tube, in units of y, 0 or more.

    Attributes
    ----------
    support_, support_vectors_, kernel_, solution_, fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`.
    dual_coef_ : ndarray of shape (1, support vectors)
        Dual coefficients, positive for rows above the tube.
    coef_ : ndarray of shape (1, d)
        Coefficients, for a linear kernel only.
    intercept_ : ndarray of shape (1,)
        Intercept.
    n_support_ : ndarray of int of shape (1,)
        Number of support vectors.
    n_iter_ : int
        Steps.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import SVR
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.06)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = 10_000_000,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the machine.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,)
            Targets; not given with a design.
        sample_weight : array-like of shape (n,), optional
            C is multiplied by it, row by row; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        C, width = number(self, "C", low=0.0, open_low=True, infinite=True), number(self, "epsilon", low=0.0)
        control = self._control()
        design = self._in_memory(validate(self, X, y, sample_weight, one_target=True))
        n_given = row_count(X)
        rows, target = self._square(design, n_given), np.ascontiguousarray(design.arrays()[1][:, 0])
        self.kernel_ = self._settled_kernel(rows, weights_of(design) if design.has_weight else None)
        problem = DualProblem.regression(target, C * weights_of(design), width)
        last = self._last_weights(n_given, 1)
        if last is not None:
            problem = problem.started(last[design.row_numbers(), 0])
        machines = solve_machine(problem, self.kernel_, rows, control)
        self._publish_machines(design, n_given, machines, control)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        return self

    @by_rows
    def predict(self, X: Any) -> Array:
        """Predicted targets, Σ dual_coef·k(x, support vector) + intercept.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,)
            The predicted targets.
        """
        return np.asarray(self._scores(X)[:, 0])
