"""Probabilities from the scores of machines for pairs of classes: Platt's sigmoids, coupled.

J. Platt, Probabilistic outputs for support vector machines (1999); T.-F. Wu, C.-J. Lin and R. C. Weng, Probability
estimates for multi-class classification by pairwise coupling, JMLR 5 (2004), their second method.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit

from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.kernels import Kernel
from hiperplano.solvers.kernel.svm.fit import Control
from hiperplano.solvers.kernel.svm.folds.scores import fold_scores
from hiperplano.solvers.likelihood.fit import fit_likelihood

_FOLDS = 5
_CLOSEST = 1e-7  # least distance of a pair's probability from 0 and 1, so that the coupled probabilities are determined


def fit_sigmoids(
    kernel: Kernel, rows: Any, codes: Array, bound: Array, weight: Array, control: Control, random: Any
) -> tuple[Array, Array]:
    """A and B of the sigmoid of each pair of classes, from out-of-fold scores of five folds.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
    codes : ndarray of int of shape (n,)
        Numbers of the classes.
    bound : ndarray of shape (n,) or (pairs, n)
        Bounds of the dual variables.
    weight : ndarray of shape (n,)
    random : RandomState
        Assigns the rows of each class to the folds.
    """
    n, fold = len(codes), np.empty(len(codes), dtype=np.intp)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        fold[random.permutation(members)] = np.arange(len(members)) % _FOLDS
    trained = fold != np.arange(_FOLDS)[:, None]
    machines = [
        ((codes == i) | (codes == j), np.where(codes == i, 1.0, -1.0))
        for i, j in combinations(range(int(codes.max()) + 1), 2)
    ]
    splits = [(use, ~use) for use in trained]
    scores = np.empty((n, len(machines)))
    for (_, test), held in zip(
        splits, fold_scores([kernel], rows, machines, bound, splits, np.ones(1), control)[0], strict=True
    ):
        scores[test] = held[0].T
    found = []
    for machine, (own, sign) in enumerate(machines):
        left = np.array([[np.any(own & use & (sign == side)) for use in trained] for side in (1.0, -1.0)])
        # A fold whose training rows have one class only predicts that class for all rows.
        alone = left[0].astype(float) - left[1].astype(float)
        held_out = np.where(np.all(left, axis=0)[fold], scores[:, machine], alone[fold])
        found.append(fit_sigmoid(held_out[own], sign[own] > 0, weight[own]))
    A, B = np.array(found).T
    return A, B


def fit_sigmoid(scores: Array, positive: Array, weight: Array) -> tuple[float, float]:
    """(A, B) of P(positive | score) = 1/(1 + exp(A·score + B)), by maximum likelihood with Platt's targets.

    The targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) keep the sigmoid finite where scores separate the classes.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores of rows that the machine was not fitted to.
    positive : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)
        A weight of 2 counts a row twice.
    """
    totals = weight @ positive, weight @ ~positive
    target = np.where(positive, (totals[0] + 1.0) / (totals[0] + 2.0), 1.0 / (totals[1] + 2.0))
    # A target between 0 and 1 is represented by one row of each class, with its share of the weight.
    signs = np.repeat([1.0, -1.0], len(scores))[:, None]
    shares = np.concatenate([weight * target, weight * (1.0 - target)])
    rows = InMemory(np.tile(scores, 2)[:, None], signs, shares)
    solution = fit_likelihood(rows, n_scores=1, strength=0.0, fit_intercept=True, keep_hessian=False)
    return -float(solution.coef[0, 0]), -float(solution.intercept[0])


def pair_probabilities(scores: Array, A: Array, B: Array) -> Array:
    """Probability of the first class of each pair, for scores of shape (n, pairs) that are positive for it."""
    return np.clip(expit(-(scores * A + B)), _CLOSEST, 1.0 - _CLOSEST)


def couple(pairs: Array, n_classes: int) -> Array:
    """Probabilities p of the classes, of shape (n, classes), from those of pairs (0, 1), (0, 2), ….

    They minimise Σ (r_ji·p_i − r_ij·p_j)² over all i ≠ j with Σp = 1, where r_ij is the probability of i among the two.
    """
    n = len(pairs)
    r = np.zeros((n, n_classes, n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        r[:, i, j], r[:, j, i] = pairs[:, column], 1.0 - pairs[:, column]
    # The last row and column hold the constraint on the sum and its multiplier.
    system = np.ones((n, n_classes + 1, n_classes + 1))
    system[:, -1, -1] = 0.0
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    own = np.arange(n_classes)
    system[:, own, own] = np.sum(r**2, axis=1)
    right = np.zeros((n, n_classes + 1, 1))
    right[:, -1] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)  # negative only by rounding
    return np.asarray(found / found.sum(axis=1, keepdims=True))
