"""Shared code of online regressors."""

from __future__ import annotations

from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin

from hiperplano.data import validate
from hiperplano.data.block import Array
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.in_memory import InMemory
from hiperplano.data.loops.arrays import row_arrays
from hiperplano.data.stream import Stream
from hiperplano.errors import InvalidTarget
from hiperplano.models.base import all_or_nothing
from hiperplano.models.online.base import OnlineModel
from hiperplano.models.online.streaming import fit_stream, refuse_whole_rows
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.held_out import hold_out
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.metrics import Objective, RSquared, growing_objective
from hiperplano.solvers.online.passes import OnePlane
from hiperplano.solvers.online.sampling_order import SamplingOrder
from hiperplano.solvers.online.single_row import SingleRowLearner, supports_single_rows
from hiperplano.solvers.online.training import Control, Task
from hiperplano.solvers.online.whole_batch import WholeBatch


class OnlineRegressor(RegressorMixin, OnlineModel):
    """A regressor with one plane."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from all rows, in as many passes as it takes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or rows of `scan`
            Rows to learn from. Those of a scan are visited in the order of their chunks, and shuffled within each.
        y : array-like of shape (n,)
            Targets.
        coef_init : array-like of shape (d,), optional
            Plane to start from, with `intercept_init` of shape (1,); 0 or, warm, that of the last fit.
        intercept_init : array-like, optional
            Intercepts to start from, with `coef_init`.
        sample_weight : array-like of shape (n,), optional
            A row of weight w is visited w times in a pass, as w equal rows would be; a fraction is left out of the
            count, and 8 visits are the most. Steps (for passive-aggressive models: the longest step) are as much
            longer or shorter as all visits of the row need to weigh w.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a chunk of rows, in one pass.

        Without shuffling, chunks give the same bits as one pass over all of them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows of the chunk.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            As in `fit`.

        Returns
        -------
        self : estimator
            The updated model.
        """
        learn = self.__dict__.get("_fast_path")
        if learn is not None and sample_weight is None and learn(X, y):
            return self
        return self._partial_fit(X, y, sample_weight)

    @by_rows
    def predict(self, X: Any) -> Array:
        """Predicted targets, x·coef + intercept.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            The predicted targets.
        """
        return self._scores(X)

    def _shape(self, coef: Array) -> Array:
        return np.asarray(coef[0])

    @all_or_nothing
    def _fit(self, *data: Any) -> Self:
        if isinstance(data[0], Stream):
            return self._fit_stream(*data)
        self._train(*self._plan(*data))
        return self

    def _fit_stream(self, *data: Any) -> Self:
        rows, y, coef_init, intercept_init, sample_weight = data
        rule = self._rule()
        refuse_whole_rows(self, rule)
        design = cast(Stream, validate(self, rows, y, sample_weight, one_target=True))
        learner, seed = self._start((1, design.n_columns), coef_init, intercept_init), self._seed()
        fit_stream(self, design, self._control(), lambda part: [self._task(part, rule.copy(), learner, seed)])
        self._warn_unless_converged()
        return self

    def _plan(self, *data: Any) -> tuple[InMemory, list[Task], Control]:
        X, y, coef_init, intercept_init, sample_weight = data
        rule, control, held_share = self._rule(), self._control(), self._held_fraction()
        # Every row is visited in the first pass, and the loop checks the rows it visits.
        visited = sample_weight is None and held_share is None and rule[at.BATCH] > 0
        memory = self._in_memory(validate(self, X, y, sample_weight, one_target=True, finite=not visited))
        kept, held, seed = memory, None, self._seed()
        if held_share is not None:
            kept, held = self._hold_out(memory, held_share)
        learner = self._start((1, memory.n_columns), coef_init, intercept_init)
        return memory, [self._task(kept, rule, learner, seed, held)], control

    @all_or_nothing
    def _partial_fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        rule = self._rule()
        first = "_learner_" not in vars(self)
        memory = self._in_memory(validate(self, X, y, sample_weight, one_target=True, reset=first))
        learner = self._start((1, memory.n_columns)) if first else self._resumed(rule)
        self._take_chunk(memory, [self._task(memory, rule, learner, self._seed())])
        if supports_single_rows(rule, learner) and not hasattr(self, "feature_names_in_"):
            self.__dict__["_fast_path"] = SingleRowLearner(learner, rule, self._dtype_, {}).by_number
        return self

    def _task(
        self, memory: InMemory, rule: Array, learner: Learner, seed: int | None, held: InMemory | None = None
    ) -> Task:
        total = memory.total_weight
        if rule[at.BATCH]:
            target = np.ascontiguousarray(memory.y[:, 0])
            order = SamplingOrder(row_arrays(memory.x), memory.weight, target, seed)
        return Task(
            OnePlane(target, order, learner)
            if rule[at.BATCH]
            else WholeBatch(memory, learner, plane=0, total=total, summed=False),
            rule,
            validation_score=None if held is None else RSquared.of(held),
            objective=Objective(memory, rule, total) if rule[at.AVERAGE_FROM] else None,
            growing=growing_objective(memory, rule, total),
            memory=memory,
        )

    def _hold_out(self, memory: InMemory, share: float) -> tuple[InMemory, InMemory]:
        self._check_held_out(memory.n_rows, share)
        held = hold_out(memory, np.zeros(memory.n_rows), share, self._draw())
        if not held.any():
            raise InvalidTarget(
                "{model}: early_stopping holds out {share:g} of n_samples={n_rows} rows, but all are alike: none "
                "can be judged without its own copy. Set early_stopping=False.",
                model=type(self).__name__,
                share=share,
                n_rows=memory.n_rows,
            )
        return memory.gather(~held), memory.gather(held)
