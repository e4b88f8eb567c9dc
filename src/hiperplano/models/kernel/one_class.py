"""Novelty detection by a support vector machine of one class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array, Design
from hiperplano.data.parameters import check_number
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.support import SupportVectorModel, row_count, weights_of
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.novelty import solve_novelty

_ROUNDING = 1e-12  # rounding error, as a share of ρ


class OneClassSVM(OutlierMixin, SupportVectorModel):
    """The region where rows are dense: minimise ½‖f‖² − ν·n·ρ + Σᵢ wᵢ·max(0, ρ − f(xᵢ)); f(x) < ρ is a novelty.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter
        As in `SVC`.
    nu : float, default=0.5
        At most this share of the rows of the fit is outside, and at least this share are support vectors; above 0, at
        most 1.

    Attributes
    ----------
    support_, support_vectors_, kernel_, solution_, fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`.
    dual_coef_ : ndarray of shape (1, support vectors)
        Dual coefficients.
    coef_ : ndarray of shape (1, d)
        Coefficients, for a linear kernel only.
    intercept_ : ndarray of shape (1,)
        −ρ.
    offset_ : float
        ρ: `score_samples` less this is `decision_function`.
    n_support_ : ndarray of int of shape (1,)
        Number of support vectors.
    n_iter_ : int
        Steps.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OneClassSVM(nu=0.1, gamma=0.5).fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = 10_000_000,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the region.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n,), optional
            Losses are multiplied by it; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        share = check_number("OneClassSVM", "nu", self.nu, 0.0, 1.0, open_low=True)
        control = self._control()
        n_given = row_count(X)
        target = None if isinstance(X, Design) else np.zeros(n_given)
        design = self._in_memory(validate(self, X, target, sample_weight))
        rows = self._square(design, n_given)
        self.kernel_ = self._settled_kernel(rows, weights_of(design) if design.has_weight else None)
        problem = DualProblem.novelty(weights_of(design), share)
        machines = solve_novelty(problem, self.kernel_, rows, control)
        self._publish_machines(design, n_given, machines, control)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.offset_ = -float(self.intercept_[0])
        return self

    @by_rows
    def decision_function(self, X: Any) -> Array:
        """f(x) − ρ: negative for novelties, 0 (up to rounding) for rows on the boundary.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
            Scores.
        """
        scores = np.asarray(self._scores(X)[:, 0])
        scores[np.abs(scores) <= _ROUNDING * abs(self.offset_)] = 0.0  # such as free support vectors
        return scores

    @by_rows
    def score_samples(self, X: Any) -> Array:
        """f(x), which is larger in dense regions.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n,)
            Scores.
        """
        return np.asarray(self.decision_function(X) + self.offset_)

    @by_rows
    def predict(self, X: Any) -> Array:
        """1 for rows like those of the fit or on the boundary, −1 for novelties.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to judge.

        Returns
        -------
        ndarray of int of shape (n,)
            1 or −1.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)
