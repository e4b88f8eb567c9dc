"""Training and validation side by side: metrics, and shifts of the columns and the score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from hiperplano.data.design import Array
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Paragraph, Section, Table
from hiperplano.report.columns import Column, read_columns, sample_rows
from hiperplano.report.metrics import accuracy, class_metrics, regression_metrics, stability
from hiperplano.report.number_format import Number, count, decimal, percent, significant
from hiperplano.report.sample import Sample
from hiperplano.report.sections.data import MOST_COLUMNS
from hiperplano.report.sections.ranking import Ranking
from hiperplano.report.subject import Subject

_ = translator("report")

_DRAWN_ROWS = 25_000  # sampled rows; the index of two such samples of one population is about 0.0007
_BINS = 10
_MOVED, _CHANGED = 0.1, 0.25


def stability_section(subject: Subject, validated: Ranking | None) -> Section:
    """Compare the training rows with the validation rows."""
    title = _("Stability")
    if subject.training is None:
        sentence = _("The training rows were not given, so nothing can be compared with them.")
        return Section("stability", title, [Paragraph(sentence)])
    blocks: list[Block] = [Paragraph(_sentence()), _metrics(subject, subject.training, validated)]
    blocks.append(_indices(subject, subject.training))
    return Section("stability", title, blocks)


def _sentence() -> str:
    return _(
        "The population stability index (PSI) compares how training and validation rows are spread over ten bands of "
        "the training rows: below {moved:g} the distribution is stable, above {changed:g} the population has changed. "
        "Small samples differ by chance, and the judgement allows for that.",
        moved=_MOVED,
        changed=_CHANGED,
    )


def _metrics(subject: Subject, training: Sample, validated: Ranking | None) -> Table:
    rows: list[list[Cell]] = []
    if subject.task == "regression":
        labels = {"r2": "R²", "rmse": _("Root mean squared error"), "mae": _("Mean absolute error")}
        pairs = [regression_metrics(sample) for sample in (training, subject.validation)]
        rows = [_compared(label, *(significant(each[key]) for each in pairs)) for key, label in labels.items()]
    elif validated is None:
        labels = {"accuracy": _("Accuracy"), "f1": _("F1, mean over classes")}
        pairs = [class_metrics(sample) for sample in (training, subject.validation)]
        rows = [_compared(label, *(decimal(each[key], 4) for each in pairs)) for key, label in labels.items()]
    else:
        scores = [training.ranking, validated.scores]
        rows = [
            _compared(label, *(decimal(getattr(each, key), 4) for each in scores))
            for key, label in {"auc": "AUC", "ks": "KS", "gini": "Gini"}.items()
        ]
        right = (decimal(accuracy(sample), 4) for sample in (training, subject.validation))
        rows.append(_compared(_("Accuracy"), *right))
    headings = [_("Figure"), _("Training"), _("Validation"), _("Difference")]
    return Table(_("Training and validation side by side"), headings, rows, name="side-by-side")


def _compared(label: str, training: Number, validation: Number) -> list[Cell]:
    difference = validation.value - training.value
    return [label, training, validation, decimal(difference, 4) if abs(difference) < 10 else significant(difference)]


def _indices(subject: Subject, training: Sample) -> Table:
    before, after = (
        read_columns(sample_rows(sample.X, _DRAWN_ROWS), MOST_COLUMNS) for sample in (training, subject.validation)
    )
    found = [(one.name, stability_index(one, other), one, other) for one, other in zip(before, after, strict=True)]
    found.sort(key=lambda each: -each[1].psi)
    rows: list[list[Cell]] = []
    if subject.task != "many classes":
        index = score_shift(subject)
        name = _("prediction") if subject.task == "regression" else _("score")
        rows.append([_("The {name} of the model", name=name), *_shown(index), "", ""])
    for name, index, one, other in found:
        rows.append([name, *_shown(index), _missing_share(one), _missing_share(other)])
    note = ""
    if max(training.n, subject.validation.n) > _DRAWN_ROWS:
        note = _("From {n} rows of each, drawn at random.", n=count(_DRAWN_ROWS).text)
    headings = [
        _("Column"),
        "PSI",
        _("By chance up to"),
        _("Judgement"),
        _("Missing, training"),
        _("Missing, validation"),
    ]
    return Table(_("Population stability"), headings, rows, note, name="stability")


def _missing_share(column: Column) -> Number:
    values = column.numbers if column.numbers is not None else column.codes
    return percent(column.missing / len(np.asarray(values)))


def _shown(shift: Shift) -> list[Cell]:
    return [decimal(shift.psi), decimal(shift.chance), _judgement(shift)]


def _judgement(shift: Shift) -> str:
    if shift.psi < max(_MOVED, shift.chance):
        return _("stable")
    return _("shifted") if shift.psi < _CHANGED else _("changed")


class Shift(NamedTuple):
    """A stability index, and its 95% quantile under chance alone."""

    psi: float
    chance: float


def score_shift(subject: Subject) -> Shift:
    """Shift of the score, or of the prediction."""
    assert subject.training is not None
    values = [
        np.ravel(sample.predicted).astype(np.float64) if subject.task == "regression" else sample.score
        for sample in (subject.training, subject.validation)
    ]
    samples = subject.training, subject.validation
    if all(sample.weight is None for sample in samples):
        return stability_index(*(Column("", sample_rows(each[:, None], _DRAWN_ROWS)[:, 0]) for each in values))
    edges = np.unique(samples[0].quantile(values[0], np.arange(1, _BINS) / _BINS))
    first, second = (
        sample.effective_counts(np.searchsorted(edges, each, side="right"), len(edges) + 1)
        for sample, each in zip(samples, values, strict=True)
    )
    return _shift((first, second))


def stability_index(before: Column, after: Column) -> Shift:
    """Stability index of a column.

    Missing values are a separate band; half a row is added to each band, so that an empty one does not make it
    infinite.

    Two samples of one population, of n and m rows in k bands, have an index of about (1/n + 1/m) times a chi-squared
    variable with k − 1 degrees of freedom.
    """
    if before.numbers is not None and after.numbers is not None:
        counts = _banded(before.numbers, after.numbers)
    else:
        counts = _counted(before, after)
    return _shift(counts)


def _shift(counts: tuple[Array, Array]) -> Shift:
    bands = int(np.count_nonzero(counts[0] + counts[1]))
    spread = float(chdtri(max(bands - 1, 1), 0.05)) * sum(1.0 / float(each.sum()) for each in counts)
    return Shift(stability(*counts), spread if bands > 1 else 0.0)


def _banded(before: Array, after: Array) -> tuple[Array, Array]:
    known = before[~np.isnan(before)]
    edges = np.unique(np.quantile(known, np.arange(1, _BINS) / _BINS)) if len(known) else np.empty(0)
    size = len(edges) + 2

    def counts(values: Array) -> Array:
        band = np.searchsorted(edges, values, side="right")
        return np.bincount(np.where(np.isnan(values), size - 1, band), minlength=size)

    return counts(before), counts(after)


def _counted(before: Column, after: Column) -> tuple[Array, Array]:
    place: dict[str, int] = {}
    texts = [_texts(before), _texts(after)]
    for labels, _codes in texts:
        for label in labels:
            place.setdefault(label, len(place))
    size = len(place) + 1

    def counts(labels: tuple[str, ...], codes: Array) -> Array:
        where = np.array([*(place[label] for label in labels), size - 1], dtype=np.intp)
        return np.bincount(where[codes], minlength=size)  # code −1 (missing) indexes the last place

    first, second = (counts(*each) for each in texts)
    return first, second


def _texts(column: Column) -> tuple[tuple[str, ...], Array]:
    if column.codes is not None:
        return column.labels, column.codes
    values, codes = np.unique(np.asarray(column.numbers), return_inverse=True)
    return tuple(f"{value:g}" for value in values.tolist()), codes
