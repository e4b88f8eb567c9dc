"""Kernel support vector classification."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hiperplano.data import validate
from hiperplano.data.cluster.calls import by_rows
from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.labels import class_totals, class_weights, encode_labels
from hiperplano.data.parameters import flag, number, one_of
from hiperplano.decision.platt import couple, fit_sigmoids, pair_probabilities
from hiperplano.decision.votes import votes
from hiperplano.errors import InvalidParameter, InvalidTarget
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.support import SupportVectorModel, row_count, weights_of
from hiperplano.solvers.kernel.svm.pairs.problems import ClassPairs
from hiperplano.solvers.kernel.svm.pairs.solve import solve_pairs


def _has_probabilities(model: Any) -> bool:
    if getattr(model, "probability", False) is not True:
        raise AttributeError("probabilities need probability=True; KernelLogisticRegression has them by itself")
    return True


class SVC(ClassifierMixin, SupportVectorModel):
    """A support vector machine with a kernel: minimise ½‖f‖² + C·Σᵢ wᵢ·max(0, 1 − yᵢ·(f(xᵢ) + b)).

    f lies in the span of the kernel functions of the rows, and only support vectors, rows on or beyond their margin,
    enter it. More than two classes are decided by the votes of one machine for each pair. The solver moves two
    dual variables at a time in working sets whose Gram matrix is held, and solves for all free ones at once where that
    is faster; kernel values that are kept take `cache_size` megabytes at most. With a linear kernel, or a polynomial
    one on few columns, and at least four rows for each of its features, it solves for the plane in these features.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, more than 0; `np.inf` allows none, so that rows must be separable in the kernel's space.
    kernel : str, callable or Kernel, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "laplacian", "precomputed", …, a kernel of `hiperplano.kernels`, or a
        function of two arrays of rows.
    degree : int, default=3
        Degree of "poly".
    gamma : float, "scale" or "auto", default="scale"
        Of "rbf", "poly", "sigmoid" and "laplacian": 1/(columns·variance of the numbers), 1/columns, or a number.
        The variance counts rows by their weights.
    coef0 : float, default=0.0
        Constant term of "poly" and "sigmoid".
    shrinking : bool, default=True
        No effect: working sets replace shrinking.
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
        Output of `decision_function` for more than two classes: a score for each class, or one for each pair.
    break_ties : bool, default=False
        Decide ties between votes by the scores, as `decision_function` with "ovr" does, at the same cost.
    probability : bool, default="deprecated"
        True gives `predict_proba`: Platt's sigmoids of the scores that five folds give rows they leave out, coupled by
        the method of Wu, Lin and Weng. It costs five more fits; see the notes. "deprecated" means False.
    random_state : int, RandomState or None, default=None
        Seed of the folds for `probability`; everything else is deterministic.
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
    probA_, probB_ : ndarray of shape (pairs,)
        With `probability`: the first class of a pair has the probability 1/(1 + exp(probA·f + probB)) among the two,
        where f is the score that is positive for it. Otherwise empty.
    shape_fit_ : tuple of int
        Shape of the rows of the fit.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    Notes
    -----
    A score is not a probability, and the probabilities of `probability=True` may contradict `predict`; scikit-learn
    will remove this option. `KernelLogisticRegression` maximises the likelihood of its probabilities, and
    `sklearn.calibration.CalibratedClassifierCV` calibrates any model.

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
        C, control = number(self, "C", low=0.0, open_low=True, infinite=True), self._control()
        one_of(self, "decision_function_shape", ("ovr", "ovo"))
        flag(self, "break_ties")
        probable = self._wants_probabilities()
        design = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False))
        n_given = row_count(X)
        self.classes_, codes = encode_labels(design)
        codes = design.collect(codes)
        bound = C * self._class_weights(design, codes)[codes] * weights_of(design)
        # Sorted by class: the order of the support vectors, and pairs of classes are close together.
        order = np.argsort(codes, kind="stable")
        rows, numbers = self._square(design, n_given, order), design.row_numbers()[order]
        codes, bound = codes[order], bound[order]
        weight = weights_of(design)
        self.kernel_ = self._settled_kernel(self._square(design, n_given), weight if design.has_weight else None)
        positive, negative = np.ascontiguousarray(np.transpose(class_pairs(len(self.classes_))))
        last = self._last_weights(n_given, len(positive))
        start = None if last is None else last[numbers]
        machines = solve_pairs(ClassPairs(codes, positive, negative, bound, start), self.kernel_, rows, control)
        self._publish_machines(design, n_given, machines, control, order)
        code_of = np.zeros(n_given, dtype=np.intp)
        code_of[numbers] = codes
        self._publish_classes(code_of[self.support_], machines.steps)
        self.probA_ = self.probB_ = np.empty(0)
        if probable:
            self._fit_sigmoids(rows, codes, bound, weight[order])
        return self

    def _wants_probabilities(self) -> bool:
        return self.probability != "deprecated" and flag(self, "probability")

    def _fit_sigmoids(self, rows: Any, codes: Array, bound: Array, weight: Array) -> None:
        """Fit sigmoids for probabilities from out-of-fold scores; `bound` is that of all pairs, or of each."""
        random = check_random_state(self.random_state)
        self.probA_, self.probB_ = fit_sigmoids(self.kernel_, rows, codes, bound, weight, self._control(), random)

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

    def _publish_classes(self, codes: Array, steps: Array) -> None:
        """Set the attributes that depend on classes; `codes` are those of the support vectors, in increasing order."""
        k = len(self.classes_)
        self.n_support_ = np.bincount(codes, minlength=k).astype(np.int32)
        self.n_iter_ = steps.astype(np.int32)
        if k == 2:
            return
        shown = np.zeros((k - 1, len(codes)))
        borders = np.searchsorted(codes, np.arange(k + 1)).tolist()
        of = [slice(*ends) for ends in pairwise(borders)]
        for column, (i, j) in enumerate(combinations(range(k), 2)):  # a row for each class other than their own
            shown[j - 1, of[i]] = self._weights_[of[i], column]
            shown[i, of[j]] = self._weights_[of[j], column]
        self.dual_coef_ = self._as_rows_are(shown)

    @by_rows
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

    @by_rows
    def predict(self, X: Any) -> Array:
        """The class with the most votes; ties go to the first class, or with `break_ties` to the largest score.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to decide; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n,)
            The predicted labels.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidParameter(
                "{model}: break_ties=True with decision_function_shape='ovo'; ties are broken by the scores of "
                "classes, so break_ties must be False or the shape 'ovr'. Set one of them.",
                model=type(self).__name__,
            )
        scores = self._scores(X)
        return decide(scores, self.classes_, bool(self.break_ties))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, with `probability=True`.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n, classes)
            Probabilities, in the order of `classes_`; the largest need not be that of the predicted class.
        """
        check_is_fitted(self)
        if not len(self.probA_):
            raise NotFittedError(
                Message(
                    "predict_proba is not available when fitted with probability=False. Set probability=True, and fit."
                )
            )
        n_classes, scores = len(self.classes_), self._scores(X)
        first = pair_probabilities(-scores if n_classes == 2 else scores, self.probA_, self.probB_)
        return np.hstack([first, 1.0 - first]) if n_classes == 2 else couple(first, n_classes)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities, with `probability=True`.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to predict; k of each with the rows of the fit if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (n, classes)
            Logarithms of probabilities, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):  # a probability of 0 has the logarithm −∞
            return np.log(self.predict_proba(X))


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """The positive and the negative class of each machine, in scikit-learn's order and with its signs."""
    return [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))


def shown_scores(scores: Array, n_classes: int, shape: str) -> Array:
    """The output of `decision_function` for the scores of all machines."""
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
    """Votes plus confidences scaled to ±⅓, so that these only order classes with equal votes."""
    sums = np.zeros((len(scores), n_classes))
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        sums[:, i] += scores[:, column]
        sums[:, j] -= scores[:, column]
    return np.asarray(votes(-scores).counts + sums / (3.0 * (np.abs(sums) + 1.0)))
