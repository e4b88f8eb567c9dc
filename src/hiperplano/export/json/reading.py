"""`from_json`: the scorecard of a document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from hiperplano.data.design import Array
from hiperplano.errors import InvalidFile
from hiperplano.export.json.writing import FORMAT, VERSION
from hiperplano.features.binning.bins import Bins, CategoryBins, NumericBins
from hiperplano.features.binning.encoder import WoEEncoder
from hiperplano.features.binning.optimal import OptimalBinning
from hiperplano.features.binning.pieces import Pieces, edge_pieces
from hiperplano.messages import Message
from hiperplano.models.logistic import LogisticRegression
from hiperplano.scorecard.monitoring.development import Development
from hiperplano.scorecard.scorecard import Scorecard


def from_json(document: str | Path) -> Scorecard:
    """The scorecard of a document that `to_json` wrote.

    Parameters
    ----------
    document : str or Path
        The text of the document, or the path of its file.

    Returns
    -------
    Scorecard
        Fitted, with the same predictions and points to the bit. It has no standard errors, since the rows of the fit
        are not in the document.

    Raises
    ------
    hiperplano.errors.InvalidFile
        If the text is no such document, is of another version, or was changed so that points or weights of evidence no
        longer follow from counts and coefficients.

    Examples
    --------
    >>> from hiperplano import from_json
    >>> from_json('{"format": "something else"}')
    Traceback (most recent call last):
        ...
    hiperplano.errors.InvalidFile: the document is no scorecard of version 1. Give one that to_json wrote.
    """
    content = _parsed(document)
    try:
        card = _scorecard(content)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        raise InvalidFile(
            "the document is damaged ({kind}: {problem}). Give one that to_json wrote.",
            kind=type(problem).__name__,
            problem=problem,
        ) from problem
    _check_consistent(card, content)
    return card


def _parsed(document: str | Path) -> dict[str, Any]:
    if isinstance(document, Path) or not document.lstrip().startswith("{"):
        path = Path(document)
        if not path.is_file():
            raise InvalidFile("{path}: there is no such file. Check the path.", path=path)
        document = path.read_text(encoding="utf-8")
    try:
        content = json.loads(document)
    except ValueError as problem:
        raise InvalidFile(
            "the document is not JSON: {problem}. Give one that to_json wrote.", problem=problem
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        raise InvalidFile(
            "the document is no scorecard of version {version}. Give one that to_json wrote.", version=VERSION
        )
    return content


def _scorecard(content: dict[str, Any]) -> Scorecard:
    scale = content["scale"]
    card = Scorecard(
        pdo=scale["pdo"],
        base_score=scale["base_score"],
        base_odds=scale["base_odds"],
        event=content["event"],
        round_points=content["round_points"],
        intercept_points=content["intercept_points"],
    )
    variables = content["variables"]
    card.classes_ = np.array(content["classes"])
    at = content["classes"].index(content["event"])
    card.event_, card.nonevent_ = card.classes_[at], card.classes_[1 - at]
    card.variables_ = [each["name"] for each in variables]
    card.encoder_ = _encoder(content)
    card.n_features_in_ = len(content["columns"])
    if content["named_columns"]:
        card.feature_names_in_ = np.array(content["columns"], dtype=object)
    coef = np.array([each["coefficient"] for each in variables])
    card.model_ = _regression(coef, float(content["intercept"]))
    card.against_woe_ = [name for name, each in zip(card.variables_, coef.tolist(), strict=True) if each > 0]
    card.base_points_, card.steps_ = float(content["base_points"]), []
    development: dict[str, Any] = dict(content["development"])
    development |= {name: np.array(each) for name, each in development.items() if isinstance(each, list)}
    card.development_ = Development(**development)
    return card


def _regression(coef: Array, intercept: float) -> LogisticRegression:
    model = LogisticRegression(C=np.inf)
    model.coef_, model.intercept_ = coef[None, :], np.array([intercept])
    model.classes_, model.n_features_in_ = np.array([0, 1]), len(coef)
    return model


def _encoder(content: dict[str, Any]) -> WoEEncoder:
    encoder = WoEEncoder()
    chosen = {each["name"] for each in content["variables"]}
    found = {each["name"]: _binning(each) for each in content["variables"] + content["left_out"]}
    encoder.binnings_ = {name: found[name] for name in content["columns"]}
    encoder.support_ = np.array([name in chosen for name in content["columns"]])
    encoder.reasons_ = {each["name"]: each["reason"] for each in content["left_out"]}
    encoder.classes_, encoder.n_features_in_ = np.array([0, 1]), len(content["columns"])
    if content["named_columns"]:
        encoder.feature_names_in_ = np.array(content["columns"], dtype=object)
    return encoder


def _binning(variable: dict[str, Any]) -> OptimalBinning:
    binning = OptimalBinning(
        kind=variable["kind"], smoothing=variable["smoothing"], handle_unknown=variable["unseen"], target="binary"
    )
    lines = variable["bins"]
    sums = np.array([[line["nonevents"], line["events"]] for line in lines], dtype=np.float64)
    binning.bins_ = _bins(variable["kind"], lines)
    binning.pieces_ = _pieces(binning.bins_, sums)
    binning.target_kind_, binning.classes_, binning.center_ = "binary", np.array([0, 1]), 0.0
    binning.name_, binning.trend_, binning.status_ = (
        variable["name"],
        None,
        Message("The bins were read from a document."),
    )
    return binning


def _bins(kind: str, lines: list[dict[str, Any]]) -> Bins:
    number = _microseconds if kind == "date" else float
    special = [line for line in lines if "special" in line]
    names = tuple(line["name"] for line in special if "name" in line)
    if kind == "categorical":
        groups = tuple(tuple(line["categories"]) for line in lines if "categories" in line)
        return CategoryBins(groups, tuple(tuple(line["special"]) for line in special), names)
    cuts = tuple(number(line["below"]) for line in lines if "below" in line)
    codes = tuple(tuple(number(code) for code in line["special"]) for line in special)
    return NumericBins(cuts, codes, names, kind)


def _microseconds(text: str) -> float:
    return float(np.datetime64(text, "us").astype(np.int64))


def _pieces(bins: Bins, sums: Array) -> Pieces:
    """Pieces that add up to the bins: one for each interval, or one for each group under its first category."""
    if isinstance(bins, NumericBins):
        return edge_pieces(bins, sums)
    listed: list[Any] = [value for group in bins.groups for value in group]
    rows = np.zeros((len(listed) + 1, 2))
    first = 0
    for number, group in enumerate(bins.groups):
        rows[first] = sums[number]
        first += len(group)
    rows[-1] = sums[bins.unseen]
    places = np.arange(len(rows), dtype=np.float64)
    return Pieces(places, places, rows, sums[bins.n_regular : bins.missing + 1], (*listed, None))


def _check_consistent(card: Scorecard, content: dict[str, Any]) -> None:
    """Raise an error for a document whose points or WoE do not match its counts and coefficients."""
    for points, variable in zip(card.variable_points(), content["variables"], strict=True):
        for number, line in enumerate(variable["bins"]):
            for key, value in (("woe", points.woe[number]), ("points", points.points[number])):
                if not np.isclose(line[key], value, rtol=1e-9, atol=1e-9):
                    raise InvalidFile(
                        "bin {label} of {variable!r} has {key} {found:g} in the document, but {value:g} follows from "
                        "its counts and coefficients. Change those, or fit again.",
                        label=points.labels[number],
                        variable=points.name,
                        key=key,
                        found=line[key],
                        value=value,
                    )
