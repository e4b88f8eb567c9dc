"""Metadata in a model's file: provenance, and the expected columns."""

from __future__ import annotations

import hashlib
import platform
import shlex
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from hiperplano.data.design import Array
from hiperplano.errors import InvalidFile
from hiperplano.messages.catalogue import translator
from hiperplano.models.saving import load
from hiperplano.report.number_format import count, decimal, significant

_ = translator("terminal")

_PACKAGES = ("hiperplano", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Metadata:
    """Provenance of a fit.

    Attributes
    ----------
    measures : dict of str to dict
        Metrics of the fit, by part of the rows: "training" and "validation".
    selection : list of dict
        Columns removed by selection, with the criterion before and after each.
    score_edges, score_counts : list
        Bands of the training rows' scores, and the number of rows in each, for comparison with new scores.
    weight : str or None
        Column of weights.
    """

    task: str
    target: str
    model: str
    positive: Any
    costs: Any
    file: str
    sha256: str
    rows: int
    command: str
    seed: int
    validation: float | str
    versions: dict[str, str]
    measures: dict[str, dict[str, float]] = field(default_factory=dict)
    selection: list[dict[str, Any]] = field(default_factory=list)
    score_edges: list[float] = field(default_factory=list)
    score_counts: list[float] = field(default_factory=list)
    weight: str | None = None

    def attach(self, pipeline: Pipeline) -> Pipeline:
        """Store the metadata on a pipeline as plain values, so that they are saved with it; return the pipeline."""
        pipeline.metadata_ = asdict(self)
        return pipeline

    @property
    def cost_matrix(self) -> Array | None:
        return None if self.costs is None else np.array(self.costs)

    def provenance(self) -> dict[str, str]:
        """The metadata as text, for a page."""
        steps = ", ".join(f"{step['left_out']} ({decimal(step['after'], 1).text})" for step in self.selection)
        chosen = {_("Left out by selection"): steps} if steps else {}
        share = significant(self.validation).text if isinstance(self.validation, float) else self.validation
        return chosen | {
            _("Command"): self.command,
            _("File"): self.file,
            _("SHA-256 of the file"): self.sha256,
            _("Rows"): count(self.rows).text,
            _("Random seed"): str(self.seed),
            _("Rows for validation"): share,
            _("Versions"): ", ".join(f"{name} {number}" for name, number in self.versions.items()),
        }


def versions() -> dict[str, str]:
    """Versions of the libraries."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def command_line(arguments: list[str]) -> str:
    """The command line, quoted so that it can be run again."""
    return shlex.join(["hiperplano", *arguments])


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_with_metadata(path: Path) -> tuple[Pipeline, Metadata]:
    """A model saved by `hiperplano fit`, with its metadata."""
    model = load(path)
    values = getattr(model, "metadata_", None)
    if not isinstance(model, Pipeline) or not isinstance(values, dict):
        raise InvalidFile(
            _(
                "{file} holds a {kind} without the metadata of a table; a model written by `hiperplano fit` is needed. "
                "Load this one in Python with hiperplano.load.",
                file=path,
                kind=type(model).__name__,
            )
        )
    return model, Metadata(**values)
