"""Linear discriminant analysis."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import Design
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.finite import refuse_out_of_range
from hiperplano.data.parameters import flag, whole
from hiperplano.data.validate import validate_rows
from hiperplano.decision.costs import odds_cutoff
from hiperplano.errors import InvalidData, InvalidParameter, NotAvailable, SingularWarning
from hiperplano.messages import Message
from hiperplano.models.base import ClassProbabilities, LinearClassifier, Scores, all_or_nothing, publish, users_level
from hiperplano.models.gaussian import (
    SampledClasses,
    accept_scikit_learns,
    at_places,
    checked_shrinkage,
    estimated_covariances,
    gaussian_problem,
    with_classes_without_rows,
)
from hiperplano.solvers.discriminant.linear import DiscriminantSolution, Shrinkage, linear_discriminant
from hiperplano.solvers.least_squares.choice import fits_in_memory
from hiperplano.solvers.statistics import NonFiniteRows
from hiperplano.stats.canonical import CanonicalAxes, canonical_axes

_MOST_CELLS = 2**28  # limit of the covariances: 2 GiB


@dataclass(frozen=True)
class FisherFunction:
    """Fisher's discriminant of two groups, D = u·x, and its cut-off.

    Attributes
    ----------
    u : ndarray of shape (d,)
        The direction with the largest variance between groups over that within groups. The variance within groups is 1,
        and the second group has the larger scores.
    centroids : ndarray of shape (2,)
        Scores u·x of the two group means.
    cutoff : float
        Scores above it are assigned to the second group. It is the midpoint of the centroids if priors and costs are
        equal.
    classes : ndarray of shape (2,)
    """

    u: Array
    centroids: Array
    cutoff: float
    classes: Array

    def decide(self, scores: Any) -> Array:
        """The group for each score D = u·x."""
        return np.asarray(self.classes[(np.asarray(scores) > self.cutoff).astype(int)])


class LinearDiscriminantAnalysis(
    SampledClasses, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassProbabilities, LinearClassifier
):
    """Gaussian classes with one covariance: scores log π + m·Σ⁻¹·x − m·Σ⁻¹·m/2, m and π a class's mean and prior.

    The axes maximise the variance between classes over that within classes (W⁻¹F·u = λ·u, T = F + W). One pass over the
    rows computes weights, means and scatter, each class about its own point; if columns are ill-conditioned, the rows
    themselves are factored. If W is singular, the minimum-norm coefficients (columns at unit variance) are used.
    Directions without variance within classes along which their means differ separate the sample without error; they
    are left out, with a warning. Shrinkage includes them.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        No effect; kept for compatibility with scikit-learn. `solution_.method` names the method used.
    shrinkage : None, "auto" or float, default=None
        Share of each class's covariance that is replaced by a simpler form: by its mean variance on all columns for a
        number from 0 to 1; "auto" uses Ledoit and Wolf's share, on columns at unit variance. With shrinkage, Σ is the
        mean over classes by priors, otherwise by weight.
    priors : array-like of shape (classes,), optional
        Probabilities of the classes; shares of the sample by default.
    n_components : int, optional
        Axes that `transform` returns; at most the smaller of classes − 1 and d.
    store_covariance : bool, default=False
        No effect: `covariance_` is always available.
    tol : float, default=1e-4
        No effect: the rank is determined from the rounding errors of the rows.
    covariance_estimator : estimator, optional
        Estimates the covariance of each class from its rows, instead of `shrinkage`: an object with a method `fit` and
        an attribute `covariance_` after it, such as those of `sklearn.covariance`. For rows without weights.
    unbiased : bool, default=False
        Divide the scatter within classes by n − classes, as R's MASS does, instead of n.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (classes, d)
        For two classes, coefficients of the difference of the second and the first score. Otherwise relative to the
        centre of the means, since only differences between classes matter.
    intercept_ : ndarray of shape (1,) or (classes,)
        Intercepts.
    classes_ : ndarray of shape (classes,)
        Labels of the classes, sorted.
    means_ : ndarray of shape (classes, d)
        Means of the classes.
    priors_ : ndarray of shape (classes,)
        Prior probabilities of the classes.
    xbar_ : ndarray of shape (d,)
        Mean of the class means, weighted by the priors.
    covariance_ : ndarray of shape (d, d)
        Σ, the covariance within classes.
    scalings_ : ndarray of shape (d, axes)
        The canonical axes; the variance within classes is 1 along each, and the last class's mean is positive.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of each axis in the variance between classes.
    shrinkage_ : ndarray of shape (classes,)
        The share used for each class.
    solution_ : DiscriminantSolution
        How the fit ended: `status`, `method`, `rank`, `condition`, `digits`, `ignored`.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Names of the columns, if the rows have them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> model.explained_variance_ratio_.round(4)
    array([0.9912, 0.0088])
    >>> print(model.solution_.method, "to more than 10 digits:", bool(model.solution_.digits > 10))
    sums over classes to more than 10 digits: True
    """

    solution_: DiscriminantSolution
    means_: Array
    priors_: Array
    xbar_: Array
    scalings_: Array
    explained_variance_ratio_: Array
    shrinkage_: Array

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        unbiased: bool = False,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.unbiased = unbiased

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the scores and the axes.

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
        accept_scikit_learns(self, ("svd", "lsqr", "eigen"))
        shrinkage, unbiased = checked_shrinkage(self), flag(self, "unbiased")
        design, classes, present, priors = gaussian_problem(self, X, y, sample_weight)
        n_classes = len(present)
        components = self._components(n_classes, design.n_columns)
        _check_size(design, n_classes, shrinkage, priors)
        if unbiased and design.total_weight <= n_classes:
            raise InvalidData(
                "LinearDiscriminantAnalysis: weights sum to {total_weight:g} for {n_classes} classes; "
                "unbiased=True divides by their difference, which must be positive. Set unbiased=False.",
                total_weight=design.total_weight,
                n_classes=n_classes,
            )
        covariances = estimated_covariances(self, design, n_classes)
        try:
            solution = linear_discriminant(
                design, n_classes, priors=priors, shrinkage=shrinkage, unbiased=unbiased, covariances=covariances
            )
        except NonFiniteRows:
            refuse_out_of_range(design)
            raise
        if solution.rank == 0:
            raise InvalidData(
                "LinearDiscriminantAnalysis: no column varies inside a class; without variance there is nothing to "
                "compare means with. Check the columns: one that determines the class needs no model."
            )
        self.classes_ = classes
        publish(self, solution, design.dtype, one_target=False, remedy=Message("set shrinkage='auto'"))
        self.coef_, self.intercept_ = with_classes_without_rows(self.coef_, self.intercept_, present, len(classes))
        self._describe(solution, components, design.dtype)
        self.means_ = at_places(self.means_, present, len(classes), np.nan)
        self.priors_ = at_places(self.priors_, present, len(classes), 0.0)
        if solution.ignored:
            warnings.warn(
                "LinearDiscriminantAnalysis: " + solution.status + _REMEDY, SingularWarning, stacklevel=users_level()
            )
        return self

    def _components(self, n_classes: int, n_columns: int) -> int:
        most = min(n_classes - 1, n_columns)
        wanted = whole(self, "n_components", low=1, optional=True)
        if wanted is None:
            return most
        if wanted > most:
            raise InvalidParameter(
                "LinearDiscriminantAnalysis: n_components={wanted}; n_components cannot be larger than "
                "min(n_features, n_classes - 1) = {most}. Set it to at most {most}.",
                wanted=wanted,
                most=most,
            )
        return wanted

    def _describe(self, solution: DiscriminantSolution, components: int, dtype: Any) -> None:
        self.means_ = solution.means.astype(dtype, copy=False)
        self.priors_ = solution.priors.astype(dtype, copy=False)
        self.xbar_ = solution.centre.astype(dtype, copy=False)
        self.scalings_ = solution.scalings.astype(dtype, copy=False)
        total = solution.eigenvalues.sum()
        self.explained_variance_ratio_ = (solution.eigenvalues[:components] / (total or 1.0)).astype(dtype, copy=False)
        self.shrinkage_ = solution.shrinkage
        self._n_features_out = len(self.explained_variance_ratio_)

    @property
    def covariance_(self) -> Array:
        """Σ, inside classes."""
        check_is_fitted(self)
        return self.solution_.covariance.astype(self.coef_.dtype, copy=False)

    @by_rows
    def transform(self, X: Any) -> Array:
        """Scores on the canonical axes, (x − xbar)·scalings.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to transform.

        Returns
        -------
        ndarray of shape (n, n_components)
            Scores on the canonical axes.
        """
        check_is_fitted(self)
        rows, axes = validate_rows(self, X), self.scalings_[:, : self._n_features_out]
        return rows.collect(rows.map(Scores(axes, -self.xbar_ @ axes)))

    def axes(self) -> CanonicalAxes:
        """The canonical axes: eigenvalues, correlations, tests, standardised and structure coefficients.

        Returns
        -------
        CanonicalAxes
            Tables: print them, show them in a notebook, or take the arrays.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hiperplano import LinearDiscriminantAnalysis
        >>> axes = LinearDiscriminantAnalysis().fit(*load_iris(return_X_y=True)).axes()
        >>> axes.correlations.round(3)
        array([0.985, 0.471])
        >>> float(axes.wilks[0].round(4))
        0.0234
        """
        check_is_fitted(self)
        return canonical_axes(self)

    def fisher(self, costs: Any = None) -> FisherFunction:
        """Fisher's function of two groups: u, the centroids' scores, and the cut-off.

        Parameters
        ----------
        costs : array-like of shape (2, 2), optional
            costs[j, k] is the cost of deciding group j where k is true; equal costs of mistakes by default.

        Returns
        -------
        FisherFunction
            The direction u, the centroids and the cut-off.

        Examples
        --------
        >>> from hiperplano import LinearDiscriminantAnalysis
        >>> model = LinearDiscriminantAnalysis().fit([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
        >>> found = model.fisher()
        >>> found.u, found.centroids, round(found.cutoff, 6)
        (array([1.]), array([1., 5.]), 3.0)
        >>> round(model.fisher(costs=[[0, 10], [1, 0]]).cutoff, 3)
        2.424
        """
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise NotAvailable(
                "Fisher's function is of two groups; this model has {n}. Use axes() and transform().",
                n=len(self.classes_),
            )
        solution = self.solution_
        if not len(solution.eigenvalues):
            raise NotAvailable("The two groups have the same mean: no direction separates them. Add columns.")
        u = solution.scalings[:, 0]
        centroids = solution.means @ u
        apart = float(centroids[1] - centroids[0])
        with np.errstate(divide="ignore"):  # a mistake may cost nothing
            shift = float(np.log(solution.priors[0]) - np.log(solution.priors[1])) + np.log(odds_cutoff(costs))
        return FisherFunction(u, centroids, float(centroids.mean() + shift / apart), self.classes_)


_REMEDY = Message(" Set shrinkage='auto' to let them count, or drop columns that determine the class.")


def _check_size(design: Design, n_classes: int, shrinkage: Shrinkage, priors: Array | None) -> None:
    """Raise an error if the covariances would take too much memory."""
    separate = shrinkage == "auto" or (shrinkage is not None and priors is not None)
    square = design.n_columns**2 * (n_classes if separate else 1)
    small = square <= _MOST_CELLS if shrinkage is not None else fits_in_memory(design)
    if not small:
        raise InvalidData(
            "LinearDiscriminantAnalysis: {n_columns} columns and {n_classes} classes; covariances of that size do "
            "not fit. Select columns first, or project them, for example with sklearn.decomposition.TruncatedSVD.",
            n_columns=design.n_columns,
            n_classes=n_classes,
        )
