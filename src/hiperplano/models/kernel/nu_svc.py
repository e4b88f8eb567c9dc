"""Kernel support vector classification with a share of support vectors instead of C."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from hiperplano.data import validate
from hiperplano.data.labels import encode_labels
from hiperplano.data.parameters import check_number, flag, one_of
from hiperplano.errors import InvalidParameter
from hiperplano.messages import Message
from hiperplano.models.base import all_or_nothing, warn_of_the_end
from hiperplano.models.kernel.support import row_count, weights_of
from hiperplano.models.kernel.svc import SVC, class_pairs
from hiperplano.solvers.kernel.svm.nu.machines import solve_nu_classes
from hiperplano.solvers.kernel.svm.pairs.problems import ClassPairs


class NuSVC(SVC):
    """A support vector machine whose share of margin errors is at most ν: `SVC` with the corresponding C.

    Minimise ½‖f‖² − ν·n·ρ + Σᵢ wᵢ·max(0, ρ − yᵢ·(f(xᵢ) + b)), and divide f and b by ρ. At most the share ν of the rows
    are inside their margin or beyond it, and at least this share are support vectors. It is `SVC` with C = 1/ρ.

    Parameters
    ----------
    nu : float, default=0.5
        The share; above 0, and for each pair of classes at most twice the share of the smaller one.
    probability : bool, default="deprecated"
        As in `SVC`: the folds fit the machines with C = 1/ρ that these are.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, random_state
        As in `SVC`. `tol` bounds the violation before f is divided by ρ, as in scikit-learn.
    decision_function_shape, break_ties
        As in `SVC`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, classes_, kernel_, n_iter_
        As in `SVC`.
    class_weight_ : ndarray of shape (classes,)
        Ones.
    fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`.
    probA_, probB_ : ndarray of shape (pairs,)
        As in `SVC`.
    solution_ : SupportVectorSolution
        How the fit ended: `status`, `gap`, `violation`, `objective`, `dual_objective`; objectives and gap are those of
        the `SVC` that it is.

    See Also
    --------
    hiperplano.SVC : The same machine with C given.

    Notes
    -----
    There is no `class_weight`, which scikit-learn takes and leaves without effect: both classes of a pair have the same
    sum of dual coefficients, whatever their weights. Rows count by `sample_weight` in the share.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import NuSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> inside = (X**2).sum(axis=1) < 1.4
    >>> model = NuSVC(nu=0.1).fit(X, inside)
    >>> model.predict([[0.0, 0.0], [2.0, 2.0]])
    array([ True, False])
    >>> signs = np.where(inside, 1, -1)
    >>> bool(np.mean(signs * model.decision_function(X) < 1 - 1e-3) <= 0.1 <= len(model.support_) / 200)
    True
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: float = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = 10_000_000,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

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
            Losses are multiplied by it, and rows count by it in the share; rows of weight 0 are left out.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        nu, control = check_number("NuSVC", "nu", self.nu, 0.0, 1.0, open_low=True), self._control()
        one_of(self, "decision_function_shape", ("ovr", "ovo"))
        flag(self, "break_ties")
        probable = self._wants_probabilities()
        design = self._in_memory(validate(self, X, y, sample_weight, numeric_target=False))
        n_given = row_count(X)
        self.classes_, coded = encode_labels(design)
        codes = design.collect(coded)
        self.class_weight_ = np.ones(len(self.classes_))
        order = np.argsort(codes, kind="stable")
        bound = weights_of(design)[order]
        rows, numbers, codes = self._square(design, n_given, order), design.row_numbers()[order], codes[order]
        weight = weights_of(design) if design.has_weight else None
        self.kernel_ = self._settled_kernel(self._square(design, n_given), weight)
        positive, negative = np.ascontiguousarray(np.transpose(class_pairs(len(self.classes_))))
        pairs = ClassPairs(codes, positive, negative, bound)
        self._check_share(nu, pairs)
        solved = solve_nu_classes(pairs, nu, self.kernel_, rows, control)
        self._publish_machines(design, n_given, solved.machines, control, order)
        if self.solution_.converged and not solved.clear.all():
            narrowest = int(solved.margin.argmin())
            self._warn_of_no_margin(float(solved.margin[narrowest]), float(solved.machines.violation[narrowest]))
        code_of = np.zeros(n_given, dtype=np.intp)
        code_of[numbers] = codes
        self._publish_classes(code_of[self.support_], solved.machines.steps)
        self.probA_ = self.probB_ = np.empty(0)
        if probable:
            limits = np.zeros((len(positive), len(codes)))
            for machine, margin in enumerate(np.where(solved.clear, solved.margin, 1.0)):
                own = pairs.rows(machine)
                limits[machine, own] = bound[own] / bound[own].mean() / margin
            self._fit_sigmoids(rows, codes, limits, bound)
        return self

    def _warn_of_no_margin(self, margin: float, violation: float) -> None:
        status = Message(
            "nu={nu:g} leaves no margin between two classes: ρ is {margin:.1e}, with a violation of {violation:.1e}. "
            "In the features of {kernel} no function has so few margin errors, or only one with C = 1/ρ, so scores "
            "mean little. Set a larger nu, another kernel, or a smaller tol if C may be that large.",
            nu=self.nu,
            margin=margin,
            violation=violation,
            kernel=str(self.kernel_),
        )
        self.solution_, self.fit_status_ = replace(self.solution_, converged=False, status=status), 1
        warn_of_the_end(self, self.solution_)

    def _check_share(self, nu: float, pairs: ClassPairs) -> None:
        """Raise an error if `nu` is infeasible because one of two classes is too small."""
        totals = np.bincount(pairs.codes, weights=pairs.bound)
        first, second = totals[pairs.positive], totals[pairs.negative]
        shares = np.minimum(first, second) / (first + second)
        worst = int(shares.argmin())
        if nu > 2.0 * shares[worst] * (1 + 1e-12):
            smaller = pairs.positive[worst] if first[worst] <= second[worst] else pairs.negative[worst]
            raise InvalidParameter(
                "NuSVC: nu={nu:g}; the specified nu is infeasible: class {label!r} has {share:.3g} of the rows of its "
                "pair, by weight, and either class has half of the margin errors, so nu can be at most {largest:.3g}. "
                "Set a smaller nu, or use SVC.",
                nu=nu,
                label=self.classes_.tolist()[smaller],
                share=float(shares[worst]),
                largest=2.0 * float(shares[worst]),
            )
