"""Ridge regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from hiperplano.data import Design, validate
from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block
from hiperplano.data.parameters import check_number, flag
from hiperplano.data.validate import target_names
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing
from hiperplano.models.least_squares import LeastSquares
from hiperplano.selection.scoring import GivenPredictions, Scorer
from hiperplano.selection.splits import Split, row_splits
from hiperplano.solvers.least_squares.choice import fits_in_memory
from hiperplano.solvers.least_squares.leave_one_out import LeaveOneOutPath
from hiperplano.solvers.least_squares.ridge_folds import fold_paths, predictions, squared_errors
from hiperplano.solvers.statistics import Moments, align_rows, count_rows, moments

_CELLS = 2**22  # predictions held at a time, while a scorer looks at them


class RidgeCV(LeastSquares):
    """Ridge regression with the penalty chosen from `alphas`, at about the cost of one fit.

    Without `cv`, every row is predicted by all others, exactly: residuals and leverages of all penalties follow
    from one factorisation. With folds, their sums are gathered in one pass and shared.

    Parameters
    ----------
    alphas : array-like of float, default=(0.1, 1.0, 10.0)
        Penalties to try, each 0 or more.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    scoring : str or callable, optional
        Any of scikit-learn's scorers, larger is better. By default the negative mean squared error of
        leave-one-out, or the mean of the folds' R².
    cv : int, splitter or iterable of (train, test), optional
        Leave-one-out if None.
    store_cv_results : bool, default=False
        Keep leave-one-out's squared errors (or, with `scoring`, predictions) in `cv_results_`.
    alpha_per_target : bool, default=False
        Choose for each target by itself; leave-one-out only.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (targets,)
        The penalty with the best score.
    best_score_ : float or ndarray of shape (targets,)
        Its score.
    scores_ : ndarray of shape (alphas,) or (alphas, targets)
        The score of every penalty.
    cv_results_ : ndarray of shape (n, alphas) or (n, targets, alphas)
        Squared errors or predictions of leave-one-out, if `store_cv_results`.
    coef_, intercept_, rank_, solution_, n_iter_, n_features_in_, feature_names_in_
        Of the fit to all rows with the chosen penalty, as in `Ridge`.

    Notes
    -----
    Sample weights count in scores as in fits: a test row of weight 2 is two test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> RidgeCV(alphas=[0.1, 1, 10, 100]).fit(X, y).alpha_
    10.0
    """

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design brings its targets and weights along.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which brings its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        alphas = self._checked_alphas()
        flag(self, "fit_intercept")
        design = validate(self, X, y, sample_weight)
        self._target_names_ = target_names(y)
        if not fits_in_memory(design):
            raise InvalidData(
                "RidgeCV: {n_columns} columns; cross-validation by one factorisation holds their Gram matrix, "
                "which is too large. Search with sklearn.model_selection.GridSearchCV over Ridge(solver='cg').",
                n_columns=design.n_columns,
            )
        if design.n_rows < 2:
            raise InvalidData("RidgeCV: n_samples=1; a row must be predicted by others. Give two rows or more.")
        sums, results = None, None
        with one_blas_thread():
            if self.cv is None:
                sums = moments(design, centred=self.fit_intercept) if design.n_rows > design.n_columns else None
                scores, results = self._leave_one_out(design, alphas, sums)
            else:
                targets = design.collect(design.vector("y")) if isinstance(X, Design) else y
                scores = self._folds(design, alphas, row_splits(self, design, count_rows(X), targets))
        scores = np.where(np.isnan(scores), -np.inf, scores)
        if not np.isfinite(scores.max(axis=0)).all():
            raise InvalidData(
                "RidgeCV: no penalty has a score: single rows determine coefficients that are not penalised. Try "
                "penalties above 0."
            )
        best = np.argmax(scores, axis=0)
        per_target = scores.ndim > 1
        chosen = alphas[best] if per_target else np.full(design.n_targets, alphas[best])
        self._fit_design(design, chosen, sums)
        self.solution_ = replace(self.solution_, status=self.solution_.status + at_the_border(alphas, chosen))
        self.alpha_ = chosen if per_target else float(alphas[best])
        self.scores_ = scores
        self.best_score_ = scores.max(axis=0) if per_target else float(scores[best])
        if results is not None:
            results = align_rows(results, design, count_rows(X))
            self.cv_results_ = results[:, 0] if design.one_target else results
        return self

    def _checked_alphas(self) -> Array:
        given = np.ravel(self.alphas).tolist()
        values = [check_number("RidgeCV", f"alphas[{k}]", value, 0.0, np.inf) for k, value in enumerate(given)]
        if not values:
            raise InvalidParameter(
                "RidgeCV: alphas is empty; at least one penalty is needed. Pass one or more numbers."
            )
        for name in ("store_cv_results", "alpha_per_target"):
            if flag(self, name) and self.cv is not None:
                raise InvalidParameter(
                    "RidgeCV: {name}=True with cv={cv!r}; it belongs to leave-one-out. Set cv=None.",
                    name=name,
                    cv=self.cv,
                )
        return np.array(values)

    def _leave_one_out(self, design: Design, alphas: Array, sums: Moments | None) -> tuple[Array, Array | None]:
        """Scores of shape (alphas,) or (alphas, targets), and what `cv_results_` keeps."""
        path = LeaveOneOutPath.of(design, self.fit_intercept, sums)
        if not (self.store_cv_results or self.scoring is not None):
            return self._over_targets(-path.mean_squared_errors(alphas)), None
        y, weight = _targets_and_weights(design)
        results = np.empty((design.n_rows, design.n_targets, len(alphas))) if self.store_cv_results else None
        scores: list[Any] = []
        step = max(1, _CELLS // (design.n_rows * design.n_targets))
        for first in range(0, len(alphas), step):
            found = path.errors(alphas[first : first + step])
            if self.scoring is None:
                found = np.square(found)
                scores.extend(-np.average(found, axis=0, weights=weight).T)
            else:
                found = y[:, :, None] - found
                scores.extend(self._score_predictions(found, y, weight, design.one_target))
            if results is not None:
                results[:, :, first : first + step] = found
        return self._over_targets(np.array(scores)), results

    def _over_targets(self, scores: Array) -> Array:
        """One score for each penalty, unless each target has its own."""
        return scores if self.alpha_per_target or scores.ndim == 1 else scores.mean(axis=1)

    def _score_predictions(self, predicted: Array, y: Array, weight: Array | None, one_target: bool) -> list[Any]:
        """Scores of predictions of shape (n, targets, alphas), for each penalty."""
        scorer = Scorer(self.scoring, weight)
        each = range(predicted.shape[2])
        if self.alpha_per_target:
            targets = range(y.shape[1])
            return [np.array([scorer(GivenPredictions(), predicted[:, t, a], y[:, t]) for t in targets]) for a in each]
        shape = (slice(None), 0) if one_target else (slice(None),)
        return [scorer(GivenPredictions(), predicted[..., a][shape], y[shape]) for a in each]

    def _folds(self, design: Design, alphas: Array, splits: list[Split]) -> Array:
        """Scores of shape (alphas,): means over the folds."""
        paths = fold_paths(design, splits, self.fit_intercept)
        coefs = [path.coefficients(alphas) for path in paths]
        intercepts = [path.intercepts(coef) for path, coef in zip(paths, coefs, strict=True)]
        if self.scoring is None:
            model, constant = squared_errors(design, splits, coefs, intercepts)
            return np.asarray(_r2(model, constant).mean(axis=(0, 2)))
        scores = np.empty((len(splits), len(alphas)))
        for number, (_, test) in enumerate(splits):
            mask = np.zeros(design.n_rows, dtype=bool)
            mask[test] = True
            rows = design.gather(mask)
            found = rows.collect(rows.map(_Predictions(coefs[number], intercepts[number])))
            found = np.swapaxes(found.reshape(rows.n_rows, len(alphas), -1), 1, 2)
            y, weight = _targets_and_weights(rows)
            scores[number] = self._score_predictions(found, y, weight, design.one_target)
        return np.asarray(scores.mean(axis=0))


@dataclass(frozen=True)
class _Predictions:
    """x·coef + intercept of every penalty and target, of shape (m, alphas·targets)."""

    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Array:
        return predictions(block, self.coef, self.intercept).reshape(len(block), -1)


def _targets_and_weights(design: Design) -> tuple[Array, Array | None]:
    """On the host, where scikit-learn's splitters and scorers are."""
    weight = design.collect(design.vector("weight")) if design.has_weight else None
    return design.collect(design.vector("y")), weight


def at_the_border(alphas: Array, chosen: Array) -> str:
    """A sentence for the status, if a penalty outside those tried may be better still."""
    smallest, largest = float(alphas.min()), float(alphas.max())
    low, high = smallest in chosen and smallest > 0, largest in chosen and largest > 0  # below 0 there is none
    if smallest == largest or not (low or high):
        return ""
    if low and high:
        return Message(
            " The best penalty, {smallest:g} and {largest:g}, is the smallest and largest of those tried: try others "
            "beyond it.",
            smallest=smallest,
            largest=largest,
        )
    if low:
        return Message(
            " The best penalty, {alpha:g}, is the smallest of those tried: try others beyond it.", alpha=smallest
        )
    return Message(" The best penalty, {alpha:g}, is the largest of those tried: try others beyond it.", alpha=largest)


def _r2(model: Array, constant: Array) -> Array:
    """1 − error/variation, with scikit-learn's convention where the test rows do not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1.0 - model / constant[:, None, :]
    flat = np.broadcast_to(constant[:, None, :] == 0, model.shape)
    return np.where(flat, np.where(model == 0, 1.0, 0.0), r2)
