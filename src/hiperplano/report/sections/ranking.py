"""Validation of two classes: ranking, calibration and cut-off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.area import AUCInterval
from hiperplano.metrics.ranking import ConfusionCurve, RankingScores
from hiperplano.report.blocks import Block, Cell, Figures, Heading, Notice, Paragraph, Section, Table
from hiperplano.report.number_format import Number, amount, decimal, percent
from hiperplano.report.sample import Sample
from hiperplano.report.sections.calibration import calibrate, calibration_figure
from hiperplano.report.sections.curves import (
    gains_figure,
    ks_figure,
    lift_figure,
    roc_figure,
    score_distribution_figure,
)
from hiperplano.report.sections.cutoffs import choose_cutoff, cutoff_block
from hiperplano.report.subject import Subject

_ = translator("report")

_POINTS = 200  # points of a curve, for each class


@dataclass(frozen=True)
class Ranking:
    """Ranking measures from one sort of the scores of two classes."""

    scores: RankingScores
    curve: ConfusionCurve
    n: int
    interval: AUCInterval | None  # None with fewer than two rows of a class

    @classmethod
    def of(cls, sample: Sample) -> Ranking:
        """Build; curves are evaluated at quantiles of the scores of each class."""
        return cls(sample.ranking, sample.confusion(_places(sample)), sample.n, sample.area)

    @property
    def has_both_classes(self) -> bool:
        """Whether both classes are present."""
        return bool(np.isfinite(self.scores.auc))

    @property
    def interval_text(self) -> str:
        """The confidence interval of the area under the ROC curve, as text."""
        if self.interval is None:
            return ""
        low, high = decimal(self.interval.low).text, decimal(self.interval.high).text
        return _("95% interval: {low} – {high}", low=low, high=high)


def _places(sample: Sample) -> Array:
    """Cut-offs from above all scores to below all, so that curves begin and end at the corners."""
    distinct = [
        np.quantile(scores, np.linspace(0, 1, _POINTS), method="lower") if len(scores) > _POINTS else scores
        for scores in sample.sorted_scores
    ]
    inner = np.unique(np.concatenate(distinct))
    return np.concatenate([inner[::-1], [-np.inf]])


def ranking_section(subject: Subject) -> tuple[Section, Ranking]:
    """Validation of a classifier of two classes."""
    sample = subject.validation
    ranking = Ranking.of(sample)
    if not ranking.has_both_classes:
        only = subject.positive if sample.is_positive.all() else subject.negative
        sentence = _(
            "All validation rows are of class {label}: curves that compare two classes cannot be drawn.", label=only
        )
        return Section(
            "validation", _("Validation"), [Notice(sentence, "bad"), *_cutoff_blocks(subject, ranking)]
        ), ranking
    classes, has_probabilities = (subject.negative, subject.positive), sample.probabilities is not None
    figures = [
        roc_figure(ranking.curve, ranking.scores.auc),
        ks_figure(ranking.curve, ranking.scores, classes, has_probabilities),
        gains_figure(ranking.curve),
        lift_figure(ranking.curve),
    ]
    blocks: list[Block | Heading] = [Paragraph(_sentence(subject, ranking))]
    if has_probabilities:
        calibration = calibrate(sample.is_positive, sample.score, sample.weight)
        figures.append(calibration_figure(calibration, subject.positive))
    figures.append(score_distribution_figure(sample, classes))
    blocks += [Figures(figures), _bands(subject, sample)]
    blocks += _cutoff_blocks(subject, ranking)
    return Section("validation", _("Validation"), blocks), ranking


def _sentence(subject: Subject, ranking: Ranking) -> str:
    return _(
        "Of two rows drawn at random, one {positive} and one {negative}, the model gives the {positive} the larger "
        "score with probability {auc} (AUC{doubt}). The score distributions of the classes are furthest apart at "
        "{cutoff}: {ks} (KS).",
        positive=subject.positive,
        negative=subject.negative,
        auc=decimal(ranking.scores.auc).text,
        doubt=f"; {ranking.interval_text}" if ranking.interval_text else "",
        cutoff=decimal(ranking.scores.cutoff).text,
        ks=decimal(ranking.scores.ks).text,
    )


def _cutoff_blocks(subject: Subject, ranking: Ranking) -> list[Block | Heading]:
    return [Heading(_("Decisions at a cut-off")), *cutoff_block(subject, choose_cutoff(subject))]


def _bands(subject: Subject, sample: Sample) -> Table:
    """Ten bands of the score from the highest: the gains table."""
    edges = np.unique(sample.quantile(sample.score, np.linspace(0, 1, 11)[1:-1], method="higher"))
    found = sample.confusion(np.nextafter(edges, -np.inf))
    found_rows = np.concatenate([[0], (found.tp + found.fp)[::-1], [sample.total]])
    positives = float(sample.counts(sample.is_positive.astype(np.intp), 2)[1])
    found_positive = np.concatenate([[0], found.tp[::-1], [positives]])
    bounds = [float(sample.score.max()), *edges[::-1].tolist(), float(sample.score.min())]
    rows: list[list[Cell]] = []
    for i in range(len(found_rows) - 1):
        size, caught = found_rows[i + 1] - found_rows[i], found_positive[i + 1] - found_positive[i]
        if not size:
            continue
        gained = found_positive[i + 1] / positives
        rows.append(
            [
                str(len(rows) + 1),
                Number(bounds[i + 1], f"{decimal(bounds[i + 1]).text} – {decimal(bounds[i]).text}"),
                amount(size),
                amount(caught),
                percent(caught / size),
                percent(gained),
                decimal(gained / (found_rows[i + 1] / sample.total), 2),
            ]
        )
    headings = [
        _("Band"),
        _("Score"),
        _("Rows"),
        subject.positive,
        _("Rate"),
        _("Cumulative gains"),
        _("Cumulative lift"),
    ]
    return Table(_("Bands of the score, from the highest"), headings, rows, name="bands")
