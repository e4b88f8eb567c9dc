"""What all linear estimators share: scores of rows, and the fitted attributes of a solution."""

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

from hiperplano.data.blas import one_blas_thread
from hiperplano.data.block import Array, Block
from hiperplano.data.cluster.calls import by_rows, takes_dask
from hiperplano.data.finite import refuse_nonfinite
from hiperplano.data.validate import validate_rows
from hiperplano.errors import AccuracyWarning, ConvergenceWarning, InvalidData
from hiperplano.messages import Message
from hiperplano.models.predicting import PredictsToFile
from hiperplano.solvers.solution import Outcome

_NO_USERS = ("hiperplano.", "sklearn.", "joblib.")
_FEW_DIGITS = 3
_ADD_A_PENALTY = Message("add a penalty (Ridge)")
_NEARLY_DEPENDENT = 1e4  # condition of the columns; few digits at a lower one are those a loose `tol` asked for

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
        if not coef.all():  # a coefficient of 0 would hide a number that is not finite; others leave no score finite
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
        """Coefficients and intercepts to predict with."""
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
        """Store `coef_` as a CSR matrix: smaller where most coefficients are 0.

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
    """Make a `fit` that fails leave the model as it was: what an earlier fit learned stays usable.

    BLAS is held at one thread for the whole of it: small fits make many passes, each of which would do so by itself.
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
        """The class with the largest score; a tie gives the first.

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
    """A classifier whose scores are logarithms of the classes' probabilities, up to a number common to all."""

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
        """Logarithms of the probabilities, accurate even where these underflow.

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
    """Probabilities of the classes, from scores of shape (n, classes) or the second's lead over the first."""
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
    """Put a solution on an estimator, in the type of its data, and warn once if it did not converge.

    `warn` is False where the caller has more to say about a bad end.
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
    """Say how a fit ended that did not converge."""
    warnings.warn(f"{type(model).__name__}: " + solution.status, ConvergenceWarning, stacklevel=users_level())


def users_level() -> int:
    """The `stacklevel` of the first caller outside the library: a warning should show the user's line.

    Pipelines and searches that call a model are no user, either. `skip_file_prefixes` of `warnings.warn` does this from
    Python 3.12 on; for 3.11, which is supported, the frames are walked here.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_NO_USERS):
        level, frame = level + 1, frame.f_back
    return level


def representable(values: Array, dtype: Any) -> bool:
    """Whether no number overflows or vanishes in a shorter type, nor its product with another of its size."""
    limits, sizes = np.finfo(dtype), np.abs(values)
    none_vanishes = np.count_nonzero(sizes >= limits.tiny) == np.count_nonzero(values)
    return bool(sizes.max(initial=0.0) <= np.sqrt(limits.max) and none_vanishes)
