"""Products of rows with vectors, correct to about twice the digits of float64, through ordinary BLAS.

Numbers are cut into slices of few bits on a common grid. A product of two slices, and any sum of so many of them as
a block has rows or columns, fits into 53 bits: BLAS then makes no rounding error at all, in any order of additions.
(Ozaki, Ogita, Oishi, Rump 2012 use this for matrix products.) The rows are many and the vectors few, so rows are cut
into long slices, at most two and what is left, and vectors into short ones. Products with what is left are so small
that their rounding does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.statistics import largest

_LONG = 27  # bits of a slice of the rows
_LEAST = 50  # bits of a vector that are cut exactly


def _cut_vector(values: Array, bits: int, least: int) -> Array:
    """Numbers of size at most one as slices of `bits` bits, until `least` are cut, and what is left; in columns."""
    parts = []
    for position in range(1, -(-least // bits) + 1):
        grid = np.ldexp(1.5, 52 - position * bits)
        parts.append((values + grid) - grid)
        values = values - parts[-1]
    return np.stack([*parts, values], axis=1)


def _cut_for_rows(values: Array, bits: int) -> list[Array]:
    """A vector to meet the slices of rows: the smaller those are, the fewer of its own slices matter."""
    return [_cut_vector(values, bits, least) for least in (_LEAST, _LEAST - _LONG, 0)]


def _power_above(size: Array) -> Array:
    """The power of two at or above each size; one for zero."""
    mantissa, exponent = np.frexp(size)
    return np.ldexp(1.0, np.where(mantissa == 0, 0, exponent))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b as a rounded sum and its exact error."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a·b as a rounded product and its exact error (Dekker's splitting)."""

    def halves(x: Array) -> tuple[Array, Array]:
        wide = 134217729.0 * x
        high = wide - (wide - x)
        return high, x - high

    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


class ExactProducts:
    """x·v and xᵀ·u for the rows of a design, columns in units of `unit` (powers of two)."""

    def __init__(self, design: Design) -> None:
        self.unit = _power_above(largest(design))
        self._design = design
        terms = max(design.block_rows(), design.n_columns, 2)
        self._bits = 53 - _LONG - int(np.ceil(np.log2(terms)))

    def residual_and_gradient(self, y: Array, r: Array, coef: Array, intercept: float, u: Array) -> tuple[Array, Array]:
        """f = y − r − intercept − x·coef by row, and g = xᵀ·(u₁ + u₂ + …)/unit, each rounded once.

        Parameters
        ----------
        u : ndarray of shape (n, parts)
            The parts of an exactly represented vector, largest first, each below the rounding of the one before.
        """
        scaled, size = coef * self.unit, _power_above(np.abs(u[:, 0]).max(initial=0.0))
        reach = _power_above(np.abs(scaled).max(initial=0.0))
        right = _cut_for_rows(scaled / reach, self._bits)
        rest = u[:, 1:].sum(axis=1, keepdims=True) if u.shape[1] > 1 else None
        f = np.empty(len(y))

        def statistic(block: Block) -> Sums:
            rows, scores, sums = block.rows, [], []
            left = _cut_for_rows(u[rows, 0] / size, self._bits)
            for level, part in enumerate(self._cut(block.counted())):
                scores.append(part @ right[level])
                sums.append(part.T @ left[level])
                if rest is not None and level < 2:  # beyond, below the rounding of the rounding
                    sums.append(part.T @ (rest[rows] / size))
            terms = (y[rows], -r[rows], np.full(len(block), -intercept), *(-reach * _columns(scores)))
            f[rows] = np.add(*_sum(terms))
            return _sum(_columns(sums))

        total, error = self._design.fold(statistic, _add)
        return f, size * (total + error)

    def _scaled(self, values: Array, columns: Array | None) -> Array:
        """Numbers in the units of their columns, as a fresh array of float64."""
        divide = bool(self.unit.min(initial=1.0) < 2.0**-1000)  # beyond, one over the unit may overflow
        unit = self.unit if divide else 1.0 / self.unit
        unit = unit if columns is None else unit[columns]
        return np.asarray(np.divide(values, unit) if divide else np.multiply(values, unit))

    def _cut(self, block: Block) -> Iterator[Any]:
        """Slices of the rows: two of them and what is left, or fewer if nothing is."""
        dense = isinstance(block.x, np.ndarray)
        values = self._scaled(block.x if dense else block.x.data, None if dense else block.x.indices)
        for position in (1, 2):
            grid = np.ldexp(1.5, 52 - position * _LONG)
            part = values + grid
            part -= grid
            yield part if dense else _with_entries(block.x, part)
            values -= part
            if not (values[:1].any() or values.any()):  # a look at the beginning is enough, as a rule
                return
        yield values if dense else _with_entries(block.x, values)


def _with_entries(rows: Any, data: Array) -> Any:
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


def _columns(products: list[Array]) -> Array:
    """All columns, as rows."""
    return np.concatenate([product.T for product in products])


def _sum(terms: Iterable[Array]) -> tuple[Array, Array]:
    """The sum of some arrays and its error, to twice the digits."""
    first, *others = terms
    total, error = first, np.zeros(len(first))
    for term in others:
        total, slip = _two_sum(total, term)
        error += slip
    return total, error


def _add(a: Sums, b: Sums) -> Sums:
    """Add sums that have errors."""
    total, slip = _two_sum(a[0], b[0])
    return total, a[1] + b[1] + slip
