"""The data: each column, its missing values and distribution, and the target."""

from __future__ import annotations

import numpy as np

from hiperplano.data.design import Array
from hiperplano.data.parallel.threads import in_threads
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Figure, Figures, Paragraph, Section, Table
from hiperplano.report.charts.chart import Chart, sparkline
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.columns import Column, read_columns, sample_rows
from hiperplano.report.number_format import Number, count, percent, significant
from hiperplano.report.sample import Sample
from hiperplano.report.subject import Subject

_ = translator("report")

MOST_COLUMNS = 300
DRAWN_ROWS = 20_000  # rows for histograms; sums and extremes use all rows


def data_section(subject: Subject) -> Section:
    """Columns, missing values, target."""
    rows = subject.fitted_on
    total = len(subject.names) if subject.parts.transformer is None else rows.X.shape[1]
    blocks: list[Block] = [Paragraph(_sentence(subject))]
    blocks += _target(subject)
    blocks.append(_columns_table(rows, total))
    return Section("data", _("Data"), blocks)


def _sentence(subject: Subject) -> str:
    n, d = count(subject.validation.n).text, count(np.shape(subject.validation.X)[1]).text
    if subject.training is None:
        return _(
            "{n} rows with {d} columns, on which the model is evaluated. The training rows were not given.", n=n, d=d
        )
    made = count(subject.training.n).text
    return _(
        "The model was fitted to {made} rows with {d} columns (training) and is evaluated on {n} others (validation).",
        made=made,
        n=n,
        d=d,
    )


def _target(subject: Subject) -> list[Block]:
    samples = {_("validation"): subject.validation}
    if subject.training is not None:
        samples = {_("training"): subject.training, **samples}
    if subject.task == "regression":
        return _numbers_target(subject, samples)
    headings = [subject.target]
    for name in samples:
        headings += [_("Rows, {sample}", sample=name), _("Share, {sample}", sample=name)]
    counts = {name: np.bincount(sample.codes, minlength=len(subject.classes)) for name, sample in samples.items()}
    rows: list[list[Cell]] = []
    for k, label in enumerate(subject.classes):
        row: list[Cell] = [label]
        for name, sample in samples.items():
            row += [count(counts[name][k]), percent(counts[name][k] / sample.n)]
        rows.append(row)
    return [Table(_("Classes of the target {target}", target=subject.target), headings, rows, name="target")]


def _numbers_target(subject: Subject, samples: dict[str, Sample]) -> list[Block]:
    headings = [subject.target, _("Rows"), _("Min"), _("Lower quartile"), _("Median"), _("Mean"), _("Upper quartile")]
    headings += [_("Max"), _("Standard deviation")]
    rows: list[list[Cell]] = []
    for name, sample in samples.items():
        low, first, middle, third, high = np.quantile(sample.y, [0, 0.25, 0.5, 0.75, 1]).tolist()
        figures = [low, first, middle, float(sample.y.mean()), third, high, float(sample.y.std())]
        rows.append([name, count(sample.n), *map(significant, figures)])
    table = Table(_("The target {target}", target=subject.target), headings, rows, name="target")
    return [table, Figures([_histogram(subject.target, subject.fitted_on.y)])]


def _histogram(target: str, values: Array) -> Figure:
    heights, edges = np.histogram(values, bins=40)
    chart = Chart(
        "target-histogram",
        _("Distribution of {target}", target=target),
        _("Histogram from {low} to {high}.", low=significant(edges[0]).text, high=significant(edges[-1]).text),
        x=padded_range(edges),
        y=(0.0, float(heights.max()) * 1.05),
        x_label=target,
        y_label=_("rows"),
    )
    chart.steps(edges, heights, "first solid")
    return Figure(chart.svg(), _("Distribution of the target."))


def _columns_table(rows: Sample, total: int) -> Table:
    columns = read_columns(rows.X, MOST_COLUMNS)
    drawn = read_columns(sample_rows(rows.X, DRAWN_ROWS), MOST_COLUMNS) if rows.n > DRAWN_ROWS else columns
    headings = [_("Column"), _("Kind"), _("Missing"), _("Distribution"), _("Min"), _("Median"), _("Mean"), _("Max")]
    notes = []
    if rows.n > DRAWN_ROWS:
        notes.append(_("Medians and distributions from {n} rows drawn at random.", n=count(DRAWN_ROWS).text))
    if total > len(columns):
        notes.append(_("The first {n} of {total} columns.", n=count(len(columns)).text, total=count(total).text))
    return Table(
        _("Columns"),
        headings,
        in_threads(lambda pair: _described(*pair, rows.n), zip(columns, drawn, strict=True), rows.n * len(columns)),
        note=" ".join(notes),
        name="columns",
    )


def _described(column: Column, drawn: Column, n: int) -> list[Cell]:
    missing_share = percent(column.missing / n) if column.missing else count(0)
    if column.numbers is None:
        return [column.name, _("category"), missing_share, *_categories(column, n)]
    known = column.numbers if not column.missing else column.numbers[~np.isnan(column.numbers)]
    if not len(known):
        return [column.name, _("empty"), missing_share, SpanningText()]
    few = np.asarray(drawn.numbers)
    few = few[~np.isnan(few)] if drawn.missing else few
    few = few if len(few) else known
    figures = [float(known.min()), float(np.median(few)), float(known.mean()), float(known.max())]
    shown: list[Cell] = (
        [_date(value) for value in figures] if column.dates else [significant(value) for value in figures]
    )
    kind = _("date") if column.dates else (_("constant") if figures[0] == figures[3] else _("number"))
    return [column.name, kind, missing_share, _bars(few, column.name), *shown]


def _bars(values: Array, name: str) -> Cell:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ""
    low, high = np.quantile(finite, [0.005, 0.995])
    if not low < high:
        low, high = float(finite.min()) - 0.5, float(finite.max()) + 0.5
    heights, _edges = np.histogram(finite, bins=14, range=(float(low), float(high)))
    return sparkline(heights, _("distribution of {name}", name=name))


def _categories(column: Column, n: int) -> list[Cell]:
    codes = np.asarray(column.codes)
    counts = np.bincount(codes[codes >= 0], minlength=len(column.labels))
    order = np.argsort(-counts, kind="stable")[:14]
    named = [f"{column.labels[k]} ({percent(counts[k] / n, 0).text})" for k in order[:3].tolist()]
    more = len(column.labels) - len(named)
    said = ", ".join(named) + (_(" and {n} more", n=more) if more > 0 else "")
    chart: Cell = sparkline(counts[order], _("sizes of the largest categories")) if len(order) else ""
    return [chart, SpanningText(said)]


class SpanningText(str):
    """Text that may extend into the empty cells after it."""

    __slots__ = ()
    kind = "spanning"


def _date(nanoseconds: float) -> Number:
    return Number(nanoseconds, str(np.datetime64(int(nanoseconds), "ns").astype("datetime64[D]")))
