"""Rows → a fitted model: split, encode, fit."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano.cli.workflow.model_registry import CLASSIFICATION, ModelChoice, find_model
from hiperplano.data.design import Array
from hiperplano.errors import InvalidData
from hiperplano.features.coding import Coding
from hiperplano.features.target import Target
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.selection.cost_sensitive import CostSensitiveClassifier

_ = translator("terminal")

_FIRTH_CELLS = 1e5  # beyond, the profiles that its intervals need take longer than anybody waits


@dataclass(frozen=True)
class FittedModel:
    """A model with what stands before it.

    Attributes
    ----------
    model : estimator
        The last step: it decides.
    seconds : float
        Of the fit alone.
    """

    choice: ModelChoice
    scaler: Any
    model: Any
    seconds: float

    @property
    def linear(self) -> Any:
        """What has coefficients."""
        return getattr(self.model, "estimator_", self.model)

    def scaled(self, coded: Array) -> Array:
        """Coded rows as the model takes them."""
        return coded if self.scaler is None else np.asarray(self.scaler.transform(coded))

    def pipeline(self, coding: Coding) -> Pipeline:
        """All steps, fitted."""
        steps = [("coding", coding)]
        if self.scaler is not None:
            steps.append(("scale", self.scaler))
        return Pipeline([*steps, ("model", self.model)])


def train_validation_split(target: Target, share: float, seed: int) -> tuple[Array, Array]:
    """Numbers of the rows for training and for validation, in their order; classes keep their shares.

    Parameters
    ----------
    share : float
        Of the rows, for validation.
    """
    n = len(target.values)
    if n < 4:
        raise InvalidData(_("there are {n} rows; to fit and to validate, 4 or more are needed. Give more rows.", n=n))
    groups = [np.arange(n)]
    if target.task == CLASSIFICATION:
        groups = [np.flatnonzero(target.codes == k) for k in range(len(target.classes))]
        rarest = min(range(len(groups)), key=lambda k: len(groups[k]))
        if len(groups[rarest]) < 2:
            raise InvalidData(
                _(
                    "the target {name!r} holds {label!r} in one row only; to fit and to validate, every class needs "
                    "two "
                    "rows. Leave that row out, or add more.",
                    name=target.name,
                    label=target.classes[rarest],
                )
            )
    rng = np.random.default_rng(seed)
    validation = np.zeros(n, dtype=bool)
    for rows in groups:
        count = min(max(1, round(share * len(rows))), len(rows) - 1)
        validation[rng.permutation(rows)[:count]] = True
    return np.flatnonzero(~validation), np.flatnonzero(validation)


def fit_model(choice: ModelChoice, coded: Array, y: Array, seed: int, costs: Array | None = None) -> FittedModel:
    """Fit one model.

    Parameters
    ----------
    costs : ndarray, optional
        Of decisions: the model is then wrapped in `CostSensitiveClassifier`.
    """
    scaler = StandardScaler().fit(coded) if choice.scaled else None
    rows = coded if scaler is None else scaler.transform(coded)
    model = choice.make(seed)
    if costs is not None:
        threshold = "bayes" if hasattr(model, "predict_proba") else "tuned"
        model = CostSensitiveClassifier(model, costs=costs, threshold=threshold)
    start = perf_counter()
    model.fit(rows, y)
    return FittedModel(choice, scaler, model, perf_counter() - start)


def fit_auto(
    task: str, n_classes: int, coded: Array, y: Array, seed: int, costs: Array | None = None
) -> tuple[FittedModel, str]:
    """The default model, or where it has no finite solution the next one that has; with a note.

    Returns
    -------
    fitted : FittedModel
    note : str
        Empty where the first model was kept.
    """
    if task != CLASSIFICATION:
        first = fit_model(find_model("least-squares", task, 0), coded, y, seed)
        if first.linear.solution_.rank == coded.shape[1]:
            return first, ""
        said = Message("columns are linearly dependent: ridge was used, which shares their weight among them")
        return fit_model(find_model("ridge", task, 0), coded, y, seed), said
    first = fit_model(find_model("logistic", task, n_classes), coded, y, seed, costs)
    solution = first.linear.solution_
    if solution.converged and not solution.unbounded:
        return first, ""
    # With a coefficient for every row Firth's gives each of them the probability 3/4: it says nothing of new ones.
    if n_classes == 2 and coded.size <= _FIRTH_CELLS and 2 * coded.shape[1] < len(coded):
        said = Message(
            "the classes are separated, so plain logistic regression has no finite solution: Firth's was used"
        )
        return fit_model(find_model("firth", task, n_classes), coded, y, seed, costs), said
    said = Message("plain logistic regression has no finite solution here: one with a penalty was used (logistic-l2)")
    return fit_model(find_model("logistic-l2", task, n_classes), coded, y, seed, costs), said
