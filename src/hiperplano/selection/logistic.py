"""Logistic regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import UNUSED, process_routing

from hiperplano.data import Design, validate
from hiperplano.data.design import Array
from hiperplano.data.labels import labels_without_weight
from hiperplano.data.parameters import check_number, flag, number, one_of, one_of_ours, whole
from hiperplano.errors import ConvergenceWarning, InvalidParameter
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing, publish, users_level
from hiperplano.models.logistic import LogisticRegression
from hiperplano.models.logistic_classifier import (
    SCIKIT_LEARN_SOLVERS,
    LogisticClassifier,
    accept_scikit_learns,
    code_classes,
    refuse_l1_share,
)
from hiperplano.selection.logistic_fits import fit_folds
from hiperplano.selection.logistic_folds import IsTested, count_rows, fold_rows, log_loss_scores
from hiperplano.selection.routing import of_rows, refuse_unrouted, route, routing_of
from hiperplano.selection.scoring import Scorer
from hiperplano.solvers.likelihood.fit import SOLVERS, fit_likelihood
from hiperplano.solvers.solution import Solution

_LAST_TOL = 1e-8  # tolerance of the final fit, whose coefficients are reported


class LogisticRegressionCV(LogisticClassifier):
    """Logistic or softmax regression with C chosen from `Cs`.

    Fits go from strong to weak penalties, each starting from the previous solution. For two classes, all folds are
    fitted together where that is faster, so that one pass over the rows serves all of them.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C to try; an int is the number of values from 1e-4 to 1e4, evenly spaced on a logarithmic scale.
    l1_ratios : array-like or None, default=None
        Shares of L1 in the penalty: 0. Penalties with an L1 part are not available.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    cv : int, splitter or iterable of (train, test), optional
        Five stratified folds by default.
    dual : bool, default=False
        No effect; kept for compatibility with scikit-learn.
    penalty : "l2", default="l2"
        The penalty; only "l2" is available.
    scoring : str or callable, optional
        Any of scikit-learn's scorers, larger is better; the negative log loss by default.
    solver : {"auto", "newton", "lbfgs", "gradient"}, default="auto"
        Solver of the final fit to all rows, and of the folds with more than two classes, as in `LogisticRegression`.
    tol : float, default=1e-4
        Largest entry of the gradient (standardised columns) at which fits to folds stop: the remaining error of their
        log loss is far below the effect of another choice of folds. The final fit continues to 1e-8.
    max_iter : int, default=1000
        Most steps of each fit.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total.
    n_jobs, verbose, intercept_scaling, random_state
        No effect, as in `LogisticRegression`.
    refit : bool, default=True
        Fit all rows with the best C. False takes the mean of the folds' coefficients, each at the best C of its fold.
    use_legacy_attributes : bool, default=True
        Fitted attributes as scikit-learn 1.9 has them by default, with an entry for each class; False: one array for
        all classes, as it will have them from 1.10 on.

    Attributes
    ----------
    C_ : ndarray of shape (1,) or (classes,), or float
        The best of `Cs_`, the same for all classes; the smallest of equal scores. A float without legacy attributes.
    Cs_ : ndarray of shape (Cs,)
        Values of C that were tried.
    l1_ratio_, l1_ratios_
        Zeros, in the shapes of `C_` and of `l1_ratios`.
    scores_ : dict of ndarray of shape (folds, Cs), or ndarray of shape (folds, 1, Cs)
        The score of every C in every fold: by class (for two classes the second), or for all of them.
    coefs_paths_ : dict of ndarray of shape (folds, Cs, d + 1), or ndarray of shape (folds, 1, Cs, scores, d + 1)
        Coefficients of every C and fold, by class or for all of them; the intercept, if there is one, comes last. With
        `l1_ratios` given, arrays in dictionaries have one more axis, of length 1, after that of `Cs`.
    best_score_ : float
        Mean score over the folds.
    n_iter_ : ndarray of shape (1, folds, Cs) or (folds, 1, Cs)
        Steps of every fit.
    coef_, intercept_, classes_, solution_, n_features_in_, feature_names_in_
        As in `LogisticRegression`, for the fit to all rows with `C_`.

    Notes
    -----
    Sample weights count in scores as in fits: a test row of weight 2 is two test rows. Class weights count in fits
    only, whatever the scorer.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0]).fit(X, y)
    >>> model.C_
    array([100.])
    """

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "l2",
        scoring: Any = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: bool = True,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}  # the scorer may request it
    C_: Any
    scores_: Any
    coefs_paths_: Any
    l1_ratio_: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Choose C, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design contains its targets and weights.
        y : array-like of shape (n,)
            Labels of any kind; not given with a design.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.
        params : dict
            `groups` of the rows, for splitters that take them; with scikit-learn's metadata routing, whatever the
            splitter and the scorer asked for.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return self._fit(X, y, sample_weight, params)

    @all_or_nothing
    def _fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        Cs, control = self._checked_Cs(), self._control()
        solver, refit = control.pop("solver"), flag(self, "refit")
        design = validate(self, X, y, sample_weight, numeric_target=False)
        classes, coded = code_classes(design, self.class_weight, labels_without_weight(X, y, sample_weight))
        routed = route(self, sample_weight, params)
        splits = fold_rows(self.cv, design, y, routed.split)
        trained, tested = (count_rows([split[side] for split in splits], design.n_rows) for side in (0, 1))
        coded = coded.with_vectors(trained=trained)
        coef, intercept, steps, converged = fit_folds(coded, Cs, len(classes), solver, control)
        if self.scoring is None:
            weight = design.vector("weight") if design.has_weight else None
            scores = log_loss_scores(coded.with_vectors(weight=weight, tested=tested), coef, intercept)
        else:
            scores = self._scores_by_scorer(design.with_vectors(tested=tested), classes, coef, intercept, routed.score)
        mean = self._mean_scores(scores)
        self.classes_, self.Cs_, self.best_score_ = classes, Cs, float(mean.max())
        best = min(np.flatnonzero(mean == mean.max()), key=lambda position: Cs[position])
        if refit:
            C = float(Cs[best])
            solution: Any = fit_likelihood(
                coded,
                n_scores=coef.shape[2],
                strength=1.0 / (C * coded.total_weight),
                solver=solver,
                start=(coef[best].mean(axis=0), intercept[best].mean(axis=0)),
                **control | {"tol": min(control["tol"], _LAST_TOL)},
            )
        else:
            chosen, folds = scores.argmax(axis=1), np.arange(len(scores))
            C = float(Cs[chosen].mean())
            solution = _mean_of_folds(coef[chosen, folds], intercept[chosen, folds], converged)
        publish(self, solution, design.dtype, one_target=False)
        self._describe(C, scores, coef, intercept, steps)
        if not converged:
            self._warn_of_folds()
        return self

    def _control(self) -> dict[str, Any]:
        one_of(self, "penalty", ("l2", "l1", "elasticnet"))
        shares = [] if self.l1_ratios is None else np.ravel(self.l1_ratios).tolist()
        refuse_l1_share(self, max(shares, default=0.0))
        accept_scikit_learns(self)
        flag(self, "use_legacy_attributes")
        return {
            "tol": number(self, "tol", low=0.0),
            "max_iter": whole(self, "max_iter"),
            "fit_intercept": flag(self, "fit_intercept"),
            "solver": one_of_ours(self, "solver", SOLVERS, SCIKIT_LEARN_SOLVERS),
        }

    def _mean_scores(self, scores: Array) -> Array:
        mean = scores.mean(axis=0)
        if np.isnan(mean).any():
            raise InvalidParameter(
                "LogisticRegressionCV: scoring={scoring!r} gives NaN in {n} of {size} cases; every fold needs a "
                "score for every C. Choose another scorer, or folds with all classes in them.",
                scoring=self.scoring,
                n=np.isnan(scores).sum(),
                size=scores.size,
            )
        return np.asarray(mean)

    def _describe(self, C: float, scores: Array, coef: Array, intercept: Array, steps: Array) -> None:
        """Set the attributes that describe the folds, in scikit-learn's shapes."""
        paths = np.concatenate([coef, intercept[..., None]], axis=3) if self.fit_intercept else coef
        self._fold_scores_ = scores
        self.l1_ratios_ = np.array([None]) if self.l1_ratios is None else np.asarray(self.l1_ratios)
        if not self.use_legacy_attributes:
            self.C_, self.l1_ratio_, self.n_iter_ = C, 0.0, steps.T[:, None]
            self.scores_, self.coefs_paths_ = scores[:, None], np.moveaxis(paths, 0, 1)[:, None]
            return
        keys = self.classes_.tolist()[-paths.shape[2] :]
        ratio = () if self.l1_ratios is None else (slice(None), slice(None), None)
        self.C_, self.l1_ratio_ = np.full(len(keys), C), np.zeros(len(keys))
        self.n_iter_ = steps.T[ratio][None] if ratio else steps.T[None]
        self.scores_ = dict.fromkeys(keys, scores[ratio] if ratio else scores)
        by_class = np.moveaxis(paths, (2, 1), (0, 1))
        self.coefs_paths_ = {key: path[ratio] if ratio else path for key, path in zip(keys, by_class, strict=True)}

    def _warn_of_folds(self) -> None:
        warnings.warn(
            Message(
                "LogisticRegressionCV: fits to some folds stopped after max_iter={max_iter} steps above "
                "tol={tol:g}, so their scores are not final. Raise max_iter, or tol if that is accurate enough.",
                max_iter=self.max_iter,
                tol=self.tol,
            ),
            ConvergenceWarning,
            stacklevel=users_level(),
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None, **score_params: Any) -> float:
        """The score of `scoring`; the accuracy, if none was given.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.
        score_params : dict
            With scikit-learn's metadata routing, what the scorer asked for.

        Returns
        -------
        float
            The score.
        """
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not get_config()["enable_metadata_routing"]:
            refuse_unrouted(self, "score", score_params)
        elif self.scoring is not None:
            extra = dict(process_routing(self, "score", **extra, **score_params).scorer.score)
        if self.scoring is None:
            return float(super().score(X, y, sample_weight=sample_weight))
        return Scorer(self.scoring, None, extra=extra)(self, X, y)

    def get_metadata_routing(self) -> Any:
        """What is passed on to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            Scikit-learn's.
        """
        return routing_of(self)

    def _checked_Cs(self) -> Array:
        if isinstance(self.Cs, int | np.integer) and not isinstance(self.Cs, bool):
            if self.Cs < 1:
                raise InvalidParameter("LogisticRegressionCV: Cs={Cs}; Cs must be 1 or more. Set it so.", Cs=self.Cs)
            return np.logspace(-4, 4, int(self.Cs))
        values = np.ravel(self.Cs).tolist()
        if not values:
            raise InvalidParameter("LogisticRegressionCV: Cs is empty; at least one value is needed. Pass some.")
        name = "LogisticRegressionCV"
        return np.array(
            [check_number(name, f"Cs[{i}]", C, 0.0, np.inf, open_low=True, infinite=True) for i, C in enumerate(values)]
        )

    def _scores_by_scorer(
        self, design: Design, classes: Array, coef: Array, intercept: Array, given: dict[str, Any] | None
    ) -> Array:
        scores = np.empty(coef.shape[1::-1])
        for split in range(len(scores)):
            part = design.gather(design.map(IsTested(split)))
            times = part.collect(part.vector("tested"))[:, split]
            again = np.repeat(np.arange(part.n_rows), times)
            x, y, weight = part.arrays()
            rows = design.row_numbers()[np.flatnonzero(design.collect(design.map(IsTested(split))))][again]
            extra = None if given is None else {name: of_rows(value, rows) for name, value in given.items()}
            scorer = Scorer(self.scoring, None if weight is None else weight[again], classes, extra)
            for position in range(len(coef)):
                model = LogisticRegression()
                model.classes_, model.n_features_in_ = classes, design.n_columns
                model.coef_, model.intercept_ = coef[position, split], intercept[position, split]
                scores[split, position] = scorer(model, x[again], y[again, 0])
        return scores


def _mean_of_folds(coef: Array, intercept: Array, converged: bool) -> Solution:
    """The mean of the folds' coefficients, of shape (folds, scores, d)."""
    return Solution(
        coef=coef.mean(axis=0),
        intercept=intercept.mean(axis=0),
        method=Message("mean over the folds"),
        n_iter=0,
        objective=np.nan,
        gap=np.nan,
        converged=converged,
        status=Message(
            "The mean of the coefficients of {n} folds, each at its best C; no fit to all rows was made (refit=False).",
            n=len(coef),
        ),
    )
