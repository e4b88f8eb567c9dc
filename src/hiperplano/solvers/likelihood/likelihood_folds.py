"""Logistic regression of several folds at once: one pass over the rows serves all of them."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array, Block, Design, Sums
from hiperplano.losses import Logistic
from hiperplano.solvers.likelihood.coordinates import Coordinates
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.metric import inverse
from hiperplano.solvers.likelihood.newton import newton
from hiperplano.solvers.likelihood.quasi_newton import Look, Metric, State, quasi_newton
from hiperplano.solvers.likelihood.sample import first_sample


class FoldLikelihood:
    """Mean logistic losses over the training rows of several splits, in common coordinates.

    Parameters
    ----------
    trained : ndarray of int, shape (n, splits)
        How often each split trains on each row.
    """

    def __init__(self, design: Design, coordinates: Coordinates, trained: Array) -> None:
        self.design, self.coordinates = design, coordinates
        self.trained = np.ascontiguousarray(trained.T, dtype=np.min_scalar_type(int(trained.max())))
        weight = np.ones(design.n_rows) if design.weight is None else design.weight
        self.totals = weight @ trained
        self.passes = 0

    def evaluate(self, thetas: Array, splits: Array, penalties: Array) -> list[tuple[float, Array]]:
        """Value and gradient of one point, of shape (1, size), for each of some splits, in one pass."""
        loss, scores = Logistic(), self.coordinates.scorer(thetas)

        def statistic(block: Block) -> Sums:
            score, rows = scores(block)
            weight = self.trained[splits, block.rows].T.astype(np.float64)
            if block.weight is not None:
                weight *= block.weight[:, None]
            value, slope = loss.value_and_slope(block.y, score)
            slope *= weight
            ones = np.ones(len(block))
            return np.einsum("ij,ij->j", value, weight), np.asarray((slope.T @ rows).T), ones @ slope

        self.passes += 1
        value, sums, slopes = self.design.fold(statistic)
        totals = self.totals[splits]
        values = value / totals + 0.5 * np.sum(penalties * thetas**2, axis=1)
        gradients = self.coordinates.gradient(sums, slopes) / totals[:, None] + penalties * thetas
        return [(float(v), g[None]) for v, g in zip(values, gradients, strict=True)]


def fold_coefficients(
    design: Design, trained: Array, Cs: Array, fit_intercept: bool, tol: float, max_iter: int
) -> tuple[Array, Array, bool]:
    """Coefficients for every C and split, from strong to weak penalties, each starting where the last ended.

    Returns
    -------
    coef : ndarray of shape (Cs, splits, d)
    intercept : ndarray of shape (Cs, splits)
    converged : bool
        Whether all of them did.
    """
    n_splits = trained.shape[1]
    sample = first_sample(design, 1) or design
    coordinates = Coordinates.of(design, sample, fit_intercept)
    problem = FoldLikelihood(design, coordinates, trained)
    coef, intercept = np.empty((len(Cs), n_splits, design.n_columns)), np.empty((len(Cs), n_splits))
    states: list[State] = []
    ahead = Likelihood(sample, coordinates, 1, 0.0).prior()  # the sample's solution, which shows where all go next
    before = np.zeros((n_splits, coordinates.size))
    converged = True
    for position in np.argsort(Cs):
        strengths = 1.0 / (Cs[position] * problem.totals)
        penalty = np.zeros_like(before)
        penalty[:, int(fit_intercept) :] = coordinates.penalty(strengths[:, None])
        # What was seen of the rows still holds: only the penalty changes.
        states = [_repenalised(*each) for each in zip(states, before, penalty, strict=True)] if states else []
        if not states or max(state.largest for state in states) > tol:
            middle = Likelihood(sample, coordinates, 1, float(strengths.mean()), extra=1.0 / sample.n_rows)
            found = newton(middle, ahead, tol=1e-4, max_steps=20, settled=1e-2)
            moved, ahead = found.state.theta - ahead, found.state.theta
            thetas = [state.theta + moved for state in states] if states else [ahead] * n_splits
            seen = problem.evaluate(np.concatenate(thetas), np.arange(n_splits), penalty)
            states = [State(theta, *each) for theta, each in zip(thetas, seen, strict=True)]
            metric = inverse(found.hessian)
            states = _together(problem, states, penalty, metric, tol, max_iter)
        before = penalty
        converged &= all(state.largest <= tol for state in states)
        # One step more, unseen: it takes most of what is left, so that penalties which hardly matter still differ.
        thetas = [state.theta - metric(state.gradient) for state in states]
        coef[position], intercept[position] = coordinates.coefficients(np.concatenate(thetas))
    return coef, intercept, converged


def _repenalised(state: State, before: Array, after: Array) -> State:
    change = after - before
    value = state.value + 0.5 * float(np.sum(change * state.theta**2))
    return State(state.theta, value, state.gradient + change * state.theta)


def _together(
    problem: FoldLikelihood, states: list[State], penalty: Array, metric: Metric, tol: float, max_iter: int
) -> list[State]:
    """Run one minimisation for each split, all looking at the rows together."""
    states = list(states)
    running: dict[int, tuple[Look, Array]] = {}
    for split, state in enumerate(states):
        _advance(running, states, split, quasi_newton(state, metric, tol, max_iter), None)
    while running:
        splits = np.array(sorted(running))
        points = np.concatenate([running[split][1] for split in splits.tolist()])
        for split, seen in zip(splits.tolist(), problem.evaluate(points, splits, penalty[splits]), strict=True):
            _advance(running, states, split, running[split][0], seen)
    return states


def _advance(
    running: dict[int, tuple[Look, Array]],
    states: list[State],
    split: int,
    look: Look,
    seen: tuple[float, Array] | None,
) -> None:
    """Tell a minimisation what was seen, and note where it wants to look next, or that it ended."""
    try:
        running[split] = look, next(look) if seen is None else look.send(seen)
    except StopIteration as end:
        states[split] = end.value
        running.pop(split, None)
