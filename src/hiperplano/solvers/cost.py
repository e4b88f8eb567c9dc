"""Estimated costs of passes, Hessians and factorisations, by which solvers choose a method.

Solvers follow one rule: **compute a Hessian or a factorisation only once the passes made so far have cost as much as it
would, and about as many more seem to be needed.** A fit then takes at most about twice as long as the better of the two
methods, whatever the data.

Costs are in nanoseconds of one core. Other cores are faster or slower by similar factors for all costs, and a choice of
method depends only on ratios.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hiperplano.data.design import Design
from hiperplano.solvers.statistics import SPARSE_PRODUCTS, sparse_products_pay

# Nanoseconds of one core, measured on 16 table shapes (x86-64, AVX-512). There the formulas below hold within a factor
# of 2.
_CALL = 6e4  # fixed overhead of a pass together with an L-BFGS step
_ROW = 15.0  # loss and slope of one score of one row
_CELL, _CELL_SCORE = 0.5, 0.12  # both products of a pass, for each dense number: fixed part, and part for each score
_KEPT = 5.0  # keeping one score and its slope between passes in float32
_CAST = 0.4  # converting one number to another precision
_ENTRY = 4.0  # both products of a pass, for each stored number of sparse rows and each score
_STEP = 60.0  # vectors of an L-BFGS step, for each parameter: 30 within the cache, 100 beyond
_COPY = 2.5  # weighting or writing one number of an operand or a result of a matrix product
_PAIR = 4.0  # multiplying two stored numbers of a sparse row
_TRANSPOSE = 15.0  # one stored number, when sparse rows are transposed
_SPARSE_CALL = 2e5  # fixed overhead of a product of two sparse matrices
_PRODUCT = 0.022  # one multiplication of a symmetric product (SYRK)
_FACTOR = 0.055  # one of the size³/3 multiplications of a Cholesky factorisation
_SYSTEM = 2e4  # fixed overhead of a Cholesky factorisation
_FACTOR_ENTRY = 700.0  # one stored number of a matrix, in a sparse factorisation
_FILLED, _FILLED_PIVOTED = 0.015, 0.1  # one of the size³ multiplications in its dense part, without and with pivoting
_UNIT = 5.5  # one number of a matrix, scaled to a unit diagonal before Cholesky and read for its condition after it

# For leave-one-out and for products of rows in float32, measured on another machine.
_DOT = 0.11  # one multiplication of a general matrix product (GEMM), in nanoseconds
# Multiples of a Cholesky factorisation of the same size:
_INVERTED = 1.5  # inverse of a triangular matrix
_TRIDIAGONAL = 10.0  # reduction to tridiagonal form, with the orthogonal matrix
_DECOMPOSED = 36.0  # singular values and vectors of a triangular matrix, from its Gram matrix
_DECOMPOSED_BY_JACOBI = 130.0  # the same by Jacobi's method, for columns of unlike length
_RECURRENCE = 1.0  # nanoseconds for each number of the rows, in a recurrence along a tridiagonal form for one penalty
# Fixed overheads, as multiples of `_SYSTEM`: of a factor for each penalty, of a decomposition, of products of rows.
_CALLS_OF_FACTOR, _CALLS_OF_DECOMPOSITION, _CALLS_OF_ROWS = 3, 5, 20

_ESTIMATE = 5e5  # estimating the steps of conjugate gradients from a sample of rows and columns, in nanoseconds
_ESTIMATE_GAIN = 2.0  # a look at a sample is taken only if it may save this many times its cost
_PATIENCE = 1.5  # conjugate gradients may cost this many times a factorisation, as long as they seem to end by then
_BESIDE_STEPS = 5  # column moments, first and last gradient, in steps of conjugate gradients
_LEAST_STEPS = 4  # steps of conjugate gradients that even the largest penalty needs
_WARM_UP = 3.0  # L-BFGS steps after a change of preconditioner before its memory shows the rate of convergence
_WINDOW = 8  # the rate of convergence is measured over at most this number of last steps


@dataclass(frozen=True)
class Costs:
    """Estimated costs for tables of one shape.

    Attributes
    ----------
    n_rows, n_columns : int
        `n_columns` includes the column of the intercept.
    density : float
        Share of the numbers that are stored; 1 for dense rows.
    n_scores : int
        1, or the number of classes.
    reading : float
        Cost of reading one number in every pass; 0 for rows in memory.
    """

    n_rows: int
    n_columns: int
    density: float
    n_scores: int
    reading: float = 0.0

    @classmethod
    def of(cls, design: Design, n_scores: int, n_rows: int | None = None) -> Costs:
        """For all rows of a design, or for a sample of `n_rows` of them in memory."""
        density = design.density if design.is_sparse else 1.0
        if n_rows is not None:
            return cls(n_rows, design.n_columns + 1, density, n_scores)
        return cls(design.n_rows, design.n_columns + 1, density, n_scores, design.reading_cost)

    @property
    def gradient(self) -> float:
        """A pass for value and gradient, with an L-BFGS step."""
        return _CALL + self.gradient_work

    @property
    def gradient_work(self) -> float:
        """The same without the fixed overhead."""
        cells = float(self.n_rows) * self.n_columns
        number = _CELL + _CELL_SCORE * self.n_scores
        by_cell = cells * number if self.density == 1.0 else cells * self.density * _ENTRY * self.n_scores
        by_cell += cells * self.density * self.reading
        return self.n_scores * (self.n_rows * _ROW + self.n_columns * _STEP) + by_cell

    def passes_to_single(self, held: bool, cast: bool) -> float:
        """Number of float32 passes after which a float32 copy of dense rows has paid for itself.

        A pass in float32 halves the time of both products with the rows, but has to keep scores and slopes. Infinite if
        that leaves nothing saved.

        Parameters
        ----------
        held : bool
            Whether the rows are float32 already. They need no copy then, and a pass in float64 has to convert them.
        cast : bool
            Whether the copy is a plain cast; otherwise columns are standardised, too.
        """
        number = 0.5 * (_CELL + _CELL_SCORE * self.n_scores) + (_CAST if held else 0.0)
        saved = self.n_columns * number - self.n_scores * _KEPT
        copy = 0.0 if held else _CAST if cast else _COPY
        return self.n_columns * copy / saved if saved > 0 else math.inf

    @property
    def square_product(self) -> float:
        """A step of conjugate gradients: the product of Xᵀ·X and a vector, and overhead."""
        cells = float(self.n_rows) * self.n_columns * self.density
        number = _CELL + _CELL_SCORE if self.density == 1.0 else _ENTRY
        return _CALL + cells * (number + self.reading)

    @property
    def square_product_of_singles(self) -> float:
        """The same for dense float32 rows, which are converted to float64 in every step."""
        return self.square_product + float(self.n_rows) * self.n_columns * _CAST

    def affordable_steps(self, other: float, step: float | None = None) -> float:
        """Most steps of conjugate gradients before another method is used instead.

        Parameters
        ----------
        other, step : float
            Costs of the other method and of one step, by default for one target.
        """
        return _PATIENCE * other / (self.square_product if step is None else step)

    def profitable_steps(self, other: float, step: float) -> float:
        """Most steps of conjugate gradients that cost less than the other method; 0 if an estimate would not pay.

        Parameters
        ----------
        other, step : float
            Costs of the other method and of one step.
        """
        pays = self.worth_a_look(other - self.fewest_steps(step))
        return other / step - _BESIDE_STEPS if pays else 0.0

    @staticmethod
    def fewest_steps(step: float) -> float:
        """Conjugate gradients with a penalty so large that they need the fewest steps, each of a given cost."""
        return (_BESIDE_STEPS + _LEAST_STEPS) * step

    def worth_a_look(self, saved: float, cost: float = _ESTIMATE) -> bool:
        """Whether the possible saving justifies a look at a sample."""
        return saved >= _ESTIMATE_GAIN * cost

    @property
    def hessian(self) -> float:
        """A pass for the full Hessian, and its Cholesky factorisation."""
        pairs = self.n_scores * (self.n_scores + 1) / 2
        return self.gradient + pairs * self._weighted_product() + self.factor(self.n_columns * self.n_scores)

    @property
    def rounded_hessian(self) -> float:
        """The same for one score and dense rows, with products in float32."""
        return self.gradient + 0.5 * self._weighted_product() + self.factor(self.n_columns)

    @property
    def saved_by_rounding(self) -> float:
        """What XᵀX of dense rows in float32 saves, less a conversion of the rows and about 1.5 passes of refinement."""
        saved = 0.5 * self.n_columns * _PRODUCT
        refined = _CAST + 1.5 * (_CELL + _CELL_SCORE * self.n_scores)
        return float(self.n_rows) * self.n_columns * (saved - refined)

    @property
    def class_blocks(self) -> float:
        """A pass for the diagonal blocks of the Hessian, one for each score, and their factorisations."""
        return self.gradient + self.n_scores * (self._weighted_product() + self.factor(self.n_columns))

    @property
    def row_products(self) -> float:
        """The Gram matrix of the rows, X·Xᵀ, and its Cholesky factorisation."""
        one = self.n_columns * (_PRODUCT if self.density == 1.0 else self.density**2 * _PAIR) + _COPY
        turned = 0.0 if self.density == 1.0 else _SPARSE_CALL + self.n_rows * self.n_columns * self.density * _TRANSPOSE
        return self.n_rows**2 * one + turned + self.factor(self.n_rows)

    @property
    def rounds_row_products(self) -> bool:
        """Whether X·Xᵀ of dense rows in float32 saves more than a float32 copy and one more refinement step cost."""
        saved = 0.25 * self.n_rows * _DOT  # float32 halves the time of a symmetric product
        refined = _CAST + 2.0 * (_CELL + _CELL_SCORE * self.n_scores)
        return float(self.n_rows) * self.n_columns * (saved - refined) > _CALLS_OF_DECOMPOSITION * _SYSTEM

    def _weighted_product(self) -> float:
        cells = float(self.n_rows) * self.n_columns
        if self.n_scores == 1 and self.density < 1.0 and sparse_products_pay(self.density, self.n_columns):
            return cells * self.n_columns * self.density**2 * _PAIR + self.n_columns**2 * _COPY
        return cells * _COPY + cells * self.n_columns * _PRODUCT

    @staticmethod
    def prefer_factors(n_penalties: int) -> bool:
        """Whether a Cholesky factor of X·Xᵀ for each penalty is faster than one tridiagonal form for all."""
        return n_penalties * (1.0 + _INVERTED) < _TRIDIAGONAL

    def inverses_of_rows(self, n_penalties: int) -> float:
        """X·Xᵀ of dense rows, and the diagonals of (X·Xᵀ + alpha)⁻¹ for each penalty."""
        n = self.n_rows
        products = 0.5 * self._dot(n, self.n_columns - 1)
        factors = n_penalties * (1.0 + _INVERTED) * self._factor_only(n)
        form = factors if self.prefer_factors(n_penalties) else self._tridiagonal(n, n, n_penalties)
        return products + form + _CALLS_OF_ROWS * _SYSTEM

    def leverages_by_factors(self, n_penalties: int) -> float:
        """Leverages of all rows, from a Cholesky factor of XᵀX + alpha for each penalty."""
        d = self.n_columns - 1
        share = self.density if self.density < SPARSE_PRODUCTS else 0.5
        each = (1.0 + _INVERTED) * self._factor_only(d) + share * self._dot(d, self.n_rows) + _CALLS_OF_FACTOR * _SYSTEM
        return n_penalties * each

    def leverages_by_tridiagonal(self, n_penalties: int) -> float:
        """The same from a tridiagonal form of XᵀX."""
        d = self.n_columns - 1
        form = self._tridiagonal(d, self.n_rows, n_penalties)
        return form + self._dot(d, self.n_rows) + _CALLS_OF_DECOMPOSITION * _SYSTEM

    def leverages_by_decomposition(self, unlike: bool) -> float:
        """The same from singular vectors, which serve any number of penalties.

        Parameters
        ----------
        unlike : bool
            Whether columns are of unlike length.
        """
        d = self.n_columns - 1
        decomposed = _DECOMPOSED_BY_JACOBI if unlike else _DECOMPOSED
        return decomposed * self._factor_only(d) + self._dot(d, self.n_rows) + _CALLS_OF_DECOMPOSITION * _SYSTEM

    def _tridiagonal(self, size: int, n_vectors: int, n_penalties: int) -> float:
        """A tridiagonal form, and products of vectors with its inverses for each penalty."""
        return _TRIDIAGONAL * self._factor_only(size) + _RECURRENCE * float(size) * n_vectors * n_penalties

    @staticmethod
    def _dot(size: int, length: int) -> float:
        return float(size) ** 2 * length * _DOT

    @staticmethod
    def _factor_only(size: int) -> float:
        return float(size) ** 3 / 3 * _FACTOR

    @staticmethod
    def sparse_factor(n_stored: float, dense_size: float = 0.0, pivoted: bool = False) -> float:
        """Sparse factorisation of a matrix with `n_stored` numbers, whose fill-in leaves a dense part of some size."""
        return _FACTOR_ENTRY * n_stored + (_FILLED_PIVOTED if pivoted else _FILLED) * dense_size**3

    @staticmethod
    def factor(size: int) -> float:
        """Cholesky factorisation of a symmetric matrix scaled to a unit diagonal, and its condition."""
        return _SYSTEM + float(size) ** 2 * (_UNIT + size / 3 * _FACTOR)


@dataclass(frozen=True)
class Budget:
    """When to interrupt a minimisation for a better preconditioner.

    Attributes
    ----------
    steps : float
        Cost of the preconditioner, in steps of the minimisation.
    tol : float
        Largest entry of the gradient at which the minimisation ends.
    pace : float
        Best rate of convergence with the preconditioner: the logarithm of the factor by which a step shrinks the
        gradient.
    """

    steps: float
    tol: float
    pace: float = math.inf

    def is_spent(self, history: Sequence[float]) -> bool:
        """Whether the steps taken have cost as much as the preconditioner, which would save more than its cost.

        Parameters
        ----------
        history : sequence of float
            Largest entry of the gradient at the start and after every step.
        """
        taken = len(history) - 1
        if taken < max(_WARM_UP, self.steps):
            return False
        window = min(taken, _WINDOW)
        shrunk = math.log(max(history[-1 - window], 1e-300) / max(history[-1], 1e-300)) / window  # for each step
        left = math.log(max(history[-1] / self.tol, 1.0))
        return left * (1.0 - shrunk / self.pace) > shrunk * (_WARM_UP + self.steps)
