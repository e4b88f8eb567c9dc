"""`to_excel`: the points table of a scorecard as a workbook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hiperplano.data.files import replacing
from hiperplano.errors import NotAvailable
from hiperplano.export.installed import require
from hiperplano.features.binning.bins import CategoryBins
from hiperplano.messages import Message, translate
from hiperplano.scorecard.points import VariablePoints
from hiperplano.scorecard.scorecard import Scorecard

_POINTS, _CATEGORIES, _FACTS = Message("Points"), Message("Categories"), Message("Scorecard")
_HEADS = (
    Message("variable"),
    Message("bin"),
    Message("rows"),
    Message("events"),
    Message("event rate"),
    Message("WoE"),
    Message("coefficient"),
    Message("points"),
)
_FORMATS = ("@", "@", "#,##0.##", "#,##0.##", "0.00%", "0.0000", "0.0000", "0.####")
_MOST_LETTERS = 32_767  # most characters in a cell of Excel
_WIDEST = 60


def to_excel(scorecard: Any, path: str | Path) -> None:
    """Write the points table of a fitted scorecard to an Excel workbook.

    Sheets in the current language: the points of each bin with its rows, event rate, weight of evidence and
    coefficient; the points of every category (a bin may hold hundreds), if there are columns of categories; and the
    classes, the scale and the base points. Texts are written as texts: a category such as `=1+1` is not a formula.

    Parameters
    ----------
    scorecard : Scorecard
        A fitted scorecard.
    path : str or Path
        File to write, with the ending .xlsx; completely or not at all.

    Raises
    ------
    hiperplano.errors.NotAvailable
        If the model is not a scorecard.

    Examples
    --------
    >>> import tempfile
    >>> from hiperplano import Scorecard, load_credit_default, to_excel
    >>> X, y = load_credit_default(n_rows=500, return_X_y=True)
    >>> card = Scorecard(event="yes").fit(X[["age", "housing"]], y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_excel(card, f"{folder}/scorecard.xlsx")
    """
    if not isinstance(scorecard, Scorecard):
        raise NotAvailable(
            "{model} has no points table; only a Scorecard has one. Use summary() for coefficients.",
            model=type(scorecard).__name__,
        )
    check_is_fitted(scorecard)
    require("openpyxl")
    from openpyxl import Workbook

    book = Workbook()
    points = book.active
    points.title = translate(_POINTS)
    _write(points, [translate(head) for head in _HEADS], _rows(scorecard), _FORMATS)
    categories = _category_rows(scorecard)
    if categories:
        heads = [translate(head) for head in (_HEADS[0], Message("category"), _HEADS[-1])]
        _write(book.create_sheet(translate(_CATEGORIES)), heads, categories, ("@", "@", _FORMATS[-1]))
    facts = book.create_sheet(translate(_FACTS))
    _write(facts, [translate(Message("what")), translate(Message("value"))], _facts(scorecard), ("@", "General"))
    with replacing(path) as new:
        book.save(new)


def _rows(card: Scorecard) -> list[list[Any]]:
    rows: list[list[Any]] = []
    if card.base_points_:
        base = translate(Message("base points"))
        rows.append([base, None, None, None, None, None, None, float(card.base_points_)])
    for variable in card.variable_points():
        rows += _variable_rows(variable)
    return rows


def _variable_rows(variable: VariablePoints) -> list[list[Any]]:
    rates = [float(rate) if seen else None for rate, seen in zip(variable.event_rate, variable.seen, strict=True)]
    return [
        [
            variable.name,
            translate(label),
            float(variable.count[number]),
            float(variable.events[number]),
            rates[number],
            float(variable.woe[number]),
            float(variable.coef),
            float(variable.points[number]),
        ]
        for number, label in enumerate(variable.labels)
    ]


def _category_rows(card: Scorecard) -> list[list[Any]]:
    """Every category and special code of the variables, bin by bin."""
    rows: list[list[Any]] = []
    for variable in card.variable_points():
        bins = card.encoder_.binnings_[variable.name].bins_
        if isinstance(bins, CategoryBins):
            for value, number in bins.places().items():
                rows.append([variable.name, str(value), float(variable.points[number])])
    return rows


def _facts(card: Scorecard) -> list[list[Any]]:
    return [
        [translate(Message("event")), str(card.event_)],
        [translate(Message("non-event")), str(card.nonevent_)],
        [translate(Message("points that double the odds")), float(card.pdo)],
        [translate(Message("base score")), float(card.base_score)],
        [translate(Message("odds at the base score")), float(card.base_odds)],
        [translate(Message("base points")), float(card.base_points_)],
        [translate(Message("intercept")), float(card.model_.intercept_[0])],
    ]


def _write(sheet: Any, heads: list[str], rows: list[list[Any]], formats: tuple[str, ...]) -> None:
    """Write a table with a frozen heading."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    for number, row in enumerate([heads, *rows], start=1):
        for place, value in enumerate(row, start=1):
            cell = sheet.cell(number, place)
            if isinstance(value, str):
                cell.value = ILLEGAL_CHARACTERS_RE.sub("�", value)[:_MOST_LETTERS]
                cell.data_type = "s"  # text, even if it begins with "=", which would be a formula
                cell.quotePrefix = value[:1] in tuple("=+-@")
            else:
                cell.value = value
            cell.number_format = formats[place - 1] if number > 1 else "@"
            if number == 1:
                cell.font = Font(bold=True)
    for place in range(1, len(heads) + 1):
        longest = max(len(str(row[place - 1])) for row in [heads, *rows])
        sheet.column_dimensions[get_column_letter(place)].width = min(longest + 2, _WIDEST)
    sheet.freeze_panes = "A2"
