"""Coefficients, their uncertainty, and odds ratios."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import issparse

from hiperplano.data.design import Array
from hiperplano.errors import HiperplanoError
from hiperplano.messages import message_of, translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Figure, Figures, Heading, Notice, Paragraph, Section, Table
from hiperplano.report.charts.chart import WIDE, Chart
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.columns import sample_rows
from hiperplano.report.number_format import column, count
from hiperplano.report.subject import Sample, Subject
from hiperplano.stats.logistic.odds import OddsSummary
from hiperplano.stats.summary import Summary

_ = translator("report")

_DRAWN_ROWS = 50_000  # for the spread of columns
_MOST_ROWS = 200
_MOST_BARS = 25
_MOST_BLOCKS = 12


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of all scores.

    Attributes
    ----------
    names : list of str
        Of the columns.
    blocks : list of str
        What each score is for; one empty name where there is one score.
    coef : ndarray of shape (blocks, d)
    intercept : ndarray of shape (blocks,)
    turned : bool
        Whether signs are the other way round than in the model, whose second class is not the positive one.
    spread : ndarray of shape (d,)
        Standard deviations of the columns.
    summary : Summary or None
        With standard errors, where the model has them.
    missing : str
        Why there is no summary.
    """

    names: list[str]
    blocks: list[str]
    coef: Array
    intercept: Array
    standard_deviations: Array
    summary: Summary | None = field(repr=False, default=None)
    missing: str = ""
    flipped: bool = False

    @property
    def effect(self) -> Array:
        """What one standard deviation of the column adds to the score."""
        return np.asarray(self.coef * self.standard_deviations)

    @property
    def fitted_intercept(self) -> bool:
        return self.summary is None or self.summary.names[:1] == ["intercept"]


def read_coefficients(subject: Subject) -> Coefficients | None:
    """From the summary where there is one, else from `coef_`; None for a model without."""
    linear = subject.parts.linear
    if not hasattr(linear, "coef_"):
        return None
    summary, why = None, ""
    if hasattr(linear, "summary"):
        try:
            summary = linear.summary()
        except HiperplanoError as problem:
            why = message_of(problem)
    flipped = subject.task == "two classes" and subject.validation.positive == 0
    if summary is not None:
        summary = _flipped(summary) if flipped else summary
        table, names = np.atleast_2d(summary.coef), summary.blocks or [""]
        has_level = summary.names[:1] == ["intercept"]
        coef = table[:, 1:] if has_level else table
        intercept = table[:, 0] if has_level else np.zeros(len(table))
    else:
        coef = np.atleast_2d(np.asarray(linear.coef_, dtype=np.float64))
        intercept = np.broadcast_to(np.atleast_1d(np.asarray(linear.intercept_, dtype=np.float64)), len(coef))
        coef, intercept = (-coef, -intercept) if flipped else (coef, intercept)
        names = [""] if len(coef) == 1 else subject.classes
    return Coefficients(
        subject.names, list(names), coef, intercept, _standard_deviations(subject.fitted_on), summary, why, flipped
    )


def _flipped(summary: Summary) -> Summary:
    """For the other of two classes."""
    return replace(summary, coef=-summary.coef, statistic=-summary.statistic, low=-summary.high, high=-summary.low)


def _standard_deviations(sample: Sample) -> Array:
    rows = sample_rows(sample.design, _DRAWN_ROWS)
    if issparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        square = np.asarray(rows.multiply(rows).mean(axis=0)).ravel()
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
    with np.errstate(over="ignore"):  # columns whose squares leave the range of floats are not drawn
        return np.asarray(np.asarray(rows, dtype=np.float64).std(axis=0))


def coefficients_section(subject: Subject, found: Coefficients | None) -> Section:
    """Pictures and tables."""
    title = _("Coefficients")
    if found is None:
        return Section("coefficients", title, _means(subject))
    blocks: list[Block | Heading] = [Paragraph(_sentence(subject, found))]
    if found.missing:
        blocks.append(Notice(translate(found.missing)))
    shown = min(len(found.blocks), _MOST_BLOCKS)
    for b in range(shown):
        if found.blocks[b]:
            blocks.append(Heading(translate(found.blocks[b])))
        blocks += [Figures([_chart(found, b)]), _table(found, b)]
    if shown < len(found.blocks):
        blocks.append(Paragraph(_("The first {n} of {total} scores.", n=shown, total=len(found.blocks))))
    if found.summary is not None:
        blocks += [Notice(translate(note)) for note in found.summary.notes]
    return Section("coefficients", title, blocks)


def _sentence(subject: Subject, found: Coefficients) -> str:
    text = _("A coefficient is what one unit of its column adds to the score, the others unchanged.")
    text += " " + _("The chart shows what one standard deviation adds, so that columns of any unit can be compared.")
    if isinstance(found.summary, OddsSummary):
        text += " " + _("The odds ratio is the factor by which one unit multiplies the odds.")
    if subject.task == "two classes":
        text += " " + _("A positive one favours {label}.", label=subject.positive)
    if found.flipped:
        text += " " + _(
            "In the model itself, whose second class is {label}, signs are the other way round.", label=subject.negative
        )
    return text


def _order(found: Coefficients, block: int, most: int) -> Array:
    return np.argsort(-np.abs(found.effect[block]), kind="stable")[:most]


def _chart(found: Coefficients, block: int) -> Figure:
    kept = _order(found, block, _MOST_BARS)[::-1]
    effect = found.effect[block][kept]
    low, high = _interval_ends(found, block)
    low, high = low[kept] * found.standard_deviations[kept], high[kept] * found.standard_deviations[kept]
    known = np.isfinite(low) & np.isfinite(high)
    rows = np.arange(len(kept))
    chart = Chart(
        f"coefficients-{block}",
        _("Coefficients at one standard deviation"),
        _("The largest belongs to {name}.", name=found.names[int(kept[-1])] if len(kept) else "–"),
        x=padded_range(effect, low[known], high[known], zero=True),
        y=(-0.7, len(kept) - 0.3),
        x_label=_("change of the score for one standard deviation"),
        names=[found.names[j] for j in kept.tolist()],
        height=80.0 + 20.0 * len(kept),
        width=WIDE,
    )
    chart.rule(0.0, "chance")
    if known.any():
        chart.spans(low[known], high[known], rows[known], "first")
        chart.points(effect, rows, "first", _("estimate, with 95% interval"), size=3.5)
        caption = _("Effects of one standard deviation with their intervals: those that cross the line may be zero.")
    else:
        chart.spans(np.minimum(effect, 0.0), np.maximum(effect, 0.0), rows, "bar first")
        chart.points(effect, rows, "first", size=3.5)
        caption = _("Effects of one standard deviation.")
    if len(kept) < len(found.names):
        caption += " " + _("The {n} largest of {total}.", n=len(kept), total=count(len(found.names)).text)
    return Figure(chart.svg(), caption, wide=True)


def _interval_ends(found: Coefficients, block: int) -> tuple[Array, Array]:
    nothing = np.full(len(found.names), np.nan)
    if found.summary is None:
        return nothing, nothing
    low, high = (np.atleast_2d(ends)[block] for ends in (found.summary.low, found.summary.high))
    return (low[1:], high[1:]) if found.fitted_intercept else (low, high)


def _table(found: Coefficients, block: int) -> Table:
    kept = _order(found, block, _MOST_ROWS)
    note = ""
    if len(kept) < len(found.names):
        note = _("The {n} largest of {total}.", n=len(kept), total=count(len(found.names)).text)
    name = "coefficients" if len(found.blocks) == 1 else f"coefficients-{block}"
    caption = _("Coefficients") if not found.blocks[block] else translate(found.blocks[block])
    if found.summary is None:
        rows: list[list[Cell]] = [[_("intercept"), column("coef", found.intercept[block : block + 1])[0], ""]]
        texts = zip(column("coef", found.coef[block]), column("coef", found.effect[block]), strict=True)
        cells = list(texts)
        rows += [[found.names[j], *cells[j]] for j in kept.tolist()]
        return Table(caption, [_("Column"), _("Coefficient"), _("At one standard deviation")], rows, note, name)
    columns = {head: np.atleast_2d(values)[block] for head, values in found.summary.columns().items()}
    figures = [column(head, values) for head, values in columns.items()]
    level = int(found.fitted_intercept)
    rows = [[_("intercept"), *(cells[0] for cells in figures)]] if level else []
    rows += [[found.names[j], *(cells[j + level] for cells in figures)] for j in kept.tolist()]
    return Table(caption, [_("Column"), *map(_heading, columns)], rows, note, name)


def _heading(name: str) -> str:
    """What stands over a column of a summary."""
    known = {
        "coef": _("Coefficient"),
        "se": _("Standard error"),
        "odds ratio": _("Odds ratio"),
        "odds low": _("Odds, low"),
        "odds high": _("Odds, high"),
    }
    if name.startswith(("low ", "high ")):
        end, percent = name.split(" ")
        return _("Low {percent}", percent=percent) if end == "low" else _("High {percent}", percent=percent)
    return known.get(name, name)


def _means(subject: Subject) -> list[Block | Heading]:
    """For a model without coefficients: what it knows of each class."""
    means = getattr(subject.parts.linear, "means_", None)
    blocks: list[Block | Heading] = [
        Paragraph(_("This model has no coefficients: its score is not a sum over columns."))
    ]
    if means is None:
        return blocks
    kept = range(min(len(subject.names), _MOST_ROWS))
    cells = [column("coef", np.asarray(means, dtype=np.float64)[:, j]) for j in kept]
    rows: list[list[Cell]] = [[subject.names[j], *cells[j]] for j in kept]
    return [*blocks, Table(_("Means of the classes"), [_("Column"), *subject.classes], rows, name="means")]
