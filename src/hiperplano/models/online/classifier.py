"""Shared code of online classifiers."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, cast

import numpy as np

from hiperplano.data import validate
from hiperplano.data.block import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.labels import (
    class_totals,
    class_weights,
    codes_of,
    encode_labels,
    first_classes,
    labels_without_weight,
)
from hiperplano.data.loops.arrays import row_arrays
from hiperplano.data.stream import Stream
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.models.base import LinearClassifier, all_or_nothing
from hiperplano.models.online.base import OnlineModel
from hiperplano.models.online.streaming import fit_stream, refuse_whole_rows
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.held_out import hold_out
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.metrics import BinaryAccuracy, MulticlassAccuracy, Objective, growing_objective
from hiperplano.solvers.online.passes import AllPlanes, OnePlane
from hiperplano.solvers.online.sampling_order import SamplingOrder
from hiperplano.solvers.online.single_row import SingleRowLearner, supports_single_rows
from hiperplano.solvers.online.training import Control, Task
from hiperplano.solvers.online.whole_batch import WholeBatch


class Examples(NamedTuple):
    """Labelled rows.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Number of each row's class.
    class_weight : ndarray of shape (classes,)
    """

    memory: InMemory
    codes: Array
    class_weight: Array

    def subset(self, mask: Array) -> Examples:
        """The rows where a mask is True.

        Parameters
        ----------
        mask : ndarray of bool of shape (n,)
        """
        return Examples(self.memory.gather(mask), self.codes[mask], self.class_weight)

    def signs(self, positive: int) -> Array:
        """1 for the rows of a class and −1 for the others, of shape (n,).

        Parameters
        ----------
        positive : int
            Number of the class.
        """
        return np.where(self.codes == positive, 1.0, -1.0)

    @property
    def unequal(self) -> bool:
        """Whether classes have different weights."""
        return bool((self.class_weight != self.class_weight[0]).any())

    def weight(self) -> Array | None:
        """Weights of the rows times those of their classes; None if all are 1."""
        weight = self.memory.weight
        if (self.class_weight == 1.0).all():
            return weight
        own = self.class_weight[self.codes]
        return own if weight is None else own * weight


class OnlineClassifier(LinearClassifier, OnlineModel):
    """A classifier with one plane for two classes, otherwise one for each class."""

    class_weight: Any
    multi_class: str = "ovr"

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
            Labels of any kind.
        coef_init : array-like of shape (1, d) or (classes, d), optional
            Planes to start from, with `intercept_init` of shape (1,) or (classes,); 0 or, warm, those of the last fit.
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

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a chunk of rows, in one pass.

        Without shuffling, chunks give the same bits as one pass over all of them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows of the chunk.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like, optional
            All classes that can come; needed at the first call.
        sample_weight : array-like of shape (n,), optional
            As in `fit`.

        Returns
        -------
        self : estimator
            The updated model.
        """
        learn = self.__dict__.get("_fast_path")
        if learn is not None and sample_weight is None and classes is None and learn(X, y):
            return self
        return self._partial_fit(X, y, classes, sample_weight)

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
        design = cast(Stream, validate(self, rows, y, sample_weight, numeric_target=False))
        classes, codes = encode_labels(design, labels_without_weight(rows, y, sample_weight))
        self._check_classes(classes)
        weights = class_weights(self.class_weight, classes, class_totals(design, codes, len(classes)))
        self.classes_ = classes
        learner = self._start((1 if len(classes) == 2 else len(classes), design.n_columns), coef_init, intercept_init)
        seed = self._seed()

        def tasks_of(part: InMemory) -> list[Task]:
            return self._tasks(Examples(part, part.collect(part.vector("code")), weights), rule, learner, seed)

        fit_stream(self, design.with_vectors(code=codes), self._control(), tasks_of)
        self._warn_unless_converged()
        return self

    def _plan(self, *data: Any) -> tuple[InMemory, list[Task], Control]:
        X, y, coef_init, intercept_init, sample_weight = data
        rule, control, held_share = self._rule(), self._control(), self._held_fraction()
        # Every row is visited in the first pass, and the loop checks the rows it visits.
        visited = sample_weight is None and held_share is None and rule[at.BATCH] > 0 and not self._looks_at_rows()
        memory = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False, finite=not visited))
        classes, codes = encode_labels(memory, labels_without_weight(X, y, sample_weight))
        self._check_classes(classes)
        totals = np.ones(len(classes)) if self.class_weight is None else class_totals(memory, codes, len(classes))
        weights = class_weights(self.class_weight, classes, totals)
        examples, held = Examples(memory, memory.collect(codes), weights), None
        seed = self._seed()
        if held_share is not None:
            examples, held = self._hold_out(examples, held_share)
        learner = self._begin(examples, len(classes), coef_init, intercept_init)
        self.classes_ = classes
        return memory, self._tasks(examples, rule, learner, seed, held), control

    @all_or_nothing
    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        rule = self._rule()
        if isinstance(self.class_weight, str):
            raise InvalidParameter(
                "class_weight={class_weight!r} is not supported for partial_fit: the shares of the classes in all "
                "rows are not known. Pass a dict with a weight for each class.",
                class_weight=self.class_weight,
            )
        first = "_learner_" not in vars(self)
        known = first_classes(classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise InvalidTarget(
                "classes={classes} are not those of the first call, {known}; they cannot change. Leave `classes` "
                "out, or start a new model.",
                classes=np.unique(np.asarray(classes)).tolist(),
                known=known.tolist(),
            )
        memory = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False, reset=first))
        self._check_classes(known)
        weights = class_weights(self.class_weight, known, np.ones(len(known)))
        examples = Examples(memory, codes_of(memory.y[:, 0], known), weights)
        learner = self._begin(examples, len(known)) if first else self._resumed(rule)
        self.classes_ = known
        self._take_chunk(memory, self._tasks(examples, rule, learner, self._seed()))
        if supports_single_rows(self._rule_, learner) and not hasattr(self, "feature_names_in_"):
            negative, positive = known.tolist()
            single = SingleRowLearner(learner, self._rule_, self._dtype_, {negative: -1.0, positive: 1.0})
            self.__dict__["_fast_path"] = single.by_label
        return self

    def _begin(self, examples: Examples, n_classes: int, coef: Any = None, intercept: Any = None) -> Learner:
        return self._start((1 if n_classes == 2 else n_classes, examples.memory.n_columns), coef, intercept)

    def _looks_at_rows(self) -> bool:
        """Whether rows are used other than in visits."""
        return self._pocketed()

    def _check_classes(self, classes: Array) -> None:
        """Raise an error for classes that the parameters do not allow."""

    def _tasks(
        self, examples: Examples, rule: Array, learner: Learner, seed: int | None, held: Examples | None = None
    ) -> list[Task]:
        """One task for each plane that is learnt separately."""
        if len(examples.class_weight) > 2 and self.multi_class != "ovr":
            return [self._task_of_all(examples, rule, learner, seed, held)]
        order = self._sampling_order(examples, seed) if rule[at.BATCH] else None
        planes = range(len(learner.weights))
        return [self._task_of_plane(plane, examples, rule, learner, order, held) for plane in planes]

    def _sampling_order(self, examples: Examples, seed: int | None) -> SamplingOrder:
        memory, codes, _ = examples
        return SamplingOrder(row_arrays(memory.x), memory.weight, codes, seed, self._row_factor(examples))

    def _row_factor(self, examples: Examples) -> Array | None:
        """Weights of rows by their classes, if a side has several classes; None for all 1."""
        _, codes, class_weight = examples
        # A row keeps the weight of its class in every one-vs-rest problem.
        one_by_one = len(class_weight) > 2 and self.multi_class == "ovr"
        return class_weight[codes] if one_by_one and (class_weight != 1.0).any() else None

    def _weighted_rule(self, rule: Array, examples: Examples) -> Array:
        """The rule of one plane, with the class weights."""
        rule, class_weight = rule.copy(), examples.class_weight
        if len(class_weight) == 2:
            rule[at.NEGATIVE_WEIGHT], rule[at.POSITIVE_WEIGHT] = class_weight
        # Larger weights of losses increase the norm of the optimum.
        rule[at.PROJECT] *= class_weight.max()
        return rule

    def _task_of_all(
        self, examples: Examples, rule: Array, learner: Learner, seed: int | None, held: Examples | None
    ) -> Task:
        """The planes of all classes, learnt together."""
        memory, codes, class_weight = examples
        order = self._sampling_order(examples, seed)
        trainer = AllPlanes(codes.astype(np.float64), order, learner, class_weight)
        counted = memory.with_vectors(y=codes, weight=examples.weight())
        return Task(
            trainer,
            rule,
            accuracy=MulticlassAccuracy(counted) if self._pocketed() else None,
            validation_score=None if held is None else MulticlassAccuracy(held.memory.with_vectors(y=held.codes)),
            memory=memory,
            unequal_classes=examples.unequal,
        )

    def _task_of_plane(
        self,
        plane: int,
        examples: Examples,
        rule: Array,
        learner: Learner,
        order: SamplingOrder | None,
        held: Examples | None,
    ) -> Task:
        """One plane, which separates a class from the rest."""
        memory, _, class_weight = examples
        binary = len(class_weight) == 2
        positive = 1 if binary else plane
        rule = self._weighted_rule(rule, examples)
        target = examples.signs(positive)
        counted, total = memory.with_vectors(y=target, weight=examples.weight()), memory.total_weight
        return Task(
            WholeBatch(counted, learner, plane, total, self._sums())
            if order is None
            else OnePlane(target, order, learner, plane),
            rule,
            accuracy=BinaryAccuracy(counted) if self._pocketed() else None,
            validation_score=None if held is None else BinaryAccuracy(held.memory.with_vectors(y=held.signs(positive))),
            objective=Objective(counted, rule, total) if rule[at.AVERAGE_FROM] else None,
            growing=growing_objective(counted, rule, total),
            label=None if binary else self.classes_.tolist()[plane],
            memory=memory,
            unequal_classes=examples.unequal,
        )

    def _sums(self) -> bool:
        """Whether a step over all rows uses the sum of their slopes instead of the mean."""
        return False

    def _hold_out(self, examples: Examples, share: float) -> tuple[Examples, Examples]:
        self._check_held_out(len(examples.codes), share, len(examples.class_weight))
        held = hold_out(examples.memory, examples.codes, share, self._draw())
        if not held.any():
            raise InvalidTarget(
                "{model}: early_stopping holds out {share:g} of {n_examples_codes} rows, but those of each class "
                "are all alike: none can be judged without its own copy. Set early_stopping=False.",
                model=type(self).__name__,
                share=share,
                n_examples_codes=len(examples.codes),
            )
        return examples.subset(~held), examples.subset(held)
