"""The page about a model: the one place where the report is asked for."""

from __future__ import annotations

from pathlib import Path

from hiperplano.cli.study import Study
from hiperplano.messages.catalogue import current_language
from hiperplano.report.subject import Subject


def write_page(path: Path, subject: Subject, study: Study) -> Path:
    """Write the page, in the language now spoken."""
    from hiperplano.report.page import write_subject

    return write_subject(path, subject, study.provenance(), current_language())
