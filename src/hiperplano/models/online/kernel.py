"""Online classifiers that learn in the features of a kernel, if one is given."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.block import Array
from hiperplano.data.design import Design
from hiperplano.data.loops.arrays import row_arrays
from hiperplano.data.parameters import number, whole
from hiperplano.data.validate import validate_rows
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.kernels import FeatureMap, KernelMatrix, Linear, Precomputed
from hiperplano.kernels.matrix import dense_if_small
from hiperplano.models.kernel.base import KernelModel
from hiperplano.models.online.base import OnlineModel
from hiperplano.models.online.classifier import Examples, OnlineClassifier
from hiperplano.solvers.kernel.online.kernel_plane import KernelPlane, KernelRows
from hiperplano.solvers.kernel.online.span_learner import SpanLearner, SpanObjective
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.sampling_order import SamplingOrder
from hiperplano.solvers.online.solution import OnlineSolution
from hiperplano.solvers.online.training import Control, Record, Task

_OF_THE_KERNEL = ("kernel_", "support_", "support_vectors_")


@dataclass(frozen=True)
class KernelOnlineSolution(OnlineSolution):
    """How an online fit with a kernel ended.

    Attributes
    ----------
    n_support : int
        Number of rows with a nonzero coefficient.
    kernel : str
        Formula of the kernel.
    """

    n_support: int = 0
    kernel: str = ""


def _has_columns(model: Any) -> bool:
    """Whether planes are over the columns (before a fit, whether they will be)."""
    return "kernel_" not in vars(model) and ("_learner_" in vars(model) or model.kernel is None)


class KernelLearning(OnlineClassifier, KernelModel):
    """Planes over the columns or, if `kernel` is given, over φ(x): then w = Σ αᵢ·φ(xᵢ) over the rows learnt from.

    Both are learnt by the same loops. With a kernel the scores of all rows are stored, so that a visit without a step
    costs nothing, and one with a step one row of the Gram matrix. Chunks and warm starts add rows to the existing
    support vectors.
    """

    kernel_params = None
    budget: int | None
    cache_size: float
    support_: Array
    support_vectors_: Any
    _learner_: Any

    sparsify = available_if(_has_columns)(OnlineModel.sparsify)
    densify = available_if(_has_columns)(OnlineModel.densify)

    # What is published

    @property
    def coef_(self) -> Any:
        """Coefficients of the columns; with a kernel, only of a linear one."""
        if _has_columns(self):
            return self._coef()
        if isinstance(self.kernel_, Linear):
            return self.dual_coef_ @ self.support_vectors_
        raise NotAvailable(
            "coef_ is only available for a linear kernel: with another one, no column has a single coefficient. "
            "Use dual_coef_ and support_vectors_."
        )

    @coef_.setter
    def coef_(self, coef: Any) -> None:
        self._set_planes(coef, self.intercept_)

    @property
    def dual_coef_(self) -> Array:  # type: ignore[override]
        """α of the support vectors, of shape (planes, support vectors)."""
        if _has_columns(self):
            raise NotAvailable("dual_coef_ is only available with a kernel. Use coef_, or set `kernel` and fit again.")
        return self._published()[0]

    @property
    def solution_(self) -> Any:
        found = super().solution_
        if _has_columns(self):
            return found
        parts = {each.name: getattr(found, each.name) for each in fields(found)}
        return KernelOnlineSolution(**parts, n_support=len(self.support_), kernel=str(self.kernel_))

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        if _has_columns(self):
            return super()._scores(X)
        rows = self._in_memory(validate_rows(self, X)).as_held()
        alpha, intercept = self._published()
        if isinstance(self.kernel_, Precomputed):
            return np.asarray(rows[:, self.support_] @ alpha.T) + intercept
        matrix = KernelMatrix(self.kernel_, rows, dense_if_small(self.support_vectors_), dtype=np.float64)
        return matrix.dot(np.ascontiguousarray(alpha.T, dtype=np.float64)) + intercept

    # Learning

    def _looks_at_rows(self) -> bool:
        return self.kernel is not None or super()._looks_at_rows()

    def _workers(self, n_tasks: int) -> int:
        return super()._workers(n_tasks) if self.kernel is None else 1  # planes share the rows of the Gram matrix

    def _check_kernel(self, rule: Array) -> None:
        """Raise an error for parameters that cannot be combined with a kernel, or have no effect without one."""
        if self.kernel is None and self.budget is not None:
            raise InvalidParameter(
                "{model}: budget={budget!r} without a kernel; it bounds the support vectors of a kernel machine. Set "
                "kernel, or budget=None.",
                model=type(self).__name__,
                budget=self.budget,
            )
        if self.kernel is None:
            return
        whole(self, "budget", low=1, optional=True)
        number(self, "cache_size", low=0.0, open_low=True)
        if self.budget is not None and rule[at.AVERAGE_FROM]:
            raise InvalidParameter(
                "{model}: budget={budget!r} with average; the mean over all steps has every row in it that was ever a "
                "support vector. Set one of them.",
                model=type(self).__name__,
                budget=self.budget,
            )
        if not rule[at.BATCH]:
            raise InvalidParameter(
                "{model}: batch_size=None with a kernel; steps over all rows take the whole Gram matrix each. Set "
                "batch_size to a number, or use SVC, which solves the same problem.",
                model=type(self).__name__,
            )

    def _fit_stream(self, *data: Any) -> Self:
        if self.kernel is None:
            return super()._fit_stream(*data)
        raise NotAvailable(
            "{model}: with a kernel, `fit` keeps the scores of all rows and takes rows in memory; these are read some "
            "at a time. Call partial_fit with chunks of them, with a budget if there are many.",
            model=type(self).__name__,
        )

    def _begin(self, examples: Examples, n_classes: int, coef: Any = None, intercept: Any = None) -> Learner:
        if self.kernel is not None:
            memory = examples.memory
            self.kernel_ = self._settled_kernel(self._rows_of(memory), memory.weight)
        else:
            for name in _OF_THE_KERNEL:
                self.__dict__.pop(name, None)
        return super()._begin(examples, n_classes, coef, intercept)

    def _start(self, shape: tuple[int, int], coef: Any = None, intercept: Any = None) -> Learner:
        if self.kernel is None:
            return super()._start(shape, coef, intercept)
        if coef is not None or intercept is not None:
            raise InvalidParameter(
                "{model}: coef_init or intercept_init is given with a kernel, whose planes have no coefficients of "
                "columns. Go on with warm_start=True or partial_fit.",
                model=type(self).__name__,
            )
        last = vars(self).get("_learner_")
        if not (self.warm_start and isinstance(last, SpanLearner) and len(last.weights) == shape[0]):
            return SpanLearner.start(np.zeros((shape[0], 0)), np.zeros(shape[0]), pocket=False)
        alpha, intercepts = last.coefficients()
        scores = KernelMatrix(self.kernel_, self.support_vectors_, dtype=np.float64).dot(alpha.T).T
        return SpanLearner.start(np.concatenate([alpha, scores], axis=1), intercepts, pocket=False)

    def _tasks(
        self, examples: Examples, rule: Array, learner: Learner, seed: int | None, held: Examples | None = None
    ) -> list[Task]:
        if not isinstance(learner, SpanLearner):
            return super()._tasks(examples, rule, learner, seed, held)
        memory, n_old = examples.memory, learner.n_rows
        rows = new = self._rows_of(memory)
        cross = np.empty((memory.n_rows, 0))
        if n_old:
            if self._is_precomputed():
                raise NotAvailable(
                    "{model}: partial_fit or warm_start with a precomputed matrix, which has no values of the rows of "
                    "before with the new ones. Pass rows and a kernel.",
                    model=type(self).__name__,
                )
            rows = _stacked(self.support_vectors_, new)
            cross = KernelMatrix(self.kernel_, new, self.support_vectors_, dtype=np.float64).dense()
        learner = learner.extended(cross)
        gram = KernelRows(self.kernel_, rows, int(1e6 * self.cache_size), int(rule[at.BATCH]))
        content = self.kernel_.features(new) if isinstance(self.kernel_, FeatureMap) else new
        order = SamplingOrder(row_arrays(content), memory.weight, examples.codes, seed, self._row_factor(examples))
        planes = range(len(learner.weights))
        return [self._task_in_span(plane, examples, rule, learner, order, gram) for plane in planes]

    def _task_in_span(
        self, plane: int, examples: Examples, rule: Array, learner: SpanLearner, order: SamplingOrder, gram: KernelRows
    ) -> Task:
        """One plane over φ(x), which separates a class from the rest."""
        memory, binary = examples.memory, len(examples.class_weight) == 2
        rule = self._weighted_rule(rule, examples)
        n_old = learner.n_rows - memory.n_rows
        target = np.concatenate([np.ones(n_old), examples.signs(1 if binary else plane)])
        objective = None
        if rule[at.AVERAGE_FROM]:
            own = examples.weight()
            weight = np.concatenate([np.zeros(n_old), np.ones(memory.n_rows) if own is None else own])
            objective = SpanObjective(learner, plane, target, weight, rule, memory.total_weight)
        return Task(
            KernelPlane(gram, target, order, learner, plane, self.budget),
            rule,
            objective=objective,
            label=None if binary else self.classes_.tolist()[plane],
            memory=memory,
        )

    def _store(self, design: Design, tasks: list[Task], records: list[Record], control: Control) -> None:
        super()._store(design, tasks, records, control)
        learner = self._learner_
        if not isinstance(learner, SpanLearner):
            return
        support, n_old = learner.support(), learner.n_rows - design.n_rows
        new = support[support >= n_old] - n_old
        rows = self._in_memory(design).as_held()
        vectors, numbers = rows[new], design.row_numbers()[new]
        if n_old:
            before = support[support < n_old]
            vectors = _stacked(self.support_vectors_[before], vectors)
            numbers = np.concatenate([np.full(len(before), -1), numbers])
        self.support_ = numbers.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, Precomputed) else vectors
        self._learner_ = learner.restricted(support)


def _stacked(rows: Any, more: Any) -> Any:
    """Rows with further ones appended, sparse if one of the two is."""
    if issparse(rows) or issparse(more):
        return csr_array(vstack([csr_array(rows), csr_array(more)]))
    return np.concatenate([rows, more])
