"""Least squares in as many digits as wanted: what the solvers are measured with.

Floats enter exactly as they are, sums and solutions are made with `DIGITS` decimal digits.
"""

import mpmath as mp
import numpy as np

DIGITS = 700  # products of numbers of 1e±150, and differences of such products, still have hundreds of digits left


def _vector(values):
    return [mp.mpf(float(value)) for value in values]


def _centred(columns, weight, fit_intercept):
    """Columns minus their weighted means, and the means."""
    if not fit_intercept:
        return columns, [mp.mpf(0)] * len(columns)
    total = mp.fsum(weight)
    means = [mp.fdot(weight, column) / total for column in columns]
    return [[value - mean for value in column] for column, mean in zip(columns, means, strict=True)], means


class Problem:
    """Σ w·(y − x·coef − intercept)² + alpha·‖coef‖² for one target."""

    def __init__(self, X, y, weight=None, alpha=0.0, fit_intercept=True):
        with mp.workdps(DIGITS):
            X = np.asarray(X, dtype=float)
            self.weight = _vector(np.ones(len(X)) if weight is None else weight)
            self.alpha = mp.mpf(float(alpha))
            self.columns, self.mean = _centred([_vector(column) for column in X.T], self.weight, fit_intercept)
            (self.target,), (self.target_mean,) = _centred([_vector(y)], self.weight, fit_intercept)

    def _product(self, left, right):
        return mp.fsum(w * a * b for w, a, b in zip(self.weight, left, right, strict=True))

    def length(self, column):
        return mp.sqrt(self._product(column, column))

    def solve(self):
        """Coefficients and intercept, for columns that do not depend on each other (or with a penalty)."""
        with mp.workdps(DIGITS):
            d = len(self.columns)
            gram = mp.matrix(d, d)
            for j in range(d):
                for k in range(d):
                    gram[j, k] = self._product(self.columns[j], self.columns[k]) + (self.alpha if j == k else 0)
            cross = mp.matrix([self._product(column, self.target) for column in self.columns])
            coef = mp.lu_solve(gram, cross)
            return np.array([float(value) for value in coef]), float(self.target_mean - mp.fdot(coef, self.mean))

    def shortest(self):
        """The shortest coefficients, for rows (less one with an intercept) that do not depend on each other."""
        with mp.workdps(DIGITS):
            n = len(self.target) - (1 if any(self.mean) or self.target_mean else 0)
            rows = mp.matrix(n, len(self.columns))
            for i in range(n):
                for j, column in enumerate(self.columns):
                    rows[i, j] = column[i]
            coef = rows.T * mp.lu_solve(rows * rows.T, mp.matrix(self.target[:n]))
            return np.array([float(value) for value in coef])

    def slack(self, coef):
        """How far each component of the gradient is from 0, in units of the sizes it is made of.

        |xⱼᵀ·W·r − alpha·coefⱼ| over sⱼ·(‖y‖ + Σₖ |coefₖ|·sₖ) with s = √(‖x‖² + alpha), the length of a column with
        its penalty: a backward error, small for every accurate minimum, also where columns depend on each other.
        """
        with mp.workdps(DIGITS):
            coef = _vector(coef)
            residual = [
                y - mp.fdot(coef, row) for y, row in zip(self.target, zip(*self.columns, strict=True), strict=True)
            ]
            lengths = [mp.sqrt(self._product(column, column) + self.alpha) for column in self.columns]
            size = self.length(self.target) + mp.fdot([abs(c) for c in coef], lengths)
            found = []
            for column, c, length in zip(self.columns, coef, lengths, strict=True):
                slope = self._product(column, residual) - self.alpha * c
                found.append(float(slope / (length * size)) if length * size else 0.0)
            return np.array(found)

    def blur(self):
        """How much of a column's spread the rounding of its own numbers is, at most."""
        with mp.workdps(DIGITS):
            root = mp.sqrt(mp.fsum(self.weight))
            lengths = [self.length(column) for column in self.columns]
            ratios = [abs(m) * root / length for m, length in zip(self.mean, lengths, strict=True) if length]
            return float(max(ratios, default=mp.mpf(0))) * 2.3e-16

    def intercept_error(self, coef, intercept):
        """|intercept − (mean y − Σ coef·mean x)|, in units of the largest of these terms."""
        with mp.workdps(DIGITS):
            terms = [self.target_mean] + [-mp.mpf(float(c)) * m for c, m in zip(coef, self.mean, strict=True)]
            size = max(abs(term) for term in terms)
            return float(abs(mp.fsum(terms) - mp.mpf(float(intercept))) / size) if size else abs(float(intercept))


def digits(found, true):
    """Correct decimal digits of the worst number (at most 16)."""
    found, true = np.ravel(found).astype(float), np.ravel(true).astype(float)
    error = np.where(true == 0, np.abs(found), np.abs(found - true) / np.where(true == 0, 1.0, np.abs(true)))
    return float(-np.log10(np.maximum(error.max(initial=0.0), 1e-16)))


def scaled_digits(found, true, X):
    """Correct digits in the norm of coefficients times the spread of their columns."""
    X = np.asarray(X, dtype=float)
    size = np.abs(X - X[0]).max(axis=0)
    found, true = found * size, true * size
    return float(-np.log10(max(np.linalg.norm(found - true) / np.linalg.norm(true), 1e-16)))
