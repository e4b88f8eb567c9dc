"""Logistic regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.model_selection import check_cv

from hiperplano.data import Design, validate
from hiperplano.data.blas import one_blas_thread
from hiperplano.data.design import Array, Block, Sums
from hiperplano.data.parameters import check_number, flag, number, one_of, whole
from hiperplano.errors import ConvergenceWarning, InvalidParameter, InvalidTarget
from hiperplano.losses import Logistic, Softmax
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing, publish, users_level
from hiperplano.models.logistic import LogisticClassifier, LogisticRegression, code_classes
from hiperplano.selection.scoring import Scorer
from hiperplano.selection.splits import no_folds
from hiperplano.solvers.likelihood.fit import SOLVERS, fit_likelihood
from hiperplano.solvers.likelihood.likelihood_folds import fold_coefficients
from hiperplano.solvers.objective import one_or_all


class LogisticRegressionCV(LogisticClassifier):
    """Logistic or softmax regression with C chosen from `Cs`.

    Fits go from strong to weak penalties, each starting where the last ended; for two classes all folds move
    together, so that one pass over the rows serves all of them.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C to try; an int takes so many from 1e-4 to 1e4, evenly on a logarithmic scale.
    fit_intercept : bool, default=True
        Whether to fit an intercept; without one the plane goes through the origin.
    cv : int, splitter or iterable of (train, test), optional
        Five stratified folds by default.
    scoring : str or callable, optional
        Any of scikit-learn's scorers, larger is better; the negative log loss by default.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives each class the same total.
    solver : {"auto", "newton", "lbfgs", "gradient"}, default="auto"
        For the last fit to all rows, and for the folds of more than two classes, as in `LogisticRegression`.
    tol : float, default=1e-6
        Largest entry of the gradient (standardised columns) at which fits stop.
    max_iter : int, default=1000
        Most steps of each fit.

    Attributes
    ----------
    C_ : float
        The best of `Cs_`; of equal scores the smallest.
    Cs_ : ndarray of shape (Cs,)
        Values of C that were tried.
    scores_ : ndarray of shape (folds, Cs)
        The score of every C in every fold.
    best_score_ : float
        Mean over the folds.
    coef_, intercept_, classes_, solution_, n_iter_, n_features_in_, feature_names_in_
        Of the fit to all rows with `C_`, as in `LogisticRegression`.

    Notes
    -----
    Sample weights count in scores as in fits: a test row of weight 2 is two test rows. Class weights count in fits
    only, whatever the scorer.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import LogisticRegressionCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0]).fit(X, y)
    >>> model.C_
    100.0
    """

    def __init__(
        self,
        Cs: Any = 10,
        *,
        fit_intercept: bool = True,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.Cs = Cs
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose C, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; a design brings its targets and weights along.
        y : array-like of shape (n,)
            Labels of any kind; not given with a design.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        with one_blas_thread():  # once for all passes
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        Cs = self._checked_Cs()
        control: dict[str, Any] = {
            "tol": number(self, "tol", low=0.0, open_low=True),
            "max_iter": whole(self, "max_iter", low=1),
            "fit_intercept": flag(self, "fit_intercept"),
        }
        one_of(self, "solver", SOLVERS)
        design = validate(self, X, y, sample_weight, numeric_target=False)
        classes, coded = code_classes(design, self.class_weight)
        splits = _splits(self.cv, design, y)
        trained, tested = (_counts([split[side] for split in splits], design.n_rows) for side in (0, 1))
        coded = coded.with_vectors(trained=trained)
        _refuse_missing_classes(coded, classes)
        if len(classes) == 2:
            coef, intercept, converged = fold_coefficients(coded, Cs, **control)
            coef, intercept = coef[:, :, None, :], intercept[:, :, None]
        else:
            coef, intercept, converged = self._one_by_one(coded, trained.shape[1], Cs, len(classes), control)
        if self.scoring is None:
            weight = design.vector("weight") if design.has_weight else None
            scores = _log_loss_scores(coded.with_vectors(weight=weight, tested=tested), coef, intercept)
        else:
            scores = self._scores_by_scorer(design.with_vectors(tested=tested), classes, coef, intercept)
        mean = scores.mean(axis=0)
        if np.isnan(mean).any():
            raise InvalidParameter(
                "LogisticRegressionCV: scoring={scoring!r} gives NaN in {n} of {size} cases; every fold needs a "
                "score for every C. Choose another scorer, or folds with all classes in them.",
                scoring=self.scoring,
                n=np.isnan(scores).sum(),
                size=scores.size,
            )
        best = min(np.flatnonzero(mean == mean.max()), key=lambda position: Cs[position])
        solution = fit_likelihood(
            coded,
            n_scores=coef.shape[2],
            strength=1.0 / (Cs[best] * coded.total_weight),
            solver=self.solver,
            start=(coef[best].mean(axis=0), intercept[best].mean(axis=0)),
            **control,
        )
        self.classes_, self.Cs_, self.C_ = classes, Cs, float(Cs[best])
        self.scores_, self.best_score_ = scores, float(mean[best])
        publish(self, solution, design.dtype, one_target=False)
        if not converged:
            warnings.warn(
                Message(
                    "LogisticRegressionCV: fits to some folds stopped after max_iter={max_iter} steps above "
                    "tol={tol:g}, so their scores are not final. Raise max_iter, or tol if that is accurate enough.",
                    max_iter=self.max_iter,
                    tol=self.tol,
                ),
                ConvergenceWarning,
                stacklevel=users_level(),
            )
        return self

    def _checked_Cs(self) -> Array:
        if isinstance(self.Cs, int | np.integer) and not isinstance(self.Cs, bool):
            if self.Cs < 1:
                raise InvalidParameter("LogisticRegressionCV: Cs={Cs}; Cs must be 1 or more. Set it so.", Cs=self.Cs)
            return np.logspace(-4, 4, int(self.Cs))
        values = np.ravel(self.Cs).tolist()
        if not values:
            raise InvalidParameter("LogisticRegressionCV: Cs is empty; at least one value is needed. Pass some.")
        name = "LogisticRegressionCV"
        return np.array(
            [check_number(name, f"Cs[{i}]", value, 0.0, np.inf, open_low=True) for i, value in enumerate(values)]
        )

    def _one_by_one(
        self, design: Design, n_splits: int, Cs: Array, n_classes: int, control: dict[str, Any]
    ) -> tuple[Array, Array, bool]:
        """Softmax coefficients of every C and split, of shape (Cs, splits, classes, d); and whether all converged."""
        coef = np.empty((len(Cs), n_splits, n_classes, design.n_columns))
        intercept = np.empty(coef.shape[:3])
        converged = True
        for split in range(n_splits):
            part = design.with_vectors(weight=design.map(_TrainingWeight(split))).weighted_rows()
            start = None
            for position in np.argsort(Cs):
                found = fit_likelihood(
                    part,
                    n_scores=n_classes,
                    strength=1.0 / (Cs[position] * part.total_weight),
                    solver=self.solver,
                    start=start,
                    keep_hessian=False,
                    **control,
                )
                start = found.coef, found.intercept
                coef[position, split], intercept[position, split] = start
                converged &= found.converged
        return coef, intercept, converged

    def _scores_by_scorer(self, design: Design, classes: Array, coef: Array, intercept: Array) -> Array:
        scores = np.empty(coef.shape[1::-1])
        for split in range(len(scores)):
            part = design.gather(design.map(_IsTested(split)))
            times = part.collect(part.vector("tested"))[:, split]
            again = np.repeat(np.arange(part.n_rows), times)
            x, y, weight = part.arrays()
            scorer = Scorer(self.scoring, None if weight is None else weight[again])
            for position in range(len(coef)):
                given = LogisticRegression()
                given.classes_, given.n_features_in_ = classes, design.n_columns
                given.coef_, given.intercept_ = coef[position, split], intercept[position, split]
                scores[split, position] = scorer(given, x[again], y[again, 0])
        return scores


def _splits(cv: Any, design: Design, y: Any) -> list[tuple[Array, Array]]:
    """Positions of the training and test rows of every split, among the rows that count.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        A splitter divides the rows that count; a list names rows among those given.
    design : Design
        The rows that count, with labels.
    y : array-like of shape (n,) or None
        The labels as they were given, with those of rows that do not count; None with a design.
    """
    numbers, labels = design.row_numbers(), design.collect(design.vector("y"))[:, 0]
    listed = not (cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "split"))
    place = np.full(len(np.asarray(y)) if listed and y is not None else design.n_rows, -1)
    place[numbers if listed else slice(None)] = np.arange(design.n_rows)

    def counting(rows: Any) -> Array:
        found = place[_positions(rows, len(place))]
        return np.asarray(found[found >= 0])

    try:
        splits = list(check_cv(cv, labels, classifier=True).split(numbers[:, None], labels))
    except (ValueError, TypeError) as problem:
        raise no_folds("LogisticRegressionCV", cv, len(labels), problem) from problem
    return [(counting(train), counting(test)) for train, test in splits]


def _counts(splits: list[Array], n_rows: int) -> Array:
    """How often each row is in each split, of shape (n, splits): bootstrap samples take some twice."""
    counts = [np.bincount(rows, minlength=n_rows) for rows in splits]
    return np.stack(counts, axis=1).astype(np.min_scalar_type(max(int(count.max()) for count in counts)))


def _positions(rows: Any, n_rows: int) -> Array:
    """Positions of rows given as positions or as a mask."""
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    if not len(rows) or rows.min() < -n_rows or rows.max() >= n_rows:
        limits = Message(" from {first} to {last}", first=rows.min(), last=rows.max()) if len(rows) else ""
        raise InvalidParameter(
            "LogisticRegressionCV: cv gives {n} rows{limits} of a table of {n_rows}; every split needs rows to "
            "train and to test on, by their positions. Check the splitter.",
            n=len(rows),
            limits=limits,
            n_rows=n_rows,
        )
    return np.asarray(np.where(rows < 0, rows + n_rows, rows))


def _refuse_missing_classes(design: Design, classes: Array) -> None:
    """An error for a split that trains on no row of some class."""
    (weights,) = design.fold(_TrainingWeights(len(classes)))
    for k, label in enumerate(classes.tolist()):
        if not weights[k].all():
            raise InvalidTarget(
                "fold {fold} trains on no row of class {label!r}; every fold needs all classes. Use stratified "
                "folds, or fewer of them.",
                fold=int(np.flatnonzero(weights[k] == 0)[0]),
                label=label,
            )


@dataclass(frozen=True)
class _TrainingWeights:
    """Σ w of each class in each split's training rows, of shape (classes, splits)."""

    n_classes: int

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        codes = xp.arange(self.n_classes) if self.n_classes > 2 else np.array([-1.0, 1.0])
        return ((block.y == codes).T.astype(xp.float64) @ block.weighted(block.vectors["trained"].astype(xp.float64)),)


@dataclass(frozen=True)
class _TrainingWeight:
    """The weight of a row in the training of a split, 0 if it is not among its rows."""

    split: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return block.weighted(block.vectors["trained"][:, self.split].astype(xp.float64))


@dataclass(frozen=True)
class _IsTested:
    """Whether a split is tested on a row."""

    split: int

    def __call__(self, block: Block) -> Array:
        xp = block.xp
        return xp.asarray(block.vectors["tested"][:, self.split] > 0)


@dataclass(frozen=True)
class _LogLosses:
    """Σ w·loss, of shape (splits, Cs), and Σ w of every split's test rows."""

    coef: Array
    intercept: Array

    def __call__(self, block: Block) -> Sums:
        xp = block.xp
        n_Cs, n_splits, k, d = self.coef.shape
        sums, totals = xp.zeros((n_splits, n_Cs)), xp.zeros(n_splits)
        loss: Any = Logistic() if k == 1 else Softmax()
        for split in range(n_splits):
            part = block.take(block.vectors["tested"][:, split] > 0)
            weight = part.weighted(part.vectors["tested"][:, split].astype(xp.float64))
            score = part.dot(self.coef[:, split].reshape(-1, d).T) + self.intercept[:, split].ravel()
            for position in range(n_Cs):
                own = one_or_all(score[:, position * k : (position + 1) * k])
                sums[split, position] = weight @ loss.value(part.y[:, 0], own)
            totals[split] = weight.sum()
        return sums, totals


def _log_loss_scores(design: Design, coef: Array, intercept: Array) -> Array:
    """Negative mean log loss of every split's test rows, of shape (splits, Cs)."""
    sums, totals = design.fold(_LogLosses(coef, intercept))
    return np.asarray(-sums / totals[:, None])
