"""What regressors share that learn one example at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from hiperplano.data import Design, validate
from hiperplano.data.design import Array, Block, Sums
from hiperplano.errors import InvalidTarget
from hiperplano.models.base import all_or_nothing
from hiperplano.models.online import OnlineModel
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.course import Control, Judge, Lesson
from hiperplano.solvers.online.courses import OnePlane
from hiperplano.solvers.online.held_out import hold_out
from hiperplano.solvers.online.learner import Learner, rows_of
from hiperplano.solvers.online.quick import Quick, opens_for
from hiperplano.solvers.online.visits import Visits
from hiperplano.solvers.online.whole_batch import WholeBatch, cost_of


class OnlineRegressor(RegressorMixin, OnlineModel):
    """A regressor with one plane."""

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows, in as many passes as it takes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
        y : array-like of shape (n,)
        coef_init : array-like of shape (d,), optional
            Plane to start from, with `intercept_init` of shape (1,); 0 or, warm, that of the last fit.
        intercept_init : array-like, optional
        sample_weight : array-like of shape (n,), optional
            A row of weight w is visited w times in a pass, as w equal rows would be; a fraction shortens the step of
            the last visit (for passive-aggressive models: the longest step).
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a chunk of rows, in one pass.

        Without shuffling, chunks teach the same, to the bit, as one pass over all of them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            As in `fit`.
        """
        learnt = self.__dict__.get("_door_")
        if learnt is not None and sample_weight is None and learnt(X, y):
            return self
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """Predicted targets, x·coef + intercept.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
        """
        return self._scores(X)

    def _shape(self, coef: Array) -> Array:
        return np.asarray(coef[0])

    @all_or_nothing
    def _fit(self, *data: Any) -> Self:
        self._train(*self._plan(*data))
        return self

    def _plan(self, *data: Any) -> tuple[Design, list[Lesson], Control]:
        X, y, coef_init, intercept_init, sample_weight = data
        rule, control, held_share = self._rule(), self._control(), self._held_fraction()
        # Every row is visited in the first pass, and the loop looks at what it visits.
        visited = sample_weight is None and held_share is None and rule[at.BATCH] > 0
        design = self._checked(X, y, sample_weight, reset=True, finite=not visited)
        kept, numbers, judge, seed = design, None, None, self._seed()
        if held_share is not None:
            numbers, held = self._hold_out(design, held_share)
            kept, judge = _part(design, numbers), _judge(_part(design, held))
        learner = self._start((1, design.n_columns), coef_init, intercept_init)
        return design, [self._lesson(kept, rule, learner, seed, judge)._replace(numbers=numbers)], control

    @all_or_nothing
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rule = self._rule()
        first = "_learner_" not in vars(self)
        design = self._checked(X, y, sample_weight, reset=first, finite=True)
        learner = self._start((1, design.n_columns)) if first else self._turned(rule)
        self._take_chunk(design, [self._lesson(design, rule, learner, self._seed())])
        if opens_for(rule, learner) and not hasattr(self, "feature_names_in_"):
            self.__dict__["_door_"] = Quick(learner, rule, self._dtype_, {}).by_number
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, reset: bool, finite: bool) -> Design:
        design = validate(self, X, y, sample_weight, one_target=True, reset=reset, finite=finite)
        self._check_visits(design.weight)
        return design

    def _lesson(
        self, design: Design, rule: Array, learner: Learner, seed: int | None, held_out: Judge | None = None
    ) -> Lesson:
        cost = cost_of(design, rule, design.total_weight) if rule[at.AVERAGE_FROM] else None
        if not rule[at.BATCH]:
            whole = WholeBatch(design, learner, 0, design.total_weight, summed=False)
            return Lesson(whole, rule, held_out=held_out, cost=cost)
        rows, target = rows_of(design.x), np.ascontiguousarray(design.y[:, 0])
        course = OnePlane(rows, target, Visits(rows, design.weight, target, seed), learner)
        return Lesson(course, rule, held_out=held_out, cost=cost)

    def _hold_out(self, design: Design, share: float) -> tuple[Array, Array]:
        parts = hold_out(design, np.zeros(design.n_rows), share, self._draw())
        if not len(parts[1]):
            raise InvalidTarget(
                f"{type(self).__name__}: early_stopping holds out {share:g} of n_samples={design.n_rows} rows, but all "
                "are alike: none can be judged without its own copy. Set early_stopping=False."
            )
        return parts


def _part(design: Design, rows: Array) -> Design:
    weight = design.weight
    return type(design)(design.take(rows), design.y[rows], None if weight is None else weight[rows])


def _judge(design: Design) -> Judge:
    """R² on held-out rows."""
    weight = np.ones(design.n_rows) if design.weight is None else design.weight
    spread = float(weight @ (design.y[:, 0] - np.average(design.y[:, 0], weights=weight)) ** 2) or 1.0

    def judge(coef: Array, intercept: Array) -> float:
        def missed(block: Block) -> Sums:
            square = (np.asarray(block.x @ coef) + intercept - block.y[:, 0]) ** 2
            return (np.atleast_1d(float(square.sum() if block.weight is None else block.weight @ square)),)

        return 1.0 - float(design.fold(missed)[0][0]) / spread

    return judge
