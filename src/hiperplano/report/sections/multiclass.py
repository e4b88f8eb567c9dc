"""Validation of many classes: the confusion matrix, recall and precision."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

from hiperplano.data.design import Array
from hiperplano.decision.votes import ambiguous
from hiperplano.messages.catalogue import translator
from hiperplano.metrics.costs import savings_score
from hiperplano.report.blocks import Block, Cell, Paragraph, Section, Table
from hiperplano.report.metrics import accuracy
from hiperplano.report.number_format import amount, decimal, percent
from hiperplano.report.sample import Sample
from hiperplano.report.subject import Subject

_ = translator("report")

_MOST_CLASSES = 40  # most classes in the confusion table


def multiclass_section(subject: Subject) -> Section:
    """Validation of a classifier of more than two classes."""
    sample = subject.validation
    blocks: list[Block] = [Paragraph(_sentence(subject, sample))]
    if len(subject.classes) <= _MOST_CLASSES:
        blocks.append(_confusion(subject, sample))
    blocks.append(_by_class(subject, sample))
    open_share = ambiguous_share(sample)
    if open_share is not None:
        blocks.append(
            Paragraph(
                _(
                    "On {share} of the rows the rules of single classes contradict each other: none claims the row, or "
                    "more than one does, and the largest score decides.",
                    share=percent(open_share).text,
                )
            )
        )
    if subject.costs is not None:
        saved = savings_score(
            sample.y, sample.predicted, subject.costs, sample_weight=sample.weight, labels=sample.classes
        )
        sentence = _(
            "By the given costs, the decisions save {share} compared with the best constant one.",
            share=percent(saved).text,
        )
        blocks.append(Paragraph(sentence))
    return Section("validation", _("Validation"), blocks)


def _sentence(subject: Subject, sample: Sample) -> str:
    counts = sample.counts(sample.codes, len(subject.classes))
    return _(
        "{accuracy} of the validation rows get their class. Always deciding {label}, the most frequent class, would "
        "get {constant}.",
        accuracy=percent(accuracy(sample)).text,
        label=subject.classes[int(counts.argmax())],
        constant=percent(counts.max() / sample.total).text,
    )


def _confusion(subject: Subject, sample: Sample) -> Table:
    labels = sample.classes
    matrix = confusion_matrix(sample.y, sample.predicted, labels=labels, sample_weight=sample.weight)
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    rows: list[list[Cell]] = [
        [label, *map(amount, line)] for label, line in zip(subject.classes, matrix.tolist(), strict=True)
    ]
    caption = _("Confusion matrix of the validation rows: actual classes in rows, predicted ones in columns")
    return Table(caption, [_("Actual"), *subject.classes], rows, name="confusion", heat=shares.tolist())


def _by_class(subject: Subject, sample: Sample) -> Table:
    precision, recall, f1, size = precision_recall_fscore_support(
        sample.y, sample.predicted, labels=sample.classes, zero_division=np.nan, sample_weight=sample.weight
    )
    rows: list[list[Cell]] = [
        [label, amount(size[k]), percent(recall[k]), percent(precision[k]), decimal(f1[k])]
        for k, label in enumerate(subject.classes)
    ]
    headings = [_("Class"), _("Rows"), _("Found (recall)"), _("Precision"), "F1"]
    return Table(_("Each class"), headings, rows, name="by-class")


def ambiguous_share(sample: Sample) -> float | None:
    """Share of rows on which binary rules contradict each other; None if the model does not consist of such rules."""
    final_step = sample.parts.final_step
    if isinstance(final_step, OneVsRestClassifier | OneVsOneClassifier):
        return sample.mean(ambiguous(final_step, sample.transformed))
    if getattr(final_step, "multi_class", None) != "ovr" or not hasattr(final_step, "decision_function"):
        return None
    claimed: Array = np.asarray(final_step.decision_function(sample.transformed)) > 0
    return sample.mean(claimed.sum(axis=1) != 1)
