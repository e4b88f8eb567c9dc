"""Pegasos: the support vector machine by stochastic subgradients."""

from __future__ import annotations

from typing import Any

from hiperplano.data.design import Array
from hiperplano.data.parameters import flag, number, one_of, whole
from hiperplano.errors import InvalidParameter
from hiperplano.losses import scalar
from hiperplano.models.online.kernel import KernelLearning
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.learner import Learner
from hiperplano.solvers.online.schedules import set_schedule


class Pegasos(KernelLearning):
    """Minimises (alpha/2)·(‖w‖² + b²) + mean max(0, 1 − y·score) by steps of length 1/(alpha·t).

    Step t: w ← (1 − η·alpha)·w + (η/k)·Σ y·x over those of its k examples with y·score ≤ 1. The intercept is the
    weight of a constant column: penalised, as in scikit-learn's `LinearSVC` with C = 1/(alpha·n), because steps that
    begin with 1/alpha would make an unpenalised one unstable. The objective comes within ε of its minimum after some
    1/(alpha·ε) steps. With a `kernel` the same steps are made over its features φ(x).

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength λ of the penalty on the mean loss, more than 0.
    batch_size : int or None, default=1
        Examples in a step; None for all rows.
    schedule : {"pegasos", "inverse"}, default="pegasos"
        η = 1/(alpha·t), or 1/t as some texts print it, which does not suit the objective unless alpha is near 1.
    project : bool, default=False
        After each step, scale weights longer than 1/√alpha (times the root of the largest class weight) back to that
        length; the optimum is never longer.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    max_iter : int, default=1000
        Most passes over the rows.
    tol : float or None, default=1e-3
        The fit also ends when the objective, summed up along the pass or, with `average`, of the averaged plane, has
        not fallen by `tol` for `n_iter_no_change` passes; with batch_size=None, when the squared length of its gradient
        is at most `tol`. None: make all passes.
    n_iter_no_change : int, default=5
        Passes without improvement by `tol` after which the fit ends.
    shuffle : bool, default=True
        Visit the rows in a new order in each pass.
    random_state : int, RandomState or None, default=None
        Seed or generator of the order in which rows are visited; an int gives the same fit every time.
    average : bool or int, default=False
        Predict with the mean of the weights over all steps, or from that step on. Step t weighs t in it, so that the
        first, long steps soon lose their influence: the distance to the minimum falls as 1/t.
    class_weight : dict, "balanced" or None, default=None
        Weights of the loss by class.
    warm_start : bool, default=False
        Let `fit` go on from the planes of the last fit, and count its steps on.
    n_jobs, verbose
        As in `Perceptron`; planes with a kernel are learnt one after the other.
    kernel : str, callable, Kernel or None, default=None
        None: a plane over the columns. Otherwise one over the features of a kernel, as in `KernelPerceptron`.
    gamma, degree, coef0, budget, cache_size
        Of a kernel, as in `KernelPerceptron`. A batch takes `batch_size` rows of the Gram matrix, even if
        `cache_size` is less.

    Attributes
    ----------
    coef_, intercept_, classes_, solution_, n_iter_, t_, n_features_in_, feature_names_in_
        As in `Perceptron`; `coef_` with a kernel only if it is linear.
    dual_coef_, support_, support_vectors_, kernel_
        With a kernel, as in `KernelPerceptron`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import Pegasos
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Pegasos(alpha=0.01, average=True, max_iter=100, tol=None, random_state=0).fit(X[:100], y[:100])
    >>> model.score(X[:100], y[:100])
    1.0
    >>> curved = Pegasos(alpha=0.01, kernel="rbf", average=True, max_iter=100, tol=None, random_state=0).fit(X, y)
    >>> curved.score(X, y) > 0.95
    True
    """

    _METHOD = "Pegasos"

    def __init__(
        self,
        *,
        alpha: float = 1e-4,
        batch_size: int | None = 1,
        schedule: str = "pegasos",
        project: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
        average: bool | int = False,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        kernel: Any = None,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        budget: int | None = None,
        cache_size: float = 200,
    ) -> None:
        self.alpha = alpha
        self.batch_size = batch_size
        self.schedule = schedule
        self.project = project
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.cache_size = cache_size

    def _start(self, shape: tuple[int, int], coef: Any = None, intercept: Any = None) -> Learner:
        if coef is not None or intercept is not None:
            raise InvalidParameter(
                "Pegasos: coef_init or intercept_init is given, but the first step multiplies weights by 0; a "
                "start needs the number of its step too. Go on with warm_start=True or partial_fit."
            )
        learner = super()._start(shape)
        if self.warm_start and "_learner_" in vars(self):  # steps continue, with their current length
            learner.states[:, at.STEP] = self._learner_.states[:, at.STEP]
        return learner

    def _rule(self) -> Array:
        rule = self._plain_rule()
        rule[at.LOSS] = scalar.HINGE
        rule[at.ALPHA] = number(self, "alpha", low=0.0, open_low=True)
        rule[at.BATCH] = whole(self, "batch_size", low=1, optional=True) or 0
        rule[at.PENALISE_INTERCEPT] = rule[at.WEIGHT_BY_STEP] = 1.0
        rule[at.PROJECT] = flag(self, "project")
        set_schedule(rule, one_of(self, "schedule", ("pegasos", "inverse")), alpha=float(rule[at.ALPHA]))
        self._check_kernel(rule)
        return rule
