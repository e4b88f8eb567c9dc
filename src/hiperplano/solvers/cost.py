"""What passes over the rows, Hessians and factorisations cost: the numbers by which a way to the minimum is chosen.

A rule with a guarantee takes the place of thresholds: **a Hessian, or a factorisation, is bought only when as much has
been spent on plain passes as it costs, and as much again seems to be left.** Whatever the data, that takes at most
about twice as long as the better of the two ways.

Costs are in nanoseconds of one core. Other cores differ, but all costs by similar factors: only ratios are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hiperplano.data.design import Design
from hiperplano.solvers.statistics import SPARSE_PRODUCTS

# Measured on 16 shapes (x86-64, AVX-512), on which the formulas hold within a factor of 2; `_STEP` from one profile.
_CALL = 6e4  # a pass and a step of L-BFGS, however small the table
_ROW = 15.0  # the loss of one score of one row
_CELL, _CELL_SCORE = 0.5, 0.12  # a number read by both products of a pass, and its products with one score
_KEPT = 5.0  # a score and its slope, of a point to which others are compared
_CAST = 0.4  # a number converted to another precision
_ENTRY = 4.0  # the same for a stored number of sparse rows
_STEP = 30.0  # a parameter, in the products of a step of L-BFGS with those before it
_COPY = 2.5  # a number weighted, and written, before it is multiplied with others
_PAIR = 4.0  # two stored numbers of a sparse row, multiplied
_TURNED = 15.0  # a stored number brought into the order of columns
_SPARSE = 2e5  # a product of two sparse matrices, however small
_PRODUCT = 0.022  # one multiplication inside a product of matrices
_FACTOR = 0.055  # one multiplication inside a triangular factorisation
_DOT = 0.11  # the same inside a product of two different matrices, on the machine that the next four are from,
_INVERTED = 1.5  # the inverse of a triangle, in factorisations of its size,
_TRIDIAGONAL = 10.0  # a tridiagonal form, and the matrix that leads to it,
_RECURRENCE = 1.0  # a number of a row or its coordinates, in a recurrence along such a form for one penalty,
_DECOMPOSED = 36.0  # and singular values and vectors of a triangle, from its products
_CALLS_OF_FACTOR, _CALLS_OF_DECOMPOSITION, _CALLS_OF_ROWS = 3, 5, 20  # in those of a factorisation, however small
_UNIT = 5.5  # a number of a symmetric matrix, scaled before the factorisation and visited for the condition after it
_SYSTEM = 2e4  # a factorisation, however small
_LOOK = 5e5  # a look at some columns of some rows, however large the table,
_WORTH = 4.0  # and how many times that it may save
_ANEW = 3.0  # steps of L-BFGS before those that it remembers tell a pace, with a new preconditioner again
_WINDOW = 8  # last steps that tell how fast a minimisation converges


@dataclass(frozen=True)
class Costs:
    """Costs of one problem's shape.

    Attributes
    ----------
    n_rows, n_columns : int
        Columns with that of the intercept.
    density : float
        Share of numbers that are stored; 1 for dense rows.
    n_scores : int
        1, or the number of classes.
    reading : float
        A number of a pass, before anything is done with it; 0 in memory.
    """

    n_rows: int
    n_columns: int
    density: float
    n_scores: int
    reading: float = 0.0

    @classmethod
    def of(cls, design: Design, n_scores: int, n_rows: int | None = None) -> Costs:
        """Of the rows of a design, or of a sample of `n_rows` of them, which is in memory."""
        density = design.density if design.is_sparse else 1.0
        if n_rows is not None:
            return cls(n_rows, design.n_columns + 1, density, n_scores)
        return cls(design.n_rows, design.n_columns + 1, density, n_scores, design.reading_cost)

    @property
    def gradient(self) -> float:
        """A pass for value and gradient, and a step of L-BFGS."""
        return _CALL + self.gradient_work

    @property
    def gradient_work(self) -> float:
        """The part of that which grows with the table."""
        cells = float(self.n_rows) * self.n_columns
        number = _CELL + _CELL_SCORE * self.n_scores
        by_cell = cells * number if self.density == 1.0 else cells * self.density * _ENTRY * self.n_scores
        by_cell += cells * self.density * self.reading
        return self.n_scores * (self.n_rows * _ROW + self.n_columns * _STEP) + by_cell

    def passes_to_single(self, held: bool, cast: bool) -> float:
        """Passes in float32, each of which saves half the time of its products, that make up for a copy of dense rows.

        Infinite where they save nothing: scores and slopes are kept between passes.

        Parameters
        ----------
        held : bool
            Whether the rows are in float32, so that there is none, and others convert them.
        cast : bool
            Whether a copy holds the numbers as they are.
        """
        number = 0.5 * (_CELL + _CELL_SCORE * self.n_scores) + (_CAST if held else 0.0)
        saved = self.n_columns * number - self.n_scores * _KEPT
        copy = 0.0 if held else _CAST if cast else _COPY
        return self.n_columns * copy / saved if saved > 0 else math.inf

    @property
    def square_product(self) -> float:
        """Xᵀ·X times a vector, and the rest of a step of conjugate gradients."""
        cells = float(self.n_rows) * self.n_columns * self.density
        number = _CELL + _CELL_SCORE if self.density == 1.0 else _ENTRY
        return _CALL + cells * (number + self.reading)

    @property
    def square_product_of_singles(self) -> float:
        """The same of dense rows in float32, converted at every step."""
        return self.square_product + float(self.n_rows) * self.n_columns * _CAST

    def worth_a_look(self, saved: float) -> bool:
        """Whether so much time, which may be saved, is worth a look at some rows that tells whether it is."""
        return saved >= _WORTH * _LOOK

    @property
    def hessian(self) -> float:
        """A pass for the whole Hessian, and its factorisation."""
        pairs = self.n_scores * (self.n_scores + 1) / 2
        return self.gradient + pairs * self._weighted_product() + self.factor(self.n_columns * self.n_scores)

    @property
    def rounded_hessian(self) -> float:
        """The same of one score and dense rows, the products in float32."""
        return self.gradient + 0.5 * self._weighted_product() + self.factor(self.n_columns)

    @property
    def class_blocks(self) -> float:
        """A pass for the Hessian's blocks on the diagonal, one for each score, and their factorisations."""
        return self.gradient + self.n_scores * (self._weighted_product() + self.factor(self.n_columns))

    @property
    def row_products(self) -> float:
        """All products of two rows, and a triangular factor of their matrix."""
        one = self.n_columns * (_PRODUCT if self.density == 1.0 else self.density**2 * _PAIR) + _COPY
        turned = 0.0 if self.density == 1.0 else _SPARSE + self.n_rows * self.n_columns * self.density * _TURNED
        return self.n_rows**2 * one + turned + self.factor(self.n_rows)

    @property
    def rounds_row_products(self) -> bool:
        """Whether products of dense rows in float32 save more than a copy of these and another step of refinement."""
        saved = 0.25 * self.n_rows * _DOT  # half of a symmetric product
        refined = _CAST + 2.0 * (_CELL + _CELL_SCORE * self.n_scores)
        return float(self.n_rows) * self.n_columns * (saved - refined) > _CALLS_OF_DECOMPOSITION * _SYSTEM

    def _weighted_product(self) -> float:
        cells = float(self.n_rows) * self.n_columns
        if self.n_scores == 1 and self.density < SPARSE_PRODUCTS:
            return cells * self.n_columns * self.density**2 * _PAIR + self.n_columns**2 * _COPY
        return cells * _COPY + cells * self.n_columns * _PRODUCT

    @staticmethod
    def prefer_factors(n_penalties: int) -> bool:
        """Whether a triangular factor of products of rows for each penalty takes less time than a tridiagonal form."""
        return n_penalties * (1.0 + _INVERTED) < _TRIDIAGONAL

    def inverses_of_rows(self, n_penalties: int) -> float:
        """Products of all pairs of dense rows, and the diagonals of their inverses with each penalty."""
        n = self.n_rows
        products = 0.5 * self._dot(n, self.n_columns - 1)
        factors = n_penalties * (1.0 + _INVERTED) * self._factor_only(n)
        form = factors if self.prefer_factors(n_penalties) else self._tridiagonal(n, n, n_penalties)
        return products + form + _CALLS_OF_ROWS * _SYSTEM

    def leverages_by_factors(self, n_penalties: int) -> float:
        """Leverages of all rows from a triangular factor of products of columns for each penalty."""
        d = self.n_columns - 1
        share = self.density if self.density < SPARSE_PRODUCTS else 0.5
        each = (1.0 + _INVERTED) * self._factor_only(d) + share * self._dot(d, self.n_rows) + _CALLS_OF_FACTOR * _SYSTEM
        return n_penalties * each

    def leverages_by_tridiagonal(self, n_penalties: int) -> float:
        """The same from a tridiagonal form of the products of columns."""
        d = self.n_columns - 1
        form = self._tridiagonal(d, self.n_rows, n_penalties)
        return form + self._dot(d, self.n_rows) + _CALLS_OF_DECOMPOSITION * _SYSTEM

    @property
    def leverages_by_decomposition(self) -> float:
        """The same from singular vectors, for any number of penalties."""
        d = self.n_columns - 1
        return _DECOMPOSED * self._factor_only(d) + self._dot(d, self.n_rows) + _CALLS_OF_DECOMPOSITION * _SYSTEM

    def _tridiagonal(self, size: int, n_vectors: int, n_penalties: int) -> float:
        """A tridiagonal form, and so many vectors times its inverses with each penalty."""
        return _TRIDIAGONAL * self._factor_only(size) + _RECURRENCE * float(size) * n_vectors * n_penalties

    @staticmethod
    def _dot(size: int, length: int) -> float:
        return float(size) ** 2 * length * _DOT

    @staticmethod
    def _factor_only(size: int) -> float:
        return float(size) ** 3 / 3 * _FACTOR

    @staticmethod
    def factor(size: int) -> float:
        """A triangular factorisation of a symmetric matrix, brought to a unit diagonal, and its condition."""
        return _SYSTEM + float(size) ** 2 * (_UNIT + size / 3 * _FACTOR)


@dataclass(frozen=True)
class Budget:
    """When to leave a minimisation for a better preconditioner.

    Attributes
    ----------
    steps : float
        What the preconditioner costs, in steps of the minimisation.
    tol : float
        Largest entry of the gradient to be reached.
    pace : float
        Logarithm of the factor by which each step with the preconditioner shrinks the gradient at best.
    """

    steps: float
    tol: float
    pace: float = math.inf

    def is_spent(self, history: Sequence[float]) -> bool:
        """Whether as many steps were taken as the preconditioner costs, and it seems to save more than that.

        Parameters
        ----------
        history : sequence of float
            Largest entries of the gradient, the one at the start first.
        """
        taken = len(history) - 1
        if taken < max(_ANEW, self.steps):
            return False
        window = min(taken, _WINDOW)
        shrunk = math.log(max(history[-1 - window], 1e-300) / max(history[-1], 1e-300)) / window  # by each step
        left = math.log(max(history[-1] / self.tol, 1.0))
        return left * (1.0 - shrunk / self.pace) > shrunk * (_ANEW + self.steps)
