"""From rows to a fitted model: split, coding, fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from hiperplano.cli.workflow.model_registry import CLASSIFICATION, ModelChoice, find_model
from hiperplano.data.design import Array
from hiperplano.errors import ConvergenceWarning, InvalidData, InvalidParameter, SeparationWarning
from hiperplano.features.coding import Coding
from hiperplano.features.target import Target
from hiperplano.messages import Message
from hiperplano.messages.catalogue import translator
from hiperplano.selection.cost_sensitive import CostSensitiveClassifier

_ = translator("terminal")

_FIRTH_CELLS = 1e5  # above this size, the profiles for the intervals of Firth's method take too long


@dataclass(frozen=True)
class Wishes:
    """Options of a fit.

    Attributes
    ----------
    costs : ndarray or None
        Costs of decisions; the model is then wrapped in `CostSensitiveClassifier`.
    strength : dict of str to float
        C or alpha.
    class_weight : dict, "balanced" or None
    cutoff : float or None
        Probability above which the positive class is predicted.
    positive : label or None
    """

    costs: Array | None = None
    strength: dict[str, float] = field(default_factory=dict)
    class_weight: Any = None
    cutoff: float | None = None
    positive: Any = None


@dataclass(frozen=True)
class FittedModel:
    """A model with its preprocessing.

    Attributes
    ----------
    model : estimator
        The last step, which predicts.
    seconds : float
        Duration of the fit alone.
    """

    choice: ModelChoice
    scaler: Any
    model: Any
    seconds: float

    @property
    def linear(self) -> Any:
        """The estimator with coefficients."""
        return getattr(self.model, "estimator_", getattr(self.model, "regressor_", self.model))

    def scaled(self, coded: Any) -> Any:
        """Coded rows, scaled as the model needs them."""
        return coded if self.scaler is None else self.scaler.transform(coded)

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
        Share of the rows for validation.
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


def fit_model(
    choice: ModelChoice, coded: Any, y: Array, seed: int, wishes: Wishes | None = None, weight: Array | None = None
) -> FittedModel:
    """Fit one model to a frame of coded rows."""
    wishes = wishes or Wishes()
    scaler = StandardScaler().set_output(transform="pandas").fit(coded) if choice.scaled else None
    rows = coded if scaler is None else scaler.transform(coded)
    model = _wrapped(_as_wished(choice, choice.make(seed), wishes), choice, wishes)
    start = perf_counter()
    model.fit(rows, y, **({} if weight is None else {"sample_weight": weight}))
    return FittedModel(choice, scaler, model, perf_counter() - start)


def _as_wished(choice: ModelChoice, model: Any, wishes: Wishes) -> Any:
    """The model with the requested parameters; an error if it does not have them."""
    unknown = [name for name in wishes.strength if name != choice.strength]
    if unknown:
        raise InvalidParameter(
            _("--{option}: the model {name} has no such parameter. Leave it out.", option=unknown[0], name=choice.name)
        )
    if wishes.class_weight is None:
        return model.set_params(**wishes.strength)
    if "class_weight" not in model.get_params():
        raise InvalidParameter(_("--class-weight: the model {name} takes no weights of classes.", name=choice.name))
    return model.set_params(**wishes.strength, class_weight=wishes.class_weight)


def _wrapped(model: Any, choice: ModelChoice, wishes: Wishes) -> Any:
    """The model, wrapped if its decisions or its target are changed."""
    if choice.scaled_target:
        return TransformedTargetRegressor(model, transformer=StandardScaler())
    if wishes.costs is not None:
        threshold = "bayes" if hasattr(model, "predict_proba") else "tuned"
        return CostSensitiveClassifier(model, costs=wishes.costs, threshold=threshold)
    if wishes.cutoff is None:
        return model
    if not hasattr(model, "predict_proba"):
        raise InvalidParameter(_("--cutoff is a probability; the model {name} gives none.", name=choice.name))
    return FixedThresholdClassifier(
        model, threshold=wishes.cutoff, pos_label=wishes.positive, response_method="predict_proba"
    )


def fit_auto(
    task: str,
    n_classes: int,
    coded: Any,
    y: Array,
    seed: int,
    wishes: Wishes | None = None,
    weight: Array | None = None,
) -> tuple[FittedModel, str]:
    """The default model or, if it has no finite solution, the next one that has; with a note.

    Returns
    -------
    fitted : FittedModel
    note : str
        Empty if the first model was kept.
    """

    def fit(name: str) -> FittedModel:
        return fit_model(find_model(name, task, n_classes), coded, y, seed, wishes, weight)

    wished = wishes.strength if wishes is not None else {}
    if task != CLASSIFICATION:
        first = fit("ridge" if "alpha" in wished else "least-squares")
        if first.choice.name == "ridge" or first.linear.solution_.rank == coded.shape[1]:
            return first, ""
        return fit("ridge"), Message(
            "columns are linearly dependent: ridge was used, which shares their weight among them"
        )
    if "C" in wished:
        return fit("logistic-l2"), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)  # warnings of a model that is not kept are irrelevant
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = fit("logistic")
    solution = first.linear.solution_
    if solution.converged and not solution.unbounded:
        return first, ""
    # With a coefficient for every row Firth's gives each of them the probability 3/4: it says nothing of new ones.
    if n_classes == 2 and coded.size <= _FIRTH_CELLS and 2 * coded.shape[1] < len(coded) and weight is None:
        return fit("firth"), Message(
            "the classes are (partly) separated, so plain logistic regression did not converge: Firth's was used "
            "(--model firth)"
        )
    return fit("logistic-l2"), Message(
        "the classes are (partly) separated, so plain logistic regression did not converge: one with a penalty was "
        "used (--model logistic-l2)"
    )
