"""Validation of a regression: errors and residuals."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from hiperplano.data.design import Array
from hiperplano.errors import HiperplanoError
from hiperplano.messages import translate
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Figure, Figures, Heading, Paragraph, Section, Table
from hiperplano.report.charts.chart import Chart
from hiperplano.report.charts.scale import padded_range
from hiperplano.report.metrics import regression_metrics
from hiperplano.report.number_format import percent, significant
from hiperplano.report.sample import Sample
from hiperplano.report.subject import Subject
from hiperplano.stats.diagnose import Diagnosis, diagnose_least_squares

_ = translator("report")

_DOTS = 2_000
_MOST_CELLS = 2**24  # rows × columns up to which leverages are computed, in under a second


def residuals_section(subject: Subject) -> Section:
    """Validation of a regression."""
    sample = subject.validation
    fitted = np.ravel(sample.predicted).astype(np.float64)
    residuals = sample.y - fitted
    found = regression_metrics(sample)
    sentence = _(
        "The model explains {r2} of the variance of {target} in the validation rows; the mean absolute error is "
        "{mae}, the root mean squared error {rmse}.",
        r2=percent(found["r2"]).text,
        target=subject.target,
        mae=significant(found["mae"]).text,
        rmse=significant(found["rmse"]).text,
    )
    figures = [_against_fitted(fitted, residuals), _observed(fitted, sample.y, subject.target), _quantiles(residuals)]
    diagnosis, influence = _influence(subject)
    figures += [_leverage(diagnosis)] if diagnosis is not None else []
    blocks: list[Block | Heading] = [Paragraph(sentence), Figures(figures), *influence]
    return Section("validation", _("Validation"), blocks)


def _subsample(*values: Array) -> list[Array]:
    """The same subsample of each array: the extremes of the last one, and random others."""
    n = len(values[-1])
    if n <= _DOTS:
        return list(values)
    extreme = np.argpartition(-np.abs(values[-1]), _DOTS // 10)[: _DOTS // 10]
    rest = np.random.default_rng(0).choice(n, _DOTS - len(extreme), replace=False)
    rows = np.union1d(extreme, rest)
    return [each[rows] for each in values]


def _subsample_note(n: int) -> str:
    return _(" {k} of the rows, the most extreme among them.", k=_DOTS) if n > _DOTS else ""


def _against_fitted(fitted: Array, residuals: Array) -> Figure:
    x, y = _subsample(fitted, residuals)
    chart = Chart(
        "residuals",
        _("Residuals against predictions"),
        _(
            "Residuals lie between {low} and {high}.",
            low=significant(residuals.min()).text,
            high=significant(residuals.max()).text,
        ),
        x=padded_range(x),
        y=padded_range(y),
        x_label=_("predicted"),
        y_label=_("residual"),
    )
    chart.points(x, y, "first faint", size=2.0)
    chart.rule(0.0, "chance", upright=False)
    edges = np.unique(np.quantile(fitted, np.linspace(0, 1, int(np.clip(len(fitted) // 30, 3, 20)) + 1)))
    if len(edges) > 3:
        band = np.searchsorted(edges[1:-1], fitted, side="right")
        size = np.bincount(band, minlength=len(edges) - 1)
        there = size > 0
        mean_x = np.bincount(band, weights=fitted, minlength=len(size))[there] / size[there]
        mean_y = np.bincount(band, weights=residuals, minlength=len(size))[there] / size[there]
        chart.line(mean_x, mean_y, "second", _("mean of bands"))
    return Figure(
        chart.svg(), _("Residuals against predictions: no pattern should be left.") + _subsample_note(len(fitted))
    )


def _observed(fitted: Array, y: Array, target: str) -> Figure:
    some_fitted, some_y, _far = _subsample(fitted, y, y - fitted)
    limits = padded_range(some_fitted, some_y)
    chart = Chart(
        "observed",
        _("Actual against predicted"),
        _("Points near the diagonal are predicted well."),
        x=limits,
        y=limits,
        x_label=_("predicted"),
        y_label=target,
    )
    chart.points(some_fitted, some_y, "first faint", size=2.0)
    chart.line(limits, limits, "chance", _("perfect"))
    return Figure(chart.svg(), _("Actual against predicted.") + _subsample_note(len(y)))


def _quantiles(residuals: Array) -> Figure:
    n = len(residuals)
    chance = (np.arange(1, n + 1) - 0.5) / n
    ordered = np.sort(residuals)
    if n > 400:
        ends = np.arange(60)
        kept = np.unique(np.r_[ends, np.linspace(0, n - 1, 300).astype(np.intp), n - 1 - ends])
        chance, ordered = chance[kept], ordered[kept]
    normal = ndtri(chance)
    spread = float(residuals.std())
    unit = (ordered - residuals.mean()) / (spread or 1.0)
    chart = Chart(
        "quantiles",
        _("Normal quantiles of the residuals"),
        _("Residuals reach from {low:.1f} to {high:.1f} standard deviations.", low=unit[0], high=unit[-1]),
        x=padded_range(normal),
        y=padded_range(unit, normal),
        x_label=_("normal quantile"),
        y_label=_("standardised residual"),
    )
    chart.line(padded_range(normal), padded_range(normal), "chance", _("normal"))
    chart.points(normal, unit, "first", size=2.0)
    return Figure(chart.svg(), _("Normal quantiles: points off the line at the ends are outliers or heavy tails."))


def _influence(subject: Subject) -> tuple[Diagnosis | None, list[Block | Heading]]:
    heading = Heading(_("Influence of single rows"))
    rows = subject.training
    if rows is None:
        return None, [
            heading,
            Paragraph(_("Leverage and influence belong to the training rows, which were not given.")),
        ]
    if rows.n * len(subject.names) > _MOST_CELLS:
        return None, [
            heading,
            Paragraph(_("Leverages were not computed: the training table is too large.")),
        ]
    found = _diagnosis(subject, rows)
    if found is None:
        sentence = _(
            "Leverage and influence are defined for least squares whose coefficients are determined; here they are not."
        )
        return None, [heading, Paragraph(sentence)]
    return found, [heading, _findings(found)]


def _diagnosis(subject: Subject, rows: Sample) -> Diagnosis | None:
    """The diagnosis; None for a model that is not least squares on the target of the table."""
    if subject.parts.target_scaler is not None:
        return None
    try:
        return diagnose_least_squares(subject.parts.linear, rows.design, rows.y, rows.weight)
    except HiperplanoError:
        return None


def _findings(found: Diagnosis) -> Table:
    rows: list[list[Cell]] = [
        [translate(name), significant(value), translate(sentence)] for name, value, sentence in found.findings
    ]
    return Table(
        _("Residual analysis of the rows of the fit"), [_("Figure"), _("Value"), _("Meaning")], rows, name="diagnosis"
    )


def _leverage(found: Diagnosis) -> Figure:
    known = np.isfinite(found.studentised)
    leverage, studentised, cooks = found.leverage[known], found.studentised[known], found.cooks[known]
    x, y, _far = _subsample(leverage, studentised, cooks)
    chart = Chart(
        "leverage",
        _("Leverage and studentised residuals"),
        _("The largest Cook's distance is {cook}.", cook=significant(cooks.max() if len(cooks) else np.nan).text),
        x=padded_range(x, zero=True),
        y=padded_range(y, zero=True),
        x_label=_("leverage"),
        y_label=_("studentised residual"),
    )
    chart.points(x, y, "first faint", size=2.0)
    chart.rule(0.0, "chance", upright=False)
    if len(cooks) > 3:
        top = np.argsort(-cooks)[:3]
        chart.points(leverage[top], studentised[top], "second", _("largest Cook's distances"), size=3.5)
    return Figure(chart.svg(), _("Influence: rows far to the right and far from 0 move the coefficients."))
