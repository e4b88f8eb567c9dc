"""Kernels given by the user: a feature map, a function of two rows, or the Gram matrix itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from hiperplano.data.block import Array
from hiperplano.errors import InvalidData, NotAvailable
from hiperplano.kernels.algebra import Kernel, Prepared, length
from hiperplano.kernels.inner_product import inner_products, row_squares


@dataclass(frozen=True)
class FeatureMap(Kernel):
    """k(x, x′) = φ(x)·φ(x′) for a user-defined map φ.

    Parameters
    ----------
    phi : callable, array of shape (n, d) -> array or CSR matrix of shape (n, features)
        The map, computed for many rows at once.

    Examples
    --------
    A circle around the origin is a straight line for φ(x) = (x₁², x₂²):

    >>> import numpy as np
    >>> from hiperplano.kernels import FeatureMap
    >>> FeatureMap(np.square)([1.0, 2.0], [3.0, 4.0])
    73.0
    """

    phi: Callable[[Any], Any]

    def __str__(self) -> str:
        name = getattr(self.phi, "__name__", "φ")
        name = "φ" if name == "<lambda>" else name
        return f"{name}(x)·{name}(x′)"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return (self.features(X),)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        inner_products(x[0], z[0], out)

    def diagonal(self, X: Any) -> Array:
        return row_squares(self.features(X))

    def features(self, X: Any) -> Any:
        rows = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        found = self.phi(rows)
        found = csr_array(found) if issparse(found) else np.asarray(found)
        if found.ndim != 2 or found.shape[0] != rows.shape[0]:
            raise InvalidData(
                "The feature map gave an array of shape {shape} for {n} rows; it must give ({n}, features). Return "
                "one row of features for each row.",
                shape=found.shape,
                n=rows.shape[0],
            )
        found = found.astype(rows.dtype if rows.dtype.kind == "f" else np.float64, copy=False)
        if not np.isfinite(found.data if issparse(found) else found).all():
            raise InvalidData(
                "The feature map gave NaN or infinity; features must be finite. Correct the function, or the rows "
                "it is given."
            )
        return found


@dataclass(frozen=True)
class Function(Kernel):
    """A kernel given as a Python function; it is not known whether it is positive definite.

    Parameters
    ----------
    function : callable
        Function of two arrays of rows, of shape (n, d) and (m, d), that returns an array of shape (n, m); or of two
        rows that returns a number.
    of_pairs : bool, default=False
        Whether it takes two rows. `resolve_kernel` detects this.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano.kernels import Function
    >>> Function(lambda x, z: np.minimum(x, z).sum(), of_pairs=True)([1.0, 2.0], [3.0, 1.0])
    2.0
    """

    function: Callable[[Any, Any], Any]
    of_pairs: bool = False
    positive_definite = False

    def __str__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return ("k" if name == "<lambda>" else name) + "(x, x′)"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return (X,)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        out[...] = self._values(x[0], z[0])

    def diagonal(self, X: Any) -> Array:
        rows = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        each = [self._values(rows[k : k + 1], rows[k : k + 1])[0, 0] for k in range(length(rows))]
        return np.array(each, dtype=np.float64)

    def _values(self, x: Any, z: Any) -> Array:
        if self.of_pairs:
            found = np.array([[float(self.function(row, other)) for other in _each(z)] for row in _each(x)])
        else:
            found = self.function(x, z)
            found = found.toarray() if issparse(found) else np.asarray(found)  # x @ z.T of sparse rows is sparse
        if found.shape != (x.shape[0], z.shape[0]):
            raise InvalidData(
                "The kernel {kernel} gave an array of shape {shape} for {n} and {m} rows; it must give ({n}, {m}). "
                "Return one number for each pair of rows.",
                kernel=str(self),
                shape=found.shape,
                n=x.shape[0],
                m=z.shape[0],
            )
        if not np.isfinite(found).all():
            row, other = np.argwhere(~np.isfinite(found))[0].tolist()
            raise InvalidData(
                "The kernel {kernel} gave {value} for a pair of rows; its values must be finite. Correct the "
                "function, or the rows it is given.",
                kernel=str(self),
                value=float(found[row, other]),
            )
        return found


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The rows are those of the Gram matrix itself: k of each with every row of the fit.

    Examples
    --------
    >>> from hiperplano.kernels import Precomputed
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    positive_definite = False

    def __str__(self) -> str:
        return "K (precomputed)"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        rows = X.toarray() if issparse(X) else X
        return rows, np.arange(rows.shape[0])

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        out[...] = x[0][:, z[1]]

    def diagonal(self, X: Any) -> Array:
        return np.asarray((X if hasattr(X, "shape") else np.asarray(X)).diagonal())

    def features(self, X: Any) -> Any:
        raise NotAvailable("A precomputed Gram matrix tells no features. Use the kernel itself on the rows.")


def _each(rows: Any) -> Any:
    """Rows one by one, as scikit-learn passes them."""
    return (rows[[k], :] for k in range(rows.shape[0])) if issparse(rows) else rows
