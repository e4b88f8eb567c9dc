"""Kernel support vector classification."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from hiperplano.data import validate
from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.labels import class_totals, class_weights, encode_labels
from hiperplano.data.parameters import flag, number, one_of
from hiperplano.decision.votes import votes
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.support import SupportVectorModel, row_count, weights_of
from hiperplano.solvers.kernel.svm.dual_problem import DualProblem
from hiperplano.solvers.kernel.svm.pairs import solve_pairs


class SVC(ClassifierMixin, SupportVectorModel):
    """A support vector machine with a kernel: minimise ½‖f‖² + C·Σᵢ wᵢ·max(0, 1 − yᵢ·(f(xᵢ) + b)).

    f lies in the span of the kernel functions of the rows, and only support vectors, rows on or beyond their margin,
    enter it. More than two classes are decided by the votes of one machine for each pair. The solver moves two
    dual variables at a time in working sets whose Gram matrix is held, and solves for all free ones at once where that
    is faster; kernel values that are kept take `cache_size` megabytes at most.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, more than 0.
    kernel : str, callable or Kernel, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed", …, a kernel of `hiperplano.kernels`, or a
        function of two arrays of rows.
    degree : int, default=3
        Of "poly".
    gamma : float, "scale" or "auto", default="scale"
        Of "rbf", "poly", "sigmoid" and "laplacian": 1/(columns·variance of the numbers), 1/columns, or a number.
        The variance counts rows by their weights.
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    shrinking : bool, default=True
        As in scikit-learn; without effect, because working sets leave out what shrinking would.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, as in scikit-learn.
    cache_size : float, default=200
        Megabytes for kernel values that are kept.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, times C; "balanced" gives each class the same total.
    verbose : bool, default=False
        Print a line for each working set.
    max_iter : int, default=10_000_000
        Most steps of each machine, as a guard against problems that cannot be solved; -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` gives for more than two classes: a score for each class, or one for each pair.
    break_ties : bool, default=False
        Decide ties between votes by the scores, as `decision_function` with "ovr" does, at the same cost.
    probability : "deprecated", False
        For code written for scikit-learn, which deprecates it; True is refused, see the notes.
    random_state : None or int, default=None
        For code written for scikit-learn; without effect, because nothing is random.
    warm_start : bool, default=False
        Start from the dual coefficients of the last fit, if it had the same rows and classes.

    Attributes
    ----------
    support_ : ndarray of int of shape (support vectors,)
        Numbers of the support vectors among the rows, class by class.
    support_vectors_ : ndarray or CSR array of shape (support vectors, d)
        The rows themselves; empty if the kernel is precomputed.
    n_support_ : ndarray of int of shape (classes,)
        Support vectors of each class.
    dual_coef_ : ndarray of shape (classes − 1, support vectors)
        Dual coefficients, in scikit-learn's layout.
    coef_ : ndarray of shape (pairs, d)
        Coefficients, for a linear kernel only.
    intercept_ : ndarray of shape (pairs,)
        Intercepts of the machines.
    classes_ : ndarray
        Labels of the classes, sorted.
    class_weight_ : ndarray of shape (classes,)
        Weights of the classes.
    kernel_ : Kernel
        The kernel with its numbers.
    solution_ : SupportVectorSolution
        How the fit ended: `status`, `gap`, `violation`, `objective`, `dual_objective`.
    n_iter_ : ndarray of int of shape (pairs,)
        Steps of each machine.
    fit_status_ : int
        0 if the fit converged.
    shape_fit_ : tuple of int
        Shape of the rows of the fit.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Notes
    -----
    A score is not a probability. Use `KernelLogisticRegression`, or `sklearn.calibration.CalibratedClassifierCV` around
    the model.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import SVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> inside = (X**2).sum(axis=1) < 1.4
    >>> model = SVC(C=10.0).fit(X, inside)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array([ True, False])
    >>> model.solution_.converged, print(model.kernel_)
    exp(−0.504933·‖x − x′‖²)
    (True, None)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = 10_000_000,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        probability: Any = "deprecated",
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.probability = probability
        self.random_state = random_state
        self.warm_start = warm_start

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit one machine for each pair of classes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,)
            Labels of any kind; not given with a design.
        sample_weight : array-like of shape (n,), optional
            C is multiplied by it, row by row; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        C, control = number(self, "C", low=0.0, open_low=True), self._control()
        self._check_decision()
        design = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False))
        n_given = row_count(X)
        self.classes_, codes = encode_labels(design)
        codes = design.collect(codes)
        bound = C * self._class_weights(design, codes)[codes] * weights_of(design)
        order = np.argsort(codes, kind="stable")  # class by class: so support vectors are listed, and pairs lie close
        rows, numbers = self._square(design, n_given, order), design.row_numbers()[order]
        codes, bound = codes[order], bound[order]
        self.kernel_ = self._settled_kernel(rows, weights_of(design)[order] if design.has_weight else None)
        pairs = class_pairs(len(self.classes_))
        members = [np.flatnonzero((codes == i) | (codes == j)) for i, j in pairs]
        problems = [
            DualProblem.classification(np.where(codes[own] == plus, 1.0, -1.0), bound[own])
            for own, (plus, _) in zip(members, pairs, strict=True)
        ]
        last = self._last_weights(n_given, len(pairs))
        if last is not None:
            problems = [
                each.started(last[numbers[own], k]) for k, (each, own) in enumerate(zip(problems, members, strict=True))
            ]
        found = solve_pairs(problems, members, self.kernel_, rows, control)
        self._publish(rows, numbers, n_given, problems, found, members)
        code_of = np.zeros(n_given, dtype=np.intp)
        code_of[numbers] = codes
        self._publish_classes(code_of[self.support_], [each.steps for each in found])
        return self

    def _check_decision(self) -> None:
        """Refuse parameters of decisions that do not go together."""
        shape = one_of(self, "decision_function_shape", ("ovr", "ovo"))
        if flag(self, "break_ties") and shape == "ovo":
            raise InvalidParameter(
                "{model}: break_ties=True with decision_function_shape='ovo'; ties are broken by the scores of "
                "classes. Set decision_function_shape='ovr'.",
                model=type(self).__name__,
            )
        if self.probability is True:
            raise InvalidParameter(
                "{model}: probability=True; the scores of a support vector machine are no probabilities, and "
                "scikit-learn deprecates this parameter. Use KernelLogisticRegression, or "
                "sklearn.calibration.CalibratedClassifierCV around the model.",
                model=type(self).__name__,
            )

    def _class_weights(self, design: InMemory, codes: Array) -> Array:
        totals = class_totals(design, codes, len(self.classes_))
        self.class_weight_ = class_weights(self.class_weight, self.classes_, totals)
        if not self.class_weight_.all():
            raise InvalidTarget(
                "class_weight gives 0 to class {label!r}, so that one class is missing; each class needs a positive "
                "weight. Leave those rows out, or correct class_weight.",
                label=self.classes_.tolist()[int(self.class_weight_.argmin())],
            )
        return self.class_weight_

    def _publish_classes(self, codes: Array, steps: list[int]) -> None:
        """What depends on classes: `codes` are those of the support vectors."""
        k = len(self.classes_)
        self.n_support_ = np.bincount(codes, minlength=k).astype(np.int32)
        self.n_iter_ = np.array(steps, dtype=np.int32)
        if k == 2:
            return
        self.dual_coef_ = np.zeros((k - 1, len(codes)))
        for column, (i, j) in enumerate(combinations(range(k), 2)):  # a row for each class that is not their own
            self.dual_coef_[j - 1, codes == i] = self._weights_[codes == i, column]
            self.dual_coef_[i, codes == j] = self._weights_[codes == j, column]

    def decision_function(self, X: Any) -> Array:
        """Scores: of shape (n,) for two classes, positive for the second.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to decide; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,), (n, classes) or (n, pairs)
            For more than two classes, by `decision_function_shape`: votes, with scores that only decide between equal
            numbers of them; or the scores of pairs (0, 1), (0, 2), …, positive for the first class of the pair.
        """
        return shown_scores(self._scores(X), len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> Array:
        """The class with most votes; ties give the first, or with `break_ties` the largest score.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to decide; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,)
            The predicted labels.
        """
        scores = self._scores(X)
        return decide(scores, self.classes_, bool(self.break_ties))


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """The positive and the negative class of each machine: scikit-learn's order and signs."""
    return [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))


def shown_scores(scores: Array, n_classes: int, shape: str) -> Array:
    """What `decision_function` gives for the scores of all machines."""
    if n_classes == 2:
        return np.asarray(scores[:, 0])
    return scores if shape == "ovo" else _class_scores(scores, n_classes)


def decide(scores: Array, classes: Array, break_ties: bool) -> Array:
    """Labels from the scores of all machines."""
    if len(classes) == 2:
        return np.asarray(classes[(scores[:, 0] > 0).astype(int)])
    decided = _class_scores(scores, len(classes)) if break_ties else votes(-scores).counts
    return np.asarray(classes[decided.argmax(axis=1)])


def _class_scores(scores: Array, n_classes: int) -> Array:
    """Votes plus confidences squeezed into ±⅓, so that they only order classes with as many votes."""
    sums = np.zeros((len(scores), n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        sums[:, i] += scores[:, column]
        sums[:, j] -= scores[:, column]
    return np.asarray(votes(-scores).counts + sums / (3.0 * (np.abs(sums) + 1.0)))
