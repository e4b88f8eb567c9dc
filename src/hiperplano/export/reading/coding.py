"""The command's coding of a table as lookups and imputed numbers."""

from __future__ import annotations

from hiperplano.errors import NotAvailable
from hiperplano.export.formula import Cell, Feature, Imputed, Lookup, Number, is_empty, scaled
from hiperplano.features.coding import Coding
from hiperplano.features.encoders import RARE, CategoricalEncoder, NumericEncoder, label_of

_MICROSECONDS_A_DAY = 86_400e6


def coded_columns(coding: Coding) -> tuple[tuple[Feature, ...], tuple[str, ...]]:
    """The output features of a fitted `Coding`, and their names."""
    if coding.imputer_ is not None:
        raise NotAvailable(
            "missing numbers were filled by a model of the other columns (fill='model'), which is not known as a "
            "formula. Fit with fill='median'."
        )
    features: list[Feature] = []
    for coder in coding.coders_:
        features += _numeric(coder) if isinstance(coder, NumericEncoder) else _nominal(coder)
    return tuple(features), tuple(coding.get_feature_names_out().tolist())


def _numeric(coder: NumericEncoder) -> list[Feature]:
    column = coder.column
    if column.kind == "ordered":
        cell = Cell(column.name, "label")
        codes = {label_of(code) for code in column.codes}
        places = tuple(((label,), float(place)) for place, label in enumerate(column.order) if label not in codes)
        marks = tuple((labels, 0.0) for labels, _ in places)
        # A value that is not in the order counts as missing.
        made: list[Feature] = [Lookup(cell, places, coder.fill, coder.fill)]
        return [*made, Lookup(cell, marks, 1.0, 1.0)] if coder.marked else made
    # Text codes cannot occur in a numeric column.
    cell = Cell(column.name, codes=tuple(code for code in column.codes if not isinstance(code, str)))
    made = [Imputed(Number(cell), coder.fill)]
    if column.kind == "date":
        cell = Cell(column.name, "date")
        made = [Imputed(scaled(Number(cell), 0.0, _MICROSECONDS_A_DAY), coder.fill)]
    return [*made, is_empty(cell)] if coder.marked else made


def _nominal(coder: CategoricalEncoder) -> list[Feature]:
    cell = Cell(coder.column.name, "label")
    known = tuple(label for label in (*coder.kept, coder.reference) if label is not None and label != RARE)
    codes = tuple(label_of(code) for code in coder.column.codes)  # these are missing, not rare
    return [
        Lookup(cell, tuple(((each,), float(each == label)) for each in (*known, *codes)), 0.0, float(label == RARE))
        for label in coder.kept
    ]
