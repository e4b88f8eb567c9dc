"""Support vector machines by Newton's method on an augmented Lagrangian, with a duality gap.

Squared losses are smooth. Plain ones are smoothed by a proximal term, which keeps dual variables near a centre (an
augmented Lagrangian). After each round, the solution becomes the new centre and the term is weakened, so that solutions
converge to the exact one. Only rows near the margin contribute to the Hessian, and a step takes a single pass. A sample
of the rows is solved first, so that few passes over all rows are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Block, Design, RowVector, Sums
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.solvers.cost import Costs
from hiperplano.solvers.statistics import SPARSE_PRODUCTS
from hiperplano.solvers.svm.curvature import Curvature
from hiperplano.solvers.svm.dual_losses import DualLoss, total
from hiperplano.solvers.svm.duality_gap import Budget, Certificate, GapTolerance, certify
from hiperplano.solvers.svm.newton import minimise
from hiperplano.solvers.svm.smoothed import Evaluation, Hyperplane, SmoothedProblem

MATRIX_COLUMNS = 1500  # with more columns no Hessian is computed: steps use products with the free rows
_PASSES = 3.0  # nor on sparse rows, if a Hessian costs more passes than these
WIDE = 4.0  # the first width of the smoothing, in units of the scores: nearly all rows are free
_SAMPLE_SHARE = 16  # a sample has one row of so many,
_SAMPLE_ROWS = 20  # but at least so many for each column
_SAMPLE_TOL = 1e-3  # relative gap to which it is solved
_SCALE_ROWS = 4096  # rows from which means and spreads of the columns are estimated
_FAR = 30.0  # columns are centred if a mean is more than so many standard deviations from 0: scores would lose digits
SHRINK = 4.0  # the width of the smoothing is divided by this from round to round;
_SHRINK_ROWS = 1.5  # by this where steps use products with the free rows: more rounds, of few and cheap steps each;
_SHRINK_SQUARED = 1.25  # and by this for squared losses: a larger factor makes a round take many steps
_TRIAL = 300.0  # passes of Newton's method on a squared loss before rounds begin: ten times as many as most fits need
_PROXIMITY = 0.01  # weight of the first proximal term for a squared loss, as a share of the rows' squared length
_FOLLOWING = 0.98  # the first width must lower the slack of given dual variables to this share, or they would not move
_FREE_ROWS = 5  # the first width on all rows, after a sample, should leave so many free rows for each column
ROUNDS_PATIENCE = 8  # rounds without progress before giving up, if each divides the width by `SHRINK`


def augmented_newton(
    design: Design,
    loss: DualLoss,
    *,
    fit_intercept: bool,
    tol: float,
    budget: Budget,
    start: tuple[Hyperplane, RowVector] | None = None,
) -> Certificate:
    """Minimise ½‖coef‖² + Σ weight·loss up to a gap of tol·objective.

    Parameters
    ----------
    design : Design
        Design with a vector "sign" for classification.
    loss : DualLoss
    fit_intercept : bool
    tol : float
        Largest relative gap.
    budget : Budget
        Limit of passes.
    start : tuple of Hyperplane and RowVector, optional
        Plane and dual variables to start from.
    """
    with one_blas_thread():
        shift, far = np.zeros(design.n_columns), False
        by_rows = design.n_columns > MATRIX_COLUMNS
        if not by_rows:
            mean, far = typical_row(design, fit_intercept)
            costs = Costs.of(design, 1)
            by_rows = design.is_sparse and not far and costs.hessian > _PASSES * costs.gradient
            shift = shift if by_rows else mean
        problem = SmoothedProblem(design, loss, fit_intercept, by_rows=by_rows, centre_rows=far)
        if start is None:
            return _solve(problem, Hyperplane.zero(shift), tol, budget)
        plane, gamma = start
        plane = Hyperplane(plane.coef, plane.level + plane.coef @ (shift - plane.shift), shift)
        search = AugmentedLagrangian(problem, GapTolerance.of(problem, tol), budget)
        if loss.ridge:
            return search.run(plane, 0.0, None)
        known = problem.evaluate(plane, curved=False, gamma=gamma)
        return search.run(plane, _width_of_known(problem, known, gamma), None, gamma)


def typical_row(design: Design, fit_intercept: bool) -> tuple[Array, bool]:
    """Column means in a sample (0 without an intercept), and whether one is large relative to the column's spread.

    For sparse rows the means are replaced by 0, unless one is large, so that rows stay sparse.
    """
    scale = ColumnScale.exact(design.sample(_SCALE_ROWS), fit_intercept)
    far = bool((np.abs(scale.shift) * scale.scale > _FAR).any())
    if design.is_sparse and design.density < SPARSE_PRODUCTS and not far:
        return np.zeros(design.n_columns), False
    return scale.shift, far


def _squared_length(design: Design, fit_intercept: bool) -> float:
    """Mean squared length of centred rows, in a sample."""
    scale = ColumnScale.exact(design.sample(_SCALE_ROWS), fit_intercept)
    return float(np.sum(scale.scale**-2.0)) or 1.0


def _solve(problem: SmoothedProblem, zero: Hyperplane, tol: float, budget: Budget) -> Certificate:
    """Solve from the solution of a sample, if there are enough rows."""
    design, loss = problem.design, problem.loss
    n, d = design.n_rows, design.n_columns
    search = AugmentedLagrangian(problem, GapTolerance.of(problem, tol), budget)
    sampled = max(n // _SAMPLE_SHARE, _SAMPLE_ROWS * (d + 1))
    if 2 * sampled > n or problem.by_rows:
        return search.run(zero, WIDE * problem.unit or 1.0, None)
    few = design.sample(sampled)
    share = n / few.n_rows  # so that the losses of the sample have the same total weight as those of all rows
    part = replace(problem, design=few.with_vectors(weight=few.map(_ScaledWeights(share))))
    guess = _solve(part, zero, max(tol, _SAMPLE_TOL), Budget(budget.left)).evaluation
    width = 0.0 if loss.ridge else _first_width(part, guess, 0.5 * tol, _FREE_ROWS * (d + 1) / share)
    return search.run(guess.plane, width, guess.curvature)


@dataclass(frozen=True)
class _ScaledWeights:
    reads_rows = False
    factor: float

    def __call__(self, block: Block) -> Array:
        return block.weights * self.factor


def _first_width(problem: SmoothedProblem, guess: Evaluation, tol: float, fewest: float) -> float:
    """The largest of a sequence of widths that adds at most `tol` to the relative gap, or leaves few rows free."""
    loss = problem.loss
    design = problem.design.with_vectors(residual=guess.residual, centre=problem.middle(guess))
    width = WIDE * problem.unit or 1.0
    while True:
        slack, n_free = design.fold(_CostOfWidth(loss, width / loss.high))[0]
        if slack <= tol * guess.objective or n_free < 2 * fewest:
            return width
        width *= 0.5


def _width_of_known(problem: SmoothedProblem, known: Evaluation, gamma: RowVector) -> float:
    """About the largest width at which given dual variables still follow the scores; at larger ones they would stay."""
    loss = problem.loss
    design = problem.design.with_vectors(residual=known.residual, centre=gamma)

    def follow(width: float) -> bool:
        return bool(design.fold(_CostOfWidth(loss, width / loss.high))[0][0] <= _FOLLOWING * known.slack)

    width = WIDE * problem.unit or 1.0
    if not known.slack > 0:  # the dual variables are optimal for these scores
        return width
    while follow(width):
        width *= 2.0
    while not follow(width):
        width *= 0.5
    return width


@dataclass(frozen=True)
class _CostOfWidth:
    """Σ weight·(loss − gain) of the dual variables near "centre", and the number of free ones."""

    reads_rows = False
    loss: DualLoss
    proximity: float

    def __call__(self, block: Block) -> Sums:
        loss, residual = self.loss, block.vectors["residual"]
        gamma = loss.dual_variable(residual, block.vectors["centre"], self.proximity)
        slack = total(block, loss.value(residual) - loss.gain(residual, gamma))
        return (np.array([slack, np.count_nonzero(loss.free(gamma))]),)


@dataclass
class AugmentedLagrangian:
    """Rounds of Newton's method on all rows."""

    problem: SmoothedProblem
    tolerance: GapTolerance
    budget: Budget

    def run(
        self, plane: Hyperplane, width: float, curvature: Curvature | None, gamma: RowVector | None = None
    ) -> Certificate:
        """Solve from a plane: with a first width and centre, or, for a squared loss, the curvature of similar rows."""
        if self.problem.loss.ridge:
            return self._once(plane, curvature)
        return self._rounds(
            plane, width / self.problem.loss.high, gamma, _SHRINK_ROWS if self.problem.by_rows else SHRINK
        )

    def _once(self, plane: Hyperplane, curvature: Curvature | None) -> Certificate:
        """A squared loss needs no rounds, only smaller tolerances until the dual variables prove the gap.

        If classes are nearly separated and C is large, it behaves like a plain loss: few rows change sides in a step of
        Newton's method, and rounds are needed as well.
        """
        now, trial = self.problem.evaluate(plane, curved=curvature is None), Budget(min(_TRIAL, self.budget.left), 1.0)
        share, solved = 0.5, True
        while solved:
            now, solved = minimise(self.problem, now, self._share(share), trial, curvature)
            certificate = certify(self.problem, now.plane, now.gamma, self.tolerance, now.curvature)
            if certificate.proved:
                break
            share *= 0.1
        self.budget.take(trial.spent)
        if certificate.proved or self.budget.left <= 0:
            return certificate
        proximity = _PROXIMITY * _squared_length(self.problem.design, self.problem.fit_intercept)
        found = self._rounds(plane, proximity, None, _SHRINK_SQUARED)
        return min(found, certificate, key=lambda each: each.gap)

    def _share(self, share: float) -> Callable[[Evaluation], float]:
        return lambda now: share * self.tolerance.at(now.objective)

    def _rounds(self, plane: Hyperplane, proximity: float, gamma: RowVector | None, shrink: float) -> Certificate:
        problem = self.problem
        now = problem.evaluate(plane, curved=False)
        self.budget.take()
        centre, known, best = problem.middle(now) if gamma is None else gamma, False, now
        left, since = np.inf, 0.0
        while True:
            smooth = replace(problem, design=problem.design.with_vectors(centre=centre), proximity=proximity)
            start = smooth.evaluate(plane)
            self.budget.take()
            now, solved = minimise(smooth, start, self._allowed, self.budget, fewest=1)
            remaining = now.slack + now.remaining()
            if remaining <= self.tolerance.at(now.objective):
                certificate = certify(problem, now.plane, now.gamma, self.tolerance)
                if certificate.proved:
                    return certificate
            waited = float(np.log(shrink) / np.log(SHRINK)) if solved else 1.0
            since = 0.0 if remaining < 0.8 * left else since + waited
            best, left = (now, remaining) if remaining < left else (best, left)
            if self.budget.left <= 0 or since > ROUNDS_PATIENCE:
                return certify(problem, best.plane, best.gamma, self.tolerance)
            if solved:
                plane, centre, known = now.plane, now.gamma, True
                proximity, last = proximity / shrink, proximity
            elif known:  # the proximity shrank too fast: go back half the way, and shrink it more slowly
                proximity, shrink = float(np.sqrt(proximity * last)), float(np.sqrt(shrink))
                proximity *= SHRINK if proximity > 0.9 * last else 1.0
            else:
                plane, centre, proximity = now.plane, problem.middle(now), proximity * SHRINK**2

    def _allowed(self, now: Evaluation) -> float:
        """Largest remaining decrease at the end of a round: a share of the slack, or of the tolerance."""
        wanted = self.tolerance.at(now.objective)
        return (0.5 if self.problem.by_rows else 0.1) * now.slack if now.slack > 0.7 * wanted else 0.3 * wanted
