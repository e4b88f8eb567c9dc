"""`write_report`: a fitted model as one HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hiperplano.data.files import write_bytes
from hiperplano.errors import InvalidParameter
from hiperplano.messages.catalogue import LANGUAGES, translator, use_language
from hiperplano.report.blocks import KeyFigure, Page, Section, Verdict
from hiperplano.report.coefficients import read_coefficients
from hiperplano.report.metrics import accuracy, class_metrics, regression_metrics
from hiperplano.report.model_descriptions import describe_model
from hiperplano.report.number_format import count, decimal, percent, significant
from hiperplano.report.render import render
from hiperplano.report.scorecard.sections import scorecard_sections
from hiperplano.report.sections.certificate import certificate_section
from hiperplano.report.sections.coefficients import coefficients_section
from hiperplano.report.sections.data import data_section
from hiperplano.report.sections.model import model_section
from hiperplano.report.sections.multiclass import multiclass_section
from hiperplano.report.sections.ranking import Ranking, ranking_section
from hiperplano.report.sections.reproducibility import reproducibility_section
from hiperplano.report.sections.residuals import residuals_section
from hiperplano.report.sections.stability import score_shift, stability_section
from hiperplano.report.subject import Subject, prepare_subject
from hiperplano.report.verdict import mean_costs, verdict, weighting_sentence
from hiperplano.scorecard import Scorecard, Strategy, TrendStability

_ = translator("report")


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any,
    y: Any,
    *,
    training: tuple[Any, Any] | None = None,
    target: str | None = None,
    positive: Any = None,
    costs: Any = None,
    provenance: Mapping[str, Any] | None = None,
    language: str = "en",
) -> Path:
    """Write an HTML report of a fitted model: data, coefficients, validation, how the fit ended, stability, provenance.

    One self-contained HTML file; it can be printed, follows the reader's choice of dark or light mode, and lets the
    reader change the cut-off and the costs of a classifier of two classes.

    Parameters
    ----------
    path : str or path-like
        Path of the file. It is replaced completely, or left unchanged if an error occurs.
    model : fitted estimator, or Pipeline that ends with one
        The model to report on.
    X : table or array of shape (n, d)
        The rows for the evaluation, preferably not those of the fit. For a pipeline, rows before its first step.
    y : array-like of shape (n,)
        Their target.
    training : (X, y), optional
        The rows of the fit, for stability, leverage and separability.
    target : str, optional
        Name of the target; by default the name of `y`, if it has one.
    positive : label, optional
        The positive class of two; by default the second in sorted order.
    costs : array-like of shape (classes, classes), optional
        costs[j, k] is the cost of deciding class j where class k is true, classes in sorted order. They determine the
        cut-off. By default every mistake costs one, and the model's own decisions are used.
    provenance : mapping of str to str, optional
        Provenance to show: command, seed, file, hash of the data.
    language : {"en", "es"}, default="en"
        Language of the page: English or Spanish.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hiperplano import LogisticRegression, write_report
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression().fit(X[::2], y[::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(Path(folder) / "report.html", model, X[1::2], y[1::2], training=(X[::2], y[::2]))
    ...     page.name, page.read_text(encoding="utf-8").startswith("<!doctype html>")
    ('report.html', True)
    """
    if language not in LANGUAGES:
        raise InvalidParameter(
            "write_report: language={language!r}; the page is written in {languages}. Choose one of them.",
            language=language,
            languages=", ".join(LANGUAGES),
        )
    wanted = _writable(Path(path))
    return write_subject(
        wanted, prepare_subject(model, X, y, training, target, positive, costs), provenance or {}, language
    )


def write_subject(
    path: Path,
    subject: Subject,
    provenance: Mapping[str, Any],
    language: str,
    strategy: Strategy | None = None,
    trends: TrendStability | None = None,
) -> Path:
    """Write the page of a prepared subject, without recomputing known results.

    Parameters
    ----------
    strategy, trends : optional
        Results of a scorecard, if they are known.
    """
    with use_language(language):
        text = render(_page(subject, provenance, language, strategy, trends))
    write_bytes(path, text.encode())
    return path


def _writable(path: Path) -> Path:
    """Check that the file can be written, before any work is done."""
    if path.is_dir():
        raise InvalidParameter(
            "write_report: {path!r} is a folder; a file is written. Add a file's name to it.", path=str(path)
        )
    if not path.absolute().parent.is_dir():
        raise InvalidParameter(
            "write_report: {path!r} lies in a folder that does not exist; files are written into existing ones. "
            "Make the folder first, or choose another.",
            path=str(path),
        )
    return path


def _page(
    subject: Subject,
    provenance: Mapping[str, Any],
    language: str,
    strategy: Strategy | None,
    trends: TrendStability | None,
) -> Page:
    found = read_coefficients(subject)
    judged, ranking = _validation(subject)
    card = isinstance(subject.parts.final_step, Scorecard)
    sections = [
        _verdict_section(subject),
        *(scorecard_sections(subject, strategy, trends) if card else []),
        judged,
        coefficients_section(subject, found),
        model_section(subject, found),
        certificate_section(subject),
        stability_section(subject, ranking),
        data_section(subject),
        reproducibility_section(subject, provenance),
    ]
    name = describe_model(subject.parts.final_step if card else subject.parts.linear).name
    return Page(
        title=f"{name} · {subject.target}",
        lead=_lead(subject),
        key_figures=_key_figures(subject, ranking),
        sections=sections,
        language=language,
    )


def _verdict_section(subject: Subject) -> Section:
    rows = [(each.aspect, each.tone, each.text) for each in verdict(subject)]
    return Section("verdict", _("Verdict"), [Verdict(rows)])


def _lead(subject: Subject) -> str:
    n = count(subject.validation.n).text
    if subject.training is None:
        sentence = _("Evaluated on {n} rows.", n=n)
    else:
        sentence = _("Trained on {made} rows, validated on {n}.", made=count(subject.training.n).text, n=n)
        if subject.training.X is subject.validation.X:
            sentence = _("Trained on {n} rows; none were held out for validation.", n=n)
    if subject.weighted_by is not None:
        sentence += " " + weighting_sentence(subject.weighted_by)
    if subject.task == "two classes":
        sentence += " " + _("Positive class: {target} = {label}.", target=subject.target, label=subject.positive)
    return sentence


def _validation(subject: Subject) -> tuple[Section, Ranking | None]:
    if subject.task == "two classes":
        return ranking_section(subject)
    return (residuals_section(subject) if subject.task == "regression" else multiclass_section(subject)), None


def _key_figures(subject: Subject, ranking: Ranking | None) -> list[KeyFigure]:
    """The four key figures."""
    sample = subject.validation
    rows = KeyFigure(_("Validation rows"), count(sample.n))
    if subject.task == "regression":
        found = regression_metrics(sample)
        return [
            KeyFigure("R²", decimal(found["r2"]), _("share of the variance explained")),
            KeyFigure("RMSE", significant(found["rmse"]), _("root mean squared error")),
            KeyFigure("MAE", significant(found["mae"]), _("mean absolute error")),
            rows,
        ]
    right = KeyFigure(_("Accuracy"), percent(accuracy(sample)), _("of the model's own decisions"))
    if ranking is None:
        f1 = KeyFigure("F1", decimal(class_metrics(sample)["f1"]), _("mean over classes"))
        return [right, f1, KeyFigure(_("Classes"), count(len(subject.classes))), rows]
    last = rows
    if subject.costs is not None:
        cost, accept_all = mean_costs(subject)
        remark = _(
            "per row; {other} if {label} were decided for everybody",
            other=significant(accept_all).text,
            label=subject.negative,
        )
        right = KeyFigure(_("Mean cost"), significant(cost), remark)
    if subject.training is not None and subject.training.X is not subject.validation.X:
        last = KeyFigure("PSI", decimal(score_shift(subject).psi), _("of the score, from training to validation"))
    return [
        KeyFigure(
            "AUC",
            decimal(ranking.scores.auc),
            ", ".join(filter(None, [_("area under the ROC curve"), ranking.interval_text])),
        ),
        KeyFigure("KS", decimal(ranking.scores.ks), _("distance between the score distributions")),
        right,
        last,
    ]
