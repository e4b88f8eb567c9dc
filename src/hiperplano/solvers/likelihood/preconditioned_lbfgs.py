"""L-BFGS for a likelihood, with better preconditioners or Newton steps by conjugate gradients when they pay.

It serves one penalty, or several in a row. What does not depend on the penalty is reused for the next one: float32
rows, the Hessian of the loss and the memory of L-BFGS, and value and gradient of the loss at the last solution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiperplano.data.design import Array, Design
from hiperplano.data.in_memory import InMemory
from hiperplano.messages import Message
from hiperplano.solvers.cost import Budget, Costs
from hiperplano.solvers.lbfgs import Memory, State, drive, lbfgs, line_search
from hiperplano.solvers.likelihood.diagonal import DiagonalPreconditioner
from hiperplano.solvers.likelihood.likelihood import Likelihood
from hiperplano.solvers.likelihood.passes.single_precision import SinglePrecision
from hiperplano.solvers.likelihood.preconditioners import WORTH, Offer, Purchase, at_discriminant, offers, repenalised
from hiperplano.solvers.likelihood.sampling.factors import factor_preconditioner
from hiperplano.solvers.likelihood.sampling.sample import MOST_PARAMETERS, NEWTON_PACE
from hiperplano.solvers.newton import VISIBLE, Minimum
from hiperplano.solvers.statistics import SPARSE_PRODUCTS
from hiperplano.solvers.truncated_newton import truncated_newton

# Largest last step of Newton's method, in standardised parameters; standard errors are about as accurate.
SETTLED = 1e-7
AT_ONCE = 6.0  # a preconditioner that costs no more passes than this may be computed before the first step
FEW_ROWS = 4  # most rows for each column that count as few

# Rows that show whether columns are correlated, and least number of all rows, as a multiple of these.
_SOME_ROWS, _MANY = 256, 16
# Least curvature along a step that goes too far, as a multiple of the slope. A parabola rises from twice the slope on.
_TOO_FAR = 2.0

# Newton's method by conjugate gradients ("products" with the Hessian):
_LBFGS_STEPS_LAST = 30.0  # steps of L-BFGS before it, if no better preconditioner is left
# The same if it comes before the preconditioners that are left. These must cost more than such steps, or they come
# first. On 17 fits, 3 steps take 2% longer, and 30 steps 16%.
_LBFGS_STEPS_FIRST = 10.0
_PRODUCTS = 12.0  # products that unrelated columns with equal eigenvalues would take
_MOST_HESSIANS = 10.0  # most products for several classes, in costs of a full Hessian, which is good for one step only

# With another penalty, the last preconditioner is good enough if the gradient at the start is at most this times `tol`.
_NEAR = 10.0
# Share of the gradient that a step leaves with the Hessian at the prior: for each unit of variance of the scores, and
# at most.
_LEFT_PER_VARIANCE, _MOST_LEFT = 0.2, 0.9


class PreconditionedLBFGS:
    """Minimise a likelihood by L-BFGS, beginning with a cheap preconditioner.

    Parameters
    ----------
    problem : Likelihood
    samples : list of Design
        As in `offers`.
    tol : float
        Largest entry of the gradient at the solution.
    max_iter : int
        Most steps.
    close : float
        Largest expected error after the last step, which is taken without a pass; as in `lbfgs`.
    hessian_follows : bool
        Whether the caller continues with Newton's method, to get the Hessian for standard errors.
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
        self._last: Purchase  # the preconditioner at the end of the last minimisation
        self._memory = Memory()  # of L-BFGS with that preconditioner
        # Whether Newton's method by conjugate gradients starts without L-BFGS: from a solution to a larger tolerance,
        # or if L-BFGS took many steps, or was not enough, for the last penalty.
        self._products_first = False

    def minimise(self, start: Array | None, near: bool = False) -> tuple[Message, Minimum]:
        """Minimise from a point, or from one that suits the shape of the data.

        Parameters
        ----------
        start : ndarray of shape (scores, size) or None
        near : bool
            Whether `start` is the solution to a larger tolerance.

        Returns
        -------
        method : Message
        end : Minimum
            The caller may take `next_step` of its state, if there is one, without a pass.
        """
        problem, self._products_first = self._problem, near
        if start is None:
            current, state = self._one_plain_step()
            if state is not None:
                return self._from(current, False, state)
            if _suits_discriminant(problem):
                current = at_discriminant(problem)
        else:
            # Steps sum to zero over the classes. A rounding error of the start that does not would stay, and strong
            # penalties on columns of tiny scale make it visible in the gradient.
            current = Purchase(problem.balanced(start), DiagonalPreconditioner(problem))
        # For several classes, a Hessian at the prior is of little use after the first steps.
        placed = problem.n_scores == 1 or start is not None or current.found is not None
        at_prior = start is None and problem.n_scores == 1 and problem.scale.fit_intercept
        return self._from(current, placed, at_prior=at_prior)

    def minimise_with(self, strength: float, state: State) -> tuple[Message, Minimum]:
        """Minimise with another penalty, from the end of the last minimisation.

        Parameters
        ----------
        strength : float
            The penalty.
        state : State
            The last state that was evaluated, with the previous penalty.
        """
        problem, before = self._problem, self._problem.penalty.strength
        problem.penalise(strength)
        self._passes.repenalise()
        change = problem.penalty.strength - before
        state = state.repenalised(change)
        self._memory.repenalise(np.tile(change, problem.n_scores))
        current = repenalised(problem, self._last, change)
        current = current._replace(theta=state.theta, found=(state.value, state.gradient))
        return self._from(current, state.largest > _NEAR * self._tol, another_penalty=True)

    def _from(
        self,
        current: Purchase,
        at_once: bool,
        state: State | None = None,
        at_prior: bool = False,
        another_penalty: bool = False,
    ) -> tuple[Message, Minimum]:
        """Minimise with a first preconditioner, and others once they pay.

        Parameters
        ----------
        current : Purchase
            The first preconditioner, and the point to start from.
        at_once : bool
            Whether a better preconditioner may be computed before the first step.
        state : State, optional
            The state at that point, if it was evaluated.
        at_prior : bool
            Whether that point is the prior of two classes.
        another_penalty : bool
            Whether that point is the solution with another penalty. Newton's method by conjugate gradients is then
            worth a try on any data.
        """
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
        if bought or not another_penalty:
            self._memory = Memory()
        products = problem.strength > 0  # whether Newton's method by conjugate gradients may still be tried
        while True:
            self._last = current
            price = left[0].cost / a_pass if left else np.inf
            suits = another_penalty or _suits_products(problem) or _few_products(problem, price)
            early = not bought and suits and self._products_are_worth(left)
            turn = products and (early or not left)
            steps = price if not turn else _LBFGS_STEPS_FIRST if early else _LBFGS_STEPS_LAST
            pace = np.inf if turn or not left else left[0].pace
            budget = Budget(steps, min(tol, self._close), pace) if steps < np.inf else None
            before = state.steps
            at_products = turn and not bought and self._products_first
            end = Minimum(state if at_products else self._run(state, current, budget))
            state = end.state
            unfinished = at_products or state.largest > tol
            if turn:
                self._products_first = unfinished or state.steps - before >= steps
            if turn and unfinished and state.steps < max_iter:
                products, method = False, Message("Newton with conjugate gradients")
                end, left = self._by_products(state, left)
                state = end.state
            if (state.largest <= tol and state.next_step is not None) or state.steps >= max_iter or not left:
                return method, end
            if state.stalled and left[0].method == method:  # Newton's method damps its steps, and can continue
                return method, continued(problem, state, tol, max_iter, SETTLED)
            state.stalled, bought, self._memory = False, True, Memory()
            method, current = left[0].method, left[0].buy(state.theta, first=False)
            left = left if left[0].again else left[1:]

    def _products_are_worth(self, left: list[Offer]) -> bool:
        """Whether to try Newton's method by conjugate gradients first: preconditioners that are left cost much more.

        With fewer rows than columns, classes are separated, and the diagonal blocks of the Hessian are a poor
        approximation. Only the full Hessian, the last of the preconditioners, is then an alternative.
        """
        problem = self._problem
        separated = problem.design.n_rows <= problem.scale.size and not problem.design.is_sparse
        other = left[-1 if separated else 0].cost if left else np.inf
        return WORTH * other >= _LBFGS_STEPS_FIRST * self._a_pass

    def _by_products(self, state: State, left: list[Offer]) -> tuple[Minimum, list[Offer]]:
        """Newton's method by conjugate gradients, and the preconditioners to continue with if it did not converge.

        If the next preconditioner is cheap, the method continues until the expected error after the last step is at
        most `close`.
        """
        problem, tol = self._problem, self._tol
        prices = [each.cost / self._a_pass for each in left]
        cheap = bool(left) and WORTH * prices[0] < _LBFGS_STEPS_FIRST
        # Only the full Hessian is an alternative, since the diagonal blocks are a poor approximation here. With many
        # columns or classes it is not among the preconditioners.
        has_hessian = bool(left) and problem.n_scores * problem.scale.size <= MOST_PARAMETERS
        most = np.inf if not has_hessian else prices[0] if problem.n_scores == 1 else _MOST_HESSIANS * prices[-1]
        close = self._close if cheap else np.inf
        state = truncated_newton(self._passes, state, tol, self._max_iter, most, problem.watch, close)
        if state.largest <= tol and not cheap:
            return Minimum(state), []
        return Minimum(state), left[-1:] if cheap else left

    def _one_plain_step(self) -> tuple[Purchase, State | None]:
        """A trial step from the prior with a diagonal preconditioner.

        Returns
        -------
        purchase : Purchase
            The prior, and the diagonal preconditioner, or one by common factors of the columns.
        state : State or None
            The state after the step. None if the full step does not lower the loss enough, or some of the rows show
            that it would not: columns are then correlated, and a better preconditioner pays before the first step. None
            without a trial if there is a sample, or if no better preconditioner or start is cheap enough to be computed
            before the first step.
        """
        problem, left = self._problem, offers(self._problem, self._passes, self._samples)
        plain, suits_discriminant = (
            Purchase(problem.prior(), DiagonalPreconditioner(problem)),
            _suits_discriminant(problem),
        )
        cheap = bool(left) and left[0].first_cost <= AT_ONCE * self._a_pass
        tries, some = cheap or suits_discriminant, self._some_rows()
        if self._samples or not (tries or some is not None):
            return plain, None
        # The discriminant needs value and gradient at the prior, too.
        plain = plain._replace(found=problem.at_prior if suits_discriminant else self._passes.evaluate(plain.theta))
        state = told(problem, plain, self._passes.evaluate)
        step = -plain.precondition(state.gradient)
        slope = -float(np.vdot(state.gradient, step))
        if some is not None and problem.curvature_along(step, some) > _TOO_FAR * slope:
            return plain if tries else plain._replace(precondition=factor_preconditioner(problem, some)), None
        if not tries:
            return plain, None
        if problem.n_scores == 1 and problem.scale.fit_intercept:
            step, _ = problem.step_to_discriminant(state.gradient, step)
        self._passes.renew_base()
        found = drive(line_search(state, step, tries=1), self._passes.evaluate)
        if found is not None and problem.watch is not None:
            problem.watch(found)
        return plain, found

    def _some_rows(self) -> InMemory | None:
        """Some of many dense rows in memory, otherwise None."""
        design = self._problem.design
        many = isinstance(design, InMemory) and not design.is_sparse and design.n_rows >= _MANY * _SOME_ROWS
        return design.some_rows(_SOME_ROWS) if many else None

    def _to_discriminant(self, state: State, current: Purchase, offer: Offer) -> tuple[State, Purchase]:
        """Step from the prior to the linear discriminant of two classes, and compute the Hessian there if that pays.

        The step uses the Hessian at the prior, and replaces about four steps of L-BFGS. With that Hessian, each further
        step leaves a share of the gradient that grows with the variance of the scores; with one from the discriminant,
        hardly any. The second Hessian is computed if it is expected to save more passes than it costs.
        """
        problem = self._problem
        step = -current.precondition(state.gradient)
        longer, spread = problem.step_to_discriminant(state.gradient, step)
        found = drive(line_search(state, longer, tries=1), self._passes.evaluate)
        if found is None:
            return state, current
        if problem.watch is not None:
            problem.watch(found)
        pace = -float(np.log(min(_MOST_LEFT, _LEFT_PER_VARIANCE * spread)))
        left = float(np.log(max(1.0, found.largest / min(self._tol, self._close))))
        if left * (1.0 / pace - 1.0 / NEWTON_PACE) * self._a_pass <= offer.cost:
            return found, current
        return found, offer.buy(found.theta, first=False)

    def _run(self, state: State, current: Purchase, budget: Budget | None) -> State:
        """L-BFGS with one preconditioner, to the end or until the budget is spent."""
        problem, tol = self._problem, self._tol
        close = self._close
        # With a diagonal preconditioner, Newton's method, which follows, gets from `tol` to `close` with fewer passes.
        if self._hessian_follows and current.curvature is None:
            close = np.inf
        longest = VISIBLE if self._hessian_follows else np.inf
        precondition, memory = current.precondition, self._memory
        steps = lbfgs(state, precondition, tol, self._max_iter, budget, problem.watch, close, longest, memory)
        state = drive(steps, self._passes.evaluate)
        if state.largest > tol:
            state.next_step = None
        elif state.next_step is None:  # the budget was spent
            step = memory.direction(state.gradient, precondition)
            state.next_step = step if state.settles_by(step, self._close) else None
        return state


def continued(problem: Likelihood, state: State, tol: float, max_iter: int, settled: float) -> Minimum:
    """Continue with Newton's method from the end of another method."""
    end = problem.newton(state.theta, tol, max_iter - state.steps, settled)
    end.state.steps += state.steps
    return end


def told(problem: Likelihood, start: Purchase, evaluate: Callable[[Array], tuple[float, Array]]) -> State:
    """The initial state, evaluated if necessary and reported to `watch`."""
    state = State(start.theta, *(start.found or evaluate(start.theta)))
    if problem.watch is not None:
        problem.watch(state)
    return state


def _suits_discriminant(problem: Likelihood) -> bool:
    """Whether the linear discriminant of several classes is cheap, and likely to be close to the solution."""
    design, size, k = problem.design, problem.scale.size, problem.n_scores
    if k == 1 or not problem.scale.fit_intercept or k * size**2 > MOST_PARAMETERS**2:
        return False
    if _has_few_rows(problem) or design.density < SPARSE_PRODUCTS:
        return False
    return Costs.of(design, 1).hessian <= AT_ONCE * Costs.of(design, k).gradient


def _suits_products(problem: Likelihood) -> bool:
    """Whether Newton's method by conjugate gradients suits the data better than a Hessian as a preconditioner.

    Columns of sparse rows are nearly uncorrelated, so that the Hessian's diagonal is a good preconditioner. Several
    classes with few rows for each column are nearly separated, and a Hessian is good for a single step only.
    """
    return problem.design.is_sparse or (problem.n_scores > 1 and _has_few_rows(problem))


def _few_products(problem: Likelihood, price: float) -> bool:
    """Whether two classes take fewer products with the Hessian than a preconditioner costs, if columns are unrelated.

    The eigenvalues of unrelated columns are within (1 ± √(columns/rows))² (Marchenko-Pastur), and conjugate gradients
    need steps in proportion to the square root of the largest over the smallest. A few common factors add few steps.
    """
    share = (problem.scale.size / problem.design.n_rows) ** 0.5
    return problem.n_scores == 1 and share < 1.0 and _PRODUCTS * (1.0 + share) <= price * (1.0 - share)


def _has_few_rows(problem: Likelihood) -> bool:
    return problem.design.n_rows <= FEW_ROWS * problem.design.n_columns
