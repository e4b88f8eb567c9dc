"""Coefficients and errors along the strength of a penalty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.design import Array
from hiperplano.data.validate import check_weight, validate
from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.models.least_squares import Ridge
from hiperplano.models.logistic import LogisticRegression
from hiperplano.plot.style import GREY, INK, Display, colour, format_number, hide_spines, legend_above
from hiperplano.selection.logistic import LogisticRegressionCV
from hiperplano.selection.ridge import RidgeCV
from hiperplano.selection.scoring import Scorer
from hiperplano.solvers.least_squares.path.ridge_path import ridge_path

_MOST_SIDE = 5000  # rows or columns up to which ridge is factored once for all λ
_NAMED = 6  # lines with their own colour
_ERRORS = {"neg_mean_squared_error": "mean squared error", "neg_log_loss": "log loss", "r2": "1 − R²"}


class PathDisplay(Display):
    """Coefficients, training error and validation error along λ, the strength of the penalty on the mean loss.

    λ is alpha/n for ridge, 1/(C·n) for logistic regression. Make it with `from_estimator`.

    Attributes
    ----------
    strengths : ndarray of shape (m,)
        λ, positive and increasing.
    coef : ndarray of shape (m, k)
        Coefficients of the fit to all rows with each λ; of softmax regression, those of all classes.
    training : ndarray of shape (m,)
        Errors on the rows of these fits.
    validation : ndarray of shape (m,) or None
        Errors on rows that fits have not seen.
    spread : ndarray of shape (m,) or None
        Standard errors of these over folds.
    chosen : float or None
        The λ of a model that chose one.
    names : list of str
        Names of the coefficients.
    error_name : str
        Name of the error measure.
    ax_, figure_
        The two panels, coefficients and errors, and the figure, once drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import PathDisplay, RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> model = RidgeCV(alphas=np.logspace(-2, 4, 25)).fit(X, y)
    >>> display = PathDisplay.from_estimator(model, X, y)
    >>> bool(display.chosen == model.alpha_ / 60)
    True
    >>> bool((np.diff(display.training) > 0).all())  # a stronger penalty never fits its own rows better
    True
    """

    def __init__(
        self,
        *,
        strengths: Array,
        coef: Array,
        training: Array,
        names: list[str],
        validation: Array | None = None,
        spread: Array | None = None,
        chosen: float | None = None,
        error_name: str = "error",
    ) -> None:
        self.strengths = strengths
        self.coef = coef
        self.training = training
        self.names = names
        self.validation = validation
        self.spread = spread
        self.chosen = chosen
        self.error_name = error_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        strengths: Any = None,
        validation: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Fit the rows for every λ, and draw the path.

        Parameters
        ----------
        estimator : fitted RidgeCV or LogisticRegressionCV; or Ridge, LogisticRegression
            The first two bring their own λ and validation errors. It is not changed.
        X, y : the rows of the fit
            With one target.
        sample_weight : array-like of shape (n,), optional
            As given to `fit`.
        strengths : array-like of float, optional
            λ to draw for `Ridge` and `LogisticRegression`: 40 values about the mean variance of the columns by default.
        validation : tuple (X, y), optional
            For these two: rows that are not fitted, whose error is drawn too.
        ax : two matplotlib axes, optional
            For the coefficients and for the validation error; new ones by default.
        **kwargs
            For `plot`.

        Returns
        -------
        display
            With `ax_` and `figure_` once drawn.
        """
        weight = check_weight(sample_weight, np.shape(X)[0])
        total = float(np.shape(X)[0] if weight is None else weight.sum())
        plan = _plan(estimator, X, total, strengths, validation)
        coef, training, tested = [], [], []
        for model in _fits(plan, X, y, sample_weight, total):
            if np.ndim(model.intercept_) and len(np.ravel(model.intercept_)) > 1 and not hasattr(model, "classes_"):
                raise InvalidParameter(
                    "PathDisplay: y has {n} targets; a path belongs to one. Pass one column of y.",
                    n=len(model.intercept_),
                )
            coef.append(np.ravel(model.coef_))
            training.append(_error(plan.scoring, Scorer(plan.scoring, weight)(model, X, y)))
            if validation is not None:
                tested.append(_error(plan.scoring, Scorer(plan.scoring, None)(model, *validation)))
        display = cls(
            strengths=plan.strengths,
            coef=np.array(coef[::-1]),
            training=np.array(training[::-1]),
            names=_names(plan.prototype),
            validation=np.array(tested[::-1]) if tested else plan.validation,
            spread=plan.spread,
            chosen=plan.chosen,
            error_name=_error_name(plan.scoring),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw coefficients above, errors below.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            New ones by default.
        **kwargs
            For matplotlib's `plot`, of all lines.

        Returns
        -------
        self : display
            With `ax_` and `figure_` set.
        """
        above, below = self._panels(ax, 2, 1, (6.4, 3.0), share="col")
        self._draw_coefficients(above, **kwargs)
        below.plot(self.strengths, self.training, **{"color": colour(0), "lw": 2, "label": "training"} | kwargs)
        if self.validation is not None:
            style = {"color": colour(1), "lw": 2, "label": "validation"}
            below.plot(self.strengths, self.validation, **style | kwargs)
            if self.spread is not None:
                band = self.validation - self.spread, self.validation + self.spread
                below.fill_between(self.strengths, *band, color=colour(1), alpha=0.18, lw=0, label="± standard error")
        for panel in (above, below):
            panel.set_xscale("log")
            if self.chosen is not None:
                panel.axvline(self.chosen, color=INK, lw=1.0, ls=":")
            hide_spines(panel)
        if self.chosen is not None:
            below.plot([], [], color=INK, lw=1.0, ls=":", label=f"chosen: λ = {format_number(self.chosen)}")
        below.set(xlabel="λ, strength of the penalty on the mean loss", ylabel=self.error_name)
        legend_above(below)
        return self

    def _draw_coefficients(self, ax: Any, **kwargs: Any) -> None:
        """The largest in colours, with their names; the others in grey."""
        size = np.abs(self.coef).max(axis=0)
        named = np.argsort(-size, kind="stable")[: _NAMED if len(size) > _NAMED + 1 else len(size)]
        others = np.setdiff1d(np.arange(len(size)), named)
        ax.axhline(0.0, color=GREY, lw=0.8)
        for number, column in enumerate(named):
            style = {"color": colour(number), "lw": 1.8, "label": self.names[column]}
            ax.plot(self.strengths, self.coef[:, column], **style | kwargs)
        for position, column in enumerate(others):
            style = {
                "color": GREY,
                "lw": 0.8,
                "alpha": 0.6,
                "zorder": 1,
                "label": None if position else f"{len(others)} smaller",
            }
            ax.plot(self.strengths, self.coef[:, column], **style | kwargs)
        ax.set_ylabel("coefficient")
        legend_above(ax)


class _Plan(NamedTuple):
    """Fits to make, and known results."""

    prototype: Any
    strengths: Array
    scoring: Any
    validation: Array | None = None
    spread: Array | None = None
    chosen: float | None = None

    def parameter(self, strength: float, total: float) -> dict[str, float]:
        """λ in terms of the model's parameter."""
        return {"alpha": strength * total} if isinstance(self.prototype, Ridge) else {"C": 1.0 / (strength * total)}


def _fits(plan: _Plan, X: Any, y: Any, sample_weight: Any, total: float) -> Iterator[Any]:
    """The prototype fitted with every λ, from strong to weak, since each fit is close to the next."""
    model, strengths = plan.prototype, plan.strengths[::-1]
    model.set_params(**plan.parameter(strengths[0], total)).fit(X, y, sample_weight=sample_weight)
    if isinstance(model, Ridge) and not model.positive and min(np.shape(X)) <= _MOST_SIDE and model.coef_.ndim == 1:
        path = ridge_path(validate(model, X, y, sample_weight, reset=False), fit_intercept=model.fit_intercept)
        coef = path.coefficients(strengths * total)
        for slopes, level in zip(coef[:, 0], path.intercepts(coef)[:, 0], strict=True):
            model.coef_, model.intercept_ = slopes, float(level) if model.fit_intercept else 0.0
            yield model
        return
    yield model
    for strength in strengths[1:]:
        yield model.set_params(**plan.parameter(strength, total)).fit(X, y, sample_weight=sample_weight)


def _plan(model: Any, X: Any, total: float, strengths: Any, validation: Any) -> _Plan:
    if isinstance(model, RidgeCV | LogisticRegressionCV):
        check_is_fitted(model)
        if strengths is not None or validation is not None:
            raise InvalidParameter(
                "PathDisplay: {model} brings its own penalties and validation errors; strengths and validation "
                "belong to Ridge and LogisticRegression. Leave them out.",
                model=type(model).__name__,
            )
        return _plan_of_ridge(model, total) if isinstance(model, RidgeCV) else _plan_of_logistic(model, total)
    if isinstance(model, Ridge):
        return _Plan(clone(model), _checked(strengths, X), "neg_mean_squared_error")
    if isinstance(model, LogisticRegression) and not model.firth:
        return _Plan(clone(model).set_params(warm_start=True), _checked(strengths, X), "neg_log_loss")
    raise NotAvailable(
        "PathDisplay: {model} has no path; paths are drawn of hiperplano's Ridge, RidgeCV, LogisticRegression "
        "(without firth) and LogisticRegressionCV. Pass one of these.",
        model=type(model).__name__,
    )


def _plan_of_ridge(model: RidgeCV, total: float) -> _Plan:
    alphas = np.ravel(np.asarray(model.alphas, dtype=np.float64))
    if np.ndim(model.alpha_):
        raise NotAvailable(
            "PathDisplay: RidgeCV chose {n} penalties, one for each target; a path belongs to one. Fit one "
            "target, or set alpha_per_target=False.",
            n=np.size(model.alpha_),
        )
    kept = np.flatnonzero(alphas > 0)  # 0 cannot be shown on a logarithmic axis
    kept = kept[np.argsort(alphas[kept], kind="stable")]
    scoring = model.scoring or ("neg_mean_squared_error" if model.cv is None else "r2")
    prototype = Ridge(fit_intercept=model.fit_intercept)
    errors = _error(scoring, model.scores_[kept])
    return _Plan(prototype, alphas[kept] / total, scoring, errors, None, float(model.alpha_) / total)


def _plan_of_logistic(model: LogisticRegressionCV, total: float) -> _Plan:
    order = np.argsort(-model.Cs_, kind="stable")
    prototype = LogisticRegression(
        fit_intercept=model.fit_intercept,
        class_weight=model.class_weight,
        solver=model.solver,
        tol=model.tol,
        max_iter=model.max_iter,
        warm_start=True,
    )
    scoring = model.scoring or "neg_log_loss"
    errors = _error(scoring, model._fold_scores_[:, order])
    spread = errors.std(axis=0, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else None
    return _Plan(
        prototype,
        1.0 / (model.Cs_[order] * total),
        scoring,
        errors.mean(axis=0),
        spread,
        1.0 / (float(np.ravel(model.C_)[0]) * total),
    )


def _checked(strengths: Any, X: Any) -> Array:
    if strengths is None:
        dense = X.toarray() if hasattr(X, "toarray") else X
        variance = float(np.var(np.asarray(dense, dtype=np.float64), axis=0).mean())
        return np.logspace(-4, 3, 40) * (variance if variance > 0 else 1.0)
    values = np.unique(np.ravel(np.asarray(strengths, dtype=np.float64)))
    if not len(values) or not np.isfinite(values).all() or values[0] <= 0:
        raise InvalidParameter(
            "PathDisplay: strengths={strengths!r}; they must be finite numbers above 0, on a logarithmic axis. "
            "Pass some, for example numpy.logspace(-4, 2, 30).",
            strengths=strengths,
        )
    return values


def _error(scoring: Any, score: Any) -> Any:
    """A score as an error, smaller is better: losses lose their sign, and shares are subtracted from 1."""
    losses = not isinstance(scoring, str) or scoring.startswith("neg_")
    return -score if losses else 1.0 - score


def _error_name(scoring: Any) -> str:
    if not isinstance(scoring, str):
        return "−score"
    plain = scoring.removeprefix("neg_").replace("_", " ")
    return _ERRORS.get(scoring, plain if scoring.startswith("neg_") else f"1 − {plain}")


def _names(model: Any) -> list[str]:
    given = getattr(model, "feature_names_in_", None)
    names = [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(name) for name in given]
    if np.ndim(model.coef_) < 2 or len(model.coef_) == 1:
        return names
    return [f"{label}: {name}" for label in model.classes_.tolist() for name in names]
