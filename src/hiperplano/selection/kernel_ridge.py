"""Kernel ridge regression whose penalty is chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score

from hiperplano.data import Design, validate
from hiperplano.data.design import Array
from hiperplano.data.in_memory import InMemory
from hiperplano.data.parameters import check_number
from hiperplano.errors import InvalidData, InvalidParameter
from hiperplano.models.base import all_or_nothing
from hiperplano.models.kernel.ridge import KernelLeastSquares
from hiperplano.selection.ridge import at_the_border
from hiperplano.selection.ridge_search import Choice, GivenNumbers
from hiperplano.selection.routing import Routed, of_rows, route, routing_of
from hiperplano.selection.scoring import Scorer
from hiperplano.selection.splits import row_splits
from hiperplano.solvers.kernel.ridge.choice import solve_ridge
from hiperplano.solvers.kernel.ridge.feature_path import leave_one_out_in_features, predict_folds_in_features
from hiperplano.solvers.kernel.ridge.folds.fits import fit_folds
from hiperplano.solvers.kernel.ridge.leave_one_out import leave_one_out_residuals
from hiperplano.solvers.kernel.ridge.problem import RidgeProblem
from hiperplano.solvers.statistics import count_rows


class KernelRidgeCV(KernelLeastSquares):
    """Kernel ridge regression with the penalty chosen from `alphas`.

    The Gram matrix is computed once. With folds, their systems are solved together: all penalties of a fold share one
    Krylov space, or several share a factorisation. Leave-one-out is exact, from one tridiagonal reduction or
    eigendecomposition for all penalties. A linear kernel, or a polynomial one on few columns, needs no Gram matrix: all
    penalties share a decomposition of its features.

    Parameters
    ----------
    alphas : array-like of float, default=(0.1, 1.0, 10.0)
        Penalties to try, each more than 0.
    kernel : str, callable or Kernel, default="linear"
        As in `KernelRidge`.
    gamma : float, "scale", "auto" or None, default=None
        Parameter of named kernels, as in `KernelRidge`.
    degree : float, default=3
        Degree of the kernel "poly".
    coef0 : float, default=1.0
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Further arguments for a kernel that is a function.
    fit_intercept : bool, default=False
        Whether to fit an intercept, which is not penalised.
    scoring : str or callable, optional
        Any of scikit-learn's scorers, larger is better. By default R², or for leave-one-out the negative mean squared
        error.
    cv : int, splitter, iterable of (train, test) or None, default=5
        None is leave-one-out, which suits up to some thousand rows; or any number of them, if the kernel is linear, or
        polynomial on few columns.
    solver : {"auto", "cholesky", "conjugate", "nystroem"}, default="auto"
        Solver of the final fit, as in `KernelRidge`.
    n_components : int, optional
        Centres of the final fit, for "nystroem".
    tol : float, default=1e-8
        Relative residual of the final fit.
    max_iter : int, optional
        Most steps of conjugate gradients in the final fit.
    random_state : int, RandomState or None, default=0
        Seed of the pivots of the final fit's preconditioner, and of centres.

    Attributes
    ----------
    alpha_ : float
        The penalty with the best score.
    best_score_ : float
        Its score.
    scores_ : ndarray of shape (alphas,)
        The score of every penalty.
    dual_coef_, intercept_, X_fit_, kernel_, solution_, n_iter_, n_features_in_, feature_names_in_
        As in `KernelRidge`, for the fit to all rows with the chosen penalty.

    Notes
    -----
    Sample weights count in scores as in fits: a test row of weight 2 is two test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from hiperplano import KernelRidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(80, 1))
    >>> y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=80)
    >>> KernelRidgeCV(alphas=[1e-4, 1e-2, 1, 100], kernel="rbf", gamma=1.0).fit(X, y).alpha_
    1.0
    """

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        kernel: Any = "linear",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Any = None,
        fit_intercept: bool = False,
        scoring: Any = None,
        cv: Any = 5,
        solver: str = "auto",
        n_components: int | None = None,
        tol: float = 1e-8,
        max_iter: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.solver = solver
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty, and fit all rows with it.

        Parameters
        ----------
        X : array-like, CSR matrix or table of shape (n, d), or Design
            Rows; the Gram matrix, of shape (n, n), if it is precomputed.
        y : array-like of shape (n,) or (n, targets)
            Not with a design, which contains its own.
        sample_weight : array-like of shape (n,), optional
            A weight of 2 counts a row twice; rows of weight 0 are left out.
        **params
            `groups` for the splitter; with metadata routing, what the splitter and the scorer ask for.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        return self._fit(X, y, sample_weight, params)

    @all_or_nothing
    def _fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        alphas, control = self._checked_alphas(), self._control()
        design = self._in_memory(validate(self, X, y, sample_weight))
        rows = self._rows_of(design)
        if design.n_rows < 2:
            raise InvalidData(
                "{model}: n_samples=1; a row must be predicted by others. Give two rows or more.",
                model=type(self).__name__,
            )
        _, targets, weight = design.arrays()
        problem = self._problem(rows, targets, weight, np.full(design.n_targets, alphas.max()))
        penalties, routed, fits = alphas / problem.unit, route(self, sample_weight, params), None
        if self.cv is None:
            scores = self._leave_one_out(problem, penalties, design, routed)
        else:
            given = targets if isinstance(X, Design) else y
            splits = row_splits(self, design, count_rows(X), given, routed.split)
            predicted = predict_folds_in_features(problem, penalties, splits)
            if predicted is None:
                fits = fit_folds(problem, penalties, [train for train, _ in splits], self.solver)
                predicted = [each[test] for each, (_, test) in zip(fits.predicted, splits, strict=True)]
            scores = self._mean_scores(predicted, splits, design, routed)
        best = int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))
        if fits is None:
            solution = solve_ridge(replace(problem, alpha=np.full(design.n_targets, penalties[best])), **control)
        else:
            solution = fits.solve_all_rows(penalties, best, **control)
        self._publish(problem, solution, design.one_target)
        border = at_the_border(Choice(alphas, alphas[best : best + 1], None))
        self.solution_ = replace(self.solution_, status=self.solution_.status + border)
        self.alpha_, self.best_score_, self.scores_ = float(alphas[best]), float(scores[best]), scores
        return self

    def _checked_alphas(self) -> Array:
        name, given = type(self).__name__, np.ravel(self.alphas).tolist()
        values = [
            check_number(name, f"alphas[{k}]", value, 0.0, np.inf, open_low=True) for k, value in enumerate(given)
        ]
        if not values:
            raise InvalidParameter(
                "{model}: alphas is empty; at least one penalty is needed. Pass one or more numbers.", model=name
            )
        return np.array(values)

    def get_metadata_routing(self) -> Any:
        """What is passed on to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
            Scikit-learn's routing object.
        """
        return routing_of(self)

    def _leave_one_out(self, problem: RidgeProblem, alphas: Array, design: InMemory, routed: Routed) -> Array:
        errors = leave_one_out_in_features(problem, alphas)
        if errors is None:
            errors = leave_one_out_residuals(problem, alphas, type(self).__name__)
        if self.scoring is None:
            return np.asarray(-np.average(np.square(errors), axis=0, weights=problem.gram.weight).mean(axis=0))
        return self._scores(problem.y[:, :, None] - errors, design, np.arange(design.n_rows), routed)

    def _mean_scores(self, predicted: list[Array], splits: Any, design: InMemory, routed: Routed) -> Array:
        """Mean scores over the folds, from predictions of their test rows."""
        pairs = zip(predicted, splits, strict=True)
        return np.asarray(np.mean([self._scores(values, design, test, routed) for values, (_, test) in pairs], 0))

    def _scores(self, predicted: Array, design: InMemory, rows: Array, routed: Routed) -> Array:
        """Score of predictions, of shape (rows, targets, alphas), for each penalty."""
        _, y, weight = design.arrays()
        extra = routed.score
        if extra is not None:
            extra = {name: of_rows(value, design.row_numbers()[rows]) for name, value in extra.items()}
        weight, each = None if weight is None else weight[rows], range(predicted.shape[2])
        if self.scoring is None and extra is None:  # R² of all penalties in one call
            targets, given = np.repeat(y[rows], len(each), axis=1), predicted.reshape(len(rows), -1)
            with np.errstate(over="ignore", invalid="ignore"):  # errors too large to be squared are infinite
                found = r2_score(targets, given, sample_weight=weight, multioutput="raw_values")
            found = np.broadcast_to(found, targets.shape[1])  # a single row has one NaN for all
            return np.asarray(found.reshape(-1, len(each)).mean(axis=0))
        scorer = Scorer(self.scoring or "r2", weight, extra=extra)
        shape = (slice(None), 0) if design.one_target else (slice(None),)
        return np.array([scorer(GivenNumbers(), predicted[..., a][shape], y[rows][shape]) for a in each])
