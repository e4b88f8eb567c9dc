"""`to_pmml`: scorecards and linear models as PMML 4.4."""

from __future__ import annotations

import re
from pathlib import Path
from sys import float_info
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from hiperplano.data.files import write_bytes
from hiperplano.errors import NotAvailable
from hiperplano.export.formula import Cell, Formula, finite_cells
from hiperplano.export.pmml.predicates import type_of
from hiperplano.export.pmml.regression import add_regression
from hiperplano.export.pmml.scorecard import add_scorecard
from hiperplano.export.reading.models import formula_of

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
_LARGEST = repr(float_info.max)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(model: Any, *, path: str | Path | None = None) -> str:
    """A fitted scorecard or linear model as a PMML 4.4 document.

    A scorecard becomes a `Scorecard` whose partial scores are its points, with reason codes against the best bin of
    each variable. A linear regressor, a logistic regression or a linear discriminant analysis becomes a
    `RegressionModel` whose encoded columns are derived fields. Categories are strings: `true` and `false` for booleans,
    `3` for 3.0. Empty values are missing values; a row that the model would reject has no result.

    Parameters
    ----------
    model : estimator
        A fitted model: alone, at the end of a scikit-learn pipeline, or as saved by the command `hiperplano fit`.
    path : str or Path, optional
        File to write the document to, completely or not at all.

    Returns
    -------
    str
        The document.

    Raises
    ------
    hiperplano.errors.NotAvailable
        If the model has no probabilities or predictions of these forms, or a step cannot be written as a formula.

    Examples
    --------
    >>> from hiperplano import LogisticRegression, to_pmml
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"])
    >>> "<RegressionModel" in to_pmml(model)
    True
    """
    formula = formula_of(model)
    last = model[-1] if hasattr(model, "steps") else model
    root = Element("PMML", xmlns=_NAMESPACE, version="4.4")
    header = SubElement(root, "Header", description=f"{type(last).__name__}, written by hiperplano")
    SubElement(header, "Application", name="hiperplano")
    cells = _fields(formula)
    dictionary = SubElement(root, "DataDictionary", numberOfFields=str(len(cells)))
    finite = finite_cells(feature for feature, _ in formula.used_features())
    for cell in cells:
        optype = "categorical" if cell.kind in ("text", "label") else "continuous"
        field = SubElement(dictionary, "DataField", name=cell.name, optype=optype, dataType=type_of(cell))
        if cell in finite and cell.kind == "number":  # values outside the range are invalid, and the row has no result
            SubElement(field, "Interval", closure="closedClosed", leftMargin=f"-{_LARGEST}", rightMargin=_LARGEST)
    if formula.points is not None:
        add_scorecard(root, last, formula, cells)
    else:
        add_regression(root, last, formula, cells, dictionary)
    dictionary.set("numberOfFields", str(len(dictionary)))
    _refuse_control_characters(root)
    indent(root, " ")
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"
    if path is not None:
        write_bytes(path, text.encode())
    return text


def _fields(formula: Formula) -> list[Cell]:
    """The input columns, in the order of the fit."""
    used = formula.used_cells()
    names = [cell.name for cell in used]
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise NotAvailable(
            "column {name!r} is taken as text and as a number; a field of PMML has one kind. Use it in one way.",
            name=name,
        )
    place = {cell.name: number for number, cell in enumerate(formula.cells)}
    return sorted(used, key=lambda cell: place[cell.name])


def _refuse_control_characters(root: Element) -> None:
    """Raise an error for names and categories that XML cannot represent."""
    for element in root.iter():
        for text in (*element.attrib.values(), element.text or ""):
            if _NO_XML.search(text):
                raise NotAvailable(
                    "{text!r} holds a character that XML, and so PMML, cannot hold. Rename the column or category, or "
                    "use to_sql or to_json.",
                    text=text,
                )
