"""Passive-aggressive learning: the smallest change that corrects the current example."""

from __future__ import annotations

from typing import Any

from hiperplano.data.design import Array
from hiperplano.data.parameters import number, one_of
from hiperplano.losses import scalar
from hiperplano.models.online.classifier import OnlineClassifier
from hiperplano.models.online.regressor import OnlineRegressor
from hiperplano.solvers.online import rules as at


class PassiveAggressiveClassifier(OnlineClassifier):
    """Passive-aggressive classifier: where max(0, 1 − y·score) > 0, the smallest move that corrects the example.

    With ℓ that loss, w ← w + τ·y·x and b ← b + τ·y, where

    * τ = min(C, ℓ/‖x‖²) for loss="hinge": PA-I, and PA itself for C=inf;
    * τ = ℓ/(‖x‖² + 1/(2C)) for loss="squared_hinge": PA-II.

    An example whose step is not capped is right with a margin of 1 after PA and PA-I, and τ/(2C) short of it, at most,
    after PA-II. In the notation of a weight λ on the change, C = 1/λ. As in scikit-learn, whose class of this name is
    deprecated, ‖x‖² does not count the constant column of the intercept, and a row of zeros changes nothing in PA-I.

    Parameters
    ----------
    C : float, default=1.0
        Largest step (PA-I), or inverse of the damping of a step (PA-II). May be infinite.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    max_iter : int, default=1000
        Most passes over the rows; a pass that changes nothing ends the fit sooner.
    tol : float or None, default=1e-3
        The fit also ends when the mean loss has not fallen by `tol` for `n_iter_no_change` passes. None: go on.
    class_weight : dict, "balanced" or None, default=None
        Rows of a class of weight v are learnt from with C·v in place of C.
    early_stopping, validation_fraction, n_iter_no_change, shuffle, verbose, n_jobs, warm_start, average
        As in `Perceptron`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The hinge gives PA-I, its square PA-II.
    random_state : int, RandomState or None, default=None
        Seed or generator of the order in which rows are visited; an int gives the same fit every time.

    Attributes
    ----------
    coef_, intercept_, classes_, solution_, n_iter_, t_, n_features_in_, feature_names_in_
        As in `Perceptron`.

    Examples
    --------
    >>> from hiperplano import PassiveAggressiveClassifier
    >>> model = PassiveAggressiveClassifier(C=float("inf"), fit_intercept=False, shuffle=False)
    >>> model.fit([[2.0, 0.0], [0.0, -1.0]], ["good", "bad"]).coef_
    array([[0.5, 1. ]])
    """

    _METHOD = "passive-aggressive"

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average

    def _rule(self) -> Array:
        rule = self._plain_rule()
        rule[at.LOSS] = scalar.HINGE
        first = one_of(self, "loss", ("hinge", "squared_hinge")) == "hinge"
        rule[at.RATE] = at.PASSIVE_AGGRESSIVE_1 if first else at.PASSIVE_AGGRESSIVE_2
        rule[at.AGGRESSIVENESS] = number(self, "C", low=0.0, open_low=True, infinite=True)
        return rule


class PassiveAggressiveRegressor(OnlineRegressor):
    """Passive-aggressive regressor: where ℓ = max(0, |y − score| − epsilon) > 0, the smallest move that corrects it.

    w ← w + τ·sign(y − score)·x and b ← b + τ·sign(y − score), where

    * τ = min(C, ℓ/‖x‖²) for loss="epsilon_insensitive": PA-I, and PA itself for C=inf;
    * τ = ℓ/(‖x‖² + 1/(2C)) for loss="squared_epsilon_insensitive": PA-II.

    As in scikit-learn, whose class of this name is deprecated, ‖x‖² does not count the constant column of the
    intercept: with `fit_intercept` a step goes beyond what its example needs where ‖x‖ is small.

    Parameters
    ----------
    C : float, default=1.0
        Largest step (PA-I), or inverse of the damping of a step (PA-II). May be infinite.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    max_iter : int, default=1000
        Most passes over the rows; a pass that changes nothing ends the fit sooner.
    tol : float or None, default=1e-3
        As in `PassiveAggressiveClassifier`.
    early_stopping : bool, default=False
        Monitor R² on held-out rows instead of the loss.
    validation_fraction, n_iter_no_change, shuffle, verbose, warm_start, average
        As in `Perceptron`.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss itself gives PA-I, its square PA-II.
    epsilon : float, default=0.1
        Errors up to this size cost nothing.
    random_state : int, RandomState or None, default=None
        Seed or generator of the order in which rows are visited; an int gives the same fit every time.

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
    >>> from hiperplano import PassiveAggressiveRegressor
    >>> model = PassiveAggressiveRegressor(epsilon=0.0, fit_intercept=False, shuffle=False, max_iter=1, tol=None)
    >>> model.fit([[1.0, 0.0], [0.0, 2.0]], [0.5, 3.0]).coef_
    array([0.5, 1.5])
    """

    _METHOD = "passive-aggressive"

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average

    def _rule(self) -> Array:
        rule = self._plain_rule()
        rule[at.LOSS] = scalar.EPSILON_INSENSITIVE
        rule[at.EPSILON] = number(self, "epsilon", low=0.0)
        first = one_of(self, "loss", ("epsilon_insensitive", "squared_epsilon_insensitive")) == "epsilon_insensitive"
        rule[at.RATE] = at.PASSIVE_AGGRESSIVE_1 if first else at.PASSIVE_AGGRESSIVE_2
        rule[at.AGGRESSIVENESS] = number(self, "C", low=0.0, open_low=True, infinite=True)
        return rule
