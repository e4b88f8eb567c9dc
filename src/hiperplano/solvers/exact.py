"""Products of rows with vectors, correct to about twice the digits of float64, through ordinary BLAS.

Numbers are cut into slices of few bits on a common grid. A product of two slices, and any sum of such
products that `_slice_bits` allows for, fits into 53 bits: BLAS then makes no rounding error at all, in any
order of additions. (Ozaki, Ogita, Oishi, Rump 2012 use this for matrix products.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.solvers.statistics import largest

_SLICES = 5
_LEVELS = 6  # products of slices i and j are kept for i + j < _LEVELS


def _slice_bits(n_terms: int) -> int:
    # Eight times as many: sums of up to _LEVELS pairs of slices share a grid.
    return (53 - int(np.ceil(np.log2(8 * max(2, n_terms))))) // 2


def _slices(values: Array, bits: int) -> Iterator[Array]:
    """Cut numbers of size at most one: multiples of 2**-bits, then of 2**-(2·bits), and so on."""
    for position in range(1, _SLICES + 1):
        grid = np.ldexp(1.5, 52 - position * bits)
        part = (values + grid) - grid
        yield part
        values = values - part
        if not values.any():
            return


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
        self._bits = _slice_bits(max(design.n_rows, design.n_columns))

    def residual_and_gradient(self, y: Array, r: Array, coef: Array, intercept: float, u: Array) -> tuple[Array, Array]:
        """f = y − r − intercept − x·coef by row, and g = xᵀ·(u₁ + u₂ + …)/unit, each rounded once.

        Parameters
        ----------
        u : ndarray of shape (n, parts)
            The parts of an exactly represented vector, largest first.
        """
        bits = self._bits
        scaled = coef * self.unit
        size = _power_above(np.abs(scaled).max(initial=0.0))
        right = np.stack(list(_slices(scaled / size, bits)), axis=1)
        sizes = _power_above(np.abs(u).max(axis=0, initial=0.0))
        f = np.empty(len(y))

        def statistic(block: Block) -> Sums:
            rows = block.rows
            by_level = np.zeros((_LEVELS, len(block)))
            gradient = np.zeros((u.shape[1], _LEVELS, len(coef)))
            left = [np.stack(list(_slices(u[rows, k] / sizes[k], bits)), axis=1) for k in range(u.shape[1])]
            for i, part in enumerate(self._cut(block.counted())):
                scores = part @ right
                for j in range(min(right.shape[1], _LEVELS - i)):
                    by_level[i + j] += scores[:, j]
                for k, slices in enumerate(left):
                    sums = part.T @ slices
                    for j in range(min(slices.shape[1], _LEVELS - i)):
                        gradient[k, i + j] += sums[:, j]
            total, error = _two_sum(y[rows], -r[rows])
            for term in (np.full(len(block), -intercept), *(-size * by_level)):
                total, slip = _two_sum(total, term)
                error += slip
            f[rows] = total + error
            return (gradient,)

        (gradient,) = self._design.fold(statistic)
        total, error = np.zeros(len(coef)), np.zeros(len(coef))
        for term in (gradient * sizes[:, None, None]).reshape(-1, len(coef)):
            total, slip = _two_sum(total, term)
            error += slip
        return f, total + error

    def _cut(self, block: Block) -> Iterator[Array]:
        if isinstance(block.x, np.ndarray):
            yield from _slices(block.x / self.unit, self._bits)
            return
        for data in _slices(block.x.data / self.unit[block.x.indices], self._bits):
            part = block.x.astype(np.float64)
            part.data = data
            yield part
