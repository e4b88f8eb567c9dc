"""Kernel support vector classification with C and gamma chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from hiperplano.data import validate
from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.labels import encode_labels
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.kernels import resolve_kernel
from hiperplano.kernels.width import gamma_for
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.support import row_count, weights_of
from hiperplano.models.kernel.svc import SVC, class_pairs, decide, shown_scores
from hiperplano.selection.scoring import Scorer
from hiperplano.selection.splits import row_splits
from hiperplano.solvers.kernel.svm.folds.scores import fold_scores

_WITH_GAMMA = ("rbf", "poly", "polynomial", "sigmoid", "laplacian")


class SVCCV(SVC):
    """`SVC` with C and gamma chosen by cross-validation.

    The Gram matrix is computed once for each gamma, for all folds and every C; each C starts from the solution for the
    previous C. Many rows with a linear kernel, or a polynomial one on few columns, need no Gram matrix. Then all rows
    are fitted with the best pair. The kernel is given by name, or as an object with fixed parameters; for kernels
    without gamma, only C is chosen.

    Parameters
    ----------
    Cs : int or array-like of float, default=5
        Values of C, or how many from 0.1 to 1,000.
    gammas : int or array-like of float, default=5
        Values of gamma, or how many from 1/100 to 100 times "scale".
    kernel, degree, coef0, shrinking, tol, cache_size, class_weight, verbose, max_iter
        As in `SVC`.
    decision_function_shape, break_ties
        As in `SVC`.
    cv : int, splitter, iterable of (train, test) or None, default=None
        None for 5 stratified folds.
    scoring : str, callable or None, default=None
        One of scikit-learn's scorers, larger is better; None for the accuracy.

    Attributes
    ----------
    C_, gamma_ : float
        The best pair; of equal scores, that with the smallest C, then the smallest gamma. `gamma_` is None for kernels
        without gamma.
    Cs_, gammas_ : ndarray
        Values that were tried.
    scores_ : ndarray of shape (folds, gammas, Cs)
        Scores on the test rows.
    best_score_ : float
        Mean score of the best pair.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, class_weight_, kernel_, solution_, n_iter_
        As in `SVC`, for the fit to all rows.
    fit_status_, shape_fit_, coef_
        As in `SVC`.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hiperplano import SVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVCCV(Cs=[1.0, 10.0], gammas=[0.1, 1.0], cv=3).fit(X, y)
    >>> model.C_, model.gamma_, model.scores_.shape
    (10.0, 0.1, (3, 2, 2))
    """

    def __init__(
        self,
        *,
        Cs: Any = 5,
        gammas: Any = 5,
        kernel: Any = "rbf",
        degree: float = 3,
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = 10_000_000,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        cv: Any = None,
        scoring: Any = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.cv = cv
        self.scoring = scoring

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose C and gamma, and fit all rows with them.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,)
            Labels of any kind; not given with a design.
        sample_weight : array-like of shape (n,), optional
            C is multiplied by it, row by row, and scores count rows by it; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        self.Cs_ = np.unique(self._grid("Cs", 1.0, np.logspace(-1, 3, self.Cs) if _is_count(self.Cs) else self.Cs))
        design = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False))
        n_given = row_count(X)
        labels = design.collect(design.vector("y"))[:, 0] if y is None else y
        splits = row_splits(self, design, n_given, labels, {})
        self.gammas_ = self._gammas(self._square(design, n_given), design)
        self.scores_ = self._search(design, n_given, splits)
        mean = self.scores_.mean(axis=0)
        best = min(np.argwhere(mean == mean.max()).tolist(), key=lambda place: (place[1], place[0]))
        self.best_score_, self.C_ = float(mean.max()), float(self.Cs_[best[1]])
        self.gamma_ = None if self.gammas_ is None else float(self.gammas_[best[0]])
        shared = {name: value for name, value in self.get_params(deep=False).items() if name in _SHARED}
        final = SVC(C=self.C_, gamma="scale" if self.gamma_ is None else self.gamma_, **shared)
        final.fit(X, y, sample_weight)
        for name, value in vars(final).items():
            if name.endswith("_") and name not in ("probA_", "probB_"):
                setattr(self, name, value)
        return self

    def _grid(self, name: str, unit: float, values: Any) -> Array:
        given = np.ravel(values).tolist()
        if not given:
            raise InvalidParameter(
                "{model}: {name} is empty; at least one value is needed. Pass some.",
                model=type(self).__name__,
                name=name,
            )
        return np.array(
            [
                unit * check_number(type(self).__name__, f"{name}[{k}]", value, 0.0, np.inf, open_low=True)
                for k, value in enumerate(given)
            ]
        )

    def _gammas(self, rows: Any, design: InMemory) -> Array | None:
        if not (isinstance(self.kernel, str) and self.kernel in _WITH_GAMMA):
            return None
        if not _is_count(self.gammas):
            return np.unique(self._grid("gammas", 1.0, self.gammas))
        scale = gamma_for("scale", rows, weights_of(design) if design.has_weight else None)
        return self._grid("gammas", scale, np.logspace(-2, 2, self.gammas))

    def _search(self, design: InMemory, n_given: int, splits: list[tuple[Array, Array]]) -> Array:
        """Scores of shape (folds, gammas, Cs)."""
        self.classes_, coded = encode_labels(design)
        codes = design.collect(coded)
        for fold, (train, _) in enumerate(splits):
            missing = np.setdiff1d(np.arange(len(self.classes_)), codes[train])
            if len(missing):
                raise InvalidTarget(
                    "fold {fold} trains on no row of class {label!r}; every fold needs all classes. Use stratified "
                    "folds, or fewer of them.",
                    fold=fold,
                    label=self.classes_.tolist()[missing[0]],
                )
        bound = self._class_weights(design, codes)[codes] * weights_of(design)
        pairs = class_pairs(len(self.classes_))
        machines = [((codes == i) | (codes == j), np.where(codes == i, 1.0, -1.0)) for i, j in pairs]
        rows, control = self._square(design, n_given), self._control()
        kernels = [
            resolve_kernel(
                self.kernel,
                rows,
                gamma="scale" if gamma is None else float(gamma),
                degree=self.degree,
                coef0=self.coef0,
                owner=type(self).__name__,
            )
            for gamma in ([None] if self.gammas_ is None else self.gammas_)
        ]
        found = fold_scores(kernels, rows, machines, bound, splits, self.Cs_, control)
        judged = [
            [self._judged(design, test, own) for (_, test), own in zip(splits, each, strict=True)] for each in found
        ]
        return np.array(judged).transpose(1, 0, 2)

    def _judged(self, design: InMemory, test: Array, scores: Array) -> list[float]:
        """Score of each C on the test rows of a fold, from the decision values."""
        x, y, weight = design.arrays()
        held = None if weight is None else weight[test]
        answers = [_Answers(self.classes_, each.T, bool(self.break_ties)) for each in scores]
        if self.scoring is None:  # without a scorer's checks, which take longer than the fits of small tables
            return [float(np.average(answer.predict(None) == y[test, 0], weights=held)) for answer in answers]
        scorer = Scorer(self.scoring, held)
        return [scorer(answer, x[test], y[test, 0]) for answer in answers]


_SHARED = (
    "kernel", "degree", "coef0", "shrinking", "tol", "cache_size", "class_weight", "verbose", "max_iter",
    "decision_function_shape", "break_ties",
)  # fmt: skip


class _Answers(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose decision values are known for the rows it will be asked about."""

    def __init__(self, classes: Array, scores: Array, break_ties: bool) -> None:
        self.classes_, self.scores, self.break_ties = classes, scores, break_ties

    def decision_function(self, X: Any) -> Array:
        return shown_scores(self.scores, len(self.classes_), "ovr")

    def predict(self, X: Any) -> Array:
        return decide(self.scores, self.classes_, self.break_ties)


def _is_count(values: Any) -> bool:
    return isinstance(values, int | np.integer) and not isinstance(values, bool) and int(values) >= 1
