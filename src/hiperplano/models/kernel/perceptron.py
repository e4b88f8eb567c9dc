"""The kernel perceptron."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.labels import encode_labels
from hiperplano.data.parameters import flag, number, whole
from hiperplano.data.threads import ordered_map
from hiperplano.data.validate import validate_rows
from hiperplano.kernels import KernelMatrix, Precomputed
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing, decided_classes, warn_of_the_end
from hiperplano.models.kernel.base import KernelModel
from hiperplano.solvers.kernel.online.mistakes import Counts, Passes, learn_counts
from hiperplano.solvers.kernel.svm.decomposition import SMALL
from hiperplano.solvers.kernel.svm.fit import dense_if_small, held_gram
from hiperplano.solvers.kernel.svm.gram_rows import CachedGram, HeldGram
from hiperplano.solvers.online.learner import RowArrays
from hiperplano.solvers.online.sampling_order import SamplingOrder
from hiperplano.solvers.solution import Solution


@dataclass(frozen=True, repr=False)
class CountsSolution(Solution):
    """How learning from mistakes ended.

    Attributes
    ----------
    coef, intercept : ndarray of shape (planes, support vectors) and (planes,)
    passes, mistakes : int
        Of the plane that took most passes; of all planes together.
    clean : bool
        Whether the last pass of every plane made no mistake.
    n_support : int
        Rows with a count.
    kernel : str
        The formula.
    mistakes_by_pass : tuple of tuple of int
        For each plane.
    """

    passes: int
    mistakes: int
    clean: bool
    n_support: int
    kernel: str
    mistakes_by_pass: tuple[tuple[int, ...], ...] = field(default=(), repr=False)


class KernelPerceptron(ClassifierMixin, KernelModel):
    """The perceptron on features of a kernel: for each mistake, y·f(x) ≤ 0, count the row once more in f.

    f(x) = Σᵢ αᵢ·yᵢ·(k(xᵢ, x) + 1), with αᵢ the mistakes made at row i; the 1, which is the intercept, only if it is
    fitted. With `Linear()` or a `FeatureMap` it makes the same mistakes as `Perceptron` on the features. The scores of
    all rows are kept, so a visit costs nothing and a mistake one row of the Gram matrix.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        As in `SVC`.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        Most passes over the rows; a pass without a mistake ends the fit sooner.
    tol : float or None, default=1e-3
        The fit also ends when the mean of max(0, −y·score) in a pass has not fallen by `tol` for `n_iter_no_change`
        passes. None: go on until a pass makes no mistake.
    n_iter_no_change : int, default=5
        Passes without improvement by `tol` after which the fit ends.
    shuffle : bool, default=True
        Visit the rows of each pass in another order.
    random_state : int, RandomState or None, default=0
        Seed or generator of the order in which rows are visited.
    average : bool, default=False
        Predict with the mean of the counts over all steps.
    budget : int or None, default=None
        Most support vectors; the row with the least count, and of several the oldest, is forgotten for a new one.
    cache_size : float, default=200
        Megabytes for rows of the Gram matrix that are kept.

    Attributes
    ----------
    support_ : ndarray of int of shape (support vectors,)
        Numbers of the rows with a count.
    support_vectors_ : ndarray or CSR array of shape (support vectors, d)
        The rows themselves; empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (planes, support vectors)
        α·y, or its mean.
    intercept_ : ndarray of shape (planes,)
        Intercepts.
    classes_ : ndarray
        Labels of the classes, sorted; more than two have one plane each, against the rest.
    history_ : list of ndarray of int
        For each plane, the rows of its mistakes in their order: what a replay needs.
    kernel_ : Kernel
        The kernel with its numbers.
    solution_ : CountsSolution
        How the fit ended: `status`, `passes`, `mistakes`, `clean`, `mistakes_by_pass`.
    n_iter_ : int
        Passes; of the class that took most.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Examples
    --------
    Exclusive or, which no plane separates:

    >>> from hiperplano import KernelPerceptron
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.solution_.clean
    True
    """

    kernel_params = None
    support_: Array
    support_vectors_: Any
    intercept_: Array

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
        average: bool = False,
        budget: int | None = None,
        cache_size: float = 200,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average
        self.budget = budget
        self.cache_size = cache_size

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows, pass by pass.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,)
            Labels of any kind; not given with a design.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        passes = Passes(
            max_iter=whole(self, "max_iter", low=1) or 1,
            tol=None if self.tol is None else number(self, "tol"),
            patience=whole(self, "n_iter_no_change", low=1) or 1,
            budget=whole(self, "budget", low=1, optional=True),
            fit_intercept=flag(self, "fit_intercept"),
        )
        average = flag(self, "average")
        design = self._in_memory(validate(self, X, y, numeric_target=False))
        self.classes_, coded = encode_labels(design)
        rows, codes = design.as_held(), design.collect(coded)
        self.kernel_ = self._settled_kernel(rows)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1)) if flag(self, "shuffle") else None
        order = SamplingOrder(RowArrays(*design.loop_arrays()), None, codes, seed)
        gram = self._gram(rows)
        planes = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        signs = [np.where(codes == plane, 1.0, -1.0) for plane in planes]
        learnt = ordered_map(lambda sign: learn_counts(sign, gram, order, passes), signs, 1)
        self._publish(rows, learnt, passes, average)
        return self

    def _gram(self, rows: Any) -> HeldGram | CachedGram:
        n_bytes = int(1e6 * number(self, "cache_size", low=0.0, open_low=True))
        if isinstance(self.kernel_, Precomputed) or rows.shape[0] <= SMALL:
            return held_gram(self.kernel_, rows)
        matrix = KernelMatrix(self.kernel_, dense_if_small(rows), dtype=np.float64)
        return CachedGram(matrix, matrix.diagonal, n_bytes)

    def _publish(self, rows: Any, learnt: list[Counts], passes: Passes, average: bool) -> None:
        counts = []
        for each in learnt:
            # After a pass without mistake all others would have none: the mean counts them too.
            whole_fit = passes.max_iter * rows.shape[0] if each.ended == "clean" and passes.tol is None else each.steps
            counts.append(each.averaged(whole_fit) if average else each.count)
        weights = np.stack(counts)
        self.support_ = np.flatnonzero(weights.any(axis=0))
        self.dual_coef_ = np.ascontiguousarray(weights[:, self.support_])
        self.intercept_ = weights.sum(axis=1) if passes.fit_intercept else np.zeros(len(weights))
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, Precomputed) else rows[self.support_]
        self.history_ = [np.array(each.history, dtype=np.intp) for each in learnt]
        self.n_iter_ = max(len(each.mistakes) for each in learnt)
        mistakes = sum(len(each.history) for each in learnt)
        unfinished = [each for each in learnt if each.ended == "max_iter"]
        converged = passes.tol is None or not unfinished
        self.solution_ = CountsSolution(
            coef=self.dual_coef_,
            intercept=self.intercept_,
            method=Message("kernel perceptron"),
            n_iter=self.n_iter_,
            objective=float("nan"),
            gap=float("nan"),
            converged=converged,
            status=_status(learnt, self.n_iter_, mistakes, len(self.support_)),
            passes=self.n_iter_,
            mistakes=mistakes,
            clean=all(each.ended == "clean" for each in learnt),
            n_support=len(self.support_),
            kernel=str(self.kernel_),
            mistakes_by_pass=tuple(tuple(each.mistakes) for each in learnt),
        )
        if not converged:
            warn_of_the_end(self, self.solution_)

    @by_rows
    def decision_function(self, X: Any) -> Array:
        """Scores: of shape (n,) for two classes, positive for the second; otherwise (n, classes).

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to decide; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            Scores.
        """
        check_is_fitted(self)
        rows = self._in_memory(validate_rows(self, X)).as_held()
        if isinstance(self.kernel_, Precomputed):
            sums = np.asarray(rows[:, self.support_] @ self.dual_coef_.T)
        else:
            matrix = KernelMatrix(self.kernel_, rows, dense_if_small(self.support_vectors_), dtype=np.float64)
            sums = matrix.dot(np.ascontiguousarray(self.dual_coef_.T))
        scores = sums + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @by_rows
    def predict(self, X: Any) -> Array:
        """The class with the largest score; a tie gives the first.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to decide; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,)
            The predicted labels.
        """
        which = decided_classes(self.decision_function(X))
        return np.asarray(self.classes_[which])


def _status(learnt: list[Counts], passes: int, mistakes: int, n_support: int) -> Message:
    fields = {"passes": passes, "mistakes": mistakes, "n_support": n_support}
    if all(each.ended == "clean" for each in learnt):
        return Message(
            "The last of {passes} passes made no mistake; {mistakes} mistakes before it left {n_support} support "
            "vectors.",
            **fields,
        )
    if any(each.ended == "max_iter" for each in learnt):
        return Message(
            "Made all of {passes} passes, with {mistakes} mistakes, also in the last, and {n_support} support vectors. "
            "Raise max_iter, or take average=True, whose counts do not depend on the last mistakes.",
            **fields,
        )
    return Message(
        "Stopped after {passes} passes, as no pass improved any more, with {mistakes} mistakes and {n_support} support "
        "vectors. A larger gamma or degree separates more; average=True depends less on the last mistakes.",
        **fields,
    )
