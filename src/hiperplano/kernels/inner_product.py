"""Kernels of the inner product x·x′: linear, polynomial, exponential, sigmoid."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.block import Array, Block
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.kernels.algebra import Kernel, Prepared, dense
from hiperplano.kernels.width import check_gamma, shown_gamma, width

_MOST_FEATURES = 100_000


class InnerProduct(Kernel):
    """A kernel that is a function of x·x′ alone."""

    def prepare(self, X: Any, centre: Array) -> Prepared:
        return (X,)

    def fill(self, x: Prepared, z: Prepared, out: Array) -> None:
        inner_products(x[0], z[0], out)
        self._apply(out)

    def diagonal(self, X: Any) -> Array:
        found = row_squares(X)
        self._apply(found)
        return found

    def _apply(self, products: Array) -> None:
        """Convert x·x′ to k(x, x′), in place."""


@dataclass(frozen=True)
class Linear(InnerProduct):
    """k(x, x′) = x·x′, whose features are the columns themselves.

    Examples
    --------
    >>> from hiperplano.kernels import Linear
    >>> Linear()([1.0, 2.0], [3.0, 4.0])
    11.0
    """

    def __str__(self) -> str:
        return "x·x′"

    def features(self, X: Any) -> Any:
        return X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)


@dataclass(frozen=True)
class Polynomial(InnerProduct):
    """k(x, x′) = (gamma·x·x′ + coef0)^degree, whose features are all monomials up to the degree.

    Parameters
    ----------
    degree : int or float, default=3
        The exponent, at least 1. The kernel is positive definite for a whole number.
    gamma : float, "scale" or "auto", default=1.0
        Positive; "scale" is 1/(columns·variance of the numbers) and "auto" 1/columns, once a machine knows its rows.
    coef0 : float, default=1.0
        Added to the inner product; 0 leaves only monomials of the full degree. Below 0 the kernel is not positive
        definite.

    Examples
    --------
    >>> from hiperplano.kernels import Polynomial
    >>> Polynomial(degree=2)([1.0, 2.0], [3.0, 4.0])
    144.0
    >>> Polynomial(degree=2).features([[1.0, 2.0]]).round(3)
    array([[1.   , 1.414, 2.828, 1.   , 2.828, 4.   ]])
    """

    degree: float = 3
    gamma: float | str = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        self._number("degree", 1)
        check_gamma(self)
        self._number("coef0")

    @property
    def positive_definite(self) -> bool:  # type: ignore[override]
        return self.coef0 >= 0 and float(self.degree).is_integer()

    def __str__(self) -> str:
        return f"({shown_gamma(self)}x·x′{_shown_constant(self.coef0)})^{self.degree:g}"

    def _apply(self, products: Array) -> None:
        if width(self) != 1:
            products *= width(self)
        if self.coef0:
            products += self.coef0
        if float(self.degree).is_integer():
            with np.errstate(over="ignore"):  # an overflow is detected in the matrix
                _power(products, int(self.degree))
        elif products.min(initial=0.0) < 0:
            raise InvalidParameter(
                "Polynomial: degree={degree!r} with rows for which gamma·x·x′ + coef0 is negative; its power is a "
                "number only for a whole degree. Set a whole degree.",
                degree=self.degree,
            )
        else:
            np.power(products, self.degree, out=products)

    def features(self, X: Any) -> Any:
        rows = dense(X)
        if not self.positive_definite:
            raise NotAvailable(
                "The kernel {kernel} has no features: it is not positive definite. Set a whole degree and coef0 of 0 "
                "or more.",
                kernel=str(self),
            )
        degree, d = int(self.degree), rows.shape[1]
        n_features = comb(d + degree, degree)
        if n_features > _MOST_FEATURES:
            raise NotAvailable(
                "The kernel {kernel} has {n} features for {d} columns; at most {most} are computed. Use the kernel "
                "itself, or KernelFeatures.",
                kernel=str(self),
                n=n_features,
                d=d,
                most=_MOST_FEATURES,
            )
        return np.column_stack([self._monomial(rows, which, degree) for which in _exponents(d, degree, self.coef0)])

    def _monomial(self, rows: Array, columns: tuple[int, ...], degree: int) -> Array:
        """√(degree!/(a₀!·a₁!⋯)·coef0^a₀·gamma^(a₁+…))·Πx; its products are the terms of the power."""
        left = degree - len(columns)
        ways = factorial(degree) // (factorial(left) * prod(factorial(a) for a in Counter(columns).values()))
        weight = ways * self.coef0**left * width(self) ** len(columns)
        return np.asarray(np.sqrt(weight) * rows[:, list(columns)].prod(axis=1))


@dataclass(frozen=True)
class Exponential(InnerProduct):
    """k(x, x′) = exp(gamma·x·x′): the sum of all powers of the inner product, each divided by its factorial.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Positive; "scale" is 1/(columns·variance of the numbers) and "auto" 1/columns, once a machine knows its rows.

    Examples
    --------
    >>> from hiperplano.kernels import Exponential
    >>> print(Exponential(0.5))
    exp(0.5·x·x′)
    >>> Exponential()([0.0, 0.0], [1.0, 2.0])
    1.0
    """

    gamma: float | str = 1.0

    def __post_init__(self) -> None:
        check_gamma(self)

    def __str__(self) -> str:
        return f"exp({shown_gamma(self)}x·x′)"

    def _apply(self, products: Array) -> None:
        products *= width(self)
        with np.errstate(over="ignore"):  # an overflow is detected in the matrix
            np.exp(products, out=products)


@dataclass(frozen=True)
class Sigmoid(InnerProduct):
    """k(x, x′) = tanh(gamma·x·x′ + coef0), which is not positive definite in general.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default=1.0
        Positive; "scale" is 1/(columns·variance of the numbers) and "auto" 1/columns, once a machine knows its rows.
    coef0 : float, default=1.0
        Added to the inner product.

    Examples
    --------
    >>> from hiperplano.kernels import Sigmoid
    >>> Sigmoid().positive_definite
    False
    """

    gamma: float | str = 1.0
    coef0: float = 1.0
    positive_definite = False

    def __post_init__(self) -> None:
        check_gamma(self)
        self._number("coef0")

    def __str__(self) -> str:
        return f"tanh({shown_gamma(self)}x·x′{_shown_constant(self.coef0)})"

    def _apply(self, products: Array) -> None:
        products *= width(self)
        products += self.coef0
        np.tanh(products, out=products)


def _shown_constant(value: float) -> str:
    """A constant as a summand in a formula."""
    return f" {'+' if value > 0 else '−'} {abs(value):g}" if value else ""


def inner_products(x: Any, z: Any, out: Array) -> None:
    """x·zᵀ, where either may be sparse."""
    if issparse(x) or issparse(z):
        product = x @ z.T
        out[...] = product.toarray() if issparse(product) else product
    else:
        np.matmul(x, z.T, out=out)


def row_squares(X: Any) -> Array:
    """Σⱼ x² of every row, in float64."""
    rows = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
    return Block(rows, {}).row_squares()


def _power(values: Array, exponent: int) -> None:
    """values**exponent in place, by squaring."""
    base = values.copy() if exponent > 2 else values
    for bit in bin(exponent)[3:]:
        values *= values
        if bit == "1":
            values *= base


def _exponents(d: int, degree: int, coef0: float) -> Any:
    """The columns of every monomial, with repetitions, in order of degree."""
    lowest = 0 if coef0 else degree
    for size in range(lowest, degree + 1):
        yield from combinations_with_replacement(range(d), size)
