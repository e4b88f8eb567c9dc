"""Kernel support vector regression with a share of support vectors instead of the width of the tube."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hiperplano.data import validate
from hiperplano.data.parameters import check_number, number
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.support import row_count, weights_of
from hiperplano.models.kernel.svr import SVR
from hiperplano.solvers.kernel.svm.nu.machines import solve_nu_regression


class NuSVR(SVR):
    """Support vector regression whose tube has at most a share ν of the rows outside: `SVR` with the corresponding ε.

    Minimise ½‖f‖² + C·(ν·n·ε + Σᵢ wᵢ·max(0, |yᵢ − f(xᵢ) − b| − ε)) over f, b and ε. At most the share ν of the rows are
    outside the tube, and at least this share are support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        The share; above 0, at most 1.
    C : float, default=1.0
        Weight of the losses, more than 0.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        As in `SVR`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, coef_, intercept_, n_support_, n_iter_, kernel_, fit_status_, shape_fit_
        As in `SVR`.
    epsilon_ : float
        Half the width of the tube that was found.
    solution_ : SupportVectorSolution
        How the fit ended; objectives and gap are those of the `SVR` that it is.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    See Also
    --------
    hiperplano.SVR : The same machine with ε given.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import NuSVR
    >>> rng = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = NuSVR(nu=0.2, C=10.0).fit(X, y)
    >>> outside = np.abs(y - model.predict(X)) > model.epsilon_ + 1e-3
    >>> bool(outside.mean() <= 0.2 <= len(model.support_) / 200)
    True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = 10_000_000,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

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
            C is multiplied by it, and rows count by it in the share; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        nu = check_number("NuSVR", "nu", self.nu, 0.0, 1.0, open_low=True)
        C, control = number(self, "C", low=0.0, open_low=True), self._control()
        design = self._in_memory(validate(self, X, y, sample_weight, one_target=True))
        n_given = row_count(X)
        rows, target = self._square(design, n_given), np.ascontiguousarray(design.arrays()[1][:, 0], dtype=np.float64)
        self.kernel_ = self._settled_kernel(rows, weights_of(design) if design.has_weight else None)
        bound = C * weights_of(design)
        solved = solve_nu_regression(target, bound, nu, self.kernel_, rows, control)
        self.epsilon_ = float(solved.margin[0])
        self._publish_machines(design, n_given, solved.machines, control)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        return self
