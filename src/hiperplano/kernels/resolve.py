"""Conversion of a kernel's name, or a function, to a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel, chi2_kernel

from hiperplano.data.block import Array
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.kernels.algebra import Kernel
from hiperplano.kernels.distance import RBF, Laplacian
from hiperplano.kernels.feature_map import Function, Precomputed
from hiperplano.kernels.inner_product import Linear, Polynomial, Sigmoid, row_squares
from hiperplano.kernels.width import with_widths

NAMES = (
    "linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2", "precomputed",
)  # fmt: skip


def resolve_kernel(
    kernel: Any,
    X: Any,
    *,
    gamma: Any = "scale",
    degree: float = 3,
    coef0: float = 1.0,
    owner: str = "resolve_kernel",
    weight: Array | None = None,
) -> Kernel:
    """The kernel for one of scikit-learn's names, a function or a kernel, with all parameters as numbers.

    Parameters
    ----------
    kernel : str, callable or Kernel
        A name as in `sklearn.metrics.pairwise.pairwise_kernels`, a function of two arrays of rows to a matrix, or of
        two rows to a number.
    X : ndarray or csr_array of shape (n, d)
        Rows of the fit, which determine "scale".
    gamma : float, "scale", "auto" or None, default="scale"
        Parameter of named kernels; None is "auto", 1/d.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1.0
        Constant term of "poly" and "sigmoid".
    owner : str, default="resolve_kernel"
        Name of the caller, for messages.
    weight : ndarray of shape (n,), optional
        Weights of the rows, for "scale".

    Returns
    -------
    Kernel
        A kernel whose every gamma is a number.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano.kernels import resolve_kernel
    >>> resolve_kernel("rbf", np.zeros((3, 4)), gamma="auto")
    RBF(gamma=0.25)
    """
    if isinstance(kernel, Kernel):
        return with_widths(kernel, X, weight)
    if isinstance(kernel, str) and kernel in NAMES:
        return with_widths(_named(kernel, "auto" if gamma is None else gamma, degree, coef0), X, weight)
    if callable(kernel):
        return _recognised(kernel, X)
    raise InvalidParameter(
        "{owner}: kernel={kernel!r}; kernel must be one of {names}, a function of two arrays of rows, or a kernel "
        "of hiperplano.kernels. Choose one of them.",
        owner=owner,
        kernel=kernel,
        names=", ".join(map(repr, NAMES)),
    )


def _named(name: str, gamma: Any, degree: float, coef0: float) -> Kernel:
    if name in ("poly", "polynomial"):
        return Polynomial(degree, gamma, coef0)
    if name == "sigmoid":
        return Sigmoid(gamma, coef0)
    if name == "rbf":
        return RBF(gamma)
    if name == "laplacian":
        return Laplacian(gamma)
    if name == "cosine":
        return Linear().scaled(InverseLength())
    if name == "chi2":
        return Function(partial(chi2_kernel, gamma=1.0 if isinstance(gamma, str) else gamma))
    if name == "additive_chi2":
        return Function(additive_chi2_kernel)
    return Linear() if name == "linear" else Precomputed()


@dataclass(frozen=True)
class InverseLength:
    """1/‖x‖ of every row, and 1 for a row of zeros; scaled by it, inner products are cosines."""

    @property
    def __name__(self) -> str:
        return "inverse_length"

    def __call__(self, X: Any) -> Array:
        lengths = np.sqrt(row_squares(X))
        return np.asarray(1.0 / np.where(lengths > 0, lengths, 1.0))


def _recognised(function: Any, X: Any) -> Kernel:
    """Whether a function takes arrays of rows, as in scikit-learn's SVC, or two rows, as in its KernelRidge."""
    two, three, shape = X[[0, 0]], X[[0, 0, 0]], ()
    try:
        shape = np.shape(function(two, three))
        if shape == (2, 3):
            return Function(function)
    except Exception:  # a function of two rows may fail in any way on arrays of different lengths
        pass
    kernel = Function(function, of_pairs=True)
    try:
        kernel(two, three)
    except InvalidData:
        raise
    except Exception as problem:
        if shape:
            raise InvalidData(
                "The kernel {kernel} gave an array of shape {shape} for {n} and {m} rows; it must give ({n}, {m}). "
                "Return one number for each pair of rows.",
                kernel=str(kernel),
                shape=shape,
                n=2,
                m=3,
            ) from problem
        raise InvalidData(
            "The kernel {kernel} failed for two rows ({problem}); it must take two arrays of rows and give a matrix, "
            "or two rows and give a number. Correct the function.",
            kernel=str(kernel),
            problem=f"{type(problem).__name__}: {problem}",
        ) from problem
    return kernel
