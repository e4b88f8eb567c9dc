"""Products of rows with vectors in about twice the precision of float64, by ordinary BLAS.

Numbers are split into slices of a few bits on a common grid. A product of two slices, and any sum of such products over
the rows or columns of a block, fits into 53 bits. So BLAS makes no rounding error, in any order of additions (Ozaki,
Ogita, Oishi and Rump 2012 use this for matrix products). Since there are many rows and few vectors, rows are split into
at most two long slices and a remainder, and vectors into short slices. Products with the remainder are so small that
their rounding errors do not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.solvers.statistics import centred_product, largest

_LONG = 27  # bits of a slice of the rows
_LEAST = 50  # least number of bits of a vector that are split exactly


def column_units(design: Design) -> Array:
    """Smallest power of two above the absolute values of each column; 1 for a column of zeros."""
    return power_above(largest(design))


def power_above(size: Array) -> Array:
    """Smallest power of two above each size; 1 for 0."""
    mantissa, exponent = np.frexp(size)
    return np.ldexp(1.0, np.where(mantissa == 0, 0, exponent))


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
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


def _cut_vector(values: Array, bits: int, least: int) -> Array:
    """Split numbers in [−1, 1] into slices of `bits` bits, `least` bits or more in all, and a remainder; in columns."""
    parts = []
    for position in range(1, -(-least // bits) + 1):
        grid = np.ldexp(1.5, 52 - position * bits)
        parts.append((values + grid) - grid)
        values = values - parts[-1]
    return np.stack([*parts, values], axis=1)


def cut_for_rows(values: Array) -> tuple[Array, ...]:
    """Split a vector for products with each slice of the rows; smaller slices of rows need fewer slices of it.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Numbers in [−1, 1]. Sums of k products are exact.

    Returns
    -------
    tuple of ndarray of shape (k, slices)
        The slices for each slice of the rows.
    """
    bits = max(1, 53 - _LONG - int(np.ceil(np.log2(max(len(values), 2)))))
    return tuple(_cut_vector(values, bits, least) for least in (_LEAST, _LEAST - _LONG, 0))


@dataclass(frozen=True)
class ExactResiduals:
    """Residuals of the equations r + intercept + x·coef = y and Xᵀ·W·r = 0, in doubled precision.

    r is the row vector "residual" minus `residual_mean`. Keeps f = y − r − intercept − x·coef of each row. Sums
    xᵀ·W·r/unit and Σ w·r, with their rounding errors, and in ordinary precision (x − mean)ᵀ·W·f, Σ w·(x − mean) and
    Σ w·f.

    Attributes
    ----------
    unit, mean : ndarray of shape (d,)
        Powers of two above the absolute values of the columns, and means of the columns.
    slices : tuple of ndarray
        Slices of coef·unit/reach.
    reach : float
        Power of two above the absolute values of coef·unit.
    target : int
        Column of y.
    """

    unit: Array
    mean: Array
    slices: tuple[Array, ...]
    reach: float
    intercept: float
    target: int
    residual_mean: float

    @classmethod
    def of(
        cls, unit: Array, mean: Array, coef: Array, intercept: float, target: int, residual_mean: float
    ) -> ExactResiduals:
        """For coefficients of shape (d,)."""
        scaled = coef * unit
        reach = float(power_above(np.abs(scaled).max(initial=0.0)))
        return cls(unit, mean, cut_for_rows(scaled / reach), reach, intercept, target, residual_mean)

    def __call__(self, block: Block) -> tuple[Sums, Rows]:
        xp = block.xp
        r = block.vectors["residual"] - self.residual_mean
        u, rest = (r, None) if block.weight is None else two_product(block.weight, r)
        size = power_above(xp.abs(u).max(initial=0.0))
        left = cut_for_rows(u / size)
        scores, sums = [], []
        for position, part in enumerate(_cut(block.scaled(1.0 / self.unit))):
            scores.append(part.dot(self.slices[position]))
            sums.append(part.transpose_dot(left[position]))
            if rest is not None and position < 2:  # products with the remainder are negligible
                sums.append(part.transpose_dot(rest[:, None] / size))
        constant = np.full(len(block), -self.intercept)
        f = xp.add(*_sum([block.y[:, self.target], -r, constant, *(-self.reach * _columns(scores))]))
        pieces = [*left[0].sum(axis=0), 0.0 if rest is None else rest.sum() / size]
        gradient, gain = _sum(_columns(sums)), _sum([np.atleast_1d(piece) for piece in pieces])
        weighted = block.weighted(f)
        cross, drift = centred_product(block, self.mean, np.column_stack([weighted, block.weights])).T
        exact = (size * each for each in (*gradient, *gain))
        return (*exact, cross, drift, np.atleast_1d(weighted.sum())), {"f": f}


def add_exact(a: Sums, b: Sums) -> Sums:
    """Add sums of `ExactResiduals`: two with their rounding errors, the others in ordinary precision."""
    exact = []
    for k in (0, 2):
        total, slip = two_sum(a[k], b[k])
        exact += [total, a[k + 1] + b[k + 1] + slip]
    return (*exact, *(x + y for x, y in zip(a[4:], b[4:], strict=True)))


def _cut(scaled: Block) -> Iterator[Block]:
    """Split rows with entries in [−1, 1] into two slices and a remainder, or fewer if the remainder is 0."""
    values = scaled.entries()
    for position in (1, 2):
        grid = np.ldexp(1.5, 52 - position * _LONG)
        part = values + grid
        part -= grid
        yield scaled.with_entries(part)
        values = values - part
        if not (values[:1].any() or values.any()):  # the first entries usually suffice
            return
    yield scaled.with_entries(values)


def _columns(products: list[Array]) -> Array:
    """The columns of all arrays, as rows."""
    return np.concatenate([product.T for product in products])


def _sum(terms: Iterable[Array]) -> tuple[Array, Array]:
    """Sum of arrays and its rounding error, in doubled precision."""
    first, *others = terms
    total, error = first, np.zeros(len(first))
    for term in others:
        total, slip = two_sum(total, term)
        error += slip
    return total, error
