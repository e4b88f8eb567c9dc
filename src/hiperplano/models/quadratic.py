"""Quadratic discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.parameters import flag, number
from hiperplano.data.validate import validate_rows
from hiperplano.errors import AccuracyWarning, InvalidData, InvalidParameter, SingularWarning
from hiperplano.messages import Message
from hiperplano.models.base import ClassProbabilities, all_or_nothing, decided_classes, users_level
from hiperplano.models.gaussian import (
    SampledClasses,
    accept_scikit_learns,
    at_places,
    checked_shrinkage,
    estimated_covariances,
    gaussian_problem,
)
from hiperplano.models.predicting import PredictsToFile
from hiperplano.solvers.discriminant.quadratic import QuadraticSolution, quadratic_discriminant
from hiperplano.solvers.discriminant.row_directions import few_rows
from hiperplano.solvers.statistics import NonFiniteRows

_MOST_CELLS = 2**28  # limit of the covariances: 2 GiB
_FEW_DIGITS = 3


class QuadraticDiscriminantAnalysis(SampledClasses, ClassProbabilities, ClassifierMixin, PredictsToFile, BaseEstimator):
    """Gaussian classes, each with its own covariance: scores log π − log|Σ|/2 − (x − m)·Σ⁻¹·(x − m)/2.

    One pass over the rows computes the moments of all classes. Columns that depend on others in the same way in every
    class change nothing: densities are compared on the directions in which rows vary. A class that does not vary in all
    of these would have an infinite density. It gets a small thickness there (10⁻⁴ of the columns' standard deviations),
    with a warning that names it.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        No effect; kept for compatibility with scikit-learn. `solution_.method` names the method used.
    shrinkage : None, "auto" or float, default=None
        Share of each class's covariance that is replaced by a simpler form: by its mean variance on all columns for a
        number from 0 to 1; "auto" uses Ledoit and Wolf's share, on columns at unit variance.
    priors : array-like of shape (classes,), optional
        Probabilities of the classes; shares of the sample by default.
    reg_param : float, default=0.0
        Instead of shrinkage: share of the identity mixed into every covariance, for columns of comparable units.
    store_covariance : bool, default=False
        No effect: `covariance_` is always available, and computed on demand.
    tol : float, default=1e-4
        No effect: the rank is determined from the rounding errors of the rows.
    covariance_estimator : estimator, optional
        Estimates the covariance of each class from its rows, instead of `shrinkage`: an object with a method `fit` and
        an attribute `covariance_` after it, such as those of `sklearn.covariance`. For rows without weights.
    unbiased : bool, default=False
        Divide the scatter of a class by n − 1, as R's MASS does, instead of n.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        Labels of the classes, sorted.
    means_ : ndarray of shape (classes, d)
        Means of the classes.
    priors_ : ndarray of shape (classes,)
        Prior probabilities of the classes.
    covariance_ : list of ndarray of shape (d, d)
        One for each class.
    rotations_ : list of ndarray of shape (d, d)
        Principal axes of each class.
    scalings_ : list of ndarray of shape (d,)
        Variances along them, largest first.
    shrinkage_ : ndarray of shape (classes,)
        The share used for each class.
    solution_ : QuadraticSolution
        How the fit ended: `status`, `method`, `rank`, `condition`, `digits`.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import QuadraticDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> round(QuadraticDiscriminantAnalysis().fit(X, y).score(X, y), 2)
    0.98
    """

    solution_: QuadraticSolution
    classes_: Array
    means_: Array
    priors_: Array
    shrinkage_: Array

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        unbiased: bool = False,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.unbiased = unbiased

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit means and covariances of the classes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            A design brings its target along.
        y : array-like of shape (n,)
            Labels of any kind.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        accept_scikit_learns(self, ("svd", "eigen"))
        shrinkage, unbiased = checked_shrinkage(self), flag(self, "unbiased")
        ridge = number(self, "reg_param", low=0.0, high=1.0)
        if ridge and shrinkage is not None:
            raise InvalidParameter(
                "QuadraticDiscriminantAnalysis: reg_param={ridge:g} with shrinkage={shrinkage!r}; only one can be "
                "set. Set reg_param=0.",
                ridge=ridge,
                shrinkage=shrinkage,
            )
        design, classes, self._present_, priors = gaussian_problem(self, X, y, sample_weight)
        n_classes = len(self._present_)
        few = few_rows(design, ridge, otherwise=unbiased or self.covariance_estimator is not None)
        size = design.n_rows if few else design.n_columns
        if size * design.n_columns * n_classes > _MOST_CELLS:
            raise InvalidData(
                "QuadraticDiscriminantAnalysis: {n_columns} columns and {n_classes} classes; covariances of that "
                "size do not fit. Select columns first, or use LinearDiscriminantAnalysis.",
                n_columns=design.n_columns,
                n_classes=n_classes,
            )
        covariances = estimated_covariances(self, design, n_classes)
        try:
            solution = quadratic_discriminant(
                design,
                n_classes,
                priors=priors,
                shrinkage=shrinkage,
                ridge=ridge,
                unbiased=unbiased,
                covariances=covariances,
            )
        except NonFiniteRows:
            refuse_out_of_range(design)
            raise
        self.classes_ = classes
        self.solution_ = solution
        self.means_ = at_places(solution.means, self._present_, len(classes), np.nan)
        self.priors_ = at_places(solution.priors, self._present_, len(classes), 0.0)
        self.shrinkage_ = solution.shrinkage
        self._warn(solution)
        return self

    def _warn(self, solution: QuadraticSolution) -> None:
        if len(solution.singular):
            flat = self._present_[solution.singular[:5]]
            names = ", ".join(repr(label) for label in self.classes_[flat].tolist())
            warnings.warn(
                "QuadraticDiscriminantAnalysis: "
                + solution.status
                + Message(
                    " They are {names}. Set shrinkage='auto', or drop columns that are constant or dependent in a "
                    "class.",
                    names=names,
                ),
                SingularWarning,
                stacklevel=users_level(),
            )
        if solution.digits < _FEW_DIGITS:
            warnings.warn(
                Message(
                    "QuadraticDiscriminantAnalysis: only about {digits:.0f} digits can be trusted; columns are nearly "
                    "dependent in a class (condition number {condition:.1e}). Leave out columns that follow from "
                    "others, or "
                    "set shrinkage='auto'.",
                    digits=solution.digits,
                    condition=solution.condition,
                ),
                AccuracyWarning,
                stacklevel=users_level(),
            )

    @property
    def covariance_(self) -> list[Array]:
        """Covariances of the classes."""
        check_is_fitted(self)
        return list(self.solution_.covariances)

    @property
    def rotations_(self) -> list[Array]:
        """Principal axes of the classes."""
        return [np.linalg.eigh(one)[1][:, ::-1] for one in self.covariance_]

    @property
    def scalings_(self) -> list[Array]:
        """Variances along the principal axes of the classes, largest first."""
        return [np.linalg.eigvalsh(one)[::-1] for one in self.covariance_]

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
            Scores of the rows.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X)
        scores = rows.collect(rows.map(self.solution_.scores()))
        scores = at_places(scores.T, self._present_, len(self.classes_), -np.inf).T
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

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
