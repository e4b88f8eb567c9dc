"""The result of `monitor` as one HTML file."""

from __future__ import annotations

from pathlib import Path

from hiperplano.data.files import write_bytes
from hiperplano.messages import translate
from hiperplano.messages.catalogue import translator, use_language
from hiperplano.report.blocks import Block, Heading, KeyFigure, Notice, Page, Paragraph, Section
from hiperplano.report.number_format import count, decimal
from hiperplano.report.render import render
from hiperplano.report.scorecard.tables import page_table
from hiperplano.scorecard import Monitoring
from hiperplano.scorecard.monitoring.monitor import CHANGED, STABLE

_ = translator("report")


def write_monitoring(path: Path, found: Monitoring, source: str, language: str) -> Path:
    """Write the page.

    Parameters
    ----------
    source : str
        Source of the new applicants.
    language : {"en", "es"}
    """
    with use_language(language):
        text = render(_page(found, source, language))
    write_bytes(path, text.encode())
    return path


def _page(found: Monitoring, source: str, language: str) -> Page:
    findings: list[Block | Heading] = [Notice(translate(said)) for said in found.verdicts]
    shift: list[Block | Heading] = [Paragraph(_rule()), page_table(found.score, "score")]
    shift += [page_table(found.variables, "variables"), page_table(found.bins, "bins")]
    sections = [
        Section("findings", _("Findings"), findings),
        Section("stability", _("Stability"), shift),
    ]
    judged: list[Block | Heading] = [
        page_table(table, name)
        for name, table in (("performance", found.performance), ("calibration", found.calibration))
        if table is not None
    ]
    if judged:
        sections.append(Section("validation", _("Validation"), judged))
    return Page(
        title=_("Monitoring of a scorecard"),
        lead=_("New applicants: {source}.", source=source),
        key_figures=_key_figures(found),
        sections=sections,
        language=language,
    )


def _rule() -> str:
    return _(
        "The population stability index (PSI) compares shares at development with those of the new applicants: below "
        "{stable:g} the distribution is stable, from {changed:g} on the population has changed. Small samples differ "
        "by chance, and the judgement allows for that.",
        stable=STABLE,
        changed=CHANGED,
    )


def _key_figures(found: Monitoring) -> list[KeyFigure]:
    figures = [
        KeyFigure("PSI", decimal(found.psi), _("of the score")),
        KeyFigure(_("Variables"), count(len(found.variables))),
    ]
    if found.performance is not None:
        for name, now, before in zip(
            found.performance["measure"], found.performance["now"], found.performance["development"], strict=True
        ):
            figures.append(KeyFigure(name, decimal(now), _("{before} at development", before=decimal(before).text)))
    return figures[:4]
