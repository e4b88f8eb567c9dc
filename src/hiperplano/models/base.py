"""Shared code of linear estimators: scores of rows, and the fitted attributes of a solution."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.special import expit, log_expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.block import Array, Block
from hiperplano.data.cluster.calls import by_rows, takes_dask
from hiperplano.data.finite import refuse_nonfinite
from hiperplano.data.parallel.blas import one_blas_thread
from hiperplano.data.validate import validate_rows
from hiperplano.errors import AccuracyWarning, ConvergenceWarning, InvalidData
from hiperplano.messages import Message
from hiperplano.models.predicting import PredictsToFile
from hiperplano.solvers.solution import Outcome

_NO_USERS = ("hiperplano.", "sklearn.", "joblib.")
_FEW_DIGITS = 3
_ADD_A_PENALTY = Message("add a penalty (Ridge)")
# Condition number above which columns are nearly dependent; below it, few digits are due to a loose `tol`.
_NEARLY_DEPENDENT = 1e4

Model = TypeVar("Model")
Rest = ParamSpec("Rest")


class LinearModel(PredictsToFile, BaseEstimator):
    """An estimator with `coef_` and `intercept_`, on dense and CSR rows."""

    coef_: Array
    intercept_: Any
    solution_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> Array:
        """x·coef + intercept for every row."""
        check_is_fitted(self)
        design = validate_rows(self, X, finite=False)
        coef, intercept = self._planes()
        # A coefficient of 0 would hide a number that is not finite; other coefficients make the score not finite.
        if not coef.all():
            refuse_nonfinite(design)
        with np.errstate(over="ignore", invalid="ignore"):
            found = design.collect(design.map(Scores(coef.T, intercept)))
        fine = np.isfinite(found) | ~np.isfinite(intercept)  # a class without rows has an intercept of −∞
        if not fine.all():
            refuse_nonfinite(design)
            raise InvalidData(
                "{model}: the score of row {row} lies beyond the range of float64 (1.8e308); coefficients times "
                "numbers must fit. Use units in which the columns are nearer to 1.",
                model=type(self).__name__,
                row=int(np.argmin(fine.reshape(len(found), -1).all(axis=1))),
            )
        return found

    def _planes(self) -> tuple[Array, Any]:
        """Coefficients and intercepts used for predictions."""
        return self._dense_coef(), self.intercept_

    def _dense_coef(self) -> Array:
        coef: Any = self.coef_
        return np.asarray(coef.toarray() if issparse(coef) else coef)


@dataclass(frozen=True)
class Scores:
    """x·coef + intercept of a block, for coefficients of shape (d,) or (d, scores)."""

    stays_sparse = True
    coef: Array
    intercept: Any

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.dot(self.coef) + self.intercept)


class SparseCoefficients(LinearModel):
    """A linear model whose `coef_` can be stored as a sparse matrix."""

    def sparsify(self) -> Self:
        """Store `coef_` as a CSR matrix, which is smaller if most coefficients are 0.

        Returns
        -------
        self : estimator
            The same model, which predicts as before.
        """
        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Store `coef_` as an array again.

        Returns
        -------
        self : estimator
            The same model.
        """
        check_is_fitted(self)
        self.coef_ = self._dense_coef()
        return self


def all_or_nothing(fit: Callable[Concatenate[Model, Rest], Model]) -> Callable[Concatenate[Model, Rest], Model]:
    """Decorator: a `fit` that fails leaves the model unchanged, so that an earlier fit stays usable.

    BLAS is limited to one thread for the whole fit, since small fits make many passes that would each set the limit.
    """

    anywhere = takes_dask(fit)

    @wraps(fit)
    def guarded(self: Model, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Model:
        before = dict(vars(self))
        try:
            with one_blas_thread():
                return anywhere(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded


class LinearClassifier(ClassifierMixin, SparseCoefficients):
    """A linear model whose scores choose among `classes_`."""

    classes_: Array

    @by_rows
    def decision_function(self, X: Any) -> Array:
        """Scores: of shape (n,) for two classes, positive for the second; otherwise (n, classes).

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            Scores, x·coef + intercept.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_rows
    def predict(self, X: Any) -> Array:
        """The class with the largest score; ties go to the first.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n,)
            The predicted labels.
        """
        which = decided_classes(self.decision_function(X))
        return np.asarray(self.classes_[which])


class ClassProbabilities:
    """A classifier whose scores are logarithms of the classes' probabilities, up to a common constant."""

    decision_function: Callable[[Any], Array]

    @by_rows
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of shape (n, classes).

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Probabilities, in the order of `classes_`.
        """
        return class_chances(self.decision_function(X))

    @by_rows
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities, accurate even if these underflow.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n, classes)
            Logarithms of probabilities, in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
        return np.asarray(log_softmax(scores, axis=1))


def class_chances(scores: Array) -> Array:
    """Probabilities of the classes, from their scores.

    Scores have the shape (n, classes), or are the difference of the second and the first.
    """
    return np.stack([expit(-scores), expit(scores)], axis=1) if scores.ndim == 1 else softmax(scores, axis=1)


def decided_classes(scores: Array) -> Array:
    """Numbers of the classes with the largest scores."""
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def publish(
    model: Any,
    solution: Outcome,
    dtype: Any,
    one_target: bool,
    warn: bool = True,
    remedy: Message = _ADD_A_PENALTY,
) -> None:
    """Set the fitted attributes from a solution, in the dtype of the data, and warn once if it did not converge.

    `warn` is False if the caller gives a more specific warning.
    """
    coef, intercept = solution.coef, solution.intercept
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise InvalidData(
            "{model}: a coefficient lies beyond the range of float64 (1.8e308); columns, target and weights must "
            "be of sizes whose ratios fit. Use units in which their numbers are nearer to 1.",
            model=type(model).__name__,
        )
    if coef.dtype != dtype and representable(coef, dtype) and representable(intercept, dtype):
        coef, intercept = coef.astype(dtype, copy=False), intercept.astype(dtype, copy=False)
    model.coef_ = coef[0] if one_target else coef
    model.intercept_ = intercept[0] if one_target else intercept
    model.solution_ = solution
    model.n_iter_ = solution.n_iter
    digits = getattr(solution, "digits", np.inf)
    if not warn:
        return
    if not solution.converged:
        warn_of_the_end(model, solution)
    elif digits < _FEW_DIGITS and getattr(solution, "condition", np.inf) > _NEARLY_DEPENDENT:
        warnings.warn(
            Message(
                "{model}: only about {digits:.0f} digits of the coefficients can be trusted; the columns are nearly "
                "dependent (condition number {condition:.1e}). Leave out columns that follow from others, or {remedy}.",
                model=type(model).__name__,
                digits=digits,
                condition=getattr(solution, "condition", np.nan),
                remedy=remedy,
            ),
            AccuracyWarning,
            stacklevel=users_level(),
        )


def warn_of_the_end(model: Any, solution: Any) -> None:
    """Warn that a fit did not converge."""
    warnings.warn(f"{type(model).__name__}: " + solution.status, ConvergenceWarning, stacklevel=users_level())


def users_level() -> int:
    """The `stacklevel` of the first caller outside the library, so that a warning shows the user's line.

    Pipelines and searches that call a model are skipped, too. From Python 3.12 on, `skip_file_prefixes` of
    `warnings.warn` does this; for 3.11, which is supported, the frames are walked here.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_NO_USERS):
        level, frame = level + 1, frame.f_back
    return level


def representable(values: Array, dtype: Any) -> bool:
    """Whether no number, nor its product with another of its size, overflows or underflows in a shorter type."""
    limits, sizes = np.finfo(dtype), np.abs(values)
    none_vanishes = np.count_nonzero(sizes >= limits.tiny) == np.count_nonzero(values)
    return bool(sizes.max(initial=0.0) <= np.sqrt(limits.max) and none_vanishes)
