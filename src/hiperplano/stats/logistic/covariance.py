"""Standard errors of a logistic model on given rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtrc
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Block, Design, validate
from hiperplano.data.column_scale import ColumnScale
from hiperplano.data.design import Array, Sums
from hiperplano.data.labels import label_weight
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.errors import InvalidData, InvalidParameter, InvalidTarget, NotAvailable
from hiperplano.solvers.likelihood.firth import FirthLikelihood, FirthSolution
from hiperplano.solvers.likelihood.likelihood import Likelihood, with_class_targets
from hiperplano.solvers.likelihood.solution import LogisticSolution
from hiperplano.solvers.objective import one_or_all
from hiperplano.stats.logistic.odds import OddsSummary
from hiperplano.stats.logistic.summary import absent, spread_of, table

_AWAY = 1e-3  # a larger gradient means that the coefficients are not the maximum on these rows
KINDS = ("classical", "HC0", "HC1")


def logistic_inference(
    solution: LogisticSolution, model: Any, X: Any, y: Any, cov: str, sample_weight: Any, level: float
) -> OddsSummary:
    """The table of a model's coefficients, from the given rows."""
    if cov not in KINDS:
        words = ", ".join(repr(kind) for kind in KINDS)
        raise InvalidParameter(
            "inference: cov={cov!r} with a logistic model; cov must be one of {words} there: leverage corrections "
            "belong to least squares. Choose one of them.",
            cov=cov,
            words=words,
        )
    design = coded_rows(model, X, y, sample_weight)
    theta = solution.parameters
    with one_blas_thread():
        problem = Likelihood(design, solution.scale, len(solution.coef), solution.strength)
        value, _, hessian = problem.evaluate_with_hessian(theta)
        meat = None if cov == "classical" else design.fold(_SquaredGradients(problem.loss, solution.scale, theta))[0]
    here = replace(
        solution,
        total=problem.total,
        deviance=2.0 * problem.total * (value - problem.penalty.value(theta)),
        null_deviance=2.0 * problem.total * problem.prior_loss(),
    )
    if isinstance(here, FirthSolution) and cov == "classical":
        here = _on_these_rows(here, design)
    if cov == "HC1" and meat is not None:
        n_scores = len(solution.coef)
        k = max(1, n_scores - 1) * solution.scale.size - absent(spread_of(here, hessian), n_scores)
        if design.n_rows <= k:
            raise NotAvailable(
                "inference: HC1 is not defined here: it multiplies by n/(n − k), with n = {n_rows} rows and k = "
                "{k} coefficients. Take cov='HC0', or leave out columns.",
                n_rows=design.n_rows,
                k=k,
            )
        meat = meat * (design.n_rows / (design.n_rows - k))
    return table(model, here, spread_of(here, hessian, meat), cov, level)


def coded_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> Design:
    """Rows validated against a fitted classifier, with targets coded for the likelihood."""
    design = validate(model, X, y, sample_weight, numeric_target=False, reset=False)
    (strange,) = design.fold(_UnknownLabel(model.classes_), _first)
    if len(strange):
        raise InvalidTarget(
            "y holds {label!r}, a class the model has not seen; labels must be among {classes}. Pass the rows of "
            "the fit, or of the same kind.",
            label=strange.tolist()[0],
            classes=model.classes_.tolist(),
        )
    codes = design.map(_Codes(model.classes_))
    return with_class_targets(design, codes, len(model.classes_), label_weight(design, model.class_weight))


@dataclass(frozen=True)
class _Codes:
    """The class number of every label."""

    reads_rows = False
    classes: Array

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.minimum(np.searchsorted(self.classes, block.y[:, 0]), len(self.classes) - 1)


@dataclass(frozen=True)
class _UnknownLabel:
    """The first label that is not one of the classes, if any."""

    reads_rows = False
    classes: Array

    def __call__(self, block: Block) -> Sums:
        known = self.classes[_Codes(self.classes)(block)] == block.y[:, 0]
        return (block.y[:, 0][~known][:1],)


def _first(left: Sums, right: Sums) -> Sums:
    return left if len(left[0]) else right


def _on_these_rows(solution: FirthSolution, design: Design) -> FirthSolution:
    """The solution with Firth's likelihood of the given rows, for the profile; they must be those of the fit."""
    problem = FirthLikelihood(design, solution.scale)
    theta = problem.point(solution.parameters[0])
    largest = float(np.abs(problem.evaluate(theta).score).max()) / problem.total
    if largest > _AWAY:
        raise InvalidData(
            "inference: the model is not at the maximum of Firth's likelihood of these rows (its score is "
            "{largest:.1e} there), where the profile starts. Pass the rows and weights of the fit, or take "
            "cov='HC0', which needs no profile.",
            largest=largest,
        )
    return replace(solution, problem=problem, theta=theta, profiles={})


@dataclass(frozen=True)
class _SquaredGradients:
    """Σᵢ gᵢ·gᵢᵀ of the gradients of single rows, without the penalty."""

    loss: Any
    scale: ColumnScale
    theta: Array

    def __call__(self, block: Block) -> Sums:
        rows = self.scale.rows(block)
        slope = self.loss.slope(block.y[:, 0], one_or_all(rows @ self.theta.T)).reshape(len(block), -1)
        own = (block.weighted(slope)[:, :, None] * rows[:, None, :]).reshape(len(block), -1)
        return (own.T @ own,)


@dataclass(frozen=True)
class LikelihoodRatio:
    """Test of a smaller model nested in a larger one.

    Attributes
    ----------
    statistic : float
        Twice the difference of the log-likelihoods.
    df : int
        Coefficients that only the larger model has.
    p : float
        p-value under the smaller model.
    """

    statistic: float
    df: int
    p: float


def likelihood_ratio(small: Any, large: Any, X: Any, y: Any, *, sample_weight: Any = None) -> LikelihoodRatio:
    """Likelihood-ratio test of a smaller logistic model within a larger one.

    Parameters
    ----------
    small, large : fitted LogisticRegression with C=np.inf
        The columns of `small` are among those of `large`.
    X : table with the columns of both, or a pair (X_small, X_large)
        Rows that both models were fitted to.
    y : array-like of shape (n,)
        Their labels.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, as given to `fit`.

    Returns
    -------
    LikelihoodRatio
        `statistic`, `df` and `p`.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import LogisticRegression, likelihood_ratio
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] + rng.logistic(size=200) > 0
    >>> small = LogisticRegression(C=np.inf).fit(X[:, :1], y)
    >>> large = LogisticRegression(C=np.inf).fit(X, y)
    >>> likelihood_ratio(small, large, (X[:, :1], X), y).df
    2
    """
    deviances = []
    for model, rows in zip((small, large), _columns_of(small, large, X), strict=True):
        check_is_fitted(model)
        solution = model.solution_
        if not isinstance(solution, LogisticSolution) or not solution.at_maximum:
            raise NotAvailable(
                "likelihood_ratio: {model!r} is not a maximum of the likelihood, which the test compares. Fit "
                "LogisticRegression(C=np.inf) to its end, on data that are not separated.",
                model=model,
            )
        design = coded_rows(model, rows, y, sample_weight)
        problem = Likelihood(design, solution.scale, len(solution.coef), 0.0)
        value, gradient = problem.evaluate(solution.parameters)
        largest = float(np.abs(gradient).max())
        if largest > _AWAY:
            raise InvalidData(
                "likelihood_ratio: {model!r} is not at the maximum of the likelihood of these rows (its gradient "
                "is {largest:.1e} there, standardised columns); both models must have been fitted to them. Fit "
                "both to X and y, and pass the weights of the fits as sample_weight.",
                model=model,
                largest=largest,
            )
        deviances.append(2.0 * problem.total * value)
    blocks = max(1, len(large.solution_.coef) - 1)
    df = blocks * (large.n_features_in_ - small.n_features_in_ + large.fit_intercept - small.fit_intercept)
    if df <= 0:
        raise InvalidParameter(
            "likelihood_ratio: `large` has {df} coefficients more than `small`; it must have at least 1 more. "
            "Swap the models, or check their columns.",
            df=df,
        )
    statistic = max(deviances[0] - deviances[1], 0.0)
    return LikelihoodRatio(statistic, int(df), float(chdtrc(df, statistic)))


def _columns_of(small: Any, large: Any, X: Any) -> tuple[Any, Any]:
    """The rows for each model."""
    if isinstance(X, tuple):
        return X
    if hasattr(small, "feature_names_in_") and hasattr(large, "feature_names_in_"):
        alone = [str(name) for name in small.feature_names_in_ if name not in set(large.feature_names_in_)]
        if alone:
            raise InvalidParameter(
                "likelihood_ratio: {names} of `small` are not among the columns of `large`; the test compares a "
                "model with a larger one that contains it. Add them to `large`.",
                names=", ".join(map(repr, alone[:6])),
            )
        return X[list(small.feature_names_in_)], X[list(large.feature_names_in_)]
    raise InvalidData(
        "likelihood_ratio: the models were fitted without column names, so their columns cannot be found in "
        "X. Pass a pair (X_small, X_large)."
    )
