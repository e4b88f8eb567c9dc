"""Provenance and versions, to reproduce the page."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from hiperplano import __version__
from hiperplano.messages.catalogue import translator
from hiperplano.report.blocks import Block, Cell, Code, Details, Heading, Paragraph, Section, Table
from hiperplano.report.subject import Subject

_ = translator("report")

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def reproducibility_section(subject: Subject, provenance: Mapping[str, Any]) -> Section:
    """Provenance given by the caller, and versions."""
    facts: list[list[Cell]] = [[str(name), str(value)] for name, value in provenance.items()]
    facts.append([_("Written"), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")])
    versions: list[list[Cell]] = [["hiperplano", __version__], ["Python", platform.python_version()]]
    versions += [[name, version(name)] for name in _PACKAGES]
    versions.append([_("System"), f"{platform.system()} {platform.machine()}"])
    blocks: list[Block | Heading] = [
        Paragraph(_("With the same rows, parameters and versions the fit gives the same bits on one machine.")),
        Table(_("Provenance"), [_("What"), _("Value")], facts, name="provenance"),
        Table(_("Versions"), [_("What"), _("Version")], versions, name="versions"),
        Details(_("Python representation of the model"), [Code(repr(subject.model))]),
    ]
    return Section("reproducibility", _("Reproducibility"), blocks)
