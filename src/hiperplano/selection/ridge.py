"""Ridge regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import check_cv

from hiperplano.data import Design, validate
from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.parameters import check_number, flag
from hiperplano.data.validate import target_names
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.models.base import all_or_nothing
from hiperplano.models.least_squares import LeastSquares
from hiperplano.selection.scoring import Scorer
from hiperplano.solvers.least_squares.choice import fits_in_memory
from hiperplano.solvers.least_squares.ridge_folds import Split, fold_paths, squared_errors
from hiperplano.solvers.least_squares.ridge_path import RidgePath, error_without, ridge_path
from hiperplano.solvers.least_squares.units import with_safe_weights
from hiperplano.solvers.statistics import Moments, moments

_REFITS = 64
_CELLS = 2**22  # predictions held at a time, while a scorer looks at them


class RidgeCV(LeastSquares):
    """Ridge regression with the penalty chosen from `alphas`, for about the price of one fit.

    Without `cv`, every row is predicted by all others, exactly: residuals and leverages of all penalties follow
    from one factorisation. With folds, their sums are gathered in one pass and shared.

    Parameters
    ----------
    alphas : array-like of float, default=(0.1, 1.0, 10.0)
        Penalties to try, each 0 or more.
    fit_intercept : bool, default=True
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
    best_score_ : float or ndarray of shape (targets,)
    scores_ : ndarray of shape (alphas,) or (alphas, targets)
        The score of every penalty.
    cv_results_ : ndarray of shape (n, alphas) or (n, targets, alphas)
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the penalty, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
        y : array-like of shape (n,) or (n, targets)
        sample_weight : array-like of shape (n,), optional
        """
        alphas = self._checked_alphas()
        flag(self, "fit_intercept")
        design = validate(self, X, y, sample_weight)
        self._target_names_ = target_names(y)
        if not fits_in_memory(design):
            raise InvalidData(
                f"RidgeCV: {design.n_columns} columns; cross-validation by one factorisation holds their Gram matrix, "
                "which is too large. Search with sklearn.model_selection.GridSearchCV over Ridge(solver='cg')."
            )
        if design.n_rows < 2:
            raise InvalidData("RidgeCV: n_samples=1; a row must be predicted by others. Give two rows or more.")
        # The unit of the weights matters to no score. Squares of targets beyond 1e±150 may leave none: see below.
        rows, penalties = with_safe_weights(design, alphas)
        sums = None
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if self.cv is None:
                sums = moments(rows, centred=self.fit_intercept) if rows.n_rows > rows.n_columns else None
                scores, results = self._leave_one_out(rows, penalties, sums)
            else:
                scores, results = self._folds(rows, penalties), None
        scores = np.where(np.isnan(scores), -np.inf, scores)
        if not np.isfinite(scores.max(axis=0)).all():
            raise InvalidData(
                "RidgeCV: no penalty has a score: squared errors lie beyond the range of float64, or single rows "
                "determine coefficients that are not penalised. Use units nearer to 1, or penalties above 0."
            )
        best = np.argmax(scores, axis=0)
        per_target = scores.ndim > 1
        chosen = alphas[best] if per_target else np.full(design.n_targets, alphas[best])
        self._fit_design(design, chosen, sums if design.weight is None else None)
        self.solution_ = replace(self.solution_, status=self.solution_.status + _at_the_border(alphas, chosen))
        self.alpha_ = chosen if per_target else float(alphas[best])
        self.scores_ = scores
        self.best_score_ = scores.max(axis=0) if per_target else float(scores[best])
        if results is not None:
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
                    f"RidgeCV: {name}=True with cv={self.cv!r}; it belongs to leave-one-out. Set cv=None."
                )
        return np.array(values)

    def _leave_one_out(self, design: Design, alphas: Array, sums: Moments | None) -> tuple[Array, Array | None]:
        """Scores of shape (alphas,) or (alphas, targets), and what `cv_results_` keeps."""
        path = ridge_path(design, fit_intercept=self.fit_intercept, sums=sums)
        wanted = self.store_cv_results or self.scoring is not None
        if not wanted:
            return self._mean_squared(design, path, alphas), None
        results = np.empty((design.n_rows, design.n_targets, len(alphas))) if self.store_cv_results else None
        scores: list[Any] = []
        step = max(1, _CELLS // (design.n_rows * design.n_targets))
        for first in range(0, len(alphas), step):
            some = alphas[first : first + step]
            errors = np.empty((design.n_rows, design.n_targets, len(some)))
            crucial: dict[int, float] = {}
            design.map_rows(path.leave_one_out(some, crucial), errors)
            for row in _most_crucial(crucial):
                errors[row] = error_without(design, row, some, self.fit_intercept)
            if self.scoring is None:
                squares = np.square(errors)
                scores.extend(-np.average(squares, axis=0, weights=design.weight).T)
            else:
                squares = design.y[:, :, None] - errors
                scores.extend(self._score_predictions(design, squares))
            if results is not None:
                results[:, :, first : first + step] = squares
        stacked = np.array(scores)
        return self._over_targets(stacked), results

    def _mean_squared(self, design: Design, path: RidgePath, alphas: Array) -> Array:
        crucial: dict[int, float] = {}
        apart: dict[int, Array] = {}  # errors of crucial rows, which are not summed with the others
        left_out = path.leave_one_out(alphas, crucial)

        def statistic(block: Block) -> Sums:
            errors = left_out(block)
            for row in [row for row in list(crucial) if block.rows.start <= row < block.rows.stop]:
                apart[row] = errors[row - block.rows.start].copy()
                errors[row - block.rows.start] = 0.0
            np.square(errors, out=errors)
            return (errors.sum(axis=0) if block.weight is None else np.tensordot(block.weight, errors, axes=1),)

        (sums,) = design.fold(statistic)
        for row in _most_crucial(crucial):
            apart[row] = error_without(design, row, alphas, self.fit_intercept)
        for row in sorted(apart):
            sums += np.square(apart[row]) * (1.0 if design.weight is None else design.weight[row])
        return self._over_targets(-sums.T / design.total_weight)

    def _over_targets(self, scores: Array) -> Array:
        """One score for each penalty, unless each target has its own."""
        return scores if self.alpha_per_target or scores.ndim == 1 else scores.mean(axis=1)

    def _score_predictions(self, design: Design, predictions: Array) -> list[Any]:
        """What the scorer says of leave-one-out predictions, for each penalty."""
        scorer = Scorer(self.scoring, design.weight)
        if self.alpha_per_target:
            targets = range(design.n_targets)
            return [
                np.array([scorer(_Given(), predictions[:, t, a], design.y[:, t]) for t in targets])
                for a in range(predictions.shape[2])
            ]
        y = design.y[:, 0] if design.one_target else design.y
        shaped = predictions[:, 0] if design.one_target else predictions
        return [scorer(_Given(), shaped[..., a], y) for a in range(predictions.shape[2])]

    def _folds(self, design: Design, alphas: Array) -> Array:
        try:
            splits: list[Split] = [
                (np.asarray(train), np.asarray(test))
                for train, test in check_cv(self.cv).split(np.empty((design.n_rows, 1)), design.y)
            ]
        except (ValueError, TypeError) as problem:
            raise InvalidParameter(
                f"RidgeCV: cv={self.cv!r} gives no folds of {design.n_rows} rows ({problem}); cv must be None, a "
                "number of folds from 2 to that of the rows, a splitter, or pairs of train and test rows. Set one of "
                "them."
            ) from problem
        paths = fold_paths(design, splits, self.fit_intercept)
        coefs = [path.coefficients(alphas) for path in paths]
        intercepts = [path.intercepts(coef) for path, coef in zip(paths, coefs, strict=True)]
        if self.scoring is None:
            model, constant = squared_errors(design, splits, coefs, intercepts)
            return np.asarray(_r2(model, constant).mean(axis=(0, 2)))
        scores = np.empty((len(splits), len(alphas)))
        for number, (_, test) in enumerate(splits):
            rows, y = design.take(test), design.y[test]
            scorer = Scorer(self.scoring, None if design.weight is None else design.weight[test])
            for position in range(len(alphas)):
                model = _Given(coefs[number][position], intercepts[number][position], design.one_target)
                scores[number, position] = scorer(model, rows, y[:, 0] if design.one_target else y)
        return np.asarray(scores.mean(axis=0))


def _most_crucial(rows: dict[int, float]) -> list[int]:
    """Rows to be left out one by one, at the price of a factorisation each: those that leave least to others first."""
    return sorted(rows, key=lambda row: (rows[row], row))[:_REFITS]


def _at_the_border(alphas: Array, chosen: Array) -> str:
    """A sentence for the status, if a penalty outside those tried may be better still."""
    if len(np.unique(alphas)) == 1:
        return ""
    ends = {"smallest": alphas.min(), "largest": alphas.max()}
    reached = {word: end for word, end in ends.items() if end in chosen and end > 0}  # below 0 there is none
    if not reached:
        return ""
    values = " and ".join(f"{end:g}" for end in reached.values())
    return f" The best penalty, {values}, is the {' and '.join(reached)} of those tried: try others beyond it."


def _r2(model: Array, constant: Array) -> Array:
    """1 − error/variation, with scikit-learn's convention where the test rows do not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1.0 - model / constant[:, None, :]
    flat = np.broadcast_to(constant[:, None, :] == 0, model.shape)
    return np.where(flat, np.where(model == 0, 1.0, 0.0), r2)


class _Given(RegressorMixin, BaseEstimator):
    """A regressor that is already fitted; without coefficients its rows are the predictions."""

    def __init__(self, coef: Any = None, intercept: Any = None, one_target: bool = False) -> None:
        self.coef = coef
        self.intercept = intercept
        self.one_target = one_target

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        if self.coef is None:
            return X
        scores = X @ self.coef.T + self.intercept
        return scores[:, 0] if self.one_target else scores
