"""Shared code of online learners."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from hiperplano.data.block import Array
from hiperplano.data.design import Design
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.in_memory import InMemory, require_memory
from hiperplano.data.parallel.threads import ordered_map, worker_count
from hiperplano.data.parameters import flag, number, whole
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.models.base import SparseCoefficients, representable, warn_of_the_end
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.solution import OnlineSolution, has_converged, verdict
from hiperplano.solvers.online.training import Control, Record, Task, run_pass, train, update_pocket


class OnlineModel(SparseCoefficients, ABC):
    """A model whose planes are stored in a `Learner`, from which `coef_` and `intercept_` are read on demand."""

    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: Any
    # Parameters of some subclasses, fixed for the others.
    n_iter_no_change: int = 5
    average: bool | int = False
    warm_start: bool = False
    verbose: int = 0
    n_jobs: int | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    learning_rate: str = "constant"
    _METHOD: str

    _learner_: Learner
    _rule_: Array
    _records_: list[Record]
    _control_: Control
    _dtype_: Any
    _fast_path: Any
    _sparse_coef: bool = False

    # What is published

    def _coef(self) -> Any:
        coef = self._dense_coef()
        return csr_matrix(coef) if self._sparse_coef else coef

    def _dense_coef(self) -> Array:
        return self._shape(self._published()[0])

    def sparsify(self) -> Self:
        """Return `coef_` as a CSR matrix, which is smaller if most coefficients are 0.

        Returns
        -------
        self : estimator
            The same model, which predicts as before.
        """
        self._of_fit("_learner_")
        self._sparse_coef = True
        return self

    def densify(self) -> Self:
        """Return `coef_` as an array again.

        Returns
        -------
        self : estimator
            The same model.
        """
        self._of_fit("_learner_")
        self._sparse_coef = False
        return self

    def _intercept(self) -> Array:
        return self._published()[1]

    def _planes(self) -> tuple[Array, Any]:
        coef, intercept = self._published()
        return self._shape(coef), intercept

    def _set_planes(self, coef: Any, intercept: Any) -> None:
        """Continue from planes that were assigned to the attributes."""
        shape = self._of_fit("_learner_").weights.shape
        planes = self._given("coef_", coef, shape), self._given("intercept_", intercept, shape[:1])
        self._learner_ = Learner.start(*planes, self._pocketed())

    coef_ = property(_coef, lambda self, coef: self._set_planes(coef, self.intercept_))
    intercept_ = property(_intercept, lambda self, intercept: self._set_planes(self.coef_, intercept))

    @property
    def solution_(self) -> OnlineSolution:
        learner = self._of_fit("_learner_")
        return verdict(learner, self._rule_, self._records_, self._control_, self._METHOD)

    @property
    def n_iter_(self) -> int:
        return self.solution_.n_iter

    @property
    def t_(self) -> float:
        return float(self._of_fit("_learner_").states[0, at.STEP])

    def _shape(self, coef: Array) -> Array:
        return coef

    def _published(self) -> tuple[Array, Array]:
        coef, intercept = self._of_fit("_learner_").coefficients()
        if coef.dtype == self._dtype_ or not (
            representable(coef, self._dtype_) and representable(intercept, self._dtype_)
        ):
            return coef, intercept
        return coef.astype(self._dtype_, copy=False), intercept.astype(self._dtype_, copy=False)

    def _of_fit(self, name: str) -> Any:
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has not learnt anything yet; call fit first") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.pop("_fast_path", None)  # it was built for the previous parameters
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_fast_path", None)  # it can be rebuilt
        return state

    # What parameters say

    def _plain_rule(self) -> Array:
        """A rule with the parameters that all subclasses have."""
        rule = np.zeros(at.RULE_SIZE)
        rule[at.ETA] = rule[at.BATCH] = rule[at.POSITIVE_WEIGHT] = rule[at.NEGATIVE_WEIGHT] = 1.0
        rule[at.FIT_INTERCEPT] = flag(self, "fit_intercept")
        rule[at.CLASSES] = is_classifier(self)
        if isinstance(self.average, bool | np.bool_):
            rule[at.AVERAGE_FROM] = float(self.average)
        else:
            rule[at.AVERAGE_FROM] = whole(self, "average", low=1)
        return rule

    @abstractmethod
    def _rule(self) -> Array:
        """Validate the parameters, and return their rule."""

    def _control(self) -> Control:
        return Control(
            max_iter=whole(self, "max_iter", low=1) or 1,
            tol=None if self.tol is None else number(self, "tol", infinite=True),
            patience=whole(self, "n_iter_no_change", low=1) or 1,
            adaptive=self.learning_rate == "adaptive",
        )

    def _seed(self) -> int | None:
        return self._draw() if flag(self, "shuffle") else None

    def _draw(self) -> int:
        """A seed drawn from `random_state`."""
        try:
            return _drawn(self.random_state)
        except ValueError as problem:
            raise InvalidParameter(
                "{model}: random_state={random_state!r}; it must be None, a whole number of 0 or more, or a numpy "
                "RandomState. Set one of them.",
                model=type(self).__name__,
                random_state=self.random_state,
            ) from problem

    def _workers(self, n_tasks: int) -> int:
        most = n_tasks if self.n_jobs is None or self.n_jobs == -1 else whole(self, "n_jobs", low=1) or 1
        return most if most == 1 else min(most, worker_count())

    def _held_fraction(self) -> float | None:
        """The share of rows to hold out, if any."""
        if not flag(self, "early_stopping"):
            return None
        share = number(self, "validation_fraction", low=0.0, high=1.0, open_low=True)
        if share == 1.0:
            raise InvalidParameter(
                "{model}: validation_fraction=1; rows must be left to learn from. Set less than 1.",
                model=type(self).__name__,
            )
        return share

    def _check_held_out(self, n_rows: int, share: float, n_classes: int = 1) -> None:
        """Raise an error if too few rows would be left in one of the two sets."""
        left = n_rows - int(np.ceil(share * n_rows))
        if n_rows < 2 * n_classes or left < n_classes:
            raise InvalidData(
                "{model}: n_samples={n_rows} with early_stopping and validation_fraction={share:g}; rows of each of "
                "{n_classes} classes are needed to learn from and to hold out. Add rows, hold out less, or set "
                "early_stopping=False.",
                model=type(self).__name__,
                n_rows=n_rows,
                share=share,
                n_classes=n_classes,
            )

    def _pocketed(self) -> bool:
        return False

    # Learning

    def _start(self, shape: tuple[int, int], coef: Any = None, intercept: Any = None) -> Learner:
        """A new learner: from given planes, from those of the last fit (warm start), or from 0."""
        planes = np.zeros(shape), np.zeros(shape[0])
        if flag(self, "warm_start") and "_learner_" in vars(self):
            planes = self._learner_.coefficients()
        planes = (
            planes[0] if coef is None else self._given("coef_init", coef, shape),
            planes[1] if intercept is None else self._given("intercept_init", intercept, shape[:1]),
        )
        if planes[0].shape != shape:
            raise InvalidData(
                "{model}: warm_start=True, but the last fit had planes of shape {shape} and this one has "
                "{new_shape}; columns and classes must be the same. Fit a clone, or set warm_start=False.",
                model=type(self).__name__,
                shape=planes[0].shape,
                new_shape=shape,
            )
        return Learner.start(*planes, self._pocketed())

    def _resumed(self, rule: Array) -> Learner:
        """The current state, to continue with the current parameters."""
        learner = self._learner_.resumed(bool(rule[at.AVERAGE_FROM]), self._pocketed())
        if not (self._rule_[at.PROJECT] and self._rule_[at.BATCH]):
            learner.measure()
        return learner

    def _given(self, name: str, values: Any, shape: tuple[int, ...]) -> Array:
        """Initial planes given by the caller."""
        found = np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)
        if found.size != np.prod(shape) or not np.isfinite(found).all():
            raise InvalidData(
                "{model}: {name} has shape {shape}; finite numbers of shape {needed} are needed. Pass the planes "
                "of a fit to the same columns and classes.",
                model=type(self).__name__,
                name=name,
                shape=found.shape,
                needed=shape,
            )
        return found.reshape(shape)

    @abstractmethod
    def _plan(self, *data: Any) -> tuple[InMemory, list[Task], Control]:
        """Rows, tasks and control of a fit to X, y, coef_init, intercept_init, sample_weight."""

    def _in_memory(self, design: Design) -> InMemory:
        """The rows in memory, which can be visited in any order."""
        return require_memory(
            design, f"{type(self).__name__} visits rows one by one, in random order: they must be in memory."
        )

    def _train(self, design: Design, tasks: list[Task], control: Control) -> None:
        """Train all tasks, in threads, and set the fitted attributes."""

        def run(task: Task) -> Record:
            def report(pass_number: int, loss: float) -> None:
                which = "" if task.label is None else f" for {task.label!r}"
                print(f"{type(self).__name__}{which}: pass {pass_number}, mean loss {loss:.6g}")

            return train(task, control, report if self.verbose else None)

        workers = self._workers(len(tasks))
        records = ordered_map(run, tasks, workers) if workers > 1 else [run(task) for task in tasks]
        passes = max(len(record.mistakes) for record in records)
        if any(record.ended == "overflow" for record in records):
            self._refuse_overflow(design, passes)
        # With decreasing steps, the fit may still converge in more passes: the status says so. With a constant rate it
        # does not.
        if self.learning_rate == "constant" and any(record.ended == "diverging" for record in records):
            raise InvalidData(
                "{model}: the fit diverged: after {passes} passes its loss is far above that of a plane of zeros, or "
                "its gradient grows from pass to pass; steps must suit the scale of the columns. Scale them "
                "(sklearn.preprocessing.StandardScaler), or take smaller steps (eta0, a decreasing schedule).",
                model=type(self).__name__,
                passes=passes,
            )
        self._look_at_separability(tasks, records)
        self._store(design, tasks, records, control)
        self._warn_unless_converged()

    def _warn_unless_converged(self) -> None:
        if not has_converged(self._learner_, self._records_, self._control_):
            warn_of_the_end(self, self.solution_)

    def _look_at_separability(self, tasks: list[Task], records: list[Record]) -> None:
        """Record whether rows could be separated, if that is relevant and cheap to find out."""

    def _take_chunk(self, design: Design, tasks: list[Task]) -> None:
        """One pass of the tasks over a chunk."""
        learner = tasks[0].trainer.learner
        for task in tasks:
            task.trainer.begin(learner.chunks + 1)
            # Not all rows are available for the evaluation.
            task.rule[at.POCKET] = min(task.rule[at.POCKET], at.RATCHET)
            if not run_pass(task.trainer, task.rule):
                self._refuse_overflow(design, learner.chunks + 1)
            update_pocket(task.trainer, None)
        learner.chunks += 1
        self._store(design, tasks, vars(self).get("_records_", []), self._control())

    def _store(self, design: Design, tasks: list[Task], records: list[Record], control: Control) -> None:
        trainer, rule = tasks[0].trainer, tasks[0].rule
        self._sparse_coef = False
        self._learner_, self._rule_, self._records_, self._control_ = trainer.learner, rule, records, control
        self._learner_.length, self._learner_.counted = trainer.length, len(tasks)
        self._dtype_ = vars(self).get("_dtype_", design.dtype) if trainer.learner.chunks > 1 else design.dtype

    def _refuse_overflow(self, design: Design, pass_number: int) -> None:
        refuse_out_of_range(design)
        raise InvalidData(
            "{model}: the weights grew beyond the range of float64 in pass {pass_number}; steps must suit the "
            "scale of the columns. Scale them (sklearn.preprocessing.StandardScaler), or take smaller steps "
            "(eta0, C, a decreasing schedule).",
            model=type(self).__name__,
            pass_number=pass_number,
        )


def _drawn(random_state: Any) -> int:
    """A first draw from a random state of scikit-learn.

    A thread keeps its generator and reseeds it, since creating one takes longer than a pass over a small table.
    """
    if not isinstance(random_state, Integral):
        return int(check_random_state(random_state).randint(_SEEDS))
    if not hasattr(_kept, "generator"):
        _kept.generator = np.random.RandomState(0)
    _kept.generator.seed(int(random_state))
    return int(_kept.generator.randint(_SEEDS))


_SEEDS = 2**31 - 1
_kept = threading.local()
