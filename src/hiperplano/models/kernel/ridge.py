"""Kernel ridge regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.parameters import check_number, flag, number, one_of, whole
from hiperplano.errors import InvalidParameter
from hiperplano.models.base import all_or_nothing, warn_of_the_end
from hiperplano.models.kernel.base import KernelModel, refuse_infinite, seed_of
from hiperplano.solvers.kernel.ridge.choice import SOLVERS, solve_ridge
from hiperplano.solvers.kernel.ridge.gram import WeightedGram
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.kernel.solution import KernelSolution

_TINY = 1e-290  # least penalty, as a share of the largest; dividing by less would overflow


class KernelLeastSquares(MultiOutputMixin, RegressorMixin, KernelModel):
    """Shared code of kernel ridge regressors, except the choice of the penalty."""

    fit_intercept: bool
    solver: str
    n_components: int | None
    tol: float
    max_iter: int | None
    random_state: Any

    def _problem(self, rows: Any, y: Array, weight: Array | None, alpha: Array) -> RidgeProblem:
        """Build the problem from validated arrays, with one penalty for each target.

        Weights and penalties are divided by a power of 4 near the mean weight. The solution is the same to the last
        bit, and the equations stay in the range of float32.
        """
        kernel, unit = self._settled_kernel(rows, weight), 1.0
        if weight is not None:
            unit = 4.0 ** np.round(np.log2(max(weight.mean(), _TINY * alpha.max())) / 2)
            weight = weight / unit
        return RidgeProblem(WeightedGram(kernel, rows, weight), y, alpha / unit, flag(self, "fit_intercept"), unit)

    def _control(self) -> dict[str, Any]:
        """The validated parameters of the solver."""
        return {
            "solver": one_of(self, "solver", SOLVERS),
            "n_centres": whole(self, "n_components", low=1, optional=True),
            "tol": number(self, "tol", low=0.0, open_low=True),
            "max_iter": whole(self, "max_iter", low=1, optional=True),
            "seed": seed_of(self.random_state),
            "owner": type(self).__name__,
        }

    def _publish(self, problem: RidgeProblem, solution: KernelSolution, one_target: bool) -> Self:
        self.kernel_ = problem.gram.kernel
        refuse_infinite(self, self.kernel_, solution.coef)
        self.solution_ = solution = replace(solution, objective=solution.objective * problem.unit)
        self.n_iter_ = solution.n_iter
        self.dual_coef_ = solution.coef[0] if one_target else np.ascontiguousarray(solution.coef.T)
        intercept = solution.intercept[0] if one_target else solution.intercept
        self.intercept_ = intercept if self.fit_intercept else 0.0
        self._keep_rows(problem.gram.X, solution.rows)
        if not solution.converged:
            warn_of_the_end(self, solution)
        return self

    @by_rows
    def predict(self, X: Any) -> Array:
        """Predicted targets, Σᵢ dual_coefᵢ·k(x, xᵢ) + intercept.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
            The predicted targets.
        """
        return np.asarray(self._kernel_sums(X) + self.intercept_)


class KernelRidge(KernelLeastSquares):
    """Kernel ridge regression: minimise Σᵢ wᵢ·(yᵢ − f(xᵢ) − intercept)² + alpha·‖f‖².

    The minimum is f(x) = Σᵢ dual_coefᵢ·k(x, xᵢ) with (K + alpha·W⁻¹)·dual_coef = y − intercept. `solution_` says how
    these equations were solved, with their residual, and estimates the cost of an approximate solver.

    Parameters
    ----------
    alpha : float or array-like of shape (targets,), default=1.0
        Penalty, 0 or more; n·λ where λ is a penalty on the mean loss.
    kernel : str, callable or Kernel, default="linear"
        A name as in scikit-learn ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "precomputed"), a
        kernel of `hiperplano.kernels`, a function of two arrays of rows to a matrix, or of two rows to a number. With
        "precomputed", X is the Gram matrix.
    gamma : float, "scale", "auto" or None, default=None
        Parameter of named kernels. "scale" is 1/(columns·variance of the values); "auto" and None are 1/columns.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1.0
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Further arguments for a kernel that is a function.
    fit_intercept : bool, default=False
        Whether to fit an intercept, which is not penalised.
    solver : {"auto", "cholesky", "conjugate", "nystroem"}, default="auto"
        "cholesky" factors the Gram matrix. "conjugate" uses preconditioned conjugate gradients, to a residual of `tol`;
        the matrix need not fit in memory. "nystroem" minimises over the span of `n_components` rows, for hundreds of
        thousands of rows. "auto" is exact if the Gram matrix fits in half of the memory, by the faster method, and for
        a linear kernel, or a polynomial one on few columns, with any number of rows.
    n_components : int, optional
        Rows that serve as centres, for "nystroem"; by default a multiple of √n.
    tol : float, default=1e-8
        Relative residual to reach, for "conjugate" and "nystroem". With few features and a penalty so small that
        rounding leaves a larger one, the shortest dual coefficients with the same predictions are taken.
    max_iter : int, optional
        Most steps of conjugate gradients.
    random_state : int, RandomState or None, default=0
        Seed of the pivots of the preconditioner, and of the centres.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (rows,) or (rows, targets)
        Coefficients of the rows of `X_fit_`.
    intercept_ : float or ndarray of shape (targets,)
        0 without `fit_intercept`.
    X_fit_ : ndarray or CSR matrix of shape (rows, d)
        The rows of the fit, or the centres.
    kernel_ : Kernel
        The kernel with its numbers.
    solution_ : KernelSolution
        How the fit ended: method, residual, status.
    n_iter_ : int
        Steps of the solver.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import KernelRidge
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRidge(alpha=0.01, kernel="rbf", gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5]]).round(2)
    array([1.])
    >>> print(model.kernel_)
    exp(−‖x − x′‖²)
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Any = None,
        fit_intercept: bool = False,
        solver: str = "auto",
        n_components: int | None = None,
        tol: float = 1e-8,
        max_iter: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
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
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        design = self._in_memory(validate(self, X, y, sample_weight))
        rows = self._rows_of(design)
        _, targets, weight = design.arrays()
        problem = self._problem(rows, targets, weight, self._alphas(design.n_targets))
        return self._publish(problem, solve_ridge(problem, **self._control()), design.one_target)

    def _alphas(self, n_targets: int) -> Array:
        """One penalty for each target."""
        given = np.ravel(self.alpha)
        if len(given) not in (1, n_targets):
            raise InvalidParameter(
                "{model}: alpha has {n} entries for {targets} targets; one number, or one for each target, is needed. "
                "Pass that many.",
                model=type(self).__name__,
                n=len(given),
                targets=n_targets,
            )
        names = ["alpha"] if np.ndim(self.alpha) == 0 else [f"alpha[{k}]" for k in range(len(given))]
        values = given.tolist() if np.ndim(self.alpha) else [self.alpha]
        found = [check_number(type(self).__name__, name, v, 0.0, np.inf) for name, v in zip(names, values, strict=True)]
        return np.broadcast_to(np.array(found), (n_targets,))
