"""Conversion of a fitted model or pipeline to the formula of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hiperplano.errors import InvalidParameter, NotAvailable
from hiperplano.export.formula import (
    Cell,
    Decision,
    Formula,
    KernelScores,
    LinearScores,
    Number,
    QuadraticScores,
    Scores,
)
from hiperplano.export.reading.bins import scorecard_parts
from hiperplano.export.reading.steps import Columns, apply_step, takes_a_table
from hiperplano.features.table_columns import TableColumns
from hiperplano.models.base import LinearClassifier, LinearModel
from hiperplano.models.discriminant import LinearDiscriminantAnalysis
from hiperplano.models.kernel.base import KernelModel
from hiperplano.models.kernel.logistic import KernelLogisticRegression
from hiperplano.models.kernel.ridge import KernelLeastSquares
from hiperplano.models.kernel.svc import SVC
from hiperplano.models.kernel.svr import SVR
from hiperplano.models.least_squares import LeastSquares
from hiperplano.models.logistic_classifier import LogisticClassifier
from hiperplano.models.online.kernel import KernelLearning
from hiperplano.models.online.regressor import OnlineRegressor
from hiperplano.models.online.sgd import SGDClassifier
from hiperplano.models.quadratic import QuadraticDiscriminantAnalysis
from hiperplano.models.svm import LinearSVR
from hiperplano.scorecard.scorecard import Scorecard
from hiperplano.selection.cost_sensitive import CostSensitiveClassifier

_REGRESSORS = (LeastSquares, LinearSVR, OnlineRegressor)
"""Models whose predictions are their scores."""

ColumnNames = Sequence[str] | Mapping[str, str] | None


def formula_of(model: Any) -> Formula:
    """The formula that a fitted model computes for a row.

    Parameters
    ----------
    model : estimator
        A model of hiperplano, alone or at the end of a scikit-learn pipeline.
    """
    check_is_fitted(model)
    steps, last = ([step for _, step in model.steps[:-1]], model[-1]) if isinstance(model, Pipeline) else ([], model)
    steps = [step for step in steps if step is not None and step != "passthrough"]
    picked = steps.pop(0).names if steps and isinstance(steps[0], TableColumns) else None
    columns = _first_columns(steps[0] if steps else last, picked)
    cells = tuple(feature.cell for feature in columns.features if isinstance(feature, Number))
    for step in steps:
        columns = apply_step(step, columns)
    scores: Scores
    decision: Decision | None
    points = None
    if isinstance(last, Scorecard):
        _refuse_steps(steps)
        features, scores, decision, points = scorecard_parts(last)
        columns = Columns(features, tuple(last.variables_))
    else:
        scores, decision = _scores_and_decision(last)
    used = {cell.name: cell for cell in columns.cells()}
    as_array = not takes_a_table(steps[0] if steps else last)
    cells = tuple(used.get(cell.name, cell) for cell in cells)
    return Formula(cells, columns.features, columns.names, scores, decision, as_array, points)


def _refuse_steps(steps: list[Any]) -> None:
    if steps:
        raise NotAvailable(
            "a Scorecard after the step {step} cannot be exported: its bins must be those of the table's own columns. "
            "Fit the scorecard to the table itself.",
            step=type(steps[0]).__name__,
        )


def _first_columns(first: Any, picked: Sequence[str] | None) -> Columns:
    """The columns that a first step uses: those selected from a table, those of its fit, or x0, x1, …."""
    names = getattr(first, "feature_names_in_", None) if picked is None else picked
    if names is None:
        names = [f"x{number}" for number in range(first.n_features_in_)]
    return Columns(tuple(Number(Cell(str(name))) for name in names), tuple(map(str, names)))


def _scores_and_decision(model: Any) -> tuple[Scores, Decision | None]:
    if isinstance(model, CostSensitiveClassifier):
        scores, decision = _scores_and_decision(model.estimator_)
        return scores, _cost_sensitive(model, decision)
    if isinstance(model, QuadraticDiscriminantAnalysis):
        found = model.solution_.scores()
        return QuadraticScores(found.means, found.whitening, found.constant), Decision(
            _plain(model.classes_), "softmax"
        )
    if isinstance(model, KernelLearning) and hasattr(model, "kernel_"):
        return _support_scores(model), Decision(_plain(model.classes_))
    if isinstance(model, LinearClassifier):
        return _linear_scores(model), Decision(_plain(model.classes_), _link(model))
    if isinstance(model, _REGRESSORS):
        return _linear_scores(model), None
    if isinstance(model, KernelLeastSquares):
        return _kernel_scores(model), None
    if isinstance(model, KernelLogisticRegression):
        return _kernel_scores(model), Decision(_plain(model.classes_), "softmax")
    if isinstance(model, SVR):
        return _support_scores(model), None
    if isinstance(model, SVC) and len(model.classes_) == 2:
        return _support_scores(model), Decision(_plain(model.classes_))
    raise NotAvailable(
        "{model} cannot be exported: its predictions are not known as formulas of the columns. Export a linear model, "
        "a discriminant analysis or a scorecard of hiperplano, alone or at the end of a scikit-learn Pipeline.",
        model=type(model).__name__,
    )


def _linear_scores(model: LinearModel) -> LinearScores:
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    intercept = np.asarray(model.intercept_, dtype=np.float64)
    return LinearScores(coef, np.broadcast_to(intercept, len(coef)).copy())


def _kernel_scores(model: KernelModel) -> KernelScores:
    fitted = model.X_fit_.toarray() if hasattr(model.X_fit_, "toarray") else model.X_fit_
    coef = np.asarray(model.dual_coef_, dtype=np.float64)
    coef = coef[:, None] if coef.ndim == 1 else coef
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), coef.shape[1]).copy()
    return KernelScores(model.kernel_, np.asarray(fitted, dtype=np.float64), coef, intercept)


def _support_scores(model: Any) -> KernelScores:
    """Scores of machines that store some rows of the fit, with coefficients of shape (scores, stored rows)."""
    vectors, coef = (
        np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
        for part in (model.support_vectors_, model.dual_coef_)
    )
    return KernelScores(model.kernel_, vectors, coef.T, np.asarray(model.intercept_, float))


def _link(model: LinearClassifier) -> str | None:
    if isinstance(model, LogisticClassifier | LinearDiscriminantAnalysis):
        return "softmax"
    if isinstance(model, SGDClassifier) and hasattr(model, "predict_proba"):
        return "one-versus-rest"
    return None


def _cost_sensitive(model: CostSensitiveClassifier, inner: Decision | None) -> Decision:
    assert inner is not None  # the wrapped estimator is a classifier
    if model.threshold == "tuned":
        return Decision(inner.classes, inner.link, float(model.cutoff_))
    labels = _plain(model.classes_)
    if len(model.costs_) > len(labels):
        labels = [*labels, model.reject_label]
    return Decision(inner.classes, inner.link, costs=np.asarray(model.costs_, dtype=np.float64), labels=labels)


def _plain(classes: Any) -> list[Any]:
    """Labels as plain Python strings, numbers and booleans."""
    return list(np.asarray(classes).tolist())


def column_names(formula: Formula, columns: ColumnNames) -> dict[str, str]:
    """The name in the table for each column of the model.

    Parameters
    ----------
    columns : sequence or mapping of str, optional
        The names of all columns in their order, or new names by the model's.
    """
    names = [cell.name for cell in formula.cells]
    if columns is None:
        return dict(zip(names, names, strict=True))
    if isinstance(columns, Mapping):
        unknown = [name for name in columns if name not in names]
        if unknown:
            raise InvalidParameter(
                "columns names {unknown!r}, which the model does not know; it has {names}. Give new names by the "
                "model's own.",
                unknown=unknown[0],
                names=", ".join(map(repr, names[:8])),
            )
        found = {name: columns.get(name, name) for name in names}
    else:
        if isinstance(columns, str) or len(columns) != len(names):
            raise InvalidParameter(
                "columns has {n} names; the model takes {d} columns. Give a name for each, in the order of the fit.",
                n=1 if isinstance(columns, str) else len(columns),
                d=len(names),
            )
        found = dict(zip(names, columns, strict=True))
    if len(set(found.values())) < len(found):
        raise InvalidParameter("columns names a column of the table twice. Give each column a name of its own.")
    return found
