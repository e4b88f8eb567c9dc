"""Kernels as values, and the rules for new ones: constants, sums, products, and scaling by a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable
from hiperplano.kernels.matrix import gram
from hiperplano.messages import Message

Prepared = tuple[Any, ...]
"""Precomputed data of rows for a kernel: a nested tuple of arrays, or CSR arrays, with an entry for each row."""


class Kernel(ABC):
    """A function k(x, x′) of two rows, an inner product of features φ(x)·φ(x′) where it is positive definite.

    Kernels are values: they are equal if formula and numbers are equal, print as their formula, and are immutable.
    (Only `set_params` changes a kernel in place, as a grid search does with its clone.)
    """

    positive_definite: bool = True
    """Whether every Gram matrix is positive semidefinite. False also stands for "not known"."""

    @abstractmethod
    def prepare(self, X: Any, centre: Array) -> Prepared:
        """Precompute what is needed of rows.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
        centre : ndarray of shape (d,)
            A point among the rows; kernels of differences may use it as origin, which keeps digits.
        """

    @abstractmethod
    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        """Write k of every pair into `out`, of shape (n, m)."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """k(x, x) of every row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            The diagonal of the Gram matrix.
        """

    def features(self, X: Any) -> Any:
        """φ(x) of every row, with k(x, x′) = φ(x)·φ(x′), if it has finitely many entries.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray or CSR matrix of shape (n, features)
            The features.

        Raises
        ------
        hiperplano.errors.NotAvailable
            If there are infinitely many.
        """
        raise NotAvailable(
            "The kernel {kernel} has no finite list of features. KernelFeatures approximates them; or use the "
            "kernel itself.",
            kernel=str(self),
        )

    def __call__(self, X: Any, Z: Any = None) -> Any:
        """The Gram matrix of the rows of X and Z, or of X with itself; a number for two single rows."""
        if Z is not None and not issparse(X) and np.ndim(X) == 1 and np.ndim(Z) == 1:
            return float(gram(self, np.asarray(X)[None], np.asarray(Z)[None])[0, 0])
        return gram(self, X, Z)

    def __add__(self, other: Any) -> Kernel:
        other = _as_kernel(other)
        return NotImplemented if other is None else Sum(self, other)

    def __radd__(self, other: Any) -> Kernel:
        other = _as_kernel(other)
        return NotImplemented if other is None else Sum(other, self)

    def __mul__(self, other: Any) -> Kernel:
        other = _as_kernel(other)
        return NotImplemented if other is None else Product(self, other)

    def __rmul__(self, other: Any) -> Kernel:
        other = _as_kernel(other)
        return NotImplemented if other is None else Product(other, self)

    def scaled(self, f: Callable[[Any], Array]) -> Kernel:
        """The kernel f(x)·k(x, x′)·f(x′).

        Parameters
        ----------
        f : callable, array of shape (n, d) -> ndarray of shape (n,)
            Any real function of a row, computed for many rows at once.

        Returns
        -------
        Kernel
            Positive definite if this one is.
        """
        return Scaled(self, f)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as in scikit-learn.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add those of kernels inside, as `left__gamma`.

        Returns
        -------
        dict
            Names and values.
        """
        found: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        inner = {name: value.get_params() for name, value in found.items() if isinstance(value, Kernel) and deep}
        return found | {f"{name}__{key}": value for name, params in inner.items() for key, value in params.items()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters in place, as in scikit-learn.

        Parameters
        ----------
        **params
            Names, also of kernels inside (`left__gamma`), and values.

        Returns
        -------
        self : Kernel
            The changed kernel.
        """
        own = {each.name for each in fields(self)}  # type: ignore[arg-type]
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in own or (rest and not isinstance(getattr(self, name), Kernel)):
                raise InvalidParameter(
                    "{kernel} has no parameter {key!r}; it has {names}. Use one of them.",
                    kernel=type(self).__name__,
                    key=key,
                    names=", ".join(self.get_params()) or "none",
                )
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                object.__setattr__(self, name, value)
        self.__post_init__()
        return self

    def __post_init__(self) -> None:
        """Validate the parameters; here, those that are kernels."""
        for name in ("left", "right", "kernel"):
            if not isinstance(getattr(self, name, self), Kernel):
                raise InvalidParameter(
                    "{owner}: {name}={value!r}; {name} must be a kernel. Pass one of hiperplano.kernels.",
                    owner=type(self).__name__,
                    name=name,
                    value=getattr(self, name),
                )

    def _number(self, name: str, low: float = -np.inf, open_low: bool = False) -> None:
        check_number(type(self).__name__, name, getattr(self, name), low, np.inf, open_low)


@dataclass(frozen=True)
class Constant(Kernel):
    """k(x, x′) = value, with the one feature √value.

    Parameters
    ----------
    value : float, default=1.0
        Positive.

    Examples
    --------
    >>> from hiperplano.kernels import Constant, Linear
    >>> print(Constant(1.0) + Linear())
    1 + x·x′
    """

    value: float = 1.0

    def __post_init__(self) -> None:
        self._number("value", 0.0, open_low=True)

    def __str__(self) -> str:
        return f"{self.value:g}"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return ()

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        out.fill(self.value)

    def diagonal(self, X: Any) -> Array:
        return np.full(length(X), float(self.value))

    def features(self, X: Any) -> Any:
        return np.full((length(X), 1), np.sqrt(self.value))


@dataclass(frozen=True)
class Sum(Kernel):
    """k(x, x′) = left(x, x′) + right(x, x′): the features of both, side by side.

    Parameters
    ----------
    left, right : Kernel
        The summands.

    Examples
    --------
    >>> from hiperplano.kernels import RBF, Linear
    >>> kernel = Linear() + RBF(gamma=0.5)
    >>> kernel([0.0, 1.0], [0.0, 1.0])
    2.0
    """

    left: Kernel
    right: Kernel

    @property
    def positive_definite(self) -> bool:  # type: ignore[override]
        return self.left.positive_definite and self.right.positive_definite

    def __str__(self) -> str:
        return f"{self.left} + {self.right}"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return self.left.prepare(X, centre), self.right.prepare(X, centre)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        other = np.empty_like(out)
        self.left.fill(x[0], z[0], out)
        self.right.fill(x[1], z[1], other)
        out += other

    def diagonal(self, X: Any) -> Array:
        return np.asarray(self.left.diagonal(X) + self.right.diagonal(X))

    def features(self, X: Any) -> Any:
        return np.hstack([dense(self.left.features(X)), dense(self.right.features(X))])


@dataclass(frozen=True)
class Product(Kernel):
    """k(x, x′) = left(x, x′)·right(x, x′): the products of every feature of one with every feature of the other.

    Parameters
    ----------
    left, right : Kernel
        The factors.

    Examples
    --------
    >>> from hiperplano.kernels import RBF, Linear
    >>> print(2.0 * Linear() * (RBF(gamma=0.5) + 1.0))
    2·x·x′·(exp(−0.5·‖x − x′‖²) + 1)
    """

    left: Kernel
    right: Kernel

    @property
    def positive_definite(self) -> bool:  # type: ignore[override]
        return self.left.positive_definite and self.right.positive_definite

    def __str__(self) -> str:
        return "·".join(f"({part})" if isinstance(part, Sum) else str(part) for part in (self.left, self.right))

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return self.left.prepare(X, centre), self.right.prepare(X, centre)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        other = np.empty_like(out)
        self.left.fill(x[0], z[0], out)
        self.right.fill(x[1], z[1], other)
        out *= other

    def diagonal(self, X: Any) -> Array:
        return np.asarray(self.left.diagonal(X) * self.right.diagonal(X))

    def features(self, X: Any) -> Any:
        left, right = dense(self.left.features(X)), dense(self.right.features(X))
        return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


@dataclass(frozen=True)
class Scaled(Kernel):
    """f(x)·k(x, x′)·f(x′): every feature of k times f(x). Made by `Kernel.scaled`.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    f : callable, array of shape (n, d) -> ndarray of shape (n,)
        Any real function of a row, computed for many rows at once.

    Examples
    --------
    The kernel of radial basis functions, as the third rule makes it from exp(x·x′):

    >>> import numpy as np
    >>> from hiperplano.kernels import RBF, Exponential
    >>> def f(X):
    ...     return np.exp(-np.square(X).sum(axis=1) / 2)
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
    >>> np.allclose(Exponential().scaled(f)(X), RBF(gamma=0.5)(X))
    True
    """

    kernel: Kernel
    f: Callable[[Any], Array]

    @property
    def positive_definite(self) -> bool:  # type: ignore[override]
        return self.kernel.positive_definite

    def __str__(self) -> str:
        name = getattr(self.f, "__name__", "f")
        name = "f" if name == "<lambda>" else name
        inner = f"({self.kernel})" if isinstance(self.kernel, Sum) else str(self.kernel)
        return f"{name}(x)·{inner}·{name}(x′)"

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return self._factors(X), self.kernel.prepare(X, centre)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        self.kernel.fill(x[1], z[1], out)
        out *= x[0][:, None]
        out *= z[0]

    def diagonal(self, X: Any) -> Array:
        return np.asarray(np.square(self._factors(X)) * self.kernel.diagonal(X))

    def features(self, X: Any) -> Any:
        return self._factors(X)[:, None] * dense(self.kernel.features(X))

    def _factors(self, X: Any) -> Array:
        found = np.asarray(self.f(X), dtype=getattr(X, "dtype", np.float64))
        if found.shape != (length(X),) or not np.isfinite(found).all():
            raise InvalidData(
                "The function f of f(x)·k(x, x′)·f(x′) gave an array of shape {shape}{bad}; one finite number for "
                "each of the {n} rows is needed. Correct f.",
                shape=found.shape,
                bad="" if np.isfinite(found).all() else Message(" with NaN or infinity"),
                n=length(X),
            )
        return found


def _as_kernel(value: Any) -> Kernel | None:
    """A kernel, or a number as a constant one."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return Constant(float(value))
    return value if isinstance(value, Kernel) else None


def length(X: Any) -> int:
    """Number of rows of an array, a sparse matrix or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def dense(rows: Any) -> Array:
    """Rows or features as an array."""
    return np.asarray(rows.toarray() if issparse(rows) else rows)
