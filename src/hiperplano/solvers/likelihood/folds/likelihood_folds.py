"""Logistic regression on several folds at once, with one pass over the rows for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.block import row_sums
from hiperplano.data.column_scale import ColumnScale, LinearScores
from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.data.in_memory import InMemory
from hiperplano.linalg.symmetric import SymmetricSolver
from hiperplano.losses import Logistic
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.lbfgs import Minimisation, Preconditioner, State, lbfgs
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.preconditioned_lbfgs import AT_ONCE, FEW_ROWS
from hiperplano.solvers.likelihood.sampling.sample import MOST_PARAMETERS, first_sample, sample_size

_NEWTON_STEPS = 3  # steps of Newton's method that solve a sample from the solution for the last C
_PATIENCE = 2.0  # with few rows for each column, passes may cost this multiple of a Hessian before one is computed


class FoldLikelihood:
    """Mean logistic losses over the training rows of several splits, with the same standardisation.

    Parameters
    ----------
    design : Design
        Design with a row vector "trained" of shape (n, splits): how often each split trains on each row.
    scale : ColumnScale

    Attributes
    ----------
    totals : ndarray of shape (splits,)
        Sum of the weights of the training rows.
    """

    def __init__(self, design: Design, scale: ColumnScale) -> None:
        self.design, self.scale = design, scale
        (self.totals,) = design.fold(_trained_weight)

    def evaluate(self, thetas: Array, splits: Array, penalties: Array) -> list[tuple[float, Array]]:
        """Value and gradient for some splits, in one pass.

        Parameters
        ----------
        thetas : ndarray of shape (k, size)
            A point for each split.
        splits : ndarray of int of shape (k,)
            Numbers of the splits.
        penalties : ndarray of shape (k, size)
            Strengths of the penalty.

        Returns
        -------
        list of (float, ndarray of shape (1, size))
        """
        value, sums, slopes = self.design.fold(_FoldSums(self.scale.scores(thetas), splits))
        totals = self.totals[splits]
        values = value / totals + 0.5 * np.sum(penalties * thetas**2, axis=1)
        gradients = self.scale.gradient(sums, slopes) / totals[:, None] + penalties * thetas
        return [(float(v), g[None]) for v, g in zip(values, gradients, strict=True)]


def _trained_weight(block: Block) -> Sums:
    """Σ w of the training rows of each split."""
    return (block.weights @ block.vectors["trained"],)


@dataclass(frozen=True)
class _FoldSums:
    """Σ loss, Σ slope·x of shape (d, splits) and Σ slope over the training rows of each split, with its scores."""

    stays_sparse = True
    scores: LinearScores
    splits: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        rows = self.scores.rows(block)
        weight = block.weighted(block.vectors["trained"][:, self.splits].astype(xp.float64))
        value, slope = Logistic().value_and_slope(block.y, self.scores.of(rows))
        slope *= weight
        ones = xp.ones(len(block))
        products = block.transpose_dot(slope) if block.is_sparse else row_sums(slope, rows).T
        return np.einsum("ij,ij->j", value, weight), products, ones @ slope


def share_passes(design: Design, n_splits: int) -> bool:
    """Whether `fold_coefficients` is faster than one `PenaltyPath` for each split.

    It is if rows are not in memory, since passes are then expensive, or if a Hessian of a sample is cheap enough to be
    computed for every C.
    """
    return not isinstance(design, InMemory) or _newton_at_once(design, n_splits)


def _newton_at_once(design: Design, n_splits: int) -> bool:
    """Whether a sample is solved by Newton's method for every C, as a start and a preconditioner for all splits."""
    return design.n_columns < MOST_PARAMETERS and _NEWTON_STEPS * _price(design, n_splits) <= AT_ONCE


def _price(design: Design, n_splits: int) -> float:
    """Cost of the Hessian of a sample (of all rows if no sample is drawn), in passes for all splits."""
    size = sample_size(design, 1) or design.n_rows
    return Costs.of(design, 1, size).hessian / (n_splits * Costs.of(design, 1).gradient)


def fold_coefficients(
    design: Design, Cs: Array, fit_intercept: bool, tol: float, max_iter: int
) -> tuple[Array, Array, Array, bool]:
    """Coefficients for every C and split, from strong to weak penalties; each fit starts from the last one.

    Parameters
    ----------
    design : Design
        Design with a row vector "trained", as in `FoldLikelihood`.
    Cs : ndarray of shape (Cs,)
        Inverse penalties, as in `LogisticRegression`.
    fit_intercept : bool
    tol : float
        Largest entry of the gradient at a solution.
    max_iter : int
        Most steps of a fit.

    Returns
    -------
    coef : ndarray of shape (Cs, splits, d)
    intercept : ndarray of shape (Cs, splits)
    steps : ndarray of int of shape (Cs, splits)
    converged : bool
        Whether all fits converged.
    """
    drawn = first_sample(design, 1)
    scale = ColumnScale.estimate(design, fit_intercept, drawn)
    sample = design if drawn is None else drawn
    problem = FoldLikelihood(design, scale)
    n_splits = len(problem.totals)
    coef, intercept = np.empty((len(Cs), n_splits, design.n_columns)), np.empty((len(Cs), n_splits))
    steps = np.zeros((len(Cs), n_splits), dtype=int)
    states: list[State] = []
    ahead: Array | None = None  # solution of the sample; its change with C predicts that of all splits
    before = np.zeros((n_splits, scale.size))
    precondition: Preconditioner
    converged = True
    # A Hessian is computed for every C if it is cheap, otherwise only once passes have cost as much.
    price, cheap = _price(design, n_splits), _newton_at_once(design, n_splits)
    # With few rows for each column, classes are nearly separated, and a Hessian is good for a few steps only.
    patience = 1.0 if design.n_rows > FEW_ROWS * design.n_columns else _PATIENCE
    budget = Budget(patience * price, tol) if scale.size <= MOST_PARAMETERS else None
    for position in np.argsort(Cs):
        strengths = 1.0 / (Cs[position] * problem.totals)
        penalty = np.zeros_like(before)
        penalty[:, int(fit_intercept) :] = scale.penalty(strengths[:, None])
        # Only the penalty changes, so that value and gradient need no pass.
        states = [state.repenalised(change) for state, change in zip(states, penalty - before, strict=False)]
        if not states or max(state.largest for state in states) > tol:
            middle = Likelihood(sample, scale, 1, float(strengths.mean()), extra=1.0 / sample.n_rows)
            if cheap:
                found = middle.newton(ahead, tol=1e-4, max_steps=20, settled=1e-2)
                moved = found.state.theta - (0.0 if ahead is None else ahead)
                ahead = found.state.theta
                starts = [state.theta + moved for state in states] if states else [ahead] * n_splits
                precondition = SymmetricSolver(found.hessian).precondition
            else:
                starts = [state.theta for state in states] if states else [middle.prior()] * n_splits
                precondition = DiagonalPreconditioner(middle)
            seen = problem.evaluate(np.concatenate(starts), np.arange(n_splits), penalty)
            states = [State(theta, *each) for theta, each in zip(starts, seen, strict=True)]
            states = _together(problem, states, penalty, precondition, tol, max_iter, None if cheap else budget)
            if not cheap and any(state.largest > tol and state.steps < max_iter for state in states):
                hessian = middle.evaluate_with_hessian(np.mean([state.theta for state in states], axis=0))[2]
                precondition = SymmetricSolver(hessian).precondition
                states = _together(problem, states, penalty, precondition, tol, max_iter)
            steps[position] = [state.steps for state in states]
        before = penalty
        converged &= all(state.largest <= tol for state in states)
        # One more step without a pass reduces the error, so that fits with nearly the same penalty still differ.
        unseen = [-precondition(state.gradient) if state.next_step is None else state.next_step for state in states]
        thetas = [state.theta + step for state, step in zip(states, unseen, strict=True)]
        coef[position], intercept[position] = scale.coefficients(np.concatenate(thetas))
    return coef, intercept, steps, converged


def _together(
    problem: FoldLikelihood,
    states: list[State],
    penalty: Array,
    precondition: Preconditioner,
    tol: float,
    max_iter: int,
    budget: Budget | None = None,
) -> list[State]:
    """Run one minimisation for each split, with common passes over the rows."""
    states = [replace(state, stalled=False) for state in states]
    running: dict[int, tuple[Minimisation, Array]] = {}
    for split, state in enumerate(states):
        _advance(running, states, split, lbfgs(state, precondition, tol, max_iter, budget), None)
    while running:
        splits = np.array(sorted(running))
        points = np.concatenate([running[split][1] for split in splits.tolist()])
        for split, seen in zip(splits.tolist(), problem.evaluate(points, splits, penalty[splits]), strict=True):
            _advance(running, states, split, running[split][0], seen)
    return states


def _advance(
    running: dict[int, tuple[Minimisation, Array]],
    states: list[State],
    split: int,
    search: Minimisation,
    seen: tuple[float, Array] | None,
) -> None:
    """Send value and gradient to a minimisation, and store its next point, or its state if it has ended."""
    try:
        running[split] = search, next(search) if seen is None else search.send(seen)
    except StopIteration as end:
        states[split] = end.value
        running.pop(split, None)
