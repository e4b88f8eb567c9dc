"""The perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parameters import RATIO, accept, flag, number, one_of, refuse_l1
from hiperplano.errors import InvalidParameter
from hiperplano.losses import scalar
from hiperplano.models.online.classifier import Examples, OnlineClassifier
from hiperplano.solvers.least_squares.choice import solve_least_squares
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.passes import OnePlane
from hiperplano.solvers.online.training import Record, Task

_FURTHER = 300_000  # work, in cells, of the additional passes that check for a separating plane: half a millisecond
_VISIT = 10  # cost of a visit, in cells
_FEWEST = 50  # least number of such passes


class Perceptron(OnlineClassifier):
    """The perceptron: for each mistake, y·(w·x + b) ≤ 0, w ← w + eta0·y·x and b ← b + eta0·y.

    If some plane separates the classes, the perceptron finds one after at most (R/γ)² mistakes (`mistake_bound`),
    whatever the order of the rows. If none does, it continues until `max_iter` passes are made or the loss stops
    decreasing, and `solution_` says so; `average` or `pocket` then gives a better plane than the last one.

    Parameters
    ----------
    penalty : {"l2", None}, default=None
        "l2" adds (alpha/2)·‖w‖²: every step first shrinks w by 1 − eta0·alpha. Penalties with an L1 part are not
        available.
    alpha : float, default=1e-4
        Strength of the penalty.
    l1_ratio : float or None, default=0.15
        No effect; kept for compatibility with scikit-learn.
    eta0 : float, default=1.0
        Length of a step. From a start at 0 it only scales the plane.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    max_iter : int, default=1000
        Most passes over the rows; a pass without a mistake ends the fit sooner.
    tol : float or None, default=1e-3
        The fit also ends when the mean of max(0, −y·score) has not fallen by `tol` for `n_iter_no_change` passes. With
        `average` it is the loss of the averaged plane, divided by the norm of (w, b), and `tol` is relative to it (with
        "multinomial" planes it is the loss during the pass). With update="batch" the squared norm of the gradient must
        be at most `tol`. None: continue until a pass makes no mistake.
    n_iter_no_change : int, default=5
        Passes without improvement by `tol` after which the fit ends.
    shuffle : bool, default=True
        Visit the rows of each pass in another order.
    random_state : int, RandomState or None, default=0
        Seed or generator of the order in which rows are visited; an int gives the same fit every time.
    average : bool or int, default=False
        Predict with the mean of the weights over all steps, or from that step on.
    pocket : bool or "ratchet", default=False
        Predict with the best weights: those with the most correct answers on the training rows. Every weight vector is
        evaluated on all rows after each mistake. With "ratchet" (Gallant's rule), only those whose run of correct
        answers is longer than that of the weights in the pocket, and, if classes have different weights, those at the
        end of every pass. `partial_fit`, which never has all rows, uses only the runs.
    update : {"online", "batch"}, default="online"
        "batch" makes one step a pass, along the sum over all mistakes: the gradient of the perceptron criterion.
    init : {"zeros", "least_squares"}, default="zeros"
        Weights to start from: 0, or least squares on ±1 (of the first chunk, in `partial_fit`). With `pocket` such a
        start is only replaced by a plane that classifies more rows correctly.
    multi_class : {"ovr", "multinomial"}, default="ovr"
        More than two classes: one perceptron for each class against the rest, or one for all, which moves two planes
        after a mistake, those of the correct and of the predicted class, and leaves no region ambiguous.
    class_weight : dict, "balanced" or None, default=None
        Steps for rows of a class are multiplied by its weight, and so are their losses in the stopping criterion.
    early_stopping : bool, default=False
        Monitor the accuracy on held-out rows instead of the loss; equal rows are held out together. For `fit`.
    validation_fraction : float, default=0.1
        Share of rows to hold out.
    warm_start : bool, default=False
        Let `fit` start from the planes of the last fit.
    n_jobs : int or None, default=None
        Most threads for "ovr"; None or -1 for all that may be used. Results do not depend on it.
    verbose : int, default=0
        Print the mean loss of each pass.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (classes, d)
        Coefficients.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts; 0 if `fit_intercept` is False.
    classes_ : ndarray
        Labels of the classes, sorted.
    solution_ : OnlineSolution
        How the fit ended: `status`, `passes`, `mistakes`, `updates`, `clean`, `mistakes_by_pass`.
    n_iter_ : int
        Passes; of the class that took most.
    t_ : float
        Number of the next step.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    Examples
    --------
    >>> from hiperplano import Perceptron
    >>> X = [[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 0.5]]
    >>> model = Perceptron(shuffle=False).fit(X, ["yes", "yes", "no", "no"])
    >>> model.coef_, model.intercept_
    (array([[2., 1.]]), array([1.]))
    >>> print(model.solution_)
    The last of 2 passes changed nothing: all examples satisfy the rule, with 1 updates after 1 mistakes.
    """

    _METHOD = "perceptron"

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 1e-4,
        l1_ratio: float | None = 0.15,
        eta0: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
        average: bool | int = False,
        pocket: bool | str = False,
        update: str = "online",
        init: str = "zeros",
        multi_class: str = "ovr",
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average
        self.pocket = pocket
        self.update = update
        self.init = init
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _rule(self) -> Array:
        rule = self._plain_rule()
        rule[at.LOSS] = scalar.PERCEPTRON
        rule[at.ETA] = number(self, "eta0", low=0.0, open_low=True)
        accept(self, l1_ratio=RATIO)
        refuse_l1(self, self.l1_ratio)
        if self.penalty is not None:
            rule[at.ALPHA] = number(self, "alpha", low=0.0)
        if self._pocketed():
            rule[at.POCKET] = at.RATCHET if self.pocket == "ratchet" else at.EVERY
        batch = one_of(self, "update", ("online", "batch")) == "batch"
        rule[at.BATCH] = 0.0 if batch else 1.0
        one_of(self, "init", ("zeros", "least_squares"))
        one_of(self, "multi_class", ("ovr", "multinomial"))
        if rule[at.POCKET] and rule[at.AVERAGE_FROM]:
            raise InvalidParameter(
                "Perceptron: average and pocket are both set; a fit predicts with the mean of its weights or with "
                "the best of them. Set one of them."
            )
        if rule[at.ALPHA] and self.multi_class == "multinomial":
            raise InvalidParameter(
                "Perceptron: penalty={penalty!r} with multi_class='multinomial', whose steps have no penalty. Set "
                "penalty=None or multi_class='ovr'.",
                penalty=self.penalty,
            )
        if batch and rule[at.POCKET]:
            raise InvalidParameter(
                "Perceptron: update='batch' with pocket=True; the pocket compares weights after each mistake, but "
                "'batch' changes them once a pass. Set update='online' or pocket=False."
            )
        return rule

    def _check_classes(self, classes: Array) -> None:
        if len(classes) > 2 and self.multi_class == "multinomial" and self.update == "batch":
            raise InvalidParameter(
                "Perceptron: update='batch' with multi_class='multinomial' for {n_classes} classes; the perceptron "
                "criterion is one of two classes. Set update='online' or multi_class='ovr'.",
                n_classes=len(classes),
            )

    def _pocketed(self) -> bool:
        if isinstance(self.pocket, str):
            return bool(one_of(self, "pocket", ("ratchet",)))
        return flag(self, "pocket")

    def _sums(self) -> bool:
        return True

    def _look_at_separability(self, tasks: list[Task], records: list[Record]) -> None:
        if self.multi_class != "ovr" and len(self.classes_) > 2:
            return
        for task, record in zip(tasks, records, strict=True):
            if record.ended == "no_improvement" and record.mistakes[-1] and isinstance(task.trainer, OnePlane):
                passes = _FURTHER // (task.trainer.length * (self.n_features_in_ + _VISIT))
                record.separable = passes >= _FEWEST and task.trainer.walks_clean(task.rule, passes)

    def _looks_at_rows(self) -> bool:
        return self._pocketed() or self.init == "least_squares"

    def _begin(self, examples: Examples, n_classes: int, coef: Any = None, intercept: Any = None) -> Learner:
        learner = super()._begin(examples, n_classes, coef, intercept)
        given = coef is not None or intercept is not None or (self.warm_start and "_learner_" in vars(self))
        if given or self.init == "zeros":
            return learner
        planes = len(learner.weights)
        positive = examples.codes[:, None] == np.arange(1 if planes == 1 else 0, n_classes)
        solution = solve_least_squares(
            examples.memory.with_vectors(y=np.where(positive, 1.0, -1.0), weight=examples.weight()),
            alpha=np.zeros(planes),
            fit_intercept=bool(self.fit_intercept),
            positive=False,
            solver="auto",
            tol=1e-10,
            max_iter=None,
        )
        return Learner.start(solution.coef, solution.intercept, self._pocketed())
