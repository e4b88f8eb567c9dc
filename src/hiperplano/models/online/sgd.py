"""Stochastic gradient descent for several losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.parameters import RATIO, accept, number, one_of, refuse_l1, whole
from hiperplano.errors import InvalidParameter
from hiperplano.losses import scalar
from hiperplano.models.online.base import OnlineModel
from hiperplano.models.online.classifier import OnlineClassifier
from hiperplano.models.online.regressor import OnlineRegressor
from hiperplano.solvers.online import rules as at
from hiperplano.solvers.online.schedules import SCHEDULES, set_schedule

_CLASS_LOSSES = {
    "hinge": scalar.HINGE,
    "log_loss": scalar.LOGISTIC,
    "squared_hinge": scalar.SQUARED_HINGE,
    "perceptron": scalar.PERCEPTRON,
    "modified_huber": scalar.MODIFIED_HUBER,
}
_NUMBER_LOSSES = {
    "squared_error": scalar.SQUARED,
    "huber": scalar.HUBER,
    "epsilon_insensitive": scalar.EPSILON_INSENSITIVE,
    "squared_epsilon_insensitive": scalar.SQUARED_EPSILON_INSENSITIVE,
}


class _Stochastic(OnlineModel):
    """Shared code: penalty, schedule and batches."""

    loss: str
    penalty: str | None
    alpha: float
    eta0: float
    power_t: float
    batch_size: int | None
    l1_ratio: float | None
    epsilon: float

    def _gradient_rule(self, losses: dict[str, int], aggressive: str) -> Array:
        rule = self._plain_rule()
        rule[at.LOSS] = losses[one_of(self, "loss", tuple(losses))]
        rule[at.EPSILON] = number(self, "epsilon", low=0.0)
        accept(self, l1_ratio=RATIO)
        refuse_l1(self, self.l1_ratio)
        if self.penalty is not None:
            rule[at.ALPHA] = number(self, "alpha", low=0.0)
        if self.learning_rate in ("pa1", "pa2"):  # their steps are as long as an example needs
            rule[at.ALPHA] = 0.0
        rule[at.BATCH] = whole(self, "batch_size", low=1, optional=True) or 0
        schedule = one_of(self, "learning_rate", SCHEDULES)
        if schedule == "optimal" and rule[at.ALPHA] == 0.0:
            raise InvalidParameter(
                "{model}: learning_rate='optimal' with alpha={alpha!r}, penalty={penalty!r}; its steps, "
                "1/(alpha·(t₀ + t)), need a penalty of more than 0. Set alpha, or another learning_rate.",
                model=type(self).__name__,
                alpha=self.alpha,
                penalty=self.penalty,
            )
        if schedule in ("pa1", "pa2") and (self.loss != aggressive or self.batch_size != 1):
            raise InvalidParameter(
                "{model}: Learning rate '{schedule}' only works with loss '{aggressive}' and batch_size=1, not with "
                "loss={loss!r} and batch_size={batch_size!r}. Set these, or another learning_rate.",
                model=type(self).__name__,
                schedule=schedule,
                aggressive=aggressive,
                loss=self.loss,
                batch_size=self.batch_size,
            )
        set_schedule(
            rule,
            schedule,
            eta0=number(self, "eta0", low=0.0, open_low=True),
            power_t=number(self, "power_t", low=0.0),
            alpha=float(rule[at.ALPHA]),
        )
        return rule


def _has_probabilities(model: SGDClassifier) -> bool:
    if model.loss not in ("log_loss", "modified_huber"):
        raise AttributeError(
            f"probabilities need loss='log_loss' or 'modified_huber'; this model has loss={model.loss!r}"
        )
    return True


class SGDClassifier(_Stochastic, OnlineClassifier):
    """Stochastic gradient descent on (alpha/2)·‖w‖² + mean loss, with one example or a few in a step.

    Step t: w ← (1 − η·alpha)·w − η·mean(slope·x), b ← b − η·mean(slope), the mean over `batch_size` examples.

    Parameters
    ----------
    loss : {"hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber", \
            "epsilon_insensitive", "squared_epsilon_insensitive"}, default="hinge"
        Loss of an example: a function of y·score, y being −1 or +1, or from "squared_error" on of y − score.
    penalty : {"l2", None}, default="l2"
        "l2" adds (alpha/2)·‖w‖² to the mean loss; None leaves it out. Penalties with an L1 part are not available.
    l1_ratio : float or None, default=0.15
        No effect; kept for compatibility with scikit-learn.
    alpha : float, default=1e-4
        Strength of the penalty on the mean loss.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    max_iter : int, default=1000
        Most passes over the rows.
    tol : float or None, default=1e-3
        The fit also ends when the objective, summed up along the pass or, with `average`, of the averaged plane, has
        not fallen by `tol` for `n_iter_no_change` passes; with batch_size=None, when the squared length of its gradient
        is at most `tol`. None: make all passes.
    shuffle : bool, default=True
        Visit the rows in a new order in each pass.
    epsilon : float, default=0.1
        Where "huber" becomes linear; errors up to which the epsilon-insensitive losses are 0.
    random_state : int, RandomState or None, default=None
        Seed or generator of the order in which rows are visited; an int gives the same fit every time.
    learning_rate : {"constant", "inverse", "invscaling", "optimal", "adaptive", "pa1", "pa2"}, default="optimal"
        η of step t: eta0; eta0/t; eta0/t**power_t; 1/(alpha·(t₀ + t − 1)) with t₀ = alpha**(−3/4); eta0, divided by 5
        instead of ending the fit, as long as it is more than 1e-6. "pa1" and "pa2", for loss="hinge", are the steps of
        `PassiveAggressiveClassifier` with eta0 for C, without penalty.
    eta0 : float, default=0.01
        Step size η of the first step, see `learning_rate`.
    power_t : float, default=0.5
        Exponent of t in the schedule "invscaling".
    batch_size : int or None, default=1
        Examples in a step; None for all rows.
    average : bool or int, default=False
        Predict with the mean of the weights over all steps, or from that step on.
    class_weight : dict, "balanced" or None, default=None
        Weights of the loss by class; "balanced" gives each class the same total.
    early_stopping, validation_fraction, n_iter_no_change, warm_start, n_jobs, verbose
        As in `Perceptron`.

    Attributes
    ----------
    coef_, intercept_, classes_, solution_, n_iter_, t_, n_features_in_, feature_names_in_
        As in `Perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import SGDClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = SGDClassifier(loss="log_loss", random_state=0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5]]), model.predict_proba([[3.0]]).round(2)
    (array(['yes'], dtype='<U3'), array([[0., 1.]]))
    """

    _METHOD = "stochastic gradient"

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        batch_size: int | None = 1,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    def _rule(self) -> Array:
        return self._gradient_rule(_CLASS_LOSSES | _NUMBER_LOSSES, "hinge")

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @by_rows
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, for loss="log_loss" and loss="modified_huber".

        For more than two classes those of the single planes, divided by their sum. The probability of a plane is
        1/(1 + exp(−score)), or (1 + score)/2, cut at 0 and 1, for "modified_huber".

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Probabilities, in the order of `classes_`.
        """
        scores = self._scores(X)
        if self.loss == "modified_huber":
            shares = np.clip(0.5 + 0.5 * (np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores), 0.0, 1.0)
            shares[shares.sum(axis=1) == 0] = 1.0  # no plane claims the row
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        # Divided by the largest first, since all of them may underflow.
        logs = -np.logaddexp(0.0, -np.hstack([-scores, scores]) if scores.shape[1] == 1 else -scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @by_rows
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Logarithms of probabilities, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):  # a probability of 0 has the logarithm −∞
            return np.asarray(np.log(self.predict_proba(X)))


class SGDRegressor(_Stochastic, OnlineRegressor):
    """Stochastic gradient descent on (alpha/2)·‖w‖² + mean loss, with one example or a few in a step.

    With loss="squared_error" this is least squares, and with alpha > 0 ridge regression: plain, mini-batch and
    batch gradient for batch_size=1, k and None. `Ridge` finds the same minimum exactly, with alpha·n for alpha.

    Parameters
    ----------
    loss : {"squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"}, default="squared_error"
        Loss of an example, a function of y − score.
    penalty : {"l2", None}, default="l2"
        "l2" adds (alpha/2)·‖w‖² to the mean loss; None leaves it out. Penalties with an L1 part are not available.
    l1_ratio : float or None, default=0.15
        No effect; kept for compatibility with scikit-learn.
    alpha : float, default=1e-4
        Strength of the penalty on the mean loss.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    max_iter : int, default=1000
        Most passes over the rows.
    tol : float or None, default=1e-3
        As in `SGDClassifier`.
    shuffle : bool, default=True
        Visit the rows in a new order in each pass.
    epsilon : float, default=0.1
        Where "huber" becomes linear; errors up to which the epsilon-insensitive losses are 0.
    random_state : int, RandomState or None, default=None
        Seed or generator of the order in which rows are visited; an int gives the same fit every time.
    learning_rate : {"constant", "inverse", "invscaling", "optimal", "adaptive", "pa1", "pa2"}, default="invscaling"
        As in `SGDClassifier`; "pa1" and "pa2" need loss="epsilon_insensitive".
    eta0 : float, default=0.01
        Step size η of the first step, see `learning_rate`.
    power_t : float, default=0.25
        Exponent of t in the schedule "invscaling".
    batch_size : int or None, default=1
        Examples in a step; None for all rows.
    average : bool or int, default=False
        Predict with the mean of the weights over all steps, or from that step on.
    early_stopping, validation_fraction, n_iter_no_change, warm_start, verbose
        As in `PassiveAggressiveRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Intercepts; 0 if `fit_intercept` is False.
    solution_, n_iter_, t_, n_features_in_, feature_names_in_
        As in `Perceptron`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import SGDRegressor
    >>> X = np.linspace(-1, 1, 50).reshape(-1, 1)
    >>> model = SGDRegressor(penalty=None, eta0=0.5, learning_rate="constant", batch_size=None, tol=None, max_iter=200)
    >>> model.fit(X, 1 + 2 * X[:, 0]).coef_.round(6), model.intercept_.round(6)
    (array([2.]), array([1.]))
    """

    _METHOD = "stochastic gradient"

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 1e-4,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        batch_size: int | None = 1,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average

    def _rule(self) -> Array:
        return self._gradient_rule(_NUMBER_LOSSES, "epsilon_insensitive")
