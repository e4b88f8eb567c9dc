"""The choice of a ridge penalty: by leave-one-out or by folds, by squared errors or by a scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from hiperplano.data.design import Array, Block, Design
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.parameters import check_number, flag, one_of
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.linalg.centred_rows import CentredRows
from hiperplano.models.base import decided_classes
from hiperplano.selection.routing import Routed, of_rows
from hiperplano.selection.scoring import Scorer
from hiperplano.selection.splits import Split, row_splits
from hiperplano.solvers.least_squares.choice import fits_in_memory
from hiperplano.solvers.least_squares.normal import NormalEquations, normal_equations
from hiperplano.solvers.least_squares.path.few_rows import rows_to_multiply
from hiperplano.solvers.least_squares.path.leave_one_out import leave_one_out
from hiperplano.solvers.least_squares.path.ridge_folds import fold_paths, predictions, squared_errors
from hiperplano.solvers.statistics import align_rows

_CELLS = 2**22  # most predictions held in memory for a scorer


class Choice(NamedTuple):
    """The penalties that were tried, the chosen ones of shape (targets,), and results that the final fit can reuse."""

    alphas: Array
    chosen: Array
    sums: NormalEquations | CentredRows | None


class PenaltySearch:
    """Shared code of models that choose a ridge penalty from `alphas`."""

    alphas: Any
    fit_intercept: bool
    scoring: Any
    cv: Any
    store_cv_results: bool
    alpha_per_target: bool = False
    gcv_mode: str | None = None
    _FLAT_RESULTS = True  # whether `cv_results_` has no axis for a single target
    _FOLD_SCORING: str | None = None  # default scoring with folds; None for R²

    def _choose(self, design: Design, n_rows: int, y: Any, routed: Routed) -> Choice:
        """Choose the penalty, and set the fitted attributes that describe the choice.

        Parameters
        ----------
        design : Design
            Design with numeric targets.
        n_rows : int
            Number of rows of the input table.
        y : array-like
            Target of the table, for splitters that use it.
        routed : Routed
            Arguments for the splitter and the scorer.
        """
        alphas, name = self._checked_alphas(), type(self).__name__
        if not fits_in_memory(design):
            raise InvalidData(
                "{model}: {n_columns} columns; cross-validation by one factorisation holds their Gram matrix, "
                "which is too large. Search with sklearn.model_selection.GridSearchCV over Ridge(solver='cg').",
                model=name,
                n_columns=design.n_columns,
            )
        if design.n_rows < 2:
            raise InvalidData(
                "{model}: n_samples=1; a row must be predicted by others. Give two rows or more.", model=name
            )
        sums: NormalEquations | CentredRows | None = None
        results = None
        with one_blas_thread():
            if self.cv is None:
                if design.n_rows > design.n_columns:
                    sums = normal_equations(design, self.fit_intercept)
                else:
                    sums = rows_to_multiply(design, self.fit_intercept)
                scores, results = self._leave_one_out(design, alphas, sums, routed.score)
            else:
                splits = row_splits(self, design, n_rows, y, routed.split)
                scores = self._folds(design, alphas, splits, routed.score)
        scores = np.where(np.isnan(scores), -np.inf, scores)
        if not np.isfinite(scores.max(axis=0)).all():
            raise InvalidData(
                "{model}: no penalty has a score: single rows determine coefficients that are not penalised. Try "
                "penalties above 0.",
                model=name,
            )
        best, per_target = np.argmax(scores, axis=0), scores.ndim > 1
        chosen = alphas[best] if per_target else np.full(design.n_targets, alphas[best])
        if per_target and design.one_target:
            best, scores, per_target = best[0], scores[:, 0], False
        self.alpha_ = chosen if per_target else float(alphas[best])
        self.scores_ = scores
        self.best_score_ = scores.max(axis=0) if per_target else scores[best]
        vars(self).pop("cv_results_", None)
        if results is not None:
            results = align_rows(results, design, n_rows)
            self.cv_results_ = results[:, 0] if design.one_target and self._FLAT_RESULTS else results
        return Choice(alphas, chosen, sums)

    def _sums_first(self, design: Design) -> bool:
        """Whether the first step is a sum over all rows, which reveals NaN and infinity."""
        return self.cv is None and design.n_rows > design.n_columns and not design.has_weight and not design.is_sparse

    def _checked_alphas(self) -> Array:
        name, given = type(self).__name__, np.ravel(self.alphas).tolist()
        values = [check_number(name, f"alphas[{k}]", value, 0.0, np.inf) for k, value in enumerate(given)]
        if not values:
            raise InvalidParameter(
                "{model}: alphas is empty; at least one penalty is needed. Pass one or more numbers.",
                model=name,
            )
        for option in ("store_cv_results", "alpha_per_target"):
            if flag(self, option) and self.cv is not None:
                raise InvalidParameter(
                    "{model}: {name}=True with cv={cv!r}; it belongs to leave-one-out. Set cv=None.",
                    model=name,
                    name=option,
                    cv=self.cv,
                )
        if self.gcv_mode is not None:
            one_of(self, "gcv_mode", ("auto", "svd", "eigen"))
        return np.array(values)

    def _leave_one_out(
        self, design: Design, alphas: Array, sums: NormalEquations | CentredRows, given: dict[str, Any] | None
    ) -> tuple[Array, Array | None]:
        """Scores of shape (alphas,) or (alphas, targets), and the array for `cv_results_`."""
        path = leave_one_out(design, self.fit_intercept, sums, alphas)
        if not (self.store_cv_results or self.scoring is not None):
            return self._over_targets(-path.mean_squared_errors(alphas)), None
        y, weight = _targets_and_weights(design)
        scorer = None if self.scoring is None else self._scorer(self.scoring, weight, design.row_numbers(), given)
        results = np.empty((design.n_rows, design.n_targets, len(alphas))) if self.store_cv_results else None
        scores: list[Any] = []
        step = max(1, _CELLS // (design.n_rows * design.n_targets))
        for first in range(0, len(alphas), step):
            found = path.errors(alphas[first : first + step])
            if scorer is None:
                found = np.square(found) * (1.0 if weight is None else weight[:, None, None])
                scores.extend(-found.sum(axis=0).T / (len(y) if weight is None else weight.sum()))
            else:
                found = y[:, :, None] - found
                scores.extend(self._score_predictions(scorer, found, y, design.one_target))
            if results is not None:
                results[:, :, first : first + step] = found
        return self._over_targets(np.array(scores)), results

    def _over_targets(self, scores: Array) -> Array:
        """Average scores over targets, unless each target has its own penalty."""
        return scores if self.alpha_per_target or scores.ndim == 1 else scores.mean(axis=1)

    def _scorer(self, scoring: Any, weight: Array | None, rows: Array, given: dict[str, Any] | None) -> Scorer:
        """Scorer for some rows, given by their numbers in the input table."""
        extra = None if given is None else {name: of_rows(value, rows) for name, value in given.items()}
        return Scorer(scoring, weight, extra=extra)

    def _score_predictions(self, scorer: Scorer, predicted: Array, y: Array, one_target: bool) -> list[Any]:
        """Scores of predictions of shape (n, targets, alphas), for each penalty."""
        each = range(predicted.shape[2])
        if self.alpha_per_target:
            targets = range(y.shape[1])
            return [np.array([scorer(GivenNumbers(), predicted[:, t, a], y[:, t]) for t in targets]) for a in each]
        shape = (slice(None), 0) if one_target else (slice(None),)
        return [scorer(GivenNumbers(), predicted[..., a][shape], y[shape]) for a in each]

    def _folds(self, design: Design, alphas: Array, splits: list[Split], given: dict[str, Any] | None) -> Array:
        """Mean scores over the folds, of shape (alphas,)."""
        paths = fold_paths(design, splits, self.fit_intercept, float(alphas.min()))
        coefs = [path.coefficients(alphas) for path in paths]
        intercepts = [path.intercepts(coef) for path, coef in zip(paths, coefs, strict=True)]
        scoring = self._FOLD_SCORING if self.scoring is None else self.scoring
        if scoring is None:
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
            scorer = self._scorer(scoring, weight, design.row_numbers()[np.flatnonzero(mask)], given)
            scores[number] = self._score_predictions(scorer, found, y, design.one_target)
        return np.asarray(scores.mean(axis=0))


@dataclass(frozen=True)
class _Predictions:
    """x·coef + intercept of every penalty and target, of shape (m, alphas·targets)."""

    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Array:
        return predictions(block, self.coef, self.intercept).reshape(len(block), -1)


def _targets_and_weights(design: Design) -> tuple[Array, Array | None]:
    """Targets and weights in memory, as scikit-learn's splitters and scorers need them."""
    weight = design.collect(design.vector("weight")) if design.has_weight else None
    return design.collect(design.vector("y")), weight


def _r2(model: Array, constant: Array) -> Array:
    """R², with scikit-learn's convention for constant targets."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1.0 - model / constant[:, None, :]
    flat = np.broadcast_to(constant[:, None, :] == 0, model.shape)
    return np.where(flat, np.where(model == 0, 1.0, 0.0), r2)


class GivenNumbers(RegressorMixin, BaseEstimator):
    """A fitted regressor that returns its input as predictions, for scorers."""

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return X


class ClassPenaltySearch(PenaltySearch):
    """The same for classes coded as −1 and +1; a scorer gets labels."""

    classes_: Array
    _several_labels_: bool
    _FLAT_RESULTS = False
    _FOLD_SCORING = "accuracy"

    def _score_predictions(self, scorer: Scorer, predicted: Array, y: Array, one_target: bool) -> list[Any]:
        given = _GivenScores(self.classes_, self._several_labels_)
        return [scorer(given, predicted[..., a], given.predict(y)) for a in range(predicted.shape[2])]


class _GivenScores(ClassifierMixin, BaseEstimator):
    """A fitted classifier that returns its input as class scores, for scorers."""

    def __init__(self, classes_: Any, several_labels: bool) -> None:
        self.classes_ = classes_
        self.several_labels = several_labels

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> Any:
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: Any) -> Any:
        return (X > 0).astype(int) if self.several_labels else self.classes_[decided_classes(self.decision_function(X))]
