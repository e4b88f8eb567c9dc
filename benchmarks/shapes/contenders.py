"""Who fits a cell: our model as it comes, and every rival with its solvers at several tolerances; and who is right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from benchmarks.shapes.cells import Cell
from benchmarks.shapes.tables import Table
from benchmarks.workload import Array

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
PASSES = 5  # of the online learners
_WITH_TOL = frozenset({"ridge", "logistic", "logistic_cv", "svc_hinge", "svc_squared", "svr"})  # stop at a tolerance
_SMALL_SVD, _SMALL_HESSIAN, _SMALL_LINEAR = 2e7, 2000, 3e7


class Contender(NamedTuple):
    """A way to fit a cell.

    Attributes
    ----------
    name : str
        Library and solver.
    fit : callable, Table -> fitted model
    tolerances : tuple of float
        What `fit` takes as its second argument, the loosest first; empty if it takes none.
    """

    name: str
    fit: Callable[..., Any]
    tolerances: tuple[float, ...] = ()


def ours(cell: Cell) -> Contender:
    """Our model at its defaults; or, where it has one, at a given tolerance."""
    import hiperplano as hp

    C = cell.strength
    models: dict[str, Callable[[], Any]] = {
        "linear": hp.LinearRegression,
        "ridge": partial(hp.Ridge, alpha=C),
        "ridge_cv": partial(hp.RidgeCV, alphas=np.logspace(-3, 3, 10)),
        "logistic": partial(hp.LogisticRegression, C=C),
        "logistic_cv": partial(hp.LogisticRegressionCV, Cs=5, cv=3, use_legacy_attributes=False),
        "svc_hinge": partial(hp.LinearSVC, C=C, loss="hinge"),
        "svc_squared": partial(hp.LinearSVC, C=C),
        "svr": partial(hp.LinearSVR, C=C),
        "lda": hp.LinearDiscriminantAnalysis,
        "qda": partial(hp.QuadraticDiscriminantAnalysis, reg_param=0.01),
        "perceptron": partial(hp.Perceptron, max_iter=PASSES, tol=None),
        "sgd": partial(hp.SGDClassifier, alpha=1e-4, max_iter=PASSES, tol=None),
    }
    return Contender("hiperplano", partial(_fit, models[cell.model]), TOLERANCES if cell.model in _WITH_TOL else ())


def rivals(cell: Cell) -> list[Contender]:
    """Every solver of scikit-learn that takes the cell, the default one first; and glum's."""
    return [*_of_scikit_learn(cell), *_of_glum(cell)]


def _of_scikit_learn(cell: Cell) -> list[Contender]:
    from sklearn import discriminant_analysis as da
    from sklearn import linear_model as lm
    from sklearn import svm

    C, size = cell.strength, cell.n * cell.d * cell.density
    few = cell.d * max(1, cell.classes if cell.classes > 2 else 1) <= _SMALL_HESSIAN
    dense = cell.layout != "csr"
    if cell.model == "linear":
        return [_varied("lstsq" if dense else "lsqr", lm.LinearRegression)]
    if cell.model == "ridge":
        names = ["auto", "cholesky", "sparse_cg", "lsqr"] if dense else ["auto", "sparse_cg", "lsqr"]
        return [_varied(name, lm.Ridge, alpha=C, solver=name, max_iter=20_000) for name in names]
    if cell.model == "ridge_cv":
        return [_fixed("auto", lm.RidgeCV, alphas=np.logspace(-3, 3, 10))]
    if cell.model == "logistic":
        names = ["lbfgs", "newton-cg", *(["newton-cholesky"] if few and dense else [])]
        names += ["liblinear"] if cell.classes == 2 and np.isfinite(C) and size <= _SMALL_LINEAR else []
        return [_varied(name, lm.LogisticRegression, C=C, solver=name, max_iter=5_000) for name in names]
    if cell.model == "logistic_cv":
        chosen = {"Cs": 5, "cv": 3, "max_iter": 5_000, "l1_ratios": (0,), "use_legacy_attributes": False}
        chosen["scoring"] = "neg_log_loss"  # as ours, and theirs from 1.11 on
        return [_varied("lbfgs", lm.LogisticRegressionCV, **chosen)]
    if cell.model == "svc_hinge":
        return [_varied("dual", svm.LinearSVC, C=C, loss="hinge", dual=True, max_iter=50_000)]
    if cell.model == "svc_squared":
        duals = [True, False]
        return [_varied("dual" if dual else "primal", svm.LinearSVC, C=C, dual=dual, max_iter=50_000) for dual in duals]
    if cell.model == "svr":
        return [_varied("dual", svm.LinearSVR, C=C, max_iter=50_000)]
    if cell.model == "lda":
        return [_fixed(name, da.LinearDiscriminantAnalysis, solver=name) for name in ("svd", "lsqr", "eigen")]
    if cell.model == "qda":
        return [_fixed("svd", da.QuadraticDiscriminantAnalysis, reg_param=0.01)]
    if cell.model == "perceptron":
        return [_fixed("passes", lm.Perceptron, max_iter=PASSES, tol=None)]
    return [_fixed("passes", lm.SGDClassifier, alpha=1e-4, max_iter=PASSES, tol=None)]


def _of_glum(cell: Cell) -> list[Contender]:
    """Generalised linear models without an L1 penalty, of so many columns that their Hessian is no burden: least
    squares, and two classes. (skglm and celer are made for L1 penalties.)"""
    applies = cell.model in ("linear", "ridge", "logistic") and cell.classes <= 2 and cell.d <= _SMALL_HESSIAN
    if not applies or find_spec("glum") is None:
        return []
    return [Contender("glum irls-ls", partial(_fit_glum, cell), TOLERANCES)]


def _fit_glum(cell: Cell, table: Table, tol: float = 1e-4) -> Any:
    """glum divides losses by the sum of weights; it wants targets and weights in the precision of the rows, or ends."""
    from glum import GeneralizedLinearRegressor

    total = len(table.y) if table.weight is None else float(np.sum(table.weight))
    alpha = (1.0 / cell.strength if cell.model == "logistic" else cell.strength) / total
    family = "binomial" if cell.model == "logistic" else "normal"
    model = GeneralizedLinearRegressor(
        family=family, alpha=alpha, l1_ratio=0.0, solver="irls-ls", gradient_tol=tol, max_iter=5_000
    )
    kind = table.plain.dtype
    weight = None if table.weight is None else table.weight.astype(kind)
    return model.fit(table.plain, np.asarray(table.y, dtype=kind), sample_weight=weight)


def _fixed(name: str, kind: Any, **parameters: Any) -> Contender:
    return Contender(f"scikit-learn {name}", partial(_fit, partial(kind, **parameters)))


def _varied(name: str, kind: Any, **parameters: Any) -> Contender:
    return Contender(f"scikit-learn {name}", partial(_fit, partial(kind, **parameters)), TOLERANCES)


def _fit(make: Callable[..., Any], table: Table, tol: float | None = None) -> Any:
    model = make() if tol is None else make(tol=tol)
    weight = {} if table.weight is None else {"sample_weight": table.weight}
    return model.fit(table.X, table.y, **weight)


def objective(cell: Cell, table: Table, model: Any) -> float:
    """What a fit should have made small, by arithmetic that belongs to no library; NaN where there is no such thing."""
    if cell.model in ("perceptron", "sgd", "lda", "qda"):
        return 1.0 - float(np.mean(model.predict(table.X) == table.y))
    if cell.model == "ridge_cv":
        return float(np.mean(np.square(model.predict(table.X) - table.y)))
    if cell.model == "logistic_cv":
        return -float(np.max(np.mean(model.scores_, axis=0)))  # the folds' log loss with the chosen C
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    score = np.asarray(table.plain @ coef.T, dtype=np.float64) + np.asarray(model.intercept_, dtype=np.float64)
    weight = np.ones(len(table.y)) if table.weight is None else table.weight
    penalty = 0.5 * float(np.sum(coef**2))
    if cell.model in ("linear", "ridge"):
        return float(weight @ np.square(score[:, 0] - table.y)) + 2 * cell.strength * penalty
    total = float(weight @ _losses(cell, table, score))
    return total if np.isinf(cell.strength) else total * cell.strength + penalty


def _losses(cell: Cell, table: Table, score: Array) -> Array:
    if cell.model == "svr":
        return np.abs(score[:, 0] - table.y)
    if cell.model == "logistic":
        if score.shape[1] == 1:
            return np.logaddexp(0.0, -(2 * table.y - 1) * score[:, 0])
        return np.asarray(logsumexp(score, axis=1)) - score[np.arange(len(score)), table.y]
    own = table.y == 1 if score.shape[1] == 1 else table.y[:, None] == np.arange(score.shape[1])
    short = np.maximum(0.0, 1.0 - np.where(own.reshape(score.shape), 1.0, -1.0) * score)
    return np.asarray((short if cell.model == "svc_hinge" else short**2).sum(axis=1))


def is_as_good(cell: Cell, theirs: float, best: float) -> bool:
    """Whether a rival's objective reaches ours within 1e-6, or its errors within a twentieth of ours."""
    if not np.isfinite(theirs):
        return False
    if cell.model in ("perceptron", "sgd", "lda", "qda"):
        return theirs <= best * 1.05 + 0.005
    return theirs <= best + 1e-6 * max(abs(best), 1e-12)
