"""The confusion matrix at a cut-off, with a slider over cut-offs and costs that can be changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier

from hiperplano.data.design import Array
from hiperplano.decision.costs import best_cutoff, odds_cutoff
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.costs import constant_costs
from hiperplano.metrics.ranking import ConfusionCurve
from hiperplano.report.blocks import Block, Cell, Cutoffs, Notice, Paragraph, Table
from hiperplano.report.number_format import Number, amount, decimal, percent, significant
from hiperplano.report.sample import Sample
from hiperplano.report.subject import Subject

_ = translator("report")

_PLACES = 100  # positions of the slider by share of rows; as many by value
_DIGITS = 4  # decimals of a cut-off on the slider, in units of the scores' range


@dataclass(frozen=True)
class CutoffChoice:
    """A cut-off, and the reason for it. `costs` is C[decided, true] with the positive class last."""

    cutoff: float
    reason: str
    costs: Array

    def decide(self, sample: Sample) -> Array:
        """Numbers of the predicted classes."""
        return np.where(sample.score > self.cutoff, sample.positive, 1 - sample.positive)


def choose_cutoff(subject: Subject) -> CutoffChoice:
    """By costs if they are given, else the model's own cut-off."""
    sample = subject.validation
    has_probabilities = sample.probabilities is not None
    if subject.costs is not None:
        return _by_costs(subject, _positive_last(subject.costs, sample.positive))
    final_step = subject.parts.final_step
    costs = _positive_last(np.asarray(getattr(final_step, "costs_", 1.0 - np.eye(2)))[:2], sample.positive)
    if isinstance(final_step, FixedThresholdClassifier):
        return CutoffChoice(float(final_step.threshold), _("the cut-off that was asked for"), costs)
    if hasattr(final_step, "cutoff_"):
        return _tuned(subject, float(final_step.cutoff_), costs)
    if hasattr(final_step, "costs_"):
        return _by_costs(subject, costs)
    own = 0.5 if has_probabilities else 0.0
    # Ties go to the first class: if that is the positive one, the cut-off itself counts as above.
    own = own if sample.positive == 1 else float(np.nextafter(own, -np.inf))
    return CutoffChoice(own, _("the model's own cut-off"), costs)


def _by_costs(subject: Subject, costs: Array) -> CutoffChoice:
    if subject.validation.probabilities is not None and costs[1, 0] > costs[0, 0] and costs[0, 1] > costs[1, 1]:
        odds = odds_cutoff(costs)
        return CutoffChoice(odds / (1 + odds), _("the cut-off of Bayes' rule for the given costs"), costs)
    rows = subject.fitted_on
    by_decision = constant_costs(rows.is_positive.astype(np.intp), costs)
    if rows.weight is not None:
        by_decision = by_decision * rows.weight[:, None]
    cutoff, _cost = best_cutoff(rows.score, by_decision[:, 0], by_decision[:, 1])
    where = _("training") if subject.training is not None else _("validation")
    cutoff = float(np.clip(cutoff, rows.score.min() - 1.0, rows.score.max() + 1.0))
    return CutoffChoice(cutoff, _("the cut-off that costs least on the {sample} rows", sample=where), costs)


def _tuned(subject: Subject, cutoff: float, costs: Array) -> CutoffChoice:
    """A cut-off tuned on scores.

    If probabilities are shown, it is converted to one from the nearest validation rows.
    """
    sample, final_step = subject.validation, subject.parts.final_step
    reason = _("the cut-off that the model tuned on out-of-fold scores")
    if sample.probabilities is None:
        cutoff = float(
            np.clip(cutoff if sample.positive == 1 else -cutoff, sample.score.min() - 1, sample.score.max() + 1)
        )
        return CutoffChoice(cutoff, reason, costs)
    decided = np.asarray(final_step.predict(sample.transformed) == final_step.classes_[sample.positive])
    edges = sample.score[decided].min(initial=np.inf), sample.score[~decided].max(initial=-np.inf)
    middle = float(np.clip(edges[0], 0, 1) / 2 + np.clip(edges[1], 0, 1) / 2)
    return CutoffChoice(middle, reason, costs)


def _positive_last(costs: Array, positive: int) -> Array:
    return costs if positive == 1 else costs[::-1, ::-1]


def cutoff_block(subject: Subject, choice: CutoffChoice) -> list[Block]:
    """The interactive table; without a script it shows the selected cut-off."""
    sample = subject.validation
    cuts = _slider(sample.score, choice.cutoff, sample.probabilities is not None)
    curve = sample.confusion(cuts)
    start = int(np.flatnonzero(cuts == choice.cutoff)[0])
    data = {
        "cutoffs": cuts.tolist(),
        **{name: getattr(curve, name).tolist() for name in ("tn", "fp", "fn", "tp")},
        "right": [float(choice.costs[0, 0]), float(choice.costs[1, 1])],
    }
    wrong = float(choice.costs[1, 0]), float(choice.costs[0, 1])
    sentence = _(
        "A row is decided {positive} if its score is above {cutoff}: {reason}.",
        positive=subject.positive,
        cutoff=decimal(choice.cutoff, _DIGITS).text,
        reason=choice.reason,
    )
    blocks: list[Block] = [Paragraph(sentence)]
    if subject.costs is None and hasattr(subject.parts.final_step, "reject_label") and _rejects(subject):
        blocks.append(Notice(_("The model may also leave a row undecided; the table decides every row.")))
    table = _confusion(subject, curve, start)
    rates = _rates(curve, start, choice.costs, sample.total)
    return [
        *blocks,
        Cutoffs(subject.positive, subject.negative, table, rates, wrong, data, start, significant(choice.cutoff)),
    ]


def _rejects(subject: Subject) -> bool:
    final_step = subject.parts.final_step
    return len(final_step.costs_) > len(final_step.classes_)


def _slider(score: Array, chosen: float, has_probabilities: bool) -> Array:
    """Cut-offs at round numbers, evenly by share of rows and by value, and the selected one."""
    low, high = (0.0, 1.0) if has_probabilities else (float(score.min()), float(score.max()))
    if not low < high:
        return np.array([chosen])
    quantiles = np.quantile(score, np.linspace(0, 1, _PLACES + 1))
    step = 10.0 ** (np.floor(np.log10(high - low)) - _DIGITS)
    every = np.round(np.concatenate([quantiles, np.linspace(low, high, _PLACES + 1)]) / step)
    rounded = [float(f"{value * step:.12g}") for value in np.unique(every).tolist()]
    apart = [value for value in rounded if abs(value - chosen) > step / 2]
    return np.asarray(sorted([*apart, chosen]))


def _confusion(subject: Subject, curve: ConfusionCurve, at: int) -> Table:
    tn, fp, fn, tp = (float(values[at]) for values in (curve.tn, curve.fp, curve.fn, curve.tp))
    headings = [
        _("Actual"),
        _("Predicted {label}", label=subject.negative),
        _("Predicted {label}", label=subject.positive),
        _("Rows"),
    ]
    rows: list[list[Cell]] = [
        [subject.negative, amount(tn), amount(fp), amount(tn + fp)],
        [subject.positive, amount(fn), amount(tp), amount(fn + tp)],
    ]
    return Table(_("Confusion matrix of the validation rows"), headings, rows, name="confusion")


def _rates(curve: ConfusionCurve, at: int, costs: Array, n: float) -> list[tuple[str, str, Number]]:
    tn, fp, fn, tp = (float(values[at]) for values in (curve.tn, curve.fp, curve.fn, curve.tp))
    total = tn * costs[0, 0] + fp * costs[1, 0] + fn * costs[0, 1] + tp * costs[1, 1]
    found: list[tuple[str, str, Any]] = [
        ("accuracy", _("Accuracy"), percent((tn + tp) / n)),
        ("recall", _("Positives found (recall)"), percent(_over(tp, tp + fn))),
        ("fallout", _("False positive rate"), percent(_over(fp, fp + tn))),
        ("precision", _("Precision"), percent(_over(tp, tp + fp))),
        ("total", _("Total cost"), significant(total)),
    ]
    return found


def _over(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
