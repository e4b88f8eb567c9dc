"""The page about a model: the one place where the report is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from hiperplano.cli.study import Study
from hiperplano.data.design import Array
from hiperplano.language.catalogue import spoken


class _Remembered(TransformerMixin, BaseEstimator):
    """A fitted coding that has already coded some frames: large ones take seconds."""

    def __init__(self, coding: Any, coded: list[tuple[Any, Array]]) -> None:
        self.coding = coding
        self.coded = coded

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return str(self.coding.__repr__(N_CHAR_MAX))

    def fit(self, X: Any, y: Any = None) -> _Remembered:
        return self  # what is remembered was fitted

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def transform(self, X: Any) -> Array:
        known = next((rows for frame, rows in self.coded if frame is X), None)
        return np.asarray(self.coding.transform(X) if known is None else known)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        return np.asarray(self.coding.get_feature_names_out())


def write_page(
    path: Path,
    pipeline: Pipeline,
    study: Study,
    frame: Any,
    y: Array,
    *,
    training: tuple[Any, Array] | None = None,
    coded: list[tuple[Any, Array]] | None = None,
) -> Path:
    """Write the page, in the language now spoken."""
    from hiperplano.report.page import write_report

    shown = Pipeline([("coding", _Remembered(pipeline[0], coded or [])), *pipeline.steps[1:]])
    return write_report(
        path,
        shown,
        frame,
        y,
        training=training,
        target=study.target,
        positive=study.positive,
        costs=study.cost_matrix,
        provenance=study.provenance(),
        language=spoken(),
    )
