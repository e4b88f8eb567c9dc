"""ROC, KS, gains and lift curves."""

from __future__ import annotations

import numpy as np

from hiperplano.messages.catalogue import translator
from hiperplano.metrics.ranking import ConfusionCurve, RankingScores
from hiperplano.report.blocks import Figure
from hiperplano.report.charts.chart import Chart
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.number_format import decimal, percent
from hiperplano.report.sample import Sample

_ = translator("report")

_UNIT = (0.0, 1.0)


def roc_figure(curve: ConfusionCurve, auc: float) -> Figure:
    """True positive rate against false positive rate."""
    chart = Chart(
        "roc",
        _("ROC curve"),
        _("The area under the curve is {auc}; the diagonal is chance.", auc=decimal(auc).text),
        x=_UNIT,
        y=_UNIT,
        x_label=_("false positive rate"),
        y_label=_("true positive rate"),
        x_percent=True,
        y_percent=True,
    )
    x, y = np.r_[0.0, curve.fpr], np.r_[0.0, curve.tpr]
    chart.area(x, y, "first")
    chart.line([0, 1], [0, 1], "chance", _("chance"))
    chart.line(x, y, "first", _("model, AUC {auc}", auc=decimal(auc).text))
    return Figure(chart.svg(), _("ROC: true positive rate against false positive rate, over all cut-offs."))


def ks_figure(
    curve: ConfusionCurve, scores: RankingScores, classes: tuple[str, str], has_probabilities: bool
) -> Figure:
    """The two cumulative distributions of the score, and their largest distance."""
    cuts, low, high = (values[:-1][::-1] for values in (curve.cutoffs, 1 - curve.fpr, 1 - curve.tpr))
    chart = Chart(
        "ks",
        _("Kolmogorov-Smirnov distance"),
        _(
            "The distributions are furthest apart, by {ks}, at {at}.",
            ks=decimal(scores.ks).text,
            at=decimal(scores.cutoff).text,
        ),
        x=padded_range(cuts, margin=0.02),
        y=_UNIT,
        x_label=_("probability") if has_probabilities else _("score"),
        y_label=_("cumulative share"),
        y_percent=True,
    )
    chart.rule(scores.cutoff, "chance")
    at = int(np.abs(cuts - scores.cutoff).argmin())
    chart.spans([high[at]], [low[at]], [scores.cutoff], "gap", upright=True)
    chart.line(cuts, low, "first", classes[0])
    chart.line(cuts, high, "second", classes[1])
    return Figure(chart.svg(), _("KS: how much of each class lies up to each score."))


def score_distribution_figure(sample: Sample, classes: tuple[str, str]) -> Figure:
    """Distribution of the scores of each class."""
    score, positive, has_probabilities = sample.score, sample.is_positive, sample.probabilities is not None
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    low, high = np.quantile(score, [0.0, 0.995]).tolist()
    limits = (low, high) if low < high else padded_range(score)
    shares = []
    for rows in (~positive, positive):
        heights, edges = np.histogram(score[rows], bins=40, range=limits, weights=weight[rows])
        shares.append(heights / (weight[rows].sum() or 1.0))
    chart = Chart(
        "spread",
        _("Distribution of the score"),
        _("Scores of {negative} and of {positive}, as shares of each class.", negative=classes[0], positive=classes[1]),
        x=padded_range(edges, margin=0.02),
        y=(0.0, float(max(each.max() for each in shares)) * 1.06),
        x_label=_("probability") if has_probabilities else _("score"),
        y_label=_("share of the class"),
        y_percent=True,
    )
    for heights, style, label in zip(shares, ("first half", "second half"), classes, strict=True):
        chart.steps(edges, heights, style, label)
    return Figure(chart.svg(), _("Scores of each class. The less they overlap, the better the model separates them."))


def gains_figure(curve: ConfusionCurve) -> Figure:
    """Share of positives found against the share of rows taken, from the highest score."""
    taken = (curve.tp + curve.fp) / (curve.tn + curve.fp + curve.fn + curve.tp)
    x, y = np.r_[0.0, taken], np.r_[0.0, curve.tpr]
    first = float(np.interp(0.1, x, y))
    rate = float((curve.tp[-1] + curve.fn[-1]) / (curve.tp[-1] + curve.fp[-1]))
    chart = Chart(
        "gains",
        _("Gains curve"),
        _("The tenth of the rows with the highest scores holds {share} of the positives.", share=percent(first).text),
        x=_UNIT,
        y=_UNIT,
        x_label=_("share of rows, highest scores first"),
        y_label=_("share of positives found"),
        x_percent=True,
        y_percent=True,
    )
    chart.line([0, rate, 1], [0, 1, 1], "best", _("best possible"))
    chart.line([0, 1], [0, 1], "chance", _("chance"))
    chart.line(x, y, "first", _("model"))
    return Figure(chart.svg(), _("Gains: positives found when rows are taken from the highest score."))


def lift_figure(curve: ConfusionCurve) -> Figure:
    """Share of positives among the rows taken, relative to that among all rows."""
    taken = (curve.tp + curve.fp) / (curve.tn + curve.fp + curve.fn + curve.tp)
    enough = taken >= min(0.01, float(taken.max()))
    x, y = taken[enough], curve.tpr[enough] / taken[enough]
    tenth = float(np.interp(0.1, x, y))
    chart = Chart(
        "lift",
        _("Lift curve"),
        _(
            "Among the tenth with the highest scores positives are {lift} times as frequent.",
            lift=decimal(tenth, 2).text,
        ),
        x=_UNIT,
        y=(0.0, max(1.2, float(y.max()) * 1.08)),
        x_label=_("share of rows, highest scores first"),
        y_label=_("lift"),
        x_percent=True,
    )
    chart.rule(1.0, "chance", upright=False, label=_("chance"))
    chart.line(x, y, "first", _("model"))
    return Figure(chart.svg(), _("Lift: positive rate relative to the average."))
