"""Shared code of classifiers with Gaussian classes: input, parameters, covariances and probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design, validate
from hiperplano.data.design import Array, Block
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.labels import class_totals, encode_labels, labels_without_weight
from hiperplano.data.parameters import FLAG, accept, check_number, number, one_of
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.solvers.discriminant.class_moments import shows_all_numbers
from hiperplano.solvers.discriminant.linear import Shrinkage


class SampledClasses:
    """Mixin that draws rows from the fitted classes.

    The model must have `classes_`, `priors_`, `means_` and `covariance_`.
    """

    classes_: Array
    priors_: Array
    means_: Array

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, Array]:
        """Draw rows: first the class, by its prior, then the row, from the Gaussian fitted to that class.

        Parameters
        ----------
        n_samples : int, default=1
            Rows to draw.
        random_state : int, RandomState or None, default=None
            Seed or generator; an int gives the same rows every time.

        Returns
        -------
        X : ndarray of shape (n_samples, d)
            The rows.
        y : ndarray of shape (n_samples,)
            Their classes.
        """
        check_is_fitted(self)
        size = int(check_number(type(self).__name__, "n_samples", n_samples, 1, np.inf))
        rng = check_random_state(random_state)
        there = np.flatnonzero(self.priors_ > 0)
        shares = self.priors_[there].astype(np.float64)
        drawn = rng.choice(len(there), size=size, p=shares / shares.sum())
        rows = rng.standard_normal((size, self.means_.shape[1]))
        covariances = np.broadcast_to(np.asarray(self.covariance_), (len(there), *2 * rows.shape[1:]))  # type: ignore[attr-defined]
        for k, covariance in enumerate(covariances):
            values, vectors = np.linalg.eigh(covariance.astype(np.float64))
            root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T  # rootᵀ·root is the covariance
            rows[drawn == k] = rows[drawn == k] @ root + self.means_[there[k]]
        return rows, self.classes_[there[drawn]]


class GaussianProblem(NamedTuple):
    """Rows with their classes and priors.

    Attributes
    ----------
    design : Design
        Design with a vector "code", the class numbers of the rows among classes that have rows.
    classes : ndarray
        All classes.
    present : ndarray of int
        Classes that have rows with nonzero weight.
    priors : ndarray or None
        Priors of the present classes, if given.
    """

    design: Design
    classes: Array
    present: Array
    priors: Array | None


def gaussian_problem(model: Any, X: Any, y: Any, sample_weight: Any) -> GaussianProblem:
    """Validate the input and the priors of a fit.

    If sums over rows reveal NaN and infinity, these are not checked here.
    """
    design = validate(model, X, y, sample_weight, numeric_target=False, finite=False)
    if model.covariance_estimator is not None or not shows_all_numbers(design):
        refuse_out_of_range(design)
    others = labels_without_weight(X, y, sample_weight)
    classes, codes = encode_labels(design, others)
    present = np.arange(len(classes))
    design = design.with_vectors(code=codes)
    if others is not None:
        present = np.flatnonzero(class_totals(design, codes, len(classes)))
        design = design.with_vectors(code=design.map(_PlaceAmong(present)))
    if design.n_rows <= len(present):
        raise InvalidData(
            "{model}: n_samples={n_rows} for {n_classes} classes; the variance inside classes needs more rows "
            "than classes. Add rows.",
            model=type(model).__name__,
            n_rows=design.n_rows,
            n_classes=len(classes),
        )
    priors = _checked_priors(model, classes)
    if priors is not None:
        priors = priors[present] / priors[present].sum()
    return GaussianProblem(design, classes, present, priors)


def with_classes_without_rows(coef: Array, intercept: Array, present: Array, n_classes: int) -> tuple[Array, Array]:
    """Coefficients of all classes from those of the present ones.

    A class without rows has prior 0 and score −∞.
    """
    if len(present) == n_classes:
        return coef, intercept
    if n_classes == 2:
        return np.zeros_like(coef), np.where(present == 1, np.inf, -np.inf).astype(intercept.dtype)
    if len(present) == 2:
        coef, intercept = np.vstack([-coef, coef]) / 2, np.concatenate([-intercept, intercept]) / 2
    all_coef = np.zeros((n_classes, coef.shape[1]), coef.dtype)
    all_intercept = np.full(n_classes, -np.inf, intercept.dtype)
    all_coef[present], all_intercept[present] = coef, intercept
    return all_coef, all_intercept


def at_places(values: Array, present: Array, n_classes: int, missing: float) -> Array:
    """Values of the present classes along the first axis, expanded to all classes."""
    if len(present) == n_classes:
        return values
    found = np.full((n_classes, *values.shape[1:]), missing, values.dtype)
    found[present] = values
    return found


@dataclass(frozen=True)
class _PlaceAmong:
    """The position of a row's class among some classes."""

    present: Array

    def __call__(self, block: Block) -> Array:
        return np.searchsorted(self.present, block.vectors["code"])


def _checked_priors(model: Any, classes: Array) -> Array | None:
    if model.priors is None:
        return None
    try:
        priors = np.array(model.priors, dtype=np.float64)
    except (TypeError, ValueError):
        priors = np.array([np.nan])
    if priors.shape != (len(classes),) or not (priors > 0).all() or not np.isclose(priors.sum(), 1.0, atol=1e-5):
        raise InvalidParameter(
            "{model}: priors={priors!r}; priors must be {n_classes} positive numbers, in the order of the classes "
            "{classes}, that sum to 1. Divide them by their sum, and leave out the rows of classes that cannot "
            "occur.",
            model=type(model).__name__,
            priors=model.priors,
            n_classes=len(classes),
            classes=classes.tolist()[:10],
        )
    return np.asarray(priors / priors.sum())


def checked_shrinkage(model: Any) -> Shrinkage:
    """None, "auto" or a share from 0 to 1."""
    value = model.shrinkage
    if value is None:
        return None
    if isinstance(value, str):
        if value == "auto":
            return "auto"
        raise InvalidParameter(
            "{model}: shrinkage={value!r}; shrinkage must be None, 'auto' or a number from 0 to 1. Choose one of them.",
            model=type(model).__name__,
            value=value,
        )
    return number(model, "shrinkage", low=0.0, high=1.0)


def accept_scikit_learns(model: Any, solvers: tuple[str, ...]) -> None:
    """Validate parameters that exist for compatibility with scikit-learn, and have no effect."""
    one_of(model, "solver", solvers)
    number(model, "tol", low=0.0)
    accept(model, store_covariance=FLAG)


def estimated_covariances(model: Any, design: Design, n_classes: int) -> Array | None:
    """Covariances from the model's `covariance_estimator`, of shape (classes, d, d); None if there is none.

    Parameters
    ----------
    design : Design
        Design with a row vector "code".
    """
    estimator, name = model.covariance_estimator, type(model).__name__
    if estimator is None:
        return None
    if model.shrinkage is not None and model.shrinkage != 0:
        raise InvalidParameter(
            "{model}: covariance_estimator and shrinkage parameters are not None. Only one of the two can be set. Set "
            "shrinkage=None.",
            model=name,
        )
    if design.has_weight:
        raise InvalidParameter(
            "{model}: covariance_estimator={estimator} with sample weights, which estimators of covariances do not "
            "take. Leave one of them out.",
            model=name,
            estimator=type(estimator).__name__,
        )
    found = []
    for k in range(n_classes):
        rows = design.gather(design.map(_IsOfClass(k))).arrays()[0]
        one = clone(estimator, safe=False)
        one.fit(rows.toarray() if issparse(rows) else rows)
        covariance = getattr(one, "covariance_", None)
        if covariance is None:
            raise InvalidParameter(
                "{model}: {estimator} does not have a covariance_ attribute after its fit; covariance_estimator must "
                "have one, as the estimators of sklearn.covariance do. Choose one of them.",
                model=name,
                estimator=type(estimator).__name__,
            )
        found.append(np.atleast_2d(covariance))
    return np.stack(found)


@dataclass(frozen=True)
class _IsOfClass:
    code: int

    def __call__(self, block: Block) -> Array:
        return block.vectors["code"] == self.code
