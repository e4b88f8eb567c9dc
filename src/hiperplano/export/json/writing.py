"""`to_json`: a scorecard as a document that can be reviewed line by line."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hiperplano.data.files import write_bytes
from hiperplano.errors import NotAvailable
from hiperplano.features.binning.bins import Bins, NumericBins, date_text
from hiperplano.features.binning.optimal import OptimalBinning
from hiperplano.scorecard.points import VariablePoints
from hiperplano.scorecard.scorecard import Scorecard

FORMAT, VERSION = "hiperplano scorecard", 1
_LINE = 110


def to_json(scorecard: Any, *, path: str | Path | None = None) -> str:
    """A fitted scorecard as JSON: classes, scale, coefficients, and one line for each bin.

    Keys come in a fixed order and numbers with all their digits, so that two versions of a scorecard can be compared
    line by line. The schema is described in `docs/export.md`. It does not contain the rows of the fit: `from_json`
    returns a scorecard with the same predictions, to the last bit, that can be monitored, but has no standard errors.

    Parameters
    ----------
    scorecard : Scorecard
        A fitted scorecard.
    path : str or Path, optional
        File to write the document to, completely or not at all.

    Returns
    -------
    str
        The document.

    Raises
    ------
    hiperplano.errors.NotAvailable
        If the model is not a scorecard, or has categories that JSON cannot hold.

    Examples
    --------
    >>> from hiperplano import Scorecard, from_json, load_credit_default, to_json
    >>> X, y = load_credit_default(n_rows=500, return_X_y=True)
    >>> card = Scorecard(event="yes").fit(X[["age", "housing"]], y)
    >>> text = to_json(card)
    >>> text.splitlines()[1]
    ' "format": "hiperplano scorecard",'
    >>> bool((from_json(text).score_points(X[["age", "housing"]]) == card.score_points(X[["age", "housing"]])).all())
    True
    """
    if not isinstance(scorecard, Scorecard):
        raise NotAvailable(
            "{model} has no JSON document; only a Scorecard has one. Use save for the model, to_sql or to_onnx to run "
            "it elsewhere.",
            model=type(scorecard).__name__,
        )
    check_is_fitted(scorecard)
    text = _layout(_document(scorecard)) + "\n"
    if path is not None:
        write_bytes(path, text.encode())
    return text


def _document(card: Scorecard) -> dict[str, Any]:
    development = card.development_
    by_name = {each.name: each for each in card.variable_points()}
    binnings = card.encoder_.binnings_
    return {
        "format": FORMAT,
        "version": VERSION,
        "classes": np.asarray(card.classes_).tolist(),
        "event": np.asarray(card.event_).tolist(),
        "scale": {"pdo": float(card.pdo), "base_score": float(card.base_score), "base_odds": float(card.base_odds)},
        "round_points": bool(card.round_points),
        "intercept_points": card.intercept_points,
        "base_points": float(card.base_points_),
        "intercept": float(card.model_.intercept_[0]),
        "columns": list(binnings),
        "named_columns": hasattr(card, "feature_names_in_"),
        "variables": [_variable(binnings[name], by_name[name]) for name in card.variables_],
        "left_out": [
            {"reason": str(card.encoder_.reasons_.get(name, ""))} | _variable(binning, None)
            for name, binning in binnings.items()
            if name not in by_name
        ],
        "development": {
            "edges": development.edges.tolist(),
            "count": development.count.tolist(),
            "events": development.events.tolist(),
            "expected": development.expected.tolist(),
            "ks": float(development.ks),
            "gini": float(development.gini),
            "auc": float(development.auc),
        },
    }


def _variable(binning: OptimalBinning, points: VariablePoints | None) -> dict[str, Any]:
    bins, sums, woe = binning.bins_, binning.sums_, binning.woe_
    found: dict[str, Any] = {"name": binning.name_, "kind": bins.kind}
    if points is not None:
        found["coefficient"] = points.coef
    found |= {"smoothing": float(binning.smoothing), "unseen": binning.handle_unknown}
    lines = []
    for number, where in enumerate(_places(bins)):
        line = where | {
            "nonevents": float(sums[number, 0]),
            "events": float(sums[number, 1]),
            "woe": float(woe[number]),
        }
        lines.append(line | ({} if points is None else {"points": float(points.points[number])}))
    return found | {"bins": lines}


def _places(bins: Bins) -> list[dict[str, Any]]:
    """The description of each bin."""
    names = bins.special_names or ("",) * len(bins.special)
    shown = _number_or_date(bins)
    special = [
        {"special": [shown(code) for code in codes]} | ({"name": name} if name else {})
        for codes, name in zip(bins.special, names, strict=True)
    ]
    if isinstance(bins, NumericBins):
        ends = [None, *map(shown, bins.cuts), None]
        regular = [
            {key: end for key, end in (("from", low), ("below", high)) if end is not None}
            for low, high in pairwise(ends)
        ]
        return [*regular, *special, {"missing": True}]
    return [*({"categories": list(group)} for group in bins.groups), *special, {"missing": True}, {"unseen": True}]


def _number_or_date(bins: Bins) -> Any:
    if bins.kind == "date":
        return date_text
    return float if bins.kind == "numeric" else lambda value: value


def _layout(value: Any, depth: int = 0) -> str:
    """JSON with one line for each bin: values that fit on a line are written on one, unless they hold objects."""
    flat = _dumps(value)
    nested = isinstance(value, dict) and any(isinstance(each, list | dict) for each in value.values())
    nested |= isinstance(value, list) and any(isinstance(each, dict) for each in value)
    if not isinstance(value, list | dict) or not value or (not nested and (depth or len(flat) <= _LINE)):
        return flat
    if depth > 2 and isinstance(value, dict):  # a bin
        return flat
    inner = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{inner}{_dumps(key)}: {_layout(each, depth + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * depth + "}"
    return "[\n" + ",\n".join(inner + _layout(each, depth + 1) for each in value) + "\n" + " " * depth + "]"


def _dumps(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise NotAvailable(
            "the scorecard holds values that JSON cannot: {problem}. Make categories texts, numbers or booleans, and "
            "fit again.",
            problem=problem,
        ) from problem
