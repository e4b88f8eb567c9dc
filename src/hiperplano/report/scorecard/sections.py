"""Sections for a scorecard: points, bins, selection of variables, cut-offs, and bins by period."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiperplano.features.binning.evidence import rate_interval
from hiperplano.messages import translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Figure, Figures, Heading, Notice, Paragraph, Section
from hiperplano.report.charts.chart import Chart
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.number_format import decimal, percent, significant
from hiperplano.report.scorecard.tables import page_table
from hiperplano.report.subject import Subject
from hiperplano.scorecard import Scorecard, Strategy, TrendStability
from hiperplano.scorecard.points import VariablePoints

_ = translator("report")

_MOST_PICTURES = 40
_MOST_TURNED = 30  # most reversals in the table, the most significant first
_BAR = 24.0  # height of a bin in a figure


def points_section(card: Scorecard) -> Section:
    """The points of each bin, and their meaning."""
    blocks: list[Block | Heading] = [Paragraph(_scale(card))]
    if card.against_woe_:
        said = _(
            "Against their weight of evidence: {names}. In these, bins with more events earn more points.",
            names=", ".join(card.against_woe_),
        )
        blocks.append(Notice(said, "bad"))
    blocks.append(page_table(card.points(), "points"))
    return Section("points", _("Points"), blocks)


def _scale(card: Scorecard) -> str:
    sentence = _(
        "The score is the sum of the points of an applicant's bins. At {score} points there are {odds} non-events for "
        "one event, and every {pdo} points more double these odds.",
        score=significant(card.base_score).text,
        odds=significant(card.base_odds).text,
        pdo=significant(card.pdo).text,
    )
    if card.base_points_:
        sentence += " " + _("Everybody starts with {points} points.", points=significant(card.base_points_).text)
    return sentence


def bins_section(card: Scorecard) -> Section:
    """A picture of the event rates of each variable's bins."""
    variables = card.variable_points()
    pictures = [_picture(each, number) for number, each in enumerate(variables[:_MOST_PICTURES])]
    sentence = _("Event rates on the training rows, with their 95% intervals; the line is the rate of all rows.")
    return Section("bins", _("Bins"), [Paragraph(sentence), Figures(pictures)])


def _picture(variable: VariablePoints, number: int) -> Figure:
    seen = np.flatnonzero(variable.seen)[::-1]  # the first bin on top
    rates, rows = variable.event_rate[seen], np.arange(len(seen), dtype=float)
    low, high = (each[seen] for each in rate_interval(variable.events, variable.count))
    overall = float(variable.events.sum() / variable.count.sum())
    left, right = padded_range(low, high, zero=True)
    chart = Chart(
        f"bins-{number}",
        variable.name,
        _("Event rates of {n} bins of {name}.", n=len(seen), name=variable.name),
        x=(max(left, 0.0), min(right, 1.0)),
        y=(-0.6, len(seen) - 0.4),
        x_label=_("event rate"),
        x_percent=True,
        names=[translate(variable.labels[bin_]) for bin_ in seen.tolist()],
        height=80.0 + _BAR * len(seen),
    )
    chart.rule(overall, "chance", label=_("all rows"))
    chart.spans(low, high, rows, "first")
    chart.points(rates, rows, "first", size=3.5)
    shares = variable.count / variable.count.sum()
    caption = _(
        "{name}: coefficient {coef}; from {low} to {high} points; the largest bin holds {share} of the rows.",
        name=variable.name,
        coef=decimal(variable.coef, 4).text,
        low=significant(variable.points[seen].min()).text,
        high=significant(variable.points[seen].max()).text,
        share=percent(shares.max()).text,
    )
    return Figure(chart.svg(), caption)


def selection_section(card: Scorecard) -> Section:
    """The steps of the selection of variables."""
    title = _("Choice of variables")
    if not card.steps_:
        sentence = _("All variables whose bins differ were taken; none was chosen or left out by a test.")
        return Section("selection", title, [Paragraph(sentence)])
    sentence = _(
        "The variable to enter is the one with the largest score statistic, the one to remove that with the smallest "
        "Wald statistic; the criterion of the fitted model decides. P-values do not know that variables and bins "
        "were chosen on the same rows."
    )
    return Section("selection", title, [Paragraph(sentence), page_table(card.selection_table(), "selection")])


def strategy_section(strategy: Strategy) -> Section:
    """Effects of cut-offs."""
    blocks: list[Block | Heading] = [
        Paragraph(_("On the validation rows: applicants with the score of a row or more are approved."))
    ]
    if strategy.gain is not None and strategy.loss is not None:
        best = strategy.by_profit()
        sentence = _(
            "The largest profit comes with a cut-off of {score} points: {rate} are approved, and {events} of these are "
            "events.",
            score=significant(best.score).text,
            rate=percent(best.approval_rate).text,
            events=percent(best.event_rate).text,
        )
        blocks.append(Notice(sentence))
    blocks.append(page_table(strategy.table(), "cutoffs-table"))
    return Section("strategy", _("Cut-off"), blocks)


def trends_section(trends: TrendStability) -> Section:
    """Bins whose order is reversed in a period."""
    blocks: list[Block | Heading] = [
        Paragraph(
            _(
                "Neighbouring bins whose event rates are in the other order in a period than in all training rows. "
                "Small periods turn bins round by chance; the p-value says how easily."
            )
        )
    ]
    blocks += [Notice(translate(said)) for said in trends.verdicts[:20]]
    if len(trends.turned):
        order = np.argsort(trends.turned["p"], kind="stable")[:_MOST_TURNED]
        columns = {name: [values[i] for i in order] for name, values in trends.turned.columns.items()}
        blocks.append(page_table(replace(trends.turned, columns=columns), "turned"))
    return Section("trends", _("Bins by period"), blocks)


def scorecard_sections(subject: Subject, strategy: Strategy | None, trends: TrendStability | None) -> list[Section]:
    """All sections of a scorecard."""
    card = subject.parts.final_step
    rows = subject.validation
    if strategy is None:
        strategy = card.strategy(rows.transformed, rows.y)
    sections = [points_section(card), bins_section(card), selection_section(card), strategy_section(strategy)]
    return sections if trends is None else [*sections, trends_section(trends)]
