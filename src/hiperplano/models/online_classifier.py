"""What classifiers share that learn one example at a time."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from hiperplano.data import Design, validate
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.labels import class_totals, class_weights, codes_of, encode_labels, first_classes
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.models.base import LinearClassifier, all_or_nothing
from hiperplano.models.online import OnlineModel
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.course import Control, Judge, Lesson
from hiperplano.solvers.online.courses import AllPlanes, OnePlane
from hiperplano.solvers.online.held_out import hold_out
from hiperplano.solvers.online.learner import Learner, rows_of
from hiperplano.solvers.online.quick import Quick, opens_for
from hiperplano.solvers.online.visits import Visits
from hiperplano.solvers.online.whole_batch import WholeBatch, cost_of


class Examples(NamedTuple):
    """Rows with the numbers of their classes, and the weights of the classes."""

    design: Design
    codes: Array
    class_weight: Array
    numbers: Array | None = None  # of the rows among all, if these are some

    def take(self, rows: Array) -> Examples:
        design, weight = self.design, self.design.weight
        part = type(design)(design.take(rows), design.y[rows], None if weight is None else weight[rows])
        return Examples(part, self.codes[rows], self.class_weight, rows)


class OnlineClassifier(LinearClassifier, OnlineModel):
    """A classifier with one plane for two classes, otherwise one for each class."""

    class_weight: Any
    multi_class: str = "ovr"

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Learn from all rows, in as many passes as it takes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
        y : array-like of shape (n,)
            Labels of any kind.
        coef_init : array-like of shape (1, d) or (classes, d), optional
            Planes to start from, with `intercept_init` of shape (1,) or (classes,); 0 or, warm, those of the last fit.
        intercept_init : array-like, optional
        sample_weight : array-like of shape (n,), optional
            A row of weight w is visited w times in a pass, as w equal rows would be; a fraction shortens the step of
            the last visit (for passive-aggressive models: the longest step).
        """
        return self._fit(X, y, coef_init, intercept_init, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a chunk of rows, in one pass.

        Without shuffling, chunks teach the same, to the bit, as one pass over all of them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
        y : array-like of shape (n,)
        classes : array-like, optional
            All classes that can come; needed at the first call.
        sample_weight : array-like of shape (n,), optional
            As in `fit`.
        """
        learnt = self.__dict__.get("_door_")
        if learnt is not None and sample_weight is None and classes is None and learnt(X, y):
            return self
        return self._partial_fit(X, y, classes, sample_weight)

    # One row

    def _open_door(self) -> None:
        """Prepare for single rows, where nothing but one compiled call is needed for them."""
        rule, learner = self._rule_, self._learner_
        if opens_for(rule, learner) and not hasattr(self, "feature_names_in_"):
            negative, positive = self.classes_.tolist()
            self.__dict__["_door_"] = Quick(learner, rule, self._dtype_, {negative: -1.0, positive: 1.0}).by_label

    # All rows

    @all_or_nothing
    def _fit(self, *data: Any) -> Self:
        self._train(*self._plan(*data))
        return self

    def _plan(self, *data: Any) -> tuple[Design, list[Lesson], Control]:
        X, y, coef_init, intercept_init, sample_weight = data
        rule, control, held_share = self._rule(), self._control(), self._held_fraction()
        # Every row is visited in the first pass, and the loop looks at what it visits.
        visited = sample_weight is None and held_share is None and rule[at.BATCH] > 0 and not self._looks_at_rows()
        design = validate(self, X, y, sample_weight, numeric_target=False, finite=not visited)
        self._check_visits(design.weight)
        classes, codes = encode_labels(design)
        self._check_classes(classes)
        examples = Examples(
            design, codes, class_weights(self.class_weight, classes, class_totals(design, codes, len(classes)))
        )
        seed = self._seed()
        held = None
        if held_share is not None:
            examples, held = self._hold_out(examples, held_share)
        learner = self._begin(examples, len(classes), coef_init, intercept_init)
        self.classes_ = classes
        return design, self._lessons(examples, rule, learner, seed, held), control

    @all_or_nothing
    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        rule = self._rule()
        if isinstance(self.class_weight, str):
            raise InvalidParameter(
                f"class_weight={self.class_weight!r} is not supported for partial_fit: the shares of the classes in "
                "all rows are not known. Pass a dict with a weight for each class."
            )
        first = "_learner_" not in vars(self)
        known = first_classes(classes) if first else self.classes_
        if not first and classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise InvalidTarget(
                f"classes={np.unique(np.asarray(classes)).tolist()} are not those of the first call, {known.tolist()}; "
                "they cannot change. Leave `classes` out, or start a new model."
            )
        design = validate(self, X, y, sample_weight, numeric_target=False, reset=first)
        self._check_visits(design.weight)
        self._check_classes(known)
        codes = codes_of(design.y[:, 0], known)
        weights = class_weights(self.class_weight, known, np.ones(len(known)))
        examples = Examples(design, codes, weights)
        learner = self._begin(examples, len(known)) if first else self._turned(rule)
        self.classes_ = known
        self._take_chunk(design, self._lessons(examples, rule, learner, self._seed()))
        self._open_door()
        return self

    def _begin(self, examples: Examples, n_classes: int, coef: Any = None, intercept: Any = None) -> Learner:
        return self._start((1 if n_classes == 2 else n_classes, examples.design.n_columns), coef, intercept)

    def _looks_at_rows(self) -> bool:
        """Whether rows are used in other ways than by visits."""
        return self._pocketed()

    def _check_classes(self, classes: Array) -> None:
        """Refuse classes that the parameters do not allow."""

    def _lessons(
        self, examples: Examples, rule: Array, learner: Learner, seed: int | None, held: Examples | None = None
    ) -> list[Lesson]:
        """One lesson for each plane that is learnt by itself."""
        design, codes, class_weight, numbers = examples
        whole = not rule[at.BATCH]
        n_classes = len(class_weight)
        one_by_one = n_classes > 2 and self.multi_class == "ovr"
        uneven = bool((class_weight != class_weight[0]).any())
        if not whole:
            rows = rows_of(design.x)
            # A row weighs what its class does, whichever two sides are learnt to be told apart.
            own_weight = class_weight[codes] if one_by_one and (class_weight != 1.0).any() else None
            visits = Visits(rows, design.weight, codes, seed, own_weight)
        if n_classes > 2 and not one_by_one:
            together = AllPlanes(rows, codes.astype(np.float64), visits, learner, class_weight)
            right = _judge_all(examples, class_weight) if self._pocketed() else None
            far = None if held is None else _judge_all(held, np.ones(n_classes))
            return [Lesson(together, rule, right, far, numbers=numbers, uneven=uneven)]
        found = []
        for plane in range(len(learner.weights)):
            positive = 1 if n_classes == 2 else plane
            own = rule.copy()
            if n_classes == 2:
                own[at.NEGATIVE_WEIGHT], own[at.POSITIVE_WEIGHT] = class_weight
            # Losses that weigh more push the optimum further out.
            own[at.PROJECT] *= class_weight.max()
            target = _signs(examples, positive)
            one = _weighted(examples, target)
            course = (
                WholeBatch(one, learner, plane, design.total_weight, self._sums())
                if whole
                else OnePlane(rows, target, visits, learner, plane)
            )
            right = _judge_one(one) if self._pocketed() else None
            far = None
            if held is not None:
                far = _judge_one(held.design.with_target(_signs(held, positive)[:, None], held.design.weight))
            cost = cost_of(one, own, design.total_weight) if own[at.AVERAGE_FROM] else None
            label = None if n_classes == 2 else self.classes_.tolist()[plane]
            found.append(Lesson(course, own, right, far, cost, label, numbers, uneven))
        return found

    def _sums(self) -> bool:
        """Whether a step over all rows follows the sum of their slopes, not the mean."""
        return False

    def _hold_out(self, examples: Examples, share: float) -> tuple[Examples, Examples]:
        kept, held = hold_out(examples.design, examples.codes, share, self._draw())
        if not len(held):
            raise InvalidTarget(
                f"{type(self).__name__}: early_stopping holds out {share:g} of {len(examples.codes)} rows, but those "
                "of each class are all alike: none can be judged without its own copy. Set early_stopping=False."
            )
        return examples.take(kept), examples.take(held)


def _signs(examples: Examples, positive: int) -> Array:
    return np.where(examples.codes == positive, 1.0, -1.0)


def _weighted(examples: Examples, target: Array) -> Design:
    """The rows with ±1 for a target, and with the weights of their classes."""
    design, class_weight = examples.design, examples.class_weight
    if (class_weight == 1.0).all():
        return design.with_target(target[:, None], design.weight)
    weight = class_weight[examples.codes]
    return design.with_target(target[:, None], weight if design.weight is None else weight * design.weight)


def _judge_one(design: Design) -> Judge:
    """Share of the rows, by weight, on the right side of a plane."""

    def judge(coef: Array, intercept: Array) -> float:
        def right(block: Block) -> Sums:
            return (_hits(block, (np.asarray(block.x @ coef) + intercept > 0) == (block.y[:, 0] > 0)),)

        return float(design.fold(right)[0][0] / design.total_weight)

    return judge


def _judge_all(examples: Examples, class_weight: Array) -> Judge:
    """Share of the rows, by weight, whose class has the largest score."""
    weight = class_weight[examples.codes]
    weight = weight if examples.design.weight is None else weight * examples.design.weight
    design = examples.design.with_target(examples.codes[:, None], weight)

    def judge(coef: Array, intercept: Array) -> float:
        def right(block: Block) -> Sums:
            return (_hits(block, np.argmax(np.asarray(block.x @ coef.T) + intercept, axis=1) == block.y[:, 0]),)

        return float(design.fold(right)[0][0] / design.total_weight)

    return judge


def _hits(block: Block, right: Array) -> Array:
    return np.atleast_1d(float(np.sum(right) if block.weight is None else block.weight @ right))
