"""L-BFGS on a likelihood, which buys better preconditioners, or products with Hessians, when they are worth it.

For one penalty, or for several one after the other: the rows that passes keep, the curvature of the loss, and value and
gradient where the last one ended do not depend on the penalty.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.messages import Message
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.lbfgs import State, drive, lbfgs, line_search
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision
from hiperplano.solvers.likelihood.preconditioners import WORTH, Offer, Purchase, at_discriminant, offers, repenalised
from hiperplano.solvers.likelihood.sampling.sample import MOST_PARAMETERS
from hiperplano.solvers.newton import VISIBLE, Minimum
from hiperplano.solvers.statistics import SPARSE_PRODUCTS
from hiperplano.solvers.truncated_newton import truncated_newton

AT_ONCE = 6.0  # passes that a preconditioner may cost to be bought before the first step
# Next step of standardised parameters at which they stand still; standard errors are about as accurate as that.
SETTLED = 1e-7
_LONG = 30.0  # steps of L-BFGS, where no better preconditioner is left, before Newton's with conjugate gradients
_BEFORE_PRODUCTS = 10.0  # the same where those are worth more,
_LATE = 1e-4  # but not from a gradient of that: L-BFGS would have to learn again what the last one knew
_NEAR = 10.0  # times `tol`, a gradient at the start with which the curvature of the last penalty's end will do
_FEW_ROWS = 4  # for each column
_PER_SPREAD, _MOST_LEFT = 0.2, 0.9  # by which curvatures of rows differ for a variance of their scores, and at most
_NEWTON_PACE = 5.0  # logarithm of what a step by a Hessian of a place near the end shrinks the gradient by
_PATIENT = 10.0  # Hessians of several classes that products may cost: one of them is of little use away from its place


class PreconditionedLBFGS:
    """Minimise a likelihood by L-BFGS, from a cheap preconditioner.

    Parameters
    ----------
    samples : list of Design
        As in `offers`.
    tol : float
        Largest entry of the gradient.
    close : float
        Most that a last step without a pass may leave of parameters, as in `lbfgs`.
    hessian_follows : bool
        Whether the caller goes on by Newton's method, which ends with the Hessian that standard errors need.
    """

    def __init__(
        self,
        problem: Likelihood,
        samples: list[Design],
        tol: float,
        max_iter: int,
        close: float,
        hessian_follows: bool = False,
    ) -> None:
        self._problem, self._tol, self._max_iter, self._close = problem, tol, max_iter, close
        self._hessian_follows = hessian_follows
        self._a_pass = Costs.of(problem.design, problem.n_scores).gradient
        self._passes, self._samples = SinglePrecision(problem, tol), samples
        self._last: Purchase  # with which the last minimisation ended

    def minimise(self, start: Array | None) -> tuple[Message, Minimum]:
        """From a point, or from where the shape of the data suggests.

        Parameters
        ----------
        start : ndarray of shape (scores, size) or None

        Returns
        -------
        method : Message
        end : Minimum
            `next_step` of its state, if there is one, costs no pass.
        """
        found = None
        if start is None:
            plain, state = self._one_plain_step()
            if state is not None:
                return self._from(plain, False, state)
            found = plain.found
        current = _first_purchase(self._problem, start, found)
        # Curvatures of several classes at the prior are of little use further on.
        placed = self._problem.n_scores == 1 or start is not None or current.found is not None
        at_prior = start is None and self._problem.n_scores == 1 and self._problem.scale.fit_intercept
        return self._from(current, placed, at_prior=at_prior)

    def minimise_with(self, strength: float, state: State) -> tuple[Message, Minimum]:
        """With another penalty, from the end of the last minimisation.

        Parameters
        ----------
        strength : float
        state : State
            Where that ended, as it was seen.
        """
        problem, before = self._problem, self._problem.penalty.strength
        problem.penalise(strength)
        self._passes.repenalise()
        change = problem.penalty.strength - before
        state = state.repenalised(change)
        current = repenalised(problem, self._last, change)
        current = current._replace(theta=state.theta, found=(state.value, state.gradient))
        return self._from(current, state.largest > _NEAR * self._tol)

    def _from(
        self, current: Purchase, at_once: bool, state: State | None = None, at_prior: bool = False
    ) -> tuple[Message, Minimum]:
        problem, tol, max_iter, a_pass = self._problem, self._tol, self._max_iter, self._a_pass
        method, left = Message("L-BFGS"), offers(problem, self._passes, self._samples)
        bought = at_once and bool(left) and left[0].first_cost <= AT_ONCE * a_pass
        if bought:
            method, begin = left[0].method, current
            current = left[0].buy(begin.theta, first=True)
            if current.found is None and current.theta is begin.theta:
                current = current._replace(found=begin.found)
            again = left[0] if left[0].again else None
            left = left if again else left[1:]
        state = state or told(problem, current, self._passes.evaluate)
        if bought and again and at_prior:
            state, current = self._to_discriminant(state, current, again)
        products = problem.strength > 0  # of the Hessian: whether they are still to be tried
        while True:
            self._last = current
            price = left[0].cost / a_pass if left else np.inf
            early = not bought and _suits_products(problem) and self._products_are_worth(left)
            turn = products and (early or not left)
            steps = price if not turn else _BEFORE_PRODUCTS if early else _LONG
            pace = np.inf if turn or not left else left[0].pace
            budget = Budget(steps, min(tol, self._close), pace) if steps < np.inf else None
            late = turn and state.largest <= _LATE
            end = Minimum(state if late else self._run(state, current, budget))
            state = end.state
            if (late or state.largest > tol) and state.steps < max_iter and turn:
                products, method = False, Message("Newton with conjugate gradients")
                end, left = self._by_products(state, left)
                state = end.state
            if (state.largest <= tol and state.next_step is not None) or state.steps >= max_iter or not left:
                return method, end
            if state.stalled and left[0].method == method:  # Newton can do what is left: it damps its steps
                return method, continued(problem, state, tol, max_iter, SETTLED)
            state.stalled, bought = False, True
            method, current = left[0].method, left[0].buy(state.theta, first=False)
            left = left if left[0].again else left[1:]

    def _products_are_worth(self, left: list[Offer]) -> bool:
        """Whether products with the Hessian are tried before any of the preconditioners that are left.

        Few rows of several classes are separated. What the Hessian's blocks then leave out is most of it: only the
        whole, the last of the offers, is a better way.
        """
        problem = self._problem
        separated = problem.design.n_rows <= problem.scale.size and not problem.design.is_sparse
        other = left[-1 if separated else 0].cost if left else np.inf
        return WORTH * other >= _BEFORE_PRODUCTS * self._a_pass

    def _by_products(self, state: State, left: list[Offer]) -> tuple[Minimum, list[Offer]]:
        """Newton's method by products with Hessians, and the preconditioners to go on with, if it did not end.

        Where the whole Hessian costs little enough, it ends where a last step leaves `close`, or the Hessian goes on.
        """
        problem, tol = self._problem, self._tol
        prices = [each.cost / self._a_pass for each in left]
        cheap = bool(left) and WORTH * prices[0] < _BEFORE_PRODUCTS
        most = np.inf if not left else prices[0] if problem.n_scores == 1 else _PATIENT * prices[-1]
        close, matrix = (self._close, prices[-1]) if cheap else (np.inf, np.inf)
        state = truncated_newton(self._passes, state, tol, self._max_iter, most, problem.watch, close, matrix)
        if state.largest <= tol and not cheap:
            return Minimum(state), []
        return Minimum(state), left[-1:] if cheap else left

    def _one_plain_step(self) -> tuple[Purchase, State | None]:
        """A step by a diagonal from the prior, and where it leads, from which a minimisation goes on.

        Nowhere if it goes too far: columns depend on each other, and a preconditioner is worth its price before the
        first step. Or if there is none to buy, or there is a sample: its Hessian, or the discriminant, leads further.
        """
        problem, left = self._problem, offers(self._problem, self._passes, self._samples)
        plain = Purchase(problem.prior(), problem.diagonal_preconditioner())
        cheap = bool(left) and left[0].first_cost <= AT_ONCE * self._a_pass
        if self._samples or not (cheap or _suits_discriminant(problem)):
            return plain, None
        plain = plain._replace(found=problem.at_prior)
        state = told(problem, plain, self._passes.evaluate)
        step = -plain.precondition(state.gradient)
        if problem.n_scores == 1 and problem.scale.fit_intercept:
            step, _ = problem.step_to_discriminant(state.gradient, step)
        found = drive(line_search(state, step, tries=1), self._passes.evaluate)
        if found is not None and problem.watch is not None:
            problem.watch(found)
        return plain, found

    def _to_discriminant(self, state: State, current: Purchase, offer: Offer) -> tuple[State, Purchase]:
        """From the prior, with the Hessian there, to the discriminant of two classes; and with another Hessian from it.

        That takes a step, where L-BFGS takes four. The second Hessian is bought if it saves more passes than it costs:
        with the first one a step leaves the share by which curvatures of the rows differ, with the second hardly any.
        """
        problem = self._problem
        step = -current.precondition(state.gradient)
        longer, spread = problem.step_to_discriminant(state.gradient, step)
        found = drive(line_search(state, longer, tries=1), self._passes.evaluate)
        if found is None:
            return state, current
        if problem.watch is not None:
            problem.watch(found)
        pace = -float(np.log(min(_MOST_LEFT, _PER_SPREAD * spread)))
        left = float(np.log(max(1.0, found.largest / min(self._tol, self._close))))
        if left * (1.0 / pace - 1.0 / _NEWTON_PACE) * self._a_pass <= offer.cost:
            return found, current
        return found, offer.buy(found.theta, first=False)

    def _run(self, state: State, current: Purchase, budget: Budget | None) -> State:
        """With one preconditioner, or until the budget is spent."""
        problem, tol = self._problem, self._tol
        close = self._close
        if self._hessian_follows and current.curvature is None:  # by a diagonal, Newton's method is closer with less
            close = np.inf
        longest = VISIBLE if self._hessian_follows else np.inf
        steps = lbfgs(state, current.precondition, tol, self._max_iter, budget, problem.watch, close, longest)
        state = drive(steps, self._passes.evaluate)
        if state.largest > tol:
            state.next_step = None
        elif state.next_step is None:
            state.next_step = -current.precondition(state.gradient)
        return state


def continued(problem: Likelihood, state: State, tol: float, max_iter: int, settled: float) -> Minimum:
    """Newton's method from where another method ended."""
    end = problem.newton(state.theta, tol, max_iter - state.steps, settled)
    end.state.steps += state.steps
    return end


def told(problem: Likelihood, start: Purchase, evaluate: Callable[[Array], tuple[float, Array]]) -> State:
    """The state to start from, of which whoever watches is told."""
    state = State(start.theta, *(start.found or evaluate(start.theta)))
    if problem.watch is not None:
        problem.watch(state)
    return state


def _first_purchase(problem: Likelihood, start: Array | None, found: tuple[float, Array] | None = None) -> Purchase:
    """Where to begin, and a preconditioner that costs a few passes at most."""
    if start is None and _suits_discriminant(problem):
        return at_discriminant(problem)
    return Purchase(problem.prior() if start is None else start, problem.diagonal_preconditioner(), found)


def _suits_discriminant(problem: Likelihood) -> bool:
    """Whether the linear discriminant of several classes is cheap, and likely to be close to the end."""
    design, size, k = problem.design, problem.scale.size, problem.n_scores
    if k == 1 or not problem.scale.fit_intercept or k * size**2 > MOST_PARAMETERS**2:
        return False
    if _has_few_rows(problem) or design.density < SPARSE_PRODUCTS:
        return False
    return Costs.of(design, 1).hessian <= AT_ONCE * Costs.of(design, k).gradient


def _suits_products(problem: Likelihood) -> bool:
    """Whether products with the Hessian are worth more than its parts.

    Columns of sparse rows have little to do with each other, so that its diagonal is a good preconditioner; and where
    classes have few rows for each column they are nearly separated, and no Hessian is good for more than a step.
    """
    return problem.design.is_sparse or (problem.n_scores > 1 and _has_few_rows(problem))


def _has_few_rows(problem: Likelihood) -> bool:
    return problem.design.n_rows <= _FEW_ROWS * problem.design.n_columns
