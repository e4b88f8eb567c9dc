"""Features that approximate a kernel, with which every linear model becomes a kernel machine."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.data.parameters import one_of
from hiperplano.data.validate import validate_rows
from hiperplano.errors import InvalidParameter
from hiperplano.kernels import KernelMatrix
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.base import KernelModel, seed_of
from hiperplano.models.kernel.fourier import frequencies, has_frequencies
from hiperplano.solvers.kernel.span import Span, drawn_rows

METHODS = ("auto", "fourier", "nystroem")
_FEWEST, _MOST = 64, 4096
_ERROR = 0.05  # error at which "auto" stops doubling the number of features
_CHECKED = 400  # rows whose pairs determine the error
_BLOCK = 2048


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelModel):
    """Features φ(x) whose inner products approximate a kernel: φ(x)·φ(x′) ≈ k(x, x′).

    A linear model of them is an approximate kernel machine, at the cost of a linear one, for millions of rows.
    `error_` estimates how far the products are from the kernel.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A name as in scikit-learn, a kernel of `hiperplano.kernels`, or a function, as in `KernelRidge`.
    n_components : int or "auto", default="auto"
        Number of features. "auto" doubles them, from 64 on, until `error_` is 0.05 or less, at most to 4,096 and, with
        "nystroem", to the number of rows.
    gamma : float, "scale", "auto" or None, default="scale"
        Parameter of named kernels. "scale" is 1/(columns·variance of the values); "auto" and None are 1/columns.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1.0
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Further arguments for a kernel that is a function.
    method : {"auto", "fourier", "nystroem"}, default="auto"
        "nystroem" takes the kernel with some rows of the fit, made orthonormal: for any kernel. "fourier" takes cosines
        and sines of random frequencies, which do not depend on the rows: for the kernels "rbf" and "laplacian". "auto"
        is "nystroem", whose error is smaller for the same number of features.
    random_state : int, RandomState or None, default=0
        For frequencies, centres, and the rows that tell the error.

    Attributes
    ----------
    error_ : float
        Root mean square of φ(x)·φ(x′) − k(x, x′) over pairs of up to 400 rows of the fit, relative to that of k.
    n_components_ : int
        Number of features.
    method_ : str
        "fourier" or "nystroem".
    kernel_ : Kernel
        The kernel with its numbers.
    components_ : ndarray of shape (n_components, d) or (d, n_components/2)
        Centres, or frequencies.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> from hiperplano import KernelFeatures, LogisticRegression
    >>> X, y = make_circles(500, noise=0.1, factor=0.4, random_state=0)
    >>> model = make_pipeline(KernelFeatures("rbf", n_components=100), LogisticRegression()).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        n_components: Any = "auto",
        *,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Any = None,
        method: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.method = method
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw frequencies or centres.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows.
        y : None
            Not used; for pipelines.

        Returns
        -------
        self : estimator
            The fitted transformer.
        """
        count, rows = self._count(), self._in_memory(validate_rows(self, X, reset=True)).as_held()
        self.kernel_ = self._settled_kernel(rows)
        seed = seed_of(self.random_state)
        self.method_ = self._method()
        chosen = np.random.default_rng(seed).permutation(rows.shape[0])[:_CHECKED]
        checked = rows[np.sort(chosen)]
        size = _FEWEST if count is None else count
        while True:
            self._draw(rows, size, np.random.default_rng([seed, size]))
            self.error_ = self._error(checked)
            full = size >= _MOST or (self.method_ == "nystroem" and size >= rows.shape[0])
            if count is not None or self.error_ <= _ERROR or full:
                return self
            size *= 2

    @by_rows
    def transform(self, X: Any) -> Array:
        """The features of rows.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_components_)
            Features, of float32 if the rows are.
        """
        check_is_fitted(self)
        return self._features(self._in_memory(validate_rows(self, X)).as_held())

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _count(self) -> int | None:
        """The requested number of features; None for "auto"."""
        given = self.n_components
        if isinstance(given, str) and given == "auto":
            return None
        if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 1:
            return int(given)
        raise InvalidParameter(
            "KernelFeatures: n_components={given!r}; n_components must be a whole number of 1 or more, or 'auto'. Set "
            "one of them.",
            given=given,
        )

    def _method(self) -> str:
        method = one_of(self, "method", METHODS)
        if method == "fourier" and not has_frequencies(self.kernel_):
            raise InvalidParameter(
                "KernelFeatures: method='fourier' with the kernel {kernel}; frequencies are known for 'rbf' and "
                "'laplacian'. Set method='nystroem'.",
                kernel=str(self.kernel_),
            )
        return "nystroem" if method == "auto" else method

    def _draw(self, rows: Any, size: int, rng: np.random.Generator) -> None:
        if self.method_ == "fourier":
            self.n_components_ = size
            self.components_ = frequencies(self.kernel_, rows.shape[1], -(-size // 2), rng)
            return
        drawn = drawn_rows(rows.shape[0], size, rng)
        self._span_ = Span.of(KernelMatrix(self.kernel_, rows[drawn], dtype=np.float64), np.arange(len(drawn)))
        self.components_ = rows[drawn][self._span_.centres]
        self.n_components_ = self.components_.shape[0]

    def _features(self, rows: Any) -> Array:
        dtype = np.float32 if rows.dtype == np.float32 else np.float64
        found = np.empty((rows.shape[0], self.n_components_), dtype)
        if self.method_ == "nystroem":
            matrix = KernelMatrix(self.kernel_, rows, self.components_, dtype=np.float64)
            for start in range(0, len(found), 8 * _BLOCK):
                part = slice(start, min(start + 8 * _BLOCK, len(found)))
                found[part] = self._span_.features(matrix.part(part).dense())
            return found
        half = self.components_.shape[1]

        def waves(start: int) -> None:
            part = slice(start, start + _BLOCK)
            angle = rows[part] @ self.components_
            found[part, :half] = np.cos(angle)
            found[part, half:] = np.sin(angle[:, : self.n_components_ - half])
            found[part] *= np.sqrt(1.0 / half)

        in_threads(waves, range(0, len(found), _BLOCK), found.size)
        return found

    def _error(self, rows: Any) -> float:
        features, exact = self._features(rows), self.kernel_(rows)
        return float(np.linalg.norm(features @ features.T - exact) / (np.linalg.norm(exact) or 1.0))
