"""Coefficients, their uncertainty, and odds ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.features.coding import Coding
from hiperplano.features.columns import Column, kind_label
from hiperplano.messages import Message, translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Details, Figure, Figures, Heading, Notice, Paragraph, Section, Table
from hiperplano.report.charts.chart import WIDE, Chart
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.coefficients import Coefficients
from hiperplano.report.number_format import Number, column, count, significant
from hiperplano.report.subject import Subject

_ = translator("report")

_MOST_ROWS = 200
_MOST_BARS = 25
_MOST_CONTRASTS = 12
_MOST_LISTED = 40
_FEW_CLASSES = 6  # with more classes, only numbers with three digits fit on paper


def coefficients_section(subject: Subject, found: Coefficients | None) -> Section:
    """Pictures and tables."""
    title = _("Coefficients")
    if found is None:
        return Section("coefficients", title, _means(subject))
    blocks: list[Block | Heading] = [Paragraph(_sentence(subject, found))]
    if found.missing:
        blocks.append(Notice(_for_readers(found.missing)))
    if len(found.blocks) == 1:
        blocks += [Figures([_chart(found)]), _table(found)]
    else:
        blocks += [_heat_map(found), *_contrasts(found)]
    blocks += _about_columns(subject)
    if found.summary is not None:
        blocks += [Notice(_for_readers(note)) for note in found.summary.notes]
    return Section("coefficients", title, blocks)


def _for_readers(note: str) -> str:
    """A note of a summary without its advice for Python users.

    Readers of the page have no Python session with the model.
    """
    if isinstance(note, Message):
        note = note.with_fields(**{name: "" for name in ("in_python", "remedy") if name in note.fields})
    return translate(note).strip()


def _about_columns(subject: Subject) -> list[Block | Heading]:
    """Reference categories, and columns that the model does not use."""
    blocks: list[Block | Heading] = []
    for step in subject.parts.steps:
        if hasattr(step, "references"):
            said = "; ".join(
                f"{name}: {_('no value') if label is None else label}" for name, label in step.references().items()
            )
            blocks += [Paragraph(_("Categories are compared with: {references}.", references=said))] if said else []
        unused = [f"{each.name} ({translate(kind_label(each.kind))})" for each in _columns(step) if not each.used]
        unused += [
            _("{name} (follows from {others})", name=name, others=", ".join(others) or "–")
            for name, others in getattr(step, "left_out_", {}).items()
        ]
        if unused:
            shown = "; ".join(unused[:_MOST_LISTED]) + (" …" if len(unused) > _MOST_LISTED else "")
            blocks.append(Paragraph(_("Columns left out: {names}.", names=shown)))
    return blocks


def _columns(step: Any) -> Sequence[Column]:
    return step.columns if isinstance(step, Coding) else ()


def _sentence(subject: Subject, found: Coefficients) -> str:
    text = _("A coefficient is what one unit of its column adds to the score, the others unchanged.")
    if len(found.blocks) == 1:
        text += " " + _(
            "The chart shows what one standard deviation adds, so that columns of any unit can be compared."
        )
    else:
        text += " " + _("The largest score decides. Colours show what one standard deviation of the column adds.")
    if found.odds and len(found.blocks) == 1:
        text += " " + _("The odds ratio is the factor by which one unit multiplies the odds.")
    if subject.task == "two classes":
        text += " " + _("A positive one favours {label}.", label=subject.positive)
    if found.flipped:
        text += " " + _(
            "In the model itself, whose second class is {label}, signs are the other way round.", label=subject.negative
        )
    return text


def _order(effect: Array, most: int) -> Array:
    return np.argsort(-np.abs(effect), kind="stable")[:most]


def _largest_note(shown: int, found: Coefficients) -> str:
    total = len(found.names)
    return _("The {n} largest of {total}.", n=shown, total=count(total).text) if shown < total else ""


def _chart(found: Coefficients) -> Figure:
    kept = _order(found.effect[0], _MOST_BARS)[::-1]
    effect, unit = found.effect[0][kept], found.standard_deviations[kept]
    ends = found.interval()
    low, high = (np.full(len(kept), np.nan),) * 2 if ends is None else (end[kept] * unit for end in ends)
    known = np.isfinite(low) & np.isfinite(high)
    rows = np.arange(len(kept))
    chart = Chart(
        "coefficients",
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
        caption = _(
            "Effects of one standard deviation with their 95% intervals: those that cross the line are not "
            "significant at 5%."
        )
    else:
        chart.spans(np.minimum(effect, 0.0), np.maximum(effect, 0.0), rows, "bar first")
        chart.points(effect, rows, "first", size=3.5)
        caption = _("Effects of one standard deviation.")
    return Figure(chart.svg(), " ".join(filter(None, [caption, _largest_note(len(kept), found)])), wide=True)


def _table(found: Coefficients) -> Table:
    kept = _order(found.effect[0], _MOST_ROWS)
    columns = found.columns()
    headings = [_("Column"), *map(_heading, columns)]
    cells = [column(head, values) for head, values in columns.items()]
    if found.summary is None:
        headings.append(_("At one standard deviation"))
        cells.append([Number(np.nan, ""), *column("coef", found.effect[0])])
    rows: list[list[Cell]] = [[_("intercept"), *(one[0] for one in cells)]]
    rows += [[found.names[j], *(one[j + 1] for one in cells)] for j in kept.tolist()]
    return Table(_("Coefficients"), headings, rows, _largest_note(len(kept), found), "coefficients")


def _heat_map(found: Coefficients) -> Table:
    """Classes in columns; the colour is the effect of one standard deviation, as a share of the largest."""
    kept = _order(np.abs(found.effect).max(axis=0), _MOST_ROWS)
    largest = float(np.abs(found.effect).max(initial=0.0)) or 1.0
    digits = 5 if len(found.blocks) <= _FEW_CLASSES else 3
    rows: list[list[Cell]] = [[_("intercept"), *(significant(value, digits) for value in found.intercept)]]
    rows += [[found.names[j], *(significant(value, digits) for value in found.coef[:, j])] for j in kept.tolist()]
    heat = [[0.0] * len(found.blocks), *(found.effect[:, kept].T / largest).tolist()]
    headings = [_("Column"), *map(translate, found.blocks)]
    note = _largest_note(len(kept), found)
    return Table(_("Coefficients of each class"), headings, rows, note, "coefficients", heat)


def _contrasts(found: Coefficients) -> list[Block | Heading]:
    """Differences between classes with their standard errors, collapsed."""
    if found.summary is None:
        return []
    columns = {head: np.atleast_2d(values) for head, values in found.summary.columns().items()}
    names = [_("intercept"), *found.names][-len(found.summary.names) :]
    tables = []
    for b, block in enumerate(found.summary.blocks[:_MOST_CONTRASTS]):
        cells = [column(head, values[b]) for head, values in columns.items()]
        rows: list[list[Cell]] = [[name, *(one[j] for one in cells)] for j, name in enumerate(names[: _MOST_ROWS + 1])]
        tables.append(Table(translate(block), [_("Column"), *map(_heading, columns)], rows, name=f"contrast-{b}"))
    return [Details(_("Differences between classes, with standard errors"), tables)] if tables else []


def _heading(name: str) -> str:
    """Heading of a column of a summary."""
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
    """For a model without coefficients: the class means."""
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
