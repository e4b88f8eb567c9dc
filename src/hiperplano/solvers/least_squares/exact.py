"""Products of rows with vectors, correct to about twice the digits of float64, through ordinary BLAS.

Numbers are cut into slices of few bits on a common grid. A product of two slices, and any sum of so many of them as
a block has rows or columns, fits into 53 bits: BLAS then makes no rounding error at all, in any order of additions.
(Ozaki, Ogita, Oishi, Rump 2012 use this for matrix products.) The rows are many and the vectors few, so rows are cut
into long slices, at most two and what is left, and vectors into short ones. Products with what is left are so small
that their rounding does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array, Block, Design, Rows, Sums
from hiperplano.solvers.statistics import centred_product, largest

_LONG = 27  # bits of a slice of the rows
_LEAST = 50  # bits of a vector that are cut exactly


def column_units(design: Design) -> Array:
    """The power of two at or above the largest size in every column; one for a column of zeros."""
    return power_above(largest(design))


def power_above(size: Array) -> Array:
    """The power of two at or above each size; one for zero."""
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
    """Numbers of size at most one as slices of `bits` bits, until `least` are cut, and what is left; in columns."""
    parts = []
    for position in range(1, -(-least // bits) + 1):
        grid = np.ldexp(1.5, 52 - position * bits)
        parts.append((values + grid) - grid)
        values = values - parts[-1]
    return np.stack([*parts, values], axis=1)


def cut_for_rows(values: Array) -> tuple[Array, ...]:
    """A vector to meet the slices of rows: the smaller those are, the fewer of its own slices matter.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Of size at most one. Sums of k products are exact.

    Returns
    -------
    tuple of ndarray of shape (k, slices)
        For each of the slices of rows.
    """
    bits = max(1, 53 - _LONG - int(np.ceil(np.log2(max(len(values), 2)))))
    return tuple(_cut_vector(values, bits, least) for least in (_LEAST, _LEAST - _LONG, 0))


@dataclass(frozen=True)
class ExactResiduals:
    """What the equations r + intercept + x·coef = y and Xᵀ·W·r = 0 lack, each rounded once.

    With r the row vector "residual" less `residual_mean`, for every row f = y − r − intercept − x·coef, kept as "f";
    as sums with their errors xᵀ·W·r/unit and Σ w·r; and, in ordinary precision, (x − mean)ᵀ·W·f, Σ w·(x − mean) and
    Σ w·f.

    Attributes
    ----------
    unit, mean : ndarray of shape (d,)
        Powers of two at or above the columns' sizes, and their means.
    slices : tuple of ndarray
        coef·unit/reach, cut.
    reach : float
        The power of two at or above the largest of coef·unit.
    target : int
        Which column of y.
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
            if rest is not None and position < 2:  # beyond, below the rounding of the rounding
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
    """Add what `ExactResiduals` sums: two sums with their errors, and plain ones."""
    exact = []
    for k in (0, 2):
        total, slip = two_sum(a[k], b[k])
        exact += [total, a[k + 1] + b[k + 1] + slip]
    return (*exact, *(x + y for x, y in zip(a[4:], b[4:], strict=True)))


def _cut(scaled: Block) -> Iterator[Block]:
    """Slices of rows of size at most one: two of them and what is left, or fewer if nothing is."""
    values = scaled.entries()
    for position in (1, 2):
        grid = np.ldexp(1.5, 52 - position * _LONG)
        part = values + grid
        part -= grid
        yield scaled.with_entries(part)
        values = values - part
        if not (values[:1].any() or values.any()):  # a look at the beginning is enough, as a rule
            return
    yield scaled.with_entries(values)


def _columns(products: list[Array]) -> Array:
    """All columns, as rows."""
    return np.concatenate([product.T for product in products])


def _sum(terms: Iterable[Array]) -> tuple[Array, Array]:
    """The sum of some arrays and its error, to twice the digits."""
    first, *others = terms
    total, error = first, np.zeros(len(first))
    for term in others:
        total, slip = two_sum(total, term)
        error += slip
    return total, error
