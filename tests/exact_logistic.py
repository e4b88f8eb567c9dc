"""Logistic and softmax regression with 40 digits: Newton's method on the plain likelihood.

Parameters are differences to the first class, class after class, the intercept first: (K−1)·(d+1) numbers.
"""

import mpmath as mp
import numpy as np

DIGITS = 40


def _probabilities(theta, row, classes, size):
    scores = [mp.mpf(0)] + [mp.fdot(theta[k * size : (k + 1) * size], row) for k in range(classes - 1)]
    top = max(scores)
    parts = [mp.exp(score - top) for score in scores]
    total = mp.fsum(parts)
    return [part / total for part in parts], top + mp.log(total), scores


def _sums(theta, rows, codes, classes):
    """Log-likelihood, its gradient, the information, and Σ of squared gradients of single rows."""
    size = len(rows[0])
    p = (classes - 1) * size
    value, gradient = mp.mpf(0), mp.matrix(p, 1)
    information, squares = mp.matrix(p, p), mp.matrix(p, p)
    for row, code in zip(rows, codes, strict=True):
        chance, log_total, scores = _probabilities(theta, row, classes, size)
        value += scores[code] - log_total
        residual = [(1 if code == k else 0) - chance[k] for k in range(1, classes)]
        own = [residual[k] * x for k in range(classes - 1) for x in row]
        for a in range(p):
            gradient[a] += own[a]
            for b in range(a + 1):
                k, m = a // size, b // size
                curvature = chance[k + 1] * ((1 if k == m else 0) - chance[m + 1])
                information[a, b] += curvature * row[a % size] * row[b % size]
                squares[a, b] += own[a] * own[b]
    for a in range(p):
        for b in range(a):
            information[b, a], squares[b, a] = information[a, b], squares[a, b]
    return value, gradient, information, squares


def _array(matrix):
    return np.array([[float(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)])


def maximum_likelihood(X, y):
    """coef of shape ((K−1)·(d+1),), its covariance, the HC0 covariance, and the log-likelihood."""
    classes, codes = np.unique(y, return_inverse=True)
    with mp.workdps(DIGITS):
        rows = [[mp.mpf(1), *(mp.mpf(float(value)) for value in row)] for row in np.asarray(X, dtype=float)]
        theta = [mp.mpf(0)] * ((len(classes) - 1) * len(rows[0]))
        for _ in range(30):
            value, gradient, information, squares = _sums(theta, rows, codes.tolist(), len(classes))
            step = mp.lu_solve(information, gradient)
            theta = [a + b for a, b in zip(theta, step, strict=True)]
            if max(abs(b) for b in step) < mp.mpf(10) ** (-DIGITS // 2):
                break
        inverse = information**-1
        sandwich = inverse * squares * inverse
        return np.array([float(value) for value in theta]), _array(inverse), _array(sandwich), float(value)
