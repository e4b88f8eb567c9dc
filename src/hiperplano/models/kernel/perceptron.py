"""The kernel perceptron."""

from __future__ import annotations

from typing import Any, Self

from hiperplano.data.design import Array
from hiperplano.data.parameters import number
from hiperplano.errors import InvalidParameter
from hiperplano.losses import scalar
from hiperplano.models.online.kernel import KernelLearning
from hiperplano.solvers.online import rules as at


class KernelPerceptron(KernelLearning):
    """The perceptron on features of a kernel: for each mistake, y·f(x) ≤ 0, add eta0·y·(k(x, ·) + 1) to f.

    f(x) = Σᵢ αᵢ·(k(xᵢ, x) + 1), where αᵢ counts the mistakes made at row i, times y·eta0; the 1, which is the
    intercept, only if it is fitted. It is `Perceptron` on φ(x), mistake for mistake, without φ being known. (With
    `shuffle`, the order of the rows is that of the features if the kernel is `Linear` or a `FeatureMap`.) The scores of
    all rows are kept, so a visit costs nothing and a mistake one row of the Gram matrix. More than two classes have one
    function each, against the rest.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A name as in scikit-learn ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed"), a kernel of
        `hiperplano.kernels`, a function of two arrays of rows to a matrix, or of two rows to a number.
    gamma : float, "scale" or "auto", default="scale"
        Of named kernels: 1/(columns·variance of the numbers), 1/columns, or a number. The variance counts rows by their
        weights; in `partial_fit` it is that of the first chunk.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    eta0 : float, default=1.0
        Amount that a mistake adds to α, positive. It only scales f.
    fit_intercept : bool, default=True
        Whether a mistake moves the intercept, too.
    max_iter : int, default=1000
        Most passes over the rows; a pass without a mistake ends the fit sooner.
    tol : float or None, default=1e-3
        The fit also ends when the mean of max(0, −y·score) in a pass has not fallen by `tol` for `n_iter_no_change`
        passes; with `average` as in `Perceptron`. None: go on until a pass makes no mistake.
    n_iter_no_change : int, default=5
        Passes without improvement by `tol` after which the fit ends.
    shuffle : bool, default=True
        Visit the rows of each pass in another order.
    random_state : int, RandomState or None, default=0
        Seed or generator of the order in which rows are visited.
    average : bool or int, default=False
        Predict with the mean of f over all steps, or from that step on.
    budget : int or None, default=None
        Most support vectors of each function. For a new one that row is left out whose part α·(φ(x), 1) is the
        shortest, and of several the oldest. Not with `average`, whose mean has all of them.
    class_weight : dict, "balanced" or None, default=None
        Class weights multiply the amount that a mistake adds.
    cache_size : float, default=200
        Megabytes for rows of the Gram matrix that are kept.
    warm_start : bool, default=False
        Let `fit` start from the function of the last fit.
    verbose : int, default=0
        Print the mean loss of each pass.

    Attributes
    ----------
    support_ : ndarray of int of shape (support vectors,)
        Numbers of the rows with an α that is not 0; −1 for rows of earlier chunks or fits.
    support_vectors_ : ndarray or CSR array of shape (support vectors, d)
        The rows themselves; empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (planes, support vectors)
        Their α, or its mean.
    coef_ : ndarray of shape (planes, d)
        Coefficients, for a linear kernel only.
    intercept_ : ndarray of shape (planes,)
        Intercepts.
    classes_ : ndarray
        Labels of the classes, sorted.
    kernel_ : Kernel
        The kernel with its numbers.
    solution_ : KernelOnlineSolution
        How the fit ended: `status`, `passes`, `mistakes`, `clean`, `mistakes_by_pass`, `n_support`, `kernel`.
    n_iter_ : int
        Passes; of the class that took most.
    t_ : float
        Number of the next step.
    n_features_in_, feature_names_in_
        Columns seen in `fit`.

    See Also
    --------
    hiperplano.Perceptron : The same with the linear kernel, for any number of rows.
    hiperplano.replay : Every step of a fit.

    Examples
    --------
    Exclusive or, which no plane separates:

    >>> from hiperplano import KernelPerceptron
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, tol=None).fit(X, y)
    >>> model.predict(X)
    array([0, 0, 1, 1])
    >>> model.solution_.clean
    True
    """

    _METHOD = "kernel perceptron"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        eta0: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
        average: bool | int = False,
        budget: int | None = None,
        class_weight: Any = None,
        cache_size: float = 200,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average
        self.budget = budget
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from all rows, in as many passes as it takes.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d)
            Rows to learn from, in memory; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,)
            Labels of any kind.
        sample_weight : array-like of shape (n,), optional
            A row of weight w is visited w times in a pass, as w equal rows would be; see `Perceptron`.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return self._fit(X, y, None, None, sample_weight)

    def _rule(self) -> Array:
        if self.kernel is None:
            raise InvalidParameter("KernelPerceptron: kernel=None; it needs a kernel. Set one, or use Perceptron.")
        rule = self._plain_rule()
        rule[at.LOSS] = scalar.PERCEPTRON
        rule[at.ETA] = number(self, "eta0", low=0.0, open_low=True)
        self._check_kernel(rule)
        return rule
