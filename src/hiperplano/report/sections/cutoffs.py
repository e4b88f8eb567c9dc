"""The confusion table at a cut-off, with a slider over cut-offs and costs that can be changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.decision.costs import best_cutoff, odds_cutoff
from hiperplano.language.catalogue import words
from hiperplano.metrics.costs import constant_costs
from hiperplano.metrics.ranking import ConfusionCurve, confusion_at
from hiperplano.report.blocks import Block, Cell, Cutoffs, Notice, Table, Words
from hiperplano.report.figures import Number, count, decimal, measure, share
from hiperplano.report.subject import Subject

_ = words("report")

_PLACES = 100  # of the slider, by share of rows; as many again by value
_DIGITS = 4  # of a cut-off on the slider, so that the number shown is the number used


@dataclass(frozen=True)
class Choice:
    """A cut-off, and why that one. `costs` is C[decided, true] with the positive class last."""

    cutoff: float
    reason: str
    costs: Array


def choose(subject: Subject) -> Choice:
    """By the costs if they are given, else as the model itself decides."""
    sample = subject.validation
    chances = sample.probabilities is not None
    if subject.costs is not None:
        costs = _positive_last(subject.costs, sample.positive)
        return _by_costs(subject, costs)
    decider = subject.anatomy.decider
    costs = _positive_last(np.asarray(getattr(decider, "costs_", 1.0 - np.eye(2)))[:2], sample.positive)
    own = 0.5 if chances else 0.0
    if hasattr(decider, "cutoff_"):
        return _tuned(subject, float(decider.cutoff_), costs)
    if hasattr(decider, "costs_") and chances and len(decider.costs_) == 2:
        odds = odds_cutoff(costs)
        return Choice(odds / (1 + odds), _("the cut-off of Bayes' rule for the costs of the model"), costs)
    # A tie goes to the first class: where that is the positive one, the cut-off itself counts as above.
    own = own if sample.positive == 1 else float(np.nextafter(own, -np.inf))
    return Choice(own, _("the model's own cut-off"), costs)


def _by_costs(subject: Subject, costs: Array) -> Choice:
    if subject.validation.probabilities is not None:
        odds = odds_cutoff(costs)
        return Choice(odds / (1 + odds), _("the cut-off of Bayes' rule for the given costs"), costs)
    rows = subject.made_on
    by_decision = constant_costs(rows.is_positive.astype(np.intp), costs)
    cutoff, _cost = best_cutoff(rows.score, by_decision[:, 0], by_decision[:, 1])
    where = _("training") if subject.training is not None else _("validation")
    cutoff = float(np.clip(cutoff, rows.score.min() - 1.0, rows.score.max() + 1.0))
    return Choice(cutoff, _("the cut-off that costs least on the {sample} rows", sample=where), costs)


def _tuned(subject: Subject, cutoff: float, costs: Array) -> Choice:
    """A cut-off tuned on scores, as a probability where these are shown: through the nearest validation rows."""
    sample, decider = subject.validation, subject.anatomy.decider
    reason = _("the cut-off that the model tuned on out-of-fold scores")
    if sample.probabilities is None:
        return Choice(cutoff if sample.positive == 1 else -cutoff, reason, costs)
    decided = np.asarray(decider.predict(sample.coded) == decider.classes_[sample.positive])
    edges = sample.score[decided].min(initial=np.inf), sample.score[~decided].max(initial=-np.inf)
    middle = float(np.clip(edges[0], 0, 1) / 2 + np.clip(edges[1], 0, 1) / 2)
    return Choice(middle, reason, costs)


def _positive_last(costs: Array, positive: int) -> Array:
    return costs if positive == 1 else costs[::-1, ::-1]


def cutoff_block(subject: Subject, choice: Choice) -> list[Block]:
    """The interactive table; it says the same without a script, at the chosen cut-off."""
    sample = subject.validation
    cuts = _slider(sample.score, choice.cutoff, sample.probabilities is not None)
    curve = confusion_at(sample.is_positive, sample.score, np.append(cuts, choice.cutoff))
    start = int(np.abs(cuts - choice.cutoff).argmin())
    # The chosen cut-off stands on the page unrounded; the slider's place nearest to it takes its counts.
    for values in (curve.tn, curve.fp, curve.fn, curve.tp):
        values[start] = values[-1]
    data = {
        "cutoffs": cuts.tolist(),
        **{name: getattr(curve, name)[:-1].tolist() for name in ("tn", "fp", "fn", "tp")},
        "right": [float(choice.costs[0, 0]), float(choice.costs[1, 1])],
    }
    wrong = float(choice.costs[1, 0]), float(choice.costs[0, 1])
    told = _(
        "A row is decided {positive} if its score is above {cutoff}: {reason}.",
        positive=subject.positive,
        cutoff=decimal(choice.cutoff, _DIGITS).text,
        reason=choice.reason,
    )
    blocks: list[Block] = [Words(told)]
    if subject.costs is None and hasattr(subject.anatomy.decider, "reject_label") and _rejects(subject):
        blocks.append(Notice(_("The model may also leave a row undecided; the table decides every row.")))
    table = _confusion(subject, curve, start)
    rates = _rates(curve, start, choice.costs, sample.n)
    return [*blocks, Cutoffs(subject.positive, subject.negative, table, rates, wrong, data, start)]


def _rejects(subject: Subject) -> bool:
    decider = subject.anatomy.decider
    return len(decider.costs_) > len(decider.classes_)


def _slider(score: Array, chosen: float, chances: bool) -> Array:
    """Round numbers: evenly by share of rows and evenly by value, and the chosen one."""
    low, high = (0.0, 1.0) if chances else (float(score.min()), float(score.max()))
    quantiles = np.quantile(score, np.linspace(0, 1, _PLACES + 1))
    step = 10.0 ** (np.floor(np.log10(max(high - low, 1e-300))) - _DIGITS + 1)
    every = np.round(np.concatenate([quantiles, np.linspace(low, high, _PLACES + 1)]) / step)
    every = np.unique(np.append(every, np.round(chosen / step)))
    return np.asarray([float(f"{value * step:.12g}") for value in every.tolist()])


def _confusion(subject: Subject, curve: ConfusionCurve, at: int) -> Table:
    tn, fp, fn, tp = (int(values[at]) for values in (curve.tn, curve.fp, curve.fn, curve.tp))
    headings = [
        _("Truly"),
        _("Decided {label}", label=subject.negative),
        _("Decided {label}", label=subject.positive),
        _("Rows"),
    ]
    rows: list[list[Cell]] = [
        [subject.negative, count(tn), count(fp), count(tn + fp)],
        [subject.positive, count(fn), count(tp), count(fn + tp)],
    ]
    return Table(_("Confusion table of the validation rows"), headings, rows, name="confusion")


def _rates(curve: ConfusionCurve, at: int, costs: Array, n: int) -> list[tuple[str, str, Number]]:
    tn, fp, fn, tp = (float(values[at]) for values in (curve.tn, curve.fp, curve.fn, curve.tp))
    total = tn * costs[0, 0] + fp * costs[1, 0] + fn * costs[0, 1] + tp * costs[1, 1]
    found: list[tuple[str, str, Any]] = [
        ("accuracy", _("Accuracy"), share((tn + tp) / n)),
        ("recall", _("Positives found (recall)"), share(_over(tp, tp + fn))),
        ("fallout", _("False positive rate"), share(_over(fp, fp + tn))),
        ("precision", _("Precision"), share(_over(tp, tp + fp))),
        ("total", _("Total cost"), measure(total)),
    ]
    return found


def _over(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
