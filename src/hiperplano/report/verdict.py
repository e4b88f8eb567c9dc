"""The verdict in plain words: discrimination, overfitting, calibration, stability, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.costs import class_numbers, realised_costs
from hiperplano.report.metrics import accuracy
from hiperplano.report.number_format import decimal, percent, significant
from hiperplano.report.sample import Sample
from hiperplano.report.sections.cutoffs import choose_cutoff
from hiperplano.report.sections.stability import score_shift
from hiperplano.report.subject import Subject

_ = translator("report")

_Z = 1.959964
_LITTLE = 0.1  # share of the variance below which single predictions are hardly better than the mean
_SLIGHT = 0.02  # differences of an AUC, an accuracy or an R² up to this do not matter
_MOVED, _CHANGED = 0.1, 0.25  # the usual thresholds of the stability index


@dataclass(frozen=True)
class Judgement:
    """One aspect of a model.

    Attributes
    ----------
    aspect : str
        The aspect, in the current language.
    tone : str
        "good", "bad" or "plain".
    text : str
    key : str
        The aspect, for programs.
    """

    key: str
    aspect: str
    tone: str
    text: str


def verdict(subject: Subject) -> list[Judgement]:
    """The judgements that a reader should see first."""
    judged = [_discrimination(subject), _overfitting(subject), _calibration(subject)]
    if subject.costs is not None:
        judged.insert(0, _costs(subject))
    found = [*judged, *_stability(subject)]
    return [*found, Judgement("next", _("What to do next"), "plain", _next_step(subject, found))]


def weighting_sentence(name: str) -> str:
    """A sentence on what is weighted, and what is not."""
    return _("Measures are weighted by {name}; columns are described row by row.", name=name)


def _judgement(key: str, tone: str, text: str) -> Judgement:
    aspects = {
        "cost": _("Cost"),
        "discrimination": _("Discrimination"),
        "accuracy": _("Accuracy"),
        "overfitting": _("Overfitting"),
        "calibration": _("Calibration"),
        "stability": _("Stability"),
    }
    return Judgement(key, aspects[key], tone, text)


def _costs(subject: Subject) -> Judgement:
    """Mean cost of the decisions, compared with a constant decision."""
    cost, constant = _decision_costs(subject)
    best = int(np.argmin(constant))
    if subject.task == "two classes":
        accept = 1 - subject.validation.positive
        text = _(
            "A row costs {cost} on average; deciding {label} for everybody would cost {other}.",
            cost=significant(cost).text,
            label=subject.classes[accept],
            other=significant(constant[accept]).text,
        )
    else:
        text = _("A row costs {cost} on average.", cost=significant(cost).text)
    text += " " + _(
        "The cheapest single decision, {label}, costs {other}.",
        label=subject.classes[best],
        other=significant(constant[best]).text,
    )
    return _judgement("cost", "good" if cost < constant[best] else "bad", text)


def _decision_costs(subject: Subject) -> tuple[float, list[float]]:
    """Mean costs over the rows of the model's decisions, and of each constant decision."""
    sample = subject.validation
    assert sample.classes is not None
    assert subject.costs is not None
    decided = (
        choose_cutoff(subject).decide(sample)
        if subject.task == "two classes"
        else class_numbers(sample.predicted, sample.classes)
    )
    constant = [np.full(sample.n, k) for k in range(len(sample.classes))]
    cost, *others = (sample.mean(realised_costs(sample.codes, each, subject.costs)) for each in (decided, *constant))
    return cost, others


def mean_costs(subject: Subject) -> tuple[float, float]:
    """Mean costs of the model's decisions between two classes, and of always choosing the negative one."""
    cost, constant = _decision_costs(subject)
    return cost, constant[1 - subject.validation.positive]


def _discrimination(subject: Subject) -> Judgement:
    sample = subject.validation
    if subject.task == "regression":
        r2, spread = _explained(sample)
        words = {"r2": percent(r2).text, "target": subject.target}
        text = _("The model explains {r2} of the variance of {target}", **words)
        if r2 - _Z * spread <= 0:
            text = _("No better than predicting the mean for everybody: {said}", said=text[:1].lower() + text[1:])
        elif r2 < _LITTLE:
            text = _("Weak: {said}", said=text[:1].lower() + text[1:])
        if r2 > 1 - 1e-9:
            text = _(
                "{target} follows exactly from the columns (R² of 1), as a sum or a copy of them: no model is needed",
                target=subject.target,
            )
        poor = r2 < _LITTLE or r2 - _Z * spread <= 0 or r2 > 1 - 1e-9
        return _judgement("accuracy", "bad" if poor else "good", text + ".")
    if subject.task == "many classes":
        share = float(sample.counts(sample.codes, 0).max() / sample.total)
        right = accuracy(sample)
        text = _(
            "{right} of the rows get their class; the most frequent class alone would be right in {share}.",
            right=percent(right).text,
            share=percent(share).text,
        )
        return _judgement("accuracy", "good" if right > share + _SLIGHT else "bad", text)
    area = sample.area
    if area is None:
        return _judgement("discrimination", "plain", _("One class is missing among the rows: nothing to tell apart."))
    said = _(
        "AUC {auc} (95% interval {low} – {high}), Gini {gini}, KS {ks}",
        auc=decimal(area.auc).text,
        low=decimal(area.low).text,
        high=decimal(area.high).text,
        gini=decimal(2 * area.auc - 1).text,
        ks=decimal(sample.ranking.ks).text,
    )
    if area.low <= 0.5:
        return _judgement("discrimination", "bad", _("No better than chance: {figures}.", figures=said))
    steps = ((0.6, _("Weak")), (0.7, _("Moderate")), (0.8, _("Good")), (0.95, _("Very good")))
    word = next((word for limit, word in steps if area.auc < limit), "")
    if not word:
        text = _("Suspiciously good: {figures}. Look for a column that knows the answer.", figures=said)
        return _judgement("discrimination", "bad", text)
    return _judgement("discrimination", "bad" if area.auc < 0.6 else "good", f"{word}: {said}.")


def _overfitting(subject: Subject) -> Judgement:
    if subject.training is None:
        return _judgement("overfitting", "plain", _("Not known: the training rows were not given."))
    if subject.training.X is subject.validation.X:
        return _judgement(
            "overfitting", "bad", _("Not known: no rows were held out, and all figures flatter the model.")
        )
    figures = _training_and_validation(subject)
    if figures is None:
        return _judgement("overfitting", "plain", _("Not known: there are too few rows of a class."))
    name, before, after, spread = figures
    gap, low, high = before - after, before - after - _Z * spread, before - after + _Z * spread
    said = _(
        "{name} {before} in training, {after} in validation: a difference of {gap} (95% interval {low} – {high})",
        name=name,
        before=decimal(before).text,
        after=decimal(after).text,
        gap=decimal(gap).text,
        low=decimal(low).text,
        high=decimal(high).text,
    )
    if low > _SLIGHT:
        return _judgement("overfitting", "bad", _("The model overfits. {figures}.", figures=said))
    if low > 0 or gap > 2 * _SLIGHT:
        return _judgement("overfitting", "plain", _("Some overfitting is likely. {figures}.", figures=said))
    return _judgement("overfitting", "good", _("No sign of overfitting. {figures}.", figures=said))


def _training_and_validation(subject: Subject) -> tuple[str, float, float, float] | None:
    """A measure (larger is better) on both samples, and the standard error of the difference."""
    assert subject.training is not None
    samples = (subject.training, subject.validation)
    if subject.task == "two classes":
        first, second = (sample.area for sample in samples)
        if first is None or second is None:
            return None
        return "AUC", first.auc, second.auc, float(np.hypot(first.se, second.se))
    if subject.task == "many classes":
        right = [accuracy(sample) for sample in samples]
        spread = [r * (1 - r) / sample.effective_n for r, sample in zip(right, samples, strict=True)]
        return _("Accuracy"), right[0], right[1], float(np.sqrt(sum(spread)))
    found = [_explained(sample) for sample in samples]
    return "R²", found[0][0], found[1][0], float(np.hypot(found[0][1], found[1][1]))


def _explained(sample: Sample) -> tuple[float, float]:
    """R² and its standard error, from the variance of each row's contribution."""
    error = np.square(sample.y - np.ravel(sample.predicted).astype(np.float64))
    total = np.square(sample.y - sample.mean(sample.y))
    mean = sample.mean(total) or 1.0
    ratio = sample.mean(error) / mean
    return 1.0 - ratio, sample.standard_error(error - ratio * total) / mean


def _calibration(subject: Subject) -> Judgement:
    sample = subject.validation
    if subject.task == "regression":
        error = sample.y - np.ravel(sample.predicted).astype(np.float64)
        bias, spread = sample.mean(error), sample.standard_error(error)
        off = abs(bias) > _Z * spread
        said = _(
            "predictions are {size} too {way} on average (95% interval of the mean error {low} – {high})",
            size=significant(abs(bias)).text,
            way=_("low") if bias > 0 else _("high"),
            low=significant(bias - _Z * spread).text,
            high=significant(bias + _Z * spread).text,
        )
        return _judgement(
            "calibration", "bad" if off else "good", (_("Biased: ") if off else _("Unbiased: ")) + said + "."
        )
    if sample.probabilities is None:
        text = _("The model gives scores and no probabilities.")
        return _judgement("calibration", "plain", text)
    if subject.task == "many classes":
        claimed, right = sample.mean(sample.probabilities.max(axis=1)), accuracy(sample)
        spread = float(np.sqrt(right * (1 - right) / sample.effective_n))
        off = abs(claimed - right) > max(_Z * spread, _SLIGHT)
        said = _(
            "the probability of the class decided is {claimed} on average, and it is right in {right}",
            claimed=percent(claimed).text,
            right=percent(right).text,
        )
    else:
        p, positive = sample.score, sample.is_positive
        mean, rate = sample.mean(p), sample.mean(positive)
        w = np.ones(sample.n) if sample.weight is None else sample.weight

        def deviation(direction: Array) -> float:
            """Deviation of observed from predicted values along a direction, in standard errors.

            These are the standard errors of a calibrated model.
            """
            variance = float(np.sum(np.square(w * direction) * p * (1 - p)))
            return float(np.sum(w * direction * (positive - p))) / float(np.sqrt(max(variance, 1e-300)))

        # Two tests: of the mean, and of Spiegelhalter's direction, which shows too extreme or too moderate
        # probabilities.
        chance = 2 * min(2 * float(ndtr(-abs(deviation(each)))) for each in (np.ones(sample.n), 1 - 2 * p))
        off = chance < 0.05
        said = _(
            "the mean probability of {label} is {mean}, its share {rate} (p = {p} that such differences are chance)",
            label=subject.positive,
            mean=percent(mean).text,
            rate=percent(rate).text,
            p=decimal(min(chance, 1.0), 3).text,
        )
    text = (_("Probabilities are off: ") if off else _("Probabilities can be taken as they are: ")) + said + "."
    return _judgement("calibration", "bad" if off else "good", text)


def _stability(subject: Subject) -> list[Judgement]:
    if subject.task == "many classes" or subject.training is None or subject.training.X is subject.validation.X:
        return []
    shift = score_shift(subject)
    said = _("the stability index (PSI) from training to validation is {psi}", psi=decimal(shift.psi).text)
    if shift.psi < max(_MOVED, shift.chance):
        return [_judgement("stability", "good", _("Scores have not shifted: {figure}.", figure=said))]
    tone, word = ("plain", _("Scores have shifted: ")) if shift.psi < _CHANGED else ("bad", _("Scores have changed: "))
    return [_judgement("stability", tone, f"{word}{said}.")]


def _next_step(subject: Subject, found: list[Judgement]) -> str:
    bad = {each.key for each in found if each.tone == "bad"}
    if "overfitting" in bad and subject.training is not None and subject.training.X is subject.validation.X:
        return _("Judge the model on rows it has not seen before it is used.")
    if "overfitting" in bad:
        return _("Take fewer columns or a stronger penalty, or more rows, and compare again.")
    if bad & {"discrimination", "accuracy"}:
        return _("Look for columns that tell more about the target, and for errors in it, before the model is used.")
    if "cost" in bad:
        return _("Check the costs: with these, one decision for everybody is cheaper than the model.")
    if "calibration" in bad:
        return _("The order of the rows can be used; correct the level of the predictions before they are.")
    if "stability" in bad:
        return _("Find out which columns have shifted before the model is used on new rows.")
    if subject.task == "two classes":
        return _(
            "Check that the signs of the coefficients make sense, choose a cut-off, and watch the scores of new rows."
        )
    return _("Check that the signs of the coefficients make sense, then use the model.")
